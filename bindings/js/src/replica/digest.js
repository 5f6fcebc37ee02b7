/**
 * Small numbers that two sides can compare instead of everything they hold.
 *
 * The digest of a region (section 42 of the standard) tells the client whether it holds what the server
 * thinks it does. The hash of a world at one tick is for tests: it is taken over the words that were in force
 * then, and is the same on a server and on a client that sees all of its objects, whatever each calls them.
 */

import { ByteWriter } from "../wire/bytes.js";
import { fnv1a64 } from "../wire/hash.js";
import { WORDS_MAX } from "./class.js";

/** @typedef {import("./object.js").WorldObject} WorldObject */

/** Slots of a region. */
export const REGION_SLOTS = 64;
/** Regions that there can be. */
export const REGIONS_MAX = 1024;

const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const SPREAD = 0x9e3779b1;

/**
 * What an object adds to the digest of its region.
 * @param {WorldObject} object
 */
export function placedDigest(object) {
  let digest = Math.imul(FNV_START ^ object.class.number, FNV_PRIME);
  const { rows, newestAt } = object.states;
  const { isVisible } = object.class.shape(0, "public");
  for (const field of object.class.fields) {
    if (!isVisible[field.index]) continue;
    if (field.contentMax > 0) {
      const content = object.content(field.index);
      digest = withWord(digest, content.length);
      for (let at = 0; at < content.length; at++) digest = Math.imul(digest ^ content[at], FNV_PRIME);
    } else {
      for (let word = 0; word < field.count; word++) {
        digest = withWord(digest, rows[newestAt + field.first + word]);
      }
    }
  }
  return Math.imul(digest ^ ((object.slot << 8) | object.generation), SPREAD);
}

/**
 * @param {number} hash
 * @param {number} word
 */
function withWord(hash, word) {
  let result = Math.imul(hash ^ (word & 255), FNV_PRIME);
  result = Math.imul(result ^ ((word >> 8) & 255), FNV_PRIME);
  result = Math.imul(result ^ ((word >> 16) & 255), FNV_PRIME);
  return Math.imul(result ^ (word >>> 24), FNV_PRIME);
}

const scratch = new ByteWriter(1 + 4 * WORDS_MAX);

/**
 * The hash of some objects at a tick. One of which no state from then is kept does not count.
 * @param {Iterable<WorldObject>} objects
 * @param {number} tick
 * @returns {bigint}
 */
export function worldHash(objects, tick) {
  let sum = 0n;
  for (const object of objects) {
    const { states } = object;
    const row = states.rowInForce(tick);
    if (row < 0) continue;
    const at = states.wordsAt(row);
    scratch.reset().u8(object.class.number);
    for (let word = 0; word < states.wordCount; word++) scratch.u32(states.rows[at + word]);
    sum += fnv1a64(scratch.written());
  }
  return BigInt.asUintN(64, sum);
}

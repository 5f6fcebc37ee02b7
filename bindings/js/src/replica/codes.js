/**
 * The code tables of a connection (section 46.1 of the standard).
 *
 * How much an object moved decides which differences are likely, so there is a table for each case. All of
 * them are static: both ends hold the same set before the first snapshot, and the handshake compares its id.
 * A game may bring a set of its own, made by `netloom train`; its file is checked to the last bit, because with
 * what is not a complete code anything could be read into any bytes.
 */

import { WireError } from "../wire/error.js";
import { fnv1a32 } from "../wire/hash.js";
import { CodeTable } from "../wire/table.js";
import { genericCodeBytes } from "./generic_codes.js";

/** Groups of tables, in the order in which they are serialized; a code is at most `bitsMax` bits long. */
const GROUPS = [
  { name: "residual", tables: 1, symbols: 18, bitsMax: 12 },
  { name: "mask", tables: 1, symbols: 6, bitsMax: 12 },
  { name: "gap", tables: 1, symbols: 34, bitsMax: 12 },
  { name: "symbol", tables: 10, symbols: 71, bitsMax: 12 },
  { name: "head", tables: 60, symbols: 107, bitsMax: 11 },
  { name: "place", tables: 60, symbols: 105, bitsMax: 11 },
  { name: "lead", tables: 60, symbols: 105, bitsMax: 11 },
  { name: "rest", tables: 60, symbols: 105, bitsMax: 11 },
];
const CODES = GROUPS.reduce((sum, { tables, symbols }) => sum + tables * symbols, 0);
/** A repeat says by how much it is more than this. */
const REPEATS_MIN = 2;

const MAGIC = "NLCT";
const VERSION = 1;
const NAME = /^[a-z0-9_-]{1,32}$/;
/** Where the name begins. */
const NAME_AT = 6;

/** What sets consist of, in four bytes: tables for other groups mean something else. */
const LAYOUT = littleEndian(
  fnv1a32(
    Uint8Array.from(
      GROUPS.flatMap(({ name, tables, symbols, bitsMax }) => {
        const sizes = [tables & 255, tables >> 8, symbols & 255, symbols >> 8, bitsMax];
        return [...Array.from(name, (letter) => letter.charCodeAt(0)), 0, ...sizes];
      }),
    ),
  ),
);

/** A set of code tables. */
export class Codes {
  /**
   * Reads a file of code tables.
   * @param {Uint8Array} bytes
   */
  constructor(bytes) {
    const { name, id, lengths } = readFile(bytes);
    /** What people call it. */
    this.name = name;
    /** What the handshake compares. */
    this.id = id;
    const groups = readGroups(lengths);
    this.residual = groups.residual[0];
    this.mask = groups.mask[0];
    this.gap = groups.gap[0];
    this.symbol = groups.symbol;
    this.head = groups.head;
    this.place = groups.place;
    this.lead = groups.lead;
    this.rest = groups.rest;
  }

  /** The set that every implementation holds; made once, when it is first needed. */
  static generic() {
    generic ??= new Codes(genericCodeBytes());
    return generic;
  }
}

/** @type {Codes | undefined} */
let generic;

/**
 * Takes a file apart and checks everything but the codes.
 * @param {Uint8Array} bytes
 */
function readFile(bytes) {
  const text = (/** @type {number} */ from, /** @type {number} */ to) =>
    String.fromCharCode(...bytes.subarray(from, to));
  if (text(0, MAGIC.length) !== MAGIC) {
    throw new WireError("Magic", "this is no file of code tables: make one with `netloom train`");
  }
  if (bytes.length < NAME_AT) throw cutOff();
  if (bytes[MAGIC.length] !== VERSION) {
    throw new WireError("Version", `only version ${VERSION} is known: update Netloom, or train again`);
  }
  const nameEnd = NAME_AT + bytes[NAME_AT - 1];
  if (bytes.length < nameEnd) throw cutOff();
  const name = text(NAME_AT, nameEnd);
  if (!NAME.test(name)) throw new WireError("Name");
  const packedAt = nameEnd + 8;
  if (bytes.length < nameEnd + 4) throw cutOff();
  if (LAYOUT.some((byte, at) => bytes[nameEnd + at] !== byte)) {
    throw new WireError("Layout", "the table was made for another version of Netloom: train it again");
  }
  if (bytes.length < packedAt) throw cutOff();
  const lengths = unpack(bytes.subarray(packedAt));
  const id = fnv1a32(Uint8Array.from([...LAYOUT, ...lengths]));
  if (littleEndian(id).some((byte, at) => bytes[nameEnd + 4 + at] !== byte)) {
    throw new WireError("Id", "the file is damaged");
  }
  return { name, id, lengths };
}

/**
 * The lengths of all codes: half bytes, of which a zero and n say that the length before it comes n + 2 times
 * more.
 * @param {Uint8Array} packed
 */
function unpack(packed) {
  const lengths = new Uint8Array(CODES);
  let [at, count] = [0, 0];
  const half = () => {
    if (at >= 2 * packed.length) throw cutOff();
    const byte = packed[at >> 1];
    return at++ % 2 === 0 ? byte & 15 : byte >> 4;
  };
  while (count < CODES) {
    const length = half();
    if (length !== 0 || count === 0) {
      lengths[count++] = length;
      continue;
    }
    const end = count + half() + REPEATS_MIN;
    if (end > CODES) throw cutOff();
    lengths.fill(lengths[count - 1], count, end);
    count = end;
  }
  if (2 * packed.length - at > 1) throw cutOff();
  if (2 * packed.length - at === 1 && half() !== 0) throw new WireError("Padding");
  return lengths;
}

/**
 * The tables of each group.
 * @param {Uint8Array} all the lengths of all codes
 */
function readGroups(all) {
  let next = 0;
  const read = (/** @type {typeof GROUPS[0]} */ { tables, symbols, bitsMax }) => {
    return Array.from({ length: tables }, () => {
      const lengths = all.slice(next, next + symbols);
      next += symbols;
      if (lengths.some((length) => length > bitsMax)) throw new WireError("CodeLength");
      return new CodeTable(lengths);
    });
  };
  return Object.fromEntries(GROUPS.map((group) => [group.name, read(group)]));
}

/** @param {number} number of 32 bits */
function littleEndian(number) {
  return [0, 8, 16, 24].map((shift) => (number >>> shift) & 255);
}

function cutOff() {
  return new WireError("Length", "the file of code tables is cut off or damaged");
}

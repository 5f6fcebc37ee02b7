/**
 * Sector origins (section 7.4 of the standard): what the positions of an object are relative to, in a world
 * that is larger than its words reach.
 */

import { WireError } from "./error.js";

const METRES_MAX = 1e12;
const VERSION_MAX = 63;

/**
 * @typedef {object} Origin
 * @property {readonly number[]} metres x, y, z
 * @property {number} version 0..=63
 */

/**
 * The middle of the world.
 * @type {Origin}
 */
export const NO_ORIGIN = Object.freeze({ metres: Object.freeze([0, 0, 0]), version: 0 });

/**
 * @param {import("./bytes.js").ByteReader} reader
 * @returns {Origin}
 */
export function readOrigin(reader) {
  const metres = [reader.f64(), reader.f64(), reader.f64()];
  const version = reader.u8();
  if (version > VERSION_MAX) throw new WireError("ReservedBits");
  if (!metres.every((axis) => Math.abs(axis) <= METRES_MAX)) throw new WireError("OutOfRange");
  return { metres, version };
}

/**
 * Whether two are the same.
 * @param {Origin} a
 * @param {Origin} b
 */
export function isSameOrigin(a, b) {
  return a.version === b.version && a.metres.every((axis, index) => axis === b.metres[index]);
}

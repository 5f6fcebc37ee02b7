/**
 * Rotations in three numbers of four (section 7.2 of the standard).
 *
 * A unit quaternion has three degrees of freedom, so the component of largest magnitude is dropped and
 * computed again by the receiver; the other three are no larger than 1/√2 and are sent in steps of that. The
 * four words of a rotation are the index of the dropped component and the three steps; those of a raw one are
 * the bits of x, y, z, w.
 */

import { WireError } from "./error.js";

/**
 * How finely rotations are quantized.
 * @typedef {object} RotationWidth
 * @property {number} bits of a component
 * @property {number} half the steps on each side of zero
 * @property {number} one the sum of squared steps that stands for one
 */

/** @type {RotationWidth} */
export const ROTATION_10 = { bits: 10, half: 511, one: 2 * 511 * 511 };
/** @type {RotationWidth} */
export const ROTATION_15 = { bits: 15, half: 16383, one: 2 * 16383 * 16383 };

const UNIT_ERROR_MAX = 0.01;
const HALF_ROOT = 0.7071067811865476;

/**
 * Reads a packed rotation from its low 32 bits and those above.
 * @param {RotationWidth} width
 * @param {number} low
 * @param {number} high 0 if the rotation has 10 bits
 * @param {Int32Array} words
 * @param {number} at
 */
export function unpackRotation(width, low, high, words, at) {
  // Up to 48 bits: exact in a double, and divided instead of shifted.
  const packed = low + high * 4294967296;
  const { bits, half, one } = width;
  if (packed >= 2 ** (2 + 3 * bits)) throw new WireError("ReservedBits");
  const codes = 1 << bits;
  let rest = Math.floor(packed / 4);
  let squares = 0;
  let isOutside = false;
  words[at] = packed % 4;
  for (let step = 1; step <= 3; step++) {
    const code = rest % codes;
    rest = Math.floor(rest / codes);
    isOutside ||= code > 2 * half;
    words[at + step] = code - half;
    squares += (code - half) * (code - half);
  }
  if (isOutside) throw new WireError("OutOfRange");
  if (squares > one) throw new WireError("InvalidRotation");
}

/**
 * The rotation as one number, its low 32 bits and those above.
 * @param {RotationWidth} width
 * @param {Int32Array} words
 * @param {number} at
 * @returns {[number, number]}
 */
export function packRotation(width, words, at) {
  const { bits, half } = width;
  let packed = words[at];
  for (let step = 1; step <= 3; step++) packed += (words[at + step] + half) * 2 ** (2 + bits * (step - 1));
  return [packed % 4294967296, Math.floor(packed / 4294967296)];
}

/**
 * Refuses four singles, as words, that are no unit quaternion.
 * @param {Float32Array} quaternion
 */
export function checkQuaternion(quaternion) {
  let squares = 0;
  for (const component of quaternion) {
    if (!Number.isFinite(component)) throw new WireError("NonFinite");
    squares += component * component;
  }
  if (Math.abs(squares - 1) > UNIT_ERROR_MAX) throw new WireError("InvalidRotation");
}

const singles = new Float32Array(4);
const singleBits = new Int32Array(singles.buffer);

/**
 * Refuses four words that are not the bits of a unit quaternion.
 * @param {Int32Array} words
 * @param {number} at
 */
export function checkRawRotation(words, at) {
  for (let part = 0; part < 4; part++) singleBits[part] = words[at + part];
  checkQuaternion(singles);
}

/**
 * The quaternion x y z w of four words.
 * @param {RotationWidth | null} width null if they are the bits of singles
 * @param {Int32Array} words
 * @param {number} at
 * @param {Float32Array | number[]} quaternion where it goes
 */
export function putQuaternion(width, words, at, quaternion) {
  if (width === null) {
    for (let part = 0; part < 4; part++) {
      singleBits[0] = words[at + part];
      quaternion[part] = singles[0];
    }
    return quaternion;
  }
  const dropped = words[at];
  let rest = width.one;
  let next = at + 1;
  for (let part = 0; part < 4; part++) {
    if (part === dropped) continue;
    const step = words[next++];
    quaternion[part] = Math.fround((step * HALF_ROOT) / width.half);
    rest -= step * step;
  }
  quaternion[dropped] = Math.fround(Math.sqrt(rest / width.one));
  return quaternion;
}

/**
 * The four words of a quaternion x y z w. One without direction becomes the rotation that turns nothing.
 * @param {RotationWidth | null} width
 * @param {ArrayLike<number>} quaternion
 * @param {Int32Array} words
 * @param {number} at
 */
export function putRotation(width, quaternion, words, at) {
  let parts = [quaternion[0], quaternion[1], quaternion[2], quaternion[3]];
  const length = Math.hypot(...parts);
  parts = length > 1e-6 && Number.isFinite(length) ? parts.map((part) => part / length) : [0, 0, 0, 1];
  if (width === null) {
    parts.forEach((part, index) => {
      singles[0] = part;
      words[at + index] = singleBits[0];
    });
    return;
  }
  let dropped = 0;
  for (let part = 1; part < 4; part++) if (Math.abs(parts[part]) > Math.abs(parts[dropped])) dropped = part;
  const sign = parts[dropped] < 0 ? -1 : 1;
  words[at] = dropped;
  let next = at + 1;
  for (let part = 0; part < 4; part++) {
    if (part === dropped) continue;
    const scaled = (sign * parts[part] * width.half) / HALF_ROOT;
    const step = Math.trunc(scaled + (scaled < 0 ? -0.49999999999999994 : 0.49999999999999994));
    words[next++] = Math.min(Math.max(step, -width.half), width.half);
  }
}

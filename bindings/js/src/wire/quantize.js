/**
 * Floats as integers, and back (section 7 of the standard).
 *
 * Both ends must compare, predict and hash the same values, so what they hold are words: integer multiples of
 * a step. How fine the step is, and how far it reaches, is the profile of an object. A triple of words has a
 * fourth, the raw mark: 1 if the three are the bits of singles, because the profile does not reach.
 */

import { WireError } from "./error.js";
import { ROTATION_10, ROTATION_15 } from "./rotation.js";

/** @typedef {import("./bytes.js").ByteReader} ByteReader */
/** @typedef {import("./bytes.js").ByteWriter} ByteWriter */

/**
 * How triples of one kind are quantized.
 * @typedef {object} TripleForm
 * @property {number} perUnit steps
 * @property {number} min the least word; above `max` if there are no words, only singles
 * @property {number} max
 * @property {number} bytes of a word
 * @property {boolean} mayBeRaw whether singles take the place of words where those do not reach
 */

/** @type {(perUnit: number, max: number, bytes: number, mayBeRaw: boolean) => TripleForm} */
const around = (perUnit, max, bytes, mayBeRaw) => ({ perUnit, min: -max, max, bytes, mayBeRaw });
/** @type {TripleForm} */
const SINGLES = { perUnit: 1, min: 1, max: 0, bytes: 4, mayBeRaw: false };
/** @type {TripleForm} */
const SCALE = { perUnit: 32, min: 1, max: 255, bytes: 1, mayBeRaw: true };

/**
 * How a transform is quantized.
 * @typedef {object} Profile
 * @property {string} name
 * @property {TripleForm} position
 * @property {TripleForm} velocity
 * @property {TripleForm} scale
 * @property {import("./rotation.js").RotationWidth | null} rotation null if quaternions are sent as singles
 * @property {boolean} usesOrigin whether positions are relative to the sector origin
 */

/**
 * The profiles by their numbers.
 * @type {readonly Profile[]}
 */
export const PROFILES = [
  {
    name: "standard",
    position: around(100, 32767, 2, true),
    velocity: around(100, 32767, 2, false),
    scale: SCALE,
    rotation: ROTATION_10,
    usesOrigin: true,
  },
  {
    name: "high",
    position: around(10000, 2147483647, 4, true),
    velocity: around(10000, 2147483647, 4, false),
    scale: SCALE,
    rotation: ROTATION_15,
    usesOrigin: true,
  },
  {
    name: "world",
    position: around(1, 32767, 2, true),
    velocity: around(100, 32767, 2, false),
    scale: SCALE,
    rotation: ROTATION_10,
    usesOrigin: false,
  },
  { name: "none", position: SINGLES, velocity: SINGLES, scale: SINGLES, rotation: null, usesOrigin: false },
];

/** The number of the profile that sends singles. */
export const NONE = 3;

/** Whether a form has words at all.
 * @param {TripleForm} form */
export const hasWords = (form) => form.min <= form.max;

const single = new Float32Array(1);
const singleBits = new Int32Array(single.buffer);

/**
 * The single that a word has the bits of.
 * @param {number} word
 */
export function singleOf(word) {
  singleBits[0] = word;
  return single[0];
}

/**
 * The bits of a number, rounded to a single.
 * @param {number} value
 */
export function bitsOfSingle(value) {
  single[0] = value;
  return singleBits[0];
}

/**
 * Refuses the bits of a single that is infinite or no number.
 * @param {number} word
 */
export function finiteBits(word) {
  if ((word & 0x7f800000) === 0x7f800000) throw new WireError("NonFinite");
  return word;
}

/**
 * The word of a number: the nearest, ties away from zero, cut off at the ends of the range.
 * @param {number} value finite
 * @param {number} perUnit
 * @param {number} min
 * @param {number} max
 */
export function quantize(value, perUnit, min, max) {
  const scaled = value * perUnit;
  const word = Math.trunc(scaled + (scaled < 0 ? -0.49999999999999994 : 0.49999999999999994));
  return Math.min(Math.max(word, min), max);
}

/**
 * The number of a word.
 * @param {number} word
 * @param {number} perUnit
 */
export function dequantize(word, perUnit) {
  return Math.fround(word / perUnit);
}

/**
 * The three numbers of the four words at `at`.
 * @param {TripleForm} form
 * @param {Int32Array} words
 * @param {number} at
 * @returns {[number, number, number]}
 */
export function tripleOf(form, words, at) {
  const [x, y, z, raw] = [words[at], words[at + 1], words[at + 2], words[at + 3]];
  if (raw !== 0) return [singleOf(x), singleOf(y), singleOf(z)];
  return [dequantize(x, form.perUnit), dequantize(y, form.perUnit), dequantize(z, form.perUnit)];
}

/**
 * The four words of three numbers: raw where words do not reach and the form allows it, otherwise cut off.
 * @param {TripleForm} form
 * @param {ArrayLike<number>} values finite
 * @param {Int32Array} words
 * @param {number} at
 */
export function putTriple(form, values, words, at) {
  let isRaw = !hasWords(form);
  for (let axis = 0; axis < 3 && !isRaw; axis++) {
    const word = quantize(values[axis], form.perUnit, -Infinity, Infinity);
    isRaw = form.mayBeRaw && (word < form.min || word > form.max);
  }
  for (let axis = 0; axis < 3; axis++) {
    const value = values[axis];
    words[at + axis] = isRaw ? bitsOfSingle(value) : quantize(value, form.perUnit, form.min, form.max);
  }
  words[at + 3] = isRaw ? 1 : 0;
}

/**
 * Reads three words, or three singles if `isRaw`, in their byte form.
 * @param {TripleForm} form
 * @param {boolean} isRaw
 * @param {ByteReader} reader
 * @param {Int32Array} words
 * @param {number} at
 */
export function readTriple(form, isRaw, reader, words, at) {
  for (let axis = 0; axis < 3; axis++) {
    const word = readWord(form, isRaw, reader);
    words[at + axis] = word;
  }
  words[at + 3] = isRaw ? 1 : 0;
}

/**
 * @param {TripleForm} form
 * @param {boolean} isRaw
 * @param {ByteReader} reader
 */
function readWord(form, isRaw, reader) {
  if (isRaw) return finiteBits(reader.i32());
  const word = form.bytes === 1 ? reader.u8() : form.bytes === 2 ? reader.i16() : reader.i32();
  if (word < form.min || word > form.max) throw new WireError("OutOfRange");
  return word;
}

/**
 * Writes three words or singles in their byte form.
 * @param {TripleForm} form
 * @param {Int32Array} words
 * @param {number} at
 * @param {ByteWriter} writer
 */
export function writeTriple(form, words, at, writer) {
  const bytes = words[at + 3] !== 0 ? 4 : form.bytes;
  for (let axis = 0; axis < 3; axis++) {
    const word = words[at + axis];
    if (bytes === 1) writer.u8(word);
    else if (bytes === 2) writer.u16(word);
    else writer.u32(word);
  }
}

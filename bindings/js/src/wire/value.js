/**
 * One value of a field, in its three forms (sections 9.4 and 36 of the standard).
 *
 * On the wire a value is bytes (in full records and in what a client writes) or bits (in updates); in memory
 * it is words, which are compared, predicted and hashed; a game sees numbers, strings and arrays. Values of
 * variable length have no words of their own but a content, which is their bytes.
 *
 *     bytes ──┐            ┌── words ──▶ what a game sees
 *             ├─▶ checked ─┤
 *     bits  ──┘            └── content
 */

import { arrayContent, arrayOf, readArray, readArrayBits } from "./array.js";
import { decodeUtf8, encodeUtf8 } from "./bytes.js";
import { WireError } from "./error.js";
import {
  bitsOfSingle,
  dequantize,
  finiteBits,
  hasWords,
  putTriple,
  quantize,
  readTriple,
  singleOf,
  tripleOf,
  writeTriple,
} from "./quantize.js";
import { checkRawRotation, packRotation, putQuaternion, putRotation, unpackRotation } from "./rotation.js";

/** @typedef {import("./bits.js").BitReader} BitReader */
/** @typedef {import("./bytes.js").ByteReader} ByteReader */
/** @typedef {import("./bytes.js").ByteWriter} ByteWriter */
/** @typedef {import("./schema.js").Kind} Kind */
/** @typedef {import("./quantize.js").TripleForm} TripleForm */
/** @typedef {import("./rotation.js").RotationWidth} RotationWidth */

/**
 * What a game sees of a field: u64 and name are bigints, vectors and quaternions arrays of numbers.
 * @typedef {boolean | number | bigint | string | Uint8Array | number[] | (boolean | number | bigint)[]} Value
 */

/**
 * How many words a kind has (section 36).
 * @param {Kind} kind
 */
export function wordsOf(kind) {
  switch (kind.kind) {
    case "u64":
    case "name":
      return 2;
    case "position":
    case "rotation":
    case "scale":
    case "velocity":
      return 4;
    default:
      return 1;
  }
}

/**
 * Reads a value of fixed length in its byte form into its words.
 * @param {Kind} kind
 * @param {ByteReader} reader
 * @param {Int32Array} words
 * @param {number} at
 */
export function readValue(kind, reader, words, at) {
  switch (kind.kind) {
    case "bool":
      words[at] = reader.bool() ? 1 : 0;
      break;
    case "int":
    case "quantized": {
      const above = reader.varint();
      if (above > kind.max - kind.min) throw new WireError("OutOfRange");
      words[at] = kind.min + above;
      break;
    }
    case "f32":
      words[at] = finiteBits(reader.i32());
      break;
    case "u64":
    case "name":
      reader.need(8);
      words[at] = reader.i32();
      words[at + 1] = reader.i32();
      break;
    case "rotation":
      readRotation(kind.width, reader, words, at);
      break;
    default: {
      const form = /** @type {TripleForm} */ (kind.form);
      readTriple(form, form.mayBeRaw ? reader.bool() : !hasWords(form), reader, words, at);
    }
  }
}

/**
 * Reads a rotation in its byte form.
 * @param {RotationWidth | null} width
 * @param {ByteReader} reader
 * @param {Int32Array} words
 * @param {number} at
 */
export function readRotation(width, reader, words, at) {
  if (width === null) {
    for (let part = 0; part < 4; part++) words[at + part] = finiteBits(reader.i32());
    checkRawRotation(words, at);
  } else if (width.bits === 10) {
    unpackRotation(width, reader.u32(), 0, words, at);
  } else {
    reader.need(6);
    unpackRotation(width, reader.u32(), reader.u16(), words, at);
  }
}

/**
 * Reads a value of fixed length in its bit form into its words.
 * @param {Kind} kind
 * @param {BitReader} reader
 * @param {Int32Array} words
 * @param {number} at
 */
export function readValueBits(kind, reader, words, at) {
  switch (kind.kind) {
    case "bool":
      words[at] = reader.bits(1);
      break;
    case "int":
    case "quantized":
      words[at] = kind.min + reader.ranged(kind.max - kind.min);
      break;
    case "f32":
      words[at] = finiteBits(reader.bits(32) | 0);
      break;
    case "u64":
    case "name":
      if (reader.left < 64) throw new WireError("UnexpectedEnd");
      words[at] = reader.bits(32);
      words[at + 1] = reader.bits(32);
      break;
    case "rotation":
      readRotationBits(kind.width, reader, words, at);
      break;
    default:
      readTripleBits(/** @type {TripleForm} */ (kind.form), reader, words, at);
  }
}

/**
 * Reads a position, scale or velocity in its bit form.
 * @param {TripleForm} form
 * @param {BitReader} reader
 * @param {Int32Array} words
 * @param {number} at
 */
export function readTripleBits(form, reader, words, at) {
  const isRaw = form.mayBeRaw ? reader.bits(1) === 1 : !hasWords(form);
  for (let axis = 0; axis < 3; axis++) {
    words[at + axis] = isRaw
      ? finiteBits(reader.bits(32) | 0)
      : form.min + reader.ranged(form.max - form.min);
  }
  words[at + 3] = isRaw ? 1 : 0;
}

/**
 * Reads a rotation in its bit form.
 * @param {RotationWidth | null} width
 * @param {BitReader} reader
 * @param {Int32Array} words
 * @param {number} at
 */
export function readRotationBits(width, reader, words, at) {
  if (width === null) {
    for (let part = 0; part < 4; part++) words[at + part] = finiteBits(reader.bits(32) | 0);
    checkRawRotation(words, at);
    return;
  }
  const count = 2 + 3 * width.bits;
  if (reader.left < count) throw new WireError("UnexpectedEnd");
  unpackRotation(width, reader.bits(32), reader.bits(count - 32), words, at);
}

/**
 * Reads a value of variable length in its byte form: its content, as a view of the input.
 * @param {Kind} kind
 * @param {ByteReader} reader
 */
export function readContent(kind, reader) {
  if (kind.kind === "array") return readArray(kind, reader);
  const content = reader.blob(kind.limit);
  if (kind.kind === "text") decodeUtf8(content);
  return content;
}

/**
 * Reads a value of variable length in its bit form: its content.
 * @param {Kind} kind
 * @param {BitReader} reader
 */
export function readContentBits(kind, reader) {
  if (kind.kind === "array") return readArrayBits(kind, reader);
  const length = reader.ranged(kind.limit);
  if (length * 8 > reader.left) throw new WireError("UnexpectedEnd");
  const content = new Uint8Array(length);
  for (let index = 0; index < length; index++) content[index] = reader.bits(8);
  if (kind.kind === "text") decodeUtf8(content);
  return content;
}

/**
 * Refuses bytes that are no content of a kind.
 * @param {Kind} kind
 * @param {Uint8Array} content
 * @param {ByteReader} reader any, to look with
 */
export function checkContent(kind, content, reader) {
  reader.reset(content);
  if (kind.kind === "array") {
    readArray(kind, reader);
    reader.finish();
  } else {
    if (content.length > kind.limit) throw new WireError("TooLong");
    if (kind.kind === "text") decodeUtf8(content);
  }
}

/**
 * What a game sees of a field.
 * @param {Kind} kind
 * @param {Int32Array} words
 * @param {number} at
 * @param {Uint8Array} content of a kind of variable length
 * @returns {Value}
 */
export function valueOf(kind, words, at, content) {
  switch (kind.kind) {
    case "bool":
      return words[at] !== 0;
    case "int":
      return words[at];
    case "quantized":
      return dequantize(words[at], kind.perUnit);
    case "f32":
      return singleOf(words[at]);
    case "u64":
    case "name":
      return BigInt(words[at] >>> 0) | (BigInt(words[at + 1] >>> 0) << 32n);
    case "rotation":
      return /** @type {number[]} */ (putQuaternion(kind.width, words, at, [0, 0, 0, 1]));
    case "text":
      return decodeUtf8(content);
    case "bytes":
      return content.slice();
    case "array":
      return arrayOf(kind, content);
    default:
      return tripleOf(/** @type {TripleForm} */ (kind.form), words, at);
  }
}

const scratch = new Int32Array(4);

/**
 * Writes what a game wants a field to be, in its byte form. What cannot be the value of such a field is a
 * RangeError; numbers beyond a range are cut off at its ends.
 * @param {Kind} kind
 * @param {Value} value
 * @param {ByteWriter} writer
 */
export function writeValue(kind, value, writer) {
  checkValue(kind, value);
  switch (kind.kind) {
    case "bool":
      return writer.bool(Boolean(value));
    case "int":
    case "quantized":
      return writer.varint(quantize(Number(value), kind.perUnit, kind.min, kind.max) - kind.min);
    case "f32":
      return writer.u32(bitsOfSingle(Number(value)));
    case "u64":
    case "name":
      return writer.u64(/** @type {bigint} */ (value));
    case "text":
      return writer.blob(limited(kind, encodeUtf8(String(value))));
    case "bytes":
      return writer.blob(limited(kind, /** @type {Uint8Array} */ (value)));
    case "array":
      return writer.bytes(arrayContent(kind, /** @type {(number | bigint | boolean)[]} */ (value)));
    case "rotation":
      return writeRotation(kind.width, /** @type {number[]} */ (value), writer);
    default: {
      const form = /** @type {TripleForm} */ (kind.form);
      putTriple(form, /** @type {number[]} */ (value), scratch, 0);
      if (form.mayBeRaw) writer.bool(scratch[3] === 1);
      return writeTriple(form, scratch, 0, writer);
    }
  }
}

/**
 * @param {RotationWidth | null} width
 * @param {number[]} quaternion
 * @param {ByteWriter} writer
 */
function writeRotation(width, quaternion, writer) {
  putRotation(width, quaternion, scratch, 0);
  if (width === null) return scratch.forEach((word) => writer.u32(word));
  const [low, high] = packRotation(width, scratch, 0);
  writer.u32(low);
  if (width.bits === 15) writer.u16(high);
}

/**
 * @param {Kind} kind
 * @param {Uint8Array} content
 */
function limited(kind, content) {
  if (content.length > kind.limit) throw new RangeError(`${content.length} bytes: ${kind.limit} are allowed`);
  return content;
}

/** How many numbers a vector or a quaternion has. */
const PARTS = new Map([
  ["position", 3],
  ["velocity", 3],
  ["scale", 3],
  ["rotation", 4],
]);

/**
 * @param {Kind} kind
 * @param {Value} value
 */
function checkValue({ kind }, value) {
  const parts = PARTS.get(kind);
  const isNumber = (/** @type {unknown} */ part) => Number.isFinite(part);
  const isRight =
    parts !== undefined
      ? Array.isArray(value) && value.length === parts && value.every(isNumber)
      : kind === "int" || kind === "quantized" || kind === "f32"
        ? Number.isFinite(value)
        : kind === "u64" || kind === "name"
          ? typeof value === "bigint"
          : kind === "bytes"
            ? value instanceof Uint8Array
            : kind === "array"
              ? Array.isArray(value)
              : typeof value === (kind === "text" ? "string" : "boolean");
  if (!isRight) throw new RangeError(`${String(value)} is no value of a field of kind ${kind}`);
}

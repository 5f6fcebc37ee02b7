/**
 * Arrays: as many values of one kind as there are just now (section 9.6 of the standard).
 *
 * Memory must not be promised by a number from the wire, so an array stays in its encoded form, the content:
 * a varint count and the elements in bits, each as wide. It is checked whole when it arrives and read out
 * when somebody asks.
 */

import { BitReader, BitWriter } from "./bits.js";
import { ByteReader, ByteWriter, varintBytes } from "./bytes.js";
import { bitsOfSingle, dequantize, finiteBits, quantize, singleOf } from "./quantize.js";
import { elementBits } from "./schema.js";

/** @typedef {import("./schema.js").Kind} Kind */

/**
 * Reads an array in its byte form: its content, as a view of the input.
 * @param {Kind} kind
 * @param {ByteReader} reader
 */
export function readArray(kind, reader) {
  const start = reader.at;
  const count = reader.varintUpTo(kind.limit);
  const element = /** @type {Kind} */ (kind.element);
  const packed = reader.bytes(Math.ceil((count * elementBits(element)) / 8));
  const bits = new BitReader(packed);
  for (let index = 0; index < count; index++) readElement(element, bits);
  bits.finish();
  return reader.buffer.subarray(start, reader.at);
}

/**
 * Reads an array in its bit form into its content.
 * @param {Kind} kind
 * @param {BitReader} reader
 */
export function readArrayBits(kind, reader) {
  const element = /** @type {Kind} */ (kind.element);
  const count = reader.ranged(kind.limit);
  const width = elementBits(element);
  const content = new ByteWriter(kind.contentMax);
  content.varint(count);
  const packed = new BitWriter(Math.ceil((count * width) / 8));
  for (let index = 0; index < count; index++) {
    const from = reader.at;
    readElement(element, reader);
    copyBits(reader, from, packed);
  }
  content.bytes(packed.written());
  return content.written();
}

/**
 * Appends the bits from `from` to where the reader is.
 * @param {BitReader} reader
 * @param {number} from
 * @param {BitWriter} writer
 */
function copyBits(reader, from, writer) {
  const end = reader.at;
  for (reader.at = from; reader.at < end;) {
    const count = Math.min(end - reader.at, 16);
    writer.bits(reader.bits(count), count);
  }
}

/**
 * Reads one element: a word, the bits of a single, or an opaque number.
 * @param {Kind} element
 * @param {BitReader} reader
 * @returns {number | bigint}
 */
function readElement(element, reader) {
  switch (element.kind) {
    case "bool":
      return reader.bits(1);
    case "f32":
      return finiteBits(reader.bits(32) | 0);
    case "int":
    case "quantized":
      return element.min + reader.ranged(element.max - element.min);
    default:
      return reader.big(64);
  }
}

/**
 * The elements of a checked content, as a game sees them.
 * @param {Kind} kind
 * @param {Uint8Array} content empty of an array that was never told
 * @returns {(boolean | number | bigint)[]}
 */
export function arrayOf(kind, content) {
  if (content.length === 0) return [];
  const element = /** @type {Kind} */ (kind.element);
  const bytes = new ByteReader(content);
  const count = bytes.varintUpTo(kind.limit);
  const bits = new BitReader(bytes.rest());
  return Array.from({ length: count }, () => {
    const read = readElement(element, bits);
    if (typeof read === "bigint") return read;
    if (element.kind === "bool") return read === 1;
    if (element.kind === "f32") return singleOf(read);
    return element.kind === "quantized" ? dequantize(read, element.perUnit) : read;
  });
}

/**
 * The content of some elements.
 * @param {Kind} kind
 * @param {ArrayLike<boolean | number | bigint>} elements
 */
export function arrayContent(kind, elements) {
  const element = /** @type {Kind} */ (kind.element);
  const count = elements.length;
  if (count > kind.limit) throw new RangeError(`an array of ${count} elements: ${kind.limit} are allowed`);
  const packed = new BitWriter(kind.contentMax - varintBytes(kind.limit));
  for (let index = 0; index < count; index++) writeElement(element, elements[index], packed);
  const content = new ByteWriter(kind.contentMax);
  content.varint(count);
  content.bytes(packed.written());
  return content.written();
}

/**
 * @param {Kind} element
 * @param {boolean | number | bigint} value
 * @param {BitWriter} writer
 */
function writeElement(element, value, writer) {
  const width = elementBits(element);
  if (element.kind === "bool") writer.bool(Boolean(value));
  else if (element.kind === "f32") writer.bits(bitsOfSingle(Number(value)), width);
  else if (width === 64 && element.max === 0) writer.big(BigInt(value), width);
  else writer.bits(quantize(Number(value), element.perUnit, element.min, element.max) - element.min, width);
}

/**
 * Bytes in, values out, and back (sections 2 and 4 of the standard).
 *
 * A datagram is read front to back, once, by code that must not trust it. The reader is a cursor over a
 * `Uint8Array` that refuses, with a WireError, to step past its end; slices are views, so nothing is copied
 * until someone keeps it. The writer is a buffer that is filled again and again: it grows to a stated limit
 * and then stays.
 */

import { WireError } from "./error.js";

const scratch = new DataView(new ArrayBuffer(8));
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const utf8Encoder = new TextEncoder();

/** A cursor over bytes. */
export class ByteReader {
  /**
   * @param {Uint8Array} bytes
   * @param {number} [start]
   * @param {number} [end]
   */
  constructor(bytes, start = 0, end = bytes.length) {
    this.buffer = bytes;
    /** Where the next byte is read. */
    this.at = start;
    this.end = end;
  }

  /**
   * Starts over, on other bytes.
   * @param {Uint8Array} bytes
   * @param {number} [start]
   * @param {number} [end]
   */
  reset(bytes, start = 0, end = bytes.length) {
    this.buffer = bytes;
    this.at = start;
    this.end = end;
    return this;
  }

  /** How many bytes are left. */
  get left() {
    return this.end - this.at;
  }

  /**
   * Steps over `count` bytes and says where they start.
   * @param {number} count
   */
  skip(count) {
    const start = this.at;
    if (count > this.end - start) throw new WireError("UnexpectedEnd");
    this.at = start + count;
    return start;
  }

  u8() {
    return this.buffer[this.skip(1)];
  }

  u16() {
    const at = this.skip(2);
    return this.buffer[at] | (this.buffer[at + 1] << 8);
  }

  u32() {
    return this.i32() >>> 0;
  }

  /** @returns {bigint} */
  u64() {
    const low = this.skip(8);
    this.at = low;
    return BigInt(this.u32()) | (BigInt(this.u32()) << 32n);
  }

  i8() {
    return (this.u8() << 24) >> 24;
  }

  i16() {
    return (this.u16() << 16) >> 16;
  }

  i32() {
    const at = this.skip(4);
    const bytes = this.buffer;
    return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
  }

  /** @returns {bigint} */
  i64() {
    return BigInt.asIntN(64, this.u64());
  }

  f32() {
    scratch.setInt32(0, this.i32());
    return scratch.getFloat32(0);
  }

  f64() {
    const low = this.skip(8);
    this.at = low;
    scratch.setInt32(4, this.i32());
    scratch.setInt32(0, this.i32());
    return scratch.getFloat64(0);
  }

  bool() {
    const value = this.u8();
    if (value > 1) throw new WireError("InvalidBool");
    return value === 1;
  }

  /**
   * A varint as a Number. What is valid but above 2^53 − 1 is refused (`OutOfRange`): no count, length or
   * index of the standard comes near it. 64-bit values that are merely carried are read with `varintBig`.
   */
  varint() {
    const value = this.#varintRounded();
    if (value > Number.MAX_SAFE_INTEGER) throw new WireError("OutOfRange");
    return value;
  }

  /** Exact to 2^53 − 1; what is above may be rounded, but never to something below. */
  #varintRounded() {
    let value = 0;
    let scale = 1;
    for (let index = 0; index < 10; index++) {
      const byte = this.u8();
      if (byte === 0 && index > 0) throw new WireError("InvalidVarint");
      if (index === 9 && byte > 1) throw new WireError("InvalidVarint");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 128;
    }
    return value;
  }

  /**
   * Any varint below 2^64.
   * @returns {bigint}
   */
  varintBig() {
    let value = 0n;
    for (let index = 0; index < 10; index++) {
      const byte = this.u8();
      if (byte === 0 && index > 0) throw new WireError("InvalidVarint");
      if (index === 9 && byte > 1) throw new WireError("InvalidVarint");
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) break;
    }
    return value;
  }

  /**
   * The next `count` bytes, as a view of the input.
   * @param {number} count
   */
  bytes(count) {
    const start = this.skip(count);
    return this.buffer.subarray(start, start + count);
  }

  /**
   * Refuses to go on if fewer bytes are left: a value of several parts is cut off before it is wrong.
   * @param {number} count
   */
  need(count) {
    if (count > this.end - this.at) throw new WireError("UnexpectedEnd");
  }

  /**
   * A varint that is a count, a length or an index.
   * @param {number} limit the largest that is accepted
   * @param {string} [code] why a larger one is refused
   */
  varintUpTo(limit, code = "TooLong") {
    const value = this.#varintRounded();
    if (value > limit) throw new WireError(code);
    return value;
  }

  /** Everything that is left, as a view of the input. */
  rest() {
    return this.bytes(this.left);
  }

  /**
   * A varint length of at most `limit` and as many bytes, as a view of the input.
   * @param {number} limit
   */
  blob(limit) {
    const length = this.#varintRounded();
    if (length > limit) throw new WireError("TooLong");
    return this.bytes(length);
  }

  /**
   * A blob of UTF-8.
   * @param {number} limit in bytes
   */
  str(limit) {
    return decodeUtf8(this.blob(limit));
  }

  /** Refuses what is left over. */
  finish() {
    if (this.at !== this.end) throw new WireError("TrailingData");
  }
}

/**
 * A buffer that is filled front to back. Writing more than its limit is a mistake of the program: a
 * RangeError.
 */
export class ByteWriter {
  /**
   * @param {number} limit the most bytes it ever holds
   * @param {number} [initial] how many it has room for at first
   */
  constructor(limit, initial = Math.min(limit, 256)) {
    this.limit = limit;
    this.buffer = new Uint8Array(initial);
    /** How many bytes are written. */
    this.at = 0;
  }

  /** Forgets what was written; the buffer stays. */
  reset() {
    this.at = 0;
    return this;
  }

  /** What was written, as a view that is good until the next write or reset. */
  written() {
    return this.buffer.subarray(0, this.at);
  }

  /**
   * Makes room for `count` bytes and says where they start.
   * @param {number} count
   */
  grow(count) {
    const start = this.at;
    const end = start + count;
    if (end > this.buffer.length) {
      if (end > this.limit) throw new RangeError(`a writer of ${this.limit} bytes cannot hold ${end}`);
      const larger = new Uint8Array(Math.min(this.limit, Math.max(end, 2 * this.buffer.length)));
      larger.set(this.written());
      this.buffer = larger;
    }
    this.at = end;
    return start;
  }

  /** @param {number} value */
  u8(value) {
    const at = this.grow(1);
    this.buffer[at] = value;
  }

  /** @param {number} value */
  u16(value) {
    const at = this.grow(2);
    this.buffer[at] = value;
    this.buffer[at + 1] = value >>> 8;
  }

  /** @param {number} value signed or not: the low 32 bits are written */
  u32(value) {
    const at = this.grow(4);
    const buffer = this.buffer;
    buffer[at] = value;
    buffer[at + 1] = value >>> 8;
    buffer[at + 2] = value >>> 16;
    buffer[at + 3] = value >>> 24;
  }

  /** @param {bigint} value signed or not: the low 64 bits are written */
  u64(value) {
    this.u32(Number(BigInt.asUintN(32, value)));
    this.u32(Number(BigInt.asUintN(32, value >> 32n)));
  }

  /** @param {number} value */
  f32(value) {
    scratch.setFloat32(0, value);
    this.u32(scratch.getInt32(0));
  }

  /** @param {number} value */
  f64(value) {
    scratch.setFloat64(0, value);
    this.u32(scratch.getInt32(4));
    this.u32(scratch.getInt32(0));
  }

  /** @param {boolean} value */
  bool(value) {
    this.u8(value ? 1 : 0);
  }

  /** @param {number} value an integer in 0..=2^53 − 1 */
  varint(value) {
    while (value > 0x7f) {
      this.u8((value % 128) | 0x80);
      value = Math.floor(value / 128);
    }
    this.u8(value);
  }

  /** @param {bigint} value in 0..=2^64 − 1 */
  varintBig(value) {
    while (value > 0x7fn) {
      this.u8(Number(value & 0x7fn) | 0x80);
      value >>= 7n;
    }
    this.u8(Number(value));
  }

  /** @param {Uint8Array} bytes */
  bytes(bytes) {
    const at = this.grow(bytes.length);
    this.buffer.set(bytes, at);
  }

  /** @param {Uint8Array} bytes */
  blob(bytes) {
    this.varint(bytes.length);
    this.bytes(bytes);
  }

  /** @param {string} text */
  str(text) {
    this.blob(encodeUtf8(text));
  }
}

/**
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function decodeUtf8(bytes) {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    throw new WireError("InvalidUtf8");
  }
}

/**
 * @param {string} text
 * @returns {Uint8Array}
 */
export function encodeUtf8(text) {
  return utf8Encoder.encode(text);
}

/**
 * How many bytes a varint takes.
 * @param {number} value an integer in 0..=2^53 − 1
 */
export function varintBytes(value) {
  let count = 1;
  for (; value > 0x7f; value = Math.floor(value / 128)) count++;
  return count;
}

/**
 * 0, 1, 2, 3 become 0, −1, 1, −2 (section 2).
 * @param {number} value an integer in 0..=2^53 − 1
 */
export function unzigzag(value) {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/**
 * 0, −1, 1, −2 become 0, 1, 2, 3.
 * @param {number} value an integer within ±2^52
 */
export function zigzag(value) {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/**
 * The bytes that a text of hexadecimal digits stands for.
 * @param {string} hex
 */
export function bytesOfHex(hex) {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

/**
 * Bits in, numbers out, and back (section 3 of the standard).
 *
 * What changes most is written without regard to byte borders, so whoever reads it looks at a few bits here
 * and a few there, thousands of times a second. The reader therefore looks ahead: `peek` gives the next 25
 * bits in one go, from which a caller takes what it needs and then skips as much. Past the end it sees zeros;
 * only skipping refuses.
 */

import { WireError } from "./error.js";

const NOTHING = new Uint8Array(0);
/** Bits that `peek` shows at least: 32 less the seven that may be before the cursor in its byte. */
const PEEK_BITS = 25;
const TWO_TO_32 = 4294967296;

/**
 * The number of bits of a number in binary; 0 for 0.
 * @param {number} value an integer in 0..=2^53 − 1
 */
export function bitsFor(value) {
  return value < TWO_TO_32 ? 32 - Math.clz32(value) : 64 - Math.clz32(value / TWO_TO_32);
}

/** A cursor over bits, the first in bit 0 of the first byte. */
export class BitReader {
  /**
   * @param {Uint8Array} [bytes]
   * @param {number} [start] the first byte
   * @param {number} [end] the byte after the last
   */
  constructor(bytes = NOTHING, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.end = end;
    /** Where the next bit is, counted from the first byte of `bytes`. */
    this.at = start * 8;
  }

  /**
   * Starts over, on other bytes.
   * @param {Uint8Array} bytes
   * @param {number} [start]
   * @param {number} [end]
   */
  reset(bytes, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.end = end;
    this.at = start * 8;
    return this;
  }

  /** How many bits are left. */
  get left() {
    return this.end * 8 - this.at;
  }

  /** The next 25 bits or a few more, the first lowest; zeros beyond the end. */
  peek() {
    const first = this.at >>> 3;
    const bytes = this.bytes;
    if (first + 4 > this.end) return this.#peekNearEnd(first);
    const four = bytes[first] | (bytes[first + 1] << 8) | (bytes[first + 2] << 16) | (bytes[first + 3] << 24);
    return four >>> (this.at & 7);
  }

  /** @param {number} first */
  #peekNearEnd(first) {
    let four = 0;
    for (let byte = first; byte < this.end; byte++) four |= this.bytes[byte] << (8 * (byte - first));
    return four >>> (this.at & 7);
  }

  /**
   * Steps over bits that must be there.
   * @param {number} count
   */
  skip(count) {
    const at = this.at + count;
    if (at > this.end * 8) throw new WireError("UnexpectedEnd");
    this.at = at;
  }

  /**
   * An unsigned number.
   * @param {number} count 0..=53 bits
   */
  bits(count) {
    if (count > PEEK_BITS) return this.#manyBits(count);
    const value = this.peek() & ((1 << count) - 1);
    this.skip(count);
    return value;
  }

  /** @param {number} count */
  #manyBits(count) {
    if (count > this.left) throw new WireError("UnexpectedEnd");
    let value = 0;
    let scale = 1;
    for (let left = count; left > 0; left -= 16) {
      value += this.bits(Math.min(left, 16)) * scale;
      scale *= 65536;
    }
    return value;
  }

  /**
   * An opaque number of more bits than a Number holds.
   * @param {number} count 0..=64 bits
   */
  big(count) {
    if (count > this.left) throw new WireError("UnexpectedEnd");
    const low = this.bits(Math.min(count, 32));
    return BigInt(low) | (BigInt(this.bits(Math.max(count - 32, 0))) << 32n);
  }

  /**
   * A number in two's complement.
   * @param {number} count 1..=32 bits
   */
  signed(count) {
    return (this.bits(count) << (32 - count)) >> (32 - count);
  }

  bool() {
    return this.bits(1) === 1;
  }

  /**
   * A number of 0..=max.
   * @param {number} max at most 2^53 − 1
   */
  ranged(max) {
    const value = this.bits(bitsFor(max));
    if (value > max) throw new WireError("OutOfRange");
    return value;
  }

  /** Steps over the zeros up to the next byte border. */
  align() {
    if (this.bits(-this.at & 7) !== 0) throw new WireError("ReservedBits");
  }

  /** Refuses what is left over, but for the zeros that fill the last byte. */
  finish() {
    if (this.left >= 8) throw new WireError("TrailingData");
    this.align();
  }
}

/**
 * Bits that are filled front to back. Writing more than there is room for is a mistake of the program: a
 * RangeError.
 */
export class BitWriter {
  /** @param {number} limit the bytes that it holds */
  constructor(limit) {
    this.buffer = new Uint8Array(limit);
    /** How many bits are written. */
    this.at = 0;
  }

  /** Forgets what was written. */
  reset() {
    this.buffer.fill(0, 0, (this.at + 7) >>> 3);
    this.at = 0;
    return this;
  }

  /** Bits for which there is room. */
  get left() {
    return this.buffer.length * 8 - this.at;
  }

  /**
   * The bytes written, the last one filled with zeros, as a view that is good until the next write or reset.
   */
  written() {
    return this.buffer.subarray(0, (this.at + 7) >>> 3);
  }

  /**
   * @param {number} value an integer: negative ones in two's complement, with at most 32 bits
   * @param {number} count 0..=53: that many low bits are written
   */
  bits(value, count) {
    if (count > this.left) throw new RangeError(`a writer of ${this.buffer.length} bytes is full`);
    let rest = value < 0 ? value >>> 0 : value;
    for (let left = count; left > 0;) {
      const free = 8 - (this.at & 7);
      const taken = Math.min(free, left);
      const part = rest % (1 << taken);
      this.buffer[this.at >>> 3] |= part << (this.at & 7);
      rest = (rest - part) / (1 << taken);
      this.at += taken;
      left -= taken;
    }
  }

  /**
   * @param {bigint} value
   * @param {number} count 0..=64
   */
  big(value, count) {
    this.bits(Number(BigInt.asUintN(32, value)), Math.min(count, 32));
    this.bits(Number(BigInt.asUintN(32, value >> 32n)), Math.max(count - 32, 0));
  }

  /** @param {boolean} value */
  bool(value) {
    this.bits(value ? 1 : 0, 1);
  }

  /** @param {Uint8Array} bytes */
  bytes(bytes) {
    for (const byte of bytes) this.bits(byte, 8);
  }
}

/**
 * ChaCha20-Poly1305 (RFC 8439) for packets: the key of a direction, the packet number as nonce, the header as
 * associated data (section 19.2).
 *
 * Every packet of a sealed connection passes through here, so nothing is allocated. ChaCha works on 32-bit
 * integers. Poly1305 computes modulo 2^130 − 5, for which JavaScript has no integers: a number is six limbs
 * of 22 bits in doubles. A product of limbs then has at most 45 bits, and a sum of six, five of them
 * twenty-fold (2^132 ≡ 20), less than 2^53.
 */

/** Bytes of a key. */
export const KEY_BYTES = 32;
/** Bytes that sealing adds. */
export const TAG_BYTES = 16;

const LIMB_BITS = 22;
const LIMB = 2 ** LIMB_BITS;
const LIMB_MASK = LIMB - 1;
const PER_LIMB = 1 / LIMB;

const stream = new Int32Array(16);
const lengths = new Uint8Array(16);
const padded = new Uint8Array(16);
const computedTag = new Uint8Array(TAG_BYTES);

/** The key of one direction. */
export class SealKey {
  /** @param {Uint8Array} key 32 bytes */
  constructor(key) {
    if (key.length !== KEY_BYTES) throw new RangeError(`a key has ${KEY_BYTES} bytes, not ${key.length}`);
    const view = new DataView(key.buffer, key.byteOffset, KEY_BYTES);
    this.state = new Int32Array(16);
    this.state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]); // "expand 32-byte k"
    for (let index = 0; index < 8; index++) this.state[4 + index] = view.getInt32(4 * index, true);
    this.poly = new Poly1305();
  }

  /**
   * Seals `buffer[start..end]` in place, with what is before it as associated data, and puts the tag behind
   * it.
   * @param {number} number of the packet; −1 stands for 2^64 − 1
   * @param {Uint8Array} buffer
   * @param {number} start
   * @param {number} end
   * @returns {number} where the tag ends
   */
  seal(number, buffer, start, end) {
    this.#begin(number);
    this.#crypt(buffer, start, end, buffer, start);
    this.#finish(buffer, start, end, buffer, end);
    return end + TAG_BYTES;
  }

  /**
   * Opens `sealed[start..]` into `out`, which must not be `sealed`.
   * @param {number} number of the packet; −1 stands for 2^64 − 1
   * @param {Uint8Array} sealed with its tag at the end
   * @param {number} start
   * @param {Uint8Array} out
   * @returns {number} how many bytes were sealed; −1 if the tag is wrong
   */
  open(number, sealed, start, out) {
    const end = sealed.length - TAG_BYTES;
    if (end < start) return -1;
    this.#begin(number);
    this.#finish(sealed, start, end, computedTag, 0);
    let difference = 0;
    for (let index = 0; index < TAG_BYTES; index++) difference |= computedTag[index] ^ sealed[end + index];
    if (difference !== 0) return -1;
    this.#crypt(sealed, start, end, out, 0);
    return end - start;
  }

  /** @param {number} number */
  #begin(number) {
    const state = this.state;
    state[12] = 0;
    state[13] = 0;
    state[14] = number | 0;
    state[15] = Math.floor(number / 4294967296) | 0;
    makeStream(state);
    this.poly.begin(stream);
  }

  /**
   * @param {Uint8Array} from
   * @param {number} start
   * @param {number} end
   * @param {Uint8Array} to
   * @param {number} place
   */
  #crypt(from, start, end, to, place) {
    const state = this.state;
    for (let at = start; at < end; at += 64) {
      state[12]++;
      makeStream(state);
      const count = Math.min(64, end - at);
      for (let index = 0; index < count; index++) {
        to[place + index] = from[at + index] ^ (stream[index >> 2] >>> ((index & 3) << 3));
      }
      place += 64;
    }
  }

  /**
   * The tag of `bytes[start..end]`, already encrypted, and of the header before it.
   * @param {Uint8Array} bytes
   * @param {number} start
   * @param {number} end
   * @param {Uint8Array} out
   * @param {number} place
   */
  #finish(bytes, start, end, out, place) {
    this.poly.update(bytes, 0, start);
    this.poly.update(bytes, start, end);
    // Two 64-bit lengths, of which a datagram needs the low 16 bits.
    lengths[0] = start;
    lengths[1] = start >>> 8;
    lengths[8] = end - start;
    lengths[9] = (end - start) >>> 8;
    this.poly.update(lengths, 0, 16);
    this.poly.finish(out, place);
  }
}

/**
 * The next 64 bytes of key stream, into `stream`.
 * @param {Int32Array} state
 */
function makeStream(state) {
  let [a0, a1, a2, a3] = [state[0], state[1], state[2], state[3]];
  let [b0, b1, b2, b3] = [state[4], state[5], state[6], state[7]];
  let [c0, c1, c2, c3] = [state[8], state[9], state[10], state[11]];
  let [d0, d1, d2, d3] = [state[12], state[13], state[14], state[15]];
  let t = 0;
  for (let round = 0; round < 10; round++) {
    // The four columns, then the four diagonals; each line is a step of the quarter round.
    a0 = (a0 + b0) | 0; t = d0 ^ a0; d0 = (t << 16) | (t >>> 16);
    c0 = (c0 + d0) | 0; t = b0 ^ c0; b0 = (t << 12) | (t >>> 20);
    a0 = (a0 + b0) | 0; t = d0 ^ a0; d0 = (t << 8) | (t >>> 24);
    c0 = (c0 + d0) | 0; t = b0 ^ c0; b0 = (t << 7) | (t >>> 25);

    a1 = (a1 + b1) | 0; t = d1 ^ a1; d1 = (t << 16) | (t >>> 16);
    c1 = (c1 + d1) | 0; t = b1 ^ c1; b1 = (t << 12) | (t >>> 20);
    a1 = (a1 + b1) | 0; t = d1 ^ a1; d1 = (t << 8) | (t >>> 24);
    c1 = (c1 + d1) | 0; t = b1 ^ c1; b1 = (t << 7) | (t >>> 25);

    a2 = (a2 + b2) | 0; t = d2 ^ a2; d2 = (t << 16) | (t >>> 16);
    c2 = (c2 + d2) | 0; t = b2 ^ c2; b2 = (t << 12) | (t >>> 20);
    a2 = (a2 + b2) | 0; t = d2 ^ a2; d2 = (t << 8) | (t >>> 24);
    c2 = (c2 + d2) | 0; t = b2 ^ c2; b2 = (t << 7) | (t >>> 25);

    a3 = (a3 + b3) | 0; t = d3 ^ a3; d3 = (t << 16) | (t >>> 16);
    c3 = (c3 + d3) | 0; t = b3 ^ c3; b3 = (t << 12) | (t >>> 20);
    a3 = (a3 + b3) | 0; t = d3 ^ a3; d3 = (t << 8) | (t >>> 24);
    c3 = (c3 + d3) | 0; t = b3 ^ c3; b3 = (t << 7) | (t >>> 25);

    a0 = (a0 + b1) | 0; t = d3 ^ a0; d3 = (t << 16) | (t >>> 16);
    c2 = (c2 + d3) | 0; t = b1 ^ c2; b1 = (t << 12) | (t >>> 20);
    a0 = (a0 + b1) | 0; t = d3 ^ a0; d3 = (t << 8) | (t >>> 24);
    c2 = (c2 + d3) | 0; t = b1 ^ c2; b1 = (t << 7) | (t >>> 25);

    a1 = (a1 + b2) | 0; t = d0 ^ a1; d0 = (t << 16) | (t >>> 16);
    c3 = (c3 + d0) | 0; t = b2 ^ c3; b2 = (t << 12) | (t >>> 20);
    a1 = (a1 + b2) | 0; t = d0 ^ a1; d0 = (t << 8) | (t >>> 24);
    c3 = (c3 + d0) | 0; t = b2 ^ c3; b2 = (t << 7) | (t >>> 25);

    a2 = (a2 + b3) | 0; t = d1 ^ a2; d1 = (t << 16) | (t >>> 16);
    c0 = (c0 + d1) | 0; t = b3 ^ c0; b3 = (t << 12) | (t >>> 20);
    a2 = (a2 + b3) | 0; t = d1 ^ a2; d1 = (t << 8) | (t >>> 24);
    c0 = (c0 + d1) | 0; t = b3 ^ c0; b3 = (t << 7) | (t >>> 25);

    a3 = (a3 + b0) | 0; t = d2 ^ a3; d2 = (t << 16) | (t >>> 16);
    c1 = (c1 + d2) | 0; t = b0 ^ c1; b0 = (t << 12) | (t >>> 20);
    a3 = (a3 + b0) | 0; t = d2 ^ a3; d2 = (t << 8) | (t >>> 24);
    c1 = (c1 + d2) | 0; t = b0 ^ c1; b0 = (t << 7) | (t >>> 25);
  }
  stream[0] = a0 + state[0];
  stream[1] = a1 + state[1];
  stream[2] = a2 + state[2];
  stream[3] = a3 + state[3];
  stream[4] = b0 + state[4];
  stream[5] = b1 + state[5];
  stream[6] = b2 + state[6];
  stream[7] = b3 + state[7];
  stream[8] = c0 + state[8];
  stream[9] = c1 + state[9];
  stream[10] = c2 + state[10];
  stream[11] = c3 + state[11];
  stream[12] = d0 + state[12];
  stream[13] = d1 + state[13];
  stream[14] = d2 + state[14];
  stream[15] = d3 + state[15];
}

/** The authenticator, for input that is padded with zeros to blocks of 16 bytes, as the AEAD pads it. */
class Poly1305 {
  constructor() {
    /** The multiplier. */
    this.r = new Float64Array(6);
    /** The sum so far. */
    this.h = new Float64Array(6);
    /** What is added at the end, as four words. */
    this.s = new Uint32Array(4);
  }

  /** @param {Int32Array} words the first eight are the one-time key */
  begin(words) {
    const [w0, w1, w2, w3] = [
      words[0] & 0x0fffffff, words[1] & 0x0ffffffc, words[2] & 0x0ffffffc, words[3] & 0x0ffffffc,
    ];
    this.r[0] = w0 & LIMB_MASK;
    this.r[1] = ((w0 >>> 22) | (w1 << 10)) & LIMB_MASK;
    this.r[2] = ((w1 >>> 12) | (w2 << 20)) & LIMB_MASK;
    this.r[3] = (w2 >>> 2) & LIMB_MASK;
    this.r[4] = ((w2 >>> 24) | (w3 << 8)) & LIMB_MASK;
    this.r[5] = w3 >>> 14;
    this.h.fill(0);
    for (let index = 0; index < 4; index++) this.s[index] = words[4 + index];
  }

  /**
   * @param {Uint8Array} bytes
   * @param {number} start
   * @param {number} end
   */
  update(bytes, start, end) {
    const [r0, r1, r2, r3, r4, r5] = [this.r[0], this.r[1], this.r[2], this.r[3], this.r[4], this.r[5]];
    const [s1, s2, s3, s4, s5] = [20 * r1, 20 * r2, 20 * r3, 20 * r4, 20 * r5];
    let [h0, h1, h2, h3, h4, h5] = [this.h[0], this.h[1], this.h[2], this.h[3], this.h[4], this.h[5]];
    for (let at = start; at < end; at += 16) {
      let block = bytes;
      let place = at;
      if (end - at < 16) {
        padded.fill(0);
        for (let index = 0; at + index < end; index++) padded[index] = bytes[at + index];
        block = padded;
        place = 0;
      }
      const w0 = wordAt(block, place);
      const w1 = wordAt(block, place + 4);
      const w2 = wordAt(block, place + 8);
      const w3 = wordAt(block, place + 12);
      h0 += w0 & LIMB_MASK;
      h1 += ((w0 >>> 22) | (w1 << 10)) & LIMB_MASK;
      h2 += ((w1 >>> 12) | (w2 << 20)) & LIMB_MASK;
      h3 += (w2 >>> 2) & LIMB_MASK;
      h4 += ((w2 >>> 24) | (w3 << 8)) & LIMB_MASK;
      h5 += (w3 >>> 14) | 0x40000; // 2^128

      let d0 = h0 * r0 + h1 * s5 + h2 * s4 + h3 * s3 + h4 * s2 + h5 * s1;
      let d1 = h0 * r1 + h1 * r0 + h2 * s5 + h3 * s4 + h4 * s3 + h5 * s2;
      let d2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s5 + h4 * s4 + h5 * s3;
      let d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s5 + h5 * s4;
      let d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + h5 * s5;
      let d5 = h0 * r5 + h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1 + h5 * r0;
      let carried = Math.floor(d0 * PER_LIMB);
      h0 = d0 - carried * LIMB;
      d1 += carried;
      carried = Math.floor(d1 * PER_LIMB);
      h1 = d1 - carried * LIMB;
      d2 += carried;
      carried = Math.floor(d2 * PER_LIMB);
      h2 = d2 - carried * LIMB;
      d3 += carried;
      carried = Math.floor(d3 * PER_LIMB);
      h3 = d3 - carried * LIMB;
      d4 += carried;
      carried = Math.floor(d4 * PER_LIMB);
      h4 = d4 - carried * LIMB;
      d5 += carried;
      carried = Math.floor(d5 * PER_LIMB);
      h5 = d5 - carried * LIMB;
      h0 += 20 * carried;
      carried = Math.floor(h0 * PER_LIMB);
      h0 -= carried * LIMB;
      h1 += carried;
    }
    const h = this.h;
    [h[0], h[1], h[2], h[3], h[4], h[5]] = [h0, h1, h2, h3, h4, h5];
  }

  /**
   * @param {Uint8Array} out
   * @param {number} place
   */
  finish(out, place) {
    const h = this.h;
    // The bits from 2^130 on come back five-fold. Doing it twice leaves a number below 2^130, in whole limbs.
    this.#normalize();
    this.#normalize();
    // If adding 5 reaches 2^130, the number was p or more.
    let carried = 5;
    for (let index = 0; index < 5; index++) carried = Math.floor((h[index] + carried) * PER_LIMB);
    carried = Math.floor((h[5] + carried) * PER_LIMB * 4);
    h[0] += 5 * carried;
    for (let index = 0; index < 5; index++) {
      const over = Math.floor(h[index] * PER_LIMB);
      h[index] -= over * LIMB;
      h[index + 1] += over;
    }
    const words = [
      h[0] | (h[1] << 22),
      (h[1] >>> 10) | (h[2] << 12),
      (h[2] >>> 20) | (h[3] << 2) | (h[4] << 24),
      (h[4] >>> 8) | (h[5] << 14),
    ];
    let sum = 0;
    for (let index = 0; index < 4; index++) {
      sum += (words[index] >>> 0) + this.s[index];
      for (let byte = 0; byte < 4; byte++) out[place + 4 * index + byte] = sum >>> (8 * byte);
      sum = Math.floor(sum / 4294967296);
    }
  }

  #normalize() {
    const h = this.h;
    for (let index = 0; index < 5; index++) {
      const over = Math.floor(h[index] * PER_LIMB);
      h[index] -= over * LIMB;
      h[index + 1] += over;
    }
    const over = Math.floor(h[5] * PER_LIMB * 4);
    h[5] -= over * (LIMB / 4);
    h[0] += 5 * over;
  }
}

/** @param {Uint8Array} bytes @param {number} at */
function wordAt(bytes, at) {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

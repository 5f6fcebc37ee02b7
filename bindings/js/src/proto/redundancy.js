/**
 * Repeating small reliable messages before anybody asks for them (section 24).
 *
 * A lost packet costs at least a round trip until its messages come again, and on an ordered channel
 * everything behind them waits. Small messages are cheap, so each packet repeats those of the two before it,
 * as their XOR. The unit is the *block* of a packet: its leading whole reliable frames, at most 255 bytes.
 *
 * ```text
 * packet   n        n+1                  n+2                  n+3
 *          B(n)     B(n+1) B(n)⊕B(n−1)   B(n+2) B(n+1)⊕B(n)   B(n+3) B(n+2)⊕B(n+1)
 * ```
 *
 * The last blocks before a pause have no successors: after a short wait a packet is made for copies of them.
 */

import { BLOCK_BYTES_MAX, BLOCK_DISTANCE_MAX, BLOCKS_KEPT } from "./limits.js";

/** How a packet repeats earlier blocks. */
export const Repeats = Object.freeze({ Nothing: 0, Copies: 1, Parity: 2 });

class SentBlock {
  constructor() {
    this.number = -1;
    this.bytes = new Uint8Array(BLOCK_BYTES_MAX);
    this.length = 0;
    /** Since when it has not been repeated; Infinity if it need not be. */
    this.waitingSince = Infinity;
  }
}

/** The sending side: the last two blocks. */
export class BlockHistory {
  constructor() {
    this.last = new SentBlock();
    this.before = new SentBlock();
    this.xored = new Uint8Array(BLOCK_BYTES_MAX);
    /** What the last `write` did, and the packets whose blocks it repeated; −1 for none. */
    this.repeats = 0;
    this.near = -1;
    this.far = -1;
  }

  /** @param {number} number @param {Uint8Array} block @param {number} now */
  handleSent(number, block, now) {
    [this.last, this.before] = [this.before, this.last];
    this.last.number = number;
    this.last.bytes.set(block);
    this.last.length = block.length;
    this.last.waitingSince = now;
  }

  /** The packet arrived: its block needs no repetition. @param {number} number */
  handleAcked(number) {
    if (this.last.number === number) this.last.waitingSince = Infinity;
    if (this.before.number === number) this.before.waitingSince = Infinity;
  }

  /** Since when the newest block that waits to be repeated does so; Infinity for none. */
  waitingSince() {
    return this.last.waitingSince < Infinity ? this.last.waitingSince : this.before.waitingSince;
  }

  /**
   * Repeats blocks in the packet that is being written, if they fit and `reserve` bytes are left.
   * @param {number} number of the packet
   * @param {import("./frames.js").FrameWriter} writer
   * @param {number} reserve
   */
  write(number, writer, reserve) {
    this.repeats = Repeats.Nothing;
    this.near = this.far = -1;
    for (const sent of [this.last, this.before]) {
      if (number - sent.number > BLOCK_DISTANCE_MAX) sent.waitingSince = Infinity;
    }
    // Nothing behind a packet that is made for repetitions could resolve a parity: it has copies of all that
    // waits.
    if (writer.count === 0) {
      this.#writeCopy(number, this.before, writer, reserve);
      this.#writeCopy(number, this.last, writer, reserve);
    } else if (this.before.number >= 0 && number - this.before.number <= BLOCK_DISTANCE_MAX) {
      this.#writeParity(number, writer, reserve);
    } else {
      this.#writeCopy(number, this.last, writer, reserve);
    }
  }

  /**
   * @param {number} number
   * @param {SentBlock} sent
   * @param {import("./frames.js").FrameWriter} writer
   * @param {number} reserve
   */
  #writeCopy(number, sent, writer, reserve) {
    if (sent.waitingSince === Infinity) return;
    if (!writer.copy(number - sent.number, sent.bytes.subarray(0, sent.length), reserve)) return;
    sent.waitingSince = Infinity;
    this.repeats = Repeats.Copies;
    if (this.near < 0) this.near = sent.number;
    else this.far = sent.number;
  }

  /** @param {number} number @param {import("./frames.js").FrameWriter} writer @param {number} reserve */
  #writeParity(number, writer, reserve) {
    const { last, before, xored } = this;
    if (last.waitingSince === Infinity) return;
    const length = Math.max(last.length, before.length);
    for (let index = 0; index < length; index++) {
      xored[index] =
        (index < last.length ? last.bytes[index] : 0) ^ (index < before.length ? before.bytes[index] : 0);
    }
    const lengths = last.length ^ before.length;
    const [near, far] = [number - last.number, number - before.number];
    if (!writer.parity(near, far, lengths, xored.subarray(0, length), reserve)) return;
    last.waitingSince = before.waitingSince = Infinity;
    this.repeats = Repeats.Parity;
    this.near = last.number;
    this.far = before.number;
  }
}

class Block {
  constructor() {
    this.number = -1;
    this.length = 0;
    /** Zeros behind the length. */
    this.bytes = new Uint8Array(BLOCK_BYTES_MAX);
  }

  /** @param {number} number @param {Uint8Array} bytes */
  set(number, bytes) {
    this.number = number;
    this.length = bytes.length;
    this.bytes.fill(0);
    this.bytes.set(bytes);
  }
}

class Parity extends Block {
  constructor() {
    super();
    this.near = -1;
    this.far = -1;
    this.lengthsXored = 0;
  }
}

/** The receiving side: recent blocks whose frames have been taken, and parities that are not resolved yet. */
export class BlockStore {
  constructor() {
    this.blocks = Array.from({ length: BLOCKS_KEPT }, () => new Block());
    /** A number of −1 means that the place is free. */
    this.parities = Array.from({ length: BLOCKS_KEPT }, () => new Parity());
    /** What `recover` found. */
    this.recovered = new Block();
    /** @type {Parity | null} */
    this.resolved = null;
  }

  /**
   * Keeps a block; all of its frames must have been taken.
   * @param {number} number
   * @param {Uint8Array} bytes
   */
  keep(number, bytes) {
    const place = this.blocks[number % BLOCKS_KEPT];
    if (bytes.length <= BLOCK_BYTES_MAX && place.number < number) place.set(number, bytes);
  }

  /** @param {number} number */
  has(number) {
    return this.blocks[number % BLOCKS_KEPT].number === number;
  }

  /**
   * Keeps a parity of a packet; one that reaches below number 0 is ignored.
   * @param {number} number
   * @param {number} near
   * @param {number} far
   * @param {number} lengthsXored
   * @param {Uint8Array} body
   */
  keepParity(number, near, far, lengthsXored, body) {
    if (number < far) return;
    const parity = this.parities[number % BLOCKS_KEPT];
    parity.set(number, body);
    parity.near = number - near;
    parity.far = number - far;
    parity.lengthsXored = lengthsXored;
  }

  /**
   * Looks for a parity, from a place on, that gives a block away, and puts the block into `recovered`. Says
   * the place behind it; −1 if there is none.
   * @param {number} place
   */
  recover(place) {
    for (let index = place; index < BLOCKS_KEPT; index++) {
      const parity = this.parities[index];
      if (parity.number < 0) continue;
      const [hasNear, hasFar] = [this.has(parity.near), this.has(parity.far)];
      if (hasNear && hasFar) parity.number = -1;
      if (hasNear === hasFar) continue;
      const kept = this.blocks[(hasNear ? parity.near : parity.far) % BLOCKS_KEPT];
      const { recovered } = this;
      recovered.number = hasNear ? parity.far : parity.near;
      recovered.length = parity.lengthsXored ^ kept.length;
      for (let at = 0; at < BLOCK_BYTES_MAX; at++) {
        recovered.bytes[at] = at < recovered.length ? parity.bytes[at] ^ kept.bytes[at] : 0;
      }
      this.resolved = parity;
      return index + 1;
    }
    return -1;
  }

  /**
   * The frames of the recovered block have all been taken. Until then its parity stays, so that it comes
   * again.
   */
  handleTaken() {
    if (this.resolved) this.resolved.number = -1;
    this.keep(this.recovered.number, this.recovered.bytes.subarray(0, this.recovered.length));
  }
}

/**
 * Three numbers, each expected to be about as large as what is known by then (section 46.3 of the standard).
 *
 * Differences from a prediction are small or large together. How large they will be follows roughly from how the
 * object moved between its baselines, and better with each number that is known; that size chooses the code table
 * of the next one.
 */

import { bitsFor } from "../wire/bits.js";
import { WireError } from "../wire/error.js";

/** @typedef {import("../wire/bits.js").BitReader} BitReader */
/** @typedef {import("../wire/table.js").CodeTable} CodeTable */

/** What differences are from: the first table of each kind, and how much less its share is than the size. */
export const ALONE = { tables: 0, shareBits: 0 };
export const NEWER = { tables: 12, shareBits: 1 };
export const LINE = { tables: 24, shareBits: 3 };

/** Two symbols of a head that are no numbers. */
export const HEAD_FROM_NEWER = 105;
export const HEAD_OTHER = 106;

const ESCAPE = 104;
const EXACT = 16;
const LEVEL_MAX = 11;
const SIZE_MAX = 1 << 20;

/** What is expected of three numbers, and what they were. One is used again and again. */
export class Chain {
  #tables = 0;
  #size = 0;
  #share = 0;

  constructor() {
    this.numbers = new Int32Array(3);
  }

  /**
   * @param {typeof ALONE} kind
   * @param {number} size not negative
   */
  expect(kind, size) {
    this.#tables = kind.tables;
    this.#size = Math.min(size, SIZE_MAX);
    this.#share = this.#size >> kind.shareBits;
  }

  /** The number of the table of the first one. */
  get first() {
    return this.#table(this.#size);
  }

  /**
   * Reads the numbers.
   * @param {readonly CodeTable[]} firsts tables of the first
   * @param {readonly CodeTable[]} nexts those of the others
   * @param {BitReader} reader
   */
  read(firsts, nexts, reader) {
    this.readAfter(firsts[this.first].read(reader), nexts, reader);
  }

  /**
   * The same if the symbol of the first has been read.
   * @param {number} symbol
   * @param {readonly CodeTable[]} nexts
   * @param {BitReader} reader
   */
  readAfter(symbol, nexts, reader) {
    const { numbers } = this;
    const first = readRest(symbol, reader);
    const second = readRest(nexts[this.#table(sizeOf(first) + this.#share)].read(reader), reader);
    const share = this.#share - (this.#share >> 2);
    const size = ((sizeOf(first) + sizeOf(second)) >> 1) + share;
    numbers[2] = readRest(nexts[this.#table(size)].read(reader), reader);
    numbers[0] = first;
    numbers[1] = second;
  }

  /** @param {number} size */
  #table(size) {
    return this.#tables + Math.min(bitsFor(size), LEVEL_MAX);
  }
}

/** @param {number} number */
function sizeOf(number) {
  return Math.min(number ^ (number >> 31), SIZE_MAX);
}

/**
 * The number that a symbol begins.
 * @param {number} symbol
 * @param {BitReader} reader
 */
function readRest(symbol, reader) {
  if (symbol > ESCAPE) throw new WireError("InvalidCode");
  if (symbol === ESCAPE) return reader.signed(reader.bits(5) + 1);
  const index = symbol >> 1;
  let fold = index;
  if (symbol >= EXACT) {
    const count = (symbol >> 3) - 1;
    fold = ((4 + (index & 3)) << count) + reader.bits(count);
  }
  return symbol & 1 ? ~fold : fold;
}

/**
 * Static prefix codes (section 10 of the standard).
 *
 * What is said often should be short. A code table gives every symbol a code of its own length, and as the
 * lengths alone decide the codes, a table is the list of them. To read one, the next bits are looked up in an
 * array that knows for each of their values which symbol begins them and how long its code is: no loop over
 * bits, no tree.
 */

import { WireError } from "./error.js";

/** The longest code, in bits. */
const CODE_BITS_MAX = 12;

/** The residual, run and mask tables of a set, as their numbers of symbols. */
const SET_SYMBOLS = [18, 17, 6];
const SET_VERSION = 1;
/** Bytes of a serialized set. */
export const TABLE_SET_BYTES = 22;

/** The codes of some symbols. */
export class CodeTable {
  /** @param {Uint8Array} lengths of the code of each symbol, 1 to 12 bits */
  constructor(lengths) {
    const widest = checkLengths(lengths);
    this.lengths = lengths;
    this.mask = (1 << widest) - 1;
    /** By the next bits: the symbol, and in the low four bits how long its code is. */
    this.lookup = new Uint16Array(1 << widest);
    let code = 0;
    for (let length = 1; length <= widest; length++) {
      code *= 2;
      for (let symbol = 0; symbol < lengths.length; symbol++) {
        if (lengths[symbol] !== length) continue;
        this.#enter(reversed(code, length), length, symbol);
        code++;
      }
    }
  }

  /**
   * @param {number} first the code as it stands in the stream
   * @param {number} length
   * @param {number} symbol
   */
  #enter(first, length, symbol) {
    for (let bits = first; bits <= this.mask; bits += 1 << length) this.lookup[bits] = (symbol << 4) | length;
  }

  /**
   * The next symbol.
   * @param {import("./bits.js").BitReader} reader
   */
  read(reader) {
    const found = this.lookup[reader.peek() & this.mask];
    reader.skip(found & 15);
    return found >>> 4;
  }
}

/**
 * Checks that a table has a symbol for every string of bits, and says how long its longest code is.
 * @param {Uint8Array} lengths
 */
function checkLengths(lengths) {
  let sum = 0;
  let widest = 0;
  for (const length of lengths) {
    if (length < 1 || length > CODE_BITS_MAX) throw new WireError("CodeLength");
    sum += 1 << (CODE_BITS_MAX - length);
    widest = Math.max(widest, length);
  }
  if (sum !== 1 << CODE_BITS_MAX) throw new WireError("Kraft");
  return widest;
}

/**
 * A code's most significant bit is sent first, which is the lowest of the stream.
 * @param {number} code
 * @param {number} length
 */
function reversed(code, length) {
  let result = 0;
  for (let bit = 0; bit < length; bit++) result |= ((code >> bit) & 1) << (length - 1 - bit);
  return result;
}

/**
 * The tables that every delta uses.
 * @typedef {object} TableSet
 * @property {CodeTable} residual
 * @property {CodeTable} run
 * @property {CodeTable} mask
 */

/**
 * Reads a serialized set (section 10.1).
 * @param {Uint8Array} bytes
 * @returns {TableSet}
 */
export function readTableSet(bytes) {
  if (bytes.length === 0) throw new WireError("Length");
  if (bytes[0] !== SET_VERSION) throw new WireError("Version");
  if (bytes.length !== TABLE_SET_BYTES) throw new WireError("Length");
  let at = 1;
  const lengths = SET_SYMBOLS.map((symbols) => {
    const own = Uint8Array.from({ length: symbols }, (_, symbol) => {
      return (bytes[at + (symbol >> 1)] >> (4 * (symbol & 1))) & 15;
    });
    at += (symbols + 1) >> 1;
    if (symbols % 2 === 1 && bytes[at - 1] >> 4 !== 0) throw new WireError("Padding");
    return own;
  });
  const [residual, run, mask] = lengths.map((own) => new CodeTable(own));
  return { residual, run, mask };
}

/**
 * The code tables of a connection (section 46.1 of the standard).
 *
 * How much an object moved decides which differences are likely, so there is a table for each case. All of
 * them are static: both ends hold the same set before the first snapshot, and the handshake compares its id.
 */

import { WireError } from "../wire/error.js";
import { fnv1a32 } from "../wire/hash.js";
import { CodeTable, TABLE_SET_BYTES, readTableSet } from "../wire/table.js";
import { genericCodeBytes } from "./generic_codes.js";

/** Tables, symbols, and the longest code, in the order in which they are serialized. */
const SYMBOL = { tables: 5, symbols: 71, bitsMax: 12 };
const TRIPLE = { tables: 25, symbols: 142, bitsMax: 10 };
const LEAD = { tables: 12, symbols: 16, bitsMax: 9 };
const OTHERS = { tables: 11, symbols: 26, bitsMax: 9 };
const CODES_BYTES = [SYMBOL, TRIPLE, LEAD, OTHERS].reduce(
  (sum, { tables, symbols }) => sum + tables * symbols,
  TABLE_SET_BYTES,
);

/** A set of code tables. */
export class Codes {
  /** @param {Uint8Array} bytes the serialized set */
  constructor(bytes) {
    if (bytes.length !== CODES_BYTES) throw new WireError("Length");
    /** What the handshake compares. */
    this.id = fnv1a32(bytes);
    const { residual, run, mask } = readTableSet(bytes.subarray(0, TABLE_SET_BYTES));
    this.residual = residual;
    this.run = run;
    this.mask = mask;
    let at = TABLE_SET_BYTES;
    const read = (/** @type {typeof SYMBOL} */ { tables, symbols, bitsMax }) => {
      return Array.from({ length: tables }, () => {
        const lengths = bytes.slice(at, at + symbols);
        at += symbols;
        if (lengths.some((length) => length > bitsMax)) throw new WireError("CodeLength");
        return new CodeTable(lengths);
      });
    };
    this.symbol = read(SYMBOL);
    this.triple = read(TRIPLE);
    this.lead = read(LEAD);
    this.others = read(OTHERS);
  }

  /** The set that every implementation holds; made once, when it is first needed. */
  static generic() {
    generic ??= new Codes(genericCodeBytes());
    return generic;
  }
}

/** @type {Codes | undefined} */
let generic;

/**
 * Words as differences from what the receiver holds (section 11 of the standard).
 *
 * Most values are near what they were, most fields did not change, and most objects of a run were not
 * touched. Each of the three has a form in which the usual case costs a bit or two.
 */

import { bitsFor } from "./bits.js";
import { WireError } from "./error.js";

/** @typedef {import("./bits.js").BitReader} BitReader */
/** @typedef {import("./table.js").CodeTable} CodeTable */

const LISTED_MAX = 4;
const BITMAP = LISTED_MAX + 1;
const ESCAPE = 17;
const RUN_MAX = 65535;
const AGE_MAX = 1023;

/**
 * Which of `fieldCount` fields changed: their indexes go to `changed`, ascending.
 * @param {BitReader} reader
 * @param {CodeTable} table
 * @param {number} fieldCount 1..=64
 * @param {Uint8Array} changed with room for as many
 * @returns {number} how many
 */
export function readChanged(reader, table, fieldCount, changed) {
  const symbol = table.read(reader);
  if (symbol === BITMAP) return readBitmap(reader, fieldCount, changed);
  if (symbol > BITMAP) throw new WireError("InvalidCode");
  const width = bitsFor(fieldCount - 1);
  let last = -1;
  for (let place = 0; place < symbol; place++) {
    const index = reader.bits(width);
    if (index >= fieldCount || index <= last) throw new WireError("InvalidField");
    last = index;
    changed[place] = index;
  }
  return symbol;
}

/**
 * @param {BitReader} reader
 * @param {number} fieldCount
 * @param {Uint8Array} changed
 */
function readBitmap(reader, fieldCount, changed) {
  let count = 0;
  for (let index = 0; index < fieldCount; index++) {
    if (reader.bits(1) === 1) changed[count++] = index;
  }
  return count;
}

/**
 * A word of min..=max.
 * @param {BitReader} reader
 * @param {CodeTable} table
 * @param {number} predicted
 * @param {number} min
 * @param {number} max
 */
export function readResidual(reader, table, predicted, min, max) {
  const symbol = table.read(reader);
  let word = predicted;
  if (symbol > ESCAPE) throw new WireError("InvalidCode");
  if (symbol === ESCAPE) {
    word = min + reader.bits(bitsFor(max - min));
  } else if (symbol > 0) {
    const signAndLow = reader.bits(symbol);
    const magnitude = (1 << (symbol - 1)) | (signAndLow >>> 1);
    word = (signAndLow & 1) === 1 ? predicted - magnitude : predicted + magnitude;
  }
  if (word < min || word > max) throw new WireError("OutOfRange");
  return word;
}

/**
 * How many in a row did not change.
 * @param {BitReader} reader
 * @param {CodeTable} table
 * @param {number} max how many are left
 */
export function readRun(reader, table, max) {
  const bits = table.read(reader);
  if (bits > 16) throw new WireError("InvalidCode");
  const run = ((1 << bits) | reader.bits(bits)) - 1;
  if (run > max || run > RUN_MAX) throw new WireError("OutOfRange");
  return run;
}

/**
 * Where a word that was `newer` and, earlier, `older` should be by now. Ages are in ticks before the present.
 * @param {number} newer
 * @param {number} newerAge
 * @param {number} older
 * @param {number} olderAge
 * @param {number} min
 * @param {number} max
 */
export function predict(newer, newerAge, older, olderAge, min, max) {
  let predicted = newer;
  if (olderAge > newerAge && olderAge <= AGE_MAX) {
    const ahead = (newer - older) * newerAge;
    const behind = olderAge - newerAge;
    predicted += Math.sign(ahead) * Math.floor((2 * Math.abs(ahead) + behind) / (2 * behind));
  }
  return Math.min(Math.max(predicted, min), max);
}

/**
 * The start of a snapshot, and which states its updates build on (sections 38 and 41 of the standard).
 */

import { WireError } from "../wire/error.js";
import { lineBetween } from "./line.js";

/** @typedef {import("../wire/bits.js").BitReader} BitReader */
/** @typedef {import("../wire/bytes.js").ByteReader} ByteReader */

const AGE = 1;
const OLDER_AGE = 2;
const LEAVES = 4;
const ENTERS = 8;
const UPDATES = 16;
const DIGEST = 32;
const FEEDBACK = 64;
const RESERVED = 128;
const NO_SLACK = -128;

/** One is used again and again. */
export class SnapshotHeader {
  constructor() {
    /** The low 16 bits. */
    this.tick = 0;
    this.hasLeaves = false;
    this.hasEnters = false;
    this.hasUpdates = false;
    /** The ages of the common baselines, in ticks; 0 if there is none. */
    this.age = 0;
    this.olderAge = 0;
    this.hasFeedback = false;
    /** The low 16 bits of the newest simulated step. */
    this.step = 0;
    /**
     * How early inputs come, in quarters of a step; null if none came lately.
     * @type {number | null}
     */
    this.slack = null;
    this.hasDigest = false;
    this.region = 0;
    this.digest = 0;
  }

  /**
   * Reads everything up to the first part that has a count.
   * @param {ByteReader} reader
   */
  read(reader) {
    this.tick = reader.u16();
    const flags = reader.u8();
    if ((flags & RESERVED) !== 0 || (flags & (AGE | OLDER_AGE)) === OLDER_AGE) {
      throw new WireError("ReservedBits");
    }
    this.hasLeaves = (flags & LEAVES) !== 0;
    this.hasEnters = (flags & ENTERS) !== 0;
    this.hasUpdates = (flags & UPDATES) !== 0;
    const hasOlder = (flags & OLDER_AGE) !== 0;
    this.age = (flags & AGE) !== 0 ? reader.u8() : 0;
    this.olderAge = hasOlder ? reader.u8() : 0;
    const isWrong = ((flags & AGE) !== 0 && this.age === 0) || (hasOlder && this.olderAge <= this.age);
    if (isWrong) throw new WireError("OutOfRange");
    this.hasFeedback = (flags & FEEDBACK) !== 0;
    this.step = this.hasFeedback ? reader.u16() : 0;
    const slack = this.hasFeedback ? reader.i8() : NO_SLACK;
    this.slack = slack === NO_SLACK ? null : slack;
    this.hasDigest = (flags & DIGEST) !== 0;
    this.region = this.hasDigest ? reader.u16() : 0;
    this.digest = this.hasDigest ? reader.u32() : 0;
  }
}

/** The baselines of an update, by their ages; what follows from those is computed when they are named. */
class Named {
  constructor() {
    this.age = 0;
    this.olderAge = 0;
    /** @type {import("./line.js").Line | null} */
    this.line = null;
  }

  /**
   * @param {number} age 0 if there is none
   * @param {number} olderAge 0 if there is none
   */
  set(age, olderAge) {
    this.age = age;
    this.olderAge = olderAge;
    this.line = lineBetween(age, olderAge);
  }
}

/** Objects so many slots apart have one code each for the common baselines and for others. */
const GAP_CLASSES = 17;

/** Which objects the updates of a snapshot are of and which baselines they use, one after the other. */
export class Baselines {
  constructor() {
    /** How many slots lie between the object before and the next one, after `readGap`. */
    this.gap = 0;
    this.isCommon = false;
    this.common = new Named();
    this.named = new Named();
  }

  /**
   * Before the first update of a snapshot.
   * @param {SnapshotHeader} header
   */
  reset({ age, olderAge }) {
    this.common.set(age, olderAge);
    this.named.set(0, 0);
  }

  /**
   * The gap before the next update, and whether that uses the common ones.
   * @param {import("../wire/table.js").CodeTable} table
   * @param {number} max
   * @param {BitReader} reader
   */
  readGap(table, max, reader) {
    const symbol = table.read(reader);
    const bits = symbol % GAP_CLASSES;
    this.gap = ((1 << bits) | reader.bits(bits)) - 1;
    this.isCommon = symbol < GAP_CLASSES;
    if (this.gap > max) throw new WireError("OutOfRange");
  }

  /**
   * Those of the next update, after its gap.
   * @param {BitReader} reader
   * @returns {Readonly<Named>}
   */
  read(reader) {
    if (this.isCommon) return known(this.common);
    if (reader.bool()) return known(this.named);
    const hasOlder = reader.bool();
    const age = reader.bits(8);
    const apart = hasOlder ? reader.bits(8) : 0;
    if (age === 0 || (hasOlder && apart === 0)) throw new WireError("OutOfRange");
    this.named.set(age, hasOlder ? age + apart : 0);
    return this.named;
  }
}

/** @param {Named} baselines */
function known(baselines) {
  if (baselines.age === 0) throw new WireError("InvalidFlags");
  return baselines;
}

/**
 * The full entry of an object (section 40 of the standard): everything that a client must know to hold it,
 * without any baseline. It is sent when an object comes into sight, when its words change their meaning, and
 * when no state is left to build on.
 */

import { NO_SLOT } from "../wire/alias.js";
import { ByteReader } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { NO_ORIGIN, isSameOrigin, readOrigin } from "../wire/origin.js";
import { readPropertyBlock } from "../wire/property_block.js";
import { PROFILES } from "../wire/quantize.js";
import { Record } from "../wire/record.js";
import { readContent, readValue } from "../wire/value.js";
import { WORDS_MAX } from "./class.js";

/** @typedef {import("./class.js").Audience} Audience */
/** @typedef {import("./class.js").ClassTable} ClassTable */
/** @typedef {import("./class.js").ObjectClass} ObjectClass */
/** @typedef {import("./class.js").PlacedField} PlacedField */

const OWNED = 1;
const TEAM = 2;
const ATTACHED = 4;
const ORIGIN = 8;
const BITS = OWNED | TEAM | ATTACHED | ORIGIN;

/** The oldest jump that is told, in ticks. */
export const JUMP_AGE_MAX = 2 ** 30;

/**
 * What an entry says of an object besides its state.
 * @typedef {object} Facts
 * @property {ObjectClass} class
 * @property {number} slot
 * @property {number} generation
 * @property {Audience} audience what this client is to it
 * @property {number | null} parent the slot of what it is attached to
 * @property {number} profile
 * @property {import("../wire/origin.js").Origin} origin
 */

/**
 * Whether two entries are of the same object and mean the same by their words.
 * @param {Facts} a
 * @param {Facts} b
 */
export function isSameObject(a, b) {
  return (
    a.slot === b.slot &&
    a.generation === b.generation &&
    a.class === b.class &&
    a.audience === b.audience &&
    a.parent === b.parent &&
    a.profile === b.profile &&
    isSameOrigin(a.origin, b.origin)
  );
}

/** Reads entries. What the last one said is in its fields until the next. */
export class EntryReader {
  constructor() {
    this.words = new Int32Array(WORDS_MAX);
    /** How many ticks ago the object jumped; −1 if it did not since it was first told. */
    this.jumpAge = -1;
    /** The fields of variable length, and their contents as views of the input. */
    this.contentFields = /** @type {number[]} */ ([]);
    this.contents = /** @type {Uint8Array[]} */ ([]);
    this.record = new Record();
    this.block = new ByteReader(new Uint8Array(0));
    this.isTold = /** @type {boolean[]} */ ([]);
  }

  /**
   * Reads one from the front of the reader.
   * @param {ByteReader} reader
   * @param {ClassTable} classes
   * @returns {Facts}
   */
  read(reader, classes) {
    const found = classes.get(reader.u8());
    if (found === undefined) throw new WireError("OutOfRange");
    const bits = reader.u8();
    if ((bits & ~BITS) !== 0 || (bits & (OWNED | TEAM)) === (OWNED | TEAM)) {
      throw new WireError("ReservedBits");
    }
    const parent = (bits & ATTACHED) !== 0 ? reader.u16() : null;
    const origin = (bits & ORIGIN) !== 0 ? readOrigin(reader) : NO_ORIGIN;
    const { record } = this;
    record.read(reader);
    if (record.slot === NO_SLOT || parent === NO_SLOT) throw new WireError("OutOfRange");
    const hasIdleOrigin = (bits & ORIGIN) !== 0 && !PROFILES[record.profile].usesOrigin;
    if (record.originVersion !== origin.version || hasIdleOrigin || record.hasScale || record.hasVelocity) {
      throw new WireError("InvalidFlags");
    }
    /** @type {Audience} */
    const audience = (bits & OWNED) !== 0 ? "owner" : (bits & TEAM) !== 0 ? "team" : "public";
    this.#readFields(found, audience);
    this.jumpAge = record.isTeleport ? reader.varintUpTo(JUMP_AGE_MAX) : -1;
    const { slot, generation, profile } = record;
    return { class: found, slot, generation, audience, parent, profile, origin };
  }

  /**
   * Takes the fields out of the record: exactly those that are visible.
   * @param {ObjectClass} found
   * @param {Audience} audience
   */
  #readFields(found, audience) {
    const { record, block, words, isTold } = this;
    const { fields } = found;
    words.fill(0);
    this.contentFields.length = 0;
    this.contents.length = 0;
    isTold.length = 0;
    if (record.hasPosition) this.#place(fields, "position", record.position);
    if (record.hasRotation) this.#place(fields, "rotation", record.rotation);
    if (record.properties !== null) {
      block.reset(record.properties);
      readPropertyBlock(fields.length, block, (index) => this.#readField(fields[index]));
    }
    const { isVisible } = found.shape(record.profile, audience);
    for (let index = 0; index < fields.length; index++) {
      if ((isTold[index] === true) !== isVisible[index]) throw new WireError("InvalidField");
    }
  }

  /**
   * @param {readonly PlacedField[]} fields
   * @param {"position" | "rotation"} kind
   * @param {Int32Array} four
   */
  #place(fields, kind, four) {
    const field = fields.find((each) => each.kind === kind);
    if (field === undefined) throw new WireError("InvalidField");
    this.words.set(four, field.first);
    this.isTold[field.index] = true;
  }

  /** @param {PlacedField} field */
  #readField(field) {
    if (field.contentMax > 0) {
      const content = readContent(field, this.block);
      if (field.isReliable) throw new WireError("InvalidField");
      this.contentFields.push(field.index);
      this.contents.push(content);
    } else {
      const isTransform = field.kind === "position" || field.kind === "rotation";
      // Those are in the record; here they are read only to be refused in the right order.
      if (isTransform) readValue(field, this.block, new Int32Array(4), 0);
      else readValue(field, this.block, this.words, field.first);
      if (isTransform) throw new WireError("InvalidField");
    }
    this.isTold[field.index] = true;
  }
}

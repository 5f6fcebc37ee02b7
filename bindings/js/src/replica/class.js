/**
 * Classes of objects (sections 35 and 36 of the standard): where the words of each field are, and who sees
 * which.
 *
 * An object has a profile of its own, which takes the place of the declared one for position and rotation,
 * and its owner sees more of it than others do. What a decoder needs to know of an object is therefore
 * prepared for each of the few combinations, its shape, so that nothing is looked up while a snapshot is
 * read.
 */

import { ByteWriter } from "../wire/bytes.js";
import { fnv1a64 } from "../wire/hash.js";
import { NONE, PROFILES } from "../wire/quantize.js";
import { Schema, reaches } from "../wire/schema.js";
import { wordsOf } from "../wire/value.js";

/** Words of one object. */
export const WORDS_MAX = 96;
const CLASSES_MAX = 256;
/** Contents of one object that ride in snapshots, together. */
const CONTENT_BYTES_MAX = 512;

/**
 * What a client is to an object.
 * @typedef {"owner" | "team" | "public"} Audience
 */

/**
 * A field, and where its words are; it has none if it is delivered reliably.
 * @typedef {import("../wire/schema.js").Field & { first: number, count: number }} PlacedField
 */

/**
 * What those of one audience receive of objects with one profile.
 * @typedef {object} Shape
 * @property {number} wordCount
 * @property {readonly PlacedField[]} fields all fields of the class, in the object's profile
 * @property {readonly boolean[]} isSeen by field: whether it is received at all
 * @property {readonly boolean[]} isVisible by field: whether it is received in snapshots
 * @property {PlacedField | null} position if it is visible
 * @property {PlacedField | null} rotation if it is visible
 * @property {PlacedField | null} velocity the first that is visible
 * @property {readonly PlacedField[]} others the visible fields but position and rotation
 */

/** A class of objects. */
export class ObjectClass {
  /**
   * @param {Schema} schema
   * @param {number} number its place in the list
   */
  constructor(schema, number) {
    this.schema = schema;
    this.name = schema.name;
    this.number = number;
    this.wordCount = 0;
    /** @type {readonly PlacedField[]} */
    this.fields = schema.fields.map((field) => {
      const first = this.wordCount;
      const count = field.isReliable ? 0 : wordsOf(field);
      this.wordCount += count;
      return { ...field, first, count };
    });
    this.#check();
    /** @type {Shape[]} */
    this.shapes = [];
    for (let profile = 0; profile < PROFILES.length; profile++) {
      this.shapes.push(this.#makeShape(profile, false), this.#makeShape(profile, true));
    }
  }

  #check() {
    const { name, wordCount } = this;
    if (wordCount > WORDS_MAX) {
      throw new RangeError(`class ${name} takes ${wordCount} words, at most ${WORDS_MAX} are allowed`);
    }
    for (const kind of ["position", "rotation"]) {
      const count = this.fields.filter((field) => field.kind === kind).length;
      if (count > 1) throw new RangeError(`class ${name} has more than one field of kind ${kind}`);
    }
    let bytes = 0;
    for (const field of this.fields) {
      if (!field.isReliable && reaches(field, true)) bytes += field.contentMax;
      if (bytes > CONTENT_BYTES_MAX) {
        throw new RangeError(
          `class ${name}: with field ${field.name} its contents may take ${bytes} bytes, allowed are ` +
            `${CONTENT_BYTES_MAX}: shorten it or deliver it reliably`,
        );
      }
    }
  }

  /**
   * @param {number} profile
   * @param {boolean} isOwner
   * @returns {Shape}
   */
  #makeShape(profile, isOwner) {
    const { position, rotation } = PROFILES[profile];
    const fields = this.fields.map((field) => {
      if (field.kind === "position") return { ...field, profile, form: position };
      return field.kind === "rotation" ? { ...field, profile, width: rotation } : field;
    });
    const isSeen = fields.map((field) => reaches(field, isOwner));
    const isVisible = fields.map((field, index) => !field.isReliable && isSeen[index]);
    const visible = fields.filter((_, index) => isVisible[index]);
    const first = (/** @type {string} */ kind) => visible.find((field) => field.kind === kind) ?? null;
    return {
      wordCount: this.wordCount,
      fields,
      isSeen,
      isVisible,
      position: first("position"),
      rotation: first("rotation"),
      velocity: first("velocity"),
      others: visible.filter(({ kind }) => kind !== "position" && kind !== "rotation"),
    };
  }

  /**
   * What is received of objects with a profile.
   * @param {number} profile
   * @param {Audience} audience
   */
  shape(profile, audience) {
    return this.shapes[2 * (profile & NONE) + (audience === "owner" ? 1 : 0)];
  }
}

/** The classes that both sides share, in their order. */
export class ClassTable {
  /** @param {readonly Schema[]} schemas */
  constructor(schemas) {
    if (schemas.length > CLASSES_MAX) {
      throw new RangeError(`${schemas.length} classes, ${CLASSES_MAX} are allowed`);
    }
    this.classes = schemas.map((schema, number) => new ObjectClass(schema, number));
    const writer = new ByteWriter(8 * CLASSES_MAX);
    for (const { hash } of schemas) writer.u64(hash);
    /**
     * What the handshake compares.
     * @type {bigint}
     */
    this.hash = fnv1a64(writer.written());
  }

  /**
   * @param {number} number
   * @returns {ObjectClass | undefined}
   */
  get(number) {
    return this.classes[number];
  }
}

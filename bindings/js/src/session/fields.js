/**
 * What a field of an object or of an input is, as a game declares it.
 *
 * Both ends must agree to the bit, so these are the forms of the server's declarations under the same names,
 * with the same defaults: what moves comes first in the schema, what is long and rests comes last.
 *
 *     const Tank = {
 *       at: field.position(2),
 *       hull: field.rotation(),
 *       throttle: field.range(-1, 1, 0.01).hot(220),
 *       gear: field.choice("neutral", "forward", "back"),
 *       shells: field.array(8, field.int(0, 99)).owner(),
 *     };
 */

import { bitsFor } from "../wire/bits.js";
import {
  MODIFIABLE_BY_ANY_CLIENT,
  MODIFIABLE_BY_CLIENT,
  NO_SYNC,
  OWNER_SYNC,
  PUBLIC_SYNC,
} from "../wire/schema.js";
import { NetloomError } from "./error.js";

/** @typedef {import("../wire/schema.js").KindDefinition} KindDefinition */

const HOTNESS = new Map([
  ["position", 255],
  ["rotation", 254],
  ["velocity", 253],
  ["scale", 20],
  ["text", 10],
  ["bytes", 10],
  ["array", 10],
]);
const HOTNESS_OF_NUMBERS = 100;
const PER_UNIT_MAX = 1_000_000;

/**
 * @typedef {object} FieldOptions
 * @property {readonly string[] | null} [choices]
 * @property {number | null} [parts]
 * @property {number} [flags]
 * @property {boolean} [isReliable]
 * @property {number} [hotness]
 */

/** A declared field. The methods return another one; the first is as it was. */
export class FieldType {
  /**
   * @param {KindDefinition} definition
   * @param {FieldOptions} [more]
   */
  constructor(definition, more = {}) {
    this.definition = definition;
    /** The names of a choice. */
    this.choices = more.choices ?? null;
    /** How many numbers of a vector the game sees. */
    this.parts = more.parts ?? null;
    this.flags = more.flags ?? PUBLIC_SYNC;
    this.isReliable = more.isReliable ?? false;
    this.hotness = more.hotness ?? HOTNESS.get(definition.kind) ?? HOTNESS_OF_NUMBERS;
    Object.freeze(this);
  }

  /** Only the owner of the object receives it. */
  owner() {
    return this.#with({ flags: (this.flags & ~PUBLIC_SYNC) | OWNER_SYNC });
  }

  /** It never leaves the server, which has it all the same. */
  serverOnly() {
    return this.#with({ flags: NO_SYNC });
  }

  /** The owner of the object may ask to change it. */
  clientWrites() {
    return this.#with({ flags: this.flags | MODIFIABLE_BY_CLIENT });
  }

  /** Whoever sees the object may ask to change it. */
  anyClientWrites() {
    return this.#with({ flags: this.flags | MODIFIABLE_BY_ANY_CLIENT });
  }

  /** Of a text, bytes or an array: every value arrives, in order, beside the snapshots. */
  reliable() {
    return this.#with({ isReliable: true });
  }

  /**
   * How often it changes compared with others, 0 to 255.
   * @param {number} hotness
   */
  hot(hotness) {
    return this.#with({ hotness });
  }

  /**
   * The same with another profile, if it has any.
   * @param {string} profile
   */
  withProfile(profile) {
    const hasProfile = ["position", "rotation", "scale", "velocity"].includes(this.definition.kind);
    if (!hasProfile) return this;
    return new FieldType({ ...this.definition, profile: /** @type {any} */ (profile) }, this);
  }

  /** @param {FieldOptions} more */
  #with(more) {
    return new FieldType(this.definition, { ...this, ...more });
  }

  /**
   * A value of the wire as the game sees it.
   * @param {any} value
   * @returns {any}
   */
  toGame(value) {
    if (this.choices !== null) return this.choices[value] ?? value;
    if (this.parts !== null && value.length > this.parts) return value.slice(0, this.parts);
    return value;
  }

  /**
   * A value of the game as the wire has it.
   * @param {any} value
   * @returns {any}
   */
  fromGame(value) {
    if (this.choices !== null && typeof value === "string") {
      const index = this.choices.indexOf(value);
      if (index < 0) throw new NetloomError("setting", `"${value}" is none of ${this.choices.join(", ")}`);
      return index;
    }
    if (this.parts === 2 && Array.isArray(value)) return [...value, this.definition.kind === "scale" ? 1 : 0];
    return value;
  }

  /** The bits of a number; null for kinds that have no fixed width, which inputs cannot have. */
  get bits() {
    const { kind } = this.definition;
    if (kind === "bool") return 1;
    if (kind === "f32") return 32;
    if (kind === "u64" || kind === "name") return 64;
    return kind === "int" || kind === "quantized" ? bitsFor(this.#words().max - this.#words().min) : null;
  }

  /**
   * Writes a number of an input in its bit form. What is beyond its range becomes its end.
   * @param {import("../wire/bits.js").BitWriter} writer
   * @param {any} value
   */
  writeBits(writer, value) {
    const { kind, perUnit = 1 } = this.definition;
    if (kind === "bool") writer.bool(Boolean(value));
    else if (kind === "f32") writer.bits(floatBits(Number.isFinite(value) ? value : 0), 32);
    else if (kind === "u64" || kind === "name") writer.big(BigInt(value ?? 0), 64);
    else {
      const { min, max } = this.#words();
      const word = Math.round(Number(this.fromGame(value) ?? 0) * perUnit) || 0;
      writer.bits(Math.min(Math.max(word, min), max) - min, bitsFor(max - min));
    }
  }

  #words() {
    const { min = 0, max = 0, perUnit = 1 } = this.definition;
    return { min: Math.round(min * perUnit), max: Math.round(max * perUnit) };
  }
}

const scratch = new DataView(new ArrayBuffer(4));

/** @param {number} value */
function floatBits(value) {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}

/** @param {KindDefinition} definition */
const plain = (definition) => new FieldType(definition);

/**
 * @param {number} min
 * @param {number} max
 */
const int = (min, max) => plain({ kind: "int", min, max });

/**
 * @param {"position" | "velocity" | "scale"} kind
 * @param {number} parts
 */
function vector(kind, parts) {
  if (parts !== 2 && parts !== 3)
    throw new NetloomError("setting", `a ${kind} has 2 or 3 coordinates, not ${parts}`);
  return new FieldType({ kind }, { parts });
}

/** What fields can be. */
export const field = Object.freeze({
  /** True or false: one bit. */
  bool: () => plain({ kind: "bool" }),
  u8: () => int(0, 255),
  i8: () => int(-128, 127),
  u16: () => int(0, 65_535),
  i16: () => int(-32_768, 32_767),
  /** A whole number of a range, which lies within 32 bits. */
  int,

  /**
   * A number of a range, to the nearest step. A step is one over a whole number: 1, 0.5, 0.1, 0.01.
   * @param {number} min
   * @param {number} max
   * @param {number} step
   */
  range(min, max, step) {
    const perUnit = Math.round(1 / step);
    if (!(step > 0 && step <= 1 && perUnit <= PER_UNIT_MAX && Math.abs(perUnit * step - 1) < 1e-6)) {
      throw new NetloomError(
        "setting",
        `a step is one over a whole number (1, 0.5, 0.1, 0.01), ${step} is not`,
      );
    }
    return plain({ kind: "quantized", min, max, perUnit });
  },

  /** A single, as it is. */
  f32: () => plain({ kind: "f32" }),
  /** 64 bits, as a BigInt. */
  u64: () => plain({ kind: "u64" }),
  /** The hash of a text, as a BigInt: see `nameOf`. */
  name: () => plain({ kind: "name" }),

  /**
   * One of a few names.
   * @param {...string} choices
   */
  choice(...choices) {
    if (choices.length < 2 || choices.length > 65_536)
      throw new NetloomError("setting", "a choice is one of 2 to 65,536");
    return new FieldType({ kind: "int", min: 0, max: choices.length - 1 }, { choices });
  },

  /**
   * Where it is, in metres.
   * @param {number} [coordinates]
   */
  position: (coordinates = 3) => vector("position", coordinates),
  /** A unit quaternion x y z w. */
  rotation: () => plain({ kind: "rotation" }),
  /**
   * Metres per second.
   * @param {number} [coordinates]
   */
  velocity: (coordinates = 3) => vector("velocity", coordinates),
  /** @param {number} [coordinates] */
  scale: (coordinates = 3) => vector("scale", coordinates),

  /** @param {number} bytesMax at most so many bytes of UTF-8: 1 to 1,000, reliable to 65,532 */
  text: (bytesMax) => plain({ kind: "text", bytesMax }),
  /** @param {number} bytesMax */
  bytes: (bytesMax) => plain({ kind: "bytes", bytesMax }),

  /**
   * At most so many elements, which are numbers, booleans or names.
   * @param {number} countMax
   * @param {FieldType} element
   */
  array: (countMax, element) => plain({ kind: "array", countMax, element: element.definition }),
});

/**
 * Values as `random_sessions` writes them down: an object of one entry that says what it is, so that every bit is kept. And values
 * at random, each with what it must arrive as.
 */

import { ObjectRef } from "../src/session/msgpack.js";
import { fromHex, toHex } from "./vectors.js";

/** @typedef {{ [type: string]: any }} Typed */
/** @typedef {import("./random.js").Random} Random */

const view = new DataView(new ArrayBuffer(8));

/** The bits of a single, in hex. @param {number} value */
export function singleHex(value) {
  view.setFloat32(0, value);
  return view.getUint32(0).toString(16).padStart(8, "0");
}

/** The bits of a double, in hex. @param {number} value */
export function doubleHex(value) {
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

/** @param {string} hex of a single or double */
function floatOf(hex) {
  const data = new DataView(fromHex(hex).slice().buffer);
  return data.byteLength === 4 ? data.getFloat32(0) : data.getFloat64(0);
}

/**
 * Whether a value that arrived is what it should be.
 * @param {any} value
 * @param {Typed} typed
 * @param {(alias: number | null, id: number) => boolean} isObject
 * @returns {boolean}
 */
export function isTyped(value, typed, isObject) {
  const [[type, should]] = Object.entries(typed);
  switch (type) {
    case "nil":
      return value === null;
    case "bool":
    case "text":
      return value === should;
    case "int":
      return (typeof value === "bigint" || Number.isSafeInteger(value)) && BigInt(value) === BigInt(should);
    case "f32":
    case "f64":
      // The bits of what is no number are nobody's business.
      return typeof value === "number" && Object.is(value, floatOf(should));
    case "bytes":
      return value instanceof Uint8Array && toHex(value) === should;
    case "list":
      return (
        Array.isArray(value) &&
        value.length === should.length &&
        value.every((item, index) => isTyped(item, should[index], isObject))
      );
    case "map": {
      const entries = Object.entries(value);
      return (
        entries.length === should.length &&
        should.every(
          (/** @type {[string, Typed]} */ [key, item]) => key in value && isTyped(value[key], item, isObject),
        )
      );
    }
    case "object":
      return value instanceof ObjectRef && isObject(value.alias, should);
    default:
      return false;
  }
}

const LETTERS = ["a", "k", "Z", "_", "0", "é", "ß", "網", "🚀", "\u0000"];

/** @param {Random} random */
export function word(random) {
  return Array.from({ length: random.below(9) }, () => LETTERS[random.below(LETTERS.length)]).join("");
}

/** @param {Random} random */
export function big(random) {
  const bits = (BigInt(random.next()) << 32n) | BigInt(random.next());
  return bits >> BigInt(random.below(64));
}

/** A finite single. @param {Random} random */
export function single(random) {
  view.setUint32(0, random.next());
  const value = view.getFloat32(0);
  return Number.isFinite(value) ? value : 0.5;
}

/**
 * An argument of any kind, and what it must arrive as.
 * @param {Random} random
 * @param {number} depth
 * @param {readonly { alias: number }[]} objects
 * @returns {{ value: any, typed: Typed }}
 */
export function randomArgument(random, depth, objects) {
  switch (random.below(depth === 0 ? 9 : 11)) {
    case 0:
      return { value: null, typed: { nil: true } };
    case 1: {
      const value = random.chance(0.5);
      return { value, typed: { bool: value } };
    }
    case 2: {
      const value =
        Math.trunc((random.chance(0.5) ? 1 : -1) * 2 ** random.below(53) * (random.next() / 2 ** 32)) || 0;
      return { value, typed: { int: String(value) } };
    }
    case 3: {
      const value = random.chance(0.5) ? big(random) : -(big(random) >> 1n);
      return { value, typed: { int: String(value) } };
    }
    case 4: {
      view.setUint32(0, random.next());
      view.setUint32(4, random.next());
      const double = view.getFloat64(0);
      const value = Number.isInteger(double) || Number.isNaN(double) ? 0.5 : double;
      return { value, typed: { f64: doubleHex(value) } };
    }
    case 5: {
      const value = [-0, Infinity, -Infinity, NaN, 1e-320, 0.1][random.below(6)];
      return { value, typed: { f64: doubleHex(value) } };
    }
    case 6: {
      const value = word(random).repeat(random.below(12));
      return { value, typed: { text: value } };
    }
    case 7: {
      const value = random.bytes(random.below(300));
      return { value, typed: { bytes: toHex(value) } };
    }
    case 8: {
      const object = objects[random.below(objects.length + 1)];
      return { value: object ?? new ObjectRef(null), typed: { object: object?.alias ?? null } };
    }
    case 9: {
      const items = Array.from({ length: random.below(20) }, () =>
        randomArgument(random, depth - 1, objects),
      );
      return { value: items.map(({ value }) => value), typed: { list: items.map(({ typed }) => typed) } };
    }
    default: {
      const pairs = Array.from(
        { length: random.below(4) },
        (_, number) =>
          /** @type {const} */ ([`key ${word(random)}${number}`, randomArgument(random, depth - 1, objects)]),
      );
      return {
        value: Object.fromEntries(pairs.map(([key, { value }]) => [key, value])),
        typed: { map: pairs.map(([key, { typed }]) => [key, typed]) },
      };
    }
  }
}

/**
 * A value of a declared field, and what it must arrive as; null for kinds that have a place in space.
 * @param {Random} random
 * @param {any} declared
 * @returns {{ value: any, typed: Typed } | null}
 */
export function randomProperty(random, declared) {
  switch (declared.kind) {
    case "bool": {
      const value = random.chance(0.5);
      return { value, typed: { bool: value } };
    }
    case "int":
    case "quantized": {
      const perUnit = declared.perUnit ?? 1;
      const min = Math.round(declared.min * perUnit);
      const least = min + random.below(Math.round(declared.max * perUnit) - min + 1);
      return { value: least / perUnit, typed: { int: String(least) } };
    }
    case "f32": {
      const value = single(random);
      return { value, typed: { f32: singleHex(value) } };
    }
    case "u64":
    case "name": {
      const value = big(random);
      return { value, typed: { int: String(value) } };
    }
    case "text": {
      let value = word(random);
      while (Buffer.byteLength(value) > declared.bytesMax) value = [...value].slice(1).join("");
      return { value, typed: { text: value } };
    }
    case "bytes": {
      const value = random.bytes(random.below(declared.bytesMax + 1));
      return { value, typed: { bytes: toHex(value) } };
    }
    case "array": {
      const items = Array.from({ length: random.below(declared.countMax + 1) }, () =>
        randomProperty(random, declared.element),
      );
      return { value: items.map((item) => item?.value), typed: { list: items.map((item) => item?.typed) } };
    }
    default:
      return null;
  }
}

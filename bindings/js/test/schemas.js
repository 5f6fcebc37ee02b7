// Fields and values as the golden vectors write them (section 14 of the standard).
import { PROFILES, singleOf } from "../src/wire/quantize.js";
import { putQuaternion } from "../src/wire/rotation.js";
import { tripleOf } from "../src/wire/quantize.js";
import { arrayOf } from "../src/wire/array.js";
import { Schema } from "../src/wire/schema.js";
import { decodeUtf8 } from "../src/wire/bytes.js";
import { toHex } from "./vectors.js";

/**
 * A field or kind of a vector as a game would declare it.
 * @param {any} given
 * @returns {any}
 */
export function definitionOf(given) {
  const { kind, name, flags, delivery, min, max, min_word, max_word, per_unit } = given;
  return {
    kind,
    name,
    flags,
    delivery,
    min: kind === "quantized" ? min_word / per_unit : min,
    max: kind === "quantized" ? max_word / per_unit : max,
    perUnit: per_unit,
    profile: given.profile === undefined ? undefined : PROFILES[given.profile].name,
    bytesMax: given.bytes_max,
    countMax: given.count_max,
    element: given.element && definitionOf(given.element),
  };
}

/** @param {any} given */
export function schemaOf(given) {
  return new Schema(given.name, given.fields.map(definitionOf));
}

/** @param {number} value */
export function json32(value) {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return { float: value, bits: toHex(new Uint8Array(view.buffer)) };
}

/** @param {number} value */
export function json64(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return { float: value, bits: toHex(new Uint8Array(view.buffer)) };
}

/**
 * @param {any} form
 * @param {Int32Array} words
 */
export function jsonTriple(form, words) {
  const values = tripleOf(form, words, 0).map(json32);
  return words[3] === 1 ? { raw: true, values } : { raw: false, words: [...words.subarray(0, 3)], values };
}

/**
 * @param {any} width
 * @param {Int32Array} words
 */
export function jsonRotation(width, words) {
  const quaternion = Array.from(putQuaternion(width, words, 0, [0, 0, 0, 0]), json32);
  if (width === null) return { raw: true, quaternion };
  return { raw: false, largest: words[0], steps: [...words.subarray(1, 4)], quaternion };
}

/**
 * @param {any} kind
 * @param {Int32Array} words
 * @param {Uint8Array} content
 * @returns {any}
 */
export function jsonValue(kind, words, content) {
  switch (kind.kind) {
    case "bool":
      return words[0] === 1;
    case "int":
    case "quantized":
      return words[0];
    case "f32":
      return json32(singleOf(words[0]));
    case "u64":
    case "name":
      return String(BigInt(words[0] >>> 0) | (BigInt(words[1] >>> 0) << 32n));
    case "rotation":
      return jsonRotation(kind.width, words);
    case "text":
      return decodeUtf8(content);
    case "bytes":
      return toHex(content);
    case "array":
      return arrayOf(kind, content).map((element) => {
        if (typeof element === "bigint") return String(element);
        if (kind.element.kind === "f32") return json32(Number(element));
        return kind.element.kind === "quantized"
          ? Math.round(Number(element) * kind.element.perUnit)
          : element;
      });
    default:
      return jsonTriple(kind.form, words);
  }
}

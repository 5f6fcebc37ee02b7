/**
 * What the fields of an object are (section 9 of the standard).
 *
 * Both ends must agree on every field to the bit, and nothing of it is sent: each declares the same schema,
 * in code, and the handshake compares hashes. So a declaration is checked when it is made, where the mistake
 * can still be named, and its canonical form is the bytes that the hash is of.
 */

import { bitsFor } from "./bits.js";
import { ByteWriter, encodeUtf8, varintBytes } from "./bytes.js";
import { fnv1a64 } from "./hash.js";
import { PROFILES, quantize } from "./quantize.js";

/** Who receives a field (section 9.2), to be combined with who may change it. */
export const PUBLIC_SYNC = 5;
export const OWNER_SYNC = 3;
export const NO_SYNC = 8;
export const MODIFIABLE_BY_CLIENT = 16;
export const MODIFIABLE_BY_ANY_CLIENT = 32;

const SYNCED = 1;
const TO_OWNER = 2;
const TO_PUBLIC = 4;
const RELIABLE = 64;

const KINDS = [
  "bool",
  "int",
  "quantized",
  "f32",
  "u64",
  "position",
  "rotation",
  "scale",
  "velocity",
  "name",
  "text",
  "bytes",
  "array",
];
const ELEMENT_KINDS = ["bool", "int", "quantized", "f32", "u64", "name"];
const NAME_BYTES_MAX = 64;
const FIELDS_MAX = 64;
const LATEST_BYTES_MAX = 1000;
const RELIABLE_BYTES_MAX = 65532;
const PER_UNIT_MAX = 1000000;
const CANONICAL_VERSION = 1;
const CANONICAL_BYTES_MAX = 80 * (FIELDS_MAX + 1) + 80 * FIELDS_MAX;

/**
 * A kind of value, and what it depends on.
 * @typedef {object} KindDefinition
 * @property {"bool" | "int" | "quantized" | "f32" | "u64" | "position" | "rotation" | "scale" | "velocity" |
 *   "name" | "text" | "bytes" | "array"} kind
 * @property {number} [min] of int and quantized, in units
 * @property {number} [max]
 * @property {number} [perUnit] of quantized: steps
 * @property {"standard" | "high" | "world" | "none"} [profile] of position, rotation, scale, velocity
 * @property {number} [bytesMax] of text and bytes
 * @property {KindDefinition} [element] of array
 * @property {number} [countMax] of array
 */

/**
 * A field as a game declares it.
 * @typedef {KindDefinition & { name: string, flags?: number, delivery?: "latest" | "reliable" }}
 *   FieldDefinition
 */

/**
 * A kind of value, checked.
 * @typedef {object} Kind
 * @property {KindDefinition["kind"]} kind
 * @property {number} min the least word of int and quantized
 * @property {number} max
 * @property {number} perUnit
 * @property {number} profile its number
 * @property {import("./quantize.js").TripleForm | null} form of position, scale and velocity
 * @property {import("./rotation.js").RotationWidth | null} width of a rotation that is quantized
 * @property {number} limit bytes of text and bytes, elements of array
 * @property {Kind | null} element
 * @property {number} contentMax the longest content in bytes; 0 for kinds of fixed length
 */

/** @typedef {Kind & { index: number, name: string, flags: number, isReliable: boolean }} Field */

/**
 * @param {boolean} isRight
 * @param {string} what
 */
function demand(isRight, what) {
  if (!isRight) throw new RangeError(what);
}

/** @type {(value: number | undefined, min: number, max: number) => value is number} */
const isWithin = (value, min, max) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

/**
 * Checks a kind. `where` begins the message of what is thrown if it cannot be.
 * @param {KindDefinition} definition
 * @param {string} where
 * @returns {Kind}
 */
export function makeKind(definition, where) {
  const { kind } = definition;
  demand(KINDS.includes(kind), `${where}: there is no kind ${kind}, use one of ${KINDS.join(", ")}`);
  /** @type {Kind} */
  const made = {
    kind,
    min: 0,
    max: 0,
    perUnit: 1,
    profile: 0,
    form: null,
    width: null,
    limit: 0,
    element: null,
    contentMax: 0,
  };
  if (kind === "int" || kind === "quantized") setRange(made, definition, where);
  if (kind === "position" || kind === "rotation" || kind === "scale" || kind === "velocity") {
    made.profile = PROFILES.findIndex((profile) => profile.name === (definition.profile ?? "standard"));
    demand(made.profile >= 0, `${where}: there is no profile ${definition.profile}`);
    const profile = PROFILES[made.profile];
    if (kind === "rotation") made.width = profile.rotation;
    else made.form = profile[kind];
  }
  if (kind === "text" || kind === "bytes") {
    const { bytesMax } = definition;
    demand(isWithin(bytesMax, 1, 65535), `${where}: bytesMax = ${bytesMax} is not allowed: use 1 to 65,535`);
    made.limit = Number(bytesMax);
    made.contentMax = made.limit;
  }
  if (kind === "array") setElement(made, definition, where);
  return made;
}

/**
 * @param {Kind} made
 * @param {KindDefinition} definition
 * @param {string} where
 */
function setRange(made, { kind, min = NaN, max = NaN, perUnit = 1 }, where) {
  const steps = kind === "quantized" ? perUnit : 1;
  demand(
    isWithin(steps, 1, PER_UNIT_MAX),
    `${where}: perUnit = ${perUnit} is not allowed: use 1 to 1,000,000`,
  );
  made.perUnit = steps;
  made.min = quantize(min, steps, -Infinity, Infinity);
  made.max = quantize(max, steps, -Infinity, Infinity);
  const fits = made.min >= -(2 ** 31) && made.max < 2 ** 31 && made.min < made.max;
  demand(fits, `${where}: ${min} to ${max} is no range of at most 32 bits with more than one value`);
}

/**
 * @param {Kind} made
 * @param {KindDefinition} definition
 * @param {string} where
 */
function setElement(made, { element, countMax }, where) {
  if (!element || !ELEMENT_KINDS.includes(element.kind)) {
    throw new RangeError(`${where}: an array needs an element of kind ${ELEMENT_KINDS.join(", ")}`);
  }
  demand(isWithin(countMax, 1, 65535), `${where}: countMax = ${countMax} is not allowed: use 1 to 65,535`);
  made.element = makeKind(element, where);
  made.limit = Number(countMax);
  made.contentMax = varintBytes(made.limit) + Math.ceil((made.limit * elementBits(made.element)) / 8);
}

/**
 * The bits of an element of an array, all of which are as wide.
 * @param {Kind} element
 */
export function elementBits(element) {
  if (element.kind === "int" || element.kind === "quantized") return bitsFor(element.max - element.min);
  return element.kind === "bool" ? 1 : element.kind === "f32" ? 32 : 64;
}

/** The fields of a class of objects, hottest first. */
export class Schema {
  /**
   * @param {string} name
   * @param {readonly FieldDefinition[]} fields in the order in which both ends have them
   */
  constructor(name, fields) {
    this.name = checkName(name, "a schema");
    const count = fields.length;
    demand(count >= 1 && count <= FIELDS_MAX, `schema ${name} has ${count} fields: use 1 to 64`);
    /** @type {readonly Field[]} */
    this.fields = fields.map((field, index) => makeField(name, field, index));
    const names = new Set(this.fields.map((field) => field.name));
    demand(names.size === count, `schema ${name} has two fields of one name`);
    /** @type {bigint} */
    this.hash = fnv1a64(this.canonicalForm());
  }

  /**
   * The index of a field; −1 if there is none of this name.
   * @param {string} name
   */
  indexOf(name) {
    return this.fields.findIndex((field) => field.name === name);
  }

  /** What the hash is of. */
  canonicalForm() {
    const writer = new ByteWriter(CANONICAL_BYTES_MAX);
    writer.u8(CANONICAL_VERSION);
    writer.str(this.name);
    writer.varint(this.fields.length);
    for (const field of this.fields) {
      writer.str(field.name);
      writeKind(field, writer);
      writer.u8(field.flags | (field.isReliable ? RELIABLE : 0));
    }
    return writer.written().slice();
  }
}

/**
 * @param {string} name
 * @param {string} whose
 */
function checkName(name, whose) {
  const { length } = encodeUtf8(name);
  demand(length >= 1 && length <= NAME_BYTES_MAX, `${whose} has the name "${name}": use 1 to 64 bytes`);
  return name;
}

/**
 * @param {string} schema
 * @param {FieldDefinition} definition
 * @param {number} index
 * @returns {Field}
 */
function makeField(schema, definition, index) {
  const where = `${schema}.${definition.name}`;
  const name = checkName(definition.name, `field ${index} of ${schema}`);
  const { flags = PUBLIC_SYNC, delivery = "latest" } = definition;
  const isSynced = (flags & (TO_OWNER | TO_PUBLIC)) !== 0;
  const isHidden = (flags & NO_SYNC) !== 0;
  const isConsistent =
    isWithin(flags, 0, 63) &&
    isSynced !== isHidden &&
    isSynced === ((flags & SYNCED) !== 0) &&
    !(isHidden && (flags & (MODIFIABLE_BY_CLIENT | MODIFIABLE_BY_ANY_CLIENT)) !== 0) &&
    !((flags & MODIFIABLE_BY_ANY_CLIENT) !== 0 && (flags & TO_PUBLIC) === 0);
  demand(isConsistent, `${where}: the flags ${flags} contradict each other`);
  const kind = makeKind(definition, where);
  const isReliable = delivery === "reliable";
  demand(!isReliable || kind.contentMax > 0, `${where}: only text, bytes and arrays are delivered reliably`);
  const bytesMax = isReliable ? RELIABLE_BYTES_MAX : LATEST_BYTES_MAX;
  demand(kind.contentMax <= bytesMax, `${where} may take ${kind.contentMax} bytes: ${bytesMax} are allowed`);
  return { ...kind, index, name, flags, isReliable };
}

/**
 * Whether those who are to an object what is said receive a field.
 * @param {Field} field
 * @param {boolean} isOwner
 */
export function reaches(field, isOwner) {
  return (field.flags & TO_PUBLIC) !== 0 || (isOwner && (field.flags & TO_OWNER) !== 0);
}

/**
 * @param {Kind} kind
 * @param {ByteWriter} writer
 */
function writeKind(kind, writer) {
  writer.u8(KINDS.indexOf(kind.kind));
  switch (kind.kind) {
    case "int":
    case "quantized":
      writer.u32(kind.min);
      writer.u32(kind.max);
      if (kind.kind === "quantized") writer.u32(kind.perUnit);
      break;
    case "position":
    case "rotation":
    case "scale":
    case "velocity":
      writer.u8(kind.profile);
      break;
    case "array":
      if (kind.element) writeKind(kind.element, writer);
      writer.u16(kind.limit);
      break;
    case "text":
    case "bytes":
      writer.u16(kind.limit);
      break;
  }
}

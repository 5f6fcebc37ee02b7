/**
 * Fields of a level's file, each read with its bounds: what does not fit is reported with the name of the
 * field and what would fit, in the words that the server has for it.
 */

/** Something in a file that is no level, or no good one. Says what, naming the field. */
export class Misfit extends Error {}

/**
 * Reads a value, or throws a `Misfit`.
 * @template T
 * @typedef {(value: unknown) => T} Read
 */

/**
 * How a field of an object is read, and what it is if it is not there; without a `missing` it must be.
 * @typedef {{ read: Read<any>, missing?: unknown }} Field
 */

/** @param {unknown} value */
function described(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "sequence";
  switch (typeof value) {
    case "string":
      return `string ${JSON.stringify(value)}`;
    case "number":
      return `${Number.isInteger(value) ? "integer" : "floating point"} \`${value}\``;
    case "boolean":
      return `boolean \`${value}\``;
    default:
      return "map";
  }
}

/** @param {"type" | "value"} what @param {unknown} value @param {string} expected */
function misfit(what, value, expected) {
  return new Misfit(`invalid ${what}: ${described(value)}, expected ${expected}`);
}

/**
 * @param {string} field
 * @param {number} min
 * @param {number} max
 * @returns {Read<number>}
 */
export function whole(field, min, max) {
  const expected = `\`${field}\` to be a whole number from ${min} to ${max}`;
  return (value) => {
    if (typeof value !== "number" || !Number.isInteger(value)) throw misfit("type", value, expected);
    if (value < min || value > max) throw misfit("value", value, expected);
    return value;
  };
}

/**
 * @param {string} field
 * @returns {Read<boolean>}
 */
export function flag(field) {
  return (value) => {
    if (typeof value !== "boolean") throw misfit("type", value, `\`${field}\` to be true or false`);
    return value;
  };
}

/**
 * @template T
 * @param {string} field
 * @param {ReadonlyMap<string, T>} names
 * @returns {Read<T>}
 */
export function oneOf(field, names) {
  const expected = `\`${field}\` to be one of ${[...names.keys()].join(" ")}`;
  return (value) => {
    if (typeof value !== "string") throw misfit("type", value, expected);
    const found = names.get(value);
    if (found === undefined) throw misfit("value", value, expected);
    return found;
  };
}

/**
 * @param {string} field
 * @param {number} charactersMax
 * @returns {Read<string>}
 */
export function text(field, charactersMax) {
  const expected = `\`${field}\` to be a text of 1 to ${charactersMax} characters`;
  return (value) => {
    if (typeof value !== "string") throw misfit("type", value, expected);
    const count = [...value].length;
    // Neither control characters nor halves of characters.
    const isWritten = !/[\p{Cc}\p{Cs}]/u.test(value);
    if (count < 1 || count > charactersMax || !isWritten) throw misfit("value", value, expected);
    return value;
  };
}

/**
 * @template T
 * @param {string} field
 * @param {number} countMax
 * @param {Read<T>} read
 * @returns {Read<T[]>}
 */
export function list(field, countMax, read) {
  const expected = `\`${field}\` to be a list of 1 to ${countMax}`;
  return (value) => {
    if (!Array.isArray(value)) throw misfit("type", value, expected);
    const elements = value.slice(0, countMax + 1).map(read);
    const count = elements.length;
    if (count === 0 || count > countMax) throw new Misfit(`invalid length ${count}, expected ${expected}`);
    return elements;
  };
}

/**
 * An object with these fields and no others.
 * @param {string} name what it is
 * @param {Readonly<Record<string, Field>>} fields by their names in the file
 * @returns {Read<Record<string, any>>} by the same names
 */
export function object(name, fields) {
  const names = Object.keys(fields).map((field) => `\`${field}\``);
  const expected = names.length === 2 ? names.join(" or ") : `one of ${names.join(", ")}`;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw misfit("type", value, name);
    }
    /** @type {Record<string, any>} */
    const read = {};
    for (const [field, written] of Object.entries(value)) {
      if (!Object.hasOwn(fields, field)) throw new Misfit(`unknown field \`${field}\`, expected ${expected}`);
      read[field] = fields[field].read(written);
    }
    for (const [field, { missing }] of Object.entries(fields)) {
      if (field in read) continue;
      if (missing === undefined) throw new Misfit(`missing field \`${field}\``);
      read[field] = missing;
    }
    return read;
  };
}

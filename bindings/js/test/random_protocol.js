/** The protocol that a server of `random_sessions` made up, declared by what it says of it. */

import { defineProtocol, field } from "../src/index.js";

/** A field of every kind that an input can have. */
const INPUT = {
  jump: field.bool(),
  way: field.int(-1, 1),
  aim: field.range(-180, 180, 0.5),
  power: field.f32(),
  mark: field.u64(),
};

/**
 * What the server declares, declared here.
 * @param {any} declaration
 */
export function protocolOf({ game, version, classes, calls }) {
  return defineProtocol(game, {
    version,
    objects: Object.fromEntries(
      classes.map((/** @type {any} */ { name, profile, fields }) => [
        name,
        {
          profile,
          fields: Object.fromEntries(fields.map((/** @type {any} */ each) => [each.name, fieldOf(each)])),
        },
      ]),
    ),
    calls: Object.fromEntries(calls.map((/** @type {any} */ { name, options }) => [name, options])),
    input: INPUT,
  });
}

/** @param {any} declared */
function fieldOf(declared) {
  let type = typeOf(declared).hot(declared.hotness);
  if (declared.audience === "owner") type = type.owner();
  if (declared.audience === "nobody") type = type.serverOnly();
  if (declared.writers === "owner") type = type.clientWrites();
  if (declared.writers === "any") type = type.anyClientWrites();
  return declared.isReliable ? type.reliable() : type;
}

/** @param {any} declared @returns {import("../src/session/fields.js").FieldType} */
function typeOf({ kind, min, max, perUnit, bytesMax, countMax, element }) {
  switch (kind) {
    case "int":
      return field.int(min, max);
    case "quantized":
      return field.range(min, max, 1 / perUnit);
    case "text":
      return field.text(bytesMax);
    case "bytes":
      return field.bytes(bytesMax);
    case "array":
      return field.array(countMax, typeOf(element));
    default:
      return /** @type {any} */ (field)[kind]();
  }
}

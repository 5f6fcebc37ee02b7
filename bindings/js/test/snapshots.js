// Snapshots made by hand: everything is told in full, so that no encoder is needed.
import { ByteWriter } from "../src/wire/bytes.js";
import { PROFILES, putTriple } from "../src/wire/quantize.js";
import { packRotation, putRotation } from "../src/wire/rotation.js";
import { Schema } from "../src/wire/schema.js";
import { ClassTable } from "../src/replica/class.js";

/** @typedef {"standard" | "high" | "world" | "none"} ProfileName */
const STANDARD = PROFILES[0];

/** A mover with place and direction, and a board with texts. */
export const CLASSES = new ClassTable([
  new Schema("mover", [
    { name: "position", kind: "position" },
    { name: "rotation", kind: "rotation" },
  ]),
  new Schema("board", [
    { name: "said", kind: "text", bytesMax: 100, delivery: "reliable" },
    {
      name: "orders",
      kind: "array",
      element: { kind: "int", min: 0, max: 6 },
      countMax: 30,
      flags: 3,
      delivery: "reliable",
    },
    { name: "level", kind: "int", min: 0, max: 100 },
  ]),
]);

/**
 * What is told of an object.
 * @typedef {object} Told
 * @property {number} slot
 * @property {number} [generation]
 * @property {number} [x] a mover's place; a board has none
 * @property {readonly number[]} [rotation]
 * @property {number} [level] a board's
 * @property {number | null} [parent]
 * @property {boolean} [isOwned]
 * @property {number} [jumpAge]
 */

/**
 * A snapshot with entries and leaves.
 * @param {number} tick
 * @param {readonly Told[]} enters
 * @param {readonly { slot: number, generation?: number, age?: number }[]} [leaves]
 */
export function snapshot(tick, enters, leaves = []) {
  const writer = new ByteWriter(1 << 20);
  writer.u16(tick);
  writer.u8((leaves.length > 0 ? 4 : 0) | (enters.length > 0 ? 8 : 0));
  if (leaves.length > 0) {
    writer.varint(leaves.length);
    for (const { slot, generation = 0, age = 0 } of leaves) {
      writer.u16(slot);
      writer.u8(generation);
      writer.varint(age);
    }
  }
  if (enters.length > 0) {
    writer.varint(enters.length);
    for (const told of enters) writeEntry(writer, told);
  }
  return writer.written().slice();
}

/**
 * @param {ByteWriter} writer
 * @param {Told} told
 */
function writeEntry(
  writer,
  { slot, generation = 0, x, rotation, level = 0, parent = null, isOwned = false, jumpAge },
) {
  const isBoard = x === undefined;
  writer.u8(isBoard ? 1 : 0);
  writer.u8((isOwned ? 1 : 0) | (parent === null ? 0 : 4));
  if (parent !== null) writer.u16(parent);
  writer.u16(slot);
  writer.u8(generation);
  writer.u8(isBoard ? 8 : 3 | (jumpAge === undefined ? 0 : 32));
  writer.u16(0);
  if (isBoard) {
    writer.blob(Uint8Array.of(1, 2, level));
    return;
  }
  const words = new Int32Array(4);
  putTriple(STANDARD.position, [x, 0, 0], words, 0);
  for (let axis = 0; axis < 3; axis++) writer.u16(words[axis]);
  putRotation(STANDARD.rotation, rotation ?? [0, 0, 0, 1], words, 0);
  writer.u32(packRotation(/** @type {any} */ (STANDARD.rotation), words, 0)[0]);
  if (jumpAge !== undefined) writer.varint(jumpAge);
}

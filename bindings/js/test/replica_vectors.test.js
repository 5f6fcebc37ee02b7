// Every golden vector of replication.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BitReader } from "../src/wire/bits.js";
import { ByteReader } from "../src/wire/bytes.js";
import { NO_ORIGIN } from "../src/wire/origin.js";
import { ClassTable } from "../src/replica/class.js";
import { Codes } from "../src/replica/codes.js";
import { placedDigest } from "../src/replica/digest.js";
import { EntryReader } from "../src/replica/entry.js";
import { genericCodeBytes } from "../src/replica/generic_codes.js";
import { Baselines, SnapshotHeader } from "../src/replica/header.js";
import { InputWriter, bytesForm, readInputs } from "../src/replica/input.js";
import { lineBetween } from "../src/replica/line.js";
import { WorldObject } from "../src/replica/object.js";
import { judgeProperty, readProperty } from "../src/replica/property.js";
import { UpdateReader } from "../src/replica/update.js";
import { World } from "../src/replica/world.js";
import { json64, schemaOf } from "./schemas.js";
import { fromHex, toHex, vectors } from "./vectors.js";

const CODES = Codes.generic();
const CLASSES = classTable(vectors("replica_classes").find(({ name }) => /all other files/.test(name)).given);

/** @param {any} given */
function classTable(given) {
  return new ClassTable(given.classes.map(schemaOf));
}

/**
 * @param {readonly number[]} fields
 * @param {readonly Uint8Array[]} contents
 */
function jsonContents(fields, contents) {
  return Object.fromEntries(fields.map((field, at) => [field, toHex(contents[at])]));
}

/** @param {number} tick */
const orNull = (tick) => (tick < 0 ? null : tick);

/**
 * @param {string} file
 * @param {(given: any, bytes: Uint8Array) => any} read
 */
function check(file, read) {
  for (const { name, hex, given, value, error } of vectors(file)) {
    test(`${file}: ${name}`, () => {
      if (error) assert.throws(() => read(given, fromHex(hex)), { name: "WireError", code: error });
      else assert.deepEqual(read(given, fromHex(hex)), value);
    });
  }
}

test("the generic set is that of the vectors", () => {
  assert.deepEqual(genericCodeBytes(), fromHex(vectors("replica_codes")[0].hex));
});

check("replica_codes", (_given, bytes) => {
  const { name, id, residual, mask, gap, symbol, head, place, lead, rest } = new Codes(bytes);
  const groups = { residual: [residual], mask: [mask], gap: [gap], symbol, head, place, lead, rest };
  const count = (/** @type {any[]} */ tables) => tables.reduce((sum, { lengths }) => sum + lengths.length, 0);
  const lengths = Object.fromEntries(Object.entries(groups).map(([group, tables]) => [group, count(tables)]));
  return { id, name, lengths };
});

check("replica_classes", (given) => {
  const table = classTable(given);
  const classes = table.classes.map((made) => {
    const masks = (/** @type {boolean} */ isReliable) => {
      const of = (/** @type {any} */ audience) => {
        const { isSeen, fields } = made.shape(0, audience);
        const own = fields.filter((field) => isSeen[field.index] && field.isReliable === isReliable);
        return own.reduce((mask, field) => mask + 2 ** field.index, 0);
      };
      return { owner: of("owner"), team: of("team"), public: of("public") };
    };
    const firsts = made.fields.map((field) => (field.isReliable ? null : field.first));
    return { words: made.wordCount, firsts, visible: masks(false), reliable: masks(true) };
  });
  return { hash: String(table.hash), classes };
});

check("replica_gap", ({ max }, bytes) => {
  const reader = new BitReader(bytes);
  const baselines = new Baselines();
  baselines.readGap(CODES.gap, max, reader);
  reader.finish();
  return { gap: baselines.gap, common: baselines.isCommon };
});

check("replica_header", (_given, bytes) => {
  const [reader, header] = [new ByteReader(bytes), new SnapshotHeader()];
  header.read(reader);
  return {
    tick: header.tick,
    ages: header.age === 0 ? null : [header.age, header.olderAge || null],
    feedback: header.hasFeedback ? { step: header.step, slack: header.slack } : null,
    digest: header.hasDigest ? { region: header.region, digest: header.digest } : null,
    rest: toHex(reader.rest()),
  };
});

check("replica_entry", (_given, bytes) => {
  const [reader, entry] = [new ByteReader(bytes), new EntryReader()];
  const { class: found, origin, ...facts } = entry.read(reader, CLASSES);
  reader.finish();
  return {
    ...facts,
    class: found.number,
    origin: { metres: origin.metres.map(json64), version: origin.version },
    jump_age: orNull(entry.jumpAge),
    words: [...entry.words.subarray(0, found.wordCount)],
    contents: jsonContents(entry.contentFields, entry.contents),
  };
});

check("replica_update", (given, bytes) => {
  const { class: number, profile, audience, newer, older } = given;
  const shape = CLASSES.classes[number].shape(profile, audience);
  const states = Int32Array.from([...newer.words, ...(older ?? newer).words]);
  const [reader, update] = [new BitReader(bytes), new UpdateReader(CODES)];
  update.read(shape, states, 0, newer.age, shape.wordCount, lineBetween(newer.age, older?.age ?? 0), reader);
  reader.finish();
  return {
    words: [...update.words.subarray(0, shape.wordCount)],
    contents: jsonContents(update.contentFields, update.contents),
    jump_age: orNull(update.jumpAge),
  };
});

/** @param {any} given */
function objectOf({ class: number, slot = 0, generation = 0, audience = "public", words, contents = {} }) {
  const facts = {
    slot,
    generation,
    audience,
    class: CLASSES.classes[number],
    parent: null,
    profile: 0,
    origin: NO_ORIGIN,
  };
  const object = new WorldObject(facts, 1);
  const fields = Object.keys(contents).map(Number);
  object.keep(1, Int32Array.from(words ?? []), -1, fields, Object.values(contents).map(fromHex));
  return object;
}

check("replica_digest", ({ objects }) => {
  const sum = objects.reduce(
    (/** @type {number} */ sum, /** @type {any} */ each) => sum + placedDigest(objectOf(each)),
    0,
  );
  return { region: objects[0].slot >> 6, digest: sum >>> 0 };
});

check("replica_input", ({ bytes: byteLength, near }, bytes) => {
  const { newest, view, inputs } = readInputs(bytes, byteLength, near);
  const written = new InputWriter(bytesForm(byteLength)).write(newest, view, inputs);
  assert.deepEqual(readInputs(written ?? bytes.subarray(0, 0), byteLength, near), { newest, view, inputs });
  return { newest, view, inputs: inputs.map(toHex) };
});

check("replica_property", ({ class: number, audience, generation }, bytes) => {
  const message = readProperty(bytes);
  const object = generation === null ? undefined : objectOf({ class: number, audience, generation });
  const { slot, field, content } = message;
  const applied = judgeProperty(message, object) === "apply";
  return { slot, generation: message.generation, field, content: toHex(content), applied };
});

for (const { name, steps } of vectors("replica_session")) {
  test(`replica_session: ${name}`, () => {
    const world = new World({ classes: CLASSES });
    for (const { hex, says, value } of steps) {
      world.handleSnapshot(fromHex(hex));
      const events = world.changes.filter(({ kind }) => kind !== "updated");
      const seen = {
        tick: world.tick,
        error: world.error,
        events: events.map(({ kind, object }) => [kind, object.slot, object.generation]),
        mismatch: world.pollMismatch(),
        objects: Array.from(world.objects(), jsonObject),
      };
      assert.deepEqual(seen, value, says);
      assert.equal(world.size, value.objects.length);
      assert.equal(world.pollRefusal(), value.error === null ? null : value.tick);
    }
  });
}

/** @param {WorldObject} object */
function jsonObject(object) {
  const told = object.class.fields.filter(({ index }) => object.contents[index] !== undefined);
  return {
    slot: object.slot,
    generation: object.generation,
    class: object.class.number,
    audience: object.audience,
    parent: object.parent,
    profile: object.facts.profile,
    origin_version: object.facts.origin.version,
    tick: object.tick,
    jumped: orNull(object.jumped),
    words: [...object.words],
    contents: Object.fromEntries(told.map(({ index }) => [index, toHex(object.content(index))])),
  };
}

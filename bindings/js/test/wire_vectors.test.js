// Every golden vector of the encodings, and what is written returns.
import assert from "node:assert/strict";
import { test } from "node:test";
import { aliasOf, generationOf, slotOf } from "../src/wire/alias.js";
import { BitReader, BitWriter } from "../src/wire/bits.js";
import { ByteReader, ByteWriter } from "../src/wire/bytes.js";
import { predict, readChanged, readResidual, readRun } from "../src/wire/delta.js";
import { fnv1a32 } from "../src/wire/hash.js";
import { readOrigin } from "../src/wire/origin.js";
import { readPropertyBlock } from "../src/wire/property_block.js";
import { PROFILES, dequantize } from "../src/wire/quantize.js";
import { Record } from "../src/wire/record.js";
import { packRotation } from "../src/wire/rotation.js";
import { makeKind } from "../src/wire/schema.js";
import { readTableSet } from "../src/wire/table.js";
import {
  readContent,
  readContentBits,
  readRotation,
  readValue,
  readValueBits,
  valueOf,
  writeValue,
} from "../src/wire/value.js";
import { definitionOf, json32, json64, jsonRotation, jsonTriple, jsonValue, schemaOf } from "./schemas.js";
import { fromHex, toHex, vectors } from "./vectors.js";

const GENERIC = readTableSet(fromHex(vectors("wire_code_table")[0].hex));

/**
 * @param {string} file
 * @param {(given: any, bytes: Uint8Array, value: any) => any} read
 */
function check(file, read) {
  for (const { name, hex, given, value, error } of vectors(file)) {
    test(`${file}: ${name}`, () => {
      const reading = () => read(given, fromHex(hex), value);
      if (error) assert.throws(reading, { name: "WireError", code: error });
      else assert.deepEqual(reading(), value);
    });
  }
}

/**
 * @template T
 * @param {BitReader | ByteReader} reader
 * @param {T} value
 */
function whole(reader, value) {
  reader.finish();
  return value;
}

check("wire_bits", (given, bytes) => {
  const reader = new BitReader(bytes);
  const values = given.reads.map((/** @type {any} */ read) => {
    if (read.align) return reader.align() ?? null;
    if (read.bits !== undefined) {
      return String(read.bits > 53 ? reader.big(read.bits) : reader.bits(read.bits));
    }
    if (read.signed !== undefined) {
      const wide = () => BigInt.asIntN(read.signed, reader.big(read.signed));
      return String(read.signed > 32 ? wide() : reader.signed(read.signed));
    }
    const min = BigInt(read.min ?? 0);
    const span = BigInt(read.max) - min;
    // Nothing but these vectors has ranges that a Number cannot hold.
    if (span > BigInt(Number.MAX_SAFE_INTEGER)) return String(min + reader.big(span.toString(2).length));
    return String(min + BigInt(reader.ranged(Number(span))));
  });
  return whole(reader, { values });
});

check("wire_alias", (_given, bytes) => {
  const reader = new ByteReader(bytes);
  const alias = aliasOf(reader.u16(), reader.u8());
  return whole(reader, { slot: slotOf(alias), generation: generationOf(alias), script_int: alias });
});

check("wire_quantized", ({ what, profile, per_unit }, bytes) => {
  const reader = new ByteReader(bytes);
  const form = /** @type {any} */ (PROFILES)[profile]?.[what];
  const values = [0, 1, 2].map(() => json32(dequantize(reader.i32(), per_unit ?? form.perUnit)));
  return whole(reader, { values });
});

check("wire_rotation", ({ component_bits }, bytes) => {
  const width = component_bits === 10 ? PROFILES[0].rotation : PROFILES[1].rotation;
  const [reader, words] = [new ByteReader(bytes), new Int32Array(4)];
  readRotation(width, reader, words, 0);
  const [low, high] = packRotation(/** @type {any} */ (width), words, 0);
  assert.equal(low + high * 2 ** 32, Number(`0x${toHex(bytes.slice().reverse())}`));
  const { raw, ...value } = /** @type {any} */ (jsonRotation(width, words));
  return whole(reader, value);
});

check("wire_origin", (_given, bytes) => {
  const reader = new ByteReader(bytes);
  const { metres, version } = readOrigin(reader);
  return whole(reader, { metres: metres.map(json64), version });
});

check("wire_record", (_given, bytes) => {
  const [reader, record] = [new ByteReader(bytes), new Record()];
  record.read(reader);
  const profile = PROFILES[record.profile];
  return whole(reader, {
    slot: record.slot,
    generation: record.generation,
    profile: record.profile,
    origin_version: record.originVersion,
    sequence: record.sequence,
    teleport: record.isTeleport,
    position: record.hasPosition ? jsonTriple(profile.position, record.position) : null,
    rotation: record.hasRotation ? jsonRotation(profile.rotation, record.rotation) : null,
    scale: record.hasScale ? jsonTriple(profile.scale, record.scale) : null,
    velocity: record.hasVelocity ? jsonTriple(profile.velocity, record.velocity) : null,
    properties: record.properties && toHex(record.properties),
  });
});

for (const { name, hex, value } of vectors("wire_schema")) {
  test(`wire_schema: ${name}`, () => {
    const schema = schemaOf(value);
    assert.equal(toHex(schema.canonicalForm()), hex);
    assert.equal(String(schema.hash), value.hash);
  });
}

check("wire_property_block", (given, bytes) => {
  const schema = schemaOf({ name: "any", fields: given.fields });
  const [reader, words] = [new ByteReader(bytes), new Int32Array(4)];
  /** @type {any[]} */
  const properties = [];
  readPropertyBlock(schema.fields.length, reader, (index) => {
    const field = schema.fields[index];
    const start = reader.at;
    const content = field.contentMax > 0 ? readContent(field, reader) : bytes.subarray(0, 0);
    if (field.contentMax === 0) readValue(field, reader, words, 0);
    const writer = new ByteWriter(2000);
    writeValue(field, valueOf(field, words, 0, content), writer);
    assert.equal(toHex(writer.written()), toHex(bytes.subarray(start, reader.at)), `${field.name} as it was`);
    properties.push({ index, value: jsonValue(field, words, content) });
  });
  return { properties };
});

check("wire_bit_value", (given, bytes) => {
  const kind = makeKind(definitionOf(given), "given");
  const [reader, words] = [new BitReader(bytes), new Int32Array(4)];
  assert.equal(reader.bits(3), 5);
  const content = kind.contentMax > 0 ? readContentBits(kind, reader) : bytes.subarray(0, 0);
  if (kind.contentMax === 0) readValueBits(kind, reader, words, 0);
  return whole(reader, { value: jsonValue(kind, words, content) });
});

check("wire_code_table", (_given, bytes) => {
  const set = readTableSet(bytes);
  const described = Object.entries(set).map(([name, { lengths }]) => {
    const id = fnv1a32(Uint8Array.of(lengths.length & 255, lengths.length >> 8, ...lengths));
    return [name, { id, lengths: [...lengths] }];
  });
  return { id: fnv1a32(bytes), ...Object.fromEntries(described) };
});

check("wire_changed_mask", ({ field_count }, bytes) => {
  const [reader, changed] = [new BitReader(bytes), new Uint8Array(64)];
  const count = readChanged(reader, GENERIC.mask, field_count, changed);
  const mask = changed.subarray(0, count).reduce((sum, index) => sum | (1n << BigInt(index)), 0n);
  return whole(reader, { mask: String(mask) });
});

check("wire_residual", ({ predicted, min, max }, bytes) => {
  const reader = new BitReader(bytes);
  return whole(reader, { word: readResidual(reader, GENERIC.residual, predicted, min, max) });
});

check("wire_run", ({ max }, bytes) => {
  const reader = new BitReader(bytes);
  return whole(reader, { run: readRun(reader, GENERIC.run, max) });
});

check("wire_predict", ({ newer, older, min, max }) => {
  return { predicted: predict(newer.word, newer.age, older.word, older.age, min, max) };
});

test("bits return as they were written, wherever they stand", () => {
  const writer = new BitWriter(100);
  const values = [
    [5, 3],
    [0, 0],
    [2 ** 40 + 7, 41],
    [-3, 17],
    [1, 1],
    [2 ** 53 - 1, 53],
    [-1, 32],
  ];
  for (const [value, count] of values) writer.bits(value, count);
  writer.big(2n ** 64n - 3n, 64);
  const reader = new BitReader(writer.written());
  for (const [value, count] of values) {
    assert.equal(value < 0 ? reader.signed(count) : reader.bits(count), value);
  }
  assert.equal(reader.big(64), 2n ** 64n - 3n);
  reader.finish();
  assert.throws(() => new BitWriter(1).bits(0, 9), RangeError);
  assert.equal(toHex(writer.reset().written()), "");
});

test("a schema that cannot be is refused where it is declared", () => {
  const make =
    (/** @type {any} */ ...fields) =>
    () =>
      schemaOf({ name: "thing", fields });
  const int = { kind: "int", name: "a", min: 0, max: 1 };
  assert.throws(make(), /use 1 to 64/);
  assert.throws(make(int, int), /two fields of one name/);
  assert.throws(make({ ...int, max: 0 }), /no range/);
  assert.throws(make({ ...int, flags: 13 }), /contradict/);
  assert.throws(make({ ...int, flags: 35 }), /contradict/);
  assert.throws(make({ ...int, delivery: "reliable" }), /only text, bytes and arrays/);
  assert.throws(make({ kind: "text", name: "t", bytes_max: 1001 }), /1000 are allowed/);
  assert.throws(
    make({ kind: "array", name: "t", count_max: 3, element: { kind: "text" } }),
    /needs an element/,
  );
  assert.throws(make({ kind: "colour", name: "c" }), /no kind colour/);
});

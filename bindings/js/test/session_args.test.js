import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteWriter } from "../src/wire/bytes.js";
import { WireError } from "../src/wire/error.js";
import { ARGS_BYTES_MAX, ObjectRef, readArgs, writeArgs } from "../src/session/msgpack.js";
import { NetloomError } from "../src/session/error.js";
import { Random } from "./random.js";

/** @param {any[]} args */
function written(args) {
  const writer = new ByteWriter(ARGS_BYTES_MAX);
  writeArgs(writer, args);
  return writer.written().slice();
}

/** @param {string} hex */
const bytes = (hex) => Uint8Array.from(hex.split(" "), (byte) => Number.parseInt(byte, 16));

test("the example of the standard reads and writes", () => {
  const example = bytes("93 05 a3 66 6f 78 d6 01 2c 01 00 00");
  assert.deepEqual(written([5, "fox", new ObjectRef(300)]), example);
  assert.deepEqual(readArgs(example), [5, "fox", new ObjectRef(300)]);
  assert.deepEqual(written([]), bytes("90"));
});

test("whatever can be sent comes back as it was", () => {
  const values = [
    null,
    true,
    false,
    0,
    127,
    128,
    -1,
    -32,
    -33,
    65_535,
    2 ** 31,
    -(2 ** 31) - 1,
    Number.MAX_SAFE_INTEGER,
    2n ** 64n - 1n,
    -(2n ** 63n),
    0.5,
    -0,
    NaN,
    Infinity,
    1e300,
    "",
    "ключ",
    "x".repeat(300),
    new Uint8Array(0),
    new Uint8Array(300).fill(7),
    [],
    [[1, [2]]],
    new Array(20).fill(1),
    new ObjectRef(null),
    new ObjectRef(0xff_ffff),
  ];
  assert.deepEqual(readArgs(written(values)), values);
  const map = readArgs(written([{ one: 1, __proto__: null, nested: { two: [2] } }]))[0];
  assert.deepEqual(Object.entries(map), [
    ["one", 1],
    ["nested", Object.assign(Object.create(null), { two: [2] })],
  ]);
  assert.deepEqual(readArgs(written([undefined])), [null]);
  assert.deepEqual(
    readArgs(written([{ alias: 7 }])),
    [new ObjectRef(7)],
    "an object in sight is sent by its alias",
  );
});

test("a key named like a property of all objects is only a key", () => {
  const [map] = readArgs(bytes("91 81 a9 5f 5f 70 72 6f 74 6f 5f 5f 01"));
  assert.equal(map.__proto__, 1);
  assert.equal(/** @type {any} */ ({}).polluted, undefined);
});

test("what is too large, too deep or no value cannot be sent", () => {
  let deep = /** @type {any} */ ([]);
  for (let depth = 0; depth < 16; depth++) deep = [deep];
  for (const args of [
    ["x".repeat(ARGS_BYTES_MAX)],
    [deep],
    new Array(4_096).fill(0),
    [() => 1],
    [1n << 64n],
    [Symbol("x")],
  ]) {
    assert.throws(
      () => written(args),
      (/** @type {any} */ error) => error instanceof NetloomError && error.code === "arguments",
    );
  }
  assert.equal(readArgs(written([deep[0][0]])).length, 1, "sixteen deep is allowed");
});

test("what the standard refuses is refused", () => {
  const refused = {
    "no array": "05",
    nothing: "90 00",
    "cut off": "92 05",
    "a long array of nothing": "dd ff ff ff ff",
    "a long text of nothing": "91 db ff ff ff ff",
    "a key that is no text": "91 81 01 01",
    c1: "91 c1",
    "another extension": "91 d6 02 00 00 00 00",
    "another length of extension": "91 d4 01 00",
    "an object beyond all": "91 d6 01 00 00 00 01",
    "no UTF-8": "91 a1 ff",
    "seventeen deep": new Array(17).fill("91").join(" ") + " c0",
  };
  for (const [what, hex] of Object.entries(refused)) {
    assert.throws(() => readArgs(bytes(hex)), WireError, what);
  }
  assert.throws(() => readArgs(new Uint8Array(ARGS_BYTES_MAX + 1)), WireError);
  const many = new Uint8Array(4_100).fill(0xc0);
  many.set([0xdc, 0x10, 0x01]);
  assert.throws(() => readArgs(many), WireError, "more values than allowed");
});

test("random bytes are arguments or refused, and nothing else", () => {
  const random = new Random(1);
  for (let round = 0; round < 20_000; round++) {
    const sample = random.bytes(random.below(40));
    if (sample.length > 0) sample[0] = 0x90 | (sample[0] & 0x0f);
    try {
      assert.ok(Array.isArray(readArgs(sample)));
    } catch (error) {
      assert.ok(error instanceof WireError, `seed 1, round ${round}: ${error}`);
    }
  }
});

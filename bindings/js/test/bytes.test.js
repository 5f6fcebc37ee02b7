import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteReader, ByteWriter, encodeUtf8, unzigzag, varintBytes, zigzag } from "../src/wire/bytes.js";
import { WireError } from "../src/wire/error.js";
import { fromHex, toHex, vectors } from "./vectors.js";

/**
 * @param {ByteReader} reader
 * @param {any} what a type's name, or a limit
 */
function readOne(reader, what) {
  if (what.str !== undefined) return reader.str(what.str);
  if (what.blob !== undefined) return toHex(reader.blob(what.blob));
  const value = /** @type {any} */ (reader)[what === "varint" ? "varintBig" : what]();
  if (typeof value === "boolean") return value;
  if (what === "f32" || what === "f64") {
    const bits = new DataView(new ArrayBuffer(8));
    if (what === "f32") bits.setFloat32(0, value);
    else bits.setFloat64(0, value);
    return toHex(new Uint8Array(bits.buffer, 0, what === "f32" ? 4 : 8));
  }
  return String(value);
}

for (const { name, hex, given, value, error } of vectors("wire_bytes")) {
  test(`bytes: ${name}`, () => {
    const reader = new ByteReader(fromHex(hex));
    const readAll = () => {
      const values = given.reads.map((/** @type {any} */ what) => readOne(reader, what));
      reader.finish();
      return values;
    };
    if (error) assert.throws(readAll, { name: "WireError", code: error });
    else
      assert.deepEqual(
        readAll(),
        value.values.map((/** @type {any} */ each) => each.bits ?? each),
      );
  });
}

for (const { name, hex, value, error } of vectors("wire_varint")) {
  test(`varint: ${name}`, () => {
    const big = new ByteReader(fromHex(hex));
    const small = new ByteReader(fromHex(hex));
    if (error) {
      assert.throws(() => (big.varintBig(), big.finish()), { name: "WireError", code: error });
      assert.throws(() => (small.varint(), small.finish()), { name: "WireError" });
      return;
    }
    assert.equal(String(big.varintBig()), value.value);
    const writer = new ByteWriter(10);
    writer.varintBig(BigInt(value.value));
    assert.equal(toHex(writer.written()), hex);
    if (BigInt(value.value) > BigInt(Number.MAX_SAFE_INTEGER)) {
      assert.throws(() => small.varint(), { name: "WireError", code: "OutOfRange" });
      return;
    }
    assert.equal(small.varint(), Number(value.value));
    writer.reset().varint(Number(value.value));
    assert.equal(toHex(writer.written()), hex);
    assert.equal(varintBytes(Number(value.value)), hex.length / 2);
  });
}

test("what is written is read again", () => {
  const writer = new ByteWriter(200, 1);
  writer.u8(200);
  writer.u16(65535);
  writer.u32(-1);
  writer.u64(-2n);
  writer.f32(-0.5);
  writer.f64(Math.PI);
  writer.bool(true);
  writer.str("grüße");
  writer.blob(encodeUtf8("blob"));
  const reader = new ByteReader(writer.written());
  assert.equal(reader.u8(), 200);
  assert.equal(reader.i16(), -1);
  assert.equal(reader.u32(), 4294967295);
  assert.equal(reader.i64(), -2n);
  assert.equal(reader.f32(), -0.5);
  assert.equal(reader.f64(), Math.PI);
  assert.equal(reader.bool(), true);
  assert.equal(reader.str(7), "grüße");
  assert.equal(toHex(reader.rest()), "04626c6f62");
  reader.finish();
});

test("a reader stays inside its range", () => {
  const reader = new ByteReader(new Uint8Array(100), 10, 13);
  assert.equal(reader.left, 3);
  assert.throws(() => reader.u32(), WireError);
  assert.throws(() => reader.bytes(4), WireError);
  assert.equal(reader.bytes(3).length, 3);
  assert.throws(() => reader.u8(), { code: "UnexpectedEnd" });
});

test("a writer refuses to grow past its limit, and keeps what it has", () => {
  const writer = new ByteWriter(4, 1);
  writer.u16(0x0201);
  assert.throws(() => writer.bytes(new Uint8Array(3)), RangeError);
  writer.u16(0x0403);
  assert.equal(toHex(writer.written()), "01020304");
});

test("zigzag is undone", () => {
  assert.deepEqual([0, -1, 1, -2, 2147483647, -2147483648].map(zigzag), [0, 1, 2, 3, 4294967294, 4294967295]);
  for (const value of [0, -1, 1, 77, -78, 2147483647, -2147483648])
    assert.equal(unzigzag(zigzag(value)), value);
});

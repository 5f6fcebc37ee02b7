import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteReader, encodeUtf8 } from "../src/wire/bytes.js";
import { FrameReader, writeFrame } from "../src/wire/frame.js";
import { fnv1a32, fnv1a64 } from "../src/wire/hash.js";
import { NameRegistry, nameOf, readName } from "../src/wire/name.js";
import { expandPacketNumber } from "../src/wire/packet_number.js";
import { fromHex, toHex, vectors } from "./vectors.js";

for (const { name, hex, value } of vectors("wire_hash")) {
  test(`hash: ${name}`, () => {
    assert.equal(fnv1a32(fromHex(hex)), value.fnv1a_32);
    assert.equal(String(fnv1a64(fromHex(hex))), value.fnv1a_64);
  });
}

for (const { name, hex, given, value, error } of vectors("wire_name")) {
  test(`name: ${name}`, () => {
    const reader = new ByteReader(fromHex(hex));
    const read = () => {
      const { hash, text } = readName(reader, given.mode === "with_text");
      reader.finish();
      return { hash: String(hash), text };
    };
    if (error) assert.throws(read, { name: "WireError", code: error });
    else assert.deepEqual(read(), value);
  });
}

test("a registry gives texts back, refuses collisions of its limit, and names what it does not know", () => {
  const names = new NameRegistry(1);
  assert.equal(names.register("sword"), nameOf("sword"));
  assert.equal(names.register("sword"), nameOf("sword"));
  assert.equal(names.resolve(nameOf("sword")), "sword");
  assert.throws(() => names.register("shield"), RangeError);
  assert.throws(() => names.register(""), RangeError);
  assert.throws(() => names.register("x".repeat(256)), RangeError);
  assert.throws(() => names.resolve(7n), { name: "WireError", code: "UnknownName" });
});

// Numbers from 2^53 on are beyond what this implementation sends or accepts.
const reachable = vectors("wire_packet_number").filter(
  ({ given }) => BigInt(given.largest) < 2n ** 53n - 65536n,
);
for (const { name, hex, given, value } of reachable) {
  test(`packet number: ${name}`, () => {
    const truncated = new ByteReader(fromHex(hex)).u16();
    assert.equal(String(expandPacketNumber(truncated, Number(given.largest))), value.value);
  });
}

for (const { name, hex, given, value, error } of vectors("wire_frame")) {
  for (const pieceBytes of [1, 3, 1000]) {
    test(`frame in pieces of ${pieceBytes}: ${name}`, () => {
      const reader = new FrameReader(given.payload_bytes_max);
      /** @type {{ id: number, payload: string }[]} */
      const frames = [];
      const read = () => {
        const stream = fromHex(hex);
        for (let at = 0; at < stream.length; at += pieceBytes) {
          reader.push(stream.subarray(at, at + pieceBytes), (id, payload) =>
            frames.push({ id, payload: toHex(payload) }),
          );
        }
      };
      if (error) return assert.throws(read, { name: "WireError", code: error });
      read();
      assert.deepEqual({ frames, left_over: reader.held }, value);
      assert.equal(
        frames.map(({ id, payload }) => toHex(writeFrame(id, fromHex(payload)))).join(""),
        hex.slice(0, hex.length - 2 * value.left_over),
      );
    });
  }
}

test("a text hashes as its UTF-8", () => assert.equal(nameOf("grüße"), fnv1a64(encodeUtf8("grüße"))));

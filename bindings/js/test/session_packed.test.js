import assert from "node:assert/strict";
import { test } from "node:test";
import { WireError } from "../src/wire/error.js";
import { SNAPSHOT_BYTES_MAX, unpack } from "../src/session/lz4.js";
import { Random } from "./random.js";

const out = new Uint8Array(SNAPSHOT_BYTES_MAX);

/**
 * @param {number} length
 * @param {...number} block
 */
const packed = (length, ...block) => Uint8Array.from([length & 0xff, length >> 8, ...block]);

test("literals, matches and matches that overlap themselves are unpacked", () => {
  assert.deepEqual(unpack(packed(3, 0x30, 1, 2, 3), out), Uint8Array.of(1, 2, 3));
  // Two literals, then six bytes from two back, then one literal.
  const repeated = packed(9, 0x22, 7, 8, 2, 0, 0x10, 9);
  assert.deepEqual(unpack(repeated, out), Uint8Array.of(7, 8, 7, 8, 7, 8, 7, 8, 9));
  // Lengths of more than a nibble: one literal, then 4 + 15 + 255 + 6 of it.
  const long = packed(286, 0x1f, 5, 1, 0, 255, 6, 0x50, 1, 2, 3, 4, 5);
  assert.deepEqual(unpack(long, out), Uint8Array.from([...new Array(281).fill(5), 1, 2, 3, 4, 5]));
});

test("a length that is not that of the content is refused, and so is a way back before the beginning", () => {
  const refused = {
    nothing: packed(0, 0),
    "too long": packed(1_201, 0x30, 1, 2, 3),
    "shorter than said": packed(4, 0x30, 1, 2, 3),
    "longer than said": packed(2, 0x30, 1, 2, 3),
    "before the beginning": packed(9, 0x22, 7, 8, 3, 0, 0x10, 9),
    "no way back": packed(9, 0x22, 7, 8, 0, 0, 0x10, 9),
    "cut off in a length": packed(300, 0xf0, 255, 255),
    "cut off in a way back": packed(9, 0x22, 7, 8, 2),
    "no last literals": packed(8, 0x22, 7, 8, 2, 0),
    empty: packed(5),
  };
  for (const [what, bytes] of Object.entries(refused))
    assert.throws(() => unpack(bytes, out), WireError, what);
});

test("whatever arrives, no more than announced is written", () => {
  const random = new Random(2);
  const guarded = new Uint8Array(SNAPSHOT_BYTES_MAX + 1).fill(0xaa);
  for (let round = 0; round < 20_000; round++) {
    const length = random.below(64);
    const block = packed(length, ...random.bytes(random.below(40)));
    guarded.fill(0xaa);
    try {
      assert.equal(unpack(block, guarded).length, length);
    } catch (error) {
      assert.ok(error instanceof WireError, `seed 2, round ${round}: ${error}`);
    }
    assert.ok(
      guarded.subarray(length).every((byte) => byte === 0xaa),
      `seed 2, round ${round}`,
    );
  }
});

// Whatever a server sends, a client stays whole: bad bytes are refused, and nothing hangs or grows without
// bound.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteReader } from "../src/wire/bytes.js";
import { BitReader } from "../src/wire/bits.js";
import { WireError } from "../src/wire/error.js";
import { Codes } from "../src/replica/codes.js";
import { EntryReader } from "../src/replica/entry.js";
import { readInputs } from "../src/replica/input.js";
import { lineBetween } from "../src/replica/line.js";
import { UpdateReader } from "../src/replica/update.js";
import { View } from "../src/replica/view/view.js";
import { World } from "../src/replica/world.js";
import { Noise } from "./noise.js";
import { recordedClasses, recordedSessions } from "./recorded.js";
import { fromHex, vectors } from "./vectors.js";

const CLASSES = recordedClasses();
const SESSIONS = recordedSessions().map(({ steps }) => steps.map(([hex]) => fromHex(hex)));

/**
 * The same bytes with some of them changed, cut off, repeated or exchanged.
 * @param {Uint8Array} bytes
 * @param {Noise} noise
 */
function mutated(bytes, noise) {
  let changed = bytes.slice();
  for (let count = 1 + noise.below(4); count > 0 && changed.length > 0; count--) {
    const at = noise.below(changed.length);
    switch (noise.below(5)) {
      case 0:
        changed[at] ^= 1 << noise.below(8);
        break;
      case 1:
        changed[at] = noise.pick([0, 1, 127, 128, 255]);
        break;
      case 2:
        changed = changed.slice(0, at);
        break;
      case 3:
        changed = Uint8Array.from([...changed.subarray(0, at), noise.below(256), ...changed.subarray(at)]);
        break;
      default:
        changed.set(changed.subarray(noise.below(at + 1), at), 0);
    }
  }
  return changed;
}

/** @param {Noise} noise @param {number} length */
const randomBytes = (noise, length) => Uint8Array.from({ length }, () => noise.below(256));

/**
 * Everything that a client keeps of objects is consistent.
 * @param {World} world
 * @param {string} at
 */
function checkWhole(world, at) {
  const objects = [...world.objects()];
  assert.equal(objects.length, world.size, at);
  for (const object of objects) {
    assert.ok(object.states.count >= 1 && object.states.count <= 32, at);
    for (const field of object.class.fields) {
      const value = object.value(field.index);
      if (Array.isArray(value))
        assert.ok(
          value.every((part) => typeof part !== "number" || Number.isFinite(part)),
          at,
        );
    }
  }
  assert.ok(world.slots.length <= 65535 && world.refusals.length <= 64 && world.mismatches.length <= 64, at);
}

test("mutated snapshots are read or refused, and the world and its view stay whole", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const noise = new Noise(seed);
    const [world, view] = [new World({ classes: CLASSES }), new View()];
    let now = 0;
    for (const bytes of noise.pick(SESSIONS)) {
      for (const sent of [bytes, mutated(bytes, noise), mutated(bytes, noise)]) {
        world.handleSnapshot(sent);
        view.handleSnapshot(now, world);
        view.advance((now += 5000));
        view.each((_alias, { position, rotation }) => {
          assert.ok([...position, ...rotation].every(Number.isFinite), `seed ${seed}`);
        });
        assert.ok(view.leaving.length <= view.seats.length, `seed ${seed}`);
      }
      checkWhole(world, `seed ${seed}`);
    }
  }
});

test("random bytes are refused or say little", () => {
  const noise = new Noise(77);
  const world = new World({ classes: CLASSES });
  for (let round = 0; round < 20000; round++) {
    const bytes = randomBytes(noise, noise.below(60));
    if (bytes.length > 2) bytes[2] &= noise.pick([0x7f, 0x1c, 0x08]);
    world.handleSnapshot(bytes);
  }
  checkWhole(world, "random bytes");
  assert.ok(world.counters.refused > 10000);
});

test("the largest claims cost no more than their bytes", () => {
  const world = new World({ classes: CLASSES });
  // 65,535 updates, 255 enters or leaves, of which none is there.
  for (const head of [
    [16, 0xff, 0xff, 3],
    [8, 0xff, 1],
    [4, 0xff, 1],
  ]) {
    const start = performance.now();
    for (let round = 0; round < 1000; round++) {
      world.handleSnapshot(Uint8Array.of(round, round >> 8, ...head));
    }
    assert.equal(world.error, "UnexpectedEnd");
    assert.ok(performance.now() - start < 2000, "a thousand of them");
  }
  assert.equal(world.size, 0);
});

test("decoders throw nothing but WireError, whatever the bits are", () => {
  const noise = new Noise(4);
  const update = new UpdateReader(Codes.generic());
  const entry = new EntryReader();
  const given = vectors("replica_update")
    .filter(({ error }) => !error)
    .map((each) => each.given);
  const wire = (/** @type {() => void} */ read) => {
    try {
      read();
    } catch (error) {
      assert.ok(error instanceof WireError, String(error));
    }
  };
  for (let round = 0; round < 30000; round++) {
    const { class: number, profile, audience, newer, older } = noise.pick(given);
    const shape = CLASSES.classes[number].shape(profile, audience);
    const states = Int32Array.from([...newer.words, ...(older ?? newer).words]);
    const line = lineBetween(newer.age, older?.age ?? 0);
    const bytes = randomBytes(noise, noise.below(40));
    wire(() => update.read(shape, states, 0, newer.age, shape.wordCount, line, new BitReader(bytes)));
    bytes[0] %= 6;
    bytes[1] &= 15;
    wire(() => entry.read(new ByteReader(bytes), CLASSES));
    wire(() => readInputs(bytes, noise.pick([null, 1, 7]), 1000));
  }
});

test("mutated entries and updates of the golden vectors are refused or valid", () => {
  const noise = new Noise(12);
  const entries = vectors("replica_entry")
    .filter(({ error }) => !error)
    .map(({ hex }) => fromHex(hex));
  for (let round = 0; round < 20000; round++) {
    const world = new World({ classes: CLASSES });
    const entry = mutated(noise.pick(entries), noise);
    world.handleSnapshot(Uint8Array.of(1, 0, 8, 1, ...entry));
    checkWhole(world, `round ${round}`);
  }
});

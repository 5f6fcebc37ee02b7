// What a world holds, and what waits for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { aliasOf } from "../src/wire/alias.js";
import { encodeUtf8 } from "../src/wire/bytes.js";
import { States } from "../src/replica/states.js";
import { World } from "../src/replica/world.js";
import { Noise } from "./noise.js";
import { CLASSES, snapshot } from "./snapshots.js";

/** @param {Partial<ConstructorParameters<typeof World>[0]>} [config] */
const worldOf = (config) => new World({ classes: CLASSES, ...config });

test("the newest states are kept in whatever order they come", () => {
  for (let seed = 0; seed < 40; seed++) {
    const [noise, states] = [new Noise(seed), new States(1)];
    const start = seed % 2 === 0 ? 1000 : 2 ** 32 - 40;
    const model = new Map();
    for (let number = 0; number < 120; number++) {
      const age = noise.below(140);
      const tick = (start + age) >>> 0;
      const oldest = Math.min(...model.keys());
      states.insert(tick, Int32Array.of(age), age % 3 === 0 ? -1 : tick);
      if (model.size < 32 || age > oldest) model.set(age, age % 3 === 0 ? -1 : tick);
      if (model.size > 32) model.delete(Math.min(...model.keys()));
      assert.equal(states.tick, (start + Math.max(...model.keys())) >>> 0, `seed ${seed}`);
    }
    for (let age = 0; age < 150; age++) {
      const row = states.rowOf((start + age) >>> 0);
      assert.equal(row >= 0 ? states.rows[states.wordsAt(row)] : undefined, model.has(age) ? age : undefined);
      if (row >= 0) assert.equal(states.jumpOf(row), model.get(age));
      const before = [...model.keys()].filter((other) => other <= age);
      const inForce = states.rowInForce((start + age) >>> 0);
      assert.equal(inForce >= 0 ? states.rows[states.wordsAt(inForce)] : -Infinity, Math.max(...before));
    }
  }
});

test("objects are seen by name, and what others may not see is undefined", () => {
  const world = worldOf();
  assert.ok(
    world.handleSnapshot(
      snapshot(5, [
        { slot: 2, x: 3.5, isOwned: true },
        { slot: 9, level: 7 },
      ]),
    ),
  );
  const mover = world.object(aliasOf(2, 0));
  assert.deepEqual(mover?.value("position"), [3.5, 0, 0]);
  assert.deepEqual(mover?.value("rotation"), [0, 0, 0, 1]);
  assert.equal(mover?.value("colour"), undefined);
  const board = world.object(aliasOf(9, 0));
  assert.deepEqual(board?.values(), { said: "", level: 7 });
  assert.equal(board?.value("orders"), undefined, "for the owner alone");
  assert.deepEqual([mover?.isOwned, board?.audience, mover?.class.name], [true, "public", "mover"]);
  assert.deepEqual(
    [...world.objects()].map(({ slot }) => slot),
    [2, 9],
  );
  assert.equal(world.object(aliasOf(2, 1)), undefined);
});

test("a world refuses more objects than it may hold, and goes on", () => {
  const world = worldOf({ objectsMax: 2 });
  assert.equal(
    world.handleSnapshot(
      snapshot(1, [
        { slot: 0, x: 0 },
        { slot: 1, x: 1 },
        { slot: 2, x: 2 },
      ]),
    ),
    false,
  );
  assert.deepEqual([world.error, world.size, world.pollRefusal()], ["WorldFull", 2, 1]);
  assert.ok(
    world.handleSnapshot(snapshot(2, [{ slot: 1, generation: 1, x: 1 }])),
    "a slot that is held is used again",
  );
  assert.throws(() => worldOf({ objectsMax: 0 }), /objectsMax = 0/);
});

test("refusals and mismatches that wait are bounded", () => {
  const world = worldOf();
  for (let tick = 0; tick < 200; tick++) world.handleSnapshot(Uint8Array.of(tick, 0, 128));
  let count = 0;
  while (world.pollRefusal() !== null) count++;
  assert.deepEqual([count, world.counters.refused], [64, 200]);
  assert.equal(world.handleSnapshot(Uint8Array.of(1)), false);
  assert.deepEqual(
    [world.tick, world.pollRefusal()],
    [-1, null],
    "a snapshot without a tick cannot be named",
  );
});

test("ticks and steps are whole near what was said at the start", () => {
  const world = worldOf();
  world.startNear(0x12345, 0x54321);
  world.handleSnapshot(Uint8Array.of(0x46, 0x23, 64, 0x20, 0x43, 8));
  assert.deepEqual([world.tick, world.feedback], [0x12346, { tick: 0x12346, step: 0x54320, slack: 8 }]);
  world.handleSnapshot(Uint8Array.of(0x45, 0x23, 64, 0xff, 0xff, 0x80));
  assert.equal(world.feedback?.step, 0x54320, "older feedback is passed over");
});

test("an own object is confirmed if the newest feedback came with its newest state", () => {
  const world = worldOf();
  const told = snapshot(5, [
    { slot: 0, x: 1, isOwned: true },
    { slot: 1, x: 1 },
  ]);
  const withFeedback = Uint8Array.from([...told.subarray(0, 2), told[2] | 64, 9, 0, 4, ...told.subarray(3)]);
  assert.ok(world.handleSnapshot(withFeedback));
  assert.deepEqual([world.confirmedStep(0), world.confirmedStep(1)], [9, null]);
  world.handleSnapshot(Uint8Array.of(6, 0, 64, 11, 0, 4));
  assert.equal(world.confirmedStep(0), null, "nothing was said of it");
});

/**
 * @param {number} slot
 * @param {number} generation
 * @param {number} field
 * @param {string | Uint8Array} content
 */
function property(slot, generation, field, content) {
  const bytes = typeof content === "string" ? encodeUtf8(content) : content;
  return Uint8Array.of(slot & 255, slot >> 8, generation, field, ...bytes);
}

test("properties wait for their objects and are applied in order, one by one", () => {
  const world = worldOf();
  world.handleProperty(property(4, 1, 0, "one"));
  world.handleProperty(property(4, 1, 0, "two"));
  assert.equal(world.pollProperty(), null);
  world.handleSnapshot(snapshot(1, [{ slot: 4, level: 1 }]));
  assert.equal(world.pollProperty(), null, "of the next generation");
  world.handleSnapshot(snapshot(2, [{ slot: 4, generation: 1, level: 1 }]));
  const seen = [];
  for (let told = world.pollProperty(); told; told = world.pollProperty()) {
    seen.push(told.object.value(told.field));
  }
  assert.deepEqual(seen, ["one", "two"]);
  world.handleProperty(property(4, 0, 0, "late"));
  world.handleProperty(property(4, 1, 2, "no reliable field"));
  world.handleProperty(property(4, 1, 0, Uint8Array.of(0xff)));
  world.handleProperty(property(4, 1, 1, Uint8Array.of(0)));
  assert.equal(world.pollProperty(), null);
  const { applied, stale, refused } = world.properties.counters;
  assert.deepEqual([applied, stale, refused], [2, 2, 2], "orders are the owner's");
  assert.throws(() => world.handleProperty(Uint8Array.of(4, 0, 1)), { code: "UnexpectedEnd" });
});

test("what the same object was told reliably stays when it is told anew, as far as it may be seen", () => {
  const world = worldOf();
  world.handleSnapshot(snapshot(1, [{ slot: 0, level: 1, isOwned: true }]));
  world.handleProperty(property(0, 0, 0, "hello"));
  world.handleProperty(property(0, 0, 1, Uint8Array.of(2, 0o21)));
  while (world.pollProperty());
  assert.deepEqual(world.object(0)?.values(), { said: "hello", orders: [1, 2], level: 1 });
  world.handleSnapshot(snapshot(2, [{ slot: 0, level: 2 }]));
  assert.equal(world.changes[0].kind, "refreshed");
  assert.deepEqual(world.object(0)?.values(), { said: "hello", level: 2 });
});

test("properties that wait are bounded in number, in bytes and in time", () => {
  const world = worldOf();
  for (let number = 0; number < 300; number++) world.handleProperty(property(number, 0, 0, "x"));
  assert.deepEqual([world.properties.waiting.length, world.properties.counters.overflowed], [256, 44]);
  for (let number = 0; number < 40; number++) {
    world.handleProperty(property(number, 0, 0, new Uint8Array(65532)));
  }
  assert.ok(world.properties.waitingBytes <= 1 << 20);
  for (let tick = 1; tick < 23; tick++) world.handleSnapshot(snapshot(tick, []));
  world.pollProperty();
  assert.deepEqual([world.properties.waiting.length, world.properties.waitingBytes], [0, 0]);
});

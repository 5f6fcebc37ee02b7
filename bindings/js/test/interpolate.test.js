// What is shown of states that come late, out of order, or not at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Interpolator } from "../src/replica/view/interpolate.js";
import { Pose, UNTURNED, arcRadians, inward } from "../src/replica/view/space.js";
import { Noise } from "./noise.js";
import { FRAME, INTERVAL, Objects, SLOT, aboutZ, near } from "./objects.js";

/** @param {number} ticks @param {Objects} objects */
function walk(ticks, objects = new Objects()) {
  for (let tick = 0; tick < ticks; tick++) objects.receive(tick * INTERVAL, tick);
  return objects;
}

test("settings out of range are refused by name", () => {
  const make = (/** @type {any} */ config) => () => new Interpolator(config);
  assert.throws(make({ statesPerSecond: 0 }), /statesPerSecond = 0 is not allowed: use 1 to 1,000/);
  assert.throws(make({ objects: 0 }), /objects = 0 is not allowed: use 1 to 65,535/);
  assert.throws(
    make({ extrapolationUs: 250001 }),
    /extrapolationUs = 250001 is not allowed: use 0 to 250,000/,
  );
});

test("one state is shown as it is before and after its time", () => {
  const objects = new Objects();
  assert.equal(objects.shown(SLOT), null);
  objects.receive(1000000, 4);
  assert.equal(objects.shown(SLOT), null, "not before the next frame");
  assert.deepEqual([objects.xAt(0), objects.sourceOf(SLOT)], [4, "ahead"]);
  assert.deepEqual([objects.xAt(5000000), objects.sourceOf(SLOT)], [4, "held"]);
});

test("late, copied and too old states find their place or none", () => {
  const objects = new Objects();
  for (const time of [100000, 200000, 150000, 200000, 50000, 150000]) objects.receive(time, time / 1e5);
  assert.equal(objects.put(150000, 99), false, "the first of two equal times counts");
  for (let time = 50000; time <= 200000; time += 10000) near(objects.xAt(time), time / 1e5);
  for (let number = 0; number < 40; number++) objects.receive(300000 + number * INTERVAL, 0);
  assert.equal(objects.put(60000, 99), false, "older than all of a full ring");
});

test("an object that rested stays where it was until one interval before its first new state", () => {
  const objects = new Objects();
  objects.receive(0, 5);
  for (let tick = 1; tick < 200; tick++) objects.handleSnapshot(tick * INTERVAL);
  objects.receive(200 * INTERVAL, 5.5);
  assert.equal(objects.xAt(100000), 5);
  assert.equal(objects.xAt(199 * INTERVAL), 5);
  near(objects.xAt(199.5 * INTERVAL), 5.25);
  assert.equal(objects.xAt(200 * INTERVAL), 5.5);
});

test("an object that was starved while it moved is bridged", () => {
  const objects = walk(3);
  objects.receive(11 * INTERVAL, 11);
  for (const tick of [2, 4, 7, 10]) near(objects.xAt(tick * INTERVAL), tick, 1e-5);
});

test("an object that waited for room in snapshots moves at its own speed", () => {
  const objects = walk(3);
  objects.handleSnapshot(3 * INTERVAL);
  objects.handleSnapshot(4 * INTERVAL);
  objects.receive(5 * INTERVAL, 5);
  for (const tick of [2.5, 3, 4, 4.5]) near(objects.xAt(tick * INTERVAL), tick, 1e-4);
});

test("an object that is sent seldom is shown at its own rhythm", () => {
  const objects = new Objects();
  for (let tick = 0; tick < 120; tick++) {
    objects.handleSnapshot(tick * INTERVAL);
    if (tick % 6 === 0) objects.put(tick * INTERVAL, tick);
  }
  for (let tick = 103; tick < 114; tick++) near(objects.xAt(tick * INTERVAL), tick, 1e-3);
});

test("what stopped is not carried on when snapshots go on without it", () => {
  const objects = walk(5);
  objects.handleSnapshot(5 * INTERVAL);
  objects.handleSnapshot(6 * INTERVAL);
  for (let time = 4 * INTERVAL; time < 12 * INTERVAL; time += 5000) {
    assert.deepEqual([objects.xAt(time), objects.sourceOf(SLOT)], [4, "held"]);
  }
});

test("without news motion goes on for 250 ms and is then held", () => {
  const objects = walk(5);
  near(objects.xAt(4 * INTERVAL + 125000), 6.5, 1e-5);
  assert.equal(objects.sourceOf(SLOT), "extrapolated");
  near(objects.xAt(4 * INTERVAL + 250000), 9, 1e-5);
  near(objects.xAt(4 * INTERVAL + 900000), 9, 1e-5);
  assert.equal(objects.sourceOf(SLOT), "held");
});

test("the velocity that the server sends is used beyond the newest state", () => {
  const objects = new Objects();
  objects.receive(0, 1, { velocity: [0, 8, 0] });
  const [x, y] = objects.poseAt(100000).position;
  near(x, 1);
  near(y, 0.8);
});

test("a state that was guessed wrong is eased to and not jumped to", () => {
  const objects = walk(5);
  let time = 4 * INTERVAL;
  let x = objects.xAt(time);
  for (let frame = 0; frame < 60; frame++) {
    // It stopped, and that is heard of only after 200 ms of carrying on.
    if (frame === 12) {
      objects.receive(5 * INTERVAL, 4.2);
      objects.handleSnapshot(6 * INTERVAL);
    }
    time += FRAME;
    const next = objects.xAt(time);
    assert.ok(Math.abs(next - x) <= (2 * FRAME) / INTERVAL + 1e-9, `frame ${frame}: ${x} to ${next}`);
    x = next;
  }
  near(x, 4.2, 1e-9);
});

test("a jump is not swept through and cancels what is being eased", () => {
  const objects = new Objects();
  for (let tick = 0; tick < 5; tick++) objects.receive(tick * INTERVAL, tick * 0.1);
  objects.receive(5 * INTERVAL, 500, { jump: 5 * INTERVAL });
  objects.receive(6 * INTERVAL, 500.1);
  near(objects.xAt(5 * INTERVAL - 1), 0.4, 1e-5);
  assert.equal(objects.xAt(5 * INTERVAL), 500);
  near(objects.xAt(5.5 * INTERVAL), 500.05, 1e-5);
  objects.xAt(9 * INTERVAL);
  objects.receive(8 * INTERVAL, -70, { jump: 8 * INTERVAL });
  assert.equal(objects.xAt(9 * INTERVAL + FRAME), -70);
});

test("silence after an object was told in full is no rest", () => {
  const objects = new Objects();
  objects.enter(SLOT, null);
  objects.noteEntry(SLOT, 0);
  objects.receive(0, 0);
  for (let tick = 1; tick < 6; tick++) objects.handleSnapshot(tick * INTERVAL);
  objects.receive(6 * INTERVAL, 6);
  objects.receive(7 * INTERVAL, 7);
  for (let tick = 0; tick <= 7; tick++) near(objects.xAt(tick * INTERVAL), tick, 1e-5);
});

test("who started while snapshots got lost comes at its own pace", () => {
  const objects = walk(4);
  for (const tick of [4, 5, 9]) objects.handleSnapshot(tick * INTERVAL);
  objects.receive(10 * INTERVAL, 7);
  for (const [tick, x] of [
    [4, 3],
    [6, 3],
    [8, 5],
    [10, 7],
  ])
    near(objects.xAt(tick * INTERVAL), x, 1e-5);
});

test("a jump that fell out of the ring during a pause is not swept", () => {
  const objects = walk(5);
  objects.xAt(4 * INTERVAL);
  for (let tick = 5; tick < 50; tick++) {
    const jump = tick === 10 ? tick * INTERVAL : -Infinity;
    objects.receive(tick * INTERVAL, tick + (tick < 10 ? 0 : 500), { jump });
  }
  near(objects.xAt(48 * INTERVAL), 548, 1e-3);
});

test("a late state shows on which side of it the jump was", () => {
  for (const [jumpTick, late, between] of [
    [1, 502, 503],
    [3, 2, 2],
  ]) {
    const objects = new Objects();
    objects.receive(0, 0);
    objects.receive(4 * INTERVAL, 504, { jump: jumpTick * INTERVAL });
    assert.equal(objects.xAt(0), 0);
    objects.receive(2 * INTERVAL, late, { jump: jumpTick === 1 ? INTERVAL : -Infinity });
    for (const [tick, x] of [
      [2, late],
      [3, between],
      [4, 504],
    ])
      near(objects.xAt(tick * INTERVAL), x, 1e-3);
  }
});

test("a turn from 359.9 to 0.1 degrees takes the short way", () => {
  const objects = new Objects();
  objects.receive(0, 0, { rotation: aboutZ(359.9) });
  objects.receive(INTERVAL, 0, { rotation: aboutZ(0.1) });
  const { rotation } = objects.poseAt(INTERVAL / 2);
  assert.ok(arcRadians(rotation, 0, UNTURNED, 0) < 1e-4, String(rotation));
});

test("rotations follow the arc at constant speed, wherever they begin", () => {
  const noise = new Noise(5);
  for (let run = 0; run < 300; run++) {
    const [from, by, part] = [noise.unit() * 360, (noise.unit() - 0.5) * 340, noise.unit()];
    const objects = new Objects();
    objects.receive(0, 0, { rotation: aboutZ(from) });
    objects.receive(INTERVAL, 0, { rotation: aboutZ(from + by) });
    const { rotation } = objects.poseAt(part * INTERVAL);
    const arc = arcRadians(rotation, 0, aboutZ(from + part * by), 0);
    assert.ok(arc < 1e-5, `from ${from} by ${by}, at ${part}: off by ${arc}`);
    near(Math.hypot(...rotation), 1, 1e-5);
  }
});

test("velocities at both ends make a circle rounder, and mad or unset ones are ignored", () => {
  const radius = 10;
  const errorOf = (/** @type {number | null} */ speed) => {
    const objects = new Objects();
    for (let tick = 0; tick < 6; tick++) {
      const [sine, cosine] = [Math.sin(tick * 0.6), Math.cos(tick * 0.6)];
      const velocity = speed === null ? null : [-sine * speed, cosine * speed, 0];
      objects.handleSnapshot(tick * INTERVAL);
      objects.insert(
        SLOT,
        tick * INTERVAL,
        [radius * cosine, radius * sine, 0],
        UNTURNED,
        velocity,
        -Infinity,
      );
    }
    let worst = 0;
    for (let time = 0; time < 5 * INTERVAL; time += 1000) {
      const [x, y] = objects.poseAt(time).position;
      worst = Math.max(worst, Math.abs(Math.hypot(x, y) - radius));
    }
    return worst;
  };
  const straight = errorOf(null);
  assert.ok(straight > 0.4 && errorOf(0.6 * radius * 20) < 0.01);
  assert.deepEqual([errorOf(1e6), errorOf(0)], [straight, straight]);
});

test("what is not finite is refused, and what is huge does no harm", () => {
  const objects = new Objects();
  objects.receive(0, 1);
  assert.equal(objects.put(INTERVAL, NaN), false);
  assert.equal(objects.put(INTERVAL, 0, { rotation: [NaN, 0, 0, 1] }), false);
  assert.equal(objects.put(INTERVAL, 0, { rotation: [0, 0, 0, 0] }), false);
  assert.equal(objects.put(0, 0, { slot: 65535 }), false);
  assert.equal(objects.put(0, 1e308), false);
  assert.equal(objects.refused, 5);
  objects.receive(INTERVAL, 1e15, { velocity: [Infinity, 0, 0] });
  objects.receive(2 * INTERVAL, -1e15, { velocity: [3e38, 3e38, 3e38] });
  for (let time = 0; time < 20 * INTERVAL; time += 3000) {
    const { position, rotation } = objects.poseAt(time);
    assert.ok([...position, ...rotation].every(Number.isFinite));
  }
});

test("a child is placed where its parent is shown", () => {
  const objects = new Objects();
  for (let tick = 0; tick < 4; tick++) {
    objects.handleSnapshot(tick * INTERVAL);
    objects.put(tick * INTERVAL, tick, { slot: 1, rotation: aboutZ(90 * tick) });
    objects.enter(SLOT, 1);
    objects.put(tick * INTERVAL, 2);
  }
  for (const tick of [0.5, 1, 1.75]) {
    const [x, y] = objects.poseAt(tick * INTERVAL).position;
    const angle = (90 * tick * Math.PI) / 180;
    near(x, tick + 2 * Math.cos(angle), 1e-4);
    near(y, 2 * Math.sin(angle), 1e-4);
    assert.deepEqual(objects.shownLocally(SLOT)?.position, [2, 0, 0]);
  }
});

test("being attached and let go moves nothing at that moment", () => {
  const objects = new Objects();
  let time = 0;
  /** @type {number[] | null} */
  let before = null;
  for (let tick = 0; tick < 40; tick++) {
    const carrier = new Pose([tick * 0.2, 50, 0], aboutZ(30));
    const world = new Pose([tick * 0.2 + 1, 51, 0], aboutZ(10));
    objects.handleSnapshot(tick * INTERVAL);
    objects.insert(1, tick * INTERVAL, carrier.position, carrier.rotation, null, -Infinity);
    const isCarried = tick >= 10 && tick < 25;
    objects.enter(SLOT, isCarried ? 1 : null);
    const pose = isCarried ? inward(carrier, world) : world;
    objects.insert(SLOT, tick * INTERVAL, pose.position, pose.rotation, null, -Infinity);
    for (let frame = 0; frame < 3; frame++) {
      time += FRAME;
      const [x, y] = objects.poseAt(Math.max(time - 100000, 0)).position;
      if (before) assert.ok(Math.hypot(x - before[0], y - before[1]) < (2 * 0.2) / 3 + 0.02, `tick ${tick}`);
      before = [x, y];
    }
  }
});

test("a child stays where it is when its parent is removed and another takes the slot", () => {
  const objects = new Objects();
  for (let tick = 0; tick < 4; tick++) {
    objects.handleSnapshot(tick * INTERVAL);
    objects.put(tick * INTERVAL, 100, { slot: 1 });
    objects.enter(SLOT, 1);
    objects.put(tick * INTERVAL, 2);
  }
  near(objects.xAt(3 * INTERVAL), 102);
  objects.remove(1);
  near(objects.xAt(3 * INTERVAL + FRAME), 102);
  objects.put(4 * INTERVAL, -7, { slot: 1 });
  near(objects.xAt(4 * INTERVAL), 102);
});

test("objects that come and go never show another's pose", () => {
  const noise = new Noise(9);
  const objects = new Objects({ objects: 1 });
  const known = new Set();
  for (let round = 1; round < 2000; round++) {
    const slot = noise.below(40);
    if (noise.below(3) === 0) {
      objects.remove(slot);
      known.delete(slot);
    } else {
      objects.put(round * 1000, slot * 10, { slot });
      known.add(slot);
    }
    objects.advance(round * 1000);
    assert.equal(objects.size, known.size);
    for (const each of known) assert.equal(objects.shown(each)?.position[0], each * 10);
  }
  objects.clear();
  assert.equal(objects.size, 0);
});

// What the player sees, from snapshots to poses, over a network that delays and loses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { aliasOf } from "../src/wire/alias.js";
import { View } from "../src/replica/view/view.js";
import { ViewEvents } from "../src/replica/view/events.js";
import { Rate } from "../src/replica/view/rate.js";
import { World } from "../src/replica/world.js";
import { Noise } from "./noise.js";
import { CLASSES, snapshot } from "./snapshots.js";

const INTERVAL = 50000;
const FRAME = 16667;

/** A server that sends twenty times a second, a route, and a client that looks in every frame. */
class Game {
  /** @param {ConstructorParameters<typeof View>[0]} [config] */
  constructor(config) {
    this.noise = new Noise(3);
    this.jitter = 0;
    this.loss = 0;
    this.now = 0;
    this.tick = 1000;
    /** @type {(tick: number) => Uint8Array} */
    this.send = (tick) => snapshot(tick, []);
    /** @type {{ at: number, bytes: Uint8Array }[]} */
    this.inFlight = [];
    this.world = new World({ classes: CLASSES });
    this.view = new View(config);
  }

  frame() {
    this.now += FRAME;
    for (; (this.tick - 1000) * INTERVAL <= this.now; this.tick++) {
      const bytes = this.send(this.tick);
      const at = (this.tick - 1000) * INTERVAL + 30000 + this.noise.unit() * this.jitter;
      if (this.noise.unit() >= this.loss) this.inFlight.push({ at, bytes });
    }
    this.inFlight.sort((a, b) => a.at - b.at);
    while (this.inFlight.length > 0 && this.inFlight[0].at <= this.now) {
      this.world.handleSnapshot(/** @type {{ bytes: Uint8Array }} */ (this.inFlight.shift()).bytes);
      this.view.handleSnapshot(this.now, this.world);
    }
    return this.view.advance(this.now);
  }

  /** @param {number} frames */
  run(frames) {
    for (let frame = 0; frame < frames; frame++) this.frame();
    return this;
  }

  /** @param {number} alias */
  x(alias) {
    return this.view.sample(alias)?.position[0];
  }
}

/** A mover that goes a metre a tick from tick 1000 on, as the view should show it. */
const walk = (/** @type {number} */ tick) => snapshot(tick, [{ slot: 0, x: tick - 1000 }]);
const walked = (/** @type {View} */ { time }) => Number(time) / INTERVAL - 1000;

test("a walker is shown where it was at view time", () => {
  const game = new Game();
  game.send = walk;
  game.run(120);
  for (let frame = 0; frame < 120; frame++) {
    game.frame();
    assert.ok(
      Math.abs(Number(game.x(0)) - walked(game.view)) < 0.02,
      `${game.x(0)}, not ${walked(game.view)}`,
    );
    assert.equal(game.view.sourceOf(0), "between");
  }
});

test("view time never goes back and runs at nearly real time, over a network that does what it wants", () => {
  const game = new Game();
  game.jitter = 80000;
  game.loss = 0.15;
  game.run(60);
  for (let frame = 0; frame < 1200; frame++) {
    const before = Number(game.view.time);
    const rate = (Number(game.frame()) - before) / FRAME;
    assert.ok(rate >= 0.92 && rate <= 1.08, String(rate));
  }
});

test("the delay covers jitter and loss, and shrinks when they are over", () => {
  const game = new Game();
  game.send = walk;
  game.run(300);
  assert.ok(Math.abs(game.view.delay.delay - 100000) < 5000);
  game.jitter = 90000;
  game.loss = 0.1;
  game.run(1200);
  assert.ok(game.view.delay.delay > 140000, String(game.view.delay.delay));
  let missing = 0;
  for (let frame = 0; frame < 600; frame++) {
    game.frame();
    if (game.view.sourceOf(0) !== "between") missing++;
  }
  assert.ok(missing < 30, `${missing} frames of 600 without a state ahead`);
  game.jitter = 0;
  game.loss = 0;
  game.run(1800);
  assert.ok(game.view.delay.delay < 105000, String(game.view.delay.delay));
});

test("a jump is shown as one, however often the server marks it", () => {
  const game = new Game();
  game.send = (tick) => {
    const x = tick < 1040 ? tick - 1000 : tick - 1000 + 200;
    return snapshot(tick, [{ slot: 0, x, jumpAge: tick >= 1040 && tick < 1050 ? tick - 1040 : undefined }]);
  };
  game.run(60);
  for (let frame = 0; frame < 200; frame++) {
    game.frame();
    const x = Number(game.x(0));
    const expected = walked(game.view) + (walked(game.view) < 40 ? 0 : 200);
    // In the interval before the jump it stands where it was.
    assert.ok(
      Math.abs(x - expected) < 0.05 || (walked(game.view) > 39 && walked(game.view) < 40),
      `${x}, ${expected}`,
    );
  }
});

test("what left is shown until the view gets there, and its slot shows the next object", () => {
  const game = new Game();
  game.send = (tick) => {
    if (tick < 1060) return walk(tick);
    return tick === 1060
      ? snapshot(tick, [], [{ slot: 0 }])
      : snapshot(tick, [], [{ slot: 0, age: tick - 1060 }]);
  };
  let last = 0;
  let hasLeftWorld = false;
  for (let frame = 0; frame < 400; frame++) {
    game.frame();
    hasLeftWorld ||= game.tick > 1062 && game.world.object(0) === undefined;
    if (game.x(0) !== undefined) last = Number(game.view.time);
  }
  assert.ok(hasLeftWorld && game.x(0) === undefined);
  assert.ok(Math.abs(last - 1060 * INTERVAL) < 2 * FRAME, String(last - 1060 * INTERVAL));
  game.send = (tick) => snapshot(tick, [{ slot: 0, generation: 1, x: 77 }]);
  game.run(30);
  assert.equal(game.x(0), undefined, "of the one before");
  assert.equal(game.x(aliasOf(0, 1)), 77);
});

test("without interpolation the view is at the newest snapshot, and back behind it with interpolation", () => {
  const game = new Game();
  game.send = (tick) => (tick < 1100 ? walk(tick) : snapshot(tick, [], [{ slot: 0, age: tick - 1100 }]));
  game.run(120);
  game.view.setInterpolating(false);
  for (let frame = 0; frame < 60; frame++) {
    game.frame();
    assert.equal(game.view.time, game.view.timeOf(game.world.tick));
  }
  game.view.setInterpolating(true);
  const newest = game.view.timeOf(game.world.tick);
  assert.ok(newest - Number(game.frame()) > 50000, "behind again at once");
  assert.ok(Math.abs(Number(game.x(0)) - walked(game.view)) < 0.05);
  const before = Number(game.view.time);
  assert.ok(Number(game.frame()) > before, "and goes on from there");
  game.view.setInterpolating(false);
  for (let hasLeft = false; !hasLeft;) {
    game.frame();
    hasLeft = game.world.object(0) === undefined;
    assert.equal(game.x(0) === undefined, hasLeft, "what left is gone at once");
  }
});

test("a slot that changes hands faster than anybody looks keeps nothing of it", () => {
  const game = new Game();
  for (let tick = 1; tick < 300; tick++) {
    game.world.handleSnapshot(snapshot(tick, [{ slot: 0, generation: tick & 255, x: tick % 300 }]));
    game.view.handleSnapshot(tick, game.world);
  }
  assert.equal(game.view.leaving.length, 0);
  assert.equal(game.view.objects.size, 1);
});

test("a passenger is shown on its carrier", () => {
  const game = new Game();
  game.send = (tick) =>
    snapshot(tick, [
      { slot: 0, x: tick - 1000 },
      { slot: 1, x: 2, parent: 0 },
    ]);
  game.run(150);
  assert.ok(Math.abs(Number(game.x(1)) - walked(game.view) - 2) < 0.03);
  assert.deepEqual(game.view.sampleLocally(1)?.position, [2, 0, 0]);
});

test("objects without a place are not shown, and each gives those that are", () => {
  const game = new Game();
  game.send = (tick) =>
    snapshot(tick, [
      { slot: 0, x: 1 },
      { slot: 1, level: 3 },
      { slot: 2, x: 5 },
    ]);
  game.run(30);
  /** @type {[number, number][]} */
  const seen = [];
  game.view.each((alias, { position }) => seen.push([alias, position[0]]));
  assert.deepEqual(seen, [
    [0, 1],
    [2, 5],
  ]);
  assert.equal(game.view.sample(1), null);
});

test("times of ticks go on when the counter wraps", () => {
  const [world, view] = [new World({ classes: CLASSES }), new View()];
  world.startNear(2 ** 32 - 2, 0);
  for (let tick = 0; tick < 5; tick++) {
    world.handleSnapshot(snapshot((2 ** 32 - 2 + tick) & 0xffff, []));
    view.handleSnapshot(tick * INTERVAL, world);
  }
  assert.equal(world.newest, 2);
  assert.equal(view.timeOf(2) - view.timeOf(2 ** 32 - 2), 4 * INTERVAL);
});

test("a server that was restarted or a tab that slept is caught up with, and it is said", () => {
  const game = new Game();
  game.send = walk;
  game.run(200);
  const before = Number(game.view.time);
  game.tick += 600;
  game.send = (tick) => snapshot(tick, [{ slot: 0, x: 5 }]);
  for (let frame = 0; frame < 60; frame++) {
    game.now += FRAME;
    if (frame % 3 === 0) {
      game.world.handleSnapshot(game.send(game.tick++));
      game.view.handleSnapshot(game.now, game.world);
    }
    game.view.advance(game.now);
  }
  const jump = game.view.pollResync();
  assert.ok(jump !== null && jump > 20e6 && Number(game.view.time) > before + 20e6, String(jump));
  assert.equal(game.view.pollResync(), null);
});

test("without anybody to look time passes and nothing is shown", () => {
  const game = new Game({ isHeadless: true });
  game.send = walk;
  game.run(100);
  assert.ok(Number(game.view.time) > 0 && game.view.sample(0) === null);
  assert.deepEqual(game.view.viewTime(60)?.step, Math.floor((Number(game.view.time) * 60) / 1e6));
});

test("steps and times go together at every rate", () => {
  for (const perSecond of [1, 3, 20, 60, 128, 999]) {
    const rate = new Rate("rate", perSecond);
    for (const step of [1, 2, 59, 100000, 2 ** 32]) {
      assert.equal(rate.stepAt(rate.timeOf(step)), step);
      assert.equal(rate.stepAt(rate.timeOf(step) - 1), step - 1);
    }
  }
  assert.throws(() => new View({ ticksPerSecond: 0 }), /ticksPerSecond = 0 is not allowed: use 1 to 1,000/);
});

test("events are given once, in order, and not before their time", () => {
  for (let seed = 0; seed < 30; seed++) {
    const noise = new Noise(seed);
    /** @type {ViewEvents<number>} */
    const events = new ViewEvents({ waitingMax: 64 });
    const times = Array.from({ length: 60 }, () => ({
      time: noise.below(1000),
      isAtView: noise.below(2) === 0,
    }));
    times.forEach(({ time, isAtView }, number) => assert.ok(events.push(0, time, isAtView, number)));
    /** @type {number[]} */
    const given = [];
    const step = 1 + noise.below(300);
    for (let viewTime = 0; viewTime < 1400; viewTime += step) {
      for (let due = events.poll(viewTime); due; due = events.poll(viewTime)) {
        const { time, isAtView } = times[due.payload];
        assert.ok(!isAtView || viewTime === 0 || (time <= viewTime && viewTime < time + step));
        given.push(due.payload);
      }
    }
    const due = (/** @type {number} */ number) => (times[number].isAtView ? times[number].time : -1);
    assert.deepEqual(
      given,
      times.map((_, number) => number).sort((a, b) => due(a) - due(b) || a - b),
    );
  }
});

test("a full queue and a time far ahead are refused and counted, and one that comes too late says so", () => {
  /** @type {ViewEvents<string>} */
  const events = new ViewEvents({ waitingMax: 2, aheadUsMax: 2000000 });
  assert.equal(events.push(0, 2000001, true, "far"), false);
  assert.equal(events.push(0, NaN, true, "never"), false);
  assert.ok(events.push(500, 400, true, "late") && events.push(500, 9e9, false, "chat"));
  assert.equal(events.push(500, 500, true, "full"), false);
  assert.equal(events.poll(500)?.payload, "chat");
  assert.deepEqual(events.poll(500), { time: 400, late: 100, payload: "late" });
  assert.deepEqual(events.counters, { given: 2, late: 1, refusedFull: 1, refusedAhead: 2 });
  assert.throws(() => new ViewEvents({ waitingMax: 0 }), /waitingMax = 0/);
});

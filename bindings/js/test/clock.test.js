// What a client makes of the server's clock, and how far its view lies behind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerClock } from "../src/replica/view/clock.js";
import { ViewDelay } from "../src/replica/view/delay.js";
import { Noise } from "./noise.js";

const INTERVAL = 50000;
const FRAME = 16667;
/** What the server's clock shows when the client's shows nothing. */
const SERVER_START = 7e9;

/** A server that sends every 50 ms, a route, and a client that looks in every frame. */
class Route {
  /**
   * @param {number} delay
   * @param {number} jitter
   * @param {number} loss
   * @param {number} ppm how much faster the server's clock runs
   */
  constructor(delay, jitter, loss, ppm) {
    this.delay = delay;
    this.jitter = jitter;
    this.loss = loss;
    this.ppm = ppm;
    this.noise = new Noise(delay * 7 + jitter);
    this.now = 0;
    this.next = 0;
    this.inFlight = /** @type {{ at: number, time: number }[]} */ ([]);
    this.clock = new ServerClock();
  }

  /** @param {number} now */
  serverTime(now) {
    return SERVER_START + now * (1 + this.ppm * 1e-6);
  }

  /** One frame; the reading. */
  frame() {
    this.now += FRAME;
    for (; this.next <= this.now; this.next += INTERVAL) {
      const at = this.next + this.delay + this.noise.unit() * this.jitter;
      if (this.noise.unit() < this.loss) continue;
      this.inFlight.push({ at, time: this.serverTime(this.next) });
      if (this.noise.below(20) === 0) {
        this.inFlight.push({ at: at + 30000, time: this.serverTime(this.next) });
      }
    }
    this.inFlight.sort((a, b) => a.at - b.at);
    while (this.inFlight.length > 0 && this.inFlight[0].at <= this.now) {
      this.clock.handleSnapshot(this.now, Number(this.inFlight.shift()?.time));
    }
    return this.clock.advance(this.now);
  }

  /**
   * Every frame must move the reading by nearly as much as it took.
   * @param {number} seconds
   */
  run(seconds) {
    for (let frame = 0; frame < (seconds * 1e6) / FRAME; frame++) {
      const before = this.clock.reading;
      const after = this.frame();
      if (before === null || after === null) continue;
      const rate = (after - before) / FRAME;
      assert.ok(rate >= 0.978 && rate <= 1.022, `the reading ran at ${rate}`);
    }
    return this;
  }

  error() {
    return Number(this.clock.reading) - this.serverTime(this.now - this.delay);
  }
}

test("the reading settles on the least delayed snapshots on any route", () => {
  for (const delay of [0, 25000, 150000]) {
    for (const jitter of [0, 20000, 80000]) {
      for (const loss of [0, 0.2]) {
        for (const ppm of [-500, 0, 200]) {
          const route = new Route(delay, jitter, loss, ppm).run(20);
          for (let look = 0; look < 5; look++) {
            const error = route.run(5).error();
            const isRight = error >= -(FRAME + jitter / 8 + 2000) && error <= 4500;
            assert.ok(isRight, `${delay} ${jitter} ${loss} ${ppm}: ${error} µs off`);
          }
          assert.equal(route.clock.resyncs, 0);
        }
      }
    }
  }
});

test("drift is found within 50 ppm, and within 150 under heavy jitter", () => {
  for (const ppm of [-800, 0, 200]) {
    for (const [jitter, allowed] of [
      [0, 50],
      [80000, 150],
    ]) {
      const found = new Route(30000, jitter, 0.05, ppm).run(100).clock.driftPpm;
      assert.ok(Math.abs(found - ppm) < allowed, `${jitter} µs of jitter, ${ppm} ppm: ${found}`);
    }
  }
});

test("jitter, interval and needed delay are what the route does", () => {
  const { clock } = new Route(40000, 60000, 0, 0).run(30);
  assert.ok(clock.jitter >= 50000 && clock.jitter < 80000, String(clock.jitter));
  assert.ok(clock.typicalLateness >= 20000 && clock.typicalLateness < 50000);
  assert.ok(Math.abs(clock.sendInterval - INTERVAL) < 5000);
  assert.ok(new Route(40000, 0, 0, 0).run(30).clock.neededDelay < INTERVAL + FRAME + 3000);
  const lossy = new Route(40000, 0, 0.15, 0).run(30).clock.neededDelay;
  assert.ok(lossy >= 2 * INTERVAL && lossy < 2 * INTERVAL + FRAME + 3000, String(lossy));
});

test("a slower route is followed without a jump, and a faster one too", () => {
  const route = new Route(40000, 5000, 0, 0).run(20);
  route.delay = 120000;
  assert.ok(Math.abs(route.run(25).error()) < 20000);
  route.delay = 20000;
  assert.ok(Math.abs(route.run(15).error()) < 20000);
  assert.equal(route.clock.resyncs, 0);
});

test("one mad server time changes nothing", () => {
  const route = new Route(40000, 10000, 0, 0).run(10);
  for (const mad of [0, 1, SERVER_START + 5e8, Number.MAX_SAFE_INTEGER]) {
    const before = route.error();
    route.clock.handleSnapshot(route.now, mad);
    assert.ok(Math.abs(route.run(3).error() - before) < 5000, `${mad}`);
  }
});

test("a client that slept while its clock stood still is resynced once and says by how much", () => {
  const route = new Route(40000, 20000, 0.1, 100).run(10);
  const { clock } = route;
  const jumps = [];
  for (let frame = 0; frame < 200; frame++) {
    const now = route.now + frame * FRAME;
    if (frame % 3 === 0) clock.handleSnapshot(now, route.serverTime(now) - 40000 + 9e6);
    clock.advance(now);
    const jump = clock.pollResync();
    if (jump !== null) jumps.push(jump);
  }
  assert.equal(jumps.length, 1);
  assert.ok(Math.abs(jumps[0] - 9e6) < 30000, String(jumps[0]));
});

test("a paused client whose clock ran on needs no resync, and blames the network for nothing", () => {
  const route = new Route(40000, 0, 0, 0).run(10);
  const before = route.clock.jitter;
  route.now += 60e6;
  route.frame();
  for (let frame = 0; frame < 120; frame++) route.frame();
  assert.equal(route.clock.resyncs, 0);
  assert.ok(Math.abs(route.error()) < 25000, String(route.error()));
  assert.ok(route.clock.jitter < before + 20000, String(route.clock.jitter));
});

test("a restarted server is followed back", () => {
  const { clock, now: start } = new Route(40000, 10000, 0, 0).run(10);
  for (let frame = 0; frame < 60; frame++) {
    clock.handleSnapshot(start + frame * FRAME, frame * FRAME);
    clock.advance(start + frame * FRAME);
  }
  assert.ok(Number(clock.pollResync()) < -6e9);
  assert.ok(Number(clock.reading) < 1.1e6);
});

test("a restarted server is followed by a client that looks once a second", () => {
  for (const [look, jump] of [
    [150000, 3.6e9],
    [1e6, 3.6e9],
    [1e6, -3.6e9],
  ]) {
    const clock = new ServerClock();
    let [sent, now] = [0, 0];
    for (let number = 0; number < 40; number++) {
      now += look;
      for (; sent + 40000 <= now; sent += INTERVAL) {
        clock.handleSnapshot(now, SERVER_START + sent + (number >= 20 ? jump : 0));
      }
      clock.advance(now);
    }
    const error = Number(clock.reading) - jump - SERVER_START - now;
    assert.ok(Math.abs(error) < 300000, `${look}: ${error} µs off`);
    assert.equal(clock.resyncs, 1);
  }
});

test("nothing that arrives makes the reading go back without a resync", () => {
  for (let seed = 0; seed < 50; seed++) {
    const [noise, clock] = [new Noise(seed), new ServerClock()];
    let now = 0;
    /** @type {number | null} */
    let before = null;
    for (let sample = 0; sample < 200; sample++) {
      const kind = noise.below(4);
      const time = [noise.unit() * 1e15, now + noise.unit() * 1e6, now + 5e6, now + 4.9e6][kind];
      now = kind === 0 ? noise.unit() * 1e13 : now + noise.unit() * 1e5;
      clock.handleSnapshot(now, time);
      const reading = clock.advance(now);
      assert.ok(clock.pollResync() !== null || Number(reading) >= Number(before), `seed ${seed}`);
      before = reading;
    }
  }
});

test("the delay grows at once with what is needed, shrinks after four calm seconds, and never leaps", () => {
  const delay = new ViewDelay({ delayUs: 100000 });
  let now = 0;
  const run = (/** @type {number} */ seconds, /** @type {number} */ needed) => {
    for (const end = now + seconds * 1e6; now < end; now += FRAME) {
      const before = delay.delay;
      const after = delay.advance(now, INTERVAL, needed);
      assert.ok(Math.abs(after - before) <= 0.05 * FRAME + 1e-6);
    }
    return delay.delay;
  };
  assert.equal(run(1, 60000), 100000);
  run(0.1, 200000);
  assert.equal(delay.target, 205000);
  assert.ok(Math.abs(run(6, 200000) - 205000) < 1000);
  run(3, 60000);
  assert.equal(delay.target, 205000, "not yet");
  assert.ok(run(6, 60000) < 101000);
  assert.ok(run(20, 9e6) > 499000, "and no more than half a second");
  assert.equal(new ViewDelay({ delayUs: 50000, isAdaptive: false }).advance(0, 20000, 300000), 50000);
  assert.throws(() => delay.set(49999), /50,000 to 500,000/);
});

// What a client makes of the server's clock, and how far it runs ahead of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputClock } from "../src/replica/predict/input_clock.js";
import { isNewer } from "../src/replica/tick.js";
import { ServerClock } from "../src/replica/view/clock.js";
import { ViewDelay } from "../src/replica/view/delay.js";
import { Noise } from "./noise.js";

const INTERVAL = 50000;
const FRAME = 16667;
const STEP = 1e6 / 60;
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
      if (this.noise.below(20) === 0) this.inFlight.push({ at: at + 30000, time: this.serverTime(this.next) });
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
    for (const [jitter, allowed] of [[0, 50], [80000, 150]]) {
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
  for (const [look, jump] of [[150000, 3.6e9], [1e6, 3.6e9], [1e6, -3.6e9]]) {
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

/** A client and a server over a route, in the client's time. */
class Loop {
  /**
   * @param {number} rtt
   * @param {number} jitter
   * @param {number} ppm
   */
  constructor(rtt, jitter, ppm) {
    this.noise = new Noise(rtt + 3 * jitter);
    this.oneWay = rtt / 2;
    this.jitter = jitter;
    this.ppm = ppm;
    this.now = 3e6;
    this.clock = new ServerClock();
    this.input = new InputClock();
    this.up = /** @type {{ at: number, step: number }[]} */ ([]);
    this.down = /** @type {{ at: number, sent: number, feedback: { step: number, slack: number } | null }[]} */ ([]);
    this.feedback = /** @type {{ step: number, slack: number } | null} */ (null);
    this.newest = -1;
    this.nextSnapshot = 3e6;
    this.slacks = /** @type {number[]} */ ([]);
    this.newestSlacks = /** @type {number[]} */ ([]);
    /** Whether something else than the frames reads what arrives, and when it does. */
    this.hasOwnReader = false;
  }

  /** @param {number} now */
  serverTime(now) {
    return now * (1 + this.ppm * 1e-6);
  }

  way() {
    return this.oneWay + this.noise.unit() * this.jitter;
  }

  serve() {
    this.up.sort((a, b) => a.at - b.at);
    for (let head = this.up[0]; head && head.at <= this.now; head = this.up[0]) {
      this.up.shift();
      const first = this.feedback === null ? head.step : this.feedback.step + 1;
      if (first > head.step) continue;
      const slackOf = (/** @type {number} */ step) => step * STEP - this.serverTime(head.at);
      for (let step = first; step <= head.step; step++) this.slacks.push(slackOf(step));
      const slack = slackOf(head.step);
      this.newestSlacks.push(slack);
      const smooth = this.feedback === null ? slack : this.feedback.slack + (slack - this.feedback.slack) / 8;
      this.feedback = { step: head.step, slack: smooth };
    }
    for (; this.nextSnapshot <= this.now; this.nextSnapshot += INTERVAL) {
      const at = this.nextSnapshot + this.way();
      if (this.noise.unit() > 0.1) this.down.push({ at, sent: this.nextSnapshot, feedback: this.feedback });
    }
  }

  /** @param {number} passed */
  frame(passed) {
    this.now += passed;
    this.serve();
    this.down.sort((a, b) => a.at - b.at);
    for (let head = this.down[0]; head && head.at <= this.now; head = this.down[0]) {
      this.down.shift();
      this.clock.handleSnapshot(this.hasOwnReader ? head.at : this.now, this.serverTime(head.sent));
      if (head.feedback !== null) this.input.handleSlack(head.feedback.step, head.feedback.slack);
      this.clock.handleRtt(2 * this.oneWay + this.jitter);
    }
    this.clock.advance(this.now);
    const steps = this.input.pollSteps(this.now, this.clock);
    assert.ok(steps.count <= 8);
    if (steps.count > 0) {
      assert.ok(steps.first > this.newest, `step ${steps.first} again`);
      this.newest = steps.first + steps.count - 1;
      this.up.push({ at: this.now + this.way(), step: this.newest });
    }
    return steps;
  }

  /** @param {number} seconds @param {number} [frame] */
  run(seconds, frame = FRAME) {
    for (let passed = 0; passed < seconds * 1e6; passed += frame) this.frame(frame);
  }

  /** @param {number} seconds */
  meanSlack(seconds) {
    this.slacks = [];
    this.newestSlacks = [];
    this.run(seconds);
    return this.newestSlacks.reduce((sum, slack) => sum + slack, 0) / this.newestSlacks.length;
  }
}

test("slack stays within a step of its target on any route and with drifting clocks", () => {
  for (const rtt of [0, 30000, 100000, 300000]) {
    for (const jitter of [0, 20000, 80000]) {
      for (const ppm of [-200, 200]) {
        const loop = new Loop(rtt, jitter, ppm);
        loop.run(12);
        for (let look = 0; look < 5; look++) {
          const [slack, target] = [loop.meanSlack(3), loop.input.targetSlack];
          assert.ok(Math.abs(slack - target) < STEP, `${rtt} ${jitter} ${ppm}: slack ${slack}, target ${target}`);
        }
        const late = loop.slacks.filter((slack) => slack < 0).length;
        assert.ok(late * 20 <= loop.slacks.length, `${late} of ${loop.slacks.length} came late`);
      }
    }
  }
});

test("no step is late wherever steps and frames meet", () => {
  for (const frame of [33300, 33367, 16650, 16690, 20000, 25100]) {
    const loop = new Loop(100000, 0, 30);
    loop.hasOwnReader = true;
    loop.run(20, frame);
    loop.slacks = [];
    loop.run(60, frame);
    const least = Math.min(...loop.slacks);
    assert.ok(least > 0, `${least} µs with frames of ${frame} µs`);
  }
});

test("a slack finds its step by 16 bits", () => {
  const [clock, input] = [new ServerClock(), new InputClock()];
  clock.handleSnapshot(0, 2e9);
  const steps = input.pollSteps(0, clock);
  assert.ok(steps.count > 0 && steps.first > 0xffff);
  input.handleSlack(steps.first & 0xffff, 5000);
  assert.equal(input.expectedSlack, 5000);
});

test("the steps of a second are those of the server within the dilation, and the first come in time", () => {
  const loop = new Loop(80000, 10000, 150);
  loop.run(10);
  let steps = 0;
  for (let frame = 0; frame < 600; frame++) steps += loop.frame(FRAME).count;
  assert.ok(steps >= 598 && steps <= 602, `${steps} in ten seconds`);
  const far = new Loop(200000, 0, 0);
  far.run(1);
  assert.ok(far.slacks.length > 0 && far.slacks.every((slack) => slack > 0));
});

test("a route that becomes slower makes steps shorter and skips none", () => {
  const loop = new Loop(40000, 0, 0);
  loop.run(10);
  loop.oneWay += 60000;
  let skipped = 0;
  for (let frame = 0; frame < 600; frame++) skipped += loop.frame(FRAME).skipped;
  assert.ok(Math.abs(loop.meanSlack(2) - loop.input.targetSlack) < STEP);
  assert.equal(skipped, 0);
});

test("after a long pause steps are skipped, and after a short one made up", () => {
  const loop = new Loop(40000, 0, 0);
  loop.run(5);
  const short = loop.frame(100000);
  assert.deepEqual([short.count, short.skipped], [6, 0]);
  const long = loop.frame(3e6);
  assert.equal(long.count, 8);
  assert.ok(long.skipped >= 165 && long.skipped <= 180, String(long.skipped));
  loop.run(5);
  assert.ok(Math.abs(loop.meanSlack(2) - loop.input.targetSlack) < STEP);
});

test("a client whom the server has left behind goes by the clock", () => {
  const [clock, input] = [new ServerClock(), new InputClock()];
  let newest = 0;
  for (let frame = 0; frame < 120; frame++) {
    const now = frame * FRAME;
    const simulated = Math.floor((60 * now) / 1e6) + 600;
    if (frame % 3 === 0) clock.handleSnapshot(now, 10e6 + now);
    if (frame > 0 && frame % 3 === 0) {
      input.handleFeedback({ tick: frame, step: simulated, slack: frame < 60 ? 108 : null });
    }
    clock.advance(now);
    const steps = input.pollSteps(now, clock);
    if (steps.count > 0) newest = steps.first + steps.count - 1;
    assert.ok(frame < 80 || newest > simulated, `${newest} is made when ${simulated} is over`);
  }
});

test("without feedback the lead follows the round trip", () => {
  const [clock, input] = [new ServerClock(), new InputClock()];
  clock.handleRtt(100000);
  let given = 0;
  for (let frame = 0; frame < 600; frame++) {
    const now = frame * FRAME;
    if (frame % 3 === 0) clock.handleSnapshot(now, now + 5e6);
    clock.advance(now);
    const steps = input.pollSteps(now, clock);
    if (steps.count > 0) given = steps.first + steps.count - 1;
  }
  const lead = given * STEP - (599 * FRAME + 5e6);
  assert.ok(lead >= 100000 + STEP && lead < 100000 + 3 * STEP, String(lead));
  assert.equal(input.expectedSlack, null);
  assert.equal(input.phase?.step, given);
});

test("whatever is reported, steps are few and never given twice", () => {
  for (let seed = 0; seed < 60; seed++) {
    const [noise, clock, input] = [new Noise(seed), new ServerClock(), new InputClock()];
    let [now, newest] = [1e6, -1];
    for (let frame = 0; frame < 200; frame++) {
      const kind = noise.below(8);
      now = Math.max(now + (kind === 0 ? -1 : 1) * noise.unit() * 200000, 0);
      if (kind > 2) clock.handleSnapshot(now, now + 9e6);
      const step = newest >= 0 && kind > 1 ? newest - noise.below(4) : noise.next();
      input.handleSlack(step, (noise.unit() - 0.5) * 1e18);
      clock.advance(now);
      const { resyncs } = clock;
      const steps = input.pollSteps(now, clock);
      assert.ok(steps.count <= 8);
      if (steps.count === 0) continue;
      assert.ok(resyncs > 0 || newest < 0 || isNewer(steps.first, newest), `seed ${seed}`);
      newest = (steps.first + steps.count - 1) >>> 0;
    }
  }
});

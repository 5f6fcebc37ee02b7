// How far a client runs ahead of the server, so that its inputs come in time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputClock } from "../src/replica/predict/input_clock.js";
import { isNewer } from "../src/replica/tick.js";
import { ServerClock } from "../src/replica/view/clock.js";
import { Noise } from "./noise.js";

const INTERVAL = 50000;
const FRAME = 16667;
const STEP = 1e6 / 60;

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
    /** Messages that do not arrive, of all. */
    this.loss = 0;
    this.now = 3e6;
    this.clock = new ServerClock();
    this.input = new InputClock();
    this.up = /** @type {{ at: number, step: number }[]} */ ([]);
    this.down =
      /** @type {{ at: number, sent: number, feedback: { step: number, slack: number } | null }[]} */ ([]);
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
      const at = this.now + this.way();
      if (this.loss === 0 || this.noise.unit() >= this.loss) this.up.push({ at, step: this.newest });
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
          assert.ok(
            Math.abs(slack - target) < STEP,
            `${rtt} ${jitter} ${ppm}: slack ${slack}, target ${target}`,
          );
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

test("where messages get lost two in a row make nothing late", () => {
  const [unaware, aware] = [0, 0.05].map((told) => {
    const loop = new Loop(150000, 0, 0);
    loop.loss = 0.05;
    loop.input.handleLoss(told);
    loop.run(20);
    loop.slacks = [];
    loop.run(300);
    return loop.slacks.filter((slack) => slack < 0).length / loop.slacks.length;
  });
  assert.ok(unaware > 0.002 && aware * 8 < unaware, `${unaware} and ${aware} of all are late`);
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

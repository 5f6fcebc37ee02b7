// What is shown never moves faster than about twice as fast as the object, whatever the network does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { arcRadians } from "../src/replica/view/space.js";
import { Noise } from "./noise.js";
import { INTERVAL, Objects, SLOT, aboutZ, near } from "./objects.js";

/** @typedef {import("../src/replica/view/space.js").Pose} Pose */

/** Metres a second: no motion below is faster. */
const SPEED = 8;
const DEGREES_PER_METRE = 20;

/**
 * Sends twenty seconds of a walk through the weather, then five calm ones, and looks at every frame.
 * @param {number} seed
 */
function show(seed) {
  const noise = new Noise(seed);
  const jitter = noise.unit() * 80000;
  const loss = noise.unit() * 0.2;
  const delay = 75000 + noise.unit() * 225000;
  const frame = noise.pick([6944, 16667, 33333]);
  const hasVelocity = noise.below(2) === 0;
  const outageStart = noise.unit() * 15e6;
  const outageEnd = outageStart + noise.unit() * 1.5e6;
  const objects = new Objects();
  /** @type {{ at: number, tick: number, x: number | null, velocity: number[] | null }[]} */
  const inFlight = [];
  let [x, speed, ticksLeft, changed] = [0, SPEED, 20, 0];
  // The server repeats a state until it hears, three ticks later, that one of them arrived.
  let arrived = -Infinity;
  /** @type {number[]} */
  const arrivals = [];
  for (let tick = 0; tick < 500; tick++) {
    const isCalm = tick >= 400;
    if (tick === 440) [speed, ticksLeft] = [0, 1000];
    if (ticksLeft-- === 0) {
      [speed, ticksLeft] = [noise.pick([0, SPEED, -SPEED, SPEED / 2]), 4 + noise.below(25)];
    }
    x += speed * INTERVAL * 1e-6;
    if (speed !== 0) changed = tick;
    while (arrivals.length > 0 && arrivals[0] + 3 <= tick) arrived = Number(arrivals.shift());
    const isKnown = arrived >= changed;
    const sent = tick * INTERVAL;
    const late = isCalm ? 0 : noise.unit() * jitter;
    if (!isCalm && (noise.unit() < loss || (sent >= outageStart && sent < outageEnd))) continue;
    inFlight.push({
      at: sent + late,
      tick,
      x: isKnown ? null : x,
      velocity: hasVelocity ? [speed, 0, 0] : null,
    });
    if (!isKnown) arrivals.push(tick);
  }
  inFlight.sort((a, b) => a.at - b.at);
  /** @type {Pose | null} */
  let shown = null;
  for (let now = 0; now < 500 * INTERVAL; now += frame) {
    while (inFlight.length > 0 && inFlight[0].at <= now) {
      const { tick, x, velocity } = /** @type {(typeof inFlight)[0]} */ (inFlight.shift());
      objects.handleSnapshot(tick * INTERVAL);
      if (x !== null) objects.put(tick * INTERVAL, x, { rotation: aboutZ(x * DEGREES_PER_METRE), velocity });
    }
    objects.advance(Math.max(now - delay, 0));
    const next = objects.shown(SLOT);
    if (next !== null && shown !== null) {
      const limit = 2 * SPEED * frame * 1e-6;
      const moved = Math.abs(next.position[0] - shown.position[0]);
      const turned = (arcRadians(next.rotation, 0, shown.rotation, 0) * 360) / Math.PI;
      const isWithin = moved <= limit + 0.01 && turned <= limit * DEGREES_PER_METRE + 0.5;
      assert.ok(isWithin, `seed ${seed} at ${now} µs: moved by ${moved}, turned by ${turned}, of ${limit}`);
    }
    shown = next ?? shown;
  }
  near(Number(shown?.position[0]), x, 0.01, `seed ${seed}, at the end`);
}

test("nothing is shown faster than twice its object, and all converges when the network calms", () => {
  for (let seed = 1; seed <= 60; seed++) show(seed);
});

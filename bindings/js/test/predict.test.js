// A client ahead of its server: in agreement, corrected, cut off.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fields, errorOf } from "../src/replica/predict/fields.js";
import { Predictor } from "../src/replica/predict/predict.js";
import { PredictedSpawns, spawnKey } from "../src/replica/predict/spawns.js";
import { PROFILES, putTriple, tripleOf } from "../src/wire/quantize.js";
import { putQuaternion, putRotation } from "../src/wire/rotation.js";
import { Noise } from "./noise.js";

/** @typedef {{ position: number[], yaw: number, stamina: number }} Runner */
/** @typedef {[number, number]} Input forward, and how far it turns: bytes */

/** @type {Runner} */
const START = { position: [0, 0, 0], yaw: 0, stamina: 60000 };
/** @type {Input} */
const AHEAD = [255, 0];
/** @type {Input} */
const STILL = [0, 0];

/** @param {Runner} runner @param {Input} input @returns {Runner} */
function step({ position: [x, y, z], yaw, stamina }, [forward, turn]) {
  const turned = yaw + (turn / 255) * 0.2;
  const way = ((forward / 255) * 6) / 60;
  const position = [x + way * Math.cos(turned), y + way * Math.sin(turned), z];
  return { position, yaw: turned, stamina: stamina - (forward > 200 ? 1 : 0) };
}

/** @param {number} yaw */
const facing = (yaw) => [0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)];

const RUN = {
  step,
  describe(/** @type {Runner} */ runner, /** @type {Fields} */ fields) {
    fields.position("position", "standard", runner.position);
    fields.rotation("rotation", "standard", facing(runner.yaw));
    fields.whole("stamina", runner.stamina);
  },
};

/** @param {import("../src/replica/predict/predict.js").PredictConfig} [config] @param {number} [at] */
const predictor = (config, at = 0) =>
  /** @type {Predictor<Runner, Input>} */ (new Predictor(RUN, at, START, config));

/** What the wire makes of a state. @param {Runner} runner @returns {Runner} */
function sent(runner) {
  const words = new Int32Array(4);
  putTriple(PROFILES[0].position, runner.position, words, 0);
  const position = tripleOf(PROFILES[0].position, words, 0);
  putRotation(PROFILES[0].rotation, facing(runner.yaw), words, 0);
  const [, , z, w] = putQuaternion(PROFILES[0].rotation, words, 0, [0, 0, 0, 0]);
  return { ...runner, position, yaw: 2 * Math.atan2(z, w) };
}

/** @param {Predictor<Runner, Input>} own @param {number} first @param {number} last @param {Input} input */
function run(own, first, last, input) {
  for (let number = first; number <= last; number++) assert.equal(own.applyLocal(number, input), "done");
}

/** @param {Runner} from @param {number} steps @param {Input} input */
function moved(from, steps, input) {
  let runner = from;
  for (let number = 0; number < steps; number++) runner = step(runner, input);
  return runner;
}

/** @param {any} answer @returns {import("../src/replica/predict/predict.js").Correction} */
function correction(answer) {
  assert.equal(typeof answer, "object", String(answer));
  return answer;
}

/** @param {Predictor<Runner, Input>} own */
const corrections = ({ report }) => report.small + report.medium + report.large;

test("an input moves the object in the call that brings it", () => {
  const own = predictor();
  own.applyLocal(1, AHEAD);
  assert.deepEqual(own.state, moved(START, 1, AHEAD));
  assert.equal(own.view().position[0], own.state.position[0]);
  assert.ok(Math.abs(own.viewBetween(0.5).position[0] - own.state.position[0] / 2) < 1e-9);
});

test("a server that agrees corrects nothing", () => {
  for (let seed = 0; seed < 40; seed++) {
    const [noise, own] = [new Noise(seed), predictor()];
    const [behind, every] = [1 + noise.below(20), 1 + noise.below(3)];
    const inputs = Array.from(
      { length: 200 },
      () => /** @type {Input} */ ([noise.below(256), noise.below(256)]),
    );
    let server = START;
    inputs.forEach((input, number) => {
      own.applyLocal(number + 1, input);
      const past = number + 1 - behind;
      if (past <= 0) return;
      server = step(server, inputs[past - 1]);
      if (past % every === 0) assert.equal(own.handleState(past, sent(server)), "confirmed", `seed ${seed}`);
    });
    assert.equal(corrections(own), 0);
  }
});

test("after a correction the present is what follows from the server, and stays so", () => {
  for (let seed = 0; seed < 40; seed++) {
    const [noise, own] = [new Noise(seed), predictor()];
    const inputs = Array.from(
      { length: 60 },
      () => /** @type {Input} */ ([noise.below(256), noise.below(256)]),
    );
    const pushedAt = 5 + noise.below(15);
    let [server, count] = [START, 0];
    inputs.forEach((input, number) => {
      own.applyLocal(number + 1, input);
      const past = number - 8;
      if (past < 0) return;
      server = step(server, inputs[past]);
      if (past === pushedAt) {
        server = { ...server, position: [server.position[0] + 0.5, server.position[1] - 1, 0] };
      }
      const told = sent(server);
      if (typeof own.handleState(past + 1, told) === "string") return;
      count++;
      assert.deepEqual(own.state, inputs.slice(past + 1, number + 1).reduce(step, told));
    });
    assert.equal(count, 1, "once, and never again");
  }
});

test("the view does not move when a correction comes, and then goes to the present", () => {
  const own = predictor();
  run(own, 1, 10, [200, 3]);
  const before = own.view();
  const {
    position: [x, y],
    ...rest
  } = moved(START, 4, [200, 3]);
  const answer = correction(
    own.handleState(4, { ...rest, position: [x + 0.7, y - 0.4, 0], yaw: rest.yaw + 0.5 }),
  );
  assert.equal(answer.severity, "medium");
  own.view().position.forEach((axis, at) => assert.ok(Math.abs(axis - before.position[at]) < 1e-9));
  let left = Infinity;
  for (let frame = 0; frame < 400; frame++) {
    own.advanceView(5000);
    const distance = Math.hypot(...own.view().position.map((axis, at) => axis - own.state.position[at]));
    assert.ok(distance <= left);
    left = distance;
  }
  assert.ok(left === 0 && !own.isCorrecting);
});

test("the decay is that of the setting at 30, 60 and 144 frames a second", () => {
  for (const frames of [30, 60, 144]) {
    const own = predictor();
    run(own, 1, 2, AHEAD);
    const server = { ...moved(START, 2, AHEAD), position: [0, 1, 0] };
    assert.equal(correction(own.handleState(2, server)).severity, "medium");
    const offset = () => Math.hypot(...own.view().position.map((axis, at) => axis - own.state.position[at]));
    const before = offset();
    for (let frame = 0; frame < frames; frame++) own.advanceView(1e6 / frames);
    assert.ok(Math.abs(offset() / before - Math.exp(-6.3)) < 1e-6);
  }
});

test("small errors are followed at once, and large ones jump and are counted", () => {
  const own = predictor({ smallMetres: 0.1 });
  const off = (/** @type {number} */ steps, /** @type {number} */ metres) => {
    const runner = moved(START, steps, AHEAD);
    return { ...runner, position: [runner.position[0], metres, 0] };
  };
  run(own, 1, 30, AHEAD);
  const small = correction(own.handleState(10, off(10, 0.05)));
  assert.deepEqual([small.severity, small.replayed], ["small", 20]);
  assert.equal(own.state.position[1], 0.05);
  assert.ok(!own.isCorrecting);
  assert.equal(correction(own.handleState(11, off(11, 50))).severity, "large");
  assert.equal(own.view().position[1], 50);
  assert.equal(
    correction(own.handleState(12, off(12, 49), true)).severity,
    "large",
    "the server moved it there",
  );
  assert.deepEqual([own.report.small, own.report.medium, own.report.large], [1, 0, 2]);
});

test("many medium corrections in one direction end in a jump", () => {
  const own = predictor();
  run(own, 1, 60, STILL);
  const severities = [1, 2, 3].map((number) => {
    return correction(own.handleState(number, { ...START, position: [0.9 * number, 0, 0] })).severity;
  });
  assert.deepEqual(severities, ["medium", "medium", "large"]);
  assert.ok(!own.isCorrecting);
});

test("a turn over north is corrected by the short way", () => {
  const degrees = Math.PI / 180;
  const own = predictor();
  own.applyLocal(1, STILL);
  const answer = correction(own.handleState(1, { ...START, yaw: 359 * degrees }));
  assert.ok(Math.abs(answer.radians - degrees) < 1e-4);
  const other = predictor();
  other.applyLocal(1, STILL);
  assert.equal(
    other.handleState(1, { ...START, yaw: 359.9 * degrees }),
    "confirmed",
    "below what the wire has",
  );
});

test("a report names the field, the step and the input", () => {
  const own = predictor();
  run(own, 1, 3, AHEAD);
  own.applyLocal(4, [9, 9]);
  assert.equal(own.handleState(2, moved(START, 2, AHEAD)), "confirmed");
  const server = moved(moved(START, 3, AHEAD), 1, [9, 9]);
  assert.equal(correction(own.handleState(4, { ...server, stamina: server.stamina - 40 })).severity, "small");
  const counts = own.report.fields.map(({ name, count }) => [name, count]);
  assert.deepEqual(counts, [
    ["position", 0],
    ["rotation", 0],
    ["stamina", 1],
  ]);
  assert.deepEqual([own.report.fields[2].largest, own.report.fields[2].largestAt], [40, 4]);
  assert.deepEqual(own.report.last, { step: 4, since: 2, input: [9, 9] });
});

test("a full log pauses until the server speaks, and then goes on", () => {
  const own = predictor({ windowUs: 1e6 });
  run(own, 1, 64, AHEAD);
  const last = own.state;
  for (let number = 65; number <= 80; number++) assert.equal(own.applyLocal(number, AHEAD), "paused");
  assert.ok(own.isPaused && own.report.pauses === 1);
  assert.equal(own.state, last);
  own.handleAcked(10);
  assert.equal(own.log.length, 54);
  assert.equal(own.applyLocal(81, AHEAD), "done");
  assert.equal(own.handleState(81, moved(START, 65, AHEAD)), "confirmed");
  assert.equal(own.log.length, 0);
});

test("what is old or repeated changes nothing", () => {
  const own = predictor();
  run(own, 1, 5, AHEAD);
  assert.equal(own.handleState(3, moved(START, 3, AHEAD)), "confirmed");
  const present = own.state;
  for (const number of [0, 2, 3]) {
    assert.equal(own.handleState(number, START), "stale");
    own.handleAcked(number);
  }
  assert.deepEqual([own.state, own.log.length, own.report.stale], [present, 2, 3]);
  assert.equal(own.applyLocal(5, AHEAD), "notNewer");
});

test("a state that comes after the news of its step is still compared once", () => {
  const own = predictor();
  run(own, 1, 5, AHEAD);
  own.handleAcked(3);
  const pushed = { ...moved(START, 3, AHEAD), position: [0.5, 0.5, 0] };
  assert.equal(correction(own.handleState(3, pushed)).replayed, 2);
  assert.deepEqual(own.state, moved(pushed, 2, AHEAD));
  assert.equal(own.handleState(3, pushed), "stale");
});

test("a server that stays silent because nothing moved there is believed after a while", () => {
  const own = predictor();
  run(own, 1, 6, AHEAD);
  let farthest = 0;
  for (let number = 7; number <= 300; number++) {
    own.applyLocal(number, AHEAD);
    own.handleAcked(number - 6);
    farthest = Math.max(farthest, own.state.position[0]);
  }
  assert.ok(farthest < 5 && corrections(own) >= 5, `${farthest} m`);
  for (let number = 301; number <= 340; number++) {
    own.applyLocal(number, STILL);
    own.handleAcked(number - 6);
  }
  assert.deepEqual(own.state.position, START.position);
});

test("steps wrap, and one of which only 16 bits are known is the nearest", () => {
  const first = 2 ** 32 - 4;
  const own = predictor({}, first);
  for (let number = 1; number <= 10; number++) own.applyLocal((first + number) >>> 0, AHEAD);
  assert.equal(own.handleState((first + 7) & 0xffff, moved(START, 7, AHEAD)), "confirmed");
  assert.deepEqual([own.log.length, own.newest], [3, 6]);
});

test("a server state that is not a number is never seen", () => {
  const own = predictor();
  run(own, 1, 5, AHEAD);
  const seen = own.view();
  assert.equal(correction(own.handleState(1, { ...START, position: [NaN, 0, 0] })).severity, "small");
  assert.deepEqual([own.view(), own.report.fields[0].largest], [seen, Infinity]);
  own.handleState(2, moved(START, 2, AHEAD));
  own.advanceView(5e6);
  assert.ok(Math.abs(own.view().position[0] - moved(START, 5, AHEAD).position[0]) < 1e-9);
});

test("a bad setting is refused by name, and a state without fields too", () => {
  /** @type {[any, RegExp][]} */
  const cases = [
    [{ stepsPerSecond: 0 }, /stepsPerSecond/],
    [{ windowUs: 999999 }, /windowUs/],
    [{ smallMetres: NaN }, /smallMetres/],
    [{ largeMetres: 0.01 }, /largeMetres/],
    [{ largeRadians: Infinity }, /largeRadians/],
    [{ decayPerSecond: 0 }, /decayPerSecond/],
  ];
  for (const [config, field] of cases) assert.throws(() => predictor(config), field);
  assert.throws(() => new Predictor({ step, describe() {} }, 0, START), /no fields/);
});

test("fields are the same if the wire makes no difference between them", () => {
  const position = (/** @type {any} */ profile, /** @type {number} */ x) => {
    const fields = new Fields();
    fields.position("p", profile, [x, 0, 0]);
    return fields.values[0];
  };
  for (const far of [0, 400, -80000]) {
    assert.equal(errorOf(position("standard", far + 0.003), position("standard", far)), 0);
    assert.ok(errorOf(position("standard", far + 0.03), position("standard", far)) > 0.02);
  }
  assert.equal(errorOf(position("standard", NaN), position("standard", 0)), Infinity);
  assert.equal(errorOf(position("none", 0.1), position("none", Math.fround(0.1))), 0);
  assert.ok(errorOf(position("none", 0.1), position("none", 0.100001)) > 0);
  const [a, b] = [new Fields(), new Fields()];
  a.angle("yaw", 0.01, 0.004);
  b.angle("yaw", 0.01, 2 * Math.PI - 0.004);
  assert.ok(a.isSame(b));
  a.number("n", 0, 1);
  b.number("n", 0, 1.5);
  assert.ok(!a.isSame(b) && errorOf(a.values[1], b.values[1]) === 0.5);
  assert.ok(errorOf(a.values[0], b.values[1]) === Infinity);
});

test("the server's object is the own one, and what it did not make is withdrawn after its grace", () => {
  /** @type {PredictedSpawns<string>} */
  const spawns = new PredictedSpawns({ max: 2, graceSteps: 10 });
  assert.ok(spawns.spawn(7, 41, 0, "a"));
  assert.equal(spawns.spawn(7, 41, 0, "again"), null);
  assert.ok(spawns.spawn(7, 2 ** 32 - 3, 1, "b"));
  assert.equal(spawns.spawn(7, 43, 0, "too many"), null);
  assert.equal(spawns.match(spawnKey(8, 41, 0)), undefined, "of another player");
  assert.equal(spawns.match(spawnKey(7, 42, 0)), undefined, "of another step");
  assert.equal(
    spawns.match(spawnKey(7, 41 + 3 * 65536, 0)),
    "a",
    "the server counts further than the client",
  );
  assert.equal(spawns.match(spawnKey(7, 41, 0)), undefined, "once");
  spawns.handleAcked(6);
  assert.equal(spawns.pollWithdrawn(), undefined);
  spawns.handleAcked(2 ** 32 - 1);
  spawns.handleAcked(7);
  assert.deepEqual([spawns.pollWithdrawn(), spawns.pollWithdrawn(), spawns.size], ["b", undefined, 0]);
  assert.equal(spawnKey(7, 0x12345, 2), (7n << 32n) | 0x234502n);
  assert.throws(() => new PredictedSpawns({ max: 0 }), /max = 0/);
});

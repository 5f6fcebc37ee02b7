/** What the player did of late, when prediction begins: it counts, and only as long as it means anything. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Actor } from "../src/api/actor.js";
import { tour } from "./tour.js";

/** A walker that the server knows, and a clock that gives the steps that it is told to. */
function stage() {
  const server = { step: /** @type {number | null} */ (null), x: 0 };
  /** @type {number[]} */
  const due = [];
  const seat = {
    stepsPerSecond: 60,
    stepFraction: 1,
    toldStep: () => server.step,
    world: { feedback: null },
  };
  const session = { seat, pollStep: () => due.shift() ?? null, pushInput: () => {} };
  const walker = {
    alias: 1,
    kind: "Walker",
    isOwn: true,
    isInSight: true,
    values: () => ({ at: [server.x, 0, 0] }),
  };
  const scene = {
    values: () => [walker],
    known: () => ({ tick: server.step, jumped: -1 }),
    predicted: new Map(),
  };
  const actor = new Actor(/** @type {any} */ (session), /** @type {any} */ (scene), tour, { way: 1 });
  const own = actor.predict(
    "Walker",
    (state) => {
      state.at[0] += 1;
    },
    ["at"],
  );
  return {
    server,
    own,
    /** Where it is predicted to be; null if nothing is. @returns {number | null} */
    x: () => own.state?.at[0] ?? null,
    /** @param {number[]} steps */
    act(...steps) {
      due.push(...steps);
      actor.act(0);
    },
  };
}

test("what is on its way to the server counts when prediction begins", () => {
  const { server, own, x, act } = stage();
  act(10, 11, 12, 13, 14);
  assert.equal(x(), null, "nothing is known of the walker");
  Object.assign(server, { step: 12, x: 100 });
  act();
  assert.equal(x(), 102, "13 and 14");
  act(15);
  assert.equal(x(), 103);
  own.enable(false);
  act(16);
  own.enable();
  act();
  assert.equal(x(), 104, "13 to 16, though nothing was predicted in the last");
});

test("what was done before the steps began anew is forgotten", () => {
  const { server, x, act } = stage();
  Object.assign(server, { step: 1_000, x: 0 });
  act(1_001, 1_002, 1_003);
  act(900);
  assert.equal(x(), null, "what was predicted will never be");
  Object.assign(server, { step: 899, x: 50 });
  for (const step of [901, 902, 903]) act(step);
  assert.equal(x(), 54, "900 to 903");
});

/** Games played by chance: that they are, in every step, what the rules in Rust make of them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Log } from "../rules/index.js";
import { levelsOfTheGame, shipOf, vectors } from "./games.js";

const levels = levelsOfTheGame();

/**
 * Where a log leaves what was recorded of it: null if it never does.
 * @param {{ seed: number, steps: number, digests: number[] }} recorded
 * @param {number} every steps from one digest, of all states so far, to the next
 */
function firstDifference({ seed, steps, digests }, every) {
  const log = new Log(levels, seed);
  let digest = 0x811c9dc5;
  for (let step = 1, next = 0; step <= steps; step++) {
    log.step(levels);
    digest = Math.imul(digest ^ log.state.hash(), 0x01000193) >>> 0;
    if (step % every !== 0 && step !== steps) continue;
    if (digest !== digests[next]) {
      const since = Math.max(0, step - every);
      return `seed ${seed}: differs by step ${step}, not yet at ${since}: ${digest} for ${digests[next]}`;
    }
    next += 1;
  }
  return null;
}

test("every recorded game is played as the server plays it", () => {
  const { every, logs } = vectors("rules.json");
  assert.ok(logs.length > 100);
  assert.ok(logs.some((/** @type {{ steps: number }} */ { steps }) => steps >= 10_000));
  for (const recorded of logs) {
    assert.equal(recorded.digests.length, Math.ceil(recorded.steps / every));
    assert.equal(firstDifference(recorded, every), null);
  }
});

test("a game that leaves what was recorded is told with the step", () => {
  const { every, logs } = vectors("rules.json");
  const [{ seed, steps, digests }] = logs;
  const spoilt = { seed, steps, digests: [digests[0], 5, ...digests.slice(2)] };
  assert.equal(
    firstDifference(spoilt, every),
    `seed ${seed}: differs by step 500, not yet at 250: ${digests[1]} for 5`,
  );
});

test("the same seed is the same game, and another is another", () => {
  const hashes = new Set();
  for (let seed = 0; seed < 20; seed++) {
    const [one, other] = [new Log(levels, seed), new Log(levels, seed)];
    for (let step = 0; step < 300; step++) one.step(levels);
    // What was played in between leaves no trace.
    for (let step = 0; step < 300; step++) other.step(levels);
    assert.equal(one.state.hash(), other.state.hash());
    hashes.add(one.state.hash());
  }
  assert.equal(hashes.size, 20);
});

test("a hash tells any difference, but for events", () => {
  const log = new Log(levels, 7);
  for (let step = 0; step < 600; step++) log.step(levels);
  const { state } = log;
  const hash = state.hash();
  const seat = state.ships.findIndex((ship) => ship !== null);
  const { pilotage } = shipOf(state, seat);
  const parts = [state, pilotage, ...state.enemies, ...state.shots, ...state.debris];
  assert.ok(parts.length > 10);
  for (const part of /** @type {Record<string, unknown>[]} */ (/** @type {unknown} */ (parts))) {
    for (const [field, value] of Object.entries(part)) {
      if (typeof value !== "number") continue;
      part[field] = value + 1;
      assert.notEqual(state.hash(), hash, field);
      part[field] = value;
    }
  }
  state.events.length = 0;
  assert.equal(state.hash(), hash);
});

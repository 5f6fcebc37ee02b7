/** What the tests of the rules have in common: levels, games, and what was recorded of them. */

import { readFileSync, readdirSync } from "node:fs";
import { Levels, State } from "../rules/index.js";

const LEVELS = new URL("../../levels/", import.meta.url);
const VECTORS = new URL("../../tests/vectors/", import.meta.url);

/** The levels that come with the game, in their order. */
export function levelsOfTheGame() {
  const files = readdirSync(LEVELS).sort();
  return new Levels(files.map((file) => Levels.parse(file, readFileSync(new URL(file, LEVELS), "utf8"))));
}

/** @param {string} file */
export function vectors(file) {
  return JSON.parse(readFileSync(new URL(file, VECTORS), "utf8"));
}

/**
 * A game of one level, made up.
 * @param {...{ at_seconds: number, spawns: object[] }} waves
 */
export function levelOf(...waves) {
  return new Levels([Levels.parse("made_up.json", JSON.stringify({ name: "Made up", seconds: 600, waves }))]);
}

/** A level in which nothing happens for almost ten minutes. */
export function emptyLevel() {
  return levelOf({ at_seconds: 599, spawns: [{ kind: "drone" }] });
}

/**
 * A game with ships in some seats, whom everything hits.
 * @param {Levels} levels
 * @param {...number} seats
 */
export function gameOf(levels, ...seats) {
  const state = new State(levels, 1, 1);
  for (const seat of seats) {
    state.addShip(seat);
    shipOf(state, seat).pilotage.safe = 0;
  }
  return state;
}

/** @param {State} state @param {number} seat */
export function shipOf(state, seat) {
  const ship = state.ships[seat];
  if (ship === null) throw new Error(`no ship in seat ${seat}`);
  return ship;
}

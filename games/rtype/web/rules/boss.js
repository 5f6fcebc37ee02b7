/**
 * Bosses: what they do, mood by mood.
 *
 * Each attack is announced by a mood of its own, in which the boss holds still or lines up and does nothing
 * else: whoever watches has a second to get out of the way. Below half of its health a boss calls for help as
 * well.
 *
 * ```text
 *   Warden      arrives → volleys → gathers → fans → (below half: calls) → volleys …
 *   Leviathan   arrives → spiral → lines up → charges → returns → (below half: calls) → spiral …
 * ```
 */

import { HEIGHT } from "./constants.js";
import { EnemyKind, ShotKind } from "./kinds.js";
import { LEFTWARDS, aim, clamp, towards } from "./math.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./enemy.js").Enemy} Enemy */

/** On its way in. */
export const MOOD_ARRIVES = 0;
/** The attack between the others: volleys of the warden, a spiral of the leviathan. */
export const MOOD_STEADY = 1;
/** About to do its worst. */
export const MOOD_GATHERS = 2;
/** Doing it: fans of the warden, the charge of the leviathan. */
export const MOOD_WORST = 3;
/** The leviathan on its way back. */
export const MOOD_RETURNS = 4;
/** Calling for help. */
export const MOOD_CALLS = 5;

const REST_X = 1360;
const STEADY_STEPS = 300;
const GATHER_STEPS = 60;
const CALL_STEPS = 60;
const EDGE_Y = 230;

const WARDEN_SWEEP_SPEED = 3;
const WARDEN_VOLLEY_STEPS = 48;
const WARDEN_FANS = 3;
const WARDEN_FAN_STEPS = 34;
const WARDEN_FAN_HALF = 5;

const LEVIATHAN_SWEEP_SPEED = 2;
/** After a call the leviathan is in a hurry. */
const LEVIATHAN_SWEEP_SPEED_AFTER_CALL = 3;
const SPIRAL_STEPS = 7;
const SPIRAL_TURN = 3;
const CHARGE_SPEED = 16;
const CHARGE_END_X = 260;
const RETURN_SPEED = 7;
const RING = 16;

const PELLET_SPEED = 7;
const ORB_SPEED = 5;

/**
 * A step of the warden's mind. It sweeps up and down in front of the ships.
 * @param {State} state
 * @param {Enemy} boss
 */
export function warden(state, boss) {
  switch (boss.mood) {
    case MOOD_ARRIVES:
      arrive(boss, WARDEN_SWEEP_SPEED);
      break;
    case MOOD_STEADY:
      sweep(boss);
      if (boss.timer % WARDEN_VOLLEY_STEPS === 0) aimedVolley(state, boss);
      if (boss.timer >= STEADY_STEPS) {
        boss.turnTo(MOOD_GATHERS);
        boss.vy = 0;
      }
      break;
    case MOOD_GATHERS:
      if (boss.timer >= GATHER_STEPS) {
        boss.turnTo(MOOD_WORST);
        boss.count = 0;
      }
      break;
    case MOOD_WORST:
      if (boss.timer % WARDEN_FAN_STEPS === 0) fan(state, boss);
      if (boss.count >= WARDEN_FANS) goOn(boss, WARDEN_SWEEP_SPEED);
      break;
    default:
      call(state, boss, EnemyKind.Hunter, WARDEN_SWEEP_SPEED);
  }
}

/**
 * A step of the leviathan's mind. It fills the field with slow orbs, then goes across it.
 * @param {State} state
 * @param {Enemy} boss
 */
export function leviathan(state, boss) {
  switch (boss.mood) {
    case MOOD_ARRIVES:
      arrive(boss, LEVIATHAN_SWEEP_SPEED);
      break;
    case MOOD_STEADY:
      sweep(boss);
      if (boss.timer % SPIRAL_STEPS === 0) {
        orb(state, boss, boss.count);
        boss.count = (boss.count + SPIRAL_TURN) & 31;
      }
      if (boss.timer >= STEADY_STEPS) {
        boss.turnTo(MOOD_GATHERS);
        boss.vy = lineUp(state, boss);
      }
      break;
    case MOOD_GATHERS:
      if (boss.timer === GATHER_STEPS >> 1) boss.vy = 0;
      if (boss.timer >= GATHER_STEPS) {
        boss.turnTo(MOOD_WORST);
        boss.vx = -CHARGE_SPEED;
      }
      break;
    case MOOD_WORST:
      if (boss.x <= CHARGE_END_X) {
        boss.turnTo(MOOD_RETURNS);
        boss.vx = RETURN_SPEED;
        for (let turn = 0; turn < RING; turn++) orb(state, boss, 2 * turn);
      }
      break;
    case MOOD_RETURNS:
      if (boss.x >= REST_X) {
        boss.vx = 0;
        goOn(boss, LEVIATHAN_SWEEP_SPEED);
      }
      break;
    default:
      call(state, boss, EnemyKind.Dasher, LEVIATHAN_SWEEP_SPEED_AFTER_CALL);
  }
}

/** @param {Enemy} boss @param {number} sweepSpeed */
function arrive(boss, sweepSpeed) {
  if (boss.x <= REST_X) {
    boss.vx = 0;
    boss.vy = sweepSpeed;
    boss.turnTo(MOOD_STEADY);
  }
}

/** @param {Enemy} boss */
function sweep(boss) {
  if (boss.y <= EDGE_Y) boss.vy = Math.abs(boss.vy);
  else if (boss.y >= HEIGHT - EDGE_Y) boss.vy = -Math.abs(boss.vy);
}

/**
 * After the worst: help when it is in need, else from the beginning.
 * @param {Enemy} boss
 * @param {number} sweepSpeed
 */
function goOn(boss, sweepSpeed) {
  const inNeed = boss.health * 2 < boss.healthMax;
  boss.turnTo(inNeed ? MOOD_CALLS : MOOD_STEADY);
  boss.vy = inNeed ? 0 : sweepSpeed;
}

/** @param {State} state @param {Enemy} boss @param {number} kind @param {number} sweepSpeed */
function call(state, boss, kind, sweepSpeed) {
  if (boss.timer === CALL_STEPS >> 1) {
    for (let aside = -1; aside <= 1; aside++) state.addEnemy(kind, boss.x + 60, boss.y + 160 * aside);
  }
  if (boss.timer >= CALL_STEPS) {
    boss.turnTo(MOOD_STEADY);
    boss.vy = sweepSpeed;
  }
}

/** @param {State} state @param {Enemy} boss */
function aimedVolley(state, boss) {
  const prey = state.nearestShip(boss.x, boss.y);
  if (prey === null) return;
  const { vx, vy } = aim(prey.x - boss.x, prey.y - boss.y, PELLET_SPEED);
  for (let aside = -1; aside <= 1; aside++) {
    state.addEnemyShot(ShotKind.Pellet, boss.x - 90, boss.y + 40 * aside, vx, vy + aside);
  }
}

/**
 * Every other fan aims at the gaps of the one before.
 * @param {State} state
 * @param {Enemy} boss
 */
function fan(state, boss) {
  const odd = boss.count & 1;
  const half = WARDEN_FAN_HALF - odd;
  for (let turn = -half; turn <= half; turn++) {
    const { vx, vy } = towards(LEFTWARDS + turn, PELLET_SPEED);
    state.addEnemyShot(ShotKind.Pellet, boss.x - 90, boss.y + 8 * odd * turn, vx, vy);
  }
  boss.count += 1;
}

/** @param {State} state @param {Enemy} boss @param {number} direction */
function orb(state, boss, direction) {
  const { vx, vy } = towards(direction, ORB_SPEED);
  state.addEnemyShot(ShotKind.Orb, boss.x, boss.y, vx, vy);
}

/**
 * The speed that brings it in front of the nearest ship by the middle of its gathering.
 * @param {State} state
 * @param {Enemy} boss
 */
function lineUp(state, boss) {
  const prey = state.nearestShip(boss.x, boss.y);
  return prey === null ? 0 : clamp(((prey.y - boss.y) / (GATHER_STEPS >> 1)) | 0, -12, 12);
}

/** Shots, capsules and debris: what flies by itself. */

import { HEIGHT, NO_SEAT, WIDTH } from "./constants.js";
import { ShotKind } from "./kinds.js";
import { retain } from "./list.js";
import { aim } from "./math.js";
import { SEEKER_SPEED } from "./weapons.js";

/** @typedef {import("./state.js").State} State */

/** How far beyond the edges a shot goes before it is gone. */
const SHOT_MARGIN = 40;
/** Steps between turns of a seeker. */
const SEEKER_TURN_STEPS = 10;
/** Steps until the shot of an enemy fades. */
export const ENEMY_SHOT_LIFE_STEPS = 400;

/**
 * A shot.
 * @typedef {object} Shot
 * @property {number} id its number: never given again in a game
 * @property {number} kind a `ShotKind`
 * @property {number} seat whose, or `NO_SEAT`
 * @property {number} x its centre, in units from the left
 * @property {number} y its centre, in units from the top
 * @property {number} vx units of a step to the right
 * @property {number} vy units of a step downwards
 * @property {number} damage what it takes of an enemy
 * @property {number} life steps until it fades; 0: it is gone by the end of the step
 * @property {number} struck the enemy that it went through last, 0 for none
 */

/**
 * A capsule with powers to choose from.
 * @typedef {object} Capsule
 * @property {number} id its number: never given again in a game
 * @property {number} x its centre, in units from the left
 * @property {number} y its centre, in units from the top
 * @property {number} vx units of a step to the right
 * @property {number} power the first of the powers that it offers
 */

/** Half the width and height of a capsule: more than is seen, since ships want to touch it. */
export const CAPSULE_HALF = 34;

/**
 * Something in the way: it takes shots, stops beams, and costs a ship that touches it a hit.
 * @typedef {object} Debris
 * @property {number} id its number: never given again in a game
 * @property {number} x its centre, in units from the left
 * @property {number} y its centre, in units from the top
 * @property {number} vx units of a step to the right
 * @property {number} vy units of a step downwards
 * @property {number} size half its width and height, in tens of units
 */

/** By kind: bolt, lance, seeker, pellet, orb. */
const HALVES = [
  Object.freeze({ width: 12, height: 5 }),
  Object.freeze({ width: 30, height: 6 }),
  Object.freeze({ width: 10, height: 8 }),
  Object.freeze({ width: 6, height: 6 }),
  Object.freeze({ width: 10, height: 10 }),
];

/**
 * Half of the width and of the height of shots of a kind.
 * @param {number} kind
 */
export function shotHalf(kind) {
  return HALVES[kind];
}

/**
 * Half of what can be hit of debris: a little less than is seen, since it is round.
 * @param {Readonly<Debris>} debris
 */
export function debrisHalf(debris) {
  return debris.size * 9;
}

/**
 * Whether a shot is an enemy's.
 * @param {Readonly<Shot>} shot
 */
export function isEnemys(shot) {
  return shot.seat === NO_SEAT;
}

/**
 * Moves every shot; those that leave the field or fade are gone.
 * @param {State} state
 */
export function stepShots(state) {
  for (const shot of state.shots) {
    if (shot.kind === ShotKind.Seeker && shot.life % SEEKER_TURN_STEPS === 0) seek(state, shot);
    shot.x += shot.vx;
    shot.y += shot.vy;
    shot.life = isInside(shot) ? shot.life - 1 : 0;
  }
  retain(state.shots, isAlive);
}

/**
 * Whether a shot has neither faded nor hit.
 * @param {Readonly<Shot>} shot
 */
export function isAlive(shot) {
  return shot.life > 0;
}

/** @param {Readonly<Shot>} shot */
function isInside({ x, y }) {
  return x >= -SHOT_MARGIN && x <= WIDTH + SHOT_MARGIN && y >= -SHOT_MARGIN && y <= HEIGHT + SHOT_MARGIN;
}

/**
 * Turns a seeker to the nearest enemy ahead of it; without one it goes on.
 * @param {State} state
 * @param {Shot} shot
 */
function seek(state, shot) {
  let nearest = null;
  let distanceMin = Infinity;
  for (const enemy of state.enemies) {
    const dx = enemy.x - shot.x;
    const distance = Math.abs(dx) + 2 * Math.abs(enemy.y - shot.y);
    if (dx > -60 && enemy.x < WIDTH + SHOT_MARGIN && distance < distanceMin) {
      distanceMin = distance;
      nearest = enemy;
    }
  }
  if (nearest === null) return;
  const { vx, vy } = aim(nearest.x - shot.x, nearest.y - shot.y, SEEKER_SPEED);
  shot.vx = vx;
  shot.vy = vy;
}

/**
 * Moves capsules and debris. Capsules leave to the left, debris on every side but the right, where it comes
 * from.
 * @param {State} state
 */
export function stepDrift(state) {
  for (const capsule of state.capsules) capsule.x += capsule.vx;
  retain(state.capsules, isCapsuleInside);
  for (const debris of state.debris) {
    debris.x += debris.vx;
    debris.y += debris.vy;
  }
  retain(state.debris, isDebrisInside);
}

/** @param {Readonly<Capsule>} capsule */
function isCapsuleInside(capsule) {
  return capsule.x >= -CAPSULE_HALF;
}

/** @param {Readonly<Debris>} debris */
function isDebrisInside({ x, y, size }) {
  const half = size * 10;
  return x >= -half && y >= -half && y <= HEIGHT + half;
}

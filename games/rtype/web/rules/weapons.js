/**
 * What a volley is, for each weapon and level.
 *
 * ```text
 *             level 1         level 2         level 3
 *   Cannon    one             two abreast     two abreast, a heavy one between
 *   Spread    three           four            five, a wide fan of short reach
 *   Lance     one             heavier         two; they go through what they hit
 *   Seeker    one             two             three; slow, and turn
 * ```
 *
 * A companion adds one more. At most `VOLLEY_MAX` in all.
 */

import { NOSE } from "./constants.js";
import { ShotKind, Weapon } from "./kinds.js";

/** Shots of a volley at most. */
export const VOLLEY_MAX = 6;
/** The highest level of a weapon. */
export const WEAPON_LEVEL_MAX = 3;
/** What a beam takes of an enemy. */
export const BEAM_DAMAGE = 60;
/** Where the companion of a ship is, below it and behind its nose. */
export const COMPANION = Object.freeze({ dx: -14, dy: 46 });

const BOLT_SPEED = 20;
const SPREAD_SPEED = 17;
const LANCE_SPEED = 24;
/** Units of a step of a seeker, also when it has turned. */
export const SEEKER_SPEED = 10;
// Steps until a shot fades: enough to cross the field, but for the spread and for seekers that find nothing.
const BOLT_LIFE_STEPS = 90;
const SPREAD_LIFE_STEPS = 42;
const LANCE_LIFE_STEPS = 75;
const SEEKER_LIFE_STEPS = 150;

/**
 * A shot as it leaves a ship. It is there when the step ends, and moves from the next step on.
 * @typedef {object} Launch
 * @property {number} kind a `ShotKind`
 * @property {number} x its centre, in units from the left
 * @property {number} y its centre, in units from the top
 * @property {number} vx units of a step to the right
 * @property {number} vy units of a step downwards
 * @property {number} damage what it takes of an enemy
 * @property {number} life steps until it fades
 */

/** @typedef {import("./ship.js").Pilotage} Pilotage */

/**
 * The volley of a ship, in the order in which shots are numbered.
 * @param {Readonly<Pilotage>} ship
 * @returns {Launch[]}
 */
export function launch(ship) {
  const shots = volley(ship);
  if (ship.drone) shots.push(bolt(ship.x + COMPANION.dx, ship.y + COMPANION.dy, 8));
  return shots;
}

/** @param {Readonly<Pilotage>} ship */
function volley(ship) {
  switch (ship.weapon) {
    case Weapon.Spread:
      return spread(ship);
    case Weapon.Lance:
      return lances(ship);
    case Weapon.Seeker:
      return seekers(ship);
    default:
      return cannon(ship);
  }
}

/** @param {Readonly<Pilotage>} ship */
function cannon({ x, y, weaponLevel }) {
  if (weaponLevel <= 1) return [bolt(x, y, 12)];
  const pair = [bolt(x, y - 12, 10), bolt(x, y + 12, 10)];
  if (weaponLevel >= WEAPON_LEVEL_MAX) pair.push(bolt(x, y, 20));
  return pair;
}

/** @param {Readonly<Pilotage>} ship */
function spread({ x, y, weaponLevel }) {
  const count = weaponLevel <= 1 ? 3 : weaponLevel === 2 ? 4 : 5;
  const damage = weaponLevel <= 1 ? 9 : weaponLevel === 2 ? 10 : 12;
  const shots = [];
  for (let index = 0; index < count; index++) {
    const vy = 2 * (2 * index - (count - 1));
    shots.push(shot(ShotKind.Bolt, x, y, SPREAD_SPEED, vy, damage, SPREAD_LIFE_STEPS));
  }
  return shots;
}

/** @param {Readonly<Pilotage>} ship */
function lances({ x, y, weaponLevel }) {
  if (weaponLevel <= 1) return [lance(x, y, 16)];
  if (weaponLevel === 2) return [lance(x, y, 28)];
  return [lance(x, y - 18, 24), lance(x, y + 18, 24)];
}

/** @param {Readonly<Pilotage>} ship */
function seekers({ x, y, weaponLevel }) {
  const count = Math.min(Math.max(weaponLevel, 1), WEAPON_LEVEL_MAX);
  const shots = [];
  for (let index = 0; index < count; index++) {
    const aside = 2 * index - (count - 1);
    shots.push(shot(ShotKind.Seeker, x, y + 14 * aside, SEEKER_SPEED, 2 * aside, 14, SEEKER_LIFE_STEPS));
  }
  return shots;
}

/** @param {number} x @param {number} y @param {number} damage */
function bolt(x, y, damage) {
  return shot(ShotKind.Bolt, x, y, BOLT_SPEED, 0, damage, BOLT_LIFE_STEPS);
}

/** @param {number} x @param {number} y @param {number} damage */
function lance(x, y, damage) {
  return shot(ShotKind.Lance, x, y, LANCE_SPEED, 0, damage, LANCE_LIFE_STEPS);
}

/**
 * From the nose of whatever has its centre there.
 * @param {number} kind
 * @param {number} x
 * @param {number} y
 * @param {number} vx
 * @param {number} vy
 * @param {number} damage
 * @param {number} life
 * @returns {Launch}
 */
function shot(kind, x, y, vx, vy, damage, life) {
  return { kind, x: x + NOSE, y, vx, vy, damage, life };
}

/**
 * The own ship, ahead of the server: the step of the rules, between what is sent and what they count in.
 *
 * A centimetre is a unit, and exactly as fine as positions are sent. So nothing is lost on the way from
 * metres to units and back, and the server is agreed with to the last digit.
 */

import { UNITS_PER_METRE } from "/rtype/protocol.js";
import { stepShip } from "/rtype/rules/ship.js";

/** @typedef {import("/rtype/rules/ship.js").Pilotage} Pilotage */

/** What of a ship its step changes or depends on. The rest is for the server to say. */
export const PREDICTED = /** @type {const} */ ([
  "at",
  "seat",
  "down",
  "safe",
  "thrusters",
  "drone",
  "weapon",
  "weapon_level",
  "cooldown",
  "ammo",
  "refill",
  "energy",
]);

/**
 * What of a ship its step depends on.
 * @param {any} ship its fields, as they are sent
 * @returns {Pilotage}
 */
export function pilotageOf(ship) {
  return {
    seat: ship.seat,
    x: Math.round(ship.at[0] * UNITS_PER_METRE),
    y: Math.round(ship.at[1] * UNITS_PER_METRE),
    down: ship.down,
    safe: ship.safe,
    thrusters: ship.thrusters,
    drone: ship.drone,
    weapon: ship.weapon,
    weaponLevel: ship.weapon_level,
    cooldown: ship.cooldown,
    ammo: ship.ammo,
    refill: ship.refill,
    energy: ship.energy,
  };
}

/**
 * A step of a ship, as the server makes it.
 * @param {any} ship its fields, which are changed
 * @param {{ buttons: number }} act
 */
export function fly(ship, { buttons }) {
  const pilotage = pilotageOf(ship);
  stepShip(pilotage, buttons);
  const { x, y, weaponLevel, ...same } = pilotage;
  Object.assign(ship, same, { at: [x / UNITS_PER_METRE, y / UNITS_PER_METRE], weapon_level: weaponLevel });
}

/**
 * What a ship fires in its next step.
 * @param {any} ship
 * @param {number} buttons
 */
export function firedBy(ship, buttons) {
  return stepShip(pilotageOf(ship), buttons);
}

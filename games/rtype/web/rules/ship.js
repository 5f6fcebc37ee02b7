/**
 * Ships: what a pilot's buttons do.
 *
 * A player sees the own ship answer at once, before the server has heard of the button: the page runs the
 * same step as the server on what the ship was last known to be. That works only if the step looks at nothing
 * but the ship and the buttons. So everything it needs is in a `Pilotage`, and nothing else is: enemies, hits
 * and points are the server's alone. This file needs only its three small neighbours, so that a page can
 * predict without the rest of the rules.
 */

import { BEAM_ENERGY, HEIGHT, WIDTH } from "./constants.js";
import { Button, Weapon } from "./kinds.js";
import { launch } from "./weapons.js";

/** Units of a step of a ship without thrusters. */
export const SHIP_SPEED = 6;
/** Units of a step along each axis when flying aslant, by thrusters. */
const ASLANT = [4, 5, 6, 6];
/** How near the centre of a ship comes to the left and right edges. */
export const SHIP_EDGE_X = 40;
/** How near the centre of a ship comes to the upper and lower edges. */
export const SHIP_EDGE_Y = 30;
/** Half the width of what can be hit of a ship: less than is seen, for narrow escapes. */
export const SHIP_HALF_WIDTH = 20;
/** Half the height of what can be hit of a ship. */
export const SHIP_HALF_HEIGHT = 10;

/** Steps between two shots. */
export const COOLDOWN_STEPS = 12;
/** Shots to begin with. */
export const AMMO_START = 60;
/** Shots that a ship has at least when it comes back. */
export const AMMO_BACK = 30;
/** Shots at most. */
export const AMMO_MAX = 99;
/** Steps until there is one more shot. */
export const REFILL_STEPS = 30;
/** Steps until a ship that went down is back. */
export const DOWN_STEPS = 90;
/** `down` of a ship that stays away until the next level. */
export const DOWN_OUT = 255;
/** Steps for which nothing hits a ship that is back. */
export const SAFE_STEPS = 120;
/** Steps for which nothing hits a ship whose shield took a hit. */
export const SAFE_STEPS_SHIELD = 45;
/** Ships to begin with. */
export const LIVES = 3;
/** What can be had of thrusters. */
export const THRUSTERS_MAX = 3;
/** Hits that a shield takes at most. */
export const SHIELD_MAX = 3;
/** Hits that a shield takes more, for each that was chosen. */
export const SHIELD_HITS = 2;
/** Points at most. */
export const SCORE_MAX = 16_777_215;

/**
 * What a step of a ship depends on besides the buttons: the part that its player predicts.
 * @typedef {object} Pilotage
 * @property {number} seat which of the four it is: where it starts
 * @property {number} x its centre, in units from the left
 * @property {number} y its centre, in units from the top
 * @property {number} down steps until it is back, 0 while it flies, `DOWN_OUT` if not in this level
 * @property {number} safe steps for which nothing hits it
 * @property {number} thrusters how fast: units of a step beyond `SHIP_SPEED`
 * @property {boolean} drone whether it has a companion that fires, too
 * @property {number} weapon what it fires, a `Weapon`
 * @property {number} weaponLevel how strong that is, from 1 on
 * @property {number} cooldown steps until the next shot
 * @property {number} ammo shots left
 * @property {number} refill steps until there is one more
 * @property {number} energy what the beam has: it fires at `BEAM_ENERGY`
 */

/**
 * What a ship fired in a step.
 * @typedef {object} Fired
 * @property {readonly import("./weapons.js").Launch[]} shots in the order in which they are numbered
 * @property {boolean} beam whether the beam was fired, from the nose of the ship
 */

/** What is fired in most steps, made once. @type {Fired} */
const NOTHING = Object.freeze({ shots: Object.freeze([]), beam: false });

/**
 * A ship at the place where those of a seat start.
 * @param {number} seat
 * @returns {Pilotage}
 */
export function newPilotage(seat) {
  return {
    seat,
    ...startOf(seat),
    down: 0,
    safe: SAFE_STEPS,
    thrusters: 0,
    drone: false,
    weapon: Weapon.Cannon,
    weaponLevel: 1,
    cooldown: 0,
    ammo: AMMO_START,
    refill: REFILL_STEPS,
    energy: 0,
  };
}

/** A ship, a player's or a bot's. */
export class Ship {
  /** @param {number} seat */
  constructor(seat) {
    /** What its player predicts. */
    this.pilotage = newPilotage(seat);
    /** Ships left, this one included. */
    this.lives = LIVES;
    /** Hits that are taken by the shield. */
    this.shield = 0;
    /** Points, at most `SCORE_MAX`. */
    this.score = 0;
    /** What it may choose from. @type {import("./offers.js").Offers} */
    this.offers = { power: null, weapon: null, owed: 0, marks: 0 };
  }

  /** Whether it is in the air. */
  flies() {
    return this.pilotage.down === 0;
  }

  /** Whether it is out until the next level. */
  isOut() {
    return this.pilotage.down === DOWN_OUT;
  }
}

/**
 * Where the ships of a seat start.
 * @param {number} seat
 */
export function startOf(seat) {
  return { x: 160, y: 180 + 180 * seat };
}

/**
 * Puts a ship back to its start, where nothing hits it for a while.
 * @param {Pilotage} ship
 */
export function comeBack(ship) {
  const { x, y } = startOf(ship.seat);
  ship.x = x;
  ship.y = y;
  ship.down = 0;
  ship.safe = SAFE_STEPS;
  ship.ammo = Math.max(ship.ammo, AMMO_BACK);
}

/**
 * One step of a ship: what server and prediction have in common.
 * @param {Pilotage} ship is changed
 * @param {number} pressed a mask of `Button`
 * @returns {Fired}
 */
export function stepShip(ship, pressed) {
  if (ship.down > 0) {
    if (ship.down !== DOWN_OUT) {
      ship.down -= 1;
      if (ship.down === 0) comeBack(ship);
    }
    return NOTHING;
  }
  passTime(ship);
  fly(ship, pressed);
  const shoots = (pressed & Button.SHOOT) !== 0 && ship.cooldown === 0 && ship.ammo > 0;
  if (shoots) {
    ship.cooldown = COOLDOWN_STEPS;
    ship.ammo -= 1;
  }
  const beam = (pressed & Button.BEAM) !== 0 && ship.energy >= BEAM_ENERGY;
  if (beam) ship.energy = 0;
  return shoots || beam ? { shots: shoots ? launch(ship) : NOTHING.shots, beam } : NOTHING;
}

/** @param {Pilotage} ship */
function passTime(ship) {
  if (ship.safe > 0) ship.safe -= 1;
  if (ship.cooldown > 0) ship.cooldown -= 1;
  if (ship.energy < BEAM_ENERGY) ship.energy += 1;
  if (ship.ammo < AMMO_MAX) {
    ship.refill -= 1;
    if (ship.refill <= 0) {
      ship.refill = REFILL_STEPS;
      ship.ammo += 1;
    }
  }
}

/** @param {Pilotage} ship @param {number} pressed */
function fly(ship, pressed) {
  const { right, down } = way(pressed);
  const speed = speedOf(ship.thrusters, right !== 0 && down !== 0);
  ship.x = withinX(ship.x + right * speed);
  ship.y = withinY(ship.y + down * speed);
}

/**
 * The nearest place from the left where the centre of a ship may be.
 * @param {number} x
 */
export function withinX(x) {
  return Math.min(Math.max(x, SHIP_EDGE_X), WIDTH - SHIP_EDGE_X);
}

/**
 * The nearest place from the top where the centre of a ship may be.
 * @param {number} y
 */
export function withinY(y) {
  return Math.min(Math.max(y, SHIP_EDGE_Y), HEIGHT - SHIP_EDGE_Y);
}

/**
 * Which way buttons mean: -1, 0 or 1 to the right, and downwards.
 * @param {number} pressed
 */
export function way(pressed) {
  const right = (pressed & Button.RIGHT ? 1 : 0) - (pressed & Button.LEFT ? 1 : 0);
  const down = (pressed & Button.DOWN ? 1 : 0) - (pressed & Button.UP ? 1 : 0);
  return { right, down };
}

/**
 * Units of a step along an axis.
 * @param {number} thrusters
 * @param {boolean} aslant
 */
export function speedOf(thrusters, aslant) {
  const held = Math.min(Math.max(thrusters, 0), THRUSTERS_MAX);
  return aslant ? ASLANT[held] : SHIP_SPEED + held;
}

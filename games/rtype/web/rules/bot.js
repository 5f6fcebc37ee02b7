/**
 * Bots: what a ship without a pilot presses.
 *
 * A bot sees what a player sees, and has the same buttons. Of the nine ways that a ship can go it takes the
 * one that costs the least: first by what it would run into within half a second if everything flew on as it
 * does, then by how far it gets from where it would like to be, which is in front of something to shoot at.
 */

import { MOOD_GATHERS } from "./boss.js";
import { beamCrosses, beamEnd } from "./collide.js";
import { BEAM_ENERGY, NOSE, WIDTH } from "./constants.js";
import { isBoss, traits } from "./enemy.js";
import { Button, EnemyKind, Power, Weapon } from "./kinds.js";
import { divideRounded } from "./math.js";
import {
  SHIP_HALF_HEIGHT,
  SHIP_HALF_WIDTH,
  SHIP_SPEED,
  THRUSTERS_MAX,
  speedOf,
  startOf,
  way,
  withinX,
  withinY,
} from "./ship.js";
import { debrisHalf, isEnemys, shotHalf } from "./shot.js";

/** @typedef {import("./ship.js").Pilotage} Pilotage */
/** @typedef {import("./ship.js").Ship} Ship */
/** @typedef {import("./state.js").State} State */

/** The nine ways: those that hold still come first, so that nothing flutters without a reason. */
const WAYS = [
  0,
  Button.UP,
  Button.DOWN,
  Button.LEFT,
  Button.RIGHT,
  Button.UP | Button.LEFT,
  Button.UP | Button.RIGHT,
  Button.DOWN | Button.LEFT,
  Button.DOWN | Button.RIGHT,
];
/** Steps ahead at which it looks. */
const LOOKS_STEPS = [3, 7, 12, 18, 25, 33];
const LOOK_STEPS_MAX = 33;
/** Units of a step of the fastest ship. */
const SPEED_MAX = SHIP_SPEED + THRUSTERS_MAX;
/** How wide a berth it gives. */
const BERTH = 14;
/** What running into something costs when it is immediate, in units of way. */
const FEAR = 24_000;
/** How far it looks for trouble. */
const SIGHT = 640;
/** Shots below which it fires only at what is right ahead. */
const AMMO_SPARED = 18;
/** How far it goes for a capsule: not so far that players never get one. */
const CAPSULE_REACH = 360;
/** Steps ahead at which it compares where it gets. */
const COMPARED_STEPS = 10;

/**
 * What the ship of a seat presses; nothing if there is none, or it does not fly.
 * @param {State} state
 * @param {number} seat
 */
export function buttons(state, seat) {
  const ship = state.ships[seat] ?? null;
  if (ship === null || !ship.flies()) return 0;
  const { pilotage } = ship;
  const goal = wanted(state, ship);
  outlook.look(state, pilotage);
  let best = 0;
  let costMin = Infinity;
  for (let index = 0; index < WAYS.length; index++) {
    const dx = afterX(pilotage, WAYS[index], COMPARED_STEPS) - goal.x;
    const dy = afterY(pilotage, WAYS[index], COMPARED_STEPS) - goal.y;
    const cost = outlook.costs[index] + Math.abs(dx) + 2 * Math.abs(dy);
    if (cost < costMin) {
      costMin = cost;
      best = WAYS[index];
    }
  }
  if (shoots(state, pilotage)) best |= Button.SHOOT;
  if (beams(state, pilotage)) best |= Button.BEAM;
  return best;
}

/**
 * Answers what the ship of a seat was offered: the drone if it has none, else the shield if that is worn,
 * else thrusters; and the weapon of its seat, so that each bot fights in its own way.
 * @param {State} state
 * @param {number} seat
 */
export function choose(state, seat) {
  const ship = state.ships[seat] ?? null;
  if (ship === null) return;
  const { power, weapon } = ship.offers;
  if (power !== null) {
    const missing = ship.shield < 2 ? Power.Shield : Power.Thrusters;
    const choice = power.choices.indexOf(ship.pilotage.drone ? missing : Power.Drone);
    state.choosePower(seat, power.id, Math.max(choice, 0));
  }
  // Weapons have as many numbers as there are seats.
  if (weapon !== null) state.chooseWeapon(seat, weapon.id, Math.max(weapon.choices.indexOf(seat), 0));
}

/**
 * Where a ship is after some steps of the same buttons, from the left.
 * @param {Readonly<Pilotage>} ship
 * @param {number} pressed
 * @param {number} steps
 */
function afterX(ship, pressed, steps) {
  const { right, down } = way(pressed);
  return withinX(ship.x + right * speedOf(ship.thrusters, right !== 0 && down !== 0) * steps);
}

/**
 * The same, from the top.
 * @param {Readonly<Pilotage>} ship
 * @param {number} pressed
 * @param {number} steps
 */
function afterY(ship, pressed, steps) {
  const { right, down } = way(pressed);
  return withinY(ship.y + down * speedOf(ship.thrusters, right !== 0 && down !== 0) * steps);
}

/**
 * Where it would like to be.
 * @param {State} state
 * @param {Ship} ship
 */
function wanted(state, { pilotage, offers }) {
  const { seat, x, y } = pilotage;
  if (offers.power === null) {
    for (const capsule of state.capsules) {
      const distance = Math.abs(capsule.x - x) + Math.abs(capsule.y - y);
      if (distance < CAPSULE_REACH) return { x: capsule.x, y: capsule.y };
    }
  }
  const lane = startOf(seat).y;
  const goal = { x: 150 + 60 * seat, y: lane };
  let worthMin = Infinity;
  for (const enemy of state.enemies) {
    if (enemy.x <= x + 80 || enemy.x > WIDTH + 40) continue;
    // Where it will be when a shot gets there; each bot likes what is in its own lane.
    const flight = ((enemy.x - x) / 24) | 0;
    const enemyY = withinY(enemy.y + enemy.vy * flight);
    const worth = Math.abs(enemyY - y) + (Math.abs(enemyY - lane) >> 1) + (((enemy.x - x) / 3) | 0);
    if (worth < worthMin) {
      worthMin = worth;
      // Not all in one place in front of a boss.
      goal.y = isBoss(enemy.kind) ? enemyY - 60 + 40 * seat : enemyY;
    }
  }
  return goal;
}

/** What flies, and can be run into. @typedef {{ x: number, y: number, vx: number, vy: number }} Mover */

/** Where each way leads, and what it would run into within half a second: the sooner, the dearer. */
class Outlook {
  /** By way. */
  costs = new Int32Array(WAYS.length);
  // By way, and in it by look.
  #xs = new Int32Array(WAYS.length * LOOKS_STEPS.length);
  #ys = new Int32Array(WAYS.length * LOOKS_STEPS.length);

  /** @param {State} state @param {Readonly<Pilotage>} ship */
  look(state, ship) {
    this.costs.fill(0);
    let place = 0;
    for (const pressed of WAYS) {
      for (const steps of LOOKS_STEPS) {
        this.#xs[place] = afterX(ship, pressed, steps);
        this.#ys[place] = afterY(ship, pressed, steps);
        place += 1;
      }
    }
    for (const shot of state.shots) {
      if (!isEnemys(shot)) continue;
      const { width, height } = shotHalf(shot.kind);
      this.#fear(ship, shot, width, height);
    }
    for (const enemy of state.enemies) {
      const { halfWidth, halfHeight } = traits(enemy.kind);
      this.#fear(ship, enemy, halfWidth, halfHeight);
      if (enemy.kind === EnemyKind.Leviathan && enemy.mood === MOOD_GATHERS) {
        this.#clearTheWay(ship, enemy.y + 15 * enemy.vy, halfHeight);
      }
    }
    for (const debris of state.debris) {
      const half = debrisHalf(debris);
      this.#fear(ship, debris, half, half);
    }
  }

  /**
   * @param {Readonly<Pilotage>} ship
   * @param {Mover} mover
   * @param {number} halfWidth
   * @param {number} halfHeight
   */
  #fear(ship, mover, halfWidth, halfHeight) {
    const reachX = halfWidth + SHIP_HALF_WIDTH + BERTH + Math.abs(mover.vx) * 2;
    const reachY = halfHeight + SHIP_HALF_HEIGHT + BERTH;
    const distance = Math.abs(mover.x - ship.x);
    if (distance > SIGHT + halfWidth) return;
    // Only to save time: it cannot get there while it is looked at.
    if (distance > reachX + LOOK_STEPS_MAX * (Math.abs(mover.vx) + SPEED_MAX)) return;
    for (let index = 0; index < WAYS.length; index++) {
      this.costs[index] += this.#cost(index * LOOKS_STEPS.length, mover, reachX, reachY);
    }
  }

  /** @param {number} place @param {Mover} mover @param {number} reachX @param {number} reachY */
  #cost(place, mover, reachX, reachY) {
    for (let look = 0; look < LOOKS_STEPS.length; look++) {
      const steps = LOOKS_STEPS[look];
      const dx = Math.abs(mover.x + mover.vx * steps - this.#xs[place + look]);
      const dy = Math.abs(mover.y + mover.vy * steps - this.#ys[place + look]);
      if (dx < reachX && dy < reachY) return divideRounded(FEAR, steps + 4);
    }
    return 0;
  }

  /**
   * What is about to come across the field is a danger all along its height.
   * @param {Readonly<Pilotage>} ship
   * @param {number} chargeY
   * @param {number} halfHeight
   */
  #clearTheWay(ship, chargeY, halfHeight) {
    for (let index = 0; index < WAYS.length; index++) {
      const y = afterY(ship, WAYS[index], COMPARED_STEPS);
      this.costs[index] += Math.max(2 * halfHeight - Math.abs(chargeY - y), 0) * 20;
    }
  }
}

/** Made once: each look begins anew. */
const outlook = new Outlook();

/** @param {State} state @param {Readonly<Pilotage>} ship */
function shoots(state, ship) {
  const wide = ship.weapon === Weapon.Spread || ship.weapon === Weapon.Seeker;
  for (const enemy of state.enemies) {
    const ahead = enemy.x - ship.x;
    if (ahead < 0 || enemy.x > WIDTH) continue;
    let reach = traits(enemy.kind).halfHeight + 8;
    if (ship.ammo >= AMMO_SPARED) reach += wide ? ((ahead / 3) | 0) + 30 : 30;
    const enemyY = enemy.y + enemy.vy * ((ahead / 24) | 0);
    if (Math.abs(enemyY - ship.y) <= reach) return true;
  }
  return false;
}

/**
 * Worth it for two at a time, or for one that takes many shots.
 * @param {State} state
 * @param {Readonly<Pilotage>} ship
 */
function beams(state, ship) {
  if (ship.energy < BEAM_ENERGY) return false;
  const from = ship.x + NOSE;
  const to = beamEnd(state, from, ship.y);
  let targets = 0;
  for (const enemy of state.enemies) {
    if (beamCrosses(from, to, ship.y, enemy.kind, enemy.x, enemy.y)) targets += enemy.health > 20 ? 2 : 1;
  }
  return targets >= 2;
}

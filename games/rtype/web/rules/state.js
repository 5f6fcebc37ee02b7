/**
 * A game between two steps, and what a step is.
 *
 * ```text
 *   a step:  the level sends what is due ─▶ shots fly ─▶ enemies move and fire ─▶ capsules and debris drift
 *            ─▶ ships fly and fire ─▶ what touches, touches ─▶ offers run out ─▶ boss, next level, end
 * ```
 *
 * What comes into being in a step is there at its end, and moves from the next one on. A beam is only
 * announced (the event `Beam`): whoever runs the game says what it hit (`strike`), by what its player saw or
 * by what is.
 */

import { beamEnd, beamTargets, collide, strike } from "./collide.js";
import {
  CAPSULES_MAX,
  DEBRIS_MAX,
  ENEMIES_MAX,
  ENEMY_SHOTS_MAX,
  HEIGHT,
  MARGIN,
  NOSE,
  NO_SEAT,
  SEATS,
  SHIP_SHOTS_MAX,
  STEPS_PER_SECOND,
  WIDTH,
} from "./constants.js";
import { Enemy, stepEnemies } from "./enemy.js";
import { hashOf } from "./hash.js";
import { Phase } from "./kinds.js";
import { retain } from "./list.js";
import { clamp, seeded, xorshift } from "./math.js";
import { POWERS, choosePower, chooseWeapon, stepOffers } from "./offers.js";
import { Ship, stepShip } from "./ship.js";
import { CAPSULE_HALF, ENEMY_SHOT_LIFE_STEPS, stepDrift, stepShots } from "./shot.js";
import { stepLevel, stepPhase } from "./stage.js";

/** @typedef {import("./levels.js").Levels} Levels */

/** A game between two steps. */
export class State {
  /**
   * A game without ships that is about to begin at a level (the last one, if there are fewer). The same seed,
   * the same game.
   * @param {Levels} levels
   * @param {number} level
   * @param {number} seed
   */
  constructor(levels, level, seed) {
    /** Steps since it began. */
    this.step = 0;
    /** The level, from 1 on. */
    this.level = clamp(level, 1, levels.length);
    /** The wave of the level, from 1 on; 0 before the first. */
    this.wave = 0;
    /** What is going on, a `Phase`. @type {number} */
    this.phase = Phase.Waves;
    /** The ships, by seat. @type {(Ship | null)[]} */
    this.ships = new Array(SEATS).fill(null);
    /** The enemies, the older before the younger. @type {Enemy[]} */
    this.enemies = [];
    /** The shots, the older before the younger. @type {import("./shot.js").Shot[]} */
    this.shots = [];
    /** The capsules, the older before the younger. @type {import("./shot.js").Capsule[]} */
    this.capsules = [];
    /** The debris, the older before the younger. @type {import("./shot.js").Debris[]} */
    this.debris = [];
    /** What happened since the last step began. @type {import("./event.js").Event[]} */
    this.events = [];
    /** Steps since the phase began, where that counts. For the rules alone. */
    this.phaseSteps = 0;
    /** Steps since the level began. For the rules alone. */
    this.levelSteps = 0;
    /** Whether the level never ends. For the rules alone. */
    this.endless = levels.get(this.level).endless;
    /** Where chance stands. For the rules alone. */
    this.rng = seeded(seed);
    /** The newest number of an entity. For the rules alone. */
    this.nextId = 0;
    /** The newest number of an offer. For the rules alone. */
    this.nextOffer = 0;
  }

  /**
   * Puts a new ship into a seat that has none. There are `SEATS` seats.
   * @param {number} seat
   */
  addShip(seat) {
    if (this.ships[seat] === null) this.ships[seat] = new Ship(seat);
  }

  /**
   * Takes the ship of a seat out of the game. What it fired flies on.
   * @param {number} seat
   */
  removeShip(seat) {
    if (seat in this.ships) this.ships[seat] = null;
  }

  /** Whole seconds since the level began. */
  levelSeconds() {
    return (this.levelSteps / STEPS_PER_SECOND) | 0;
  }

  /**
   * One step, with what each seat presses: a mask of `Button`.
   * @param {Levels} levels
   * @param {ArrayLike<number>} pressed by seat
   */
  advance(levels, pressed) {
    this.events.length = 0;
    this.step = (this.step + 1) >>> 0;
    stepLevel(this, levels);
    stepShots(this);
    stepEnemies(this);
    retain(this.enemies, isNear);
    stepDrift(this);
    this.#stepShips(pressed);
    collide(this);
    stepOffers(this);
    stepPhase(this, levels);
  }

  /** @param {ArrayLike<number>} pressed */
  #stepShips(pressed) {
    for (let seat = 0; seat < SEATS; seat++) {
      const ship = this.ships[seat];
      if (ship === null) continue;
      const wasDown = !ship.flies();
      const { shots, beam } = stepShip(ship.pilotage, pressed[seat]);
      if (wasDown && ship.flies()) this.events.push({ type: "ShipBack", seat });
      for (let index = 0; index < shots.length; index++) this.#addShot(shots[index], seat, index);
      if (beam) this.events.push({ type: "Beam", seat, x: ship.pilotage.x + NOSE, y: ship.pilotage.y });
    }
  }

  /**
   * The enemies that a beam of a ship hits where everything is now: their numbers, the older first.
   * @param {number} seat
   */
  beamTargets(seat) {
    return beamTargets(this, seat);
  }

  /**
   * How far a beam from there gets: to the nearest debris, else to the right edge.
   * @param {number} from
   * @param {number} y
   */
  beamEnd(from, y) {
    return beamEnd(this, from, y);
  }

  /**
   * A beam of a ship hit an enemy, as whoever judged it found. Returns whether the enemy was there.
   * @param {number} seat
   * @param {number} enemy its number
   */
  strike(seat, enemy) {
    return strike(this, seat, enemy);
  }

  /**
   * Takes one of the powers that a ship was offered, by its place in the offer. Returns null, or why not
   * (`Refused`).
   * @param {number} seat
   * @param {number} offer
   * @param {number} choice
   */
  choosePower(seat, offer, choice) {
    return choosePower(this, seat, offer, choice);
  }

  /**
   * Takes one of the weapons that a ship was offered, by its place in the offer. Returns null, or why not
   * (`Refused`).
   * @param {number} seat
   * @param {number} offer
   * @param {number} choice
   */
  chooseWeapon(seat, offer, choice) {
    return chooseWeapon(this, seat, offer, choice);
  }

  /** The hash of everything but the events. */
  hash() {
    return hashOf(this);
  }

  /**
   * The nearest ship that flies, by the sum of both distances, the lower seat first.
   * @param {number} x
   * @param {number} y
   */
  nearestShip(x, y) {
    let nearest = null;
    let distanceMin = Infinity;
    for (const ship of this.ships) {
      if (ship === null || !ship.flies()) continue;
      const distance = Math.abs(ship.pilotage.x - x) + Math.abs(ship.pilotage.y - y);
      if (distance < distanceMin) {
        distanceMin = distance;
        nearest = ship.pilotage;
      }
    }
    return nearest;
  }

  /**
   * For the rules alone, as all that follows. Null if there are enough.
   * @param {number} kind
   * @param {number} x
   * @param {number} y
   */
  addEnemy(kind, x, y) {
    if (this.enemies.length >= ENEMIES_MAX) return null;
    const enemy = new Enemy(this.#newId(), kind, x, y);
    this.enemies.push(enemy);
    return enemy;
  }

  /** @param {number} kind @param {number} x @param {number} y @param {number} vx @param {number} vy */
  addEnemyShot(kind, x, y, vx, vy) {
    this.#addShot({ kind, x, y, vx, vy, damage: 0, life: ENEMY_SHOT_LIFE_STEPS }, NO_SEAT, 0);
  }

  /** @param {import("./weapons.js").Launch} launch @param {number} seat @param {number} index */
  #addShot({ kind, x, y, vx, vy, damage, life }, seat, index) {
    let count = 0;
    for (const shot of this.shots) if (shot.seat === seat) count += 1;
    if (count >= (seat === NO_SEAT ? ENEMY_SHOTS_MAX : SHIP_SHOTS_MAX)) return;
    const id = this.#newId();
    this.shots.push({ id, kind, seat, x, y, vx, vy, damage, life, struck: 0 });
    this.events.push({ type: "ShotFired", id, kind, seat, index, x, y });
  }

  /** @param {number} atX @param {number} atY */
  addCapsule(atX, atY) {
    if (this.capsules.length >= CAPSULES_MAX) return;
    const power = this.random(POWERS);
    const id = this.#newId();
    const x = clamp(atX, 0, WIDTH - CAPSULE_HALF);
    const y = clamp(atY, CAPSULE_HALF, HEIGHT - CAPSULE_HALF);
    this.capsules.push({ id, x, y, vx: -2, power });
    this.events.push({ type: "CapsuleSpawned", id, x, y, power });
  }

  /** @param {number} x @param {number} y @param {number} vx @param {number} vy @param {number} size */
  addDebris(x, y, vx, vy, size) {
    if (this.debris.length < DEBRIS_MAX) this.debris.push({ id: this.#newId(), x, y, vx, vy, size });
  }

  #newId() {
    this.nextId = (this.nextId + 1) >>> 0;
    return this.nextId;
  }

  /**
   * A number without a pattern below a limit.
   * @param {number} limit
   */
  random(limit) {
    this.rng = xorshift(this.rng);
    return this.rng % limit;
  }
}

/**
 * Enemies that have passed, or got lost, are gone.
 * @param {Enemy} enemy
 */
function isNear({ x, y }) {
  return x >= -MARGIN && x <= WIDTH + MARGIN && y >= -MARGIN && y <= HEIGHT + MARGIN;
}

/**
 * The player's own shots: seen when the button is pressed, and the server's from then on.
 *
 * The own ship is ahead of the server, and everything else is shown behind it. A shot begins at the nose
 * of the ship and ends at an enemy, so it has to get from the one time to the other on its way. It flies a
 * little slower at first, until it is where the server's own is shown, which it then is:
 *
 *     way     ╱ as predicted
 *          ╱ ╱ ─ shown
 *       ╱ ─ ╱
 *     ╱ ─  ╱ as the server's is shown: later by `lag` steps
 */

import { PredictedSpawns } from "/netloom/index.js";
import { UNITS_PER_METRE } from "/rtype/protocol.js";
import { WIDTH } from "/rtype/rules/constants.js";
import { ShotKind } from "/rtype/rules/kinds.js";

/** @typedef {import("/netloom/index.js").Client} Client */
/** @typedef {import("/netloom/index.js").NetObject} NetObject */

/**
 * A shot takes so many times the lag to get from the one time to the other; less would make it stand still.
 */
const LAGS = 3;
const CHANGE_STEPS_MIN = 24;
const OUTSIDE = 60;

/**
 * @typedef {object} OwnShot
 * @property {number} id below zero, as no object's is
 * @property {number} kind
 * @property {number} seat
 * @property {number} x where it began
 * @property {number} y
 * @property {number} vx units a step
 * @property {number} vy
 * @property {number} step in which it was fired
 * @property {number} shownX how far it was shown to have got: it waits rather than goes back
 * @property {NetObject | null} object the server's, when it is here
 */

/** See the module. */
export class OwnShots {
  /** @type {PredictedSpawns<OwnShot>} */
  #spawns = new PredictedSpawns();
  /** @type {Set<OwnShot>} */
  #shots = new Set();
  /** @type {Map<NetObject, OwnShot>} */
  #byObject = new Map();
  #lastId = 0;

  /** Another seat: nothing of before will be recognised. */
  reset() {
    this.#spawns = new PredictedSpawns();
    this.#shots.clear();
    this.#byObject.clear();
  }

  [Symbol.iterator]() {
    return this.#shots.values();
  }

  /**
   * A volley, as the rules made it.
   * @param {number} player
   * @param {number} step
   * @param {number} seat
   * @param {readonly { kind: number, x: number, y: number, vx: number, vy: number }[]} launches
   */
  fire(player, step, seat, launches) {
    launches.forEach(({ kind, x, y, vx, vy }, index) => {
      const shot = { id: --this.#lastId, kind, seat, x, y, vx, vy, step, shownX: x, object: null };
      if (this.#spawns.spawn(player, step, index, shot) !== null) this.#shots.add(shot);
    });
  }

  /** A shot of the server came. @param {NetObject} object */
  enter(object) {
    const key = object.get("key");
    const shot = typeof key === "bigint" && key !== 0n ? this.#spawns.match(key) : undefined;
    if (shot === undefined) return;
    shot.object = object;
    this.#byObject.set(object, shot);
  }

  /** @param {NetObject} object */
  leave(object) {
    const shot = this.#byObject.get(object);
    this.#byObject.delete(object);
    if (shot !== undefined) this.#shots.delete(shot);
  }

  /** Whether an object is shown as one of these. @param {NetObject} object */
  has(object) {
    return this.#byObject.has(object);
  }

  /**
   * Takes away what the server never made, and what has left the field.
   * @param {Client} client
   */
  update(client) {
    const acked = client.world?.feedback?.step;
    if (acked !== undefined) this.#spawns.handleAcked(acked);
    for (let shot = this.#spawns.pollWithdrawn(); shot !== undefined; shot = this.#spawns.pollWithdrawn()) {
      this.#shots.delete(shot);
    }
    for (const shot of this.#shots) {
      const age = (client.ownStep ?? shot.step) - shot.step;
      if (shot.object === null && shot.x + age * shot.vx > WIDTH + OUTSIDE) this.#shots.delete(shot);
    }
  }

  /**
   * Where a shot is shown.
   * @param {OwnShot} shot
   * @param {number} ownStep the step that is shown of the own ship
   * @param {number} lagSteps how far what is shown of others is behind that
   */
  placeOf(shot, ownStep, lagSteps) {
    const age = Math.max(0, ownStep - shot.step);
    const lag = Math.max(0, lagSteps);
    const change = Math.max(CHANGE_STEPS_MIN, LAGS * lag);
    const flown = age - lag * smooth(age / change);
    let [x, y] = [shot.x + shot.vx * flown, shot.y + shot.vy * flown];
    if (shot.object !== null) {
      const share = smooth((age - lag) / (change - lag));
      const [serverX, serverY] = shot.object.position;
      x += (serverX * UNITS_PER_METRE - x) * share;
      y += (serverY * UNITS_PER_METRE - y) * share;
    }
    // A lag that grows would pull it back; what seeks may turn around by itself.
    if (shot.kind !== ShotKind.Seeker) x = Math.max(x, shot.shownX);
    shot.shownX = x;
    return [x, y];
  }
}

/** From 0 to 1 without a jolt. @param {number} share */
function smooth(share) {
  const within = Math.max(0, Math.min(1, share));
  return within * within * (3 - 2 * within);
}

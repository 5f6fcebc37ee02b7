/**
 * What an input makes appear, before the server has made it.
 *
 * A player who fires sees the bullet at once or feels nothing but delay. The client makes one of its own;
 * when the server's arrives, it must be recognised as the same, or there are two; and if the server made
 * none, the client's has to go. Both sides can tell which is which without talking about it, since they run
 * the same step: a bullet is the first, second … thing that the input of step 41 of this player made:
 *
 *     client   step 41: fire ──▶ own bullet, key (me, 41, 0)  ─ ─ ─ ─ ─ ─ ─ becomes the view of ▶ ╮
 *     server              step 41: fire ──▶ bullet with property key (me, 41, 0) ──▶ enters ──────╯
 */

import { isNewer } from "../tick.js";
import { checkSetting } from "../view/setting.js";

/**
 * What an object that an input made is known by, on both sides, as the value of a property of kind u64. Of
 * the step only what the wire has of it: client and server may count differently above.
 * @param {number} player
 * @param {number} step
 * @param {number} index the how many-th thing that the input of this player made in this step, from 0 on
 * @returns {bigint}
 */
export function spawnKey(player, step, index) {
  return (BigInt(player >>> 0) << 32n) | BigInt(((step & 0xffff) << 8) | (index & 0xff));
}

/**
 * Objects that a client made ahead of the server. `T` is what the game knows its own by.
 * @template T
 */
export class PredictedSpawns {
  /**
   * @param {object} [config]
   * @param {number} [config.max] at most so many, 1 to 1,024
   * @param {number} [config.graceSteps] each is withdrawn when the server has simulated its step and so many
   *   more, 1 to 1,000, and not confirmed it: enough for an entry that is lost once
   */
  constructor({ max = 64, graceSteps = 60 } = {}) {
    checkSetting("max", max, 1, 1024);
    checkSetting("graceSteps", graceSteps, 1, 1000);
    this.max = max;
    this.graceSteps = graceSteps;
    /** @type {{ key: bigint, step: number, local: T }[]} */
    this.waiting = [];
    /** @type {number | null} */
    this.acked = null;
  }

  /** How many wait. */
  get size() {
    return this.waiting.length;
  }

  /**
   * The game made something for an input. Null if too many wait, or this step has one with this index.
   * @param {number} player
   * @param {number} step
   * @param {number} index
   * @param {T} local
   */
  spawn(player, step, index, local) {
    const key = spawnKey(player, step, index);
    if (this.waiting.length === this.max || this.waiting.some((waiting) => waiting.key === key)) return null;
    this.waiting.push({ key, step, local });
    return key;
  }

  /**
   * An object of the server entered with this key: the own one that it is; undefined if it is none of these.
   * @param {bigint} key
   */
  match(key) {
    return this.#take((waiting) => waiting.key === key);
  }

  /**
   * The server has simulated a step.
   * @param {number} step
   */
  handleAcked(step) {
    if (this.acked === null || isNewer(step, this.acked)) this.acked = step;
  }

  /** The next one that the server did not make, which the game takes away; undefined if there is none. */
  pollWithdrawn() {
    const { acked } = this;
    if (acked === null) return undefined;
    return this.#take(({ step }) => !isNewer((step + this.graceSteps) >>> 0, acked));
  }

  /** @param {(waiting: { key: bigint, step: number }) => boolean} isMeant */
  #take(isMeant) {
    const at = this.waiting.findIndex(isMeant);
    return at < 0 ? undefined : this.waiting.splice(at, 1)[0].local;
  }
}

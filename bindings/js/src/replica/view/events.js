/**
 * Things that happen once, shown when the view gets there.
 *
 * A hit, a sound or a call arrives as soon as it can, while what is seen lies behind by the delay of the
 * view. Shown at once, the explosion comes before the shell. So an event may carry the server time at which
 * it happened and wait until the view shows that time; another one, which concerns no motion, is given at
 * once. The game says which.
 *
 *     arrived   chat          hit at 5.20 s                view time ──▶ 5.10   5.15   5.20
 *     given     chat ▲ at once                                                          hit ▲
 *
 * Events of one time keep the order in which they came. One whose time has passed when it arrives is given at
 * once, and says how late it is. The queue is bounded in number and in how far ahead a time may lie.
 */

import { checkSetting } from "./setting.js";

/** The most events that can be made to wait. */
const EVENTS_MAX = 65536;

/**
 * An event that is due.
 * @template E
 * @typedef {object} DueEvent
 * @property {number} time the server time at which it happened
 * @property {number} late by how much that had passed already when it arrived; zero unless it waits for the
 *   view
 * @property {E} payload
 */

/**
 * Events that wait for the view. All times in microseconds.
 * @template E
 */
export class ViewEvents {
  /**
   * @param {object} [config]
   * @param {number} [config.waitingMax] 1 to 65,536
   * @param {number} [config.aheadUsMax] how far ahead of the view the time of an event may lie: 1 ms to 60 s
   */
  constructor({ waitingMax = 1024, aheadUsMax = 2000000 } = {}) {
    checkSetting("waitingMax", waitingMax, 1, EVENTS_MAX);
    checkSetting("aheadUsMax", aheadUsMax, 1000, 60000000);
    this.waitingMax = waitingMax;
    this.aheadUsMax = aheadUsMax;
    /**
     * By the time at which they are due.
     * @type {{ due: number, event: DueEvent<E> }[]}
     */
    this.waiting = [];
    /** What became of events. */
    this.counters = { given: 0, late: 0, refusedFull: 0, refusedAhead: 0 };
  }

  /** How many wait. */
  get size() {
    return this.waiting.length;
  }

  /**
   * An event of `time` arrived while the view shows `viewTime`. Says whether it was taken: not if too many
   * wait or its time is too far away.
   * @param {number} viewTime
   * @param {number} time
   * @param {boolean} isAtView whether it waits until the view shows its time; if not, it is given at the next
   *   poll
   * @param {E} payload
   */
  push(viewTime, time, isAtView, payload) {
    if (isAtView && !(time - viewTime <= this.aheadUsMax)) {
      this.counters.refusedAhead++;
      return false;
    }
    if (this.waiting.length >= this.waitingMax) {
      this.counters.refusedFull++;
      return false;
    }
    const due = isAtView ? time : -Infinity;
    const late = isAtView ? Math.max(viewTime - time, 0) : 0;
    let place = this.waiting.length;
    while (place > 0 && this.waiting[place - 1].due > due) place--;
    this.waiting.splice(place, 0, { due, event: { time, late, payload } });
    return true;
  }

  /**
   * The next event that is due when the view shows `viewTime`; null if there is none.
   * @param {number} viewTime
   * @returns {DueEvent<E> | null}
   */
  poll(viewTime) {
    if (this.waiting.length === 0 || this.waiting[0].due > viewTime) return null;
    const { event } = /** @type {{ event: DueEvent<E> }} */ (this.waiting.shift());
    this.counters.given++;
    if (event.late > 0) this.counters.late++;
    return event;
  }

  /** Forgets all of them, as after a break of the clock. */
  clear() {
    this.waiting.length = 0;
  }
}

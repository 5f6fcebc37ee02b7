/**
 * What it means that snapshots arrived and said nothing of an object.
 *
 * The server sends nothing of what does not change, so silence should mean rest. But it also waits: after a
 * state that got lost until it knows of the loss, and after an object was told in full until it knows that
 * this arrived. All that while it says nothing, moving or not:
 *
 *     snapshots   │ A  │ ·  │ ·  │ ·           the one that was due next came without it: it rests
 *     snapshots   │ A  ×    │ ·  │ ·           that one got lost, the next state may have been in it: not known
 *     snapshots   │ A in full  │ ·  │ ·        not known either
 *                                              a second of such snapshots is taken for rest all the same
 */

/** Snapshots that are remembered: more than the longest delay has. */
const SNAPSHOTS = 64;
/** Silent snapshots for so long prove rest. */
export const REST_US = 1000000;

/** The snapshots that arrived. All times in microseconds. */
export class Silence {
  /** @param {number} interval between two, if none gets lost */
  constructor(interval) {
    this.interval = interval;
    this.times = new Float64Array(SNAPSHOTS);
    this.silent = new Float64Array(SNAPSHOTS);
    this.next = 0;
    this.newest = -Infinity;
    /** What `findRest` found: until when an object rested by the last snapshot … */
    this.restUntil = 0;
    /**
     * … and by the last one before the first that got lost within the last second: it may have been waited
     * for since.
     */
    this.restCertain = 0;
    this.clear();
  }

  clear() {
    this.times.fill(-Infinity);
    this.next = 0;
    this.newest = -Infinity;
  }

  /** @param {number} time of a snapshot */
  insert(time) {
    if (this.times.includes(time)) return;
    this.times[this.next] = time;
    this.next = (this.next + 1) % SNAPSHOTS;
    this.newest = Math.max(this.newest, time);
  }

  /**
   * Whether an object rests since a state of which the next is due after `interval`.
   * @param {number} state
   * @param {number} interval
   * @param {boolean} isInFull
   */
  isRest(state, interval, isInFull) {
    return this.newest >= state + interval * 0.75 && this.#provesRest(state, interval, isInFull, Infinity);
  }

  /**
   * Whether an object rested between a state and a later one; until when, is in `restUntil` and
   * `restCertain`.
   * @param {number} state
   * @param {number} interval
   * @param {boolean} isInFull
   * @param {number} time
   */
  findRest(state, interval, isInFull, time) {
    if (!this.#provesRest(state, interval, isInFull, time)) return false;
    let count = 0;
    for (const silent of this.times) if (silent > state && silent < time) this.silent[count++] = silent;
    const sorted = this.silent.subarray(0, count).sort();
    this.restUntil = sorted[count - 1];
    this.restCertain = state;
    for (let at = 0; at < count && !isInFull; at++) {
      const hasGap = sorted[at] - this.restCertain > 1.5 * this.interval;
      if (hasGap && time - sorted[at] < REST_US) break;
      this.restCertain = sorted[at];
    }
    return true;
  }

  /**
   * By the snapshots after a state and before a time.
   * @param {number} state
   * @param {number} interval
   * @param {boolean} isInFull
   * @param {number} until
   */
  #provesRest(state, interval, isInFull, until) {
    const due = state + interval;
    const slack = interval / 4;
    let [first, last, count] = [Infinity, -Infinity, 0];
    for (let at = 0; at < SNAPSHOTS; at++) {
      const time = this.times[at];
      if (time <= state || time >= until) continue;
      if (!isInFull && Math.abs(time - due) <= slack) return true;
      first = Math.min(first, time);
      last = Math.max(last, time);
      count++;
    }
    return count === SNAPSHOTS || (count > 0 && last - first >= REST_US);
  }
}

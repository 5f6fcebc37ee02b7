/**
 * The last states of every object, in the order of their times.
 *
 * All rings lie in one array, a row of them for each object. A ring has room for the longest delay at the
 * full rate and two more, so that the state before the view and the one after it are both there, whatever the
 * delay.
 *
 * The server sends nothing of what does not change. When an object starts to move after a rest, its old state
 * may be minutes old, and a line from there to the new one would creep through all that time. So every state
 * knows when the motion towards it began:
 *
 *     snapshots   │    │    │    │    │    │        arrived
 *     states      A                        B
 *     shown       A A A A A A A A A A A A ─▶ B      it is known to have been at A in all snapshots without it
 *
 *     snapshots   │    ×    ×    ×    ×    │        lost
 *     states      A                        B
 *     shown       A ──────────────────────▶ B       it may have moved all the time: bridged
 *
 * Which silence proves rest is told in silence.js. None does if the server had too little room for all. An
 * object that was moving is therefore given the time that it would need at its speed, up to three times its
 * usual interval, and that interval is learned from the gaps between its states.
 */

import { REST_US } from "./silence.js";
import { arcRadians, length3 } from "./space.js";

/** Where the parts of a state are: times in microseconds, metres, quaternion, metres a second. */
export const TIME = 0;
/** When the motion towards this state began, at the earliest with the state before. */
export const FROM = 1;
export const POSITION = 2;
export const ROTATION = 5;
export const VELOCITY = 9;
export const HAS_VELOCITY = 12;
/** When it had jumped last by then; −∞ if never. */
export const JUMP = 13;
/** It was told in full. */
export const IN_FULL = 14;
/** Numbers of a state. */
export const KNOT = 16;

/** What an insertion did. */
export const NEWEST = 0;
export const LATE = 1;
export const IGNORED = 2;

/** How much time a motion after a gap may be given, in usual intervals. */
const INTERVALS_MAX = 3;
/** Slower is rest: rounding alone makes as much. */
const SPEED_MIN = 1e-3;

/** The states of all objects, by row. */
export class Rings {
  /**
   * @param {number} capacity states of an object, rounded up to a power of two
   * @param {number} rows for which there is room from the start
   */
  constructor(capacity, rows) {
    this.capacity = 2 ** Math.ceil(Math.log2(capacity));
    this.width = this.capacity * KNOT;
    this.knots = new Float64Array(rows * this.width);
    this.first = new Uint16Array(rows);
    this.count = new Uint16Array(rows);
    /** The time between the states of an object while it moves. */
    this.interval = new Float64Array(rows);
    /** The newest state that is known to come in full. */
    this.entry = new Float64Array(rows);
    /** What `measure` found: metres, and radians of arc, a second. */
    this.speed = 0;
    this.spin = 0;
  }

  /** @param {number} rows */
  grow(rows) {
    this.knots = copied(this.knots, new Float64Array(rows * this.width));
    this.first = copied(this.first, new Uint16Array(rows));
    this.count = copied(this.count, new Uint16Array(rows));
    this.interval = copied(this.interval, new Float64Array(rows));
    this.entry = copied(this.entry, new Float64Array(rows));
  }

  /**
   * @param {number} row
   * @param {number} interval
   */
  reset(row, interval) {
    this.first[row] = 0;
    this.count[row] = 0;
    this.interval[row] = interval;
    this.entry[row] = -Infinity;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  copyRow(from, to) {
    this.knots.copyWithin(to * this.width, from * this.width, (from + 1) * this.width);
    this.first[to] = this.first[from];
    this.count[to] = this.count[from];
    this.interval[to] = this.interval[from];
    this.entry[to] = this.entry[from];
  }

  /**
   * Where the `number`th oldest state of a row is.
   * @param {number} row
   * @param {number} number
   */
  at(row, number) {
    return row * this.width + ((this.first[row] + number) & (this.capacity - 1)) * KNOT;
  }

  /**
   * How many are not later than a time. The newest are looked at first, because the view is near them.
   * @param {number} row
   * @param {number} time
   */
  until(row, time) {
    let count = this.count[row];
    while (count > 0 && this.knots[this.at(row, count - 1) + TIME] > time) count--;
    return count;
  }

  /**
   * Whether an object jumped between an earlier state and another.
   * @param {number} earlier where it is
   * @param {number} later
   */
  hasJump(earlier, later) {
    return this.knots[later + JUMP] > this.knots[earlier + TIME];
  }

  /**
   * Takes in a state. Its `FROM` and `IN_FULL` are found here.
   * @param {number} row
   * @param {Float64Array} knot
   * @param {import("./silence.js").Silence} silence
   */
  insert(row, knot, silence) {
    const { knots } = this;
    const count = this.count[row];
    const time = knot[TIME];
    const number = this.until(row, time);
    const isKnown = number > 0 && knots[this.at(row, number - 1) + TIME] === time;
    if (isKnown || (number === 0 && count === this.capacity)) return IGNORED;
    knot[FROM] = time;
    knot[IN_FULL] = time === this.entry[row] ? 1 : 0;
    const placed = this.#makeRoom(row, number);
    const at = this.at(row, placed);
    knots.set(knot, at);
    if (placed > 0) {
      const before = this.at(row, placed - 1);
      knots[at + JUMP] = Math.max(knots[at + JUMP], knots[before + JUMP]);
      this.#setMotionStart(row, placed, silence);
      if (number === count && knots[before + IN_FULL] === 0) {
        this.#learnInterval(row, time - knots[before + TIME]);
      }
    }
    if (placed + 1 === this.count[row]) return NEWEST;
    this.#setMotionStart(row, placed + 1, silence);
    return LATE;
  }

  /**
   * Measures with which speed and spin an object came to its `number`th state.
   * @param {number} row
   * @param {number} number
   */
  measure(row, number) {
    const { knots } = this;
    const at = this.at(row, number);
    const velocity = at + VELOCITY;
    const own = length3(knots[velocity], knots[velocity + 1], knots[velocity + 2]);
    this.speed = knots[at + HAS_VELOCITY] === 1 ? own : 0;
    this.spin = 0;
    if (number === 0) return;
    const before = this.at(row, number - 1);
    if (this.hasJump(before, at)) return;
    const seconds = Math.max(knots[at + TIME] - knots[at + FROM], 1) * 1e-6;
    this.speed = Math.max(this.speed, this.#way(before, at) / seconds);
    this.spin = arcRadians(knots, before + ROTATION, knots, at + ROTATION) / seconds;
  }

  /**
   * Measures the newest state up to a number that had any speed: one after a jump and one that was told again
   * at rest say nothing of it.
   * @param {number} row
   * @param {number} number
   */
  #measurePace(row, number) {
    for (let back = number; back >= 0; back--) {
      this.measure(row, back);
      if (this.speed > SPEED_MIN || this.spin > SPEED_MIN) return;
    }
    this.speed = 0;
    this.spin = 0;
  }

  /**
   * Finds when the motion towards the `number`th state began.
   * @param {number} row
   * @param {number} number
   * @param {import("./silence.js").Silence} silence
   */
  #setMotionStart(row, number, silence) {
    const { knots } = this;
    const [before, at] = [this.at(row, number - 1), this.at(row, number)];
    const [start, time] = [knots[before + TIME], knots[at + TIME]];
    const interval = this.interval[row];
    if (this.hasJump(before, at)) {
      knots[at + FROM] = time;
      return;
    }
    if (!silence.findRest(start, interval, knots[before + IN_FULL] === 1, time)) {
      knots[at + FROM] = start;
      return;
    }
    this.#measurePace(row, number - 1);
    let needed = interval;
    if (this.speed > SPEED_MIN) needed = Math.max(needed, (this.#way(before, at) / this.speed) * 1e6);
    if (this.spin > SPEED_MIN) {
      needed = Math.max(
        needed,
        (arcRadians(knots, before + ROTATION, knots, at + ROTATION) / this.spin) * 1e6,
      );
    }
    // Who may have moved since is given the time that it needs: told in full, it may have been waited for all
    // the time.
    const latest = time - Math.min(needed, INTERVALS_MAX * interval);
    const earliest = knots[at + IN_FULL] === 1 ? start : Math.min(silence.restCertain, latest);
    const from = Math.max(Math.min(silence.restUntil, time - needed), earliest);
    knots[at + FROM] = Math.min(Math.max(from, start), time - 1);
  }

  /**
   * Metres from one state to another.
   * @param {number} from
   * @param {number} to
   */
  #way(from, to) {
    const { knots } = this;
    const [a, b] = [from + POSITION, to + POSITION];
    return length3(knots[b] - knots[a], knots[b + 1] - knots[a + 1], knots[b + 2] - knots[a + 2]);
  }

  /**
   * Shorter at once, longer by halves: an object that is sent less often shows it more than once.
   * @param {number} row
   * @param {number} gap
   */
  #learnInterval(row, gap) {
    const interval = this.interval[row];
    if (gap < interval) this.interval[row] = gap;
    else if (gap < REST_US) this.interval[row] = Math.min(gap, 1.5 * interval + 1);
  }

  /**
   * Makes room for a state, if need be at the cost of the oldest; its number.
   * @param {number} row
   * @param {number} number
   */
  #makeRoom(row, number) {
    let placed = number;
    if (this.count[row] === this.capacity) {
      this.first[row] = (this.first[row] + 1) & (this.capacity - 1);
      placed--;
    } else {
      this.count[row]++;
    }
    for (let later = this.count[row] - 1; later > placed; later--) {
      const from = this.at(row, later - 1);
      this.knots.copyWithin(this.at(row, later), from, from + KNOT);
    }
    return placed;
  }
}

/**
 * The longer of two arrays, filled with the shorter.
 * @template {Float64Array | Uint16Array | Uint8Array} T
 * @param {T} from
 * @param {T} to
 */
export function copied(from, to) {
  to.set(from);
  return to;
}

/**
 * How late snapshots come, how often, and how long a view must wait for them.
 *
 * Three questions, one window of recent snapshots. *Jitter* is lateness against the line of the least
 * delayed. The *interval* is the time between two server times; losses double some of them, so a low
 * percentile is taken. The *needed delay* of a snapshot is how far behind the line a view must be to reach
 * the end of the previous one only when this one is there:
 *
 *     server times     40        45 (lost)     50
 *     arrive at line   40·                        ·55       needed: 55 − 40 = lateness 5 + gap 10
 */

const WINDOW = 128;
const INTERVAL_WINDOW = 32;
/** A gap this long is rest: no game sends so seldom while something moves. */
const GAP_US_MAX = 1000000;
/** A longer gap than so many intervals is rest or an outage, and waiting helps against neither. */
const GAP_INTERVALS_MAX = 3;
/** Server times that tell a snapshot from its copy, or from another part of it. */
const COPIES_WINDOW = 32;

/** All times in microseconds. */
export class Lateness {
  constructor() {
    this.serverTimes = new Float64Array(WINDOW);
    this.offsets = new Float64Array(WINDOW);
    /** How long a snapshot lay around here before anybody looked. */
    this.waits = new Float64Array(WINDOW);
    /** Since the newest before; zero if it was older than that. */
    this.gaps = new Float64Array(WINDOW);
    this.figures = new Float64Array(WINDOW);
    /** The time between two snapshots as the server makes them; zero until there are two. */
    this.interval = 0;
    /** 95 % of the recent ones came no later than this after the least delayed. */
    this.high = 0;
    this.middle = 0;
    /** The delay with which 98 % would have come in time. */
    this.needed = 0;
    this.count = 0;
    this.newest = 0;
    this.newestServerTime = 0;
  }

  /** Forgets everything but the interval. */
  restart() {
    this.high = 0;
    this.middle = 0;
    this.needed = 0;
    this.count = 0;
  }

  /**
   * @param {number} serverTime
   * @param {number} offset
   * @param {number} waited
   * @param {number} line the offset of the least delayed
   */
  insert(serverTime, offset, waited, line) {
    for (let back = 0; back < Math.min(this.count, COPIES_WINDOW); back++) {
      if (this.serverTimes[this.#before(back)] === serverTime) return;
    }
    const isFirst = this.count === 0;
    const gap = isFirst ? 0 : serverTime - this.newestServerTime;
    this.newestServerTime = isFirst ? serverTime : Math.max(serverTime, this.newestServerTime);
    this.newest = isFirst ? 0 : (this.newest + 1) % WINDOW;
    this.count = Math.min(this.count + 1, WINDOW);
    this.serverTimes[this.newest] = serverTime;
    this.offsets[this.newest] = offset;
    this.waits[this.newest] = waited;
    this.gaps[this.newest] = gap >= 0 && gap <= GAP_US_MAX ? gap : 0;
    this.#measure(line);
  }

  /** @param {number} line */
  #measure(line) {
    const { figures } = this;
    let found = 0;
    for (let back = 0; back < Math.min(this.count, INTERVAL_WINDOW); back++) {
      const gap = this.gaps[this.#before(back)];
      if (gap > 0) figures[found++] = gap;
    }
    this.interval = percentile(figures, found, 25, this.interval);
    for (let at = 0; at < this.count; at++) figures[at] = this.#late(at, line);
    this.high = percentile(figures, this.count, 95, 0);
    this.middle = percentile(figures, this.count, 50, 0);
    found = 0;
    for (let at = 0; at < this.count; at++) {
      const gap = this.gaps[at];
      if (gap === 0) continue;
      figures[found++] =
        this.#late(at, line) + (gap > GAP_INTERVALS_MAX * this.interval ? this.interval : gap);
    }
    this.needed = percentile(figures, found, 98, 0);
  }

  /**
   * @param {number} at
   * @param {number} line
   */
  #late(at, line) {
    return Math.max(line - this.offsets[at] - this.waits[at], 0);
  }

  /** @param {number} back */
  #before(back) {
    return (this.newest + WINDOW - back) % WINDOW;
  }
}

/**
 * By nearest rank.
 * @param {Float64Array} figures
 * @param {number} count
 * @param {number} percent
 * @param {number} ofNothing
 */
function percentile(figures, count, percent, ofNothing) {
  if (count === 0) return ofNothing;
  return figures.subarray(0, count).sort()[Math.max(Math.ceil((count * percent) / 100), 1) - 1];
}

/**
 * The least delayed samples, and the line through them: see clock.js for the picture.
 *
 * The best sample of every two seconds is kept. The line goes through the second best of the last four, so
 * that no single sample can move it, and a route that became slower is followed after eight seconds. Its
 * slope is the median over pairs of such samples that lie about half a minute apart; a pair that is steeper
 * than any real clock is a change of route and does not count.
 */

/** One best sample for so long. */
const BUCKET_US = 2000000;
/** A minute of best samples: enough that 80 ms of jitter leaves some 50 ppm of doubt about the slope. */
const BUCKETS = 32;
/** Samples that decide about the offset. */
const RECENT = 4;
/** With fewer, jitter would say more about the slope than the clocks do. */
const DRIFT_BUCKETS_MIN = 16;
/** No quartz is this far off; 200 ppm is a bad one. */
const DRIFT_MAX = 1e-3;

/** Offsets are server time less local time, in microseconds. */
export class LineOfLeastDelay {
  constructor() {
    this.numbers = new Float64Array(BUCKETS);
    this.times = new Float64Array(BUCKETS);
    this.offsets = new Float64Array(BUCKETS);
    this.count = 0;
    this.newest = 0;
    /** The other clock runs faster by this part. */
    this.drift = 0;
    /** When the offset was last known, and what it was then: holds while nothing arrives. */
    this.lineTime = 0;
    this.lineOffset = NaN;
    this.slopes = new Float64Array(BUCKETS);
  }

  /**
   * @param {number} now
   * @param {number} offset
   */
  insert(now, offset) {
    const number = Math.floor(now / BUCKET_US);
    if (this.count > 0 && this.numbers[this.newest] === number) {
      if (offset > this.offsets[this.newest]) this.#put(number, now, offset);
    } else {
      this.#measureDrift();
      this.newest = this.count === 0 ? 0 : (this.newest + 1) % BUCKETS;
      this.count = Math.min(this.count + 1, BUCKETS);
      this.#put(number, now, offset);
    }
    this.lineTime = now;
    this.lineOffset = this.#secondBest(now);
  }

  /** Forgets the samples; the clocks still drift as they did. */
  restart() {
    this.count = 0;
    this.newest = 0;
    this.lineOffset = NaN;
  }

  /**
   * Where the line is; not a number before the first sample.
   * @param {number} now
   */
  offsetAt(now) {
    return this.lineOffset + this.#drifted(this.lineTime, now);
  }

  /**
   * @param {number} number
   * @param {number} now
   * @param {number} offset
   */
  #put(number, now, offset) {
    this.numbers[this.newest] = number;
    this.times[this.newest] = now;
    this.offsets[this.newest] = offset;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  #drifted(from, to) {
    return Math.max(to - from, 0) * this.drift;
  }

  /** @param {number} now */
  #secondBest(now) {
    let best = -Infinity;
    let second = -Infinity;
    for (let back = 0; back < Math.min(this.count, RECENT); back++) {
      const at = this.#before(back);
      if (now - this.times[at] > RECENT * BUCKET_US) break;
      const offset = this.offsets[at] + this.#drifted(this.times[at], now);
      second = offset > best ? best : Math.max(second, offset);
      best = Math.max(best, offset);
    }
    return second === -Infinity ? best : second;
  }

  /** @param {number} back */
  #before(back) {
    return (this.newest + BUCKETS - back) % BUCKETS;
  }

  #measureDrift() {
    if (this.count < DRIFT_BUCKETS_MIN) return;
    const half = this.count >> 1;
    let found = 0;
    for (let back = 0; back < half; back++) {
      const later = this.#before(back);
      const earlier = this.#before(back + half);
      const apart = this.times[later] - this.times[earlier];
      const slope = (this.offsets[later] - this.offsets[earlier]) / Math.max(apart, 1);
      if (apart > 2 * BUCKET_US && Math.abs(slope) <= DRIFT_MAX) this.slopes[found++] = slope;
    }
    if (found * 2 >= half) this.drift = this.slopes.subarray(0, found).sort()[found >> 1];
  }
}

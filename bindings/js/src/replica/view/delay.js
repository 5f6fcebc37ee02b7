/**
 * How far behind the server's time the view is.
 *
 * To show motion between two states, both must be here. The view therefore lies behind the newest snapshot by
 * a delay: too short, and every late or lost snapshot freezes what is seen; too long, and the player aims at
 * the past.
 *
 *     wanted = max(setting, 1.5 × send interval, delay that 98 % of the snapshots would have needed + 5 ms)
 *
 *     delay     ┌───────────────┐              up as soon as more is wanted
 *            ───┘               └──────        down when less was wanted for four seconds, to the most of it
 *
 * A delay that changes makes the view run faster or slower, by at most 5 %.
 */

import { checkSetting } from "./setting.js";

/** The shortest delay that can be set, and the longest, set or found. */
export const DELAY_US_MIN = 50000;
export const DELAY_US_MAX = 500000;

const CHANGE_MAX = 0.05;
const SETTLE_US = 500000;
const MARGIN_US = 5000;
/** Less must be wanted by this before it counts as less. */
const HYSTERESIS_US = 10000;
const CALM_US = 4000000;

/** The delay as it is now. All times in microseconds. */
export class ViewDelay {
  /**
   * @param {object} [config]
   * @param {number} [config.delayUs] on a good connection: 50 to 500 ms
   * @param {boolean} [config.isAdaptive] whether it grows with jitter and loss, and shrinks again
   */
  constructor({ delayUs = 100000, isAdaptive = true } = {}) {
    checkSetting("delayUs", delayUs, DELAY_US_MIN, DELAY_US_MAX);
    this.setting = delayUs;
    this.isAdaptive = isAdaptive;
    /** The delay when it was last asked for. */
    this.delay = delayUs;
    /** The delay that it moves to. */
    this.target = delayUs;
    /** Since when less is wanted, and the most that was wanted since. */
    this.calmSince = NaN;
    this.calmMost = 0;
    this.seen = NaN;
  }

  /**
   * Another delay for a good connection; the present one moves there smoothly.
   * @param {number} delayUs
   */
  set(delayUs) {
    checkSetting("delayUs", delayUs, DELAY_US_MIN, DELAY_US_MAX);
    this.setting = delayUs;
  }

  /**
   * The delay at `now`, on a connection that sends at `interval` and would have needed a delay of `needed`.
   * @param {number} now
   * @param {number} interval
   * @param {number} needed
   */
  advance(now, interval, needed) {
    const passed = Number.isNaN(this.seen) ? 0 : Math.max(now - this.seen, 0);
    this.seen = now;
    const adapted = this.isAdaptive ? needed + MARGIN_US : 0;
    this.#choose(now, Math.min(Math.max(this.setting, 1.5 * interval, adapted), DELAY_US_MAX));
    const limit = CHANGE_MAX * passed;
    const change = (this.target - this.delay) * Math.min(passed / SETTLE_US, 1);
    this.delay += Math.min(Math.max(change, -limit), limit);
    return this.delay;
  }

  /**
   * @param {number} now
   * @param {number} wanted
   */
  #choose(now, wanted) {
    if (wanted >= this.target) {
      this.target = wanted;
      this.calmSince = NaN;
      return;
    }
    // A little less is not worth a change, unless it is the setting itself.
    if (wanted + HYSTERESIS_US > this.target && wanted > this.setting) {
      this.calmSince = NaN;
      return;
    }
    if (Number.isNaN(this.calmSince)) {
      this.calmSince = now;
      this.calmMost = wanted;
    }
    this.calmSince = Math.min(this.calmSince, now);
    this.calmMost = Math.max(this.calmMost, wanted);
    if (now - this.calmSince >= CALM_US) {
      this.target = this.calmMost;
      this.calmSince = NaN;
    }
  }
}

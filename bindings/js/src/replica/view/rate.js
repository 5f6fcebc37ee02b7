/**
 * Which step is when: the one place where numbers of steps or ticks become times and the other way round.
 *
 * Step 0 is at zero, and a second has a whole number of them. A step is usually no whole number of
 * microseconds long, so nothing is counted in lengths: step n is at n seconds divided by the rate, rounded
 * up, so that the step at the time of a step is that step again.
 */

import { checkSetting } from "./setting.js";

/** Steps or ticks a second. */
export class Rate {
  /**
   * @param {string} name what a user calls it
   * @param {number} perSecond 1 to 1,000
   */
  constructor(name, perSecond) {
    checkSetting(name, perSecond, 1, 1000);
    this.perSecond = perSecond;
    this.stepUs = 1e6 / perSecond;
  }

  /**
   * When a step is, in microseconds.
   * @param {number} step
   */
  timeOf(step) {
    return Math.ceil((step * 1e6) / this.perSecond);
  }

  /**
   * The newest step that is not later.
   * @param {number} timeUs
   */
  stepAt(timeUs) {
    return Math.floor((timeUs * this.perSecond) / 1e6);
  }

  /**
   * How many steps a time has, one that has begun counted as one.
   * @param {number} timeUs
   */
  stepsWithin(timeUs) {
    return Math.ceil((timeUs * this.perSecond) / 1e6);
  }
}

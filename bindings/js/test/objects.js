// An interpolator that tests can talk to in a few words.
import assert from "node:assert/strict";
import { Interpolator } from "../src/replica/view/interpolate.js";
import { Pose, UNTURNED } from "../src/replica/view/space.js";

export const INTERVAL = 50000;
export const FRAME = 16667;
export const SLOT = 3;

/** @typedef {import("../src/replica/view/space.js").Quaternion} Quaternion */
/** @type {{ rotation?: readonly number[], velocity?: number[] | null, jump?: number, slot?: number }} */
const NOTHING = {};

/** Objects of which most tests have one, in slot 3. */
export class Objects extends Interpolator {
  /**
   * A state arrives.
   * @param {number} time
   * @param {number} x
   * @param {typeof NOTHING} more
   */
  put(time, x, { rotation = UNTURNED, velocity = null, jump = -Infinity, slot = SLOT } = NOTHING) {
    return this.insert(slot, time, [x, 0, 0], rotation, velocity, jump);
  }

  /**
   * A snapshot with it arrives.
   * @param {number} time
   * @param {number} x
   * @param {typeof NOTHING} [more]
   */
  receive(time, x, more) {
    this.handleSnapshot(time);
    return this.put(time, x, more);
  }

  /** @param {number} time */
  poseAt(time) {
    this.advance(time);
    return /** @type {Pose} */ (this.shown(SLOT));
  }

  /** @param {number} time */
  xAt(time) {
    return this.poseAt(time).position[0];
  }
}

/**
 * @param {number} degrees
 * @returns {Quaternion}
 */
export function aboutZ(degrees) {
  const half = (degrees * Math.PI) / 360;
  return [0, 0, Math.sin(half), Math.cos(half)];
}

/**
 * @param {number} actual
 * @param {number} expected
 * @param {number} [margin]
 * @param {string} [what]
 */
export function near(actual, expected, margin = 1e-6, what = "") {
  assert.ok(Math.abs(actual - expected) <= margin, `${actual} is not ${expected} ${what}`);
}

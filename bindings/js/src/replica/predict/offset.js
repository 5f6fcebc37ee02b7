/**
 * How far an object is seen from where it is: what a correction leaves, shrinking with time.
 */

import { Pose, UNTURNED, angleRadians, compose, inverse, length3, slerp } from "../view/space.js";

/** Offsets below a tenth of a millimetre and a hundredth of a degree are over. */
const OVER_METRES = 1e-4;
const OVER_RADIANS = 1.7e-4;

/** What the view is beside the present. */
export class Offset {
  constructor() {
    this.metres = [0, 0, 0];
    /** Turns the present to the view. */
    this.turn = [...UNTURNED];
    this.isZero = true;
  }

  clear() {
    this.metres = [0, 0, 0];
    this.turn = [...UNTURNED];
    this.isZero = true;
  }

  /**
   * The present moved: the view stays where it was.
   * @param {Pose} before
   * @param {Pose} after
   */
  add(before, after) {
    this.metres = this.metres.map((axis, at) => axis + before.position[at] - after.position[at]);
    const shown = compose(this.turn, before.rotation);
    // Many turns after each other would not stay of length one; this makes them so.
    this.turn = slerp(UNTURNED, compose(shown, inverse(after.rotation)), 1);
    this.isZero = false;
  }

  /** @param {Pose} present */
  appliedTo(present) {
    const position = present.position.map((axis, at) => axis + this.metres[at]);
    return new Pose(position, compose(this.turn, present.rotation));
  }

  /**
   * By time and not by frames: as fast at 30 frames a second as at 144.
   * @param {number} elapsedUs
   * @param {number} perSecond
   */
  decay(elapsedUs, perSecond) {
    if (this.isZero) return;
    const left = Math.exp(-perSecond * elapsedUs * 1e-6);
    this.metres = this.metres.map((axis) => axis * left);
    this.turn = slerp(UNTURNED, this.turn, left);
    if (this.isWithin(OVER_METRES, OVER_RADIANS)) this.clear();
  }

  /**
   * @param {number} metres
   * @param {number} radians
   */
  isWithin(metres, radians) {
    const [x, y, z] = this.metres;
    return length3(x, y, z) <= metres && angleRadians(this.turn, UNTURNED) <= radians;
  }
}

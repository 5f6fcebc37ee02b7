/**
 * Smooth motion from states that come twenty times a second, late, out of order or not at all.
 *
 * A screen shows 60 or 144 frames a second, and every one of them needs a pose of every object. The view lies
 * behind the server by a delay, so that usually a state before and one after it are here, and what is shown
 * lies between them:
 *
 *     states      │    │    │    │    ·                          · not here yet
 *     view time             ▲                                    ◀─ delay ─▶ now
 *
 * Objects lie in rows, side by side (motion.js); here they are known by their slots. One that is attached to
 * another is interpolated in the frame of its parent, and then placed where the parent is shown. When it is
 * attached or let go, its older states are converted by where both are shown at that moment, so that nothing
 * moves by it.
 */

import { DELAY_US_MAX } from "./delay.js";
import { Motions } from "./motion.js";
import { Rate } from "./rate.js";
import { HAS_VELOCITY, JUMP, KNOT, POSITION, ROTATION, TIME, VELOCITY, copied } from "./rings.js";
import { POSE } from "./segment.js";
import { checkSetting } from "./setting.js";
import { Silence } from "./silence.js";
import { Pose, compose, inverse, inward, normalized, outward, turned } from "./space.js";

/** States that are kept at least, however slowly they come. */
const STATES_MIN = 12;
/** The longest that anything is carried on without news. */
export const EXTRAPOLATION_US_MAX = 250000;
/** Coordinates beyond this are a mistake: a double tells eighths of a metre apart there. */
const POSITION_METRES_MAX = 1e15;
const SLOTS_MAX = 65535;
const NOBODY = -1;
/** How many parents are followed: a world allows no deeper chains. */
export const ATTACH_DEPTH_MAX = 8;

/**
 * Where a pose comes from: before the first state, between two, at the newest, or beyond it.
 * @typedef {"ahead" | "between" | "held" | "extrapolated"} Source
 */

/** @type {readonly Source[]} */
const SOURCES = ["ahead", "between", "held", "extrapolated"];

/** Objects in motion. All times in microseconds of the server. */
export class Interpolator {
  /**
   * @param {object} [config]
   * @param {number} [config.statesPerSecond] the most of an object, 1 to 1,000
   * @param {number} [config.objects] for which there is room from the start, 1 to 65,535
   * @param {number} [config.extrapolationUs] how long anything is carried on without news: 0 to 250 ms
   */
  constructor({ statesPerSecond = 20, objects = 256, extrapolationUs = EXTRAPOLATION_US_MAX } = {}) {
    const rate = new Rate("statesPerSecond", statesPerSecond);
    checkSetting("objects", objects, 1, SLOTS_MAX);
    checkSetting("extrapolationUs", extrapolationUs, 0, EXTRAPOLATION_US_MAX);
    this.silence = new Silence(rate.timeOf(1));
    const states = Math.max(rate.stepsWithin(DELAY_US_MAX) + 2, STATES_MIN);
    this.motions = new Motions(states, objects, this.silence, extrapolationUs);
    /** @type {number[]} */
    this.rowOf = [];
    /** By row. */
    this.slots = /** @type {number[]} */ ([]);
    this.parents = /** @type {number[]} */ ([]);
    this.attached = 0;
    /** In the world, by row; only while something is attached. */
    this.worlds = new Float64Array(0);
    /** States that were refused because they were not finite or too far away. */
    this.refused = 0;
    this.knot = new Float64Array(KNOT);
  }

  /** How many objects there are. */
  get size() {
    return this.slots.length;
  }

  /**
   * A snapshot of this time arrived; its states are inserted after this.
   * @param {number} time
   */
  handleSnapshot(time) {
    this.silence.insert(time);
  }

  /**
   * Takes in a state; the first one of a slot makes an object of it.
   * @param {number} slot
   * @param {number} time
   * @param {ArrayLike<number>} position metres, relative to the parent if there is one
   * @param {ArrayLike<number>} rotation x y z w
   * @param {ArrayLike<number> | null} velocity metres a second, if known
   * @param {number} jump when it had jumped last by then, −∞ if never: nothing is shown between a state from
   *   before that and this one
   * @returns {boolean} whether it is one more
   */
  insert(slot, time, position, rotation, velocity, jump) {
    const unit = normalized(rotation);
    let isNear = slot >= 0 && slot < SLOTS_MAX;
    for (let axis = 0; axis < 3; axis++) isNear &&= Math.abs(position[axis]) <= POSITION_METRES_MAX;
    if (unit === null || !isNear) {
      this.refused++;
      return false;
    }
    const { knot } = this;
    knot[TIME] = time;
    knot.set(unit, ROTATION);
    let isKnown = velocity !== null;
    for (let axis = 0; axis < 3; axis++) {
      knot[POSITION + axis] = position[axis];
      const speed = velocity === null ? 0 : velocity[axis];
      isKnown &&= Number.isFinite(speed);
      knot[VELOCITY + axis] = speed;
    }
    knot[HAS_VELOCITY] = isKnown ? 1 : 0;
    knot[JUMP] = Math.min(jump, time);
    return this.motions.insert(this.#rowFor(slot), knot);
  }

  /**
   * The state of this time, which is inserted next, was told in full: silence around it may be no rest.
   * @param {number} slot
   * @param {number} time
   */
  noteEntry(slot, time) {
    const row = this.#row(slot);
    if (row !== NOBODY) this.motions.rings.entry[row] = time;
  }

  /**
   * There is an object in `slot`, and from now on its states are relative to `parent`.
   * @param {number} slot
   * @param {number | null} parent
   */
  enter(slot, parent) {
    const row = this.#rowFor(slot);
    if (this.parents[row] !== (parent ?? NOBODY)) this.#setParent(row, parent ?? NOBODY);
  }

  /**
   * The object of a slot is gone. What was attached to it stays where it is shown.
   * @param {number} slot
   */
  remove(slot) {
    const row = this.#row(slot);
    if (row === NOBODY) return;
    for (let child = 0; this.attached > 0 && child < this.size; child++) {
      if (this.parents[child] === slot && child !== row) this.#setParent(child, NOBODY);
    }
    if (this.parents[row] !== NOBODY) this.attached--;
    const last = this.size - 1;
    this.motions.remove(row);
    this.worlds.copyWithin(row * POSE, last * POSE, (last + 1) * POSE);
    this.slots[row] = this.slots[last];
    this.parents[row] = this.parents[last];
    this.rowOf[this.slots[row]] = row;
    this.rowOf[slot] = NOBODY;
    this.slots.pop();
    this.parents.pop();
  }

  /** Forgets every object, as after a break of the clock. */
  clear() {
    while (this.size > 0) this.remove(this.slots[this.size - 1]);
    this.silence.clear();
    this.motions.shownTime = NaN;
  }

  /**
   * Shows everything as it was at a time.
   * @param {number} viewTime
   */
  advance(viewTime) {
    this.motions.advance(viewTime);
    if (this.attached > 0) this.#placeAttached();
  }

  /**
   * Where an object was shown last, in the world; null if there is none, or if it came after that.
   * @param {number} slot
   * @param {Pose} [pose] where it goes
   */
  shown(slot, pose = new Pose()) {
    const row = this.#row(slot);
    return row !== NOBODY && this.motions.sourceOf(row) >= 0 ? this.putWorld(row, pose) : null;
  }

  /**
   * The same relative to its parent, if it has one.
   * @param {number} slot
   * @param {Pose} [pose]
   */
  shownLocally(slot, pose = new Pose()) {
    const row = this.#row(slot);
    return row !== NOBODY && this.motions.sourceOf(row) >= 0 ? putPose(this.motions.poses, row, pose) : null;
  }

  /**
   * Where that comes from; null if it is not shown.
   * @param {number} slot
   */
  sourceOf(slot) {
    const row = this.#row(slot);
    return row === NOBODY ? null : (SOURCES[this.motions.sourceOf(row)] ?? null);
  }

  /**
   * @param {number} row
   * @param {Pose} pose
   */
  putWorld(row, pose) {
    return putPose(this.parents[row] === NOBODY ? this.motions.poses : this.worlds, row, pose);
  }

  /** @param {number} slot */
  #row(slot) {
    return this.rowOf[slot] ?? NOBODY;
  }

  /** @param {number} slot */
  #rowFor(slot) {
    const known = this.#row(slot);
    if (known !== NOBODY) return known;
    const row = this.motions.push();
    while (this.rowOf.length <= slot) this.rowOf.push(NOBODY);
    this.rowOf[slot] = row;
    this.slots.push(slot);
    this.parents.push(NOBODY);
    return row;
  }

  /**
   * @param {number} row
   * @param {number} parent
   */
  #setParent(row, parent) {
    const [old, now] = [this.#frame(this.parents[row]), this.#frame(parent)];
    const intoNow = compose(inverse(now.rotation), old.rotation);
    const pose = new Pose();
    this.motions.convert(row, (numbers, at, velocity) => {
      const moved = inward(now, outward(old, putNumbers(numbers, at, pose)));
      numbers.set(moved.position, at);
      numbers.set(moved.rotation, at + 3);
      if (velocity >= 0) numbers.set(turned(intoNow, numbers.subarray(velocity, velocity + 3)), velocity);
    });
    this.attached += (parent === NOBODY ? 0 : 1) - (this.parents[row] === NOBODY ? 0 : 1);
    this.parents[row] = parent;
    // It is asked where it is before the next frame, too.
    if (parent !== NOBODY) this.#place(row);
  }

  /**
   * Where what an object is relative to is shown.
   * @param {number} slot
   */
  #frame(slot) {
    const row = this.#row(slot);
    return row === NOBODY ? new Pose() : this.putWorld(row, new Pose());
  }

  #placeAttached() {
    for (let row = 0; row < this.size; row++) if (this.parents[row] !== NOBODY) this.#place(row);
  }

  /**
   * Places one that is attached in the world.
   * @param {number} row
   */
  #place(row) {
    const { poses } = this.motions;
    if (this.worlds.length < poses.length) this.worlds = copied(this.worlds, new Float64Array(poses.length));
    let pose = putPose(poses, row, new Pose());
    let parent = this.#row(this.parents[row]);
    for (let depth = 0; depth < ATTACH_DEPTH_MAX && parent !== NOBODY; depth++) {
      pose = outward(putPose(poses, parent, new Pose()), pose);
      parent = this.#row(this.parents[parent]);
    }
    this.worlds.set(pose.position, row * POSE);
    this.worlds.set(pose.rotation, row * POSE + 3);
  }
}

/**
 * @param {Float64Array} poses
 * @param {number} row
 * @param {Pose} pose
 */
function putPose(poses, row, pose) {
  return putNumbers(poses, row * POSE, pose);
}

/**
 * @param {Float64Array} numbers
 * @param {number} at
 * @param {Pose} pose
 */
function putNumbers(numbers, at, pose) {
  for (let axis = 0; axis < 3; axis++) pose.position[axis] = numbers[at + axis];
  for (let part = 0; part < 4; part++) pose.rotation[part] = numbers[at + 3 + part];
  return pose;
}

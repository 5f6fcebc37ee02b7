/**
 * Objects in motion, by row: which motion each is in, and how what is shown follows when that turns out to be
 * another one.
 *
 *     before the oldest   the oldest, as it is
 *     between two         a cubic if velocities are known, else a line; the shorter arc
 *     beyond the newest   at rest: held. Not known: straight on for a while, then held. Rotations are held
 *     a jump              the state before it until its time, then the one after
 *
 * States come late, and change what has been shown already. The difference is kept, and shrinks:
 *
 *     shown        ──────╮ . . .                     the states said so
 *                        ╰─╮ difference, shrinking
 *     states now   ────────┴────────────             they say otherwise
 *
 * It shrinks at 0.9 times the speed of the object, so that nothing moves faster than about twice its own
 * speed; after an outage of more than two seconds it shrinks faster, to be gone in two. Only a state that is
 * marked as a jump moves an object at once.
 */

import {
  HAS_VELOCITY,
  IN_FULL,
  FROM,
  JUMP,
  LATE,
  NEWEST,
  POSITION,
  Rings,
  TIME,
  VELOCITY,
  copied,
} from "./rings.js";
import { AHEAD, END, EXTRAPOLATED, HELD, POSE, SEGMENT, SOURCE, SPEED, SPIN, START } from "./segment.js";
import { between, beyond, hold, putPose } from "./segment.js";
import { UNTURNED, arcRadians, compose, inverse, length3, normalized } from "./space.js";

/** How much faster than an object a difference shrinks. */
const EASE_SPEED = 0.9;
/** What is shown is at most so many times as fast as the object. */
const SHOWN_SPEED_MAX = 2;
/** Per second: all differences are gone in two seconds, and none in less than a twentieth. */
const EASE_RATE_MIN = 0.5;
const EASE_RATE_MAX = 20;
/** Differences that nobody sees: metres, and radians of arc. */
const UNSEEN_METRES = 1e-4;
const UNSEEN_RADIANS = 1e-4;

/** What is shown may no longer be what the states say. */
const CHANGED = 1;
/** The segment begins at the newest state. */
const LAST = 2;
/** And whether the object rests is not known. */
const OPEN = 4;
/** It was shown before. */
const SHOWN = 8;
/** Some difference is being eased. */
const EASING = 16;
/** There is no state of it yet. */
const EMPTY = 32;

/**
 * Where the parts of a difference are: metres first, the turn, what is left of it (1 to 0), how much of that goes a
 * second, how fast the object was when it showed, and the newest jump that has been shown.
 */
const TURN = 3;
const LEFT = 7;
const RATE = 8;
const FASTEST = 9;
const SHOWN_JUMP = 10;
const EASE = 11;

/** All times in microseconds. */
export class Motions {
  /**
   * @param {number} states of an object for which there is room
   * @param {number} rows for which there is room from the start
   * @param {import("./silence.js").Silence} silence
   * @param {number} extrapolation how long anything is carried on without news
   */
  constructor(states, rows, silence, extrapolation) {
    this.silence = silence;
    this.extrapolation = extrapolation;
    this.count = 0;
    this.rings = new Rings(states, rows);
    this.segments = new Float64Array(rows * SEGMENT);
    this.eases = new Float64Array(rows * EASE);
    this.flags = new Uint8Array(rows);
    /** What is shown, seven numbers each: position and rotation. */
    this.poses = new Float64Array(rows * POSE);
    this.shownTime = NaN;
    this.velocity = new Float64Array(3);
    this.right = new Float64Array(POSE);
  }

  /** Another row, without states. */
  push() {
    const row = this.count++;
    if (row === this.flags.length) this.#grow(2 * row);
    this.rings.reset(row, this.silence.interval);
    this.segments.fill(0, row * SEGMENT, (row + 1) * SEGMENT);
    this.eases[row * EASE + SHOWN_JUMP] = -Infinity;
    this.poses.fill(0, row * POSE, (row + 1) * POSE);
    this.poses[row * POSE + 6] = 1;
    this.flags[row] = CHANGED | EMPTY;
    return row;
  }

  /** @param {number} rows */
  #grow(rows) {
    this.rings.grow(rows);
    this.segments = copied(this.segments, new Float64Array(rows * SEGMENT));
    this.eases = copied(this.eases, new Float64Array(rows * EASE));
    this.poses = copied(this.poses, new Float64Array(rows * POSE));
    this.flags = copied(this.flags, new Uint8Array(rows));
  }

  /**
   * Takes a row away; the last one takes its place.
   * @param {number} row
   */
  remove(row) {
    const last = --this.count;
    if (row === last) return;
    this.rings.copyRow(last, row);
    this.segments.copyWithin(row * SEGMENT, last * SEGMENT, (last + 1) * SEGMENT);
    this.eases.copyWithin(row * EASE, last * EASE, (last + 1) * EASE);
    this.poses.copyWithin(row * POSE, last * POSE, (last + 1) * POSE);
    this.flags[row] = this.flags[last];
  }

  /**
   * Takes in a state; says whether it is one more.
   * @param {number} row
   * @param {Float64Array} knot
   */
  insert(row, knot) {
    const inserted = this.rings.insert(row, knot, this.silence);
    // A newest state changes what is shown only if the view lies beyond the one before.
    const isBeyond = (this.flags[row] & (LAST | SHOWN)) !== SHOWN;
    if (inserted === LATE || (inserted === NEWEST && isBeyond)) this.flags[row] |= CHANGED;
    this.flags[row] &= ~EMPTY;
    return inserted === LATE || inserted === NEWEST;
  }

  /**
   * Changes all states of a row, and what is shown of it, because they are relative to something else now.
   * @param {number} row
   * @param {(numbers: Float64Array, position: number, velocity: number) => void} convert with the places of
   *   both; no velocity is −1
   */
  convert(row, convert) {
    const { rings } = this;
    for (let number = 0; number < rings.count[row]; number++) {
      const at = rings.at(row, number);
      convert(rings.knots, at + POSITION, rings.knots[at + HAS_VELOCITY] === 1 ? at + VELOCITY : -1);
    }
    convert(this.poses, row * POSE, -1);
    this.flags[row] |= CHANGED;
  }

  /**
   * Shows everything as it was at a time.
   * @param {number} time
   */
  advance(time) {
    const shownTime = Number.isNaN(this.shownTime) ? time : this.shownTime;
    const seconds = Math.max(time - shownTime, 0) * 1e-6;
    const { segments, flags } = this;
    for (let row = 0; row < this.count; row++) {
      const flag = flags[row];
      if ((flag & EMPTY) !== 0) continue;
      if ((flag & CHANGED) !== 0 || ((flag & OPEN) !== 0 && this.#isKnownToRest(row))) {
        this.#adjust(row, shownTime);
      }
      const at = row * SEGMENT;
      if (time < segments[at + START] || time >= segments[at + END]) this.#enterSegment(row, time);
      if ((flags[row] & EASING) !== 0) {
        putPose(segments, at, time, this.right, 0);
        this.#ease(row, seconds);
      } else {
        putPose(segments, at, time, this.poses, row * POSE);
      }
      flags[row] |= SHOWN;
    }
    this.shownTime = time;
  }

  /**
   * Where what is shown of a row comes from; −1 if it was not shown yet.
   * @param {number} row
   */
  sourceOf(row) {
    if ((this.flags[row] & SHOWN) === 0) return -1;
    const source = this.segments[row * SEGMENT + SOURCE];
    const isOver = this.shownTime - this.segments[row * SEGMENT + START] > this.extrapolation;
    return source === EXTRAPOLATED && isOver ? HELD : source;
  }

  /**
   * Whether a snapshot arrived that would have brought a newer state if there were one.
   * @param {number} row
   */
  #isKnownToRest(row) {
    const { rings } = this;
    const newest = rings.at(row, rings.count[row] - 1);
    return this.silence.isRest(
      rings.knots[newest + TIME],
      rings.interval[row],
      rings.knots[newest + IN_FULL] === 1,
    );
  }

  /**
   * Finds what happens at a time, as far as the states tell.
   * @param {number} row
   * @param {number} time
   */
  #setSegment(row, time) {
    const { rings, segments } = this;
    const { knots } = rings;
    const [count, passed] = [rings.count[row], rings.until(row, time)];
    const at = row * SEGMENT;
    this.flags[row] &= ~(LAST | OPEN);
    if (passed === 0) {
      const oldest = rings.at(row, 0);
      return hold(segments, at, knots, oldest, -Infinity, knots[oldest + TIME], AHEAD);
    }
    const before = rings.at(row, passed - 1);
    if (passed < count) {
      const after = rings.at(row, passed);
      return between(segments, at, knots, before, after, rings.hasJump(before, after));
    }
    this.flags[row] |= LAST;
    hold(segments, at, knots, before, knots[before + TIME], Infinity, HELD);
    if (!this.#isKnownToRest(row)) {
      this.flags[row] |= OPEN;
      if (this.#findVelocity(row)) {
        beyond(segments, at, knots, before, this.velocity, this.extrapolation * 1e-6);
      }
    }
    rings.measure(row, count - 1);
    segments[at + SPEED] = rings.speed;
    segments[at + SPIN] = rings.spin;
  }

  /**
   * Finds the velocity of the newest state: its own, or that of the way to it.
   * @param {number} row
   */
  #findVelocity(row) {
    const { rings, velocity } = this;
    const { knots } = rings;
    const count = rings.count[row];
    const newest = rings.at(row, count - 1);
    if (knots[newest + HAS_VELOCITY] === 1) {
      for (let axis = 0; axis < 3; axis++) velocity[axis] = knots[newest + VELOCITY + axis];
      return true;
    }
    const before = rings.at(row, count - 2);
    if (count < 2 || rings.hasJump(before, newest)) return false;
    const seconds = Math.max(knots[newest + TIME] - knots[newest + FROM], 1) * 1e-6;
    for (let axis = 0; axis < 3; axis++) {
      velocity[axis] = (knots[newest + POSITION + axis] - knots[before + POSITION + axis]) / seconds;
    }
    return true;
  }

  /**
   * The view goes on to another segment.
   * @param {number} row
   * @param {number} time
   */
  #enterSegment(row, time) {
    this.#setSegment(row, time);
    if (this.#passesJump(row, time)) this.flags[row] &= ~EASING;
  }

  /**
   * What is shown may differ from what the states say now: the difference is kept and eased.
   * @param {number} row
   * @param {number} time
   */
  #adjust(row, time) {
    const { segments, eases, poses, right, rings } = this;
    const [segment, pose, ease] = [row * SEGMENT, row * POSE, row * EASE];
    const [speedBefore, spinBefore] = [segments[segment + SPEED], segments[segment + SPIN]];
    this.flags[row] &= ~CHANGED;
    this.#setSegment(row, time);
    // A view so far behind that the states around it had to give way knows nothing of a way from here to
    // there.
    const isLeftBehind = segments[segment + SOURCE] === AHEAD && rings.count[row] === rings.capacity;
    const isNew = (this.flags[row] & SHOWN) === 0;
    const hasJump = this.#passesJump(row, time);
    this.flags[row] &= ~EASING;
    if (hasJump || isLeftBehind || isNew) return;
    putPose(segments, segment, time, right, 0);
    for (let axis = 0; axis < 3; axis++) eases[ease + axis] = poses[pose + axis] - right[axis];
    const turn = compose(poses.subarray(pose + 3, pose + 7), inverse(right.subarray(3, 7)));
    const unit = normalized(turn) ?? UNTURNED;
    const way = length3(eases[ease], eases[ease + 1], eases[ease + 2]);
    const arc = arcRadians(unit, 0, UNTURNED, 0);
    if (way < UNSEEN_METRES && arc < UNSEEN_RADIANS) return;
    const fastest = Math.max(speedBefore, segments[segment + SPEED]);
    const spin = EASE_SPEED * Math.max(spinBefore, segments[segment + SPIN]);
    const byWay = way < UNSEEN_METRES ? EASE_RATE_MAX : (EASE_SPEED * fastest) / way;
    // A turn shrinks along its chord, and so turns fastest in the middle: by this much more than its arc for
    // each part.
    const byArc = arc < UNSEEN_RADIANS ? EASE_RATE_MAX : spin / (2 * Math.tan(arc / 2));
    const sign = unit[3] < 0 ? -1 : 1;
    for (let part = 0; part < 4; part++) eases[ease + TURN + part] = sign * unit[part];
    eases[ease + LEFT] = 1;
    eases[ease + RATE] = Math.min(Math.max(Math.min(byWay, byArc), EASE_RATE_MIN), EASE_RATE_MAX);
    eases[ease + FASTEST] = fastest;
    this.flags[row] |= EASING;
  }

  /**
   * Shows what is right, and what is left of the difference.
   * @param {number} row
   * @param {number} seconds
   */
  #ease(row, seconds) {
    const { eases, poses, right } = this;
    const [ease, pose] = [row * EASE, row * POSE];
    const left = eases[ease + LEFT] - eases[ease + RATE] * seconds * this.#easeShare(row, seconds);
    eases[ease + LEFT] = left;
    poses.set(right, pose);
    if (left <= 0) {
      this.flags[row] &= ~EASING;
      return;
    }
    for (let axis = 0; axis < 3; axis++) poses[pose + axis] += eases[ease + axis] * left;
    const at = ease + TURN;
    const turn = [
      eases[at] * left,
      eases[at + 1] * left,
      eases[at + 2] * left,
      eases[at + 3] * left + 1 - left,
    ];
    const unit = normalized(turn);
    if (unit !== null) poses.set(compose(unit, right.subarray(3, 7)), pose + 3);
  }

  /**
   * How much of its rate a difference shrinks by in a frame. Between states of unlike velocities the way of
   * an object has parts that are half as fast again as the object; there, what is left to twice its speed is
   * less than usual.
   * @param {number} row
   * @param {number} seconds
   */
  #easeShare(row, seconds) {
    const { eases, poses, right } = this;
    const [ease, pose] = [row * EASE, row * POSE];
    const left = eases[ease + LEFT];
    let moved = 0;
    for (let axis = 0; axis < 3; axis++) {
      moved += (right[axis] - (poses[pose + axis] - eases[ease + axis] * left)) ** 2;
    }
    const rate = eases[ease + RATE];
    const wanted = length3(eases[ease], eases[ease + 1], eases[ease + 2]) * rate * seconds;
    const room = SHOWN_SPEED_MAX * eases[ease + FASTEST] * seconds - Math.sqrt(moved);
    return wanted <= room ? 1 : Math.min(Math.max(room / wanted, EASE_RATE_MIN / rate), 1);
  }

  /**
   * Whether it has jumped by the last state before a time, and that was not shown; from now on it was.
   * @param {number} row
   * @param {number} time
   */
  #passesJump(row, time) {
    const passed = this.rings.until(row, time);
    if (passed === 0) return false;
    const jump = this.rings.knots[this.rings.at(row, passed - 1) + JUMP];
    const at = row * EASE + SHOWN_JUMP;
    const isNew = jump > this.eases[at];
    this.eases[at] = Math.max(jump, this.eases[at]);
    return isNew;
  }
}

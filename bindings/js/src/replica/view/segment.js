/**
 * The motion between two states, prepared so that a frame costs a few multiplications.
 *
 * The view stays between the same two states for several frames. What depends on the states alone is computed
 * once: the coefficients of a cubic for the position, the angle of the arc for the rotation.
 *
 *     u = (t − from) × factor, clamped                       0 … 1 between two states, seconds beyond
 *     position = base + c1 u + c2 u² + c3 u³                 Hermite if both velocities are sane, else a line
 *     rotation = q0 sin((1 − u)θ)/sin θ + q1 sin(uθ)/sin θ   the arc itself
 */

import { HAS_VELOCITY, POSITION, ROTATION, TIME, VELOCITY, FROM as MOTION_FROM } from "./rings.js";
import { arcRadians, length3 } from "./space.js";

/** Where a pose comes from: the view has not reached the oldest state, … */
export const AHEAD = 0;
/** … it is between two states, … */
export const BETWEEN = 1;
/** … at the newest, of which nothing newer is expected or the limit of extrapolation is reached, … */
export const HELD = 2;
/** … or beyond it, by its velocity. */
export const EXTRAPOLATED = 3;

/** Where the parts of a segment are. It holds for times from START to END, exclusive. */
export const START = 0;
export const END = 1;
const FROM = 2;
/** Per microsecond; zero holds. */
const FACTOR = 3;
const U_MAX = 4;
const BASE = 5;
const C1 = 8;
const C2 = 11;
const C3 = 14;
const Q0 = 17;
const Q1 = 21;
const ARC = 25;
const ARC_SINE_INVERSE = 26;
/** Metres, and radians of arc, a second: what easing may use. */
export const SPEED = 27;
export const SPIN = 28;
export const SOURCE = 29;
/** Numbers of a segment, and of a pose: position x y z, rotation x y z w. */
export const SEGMENT = 30;
export const POSE = 7;

/** Below this angle a straight line between two quaternions is as good as the arc. */
const STRAIGHT_RADIANS = 2e-3;
/**
 * A velocity that would carry an object further than this many times the way that it went is that of a
 * bounce.
 */
const VELOCITY_SANE = 2;
/** Both velocities together may miss the way by this part of it. */
const MISSED_MAX = 0.5;
/** Ways shorter than this are rounding, and say nothing about velocities. */
const ROUNDING_METRES = 0.05;

/**
 * A state as it is.
 * @param {Float64Array} segments
 * @param {number} at
 * @param {Float64Array} knots
 * @param {number} knot
 * @param {number} start
 * @param {number} end
 * @param {number} source
 */
export function hold(segments, at, knots, knot, start, end, source) {
  segments.fill(0, at, at + SEGMENT);
  segments[at + START] = start;
  segments[at + END] = end;
  for (let axis = 0; axis < 3; axis++) segments[at + BASE + axis] = knots[knot + POSITION + axis];
  for (let part = 0; part < 4; part++) {
    segments[at + Q0 + part] = knots[knot + ROTATION + part];
    segments[at + Q1 + part] = knots[knot + ROTATION + part];
  }
  segments[at + SOURCE] = source;
}

const way = new Float64Array(3);
const tangents = new Float64Array(6);

/**
 * From one state to the next.
 * @param {Float64Array} segments
 * @param {number} at
 * @param {Float64Array} knots
 * @param {number} before
 * @param {number} after
 * @param {boolean} hasJump
 */
export function between(segments, at, knots, before, after, hasJump) {
  const [start, end] = [knots[before + TIME], knots[after + TIME]];
  hold(segments, at, knots, before, start, end, BETWEEN);
  if (hasJump) return;
  for (let axis = 0; axis < 3; axis++) {
    way[axis] = knots[after + POSITION + axis] - knots[before + POSITION + axis];
  }
  const from = Math.min(Math.max(knots[after + MOTION_FROM], start), end - 1);
  const seconds = (end - from) * 1e-6;
  const isCurved = from === start && findTangents(knots, before, after, seconds);
  for (let axis = 0; axis < 3; axis++) {
    const m0 = isCurved ? tangents[axis] : way[axis];
    const m1 = isCurved ? tangents[axis + 3] : way[axis];
    segments[at + C1 + axis] = m0;
    segments[at + C2 + axis] = 3 * way[axis] - 2 * m0 - m1;
    segments[at + C3 + axis] = m0 + m1 - 2 * way[axis];
  }
  const arc = arcRadians(knots, before + ROTATION, knots, after + ROTATION);
  let dot = 0;
  for (let part = 0; part < 4; part++) {
    dot += knots[before + ROTATION + part] * knots[after + ROTATION + part];
  }
  const sign = dot < 0 ? -1 : 1;
  for (let part = 0; part < 4; part++) segments[at + Q1 + part] = sign * knots[after + ROTATION + part];
  const fastest = Math.max(
    length3(way[0], way[1], way[2]),
    isCurved ? length3(tangents[0], tangents[1], tangents[2]) : 0,
    isCurved ? length3(tangents[3], tangents[4], tangents[5]) : 0,
  );
  segments[at + FROM] = from;
  segments[at + FACTOR] = 1 / (end - from);
  segments[at + U_MAX] = 1;
  segments[at + ARC] = arc;
  segments[at + ARC_SINE_INVERSE] = 1 / Math.max(Math.sin(arc), Number.MIN_VALUE);
  segments[at + SPEED] = fastest / seconds;
  segments[at + SPIN] = arc / seconds;
}

/**
 * Beyond the newest state: straight on for so many seconds, then held.
 * @param {Float64Array} segments
 * @param {number} at
 * @param {Float64Array} knots
 * @param {number} knot
 * @param {Float64Array} velocity
 * @param {number} secondsMax
 */
export function beyond(segments, at, knots, knot, velocity, secondsMax) {
  hold(segments, at, knots, knot, knots[knot + TIME], Infinity, EXTRAPOLATED);
  segments[at + FROM] = knots[knot + TIME];
  segments[at + FACTOR] = 1e-6;
  segments[at + U_MAX] = secondsMax;
  for (let axis = 0; axis < 3; axis++) segments[at + C1 + axis] = velocity[axis];
}

/**
 * The pose at a time.
 * @param {Float64Array} segments
 * @param {number} at
 * @param {number} time
 * @param {Float64Array} poses
 * @param {number} to
 */
export function putPose(segments, at, time, poses, to) {
  const raw = (time - segments[at + FROM]) * segments[at + FACTOR];
  const max = segments[at + U_MAX];
  const u = raw < 0 ? 0 : raw > max ? max : raw;
  for (let axis = 0; axis < 3; axis++) {
    const curve = u * (segments[at + C2 + axis] + u * segments[at + C3 + axis]);
    poses[to + axis] = segments[at + BASE + axis] + u * (segments[at + C1 + axis] + curve);
  }
  const arc = segments[at + ARC];
  let w0 = 1 - u;
  let w1 = u;
  if (arc === 0) {
    w0 = 1;
    w1 = 0;
  } else if (arc > STRAIGHT_RADIANS) {
    w0 = Math.sin(w0 * arc) * segments[at + ARC_SINE_INVERSE];
    w1 = Math.sin(w1 * arc) * segments[at + ARC_SINE_INVERSE];
  }
  for (let part = 0; part < 4; part++) {
    poses[to + 3 + part] = segments[at + Q0 + part] * w0 + segments[at + Q1 + part] * w1;
  }
}

/**
 * The velocities at both ends as ways per segment, if both are known and could belong to this motion: neither
 * is out of proportion, and together they would bring it about where it came. A field that the game never
 * sets fails the second.
 * @param {Float64Array} knots
 * @param {number} before
 * @param {number} after
 * @param {number} seconds
 */
function findTangents(knots, before, after, seconds) {
  if (knots[before + HAS_VELOCITY] === 0 || knots[after + HAS_VELOCITY] === 0) return false;
  let missed = 0;
  for (let axis = 0; axis < 3; axis++) {
    tangents[axis] = knots[before + VELOCITY + axis] * seconds;
    tangents[axis + 3] = knots[after + VELOCITY + axis] * seconds;
    missed += ((tangents[axis] + tangents[axis + 3]) / 2 - way[axis]) ** 2;
  }
  const distance = length3(way[0], way[1], way[2]);
  const limit = VELOCITY_SANE * distance + ROUNDING_METRES;
  return (
    length3(tangents[0], tangents[1], tangents[2]) <= limit &&
    length3(tangents[3], tangents[4], tangents[5]) <= limit &&
    Math.sqrt(missed) <= MISSED_MAX * distance + ROUNDING_METRES
  );
}

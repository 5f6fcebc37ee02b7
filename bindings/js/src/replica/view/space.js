/**
 * Vectors and rotations. Whatever compares or mixes two quaternions takes the nearer of the two signs of one,
 * which is the shorter way.
 */

/** @typedef {[number, number, number]} Vector metres along x, y, z */
/** @typedef {[number, number, number, number]} Quaternion x y z w, of length one */

/** @type {Readonly<Quaternion>} */
export const UNTURNED = [0, 0, 0, 1];

/** Where something is and how it is turned. */
export class Pose {
  /**
   * @param {ArrayLike<number>} [position]
   * @param {ArrayLike<number>} [rotation]
   */
  constructor(position = [0, 0, 0], rotation = UNTURNED) {
    /** @type {Vector} metres, x y z */
    this.position = [position[0], position[1], position[2]];
    /** @type {Quaternion} x y z w */
    this.rotation = [rotation[0], rotation[1], rotation[2], rotation[3]];
  }
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} z
 */
export const length3 = (x, y, z) => Math.sqrt(x * x + y * y + z * z);

/**
 * The same of length one; null if it has no direction, or is not a number.
 * @param {ArrayLike<number>} q
 * @returns {Quaternion | null}
 */
export function normalized(q) {
  const squared = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(squared >= 1e-12 && squared < 1e12)) return null;
  const factor = 1 / Math.sqrt(squared);
  return [q[0] * factor, q[1] * factor, q[2] * factor, q[3] * factor];
}

/**
 * The rotation back.
 * @param {ArrayLike<number>} q
 * @returns {Quaternion}
 */
export const inverse = (q) => [-q[0], -q[1], -q[2], q[3]];

/**
 * The rotation that turns by `inner` first and by `outer` then.
 * @param {ArrayLike<number>} outer
 * @param {ArrayLike<number>} inner
 * @returns {Quaternion}
 */
export function compose(outer, inner) {
  const [ox, oy, oz, ow] = [outer[0], outer[1], outer[2], outer[3]];
  const [ix, iy, iz, iw] = [inner[0], inner[1], inner[2], inner[3]];
  return [
    ow * ix + iw * ox + oy * iz - oz * iy,
    ow * iy + iw * oy + oz * ix - ox * iz,
    ow * iz + iw * oz + ox * iy - oy * ix,
    ow * iw - ox * ix - oy * iy - oz * iz,
  ];
}

/**
 * A vector turned.
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} v
 * @returns {Vector}
 */
export function turned(q, v) {
  const [x, y, z, w] = [q[0], q[1], q[2], q[3]];
  const tx = 2 * (y * v[2] - z * v[1]);
  const ty = 2 * (z * v[0] - x * v[2]);
  const tz = 2 * (x * v[1] - y * v[0]);
  return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
}

/**
 * From `a` to `b` on the shortest arc, at constant speed.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @param {number} fraction
 * @returns {Quaternion}
 */
export function slerp(a, b, fraction) {
  const dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const cosine = Math.min(Math.abs(dot), 1);
  let [ofA, ofB] = [1 - fraction, fraction];
  // Below 0.9 degrees the chord is the arc within a millionth, and the sine is too small to divide by.
  if (cosine <= 0.9999) {
    const angle = Math.acos(cosine);
    [ofA, ofB] = [Math.sin(ofA * angle) / Math.sin(angle), Math.sin(ofB * angle) / Math.sin(angle)];
  }
  if (dot < 0) ofB = -ofB;
  const mixed = [
    a[0] * ofA + b[0] * ofB,
    a[1] * ofA + b[1] * ofB,
    a[2] * ofA + b[2] * ofB,
    a[3] * ofA + b[3] * ofB,
  ];
  return normalized(mixed) ?? [...UNTURNED];
}

/**
 * The angle of the arc between two unit quaternions, 0 to π/2; a rotation turns by twice as much.
 * @param {ArrayLike<number>} a
 * @param {number} aAt where it begins
 * @param {ArrayLike<number>} b
 * @param {number} bAt
 */
export function arcRadians(a, aAt, b, bAt) {
  const dot = a[aAt] * b[bAt] + a[aAt + 1] * b[bAt + 1] + a[aAt + 2] * b[bAt + 2] + a[aAt + 3] * b[bAt + 3];
  const cosine = Math.abs(dot);
  if (cosine < 0.999) return Math.acos(cosine);
  // The arc cosine near one magnifies rounding; a chord does not.
  const sign = dot < 0 ? -1 : 1;
  let squared = 0;
  for (let part = 0; part < 4; part++) squared += (a[aAt + part] - sign * b[bAt + part]) ** 2;
  const half = 0.5 * Math.sqrt(squared);
  return 2 * Math.asin(half > 1 ? 1 : half);
}

/**
 * The angle in radians, at most π, that turns one into the other; not a number if one of them is no rotation.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function angleRadians(a, b) {
  const [unitA, unitB] = [normalized(a), normalized(b)];
  return unitA === null || unitB === null ? NaN : 2 * arcRadians(unitA, 0, unitB, 0);
}

/**
 * Of a pose relative to `frame`: the same relative to what the frame is relative to.
 * @param {Pose} frame
 * @param {Pose} inner
 */
export function outward(frame, inner) {
  const [x, y, z] = turned(frame.rotation, inner.position);
  const [fx, fy, fz] = frame.position;
  const rotation = normalized(compose(frame.rotation, inner.rotation)) ?? frame.rotation;
  return new Pose([fx + x, fy + y, fz + z], rotation);
}

/**
 * The inverse of `outward`.
 * @param {Pose} frame
 * @param {Pose} outer
 */
export function inward(frame, outer) {
  const back = inverse(frame.rotation);
  const apart = [0, 1, 2].map((axis) => outer.position[axis] - frame.position[axis]);
  return new Pose(turned(back, apart), normalized(compose(back, outer.rotation)) ?? UNTURNED);
}

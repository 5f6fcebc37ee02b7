/**
 * The fields of a predicted state, listed for comparison.
 *
 * The server's state comes off the wire, rounded; the client's own is not. Compared as they are they would
 * differ always, and with a fixed margin of a centimetre a coarser profile would differ always too. So both
 * are rounded as the wire rounds, and then compared. Two that lie next to each other on that grid count as
 * the same:
 *
 *     grid of the wire     │───────●───────│───────●───────│
 *     server's state               ·   x                          x is sent as the ● on its left
 *     client, corrected            x                              starts from that ●, half a step beside it
 *     some steps later                     x · x                  as far on, on two sides of a border
 *
 * Were these corrected, the next state would be half a step off as well, and so on for ever. What the wire
 * carries exactly (whole numbers, profile none) is compared exactly.
 */

import { PROFILES } from "../../wire/quantize.js";
import { putQuaternion, putRotation } from "../../wire/rotation.js";
import { angleRadians, length3 } from "../view/space.js";

/** Fields that a state may list. */
export const FIELDS_MAX = 32;

/**
 * Each of two rotations is off by as much when it is rounded, and so is the one that a correction started
 * from.
 */
const ROUNDINGS = 3;
/** How far a rotation of 10 and of 15 bits is off at most. */
const OFF_RADIANS = new Map([
  [10, (0.28 * Math.PI) / 180],
  [15, (0.009 * Math.PI) / 180],
]);

/** @typedef {"standard" | "high" | "world" | "none"} ProfileName */

/**
 * @typedef {{ kind: "position" | "rotation", profile: ProfileName, parts: number[] }
 *   | { kind: "angle" | "number" | "whole", step: number, value: number }} FieldValue
 */

/**
 * The fields of one state, in the same order for every state. The first position and rotation are where it is
 * seen.
 */
export class Fields {
  constructor() {
    this.names = /** @type {string[]} */ ([]);
    this.values = /** @type {FieldValue[]} */ ([]);
  }

  /** @returns {Fields} */
  clear() {
    this.names.length = 0;
    this.values.length = 0;
    return this;
  }

  /**
   * Where the object is, in metres, and the profile in which it is sent.
   * @param {string} name
   * @param {ProfileName} profile
   * @param {ArrayLike<number>} metres
   */
  position(name, profile, metres) {
    this.#push(name, { kind: "position", profile, parts: [metres[0], metres[1], metres[2]] });
  }

  /**
   * Which way it is turned, a quaternion x y z w, and the profile in which it is sent.
   * @param {string} name
   * @param {ProfileName} profile
   * @param {ArrayLike<number>} q
   */
  rotation(name, profile, q) {
    this.#push(name, { kind: "rotation", profile, parts: [q[0], q[1], q[2], q[3]] });
  }

  /**
   * An angle in radians that the wire carries in steps of `step`; 0 if it is exact. 359.9° and 0.1° are
   * neighbours.
   * @param {string} name
   * @param {number} step
   * @param {number} radians
   */
  angle(name, step, radians) {
    this.#push(name, { kind: "angle", step, value: radians });
  }

  /**
   * A number that the wire carries in steps of `step`; 0 if it is exact.
   * @param {string} name
   * @param {number} step
   * @param {number} value
   */
  number(name, step, value) {
    this.#push(name, { kind: "number", step, value });
  }

  /**
   * A whole number, a choice, a flag: the same or not.
   * @param {string} name
   * @param {number | boolean} value
   */
  whole(name, value) {
    this.#push(name, { kind: "whole", step: 0, value: Number(value) });
  }

  /**
   * Whether the wire makes no difference between two states.
   * @param {Fields} server
   */
  isSame(server) {
    const { values } = server;
    return (
      this.values.length === values.length && this.values.every((own, at) => errorOf(own, values[at]) === 0)
    );
  }

  /**
   * The first of a kind.
   * @param {"position" | "rotation"} kind
   * @returns {number[] | null}
   */
  first(kind) {
    for (const value of this.values) if (value.kind === kind && "parts" in value) return value.parts;
    return null;
  }

  /**
   * @param {string} name
   * @param {FieldValue} value
   */
  #push(name, value) {
    if (this.values.length === FIELDS_MAX) {
      throw new RangeError(`a state describes at most ${FIELDS_MAX} fields`);
    }
    this.names.push(name);
    this.values.push(value);
  }
}

/**
 * How far a field is from what the server has, in its unit; 0 if the wire makes no difference between them,
 * infinite if something is not a number.
 * @param {FieldValue} own
 * @param {FieldValue} server
 */
export function errorOf(own, server) {
  if (own.kind !== server.kind) return Infinity;
  if ("parts" in own && "parts" in server) {
    const [a, b] = [own.parts, server.parts];
    const isSame =
      own.kind === "position" ? isSamePosition(own.profile, a, b) : isSameRotation(own.profile, a, b);
    if (isSame) return 0;
    const error =
      own.kind === "position" ? length3(a[0] - b[0], a[1] - b[1], a[2] - b[2]) : angleRadians(a, b);
    return Number.isNaN(error) ? Infinity : error;
  }
  if ("parts" in own || "parts" in server) return Infinity;
  const short = own.kind === "angle" ? shortest : (/** @type {number} */ value) => value;
  const apart = short(own.value - server.value);
  const onGrid = short(rounded(own.value, own.step) - rounded(server.value, own.step));
  if (isNeighbour(apart, onGrid, own.step)) return 0;
  return Number.isNaN(apart) ? Infinity : Math.abs(apart);
}

/**
 * By the grid of the wire alone: what an object is relative to on the wire moves the grid by less than one
 * step.
 * @param {ProfileName} profile
 * @param {number[]} a
 * @param {number[]} b
 */
function isSamePosition(profile, a, b) {
  if (profile === "none") return a.every((axis, at) => Math.fround(axis) === Math.fround(b[at]));
  const step = 1 / profileOf(profile).position.perUnit;
  return a.every((axis, at) => isNeighbour(axis - b[at], rounded(axis, step) - rounded(b[at], step), step));
}

const words = new Int32Array(4);

/**
 * @param {ProfileName} profile
 * @param {number[]} a
 * @param {number[]} b
 */
function isSameRotation(profile, a, b) {
  const width = profileOf(profile).rotation;
  if (width === null) {
    const singles = (/** @type {number} */ sign) =>
      a.every((part, at) => Math.fround(part) === sign * Math.fround(b[at]));
    return singles(1) || singles(-1);
  }
  if (![...a, ...b].every(Number.isFinite)) return false;
  const round = (/** @type {number[]} */ quaternion) => {
    putRotation(width, quaternion, words, 0);
    return putQuaternion(width, words, 0, [0, 0, 0, 0]);
  };
  return angleRadians(round(a), round(b)) <= ROUNDINGS * Number(OFF_RADIANS.get(width.bits));
}

/** @param {ProfileName} name */
function profileOf(name) {
  const profile = PROFILES.find((each) => each.name === name);
  if (profile === undefined) throw new RangeError(`there is no profile ${name}`);
  return profile;
}

/**
 * @param {number} apart as it is
 * @param {number} onGrid after rounding
 * @param {number} step
 */
function isNeighbour(apart, onGrid, step) {
  return step > 0 ? Math.abs(onGrid) <= step * 1.5 : apart === 0;
}

/**
 * @param {number} value
 * @param {number} step
 */
function rounded(value, step) {
  return step > 0 ? Math.round(value / step) * step : value;
}

/**
 * The same angle between −π and π.
 * @param {number} radians
 */
function shortest(radians) {
  return radians - Math.round(radians / (2 * Math.PI)) * 2 * Math.PI;
}

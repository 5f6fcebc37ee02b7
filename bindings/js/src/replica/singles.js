/**
 * Singles to the last bit (sections 46.7 and 46.8 of the standard).
 *
 * The ordinal of a single is its rank among all singles: what changes a little changes it a little. Differences
 * of ordinals from those predicted are read with as many bits for each as their exponents and the way of the
 * object tell. A rotation of singles goes along the circle through both baselines, in integers of 2^-26: one
 * component tells the angle, and so the others.
 */

import { WireError } from "../wire/error.js";
import { bitsOfSingle, finiteBits, singleOf } from "../wire/quantize.js";
import { checkRawRotation } from "../wire/rotation.js";

/** @typedef {import("../wire/bits.js").BitReader} BitReader */
/** @typedef {import("./line.js").Line} Line */

const UNKNOWN = 16;
const ROUNDING = 4;
const LINE_GAIN = 3;
const ONE = 2 ** 26;
const CHORD_MIN = 1024;

/** @typedef {(number: number) => number} Map */

/** The rank of the single with these bits, or the bits of the single of this rank. @type {Map} */
const ordinal = (word) => word ^ ((word >> 31) & 0x7fffffff);
/** @type {Map} */
const exponent = (word) => (word >> 23) & 255;
/** @type {Map} */
const fixed = (word) => Math.trunc(singleOf(word) * ONE);
/** @type {Map} */
const cut = (square) => Math.floor(square / ONE);
/** @type {Map} */
const root = (square) => Math.floor(Math.sqrt(clamp(square, 0, ONE * ONE)));
/** The ordinal of the nearest single; there is one zero less among integers. @type {Map} */
const nearest = (value) => ordinal(bitsOfSingle(value / ONE + 0));

const clamp = (/** @type {number} */ value, /** @type {number} */ min, /** @type {number} */ max) =>
  Math.max(min, Math.min(value, max));
const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
  a.reduce((sum, component, at) => sum + component * b[at], 0);
const placeOfMost = (/** @type {number[]} */ sizes) => sizes.indexOf(Math.max(...sizes));

/**
 * By how much the exponent of each is below the largest.
 * @param {number[]} words
 */
function shiftsOf(words) {
  const exponents = words.map(exponent);
  const most = Math.max(...exponents);
  return exponents.map((one) => most - one);
}

/**
 * The bits of differences between two states.
 * @param {number[]} newer
 * @param {number[] | null} older
 */
function expectedOf(newer, older) {
  if (older === null) return UNKNOWN;
  const shifts = shiftsOf(newer);
  const bits = newer.map((word, at) => {
    const way = (ordinal(word) - ordinal(older[at])) | 0;
    return way === 0 ? 0 : 33 - Math.clz32(way ^ (way >> 31)) - shifts[at];
  });
  return Math.max(1, ...bits);
}

/**
 * Reads differences from what is predicted of these singles.
 * @param {number[]} newer
 * @param {number} expected
 * @param {BitReader} reader
 */
function readDifferences(newer, expected, reader) {
  const count = newer.length;
  let [kind, mask] = [reader.bits(3), 7];
  if (kind === 0) {
    mask = count > 1 ? reader.bits(count) : 0;
    if (mask === 0) return newer.map(() => 0);
    kind = reader.bits(3);
    if (kind === 0) throw new WireError("InvalidCode");
  }
  const bits = kind === 7 ? reader.bits(5) + 1 : clamp(expected, 4, 30) + kind - 4;
  const read = (/** @type {number} */ shift) => reader.signed(Math.min(bits + shift, 32));
  return shiftsOf(newer).map((shift, at) => ((mask >> at) & 1 ? read(shift) : 0));
}

/**
 * Reads singles over those of the newer state, which `words` have at `at`.
 * @param {number} count
 * @param {Int32Array} older
 * @param {number} olderAt
 * @param {Line | null} line null if there is no older state
 * @param {BitReader} reader
 * @param {Int32Array} words
 * @param {number} at
 */
export function readSingles(count, older, olderAt, line, reader, words, at) {
  const now = [...words.subarray(at, at + count)];
  const before = line && [...older.subarray(olderAt, olderAt + count)];
  const isLine = line !== null && reader.bits(1) === 1;
  const differences = readDifferences(now, expectedOf(now, before) - (isLine ? LINE_GAIN : 0), reader);
  differences.forEach((difference, axis) => {
    const rise = isLine && before ? (ordinal(now[axis]) - ordinal(before[axis])) | 0 : 0;
    const step = line ? Math.floor((rise * line.ratio + 1024) / 2048) : 0;
    words[at + axis] = finiteBits(ordinal((ordinal(now[axis]) + step + difference) | 0));
  });
}

/**
 * The circle through two rotations; null if they are nearly the same.
 * @param {number[]} newer
 * @param {number[]} older
 */
function circleThrough(newer, older) {
  const a = newer.map(fixed);
  let b = older.map(fixed);
  if (dot(a, b) < 0) b = b.map((component) => -component);
  const cosine = cut(dot(a, b));
  const beyond = a.map((component, at) => cut(component * cosine) - b[at]);
  const sine = root(dot(beyond, beyond));
  if (sine < CHORD_MIN) return null;
  const across = beyond.map((component) => Math.floor((component * ONE) / sine));
  return { a, across, sine, lead: placeOfMost(across.map(Math.abs)) };
}

/**
 * Reads a rotation over that of the newer state, which `words` have at `at`.
 * @param {Int32Array} states
 * @param {number} olderAt
 * @param {Line | null} line
 * @param {BitReader} reader
 * @param {Int32Array} words
 * @param {number} at
 */
export function readTurn(states, olderAt, line, reader, words, at) {
  const newer = [...words.subarray(at, at + 4)];
  const older = line && [...states.subarray(olderAt, olderAt + 4)];
  const circle = older && circleThrough(newer, older);
  const now = [...newer];
  /** @type {(places: number[], predicted: number[], expected: number) => void} */
  const read = (places, predicted, expected) => {
    const differences = readDifferences(places.map((place) => newer[place]), expected, reader);
    places.forEach((place, one) => (now[place] = ordinal((predicted[one] + differences[one]) | 0)));
  };
  const isAlong = circle !== null && reader.bits(1) === 1;
  const lead = isAlong ? circle.lead : -1;
  const last = placeOfMost(newer.map((word, place) => (place === lead ? -1 : word & 0x7fffffff)));
  const others = [0, 1, 2, 3].filter((place) => place !== lead && place !== last);
  if (isAlong && line && older) {
    const { a, across, sine } = circle;
    const component = (/** @type {number} */ place, /** @type {number} */ cos, /** @type {number} */ sin) =>
      nearest(cut(a[place] * cos + across[place] * sin));
    const bow = Math.floor((cut(cut(sine * sine) * sine) * line.backwards) / 256);
    const ahead = clamp(Math.floor((sine * line.ratio) / 2048) - bow, 0, ONE);
    const expected = expectedOf([newer[lead]], [older[lead]]) - LINE_GAIN;
    read([lead], [component(lead, root(ONE * ONE - ahead * ahead), ahead)], expected);
    const [x, y] = [a[lead], across[lead]];
    const square = x * x + y * y;
    const most = root(square);
    const found = clamp(fixed(now[lead]), -most, most);
    const beside = root(square - found * found) * (y < 0 ? -1 : 1);
    const cos = Math.floor((found * x + y * beside) / cut(square));
    const sin = Math.floor((found * y - x * beside) / cut(square));
    read(others, others.map((place) => component(place, cos, sin)), ROUNDING);
  } else {
    const before = older && others.map((place) => older[place]);
    const after = others.map((place) => newer[place]);
    read(others, after.map(ordinal), expectedOf(after, before));
  }
  const squares = now.map((word, place) => (place === last ? 0 : fixed(word) ** 2));
  const rest = root(ONE * ONE - squares.reduce((sum, square) => sum + square));
  read([last], [nearest(newer[last] < 0 ? -rest : rest)], ROUNDING);
  now.forEach((word, place) => (words[at + place] = finiteBits(word)));
  checkRawRotation(words, at);
}

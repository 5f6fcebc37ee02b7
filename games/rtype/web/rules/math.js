/**
 * Arithmetic that has the same result in every language: whole numbers within 32 bits, division towards zero.
 */

/** Sixty-four times the cosine of each thirty-second of a turn, from the right, clockwise on the screen. */
// prettier-ignore
const COSINES = [
  64, 63, 59, 53, 45, 36, 24, 12, 0, -12, -24, -36, -45, -53, -59, -63,
  -64, -63, -59, -53, -45, -36, -24, -12, 0, 12, 24, 36, 45, 53, 59, 63,
];
/** How much later the sine has the same value as the cosine, in thirty-seconds of a turn. */
const QUARTER_TURN = 8;

/** The direction to the left, where the ships are. */
export const LEFTWARDS = 16;

/**
 * @typedef {object} Velocity
 * @property {number} vx units of a step to the right
 * @property {number} vy units of a step downwards
 */

/**
 * `a / b` for a positive `b`, to the nearest, halves away from zero.
 * @param {number} a
 * @param {number} b
 */
export function divideRounded(a, b) {
  const half = b >> 1;
  return ((a < 0 ? a - half : a + half) / b) | 0;
}

/**
 * @param {number} n
 * @param {number} min
 * @param {number} max
 */
export function clamp(n, min, max) {
  return n < min ? min : n > max ? max : n;
}

/**
 * The largest whole number whose square is at most `n`.
 * @param {number} n
 */
export function squareRoot(n) {
  let root = 0;
  let bit = 1 << 30;
  let rest = n;
  while (bit > rest) bit >>= 2;
  while (bit !== 0) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
    bit >>= 2;
  }
  return root;
}

/**
 * The velocity of that speed, in whole units of a step, that comes nearest to the way (dx, dy). To the left
 * if there is no way.
 * @param {number} dx
 * @param {number} dy
 * @param {number} speed
 * @returns {Velocity}
 */
export function aim(dx, dy, speed) {
  const distance = squareRoot(dx * dx + dy * dy);
  if (distance === 0) return { vx: -speed, vy: 0 };
  return { vx: divideRounded(dx * speed, distance), vy: divideRounded(dy * speed, distance) };
}

/**
 * The velocity of that speed in a direction in thirty-seconds of a turn, of which any whole number is one.
 * @param {number} direction
 * @param {number} speed
 * @returns {Velocity}
 */
export function towards(direction, speed) {
  const x = COSINES[direction & 31];
  const y = COSINES[(direction - QUARTER_TURN) & 31];
  return { vx: divideRounded(x * speed, 64), vy: divideRounded(y * speed, 64) };
}

/**
 * The next of a row of numbers without a pattern (xorshift32). Zero is never one, and never leads to another.
 * @param {number} n
 */
export function xorshift(n) {
  const a = n ^ (n << 13);
  const b = a ^ (a >>> 17);
  return (b ^ (b << 5)) >>> 0;
}

/**
 * A seed for `xorshift` out of any number.
 * @param {number} seed
 */
export function seeded(seed) {
  return seed === 0 ? 0x9e3779b9 : seed >>> 0;
}

/**
 * Ticks and steps are 32 bits wide and wrap (section 6.1 of the standard). They are Numbers of 0..=2^32 − 1
 * here, and what is said of them on the wire is often their low 16 bits.
 */

/**
 * How far `a` is after `b`; negative if it is before.
 * @param {number} a
 * @param {number} b
 */
export const distance = (a, b) => (a - b) | 0;

/**
 * @param {number} a
 * @param {number} b
 */
export const isNewer = (a, b) => ((a - b) | 0) > 0;

/**
 * The tick so many before another; after it if `age` is negative.
 * @param {number} tick
 * @param {number} age
 */
export const before = (tick, age) => (tick - age) >>> 0;

/**
 * The tick that ends in 16 bits and is nearest to another; of two equally near, the older.
 * @param {number} low
 * @param {number} near
 */
export const nearest = (low, near) => (near + (((low - near) << 16) >> 16)) >>> 0;

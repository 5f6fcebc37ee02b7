/**
 * The line through two baselines (section 46 of the standard): what follows from their ages alone, computed
 * once for all objects of a snapshot that have both.
 */

const AGE_MAX = 1023;
const AHEAD_MAX = 4;

/**
 * @typedef {object} Line
 * @property {number} ratio how much further it is to the present than from the older to the newer, in 2048ths
 * @property {number} ratio10 the same in 1024ths
 * @property {number} ratio13 the same in 8192ths
 * @property {number} inwards
 * @property {number} backwards
 * @property {number} bendMax
 */

/**
 * @param {number} newerAge in ticks
 * @param {number} olderAge in ticks; 0 if there is none
 * @returns {Line | null} null if nothing can be predicted from the older one
 */
export function lineBetween(newerAge, olderAge) {
  const [p, h] = [newerAge, olderAge - newerAge];
  if (h <= 0 || olderAge > AGE_MAX || p > AHEAD_MAX * h) return null;
  const ratio = (/** @type {number} */ bits) => Math.floor((p * 2 ** bits) / h);
  return {
    ratio: ratio(11),
    ratio10: ratio(10),
    ratio13: ratio(13),
    inwards: Math.floor((128 * p * (p + h)) / (h * h)),
    backwards: Math.floor((128 * p * (p * p - h * h)) / (3 * h * h * h)),
    bendMax: p <= h ? 16384 : Math.floor((16384 * h * h) / (p * p)),
  };
}

/** Randomness that is the same in every run: a failing test names its seed. */

/** @param {number} seed */
export function seeded(seed) {
  let state = (seed * 0x9e3779b9) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  for (let warmUp = 0; warmUp < 8; warmUp++) next();
  return {
    /** @param {number} count */
    below: (count) => next() % count,
    /** @param {number} length */
    bytes: (length) => Uint8Array.from({ length }, () => next() & 0xff),
  };
}

// The same numbers in every run.

/** xorshift32, from a seed that a failing test states. */
export class Noise {
  /** @param {number} seed */
  constructor(seed) {
    this.state = Math.imul(seed + 1, 0x9e3779b1) | 1;
    for (let skipped = 0; skipped < 4; skipped++) this.next();
  }

  /** 32 bits. */
  next() {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return this.state >>> 0;
  }

  /** 0 to 1, exclusive. */
  unit() {
    return this.next() / 4294967296;
  }

  /**
   * A whole number below `end`.
   * @param {number} end
   */
  below(end) {
    return Math.floor(this.unit() * end);
  }

  /**
   * One of some.
   * @template T
   * @param {readonly T[]} some
   */
  pick(some) {
    return some[this.below(some.length)];
  }
}

// A generator whose numbers follow from a seed, so that a failing test can be run again.
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = (seed * 2654435761) >>> 0;
  }

  /** 32 bits (splitmix, in 32 bits). */
  next() {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }

  /** @param {number} bound */
  below(bound) {
    return Math.floor((this.next() / 4294967296) * bound);
  }

  /** @param {number} probability */
  chance(probability) {
    return this.next() < probability * 4294967296;
  }

  /** @param {number} count */
  bytes(count) {
    return Uint8Array.from({ length: count }, () => this.next() >>> 24);
  }
}

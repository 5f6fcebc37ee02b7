/** How long the script of a frame takes: the last 300 of them. */

const COUNT = 300;

/** See the module. */
export class FrameTimes {
  #times = new Float64Array(COUNT);
  #sorted = new Float64Array(COUNT);
  /** How many there were. */
  count = 0;

  /** @param {number} ms */
  add(ms) {
    this.#times[this.count++ % COUNT] = ms;
  }

  /** In milliseconds, of the last 300 frames. */
  get median() {
    const { length } = this.#sorted.subarray(0, Math.min(this.count, COUNT));
    if (length === 0) return 0;
    this.#sorted.set(this.#times);
    return this.#sorted.subarray(0, length).sort()[length >> 1];
  }
}

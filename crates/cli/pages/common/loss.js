/** How many of a hundred packets are lost, over the last ten seconds: of counters that only grow. */

/** Tenths of a second. */
const MOMENTS = 100;

/** See the module. */
export class LossMeter {
  percent = 0;
  #lost = new Float64Array(MOMENTS);
  #all = new Float64Array(MOMENTS);
  #count = 0;

  /** Begins anew. */
  reset() {
    this.#count = 0;
    this.percent = 0;
  }

  /**
   * To be called every moment.
   * @param {number} lost
   * @param {number} all
   */
  add(lost, all) {
    // Another connection counts from the beginning.
    if (this.#count > 0 && all < this.#all[(this.#count - 1) % MOMENTS]) this.reset();
    const at = this.#count % MOMENTS;
    const oldest = this.#count < MOMENTS ? 0 : at;
    const before = this.#count === 0 ? { lost, all } : { lost: this.#lost[oldest], all: this.#all[oldest] };
    this.#lost[at] = lost;
    this.#all[at] = all;
    this.#count++;
    const sent = all - before.all;
    // What was thought lost may still come.
    this.percent = sent > 0 ? Math.min(100, (100 * Math.max(0, lost - before.lost)) / sent) : 0;
  }
}

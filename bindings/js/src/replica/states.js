/**
 * The last states of one object, each under the tick of the snapshot that brought it (section 44 of the
 * standard).
 *
 * The server may build on any state that it knows to have arrived, not only on the newest, so 32 are kept.
 * They are rows of one typed array, a ring in the order of their ticks:
 *
 *     │ tick │ newest jump │ words … │ tick │ newest jump │ words … │ …        newest ─┐
 *
 * so that an object is one allocation, made when it enters, and a state that arrives allocates nothing. What
 * is asked for most, the state so many ticks before the newest of something that moves all the time, is found
 * at once.
 */

const KEPT = 32;
/** Where the words of a row begin. */
const HEAD = 2;

/** The states of an object. */
export class States {
  /** @param {number} wordCount */
  constructor(wordCount) {
    this.wordCount = wordCount;
    this.stride = HEAD + wordCount;
    this.rows = new Int32Array(KEPT * this.stride);
    this.count = 0;
    this.newest = 0;
    /** A bit by row: whether it had jumped by then. */
    this.jumps = 0;
  }

  /** The tick of the newest state. */
  get tick() {
    return this.rows[this.newest * this.stride] >>> 0;
  }

  /** Where the words of the newest state begin. */
  get newestAt() {
    return this.newest * this.stride + HEAD;
  }

  /**
   * Where the words of a row begin.
   * @param {number} row
   */
  wordsAt(row) {
    return row * this.stride + HEAD;
  }

  /**
   * The row of the state of a tick; −1 if it is not kept.
   * @param {number} tick
   */
  rowOf(tick) {
    const back = (this.tick - tick) >>> 0;
    if (back < this.count) {
      const guess = this.#rowBefore(back);
      if (this.rows[guess * this.stride] === (tick | 0)) return guess;
    }
    for (let back = 0; back < this.count; back++) {
      const row = this.#rowBefore(back);
      if (this.rows[row * this.stride] === (tick | 0)) return row;
    }
    return -1;
  }

  /**
   * The row of the state that was in force at a tick: the newest that is not newer; −1 if none is kept.
   * @param {number} tick
   */
  rowInForce(tick) {
    for (let back = 0; back < this.count; back++) {
      const row = this.#rowBefore(back);
      if (((this.rows[row * this.stride] - tick) | 0) <= 0) return row;
    }
    return -1;
  }

  /**
   * When the object had jumped last, by a row; −1 if it had not since it came into sight.
   * @param {number} row
   */
  jumpOf(row) {
    return (this.jumps >>> row) & 1 ? this.rows[row * this.stride + 1] >>> 0 : -1;
  }

  /**
   * Keeps a state. The oldest gives way; one that is here already, or is older than all that there is room
   * for, does not.
   * @param {number} tick
   * @param {Int32Array} words
   * @param {number} jump the tick of the newest jump by then, −1 if there was none
   */
  insert(tick, words, jump) {
    let newer = 0;
    while (newer < this.count && ((this.rows[this.#rowBefore(newer) * this.stride] - tick) | 0) > 0) newer++;
    const isKnown = newer < this.count && this.rows[this.#rowBefore(newer) * this.stride] === (tick | 0);
    if (isKnown || newer === KEPT) return;
    if (this.count > 0) this.newest = (this.newest + 1) & (KEPT - 1);
    this.count = Math.min(this.count + 1, KEPT);
    for (let back = 0; back < newer; back++) this.#copy(this.#rowBefore(back + 1), this.#rowBefore(back));
    const row = this.#rowBefore(newer);
    const at = row * this.stride;
    this.rows[at] = tick;
    this.#setJump(row, jump);
    for (let word = 0; word < this.wordCount; word++) this.rows[at + HEAD + word] = words[word];
  }

  /** @param {number} back */
  #rowBefore(back) {
    return (this.newest - back) & (KEPT - 1);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  #copy(from, to) {
    this.rows.copyWithin(to * this.stride, from * this.stride, (from + 1) * this.stride);
    this.#setJump(to, this.jumpOf(from));
  }

  /**
   * @param {number} row
   * @param {number} jump
   */
  #setJump(row, jump) {
    this.rows[row * this.stride + 1] = jump;
    this.jumps = jump < 0 ? this.jumps & ~(1 << row) : this.jumps | (1 << row);
  }
}

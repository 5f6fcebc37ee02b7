/** A first-in, first-out queue: an array whose front is a place, so that taking from it moves nothing. */

/** @template T */
export class Queue {
  constructor() {
    /** @type {(T | undefined)[]} */
    this.items = [];
    this.head = 0;
  }

  get length() {
    return this.items.length - this.head;
  }

  /** @param {T} item */
  push(item) {
    this.items.push(item);
  }

  /**
   * @param {number} index from the front
   * @returns {T | undefined}
   */
  at(index) {
    return this.items[this.head + index];
  }

  /** @returns {T | undefined} */
  shift() {
    if (this.head === this.items.length) return undefined;
    const item = this.items[this.head];
    this.items[this.head++] = undefined;
    if (this.head === this.items.length) {
      this.items.length = this.head = 0;
    } else if (this.head >= 64 && this.head * 2 >= this.items.length) {
      this.items.copyWithin(0, this.head);
      this.items.length -= this.head;
      this.head = 0;
    }
    return item;
  }

  clear() {
    this.items.length = this.head = 0;
  }
}

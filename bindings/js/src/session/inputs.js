/**
 * What the player did and the server has not confirmed.
 *
 * Every message carries all of it, so that a lost message is made up for by the next (section 47). A message
 * has no gaps: after one, what is before it is too late anyway.
 */

import { isNewer } from "../replica/tick.js";

/** Inputs in a message. */
export const INPUTS_MAX = 64;

/** See the module. */
export class InputLog {
  /** @type {{ step: number, input: any }[]} the newest last, without a gap */
  #log = [];
  #first = 0;
  #count = 0;
  /** @type {number | null} the step that was handed out, and waits for its input */
  #asked = null;
  #isUnsent = false;

  clear() {
    this.#log = [];
    this.#count = 0;
    this.#asked = null;
    this.#isUnsent = false;
  }

  /**
   * These steps are due. Steps of before that nobody gave an input for are over.
   * @param {number} first
   * @param {number} count
   */
  setSteps(first, count) {
    if (count === 0) return;
    this.#first = first;
    this.#count = count;
  }

  /**
   * The server has simulated a step.
   * @param {number} step
   */
  confirm(step) {
    while (this.#log.length > 0 && !isNewer(this.#log[0].step, step)) this.#log.shift();
  }

  /** The next step that the player is to act in; null if there is none. */
  pollStep() {
    if (this.#count === 0) return null;
    const step = this.#first;
    this.#first = (step + 1) >>> 0;
    this.#count--;
    this.#asked = step;
    return step;
  }

  /**
   * What the player does in the step that was asked for; false for any other.
   * @param {number} step
   * @param {any} input
   */
  push(step, input) {
    if (this.#asked !== step) return false;
    this.#asked = null;
    const newest = this.#log.at(-1);
    if (newest !== undefined && (newest.step + 1) >>> 0 !== step) this.#log = [];
    if (this.#log.length === INPUTS_MAX) this.#log.shift();
    this.#log.push({ step, input });
    this.#isUnsent = true;
    return true;
  }

  /**
   * The newest step and the inputs of it and those before, the newest first, if something is new; null
   * otherwise.
   * @returns {{ step: number, inputs: any[] } | null}
   */
  poll() {
    const newest = this.#log.at(-1);
    if (!this.#isUnsent || newest === undefined) return null;
    this.#isUnsent = false;
    return { step: newest.step, inputs: this.#log.map(({ input }) => input).reverse() };
  }
}

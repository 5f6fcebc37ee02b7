/**
 * When a client looks at its connection: soon after something arrived, and at a deadline.
 *
 * Browsers let timers of a tab in the background run once a second or less, but messages arrive there as ever. So "soon" is a
 * message to oneself, and whatever arrives keeps the client going: a game with twenty snapshots a second is looked at twenty
 * times a second though nobody sees it. Only what must happen without any arrival waits for a timer.
 */

const TIMER_MS_MAX = 1_000;

/** See the module. */
export class Pump {
  #run;
  #channel = new MessageChannel();
  #isSoon = false;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  #timerAtMs = Infinity;

  /** @param {() => void} run */
  constructor(run) {
    this.#run = run;
    this.#channel.port1.onmessage = () => {
      this.#isSoon = false;
      this.#run();
    };
  }

  /** Runs once, as soon as the present work is done. */
  soon() {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#channel.port2.postMessage(null);
  }

  /**
   * Runs at a time at the latest.
   * @param {number} nowMs
   * @param {number} dueMs Infinity for whenever it suits
   */
  at(nowMs, dueMs) {
    const due = Math.min(Math.max(dueMs, nowMs), nowMs + TIMER_MS_MAX);
    if (this.#timer !== null && this.#timerAtMs <= due && this.#timerAtMs >= nowMs) return;
    this.#clear();
    this.#timerAtMs = due;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#run();
    }, Math.ceil(due - nowMs));
  }

  /** Never runs again. */
  stop() {
    this.#clear();
    this.#channel.port1.onmessage = null;
    this.#channel.port1.close();
    this.#channel.port2.close();
  }

  #clear() {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

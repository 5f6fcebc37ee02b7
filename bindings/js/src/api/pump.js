/**
 * When a client looks at its connection: soon after something arrived, and at a deadline.
 *
 * Browsers let timers of a tab in the background run once a second or less, but messages arrive there as
 * ever. So "soon" is a message to oneself, and whatever arrives keeps the client going: a game with twenty
 * snapshots a second is looked at twenty times a second though nobody sees it. Only what must happen without
 * any arrival waits for a timer.
 */

const TIMER_MS_MAX = 1_000;

/** See the module. */
export class Pump {
  #run;
  /** @type {MessageChannel | null} made when it is needed: an open one keeps a process of node alive */
  #channel = null;
  #isSoon = false;
  #isStopped = false;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  #timerAtMs = Infinity;

  /** @param {() => void} run */
  constructor(run) {
    this.#run = run;
  }

  /** Runs once, as soon as the present work is done. */
  soon() {
    if (this.#isSoon || this.#isStopped) return;
    this.#isSoon = true;
    this.#channel ??= this.#open();
    this.#channel.port2.postMessage(null);
  }

  /**
   * Runs at a time at the latest.
   * @param {number} nowMs
   * @param {number} dueMs Infinity for whenever it suits
   */
  at(nowMs, dueMs) {
    if (this.#isStopped) return;
    const due = Math.min(Math.max(dueMs, nowMs), nowMs + TIMER_MS_MAX);
    if (this.#timer !== null && this.#timerAtMs <= due && this.#timerAtMs >= nowMs) return;
    this.#clear();
    this.#timerAtMs = due;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#run();
      },
      Math.ceil(due - nowMs),
    );
  }

  /** Never runs again. */
  stop() {
    this.#isStopped = true;
    this.#clear();
    if (this.#channel === null) return;
    this.#channel.port1.onmessage = null;
    this.#channel.port1.close();
    this.#channel.port2.close();
  }

  #open() {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      this.#isSoon = false;
      this.#run();
    };
    return channel;
  }

  #clear() {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

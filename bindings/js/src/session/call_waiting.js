/**
 * Calls between their arrival and the game.
 *
 * A call may arrive before everything that it needs: before the welcome, which travels on another channel;
 * before the server's list, if the two sides have different tables; before its object, for objects appear in
 * snapshots; and before the view shows the moment that it is about. The first two wait in the inbox, which is
 * a bounded queue like the one here for those that wait for an object.
 *
 *     frame ─▶ inbox ──welcome, list──▶ WaitingCalls ──object, or 1 s──▶ view ──its tick──▶ event "call"
 *              4,096 calls, 1 MiB       256 calls, 64 KiB                256 calls, 2 s
 */

const WAITING_CALLS_MAX = 256;
const WAITING_BYTES_MAX = 64 * 1024;
const WAIT_MAX_US = 1_000_000;

/** @typedef {import("./call_frame.js").ServerCall} ServerCall */

/** Frames of calls, in the order of their arrival, until both sides agree on names. */
export class CallInbox {
  static CALLS_MAX = 4_096;
  static BYTES_MAX = 1 << 20;
  /** @type {Uint8Array[]} */
  #frames = [];
  #bytes = 0;

  /**
   * Keeps a copy of a frame; false if there is no room.
   * @param {Uint8Array} frame
   */
  push(frame) {
    const fits =
      this.#frames.length < CallInbox.CALLS_MAX && this.#bytes + frame.length <= CallInbox.BYTES_MAX;
    if (fits) {
      this.#frames.push(frame.slice());
      this.#bytes += frame.length;
    }
    return fits;
  }

  /** All of them, which are no longer here. */
  take() {
    const frames = this.#frames;
    this.#frames = [];
    this.#bytes = 0;
    return frames;
  }
}

/** Calls about objects that are not there yet. */
export class WaitingCalls {
  /** @type {{ call: ServerCall, since: number }[]} the oldest first */
  #held = [];
  #bytes = 0;

  get length() {
    return this.#held.length;
  }

  /**
   * Keeps a call. The oldest of those that wait go to `unknown` where it takes their place.
   * @param {number} now
   * @param {ServerCall} call
   * @param {(call: ServerCall) => void} unknown
   */
  hold(now, call, unknown) {
    const bytes = call.args.length;
    while (this.#held.length >= WAITING_CALLS_MAX || this.#bytes + bytes > WAITING_BYTES_MAX) {
      const [oldest] = this.#held;
      if (oldest === undefined) break;
      this.#remove((held) => held === oldest, unknown);
    }
    this.#held.push({ call: { ...call, args: call.args.slice() }, since: now });
    this.#bytes += bytes;
  }

  /**
   * An object is here: what waits for it goes on, in its order.
   * @param {number} alias
   * @param {(call: ServerCall) => void} deliver
   */
  release(alias, deliver) {
    if (this.#held.length > 0) this.#remove((held) => held.call.alias === alias, deliver);
  }

  /**
   * Gives up on what has waited for a second.
   * @param {number} now
   * @param {(call: ServerCall) => void} unknown
   */
  handleTimeout(now, unknown) {
    if (this.#held.length > 0) this.#remove((held) => now - held.since >= WAIT_MAX_US, unknown);
  }

  /** When `handleTimeout` has something to do; Infinity for never. */
  nextTimeout() {
    return this.#held.length === 0 ? Infinity : this.#held[0].since + WAIT_MAX_US;
  }

  clear() {
    this.#held = [];
    this.#bytes = 0;
  }

  /**
   * @param {(held: { call: ServerCall, since: number }) => boolean} isLeaving
   * @param {(call: ServerCall) => void} take
   */
  #remove(isLeaving, take) {
    const leaving = this.#held.filter(isLeaving);
    if (leaving.length === 0) return;
    this.#held = this.#held.filter((held) => !leaving.includes(held));
    for (const { call } of leaving) {
      this.#bytes -= call.args.length;
      take(call);
    }
  }
}

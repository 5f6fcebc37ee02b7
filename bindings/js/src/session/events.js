/** What a client has to tell, until it is asked. */

/** Events that wait; the oldest give way, for whoever never asks must not fill the memory. */
const EVENTS_MAX = 8_192;

/**
 * Something that happened.
 * @typedef {{ type: "welcomed", player: number, room: string, isResumed: boolean, isSpectator: boolean }
 *   | { type: "lost", error: import("./error.js").NetloomError }
 *   | { type: "ended", error: import("./error.js").NetloomError }
 *   | { type: "joined", player: number, name: string, isSpectator: boolean }
 *   | { type: "left", player: number, name: string }
 *   | { type: "entered" | "gone" | "changed", alias: number }
 *   | { type: "complete" }
 *   | { type: "lobby", state: import("./lobby.js").LobbyState }
 *   | { type: "lobby-event", event: import("./lobby.js").LobbyEvent }
 *   | { type: "claimed", alias: number, isGranted: boolean }
 *   | { type: "rejected", step: number, reason: string, code: number, text: string }
 *   | { type: "notice", kind: string, text: string }
 *   | { type: "said", player: number | null, toTeam: boolean, text: string }
 *   | { type: "called", call: import("./calls.js").Called }
 *   | { type: "call-refused", name: string | null, reason: string, text: string }
 *   | { type: "calls-agreed", missing: string[] }} SessionEvent
 */

/** A queue with an end. */
export class Events {
  /** @type {SessionEvent[]} */
  #waiting = [];
  #at = 0;

  /** @param {SessionEvent} event */
  push(event) {
    if (this.#waiting.length - this.#at >= EVENTS_MAX) this.#at++;
    this.#waiting.push(event);
    if (this.#at >= EVENTS_MAX) {
      this.#waiting.splice(0, this.#at);
      this.#at = 0;
    }
  }

  /** @returns {SessionEvent | undefined} the oldest */
  poll() {
    if (this.#at < this.#waiting.length) return this.#waiting[this.#at++];
    this.#waiting.length = 0;
    this.#at = 0;
    return undefined;
  }
}

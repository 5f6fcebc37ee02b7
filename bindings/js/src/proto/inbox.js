/**
 * What waits to be polled by the application.
 *
 * A server, or whoever poses as one, decides how much arrives; the application decides how much it takes.
 * Between them is a queue with a limit in messages and in bytes. When it is full, packets are refused and
 * come again later.
 */

import { Queue } from "./queue.js";

/**
 * @typedef {{ type: "connected", resumeToken: Uint8Array, isSealed: boolean }} ConnectedEvent
 * @typedef {{ type: "message", channel: number, data: Uint8Array }} MessageEvent
 * @typedef {{ type: "outcome", tag: number, isAcked: boolean }} OutcomeEvent
 * @typedef {{ type: "ended", error: import("./reason.js").ConnectionError }} EndedEvent
 * @typedef {ConnectedEvent | MessageEvent | OutcomeEvent | EndedEvent} ConnectionEvent
 */

/** Outcomes that may wait; the oldest give way, for whoever does not poll does not care. */
const OUTCOMES_MAX = 8192;

/** The events of one connection. */
export class Inbox {
  /**
   * @param {number} messagesMax
   * @param {number} bytesMax
   */
  constructor(messagesMax, bytesMax) {
    this.messagesMax = messagesMax;
    this.bytesMax = bytesMax;
    /** @type {Queue<ConnectionEvent>} */
    this.events = new Queue();
    /** @type {Queue<OutcomeEvent>} */
    this.outcomes = new Queue();
    this.messages = 0;
    this.bytes = 0;
  }

  /** Whether another message may wait. */
  hasRoom() {
    return this.messages < this.messagesMax && this.bytes < this.bytesMax;
  }

  /** @param {number} channel @param {Uint8Array} data its own to keep */
  deliver(channel, data) {
    this.messages++;
    this.bytes += data.length;
    this.events.push({ type: "message", channel, data });
  }

  /** @param {ConnectionEvent} event */
  push(event) {
    this.events.push(event);
  }

  /** @param {number} tag @param {boolean} isAcked */
  pushOutcome(tag, isAcked) {
    if (this.outcomes.length >= OUTCOMES_MAX) this.outcomes.shift();
    this.outcomes.push({ type: "outcome", tag, isAcked });
  }

  /** @returns {ConnectionEvent | null} */
  poll() {
    const event = this.outcomes.shift() ?? this.events.shift() ?? null;
    if (event?.type === "message") {
      this.messages--;
      this.bytes -= event.data.length;
    }
    return event;
  }
}

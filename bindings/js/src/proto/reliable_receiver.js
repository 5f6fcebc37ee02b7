/**
 * Reliable messages as they arrive: duplicates dropped, gaps waited for, fragments put together (sections
 * 23.1 and 23.2).
 *
 * ```text
 *   next
 *    │ part │  gap  │ part │ part │          ordered: nothing is delivered until the gap is filled
 *    │ done │  gap  │ done │ part │          unordered: whole messages are delivered past it
 *    └───────── at most 1024 ─────────┘
 * ```
 */

import { distance16 } from "../wire/packet_number.js";
import { RELIABLE_WINDOW } from "./limits.js";

const MISSING = 0;
const HELD = 1;
/** Delivered, but something before it is missing. */
const DONE = 2;

/** The receiving half of a reliable channel. Slots are a ring, indexed by the full id. */
export class ReliableReceiver {
  /**
   * @param {number} channel
   * @param {import("./config.js").ChannelConfig} config
   * @param {import("./inbox.js").Inbox} inbox
   */
  constructor(channel, config, inbox) {
    this.channel = channel;
    this.isOrdered = config.kind !== "unordered";
    this.messageBytesMax = config.messageBytesMax;
    this.receiveBytesMax = config.receiveBytesMax;
    this.inbox = inbox;
    /** The lowest id that is not delivered, or whose message is incomplete. */
    this.next = 0;
    this.waitingBytes = 0;
    this.phase = new Uint8Array(RELIABLE_WINDOW);
    this.part = new Uint16Array(RELIABLE_WINDOW);
    this.parts = new Uint16Array(RELIABLE_WINDOW);
    /** @type {(Uint8Array | null)[]} */
    this.data = [];
  }

  /**
   * Takes a message or part in. A rejection means that the packet must not be acknowledged; `malformed`, that
   * its sender violated the protocol.
   * @param {number} truncatedId
   * @param {number} part
   * @param {number} parts 0 for a whole message
   * @param {Uint8Array} data a view, copied if it is kept
   * @returns {"out_of_window" | "no_room" | "malformed" | null}
   */
  receive(truncatedId, part, parts, data) {
    const ahead = distance16(truncatedId, this.next);
    if (ahead < 0) return null;
    if (ahead >= RELIABLE_WINDOW) return "out_of_window";
    const id = this.next + ahead;
    const slot = id % RELIABLE_WINDOW;
    if (this.phase[slot] !== MISSING) return null;
    if (part > ahead || data.length > this.messageBytesMax) return "malformed";
    if (parts === 0 && (ahead === 0 || !this.isOrdered)) {
      if (!this.inbox.hasRoom()) return "no_room";
      this.inbox.deliver(this.channel, data.slice());
      this.phase[slot] = DONE;
    } else {
      const refusal = this.#checkRoom(data.length, parts > 0 && part === ahead);
      if (refusal) return refusal;
      this.waitingBytes += data.length;
      this.phase[slot] = HELD;
      this.part[slot] = part;
      this.parts[slot] = parts;
      this.data[slot] = data.slice();
      if (!this.isOrdered && this.#complete(id) === "malformed") return "malformed";
    }
    return this.resume();
  }

  /**
   * Delivers from the front as far as it is complete and there is room.
   * @returns {"malformed" | null}
   */
  resume() {
    for (;;) {
      const slot = this.next % RELIABLE_WINDOW;
      if (this.phase[slot] === DONE) {
        this.phase[slot] = MISSING;
        this.next++;
        continue;
      }
      const outcome = this.phase[slot] === HELD ? this.#complete(this.next) : "waits";
      if (outcome === "malformed") return outcome;
      if (outcome === "waits") return null;
    }
  }

  /**
   * The message that everything waits for is always taken, for refusing its parts could never end; a sender
   * that keeps to the largest message adds no more than that to what waits already.
   * @param {number} bytes
   * @param {boolean} isAwaited
   */
  #checkRoom(bytes, isAwaited) {
    const waiting = this.waitingBytes + bytes;
    if (waiting <= this.receiveBytesMax) return null;
    if (!isAwaited) return "no_room";
    return waiting <= this.receiveBytesMax + this.messageBytesMax ? null : "malformed";
  }

  /**
   * Delivers the message that a held part belongs to, if all of it is here and there is room.
   * @param {number} id
   * @returns {"delivered" | "waits" | "malformed"}
   */
  #complete(id) {
    const slot = id % RELIABLE_WINDOW;
    const parts = this.parts[slot];
    const first = id - this.part[slot];
    const count = Math.max(1, parts);
    if (first < this.next) return "malformed";
    if (first + count > this.next + RELIABLE_WINDOW) return "waits";
    let bytes = 0;
    for (let index = 0; index < count; index++) {
      const other = (first + index) % RELIABLE_WINDOW;
      if (this.phase[other] === MISSING) return "waits";
      const belongs = this.phase[other] === HELD && this.part[other] === index && this.parts[other] === parts;
      if (!belongs) return "malformed";
      bytes += /** @type {Uint8Array} */ (this.data[other]).length;
    }
    if (bytes > this.messageBytesMax) return "malformed";
    if (!this.inbox.hasRoom()) return "waits";
    const message = new Uint8Array(bytes);
    let at = 0;
    for (let index = 0; index < count; index++) {
      const other = (first + index) % RELIABLE_WINDOW;
      const data = /** @type {Uint8Array} */ (this.data[other]);
      message.set(data, at);
      at += data.length;
      this.data[other] = null;
      this.phase[other] = DONE;
    }
    this.waitingBytes -= bytes;
    this.inbox.deliver(this.channel, message);
    return "delivered";
  }
}

/**
 * Messages that are kept until they are acknowledged (sections 23.1, 23.2 and 26).
 *
 * ```text
 *   base                       nextNew                  end
 *    │ acked │ in flight │ lost │  never sent            │
 *    └───────── at most 1024 ─────────┘
 * ```
 *
 * There is no timer per message: one is due again when the last packet that carried it is given up. When
 * nothing at all comes back, the connection asks for a probe.
 */

import { FRAGMENT_BYTES, RELIABLE_WINDOW } from "./limits.js";
import { Queue } from "./queue.js";

const DUE = 0;
const IN_FLIGHT = 1;
const ACKED = 2;

/** What a packet needs for a part besides its bytes, about. */
const PART_OVERHEAD_BYTES = 8;

/**
 * @typedef {object} Part
 * @property {Uint8Array} data
 * @property {number} part which fragment it is
 * @property {number} parts how many there are; 0 for a whole message
 * @property {number} phase
 * @property {number} number the newest packet that carried it
 * @property {number} sends
 */

/** The sending half of a reliable channel. */
export class ReliableSender {
  /** @param {number} sendsMax how often one part may be sent */
  constructor(sendsMax) {
    this.sendsMax = sendsMax;
    /** @type {Queue<Part>} */
    this.queue = new Queue();
    /** The id of the front of the queue. */
    this.base = 0;
    this.nextNew = 0;
    /** @type {Queue<number>} ids that are due again */
    this.lost = new Queue();
    this.pendingBytes = 0;
    /** Whether a part was sent as often as is allowed. */
    this.hasFailed = false;
  }

  get pendingCount() {
    return this.queue.length;
  }

  /**
   * Takes a message; says its id, or that of its first part.
   * @param {Uint8Array} message
   * @param {number} wholeBytesMax longer ones are cut
   */
  push(message, wholeBytesMax) {
    const id = this.base + this.queue.length;
    this.pendingBytes += message.length;
    const parts = message.length <= wholeBytesMax ? 0 : Math.ceil(message.length / FRAGMENT_BYTES);
    for (let part = 0; part < Math.max(1, parts); part++) {
      const data =
        parts === 0 ? message.slice() : message.slice(part * FRAGMENT_BYTES, (part + 1) * FRAGMENT_BYTES);
      this.queue.push({ data, part, parts, phase: DUE, number: -1, sends: 0 });
    }
    return id;
  }

  /** The id of the next part that was lost; −1 for none. */
  dueLost() {
    for (;;) {
      const id = this.lost.at(0);
      if (id === undefined) return -1;
      if (this.part(id)?.phase === DUE) return id;
      this.lost.shift();
    }
  }

  /** The id of the next part that was never sent, if the window allows it; −1 for none. */
  dueNew() {
    return this.nextNew < this.base + Math.min(this.queue.length, RELIABLE_WINDOW) ? this.nextNew : -1;
  }

  /** @param {number} id @returns {Part | undefined} */
  part(id) {
    return id < this.base ? undefined : this.queue.at(id - this.base);
  }

  /** Bytes that the lost parts will take in packets, about. */
  lostBytes() {
    let bytes = 0;
    for (let index = 0; index < this.lost.length; index++) {
      bytes +=
        (this.part(/** @type {number} */ (this.lost.at(index)))?.data.length ?? 0) + PART_OVERHEAD_BYTES;
    }
    return bytes;
  }

  /**
   * A part has been put into a packet.
   * @param {number} id
   * @param {number} number
   */
  handleSent(id, number) {
    if (this.lost.at(0) === id) this.lost.shift();
    this.nextNew = Math.max(this.nextNew, id + 1);
    const part = this.part(id);
    if (part === undefined) return;
    part.phase = IN_FLIGHT;
    part.number = number;
    part.sends++;
  }

  /**
   * A packet that carried this part arrived.
   * @param {number} id
   */
  handleAcked(id) {
    const part = this.part(id);
    if (part !== undefined && part.phase !== ACKED) {
      part.phase = ACKED;
      this.pendingBytes -= part.data.length;
    }
    while (this.queue.at(0)?.phase === ACKED) {
      this.queue.shift();
      this.base++;
    }
  }

  /**
   * A packet that carried this part was given up: it is due again unless a later packet carries it too. With
   * −1 for the number it is due again in any case.
   * @param {number} id
   * @param {number} number
   */
  handleLost(id, number) {
    const part = this.part(id);
    if (part?.phase === IN_FLIGHT && (number < 0 || part.number === number)) this.#makeDue(id, part);
  }

  /**
   * Makes the oldest parts due again although nothing is known of them, up to so many bytes.
   * @param {number} bytesMax
   */
  probe(bytesMax) {
    let bytes = 0;
    for (let id = this.base; id < this.nextNew; id++) {
      const part = /** @type {Part} */ (this.part(id));
      if (part.phase !== IN_FLIGHT) continue;
      bytes += part.data.length + PART_OVERHEAD_BYTES;
      if (bytes > bytesMax) return;
      this.#makeDue(id, part);
    }
  }

  /** @param {number} id @param {Part} part */
  #makeDue(id, part) {
    if (part.sends >= this.sendsMax) this.hasFailed = true;
    part.phase = DUE;
    this.lost.push(id);
  }
}

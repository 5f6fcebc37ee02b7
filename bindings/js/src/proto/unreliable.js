/** Messages that may be lost: sent once, delivered at most once (sections 23.1 and 23.3). */

import { distance16 } from "../wire/packet_number.js";
import { ASSEMBLIES_MAX, FRAGMENT_BYTES } from "./limits.js";
import { Queue } from "./queue.js";

/** A message whose parts have not all come by then is forgotten: long before its number comes round again. */
const ASSEMBLY_LIFETIME = 2e6;

/**
 * @typedef {object} Outgoing
 * @property {Uint8Array} data
 * @property {number} id
 * @property {number} part
 * @property {number} parts 0 for a whole message
 * @property {number} tag −1 for none
 */

/** The sending half of an unreliable or sequenced channel. */
export class UnreliableSender {
  /**
   * @param {boolean} isLatestOnly a newer message replaces what was not sent
   * @param {(tag: number) => void} handleDropped called with the tag of a message that was replaced
   */
  constructor(isLatestOnly, handleDropped) {
    this.isLatestOnly = isLatestOnly;
    this.handleDropped = handleDropped;
    /** @type {Queue<Outgoing>} */
    this.queue = new Queue();
    this.nextId = 0;
    this.pendingBytes = 0;
  }

  get pendingCount() {
    return this.queue.length;
  }

  /**
   * Takes a message; says its id.
   * @param {Uint8Array} message
   * @param {number} wholeBytesMax longer ones are cut
   * @param {number} tag −1 for none
   */
  push(message, wholeBytesMax, tag) {
    if (this.isLatestOnly) {
      for (let part = this.queue.shift(); part !== undefined; part = this.queue.shift()) {
        if (part.tag >= 0) this.handleDropped(part.tag);
      }
      this.pendingBytes = 0;
    }
    const id = this.nextId++;
    this.pendingBytes += message.length;
    const parts = message.length <= wholeBytesMax ? 0 : Math.ceil(message.length / FRAGMENT_BYTES);
    for (let part = 0; part < Math.max(1, parts); part++) {
      const data =
        parts === 0 ? message.slice() : message.slice(part * FRAGMENT_BYTES, (part + 1) * FRAGMENT_BYTES);
      this.queue.push({ data, id: id & 0xffff, part, parts, tag });
    }
    return id;
  }

  /** The part to send next. */
  due() {
    return this.queue.at(0);
  }

  /** The part that `due` showed is in a packet. */
  handleSent() {
    this.pendingBytes -= this.queue.shift()?.data.length ?? 0;
  }
}

/**
 * @typedef {object} Assembly
 * @property {number} id
 * @property {number} startedAt
 * @property {(Uint8Array | undefined)[]} parts
 * @property {number} missing
 * @property {number} bytes
 */

/** The receiving half of an unreliable or sequenced channel. */
export class UnreliableReceiver {
  /**
   * @param {number} channel
   * @param {import("./config.js").ChannelConfig} config
   * @param {import("./inbox.js").Inbox} inbox
   */
  constructor(channel, config, inbox) {
    this.channel = channel;
    this.isLatestOnly = config.kind === "sequenced";
    this.messageBytesMax = config.messageBytesMax;
    this.receiveBytesMax = config.receiveBytesMax;
    this.inbox = inbox;
    /** The id of the last message delivered; −1 for none. */
    this.newest = -1;
    /** @type {Assembly[]} the oldest first */
    this.assemblies = [];
    this.waitingBytes = 0;
  }

  /**
   * Takes a message or part in; a rejection means that the packet must not be acknowledged.
   * @param {number} id
   * @param {number} part
   * @param {number} parts 0 for a whole message
   * @param {Uint8Array} data a view, copied if it is kept
   * @param {number} now
   * @returns {"no_room" | "malformed" | null}
   */
  receive(id, part, parts, data, now) {
    if (this.isLatestOnly && this.newest >= 0 && distance16(id, this.newest) <= 0) return null;
    if (data.length > this.messageBytesMax) return "malformed";
    if (!this.inbox.hasRoom()) return "no_room";
    if (parts > 0) return this.#receivePart(id, part, parts, data, now);
    this.inbox.deliver(this.channel, data.slice());
    this.newest = id;
    return null;
  }

  /**
   * @param {number} id
   * @param {number} part
   * @param {number} parts
   * @param {Uint8Array} data
   * @param {number} now
   */
  #receivePart(id, part, parts, data, now) {
    while (this.assemblies.length > 0 && now - this.assemblies[0].startedAt >= ASSEMBLY_LIFETIME)
      this.#dropOldest();
    while (this.waitingBytes + data.length > this.receiveBytesMax) {
      if (this.assemblies.length === 0) return "no_room";
      this.#dropOldest();
    }
    let assembly = this.assemblies.find((each) => each.id === id);
    if (assembly === undefined) {
      if (this.assemblies.length === ASSEMBLIES_MAX) this.#dropOldest();
      assembly = { id, startedAt: now, parts: new Array(parts).fill(undefined), missing: parts, bytes: 0 };
      this.assemblies.push(assembly);
    }
    if (assembly.parts.length !== parts) return "malformed";
    if (assembly.parts[part] !== undefined) return null;
    if (assembly.bytes + data.length > this.messageBytesMax) return "malformed";
    assembly.parts[part] = data.slice();
    assembly.missing--;
    assembly.bytes += data.length;
    this.waitingBytes += data.length;
    if (assembly.missing === 0) this.#deliver(assembly);
    return null;
  }

  /** @param {Assembly} assembly */
  #deliver(assembly) {
    const message = new Uint8Array(assembly.bytes);
    let at = 0;
    for (const part of assembly.parts) {
      const data = /** @type {Uint8Array} */ (part);
      message.set(data, at);
      at += data.length;
    }
    this.assemblies.splice(this.assemblies.indexOf(assembly), 1);
    this.waitingBytes -= assembly.bytes;
    this.newest = assembly.id;
    this.inbox.deliver(this.channel, message);
  }

  #dropOldest() {
    this.waitingBytes -= this.assemblies.shift()?.bytes ?? 0;
  }
}

/**
 * The receiving half of a session: from the frames of a believed packet to messages in the inbox (sections 23
 * to 25).
 */

import { WireError } from "../wire/error.js";
import { isReliable } from "./config.js";
import { FrameKind, FrameTable } from "./frames.js";
import { Answer, ReceiveWindow } from "./receive_window.js";
import { BlockStore } from "./redundancy.js";
import { ReliableReceiver } from "./reliable_receiver.js";
import { UnreliableReceiver } from "./unreliable.js";

/** @typedef {"out_of_window" | "no_room" | "malformed" | null} Refusal null if everything found room */

/** What arrives. */
export class Inbound {
  /**
   * @param {import("./config.js").ConnectionConfig} config
   * @param {import("./inbox.js").Inbox} inbox
   */
  constructor(config, inbox) {
    const kinds = config.channels.map((channel) => channel.kind);
    this.window = new ReceiveWindow();
    this.frames = new FrameTable(kinds);
    this.blockFrames = new FrameTable(kinds);
    this.store = new BlockStore();
    this.inbox = inbox;
    this.receivers = config.channels.map((channel, id) =>
      isReliable(channel.kind)
        ? new ReliableReceiver(id, channel, inbox)
        : new UnreliableReceiver(id, channel, inbox),
    );
    /** Whether something complete may wait in a channel because the inbox was full. */
    this.isBlocked = false;
    /** Blocks of lost packets that redundancy brought back. */
    this.blocksRecovered = 0;
  }

  get waitingBytes() {
    return this.receivers.reduce((sum, receiver) => sum + receiver.waitingBytes, 0);
  }

  /** What the sender of the payload in `frames` is owed. */
  answer() {
    const { frames } = this;
    if (frames.count !== 1 || frames.kind[0] !== FrameKind.Message) return Answer.Soon;
    const kind = frames.kinds[frames.channel[0]];
    return isReliable(kind) ? Answer.Soon : kind === "sequenced" ? Answer.Patient : Answer.InPairs;
  }

  /**
   * Hands the frames in `frames` to their channels. One that finds no room spoils the acknowledgement of the
   * packet, not the rest.
   * @param {Uint8Array} payload where the frames stand
   * @param {number} number of the packet
   * @param {boolean} isProtected
   * @param {number} now
   * @returns {Refusal}
   */
  take(payload, number, isProtected, now) {
    const { frames } = this;
    /** @type {Refusal} */
    let refusal = null;
    for (let row = 0; row < frames.count; row++) {
      const data = payload.subarray(frames.start[row], frames.end[row]);
      if (frames.kind[row] === FrameKind.Message) {
        refusal = worse(refusal, this.#takeMessage(frames, row, data, now));
      } else if (frames.kind[row] === FrameKind.Copy) {
        refusal = worse(refusal, this.#takeCopy(number - frames.distance[row], data, now));
      } else {
        this.store.keepParity(
          number,
          frames.distance[row],
          frames.otherDistance[row],
          frames.lengthsXored[row],
          data,
        );
      }
      if (refusal === "malformed") return refusal;
    }
    if (isProtected && refusal === null)
      this.store.keep(number, payload.subarray(frames.blockStart, frames.blockEnd));
    return worse(refusal, this.#takeRecovered(now));
  }

  /** Delivers what waited for room in the inbox. @returns {Refusal} */
  resume() {
    this.isBlocked = false;
    for (const receiver of this.receivers) {
      if (receiver instanceof ReliableReceiver && receiver.resume() === "malformed") return "malformed";
    }
    this.isBlocked = !this.inbox.hasRoom();
    return null;
  }

  /**
   * @param {FrameTable} frames
   * @param {number} row
   * @param {Uint8Array} data
   * @param {number} now
   * @returns {Refusal}
   */
  #takeMessage(frames, row, data, now) {
    const receiver = this.receivers[frames.channel[row]];
    const refusal = receiver.receive(frames.id[row], frames.part[row], frames.parts[row], data, now);
    this.isBlocked ||= !this.inbox.hasRoom();
    return refusal;
  }

  /**
   * The block of a lost packet, as it was.
   * @param {number} lost
   * @param {Uint8Array} block
   * @param {number} now
   */
  #takeCopy(lost, block, now) {
    if (lost < 0 || this.store.has(lost)) return null;
    const refusal = this.#takeBlock(block, now);
    if (refusal === null) this.store.keep(lost, block);
    return refusal;
  }

  /** The blocks that parities give away. @param {number} now @returns {Refusal} */
  #takeRecovered(now) {
    /** @type {Refusal} */
    let refusal = null;
    for (let place = this.store.recover(0); place >= 0; place = this.store.recover(place)) {
      const { bytes, length } = this.store.recovered;
      const taken = this.#takeBlock(bytes.subarray(0, length), now);
      if (taken === null) {
        this.store.handleTaken();
        place = 0;
      }
      refusal = worse(refusal, taken);
      if (refusal === "malformed") return refusal;
    }
    return refusal;
  }

  /** @param {Uint8Array} block @param {number} now @returns {Refusal} */
  #takeBlock(block, now) {
    const frames = this.blockFrames;
    try {
      frames.readBlock(block, 0, block.length);
    } catch (error) {
      if (error instanceof WireError) return "malformed";
      throw error;
    }
    /** @type {Refusal} */
    let refusal = null;
    for (let row = 0; row < frames.count; row++) {
      const data = block.subarray(frames.start[row], frames.end[row]);
      refusal = worse(refusal, this.#takeMessage(frames, row, data, now));
    }
    if (refusal === null) this.blocksRecovered++;
    return refusal;
  }
}

/** A violation outweighs want of room. @param {Refusal} first @param {Refusal} second @returns {Refusal} */
function worse(first, second) {
  return first === null || second === "malformed" ? second : first;
}

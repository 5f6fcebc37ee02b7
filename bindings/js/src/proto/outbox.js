/**
 * What waits to be sent, over all channels, and how packets are filled with it.
 *
 * In this order: new messages of priority channels; one part of the channel whose turn it is; those of other
 * reliable channels, up to half of the packet while unreliable messages wait; unreliable messages; reliable
 * ones again; redundancy; and lost messages, for which room was kept from the start. All channels that have
 * something to send take turns in going first, so that no flood keeps another one out: at a low rate a packet
 * has room for a long part or for what comes every frame, not for both. What is new comes before what is sent
 * again because redundancy repeats the front of a packet, and a message that is sent again is on its way twice
 * already.
 */

import { isReliable } from "./config.js";
import { messageFrameBytes } from "./frames.js";
import { PENDING_MESSAGE_BYTES_MIN, RELIABLE_WINDOW } from "./limits.js";
import { SendError } from "./reason.js";
import { ReliableSender } from "./reliable_sender.js";
import { UnreliableSender } from "./unreliable.js";

/** The sending halves of all channels. */
export class Outbox {
  /**
   * @param {import("./config.js").ConnectionConfig} config
   * @param {number} wholeBytesMax longer messages are cut
   * @param {(tag: number) => void} handleDropped called with the tag of an unsent message that a newer one
   *   replaced
   */
  constructor(config, wholeBytesMax, handleDropped) {
    this.channels = config.channels;
    this.wholeBytesMax = wholeBytesMax;
    this.senders = config.channels.map(({ kind }) =>
      isReliable(kind)
        ? new ReliableSender(config.resendsMax + 1)
        : new UnreliableSender(kind === "sequenced", handleDropped),
    );
    const ids = config.channels.map((_, id) => id);
    this.priority = ids.filter((id) => config.channels[id].kind === "priority");
    this.reliable = ids.filter((id) => isReliable(config.channels[id].kind));
    this.unreliable = ids.filter((id) => !isReliable(config.channels[id].kind));
    this.turn = 0;
  }

  /**
   * Takes a message; says its number on the channel.
   * @param {number} channel
   * @param {Uint8Array} message
   * @param {number} tag −1 for none
   */
  push(channel, message, tag) {
    const sender = this.senders[channel];
    if (sender === undefined) throw new SendError("NoSuchChannel", `there is no channel ${channel}`);
    const { messageBytesMax, pendingBytesMax } = this.channels[channel];
    if (message.length > messageBytesMax) {
      throw new SendError(
        "TooLong",
        `a message of ${message.length} bytes, channel ${channel} takes ${messageBytesMax}`,
      );
    }
    const isReplaced = sender instanceof UnreliableSender && sender.isLatestOnly;
    const pendingCountMax = RELIABLE_WINDOW + pendingBytesMax / PENDING_MESSAGE_BYTES_MIN;
    const isFull =
      sender.pendingBytes + message.length > pendingBytesMax || sender.pendingCount >= pendingCountMax;
    if (isFull && !isReplaced) {
      throw new SendError(
        "Full",
        `${sender.pendingBytes} bytes wait on channel ${channel}: send less, or wait for acks`,
      );
    }
    if (sender instanceof ReliableSender) {
      if (tag >= 0)
        throw new SendError("TagOnReliable", `channel ${channel} is reliable: its messages have no outcome`);
      return sender.push(message, this.wholeBytesMax);
    }
    if (tag >= 0 && message.length > this.wholeBytesMax) {
      throw new SendError("TagOnFragments", `a tagged message has at most ${this.wholeBytesMax} bytes`);
    }
    return sender.push(message, this.wholeBytesMax, tag);
  }

  get pendingBytes() {
    return this.senders.reduce((sum, sender) => sum + sender.pendingBytes, 0);
  }

  /** Whether a reliable message is not acknowledged yet. */
  hasUnacked() {
    return this.reliable.some((channel) => this.senders[channel].pendingCount > 0);
  }

  /** Whether a message was sent as often as is allowed. */
  hasFailed() {
    return this.reliable.some((channel) => this.#reliable(channel).hasFailed);
  }

  /**
   * The length of the longest part that its channel sends next; −1 if nothing is due. A packet that went
   * before the rate allows as much would be filled with smaller parts, again and again.
   */
  dueBytes() {
    let longest = -1;
    for (const channel of this.reliable) {
      const sender = this.#reliable(channel);
      if (sender.pendingCount === 0) continue;
      const lost = sender.dueLost();
      const part = sender.part(lost >= 0 ? lost : sender.dueNew());
      if (part !== undefined) longest = Math.max(longest, part.data.length);
    }
    for (const channel of this.unreliable)
      longest = Math.max(longest, this.#unreliable(channel).due()?.data.length ?? -1);
    return longest;
  }

  /**
   * Packs everything but what is sent again; says how many bytes to keep for that.
   * @param {import("./frames.js").FrameWriter} writer
   * @param {import("./sent.js").SentPackets} sent
   */
  fill(writer, sent) {
    const leader = this.#nextLeader();
    this.turn = leader + 1;
    const isUnreliableWaiting = this.unreliable.some((channel) => this.#isDue(channel));
    let forLost = 0;
    for (const channel of this.reliable) forLost += this.#reliable(channel).lostBytes();
    const forLeader = this.unreliable.includes(leader) ? this.#nextUnreliableBytes(leader) : 0;
    forLost = Math.min(forLost, Math.max(0, writer.room - forLeader));
    this.#fillNew(this.priority, forLost, writer, sent);
    if (this.reliable.includes(leader)) {
      const id = this.#reliable(leader).dueNew();
      if (id >= 0) this.#pack(leader, id, forLost, writer, sent);
    }
    if (isUnreliableWaiting) {
      const half = Math.floor((writer.room - forLost) / 2);
      this.#fillNew(this.reliable, forLost + Math.max(half, forLeader), writer, sent);
      this.#fillUnreliable(forLost, writer, sent);
    }
    this.#fillNew(this.reliable, forLost, writer, sent);
    return forLost;
  }

  /**
   * Packs what is sent again; says how many parts that were.
   * @param {import("./frames.js").FrameWriter} writer
   * @param {import("./sent.js").SentPackets} sent
   */
  fillLost(writer, sent) {
    let packed = 0;
    for (const channel of this.reliable) {
      const sender = this.#reliable(channel);
      for (
        let id = sender.dueLost();
        id >= 0 && this.#pack(channel, id, 0, writer, sent);
        id = sender.dueLost()
      )
        packed++;
    }
    return packed;
  }

  /** A packet with this part arrived. @param {number} channel @param {number} id */
  handleAcked(channel, id) {
    this.#reliable(channel).handleAcked(id);
  }

  /**
   * A packet with this part was given up.
   * @param {number} channel
   * @param {number} id
   * @param {number} number
   */
  handleLost(channel, id, number) {
    this.#reliable(channel).handleLost(id, number);
  }

  /** Makes the oldest unacknowledged parts of every channel due again. @param {number} bytesMax */
  probe(bytesMax) {
    for (const channel of this.reliable) this.#reliable(channel).probe(bytesMax);
  }

  /** @param {number} channel */
  #reliable(channel) {
    return /** @type {ReliableSender} */ (this.senders[channel]);
  }

  /** @param {number} channel */
  #unreliable(channel) {
    return /** @type {UnreliableSender} */ (this.senders[channel]);
  }

  /** The channel that goes first, the next in turn that has something to send and no priority; 0 for none. */
  #nextLeader() {
    const count = this.channels.length;
    for (let step = 0; step < count; step++) {
      const channel = (this.turn + step) % count;
      if (!this.priority.includes(channel) && this.#isDue(channel)) return channel;
    }
    return 0;
  }

  /** Whether a channel has something to send. @param {number} channel */
  #isDue(channel) {
    const sender = this.senders[channel];
    if (sender instanceof UnreliableSender) return sender.due() !== undefined;
    return sender.pendingCount > 0 && (sender.dueLost() >= 0 || sender.dueNew() >= 0);
  }

  /** What the next part of an unreliable channel takes in a packet; 0 if none waits. @param {number} channel */
  #nextUnreliableBytes(channel) {
    const due = this.#unreliable(channel).due();
    return due ? messageFrameBytes(this.channels[channel].kind, due.part, due.parts, due.data.length) : 0;
  }

  /**
   * The channels of a kind, beginning with the one that goes first or comes next after it.
   * @param {number[]} channels
   * @param {number} step
   */
  #inTurn(channels, step) {
    const leader = this.turn - 1;
    const first = Math.max(
      0,
      channels.findIndex((channel) => channel >= leader),
    );
    return channels[(first + step) % channels.length];
  }

  /**
   * @param {number[]} channels
   * @param {number} reserve
   * @param {import("./frames.js").FrameWriter} writer
   * @param {import("./sent.js").SentPackets} sent
   */
  #fillNew(channels, reserve, writer, sent) {
    for (let step = 0; step < channels.length; step++) {
      const channel = this.#inTurn(channels, step);
      const sender = this.#reliable(channel);
      let id = sender.dueNew();
      while (id >= 0 && this.#pack(channel, id, reserve, writer, sent)) id = sender.dueNew();
    }
  }

  /**
   * @param {number} reserve
   * @param {import("./frames.js").FrameWriter} writer
   * @param {import("./sent.js").SentPackets} sent
   */
  #fillUnreliable(reserve, writer, sent) {
    for (let step = 0; step < this.unreliable.length; step++) {
      const channel = this.#inTurn(this.unreliable, step);
      const sender = this.#unreliable(channel);
      const { kind } = this.channels[channel];
      for (let due = sender.due(); due !== undefined; due = sender.due()) {
        if (!sent.hasRoomForMessages()) return;
        if (!writer.message(channel, kind, due.id, due.part, due.parts, due.data, reserve)) break;
        if (due.tag >= 0) sent.carry(-1, due.tag);
        sender.handleSent();
      }
    }
  }

  /**
   * @param {number} channel
   * @param {number} id
   * @param {number} reserve
   * @param {import("./frames.js").FrameWriter} writer
   * @param {import("./sent.js").SentPackets} sent
   */
  #pack(channel, id, reserve, writer, sent) {
    const sender = this.#reliable(channel);
    const part = sender.part(id);
    if (part === undefined || !sent.hasRoomForMessages()) return false;
    const { kind } = this.channels[channel];
    if (!writer.message(channel, kind, id, part.part, part.parts, part.data, reserve)) return false;
    sender.handleSent(id, sent.open.number);
    sent.carry(channel, id);
    return true;
  }
}

/**
 * Packets on their way: what each carried, when it was acknowledged, and when it counts as lost (section 26).
 *
 * Packets are acknowledged, messages are resent in new packets. A packet is lost when another that was sent
 * later has been acknowledged and the difference between their send times exceeds the reorder window (after
 * RFC 8985):
 *
 * ```text
 *   sent:   1 ─── 2 ─── 3 ─── 4 ─── 5          acknowledged: 5
 *           └───────────┴── sent more than the reorder window before 5: lost
 *                             └──── not yet: may only be late
 * ```
 *
 * The window starts at an eighth of a round trip and widens whenever a packet that was given up arrives after
 * all. A packet that nothing overtakes is given up by age.
 */

import { MESSAGES_IN_FLIGHT_MAX, PACKETS_IN_FLIGHT_MAX } from "./limits.js";
import { Repeats } from "./redundancy.js";

const UNTRACKED = 0;
const IN_FLIGHT = 1;
const ACKED = 2;
const LOST = 3;

/** Packets remembered at most, with those that ask for no ack. */
const SLOTS = 2 * PACKETS_IN_FLIGHT_MAX;
/** After this many acknowledgements without a late one the reorder window narrows again. */
const CALM_ACKS = 256;
const REORDER_EIGHTHS_MAX = 9;
/**
 * How long a packet that was given up can still turn out to have arrived, unless it takes the room of new
 * ones.
 */
const LOST_KEPT = 4e6;
/** A receiver that has let go of nothing yet holds this many blocks. */
const BLOCKS_HELD = 16;

/** A packet as it was sent. */
export class SentPacket {
  constructor() {
    this.number = 0;
    this.fate = UNTRACKED;
    this.sentAt = 0;
    this.bytes = 0;
    /** What it acknowledged: the number, −1 for none, and how many had arrived by then. */
    this.named = -1;
    this.arrivals = 0;
    /**
     * What it carried: channels and ids of reliable parts, the block's first; −1 and a tag for a tagged
     * message.
     */
    /** @type {number[]} */
    this.channels = [];
    /** @type {number[]} */
    this.ids = [];
    this.blockMessages = 0;
    /** The blocks of earlier packets in it. */
    this.repeats = 0;
    this.near = -1;
    this.far = -1;
  }
}

/**
 * Who is told of the fate of packets.
 * @typedef {object} FateHandler
 * @property {(packet: SentPacket, isLate: boolean) => void} handleAcked it arrived, late if it had been given
 *   up
 * @property {(packet: SentPacket) => void} handleRepeated its block arrived in another packet
 * @property {(packet: SentPacket) => void} handleLost it was given up
 * @property {(packet: SentPacket) => void} handleCopyLost so was the copy of its block, after it
 */

/** The packets on their way, in a ring. */
export class SentPackets {
  /** @param {FateHandler} handler */
  constructor(handler) {
    this.handler = handler;
    /** @type {SentPacket[]} */
    this.slots = [];
    /** The oldest packet that is remembered, and the number of the next one. */
    this.first = 0;
    this.next = 0;
    /** The first packet that may still be in flight. */
    this.lowest = 0;
    this.inFlight = 0;
    this.carried = 0;
    this.newestAcked = -1;
    this.newestAckedSentAt = 0;
    this.reorderEighths = 1;
    this.ackedSinceLate = 0;
    /** The newest packet that was forgotten without an acknowledgement. */
    this.newestLostForgotten = -1;
    /** The packet under construction. */
    this.open = this.#slot(0);
    this.#clear(this.open);
  }

  /** Whether another packet that asks for an acknowledgement may be sent. */
  hasRoom() {
    return this.next - this.first < PACKETS_IN_FLIGHT_MAX;
  }

  /** Whether another packet that asks for none may be sent. */
  hasRoomForUntracked() {
    return this.next - this.first < SLOTS - 1;
  }

  /** Whether the packet under construction may carry more. */
  hasRoomForMessages() {
    return this.carried + this.open.ids.length < MESSAGES_IN_FLIGHT_MAX;
  }

  /**
   * Notes that the packet under construction carries this.
   * @param {number} channel −1 for a tag
   * @param {number} id
   */
  carry(channel, id) {
    this.open.channels.push(channel);
    this.open.ids.push(id);
  }

  /**
   * The packet under construction has gone.
   * @param {number} bytes
   * @param {boolean} isTracked whether it asks for an acknowledgement
   * @param {number} now
   */
  handleSent(bytes, isTracked, now) {
    const packet = this.open;
    packet.bytes = bytes;
    packet.sentAt = now;
    packet.fate = isTracked ? IN_FLIGHT : UNTRACKED;
    if (isTracked) this.inFlight++;
    this.carried += packet.ids.length;
    this.next++;
    if (!isTracked && this.next - this.first === 1) this.first = this.next;
    this.open = this.#slot(this.next);
    this.#clear(this.open);
  }

  /**
   * The full number behind a truncated acknowledgement; −1 if no such packet was sent.
   * @param {number} truncated
   */
  expand(truncated) {
    const last = this.next - 1;
    const distance = (last - truncated) & 0xffff;
    return last < 0 || distance >= 32768 ? -1 : Math.max(-1, last - distance);
  }

  /**
   * Takes an acknowledgement in.
   * @param {number} newest the full number
   * @param {import("./packet.js").Ack} ack
   */
  handleAck(newest, ack) {
    for (let number = Math.max(newest - ack.width, this.first); number <= newest; number++) {
      const back = newest - number - 1;
      const isNamed = back < 0 || ((back < 32 ? ack.low >>> back : ack.high >>> (back - 32)) & 1) !== 0;
      const packet = this.#slot(number);
      if (!isNamed || (packet.fate !== IN_FLIGHT && packet.fate !== LOST)) continue;
      const isLate = packet.fate === LOST;
      packet.fate = ACKED;
      if (!isLate) this.inFlight--;
      this.#noteAck(packet, isLate);
      this.handler.handleAcked(packet, isLate);
      this.#settleRepeated(packet);
    }
  }

  /**
   * Gives up packets that were overtaken for longer than the reorder window, or are older than `ageMax`.
   * @param {number} rtt
   * @param {number} ageMax
   * @param {number} now
   */
  detectLosses(rtt, ageMax, now) {
    const window = (rtt * this.reorderEighths) / 8;
    let isLowest = true;
    this.lowest = Math.max(this.lowest, this.first);
    for (let number = this.lowest; number < this.next && this.inFlight > 0; number++) {
      const packet = this.#slot(number);
      if (packet.fate === IN_FLIGHT) {
        const isOvertaken =
          number < this.newestAcked &&
          (packet.sentAt + window <= this.newestAckedSentAt || packet.sentAt + rtt + window <= now);
        if (isOvertaken || now - packet.sentAt >= ageMax) {
          this.#lose(packet);
        } else {
          isLowest = false;
          if (number >= this.newestAcked) break;
        }
      }
      if (isLowest) this.lowest = number + 1;
    }
    this.#forget(now);
  }

  /** When `detectLosses` could find something by time alone. @param {number} rtt @param {number} ageMax */
  lossDeadline(rtt, ageMax) {
    if (this.inFlight === 0) return Infinity;
    let number = Math.max(this.lowest, this.first);
    while (number < this.next && this.#slot(number).fate !== IN_FLIGHT) number++;
    this.lowest = number;
    const wait = number < this.newestAcked ? Math.min(ageMax, rtt + (rtt * this.reorderEighths) / 8) : ageMax;
    return this.#slot(number).sentAt + wait;
  }

  /** @param {SentPacket} packet */
  #lose(packet) {
    packet.fate = LOST;
    this.inFlight--;
    this.handler.handleLost(packet);
    if (packet.repeats !== Repeats.Copies) return;
    for (const copied of [packet.near, packet.far]) {
      if (copied >= this.first && this.#slot(copied).fate === LOST)
        this.handler.handleCopyLost(this.#slot(copied));
    }
  }

  /**
   * A packet arrived, and with it blocks of others. A copy speaks for itself. A parity gives one block if the
   * receiver has the other, which it does if that packet is acknowledged and nothing sent so far can have
   * pushed it out.
   * @param {SentPacket} packet
   */
  #settleRepeated(packet) {
    const { near, far } = packet;
    if (packet.repeats === Repeats.Copies) {
      this.#settle(near);
      this.#settle(far);
    } else if (packet.repeats === Repeats.Parity && this.next <= far + BLOCKS_HELD) {
      if (this.#isAcked(far)) this.#settle(near);
      if (this.#isAcked(near)) this.#settle(far);
    }
  }

  /** @param {number} number */
  #settle(number) {
    if (number < this.first) return;
    const packet = this.#slot(number);
    if (packet.fate !== ACKED) this.handler.handleRepeated(packet);
  }

  /** @param {number} number */
  #isAcked(number) {
    return number >= this.first ? this.#slot(number).fate === ACKED : number > this.newestLostForgotten;
  }

  /** @param {SentPacket} packet @param {boolean} isLate */
  #noteAck(packet, isLate) {
    if (packet.number > this.newestAcked) {
      this.newestAcked = packet.number;
      this.newestAckedSentAt = packet.sentAt;
    }
    if (isLate) {
      this.reorderEighths = Math.min(REORDER_EIGHTHS_MAX, this.reorderEighths + 1);
      this.ackedSinceLate = 0;
    } else if (++this.ackedSinceLate >= CALM_ACKS) {
      this.reorderEighths = Math.max(1, this.reorderEighths - 1);
      this.ackedSinceLate = 0;
    }
  }

  /** Forgets packets at the front whose fate is settled for good. @param {number} now */
  #forget(now) {
    for (; this.first < this.next; this.first++) {
      const packet = this.#slot(this.first);
      if (packet.fate === IN_FLIGHT) return;
      if (packet.fate === LOST) {
        const isNeeded =
          this.next - this.first >= PACKETS_IN_FLIGHT_MAX / 2 || this.carried >= MESSAGES_IN_FLIGHT_MAX / 2;
        if (now - packet.sentAt < LOST_KEPT && !isNeeded) return;
        this.newestLostForgotten = packet.number;
      }
      this.carried -= packet.ids.length;
    }
  }

  /** @param {number} number */
  #slot(number) {
    return (this.slots[number % SLOTS] ??= new SentPacket());
  }

  /** @param {SentPacket} packet */
  #clear(packet) {
    packet.number = this.next;
    packet.fate = UNTRACKED;
    packet.channels.length = packet.ids.length = 0;
    packet.named = packet.near = packet.far = -1;
    packet.repeats = packet.blockMessages = 0;
  }
}

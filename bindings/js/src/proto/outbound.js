/**
 * The sending half of a session: packets are made here, and what becomes of them is learnt here (sections 24
 * and 26).
 */

import { crc32c } from "../wire/crc32c.js";
import { TAG_BYTES } from "./crypto/chacha20poly1305.js";
import { FRAME_HEADER_BYTES_MAX, FrameWriter } from "./frames.js";
import { BLOCK_BYTES_MAX, IP_UDP_BYTES } from "./limits.js";
import { Outbox } from "./outbox.js";
import {
  Ack,
  asksForAck,
  CRC_BYTES,
  HEADER_BYTES_MAX,
  PacketType,
  PROTECTED_BIT,
  writeHeader,
} from "./packet.js";
import { INITIAL_RTO, RateControl } from "./rate.js";
import { BlockHistory } from "./redundancy.js";
import { SentPackets } from "./sent.js";

/** Doublings of the wait for an answer, at most. */
const PROBE_DOUBLINGS_MAX = 6;
const AGE_MIN = 1e6;
const AGE_MAX = 3e6;

/**
 * The largest message that travels in one packet, whatever else the packet needs.
 * @param {number} mtu
 */
export function wholeMessageBytesMax(mtu) {
  return mtu - HEADER_BYTES_MAX - TAG_BYTES - 1 - FRAME_HEADER_BYTES_MAX;
}

/** What goes out. */
export class Outbound {
  /**
   * @param {import("./config.js").ConnectionConfig} config
   * @param {import("./link.js").SessionKeys} session
   * @param {import("./receive_window.js").ReceiveWindow} window
   * @param {import("./inbox.js").Inbox} inbox
   * @param {number} checksum of the protocol id
   * @param {number} now
   */
  constructor(config, session, window, inbox, checksum, now) {
    this.config = config;
    this.session = session;
    this.window = window;
    this.inbox = inbox;
    this.checksum = checksum;
    this.out = new Uint8Array(config.mtu);
    this.ack = new Ack();
    this.writer = new FrameWriter();
    this.sent = new SentPackets(this);
    this.outbox = new Outbox(config, wholeMessageBytesMax(config.mtu), (tag) =>
      inbox.pushOutcome(tag, false),
    );
    this.history = new BlockHistory();
    this.rate = new RateControl(config.rate, now);
    this.lastSent = now;
    /** When the last packet that asks for an acknowledgement went. */
    this.lastEliciting = now;
    this.unansweredProbes = 0;
    this.packetsSent = 0;
    this.bytesSent = 0;
    this.packetsLost = 0;
    this.packetsLate = 0;
    this.resends = 0;
    this.probes = 0;
    // Of the acknowledgement that is being taken in.
    this.ackNow = 0;
    this.ackNewest = -1;
    this.ackDelayMs = 255;
  }

  /**
   * When a data packet may go: as soon as there is something to send and the rate allows it.
   * @param {number} now
   */
  dataDeadline(now) {
    if (!this.sent.hasRoom() || !this.sent.hasRoomForMessages()) return Infinity;
    const due = this.outbox.dueBytes();
    const readyAt = due >= 0 ? now : this.#tailAt();
    if (readyAt === Infinity) return Infinity;
    return Math.max(readyAt, this.rate.readyAt(datagramCost(due >= 0 ? due : BLOCK_BYTES_MAX), now));
  }

  /** Makes a Data packet; null if nothing fits. @param {number} now @returns {Uint8Array | null} */
  writeData(now) {
    const { out, writer, sent, history, config } = this;
    const packet = sent.open;
    const start = this.#begin(PacketType.Data, now);
    const trailer = this.session.sealKey ? TAG_BYTES : CRC_BYTES;
    const affordable = Math.floor(this.rate.available(now)) - IP_UDP_BYTES;
    writer.begin(out, start, Math.min(config.mtu, affordable) - trailer);
    const isTailDue = now >= this.#tailAt();
    const forLost = this.outbox.fill(writer, sent);
    // A packet with nothing new in it goes between others: redundancy stays with them unless they fail to
    // come.
    const hasNew = writer.count > 0;
    if (config.redundancy === "parity" && (hasNew || isTailDue)) {
      history.write(packet.number, writer, forLost);
      packet.repeats = history.repeats;
      packet.near = history.near;
      packet.far = history.far;
    }
    this.resends += this.outbox.fillLost(writer, sent);
    if (writer.count === 0) return null;
    const end = writer.finish();
    const block = writer.block();
    if (
      config.redundancy === "parity" &&
      block.length > 0 &&
      (hasNew || history.waitingSince() === Infinity)
    ) {
      out[0] |= PROTECTED_BIT;
      packet.blockMessages = writer.blockMessages;
      history.handleSent(packet.number, block, now);
    }
    return this.#close(PacketType.Data, start, end, now);
  }

  /**
   * Makes a packet without messages; null if too many wait for their acks.
   * @param {number} type
   * @param {Uint8Array} payload
   * @param {number} now
   */
  writeSmall(type, payload, now) {
    const hasRoom = asksForAck(type) ? this.sent.hasRoom() : this.sent.hasRoomForUntracked();
    if (!hasRoom) return null;
    const start = this.#begin(type, now);
    this.out.set(payload, start);
    return this.#close(type, start, start + payload.length, now);
  }

  /**
   * Takes an acknowledgement in.
   * @param {number} newest its full number
   * @param {Ack} ack
   * @param {number} now
   */
  handleAck(newest, ack, now) {
    this.ackNow = now;
    this.ackNewest = newest;
    this.ackDelayMs = ack.delayMs;
    this.sent.handleAck(newest, ack);
  }

  /**
   * Gives up what is lost, and sends the oldest messages again when nothing has come back for long.
   * @param {number} now
   */
  handleTimeout(now) {
    this.sent.detectLosses(this.#rtt(), this.#ageMax(), now);
    if (now < this.#probeDeadline()) return;
    this.unansweredProbes++;
    this.probes++;
    this.lastEliciting = now;
    this.outbox.probe(this.config.mtu / 2);
  }

  /** When something is due by time. */
  deadline() {
    return Math.min(this.sent.lossDeadline(this.#rtt(), this.#ageMax()), this.#probeDeadline());
  }

  /** @param {import("./sent.js").SentPacket} packet @param {boolean} isLate */
  handleAcked(packet, isLate) {
    if (isLate) {
      this.packetsLate++;
    } else {
      this.unansweredProbes = 0;
      const isMeasured = packet.number === this.ackNewest && this.ackDelayMs < 255;
      const rtt = Math.max(1, this.ackNow - packet.sentAt - 1000 * this.ackDelayMs);
      // A longer one was made by a clock that jumped, not by the network.
      const sample = isMeasured && rtt < this.config.peerTimeout ? rtt : 0;
      this.rate.handleAcked(packet.bytes + IP_UDP_BYTES, sample, this.ackNow);
    }
    this.window.handleReported(packet.named, packet.arrivals);
    this.history.handleAcked(packet.number);
    this.#settle(packet, packet.ids.length, isLate);
  }

  /** @param {import("./sent.js").SentPacket} packet */
  handleRepeated(packet) {
    this.history.handleAcked(packet.number);
    this.#settle(packet, packet.blockMessages, true);
  }

  /** @param {import("./sent.js").SentPacket} packet */
  handleLost(packet) {
    this.packetsLost++;
    this.rate.handleLost();
    for (let index = 0; index < packet.ids.length; index++) {
      if (packet.channels[index] < 0) this.inbox.pushOutcome(packet.ids[index], false);
      else this.outbox.handleLost(packet.channels[index], packet.ids[index], packet.number);
    }
  }

  /**
   * A message that went twice for nothing stalls others already: it does not stake a second round trip on the
   * one packet with its resend.
   * @param {import("./sent.js").SentPacket} packet
   */
  handleCopyLost(packet) {
    for (let index = 0; index < packet.blockMessages; index++) {
      this.outbox.handleLost(packet.channels[index], packet.ids[index], -1);
    }
  }

  /** @param {import("./sent.js").SentPacket} packet @param {number} count @param {boolean} isLate */
  #settle(packet, count, isLate) {
    for (let index = 0; index < count; index++) {
      if (packet.channels[index] >= 0) this.outbox.handleAcked(packet.channels[index], packet.ids[index]);
      else if (!isLate) this.inbox.pushOutcome(packet.ids[index], true);
    }
  }

  /**
   * Writes the header of the packet under construction; says where its payload begins.
   * @param {number} type
   * @param {number} now
   */
  #begin(type, now) {
    const packet = this.sent.open;
    packet.named = this.window.acknowledge(this.ack, now);
    packet.arrivals = this.window.arrivals;
    const { name, sealKey } = this.session;
    return writeHeader(this.out, type, sealKey === null, name, packet.number, this.ack);
  }

  /**
   * Seals a packet, or ends it with its checksum, and notes it as sent.
   * @param {number} type
   * @param {number} start
   * @param {number} end
   * @param {number} now
   */
  #close(type, start, end, now) {
    const { out, sent, checksum } = this;
    const { sealKey } = this.session;
    const { number, named } = sent.open;
    if (sealKey) {
      end = sealKey.seal(number, out, start, end);
    } else {
      const crc = crc32c(out, 0, end, checksum);
      for (let byte = 0; byte < CRC_BYTES; byte++) out[end++] = crc >>> (8 * byte);
    }
    if (asksForAck(type)) {
      this.lastEliciting = now;
      this.rate.handleSent(end + IP_UDP_BYTES, now);
    }
    sent.handleSent(end, asksForAck(type), now);
    this.window.handleAcknowledged(named);
    this.lastSent = now;
    this.packetsSent++;
    this.bytesSent += end;
    return out.subarray(0, end);
  }

  /** When a packet is made for what waits to be repeated. */
  #tailAt() {
    return this.config.redundancy === "parity"
      ? this.history.waitingSince() + this.config.tailDelay
      : Infinity;
  }

  #rtt() {
    return Math.max(this.rate.rtt.smoothed, this.rate.rtt.latest) || INITIAL_RTO;
  }

  #resendTimeout() {
    return this.rate.rtt.timeout(this.config.resendTimeoutMin, this.config.resendTimeoutMax);
  }

  /** The age at which a packet that nothing overtook counts as lost. */
  #ageMax() {
    return Math.min(AGE_MAX, Math.max(AGE_MIN, 3 * this.#resendTimeout()));
  }

  #probeDeadline() {
    if (this.sent.inFlight === 0 || !this.outbox.hasUnacked()) return Infinity;
    const timeout = this.#resendTimeout() + this.config.ackDelay;
    const backedOff = timeout * 2 ** Math.min(PROBE_DOUBLINGS_MAX, this.unansweredProbes);
    return this.lastEliciting + Math.min(backedOff, Math.max(timeout, this.config.resendTimeoutMax));
  }
}

/** What a datagram with one message of this length costs at least. @param {number} messageBytes */
function datagramCost(messageBytes) {
  return messageBytes + FRAME_HEADER_BYTES_MAX + 1 + HEADER_BYTES_MAX + TAG_BYTES + IP_UDP_BYTES;
}

/**
 * An established session: packets in, packets out, until one side says goodbye (sections 25 to 30).
 *
 * ```text
 *   connected ──close──▶ disconnecting ──confirm, 2 s──▶ disconnected
 *       └───goodbye of the other side, silence────────────────▲  (repeated goodbyes are confirmed for 2 s)
 * ```
 */

import { crc32c } from "../wire/crc32c.js";
import { WireError } from "../wire/error.js";
import { TAG_BYTES } from "./crypto/chacha20poly1305.js";
import { Inbound } from "./inbound.js";
import { DATAGRAM_BYTES_MAX } from "./limits.js";
import { Outbound } from "./outbound.js";
import { CRC_BYTES, Header, PacketType } from "./packet.js";
import { Answer } from "./receive_window.js";
import { ConnectionError, DISCONNECT_REASONS } from "./reason.js";

/** How often a goodbye is repeated until it is confirmed. */
const GOODBYE_RESEND = 100e3;
/** How long a side that ended by itself still confirms a goodbye that may be on its way. */
const DRAIN_AFTER_END = 1e6;
const GOODBYE = 0;
const CONFIRM = 1;
const PROOF_BYTES = 8;
const NOTHING = new Uint8Array(0);
const CONFIRMATION = Uint8Array.of(CONFIRM, 0);

/**
 * What the handshake agreed on.
 * @typedef {object} SessionKeys
 * @property {Uint8Array} sessionId 8 bytes, as they travel
 * @property {Uint8Array} name what names the session in packets to the other side: its id, its alias or
 *   nothing
 * @property {Uint8Array | null} alias what names it in sealed packets to this side; null if nothing does
 * @property {import("./crypto/chacha20poly1305.js").SealKey | null} sealKey null if the session is plain
 * @property {import("./crypto/chacha20poly1305.js").SealKey | null} openKey
 */

/** One session. */
export class Link {
  /**
   * @param {import("./config.js").ConnectionConfig} config
   * @param {SessionKeys} session
   * @param {import("./inbox.js").Inbox} inbox
   * @param {number} checksum of the protocol id
   * @param {number} now
   */
  constructor(config, session, inbox, checksum, now) {
    this.config = config;
    this.session = session;
    this.inbox = inbox;
    this.checksum = checksum;
    this.inbound = new Inbound(config, inbox);
    this.outbound = new Outbound(config, session, this.inbound.window, inbox, checksum, now);
    this.header = new Header();
    this.opened = new Uint8Array(DATAGRAM_BYTES_MAX);
    /** @type {"connected" | "disconnecting" | "disconnected"} */
    this.state = "connected";
    /** The server is connected only when it hears from us. */
    this.isGreetingDue = true;
    this.lastReceived = now;
    /** The bytes of a PathChallenge that waits for its answer. */
    this.proof = new Uint8Array(PROOF_BYTES);
    this.isProofDue = false;
    /** @type {import("./reason.js").DisconnectReason} */
    this.goodbyeReason = "Requested";
    this.goodbyeAt = Infinity;
    this.goodbyeEnds = Infinity;
    this.drainsUntil = -Infinity;
    this.isConfirmDue = false;
    this.packetsReceived = 0;
    this.bytesReceived = 0;
    this.packetsRefused = 0;
  }

  /**
   * Takes a session packet in; says the rejection if it was dropped, or what did not find room.
   * @param {Uint8Array} datagram not empty, not too long, of a session type
   * @param {number} now
   * @returns {import("./reason.js").Rejection | null}
   */
  handle(datagram, now) {
    const { header, session, inbound, outbound } = this;
    const broken = header.read(datagram, session.alias !== null);
    if (broken) return broken;
    if (datagram.length < header.length + (header.isPlain ? CRC_BYTES : TAG_BYTES)) return "too_short";
    if (!this.#isNamed(datagram)) return "unknown_session";
    if (!this.#isAllowed(header.type, now)) return "wrong_state";
    if (header.isPlain !== (session.openKey === null)) return "wrong_security";
    const number = inbound.window.expand(header.number);
    const isOld = inbound.window.check(number);
    if (isOld) return isOld;
    const payload = this.#authenticate(datagram, number);
    if (payload === null) return "integrity";
    const acked = header.ack.width > 0 ? outbound.sent.expand(header.ack.newest) : -1;
    if (header.ack.width > 0 && acked < 0) return "ack_of_unsent";
    if (!this.#parses(payload)) return "malformed";

    // From here on the packet is believed.
    this.lastReceived = now;
    this.packetsReceived++;
    this.bytesReceived += datagram.length;
    if (acked >= 0 && this.state !== "disconnected") {
      outbound.handleAck(acked, header.ack, now);
      this.#handleLosses(now);
    }
    const answer = this.#answer();
    const refusal = this.#take(payload, number, now);
    inbound.window.insert(number, refusal === null);
    if (refusal === null) {
      inbound.window.handleTaken(number, answer, this.config.ackDelay, now);
    } else {
      this.packetsRefused++;
      if (refusal === "malformed") this.close("Protocol", now);
    }
    return refusal;
  }

  /**
   * The next packet to send, as a view that is good until the next call; null if none is due.
   * @param {number} now
   * @returns {Uint8Array | null}
   */
  poll(now) {
    this.#handleTimeout(now);
    const { outbound } = this;
    if (this.state === "disconnecting") {
      if (now < this.goodbyeAt) return null;
      this.goodbyeAt = now + GOODBYE_RESEND;
      const code = DISCONNECT_REASONS.indexOf(this.goodbyeReason);
      return outbound.writeSmall(PacketType.Disconnect, Uint8Array.of(GOODBYE, code), now);
    }
    if (this.state === "disconnected") {
      if (!this.isConfirmDue) return null;
      this.isConfirmDue = false;
      return outbound.writeSmall(PacketType.Disconnect, CONFIRMATION, now);
    }
    if (this.isProofDue) {
      this.isProofDue = false;
      return outbound.writeSmall(PacketType.PathResponse, this.proof, now);
    }
    const data = now >= outbound.dataDeadline(now) ? outbound.writeData(now) : null;
    const isQuiet = this.isGreetingDue || now - outbound.lastSent >= this.config.keepalive;
    const isAckDue = now >= this.inbound.window.ackAt;
    const packet =
      data ??
      (isQuiet ? outbound.writeSmall(PacketType.KeepAlive, NOTHING, now) : null) ??
      (isAckDue ? outbound.writeSmall(PacketType.Ack, NOTHING, now) : null);
    if (packet) this.isGreetingDue = false;
    return packet;
  }

  /** When to call `poll` again at the latest. @param {number} now */
  deadline(now) {
    const { outbound } = this;
    if (this.state === "disconnecting") return Math.min(this.goodbyeAt, this.goodbyeEnds);
    if (this.state === "disconnected") return this.isConfirmDue ? now : Infinity;
    if (this.isGreetingDue || this.isProofDue) return now;
    return Math.min(
      this.lastReceived + this.config.peerTimeout,
      outbound.lastSent + this.config.keepalive,
      this.inbound.window.ackAt,
      outbound.deadline(),
      outbound.dataDeadline(now),
    );
  }

  /** Says goodbye. @param {import("./reason.js").DisconnectReason} reason @param {number} now */
  close(reason, now) {
    if (this.state !== "connected") return;
    this.state = "disconnecting";
    this.goodbyeReason = reason;
    this.goodbyeAt = now;
    this.goodbyeEnds = now + this.config.disconnectTimeout;
  }

  /**
   * Ends without a word to the other side.
   * @param {import("./reason.js").DisconnectReason} reason
   * @param {number} now
   */
  end(reason, now) {
    if (this.state === "disconnected") return;
    const isLost = reason === "Timeout" || reason === "Broken";
    if (this.state === "connected" && !isLost) this.drainsUntil = now + DRAIN_AFTER_END;
    this.state = "disconnected";
    this.inbox.push({ type: "ended", error: new ConnectionError(reason) });
  }

  /**
   * The stream below is gone. Whoever was leaving has left.
   * @param {number} now
   */
  handleBroken(now) {
    this.end(this.state === "disconnecting" ? this.goodbyeReason : "Broken", now);
  }

  /** Whether nothing is left to say. @param {number} now */
  isFinished(now) {
    return this.state === "disconnected" && !this.isConfirmDue && now >= this.drainsUntil;
  }

  /** Delivers what waited for room in the inbox. @param {number} now */
  resume(now) {
    if (this.inbound.isBlocked && this.inbound.resume() === "malformed") this.close("Protocol", now);
  }

  /** @param {number} now */
  #handleTimeout(now) {
    if (this.state === "connected") {
      if (now - this.lastReceived >= this.config.peerTimeout) return this.end("Timeout", now);
      this.outbound.handleTimeout(now);
      this.#handleLosses(now);
    } else if (this.state === "disconnecting" && now >= this.goodbyeEnds) {
      this.end(this.goodbyeReason, now);
    }
  }

  /** @param {number} now */
  #handleLosses(now) {
    if (this.outbound.outbox.hasFailed()) this.close("Undeliverable", now);
  }

  /**
   * Whether the packet names this session. One to a side without alias belongs to its address.
   * @param {Uint8Array} datagram
   */
  #isNamed(datagram) {
    const name = this.header.isPlain ? this.session.sessionId : this.session.alias;
    return name === null || name.every((byte, index) => datagram[1 + index] === byte);
  }

  /** @param {number} type @param {number} now */
  #isAllowed(type, now) {
    if (this.state === "connected") return true;
    const isHeard = this.state === "disconnecting" || now < this.drainsUntil;
    return isHeard && type === PacketType.Disconnect;
  }

  /** The payload, if the packet is authentic. @param {Uint8Array} datagram @param {number} number */
  #authenticate(datagram, number) {
    const start = this.header.length;
    const { openKey } = this.session;
    if (openKey) {
      const length = openKey.open(number, datagram, start, this.opened);
      return length < 0 ? null : this.opened.subarray(0, length);
    }
    const end = datagram.length - CRC_BYTES;
    const crc =
      datagram[end] | (datagram[end + 1] << 8) | (datagram[end + 2] << 16) | (datagram[end + 3] << 24);
    return crc32c(datagram, 0, end, this.checksum) === crc >>> 0 ? datagram.subarray(start, end) : null;
  }

  /** @param {Uint8Array} payload */
  #parses(payload) {
    switch (this.header.type) {
      case PacketType.Data:
      case PacketType.Quiet:
        try {
          this.inbound.frames.readPayload(payload, 0, payload.length);
        } catch (error) {
          if (error instanceof WireError) return false;
          throw error;
        }
        return true;
      case PacketType.Disconnect:
        return payload.length === 2 && payload[0] <= CONFIRM;
      case PacketType.PathChallenge:
      case PacketType.PathResponse:
        return payload.length === PROOF_BYTES;
      default:
        return payload.length === 0;
    }
  }

  #answer() {
    if (this.header.type === PacketType.Data) return this.inbound.answer();
    if (this.header.type === PacketType.Quiet) return Answer.Quiet;
    return this.header.type === PacketType.KeepAlive ? Answer.Soon : Answer.None;
  }

  /** @param {Uint8Array} payload @param {number} number @param {number} now */
  #take(payload, number, now) {
    switch (this.header.type) {
      case PacketType.Data:
      case PacketType.Quiet:
        return this.inbound.take(payload, number, this.header.isProtected, now);
      case PacketType.Disconnect:
        if (payload[0] === GOODBYE) this.#takeGoodbye(payload[1], now);
        else if (this.state === "disconnecting") this.end(this.goodbyeReason, now);
        break;
      case PacketType.PathChallenge:
        this.proof.set(payload);
        this.isProofDue = true;
        break;
      default:
    }
    return null;
  }

  /** @param {number} code @param {number} now */
  #takeGoodbye(code, now) {
    // A goodbye that is repeated for ever must not keep the connection in memory as long.
    if (this.state !== "disconnected") {
      this.end(DISCONNECT_REASONS[code] ?? "Requested", now);
      this.drainsUntil = now + this.config.disconnectTimeout;
    }
    this.isConfirmDue = true;
  }
}

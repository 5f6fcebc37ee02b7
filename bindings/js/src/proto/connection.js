/**
 * One connection of a client to a server, without I/O.
 *
 * Datagrams and time go in, datagrams and events come out; whoever drives it owns the transport and the
 * clock:
 *
 * ```text
 *   for each datagram: handle(bytes, now) ─▶ pollEvent() until null ─▶ send(…) ─▶ poll(now) until null
 *   again at nextTimeout(now), or earlier
 * ```
 *
 * Bytes from the network never throw out of here and never make anything grow without bound: what is wrong is
 * counted in `rejections`, what violates the protocol ends the connection with a typed error.
 */

import { WireError } from "../wire/error.js";
import { Attempt } from "./attempt.js";
import { completeConfig } from "./config.js";
import { checksumOf, readChallenge, readReject } from "./handshake.js";
import { Inbox } from "./inbox.js";
import { DATAGRAM_BYTES_MAX } from "./limits.js";
import { Link } from "./link.js";
import { wholeMessageBytesMax } from "./outbound.js";
import { isHandshake, PacketType } from "./packet.js";
import { ConnectionError, REJECTIONS, SendError } from "./reason.js";

/** @typedef {import("./reason.js").Rejection} Rejection */
/** @typedef {"connecting" | "connected" | "disconnecting" | "disconnected"} ConnectionState */

/**
 * What a connection measured. Times in microseconds; counts since it began.
 * @typedef {object} ConnectionStats
 * @property {number} rtt smoothed; zero before the first sample
 * @property {number} rttMin the least of the last ten seconds
 * @property {number} jitter mean difference between round trips
 * @property {number} loss recent loss of what this side sent, 0 to 1
 * @property {number} packetsSent
 * @property {number} packetsReceived
 * @property {number} bytesSent
 * @property {number} bytesReceived
 * @property {number} packetsLost
 * @property {number} packetsLate packets that arrived after they were given up
 * @property {number} packetsRefused packets that found no room
 * @property {number} packetsMissing numbers of the other side that were skipped and have not come: its loss,
 *   as seen here
 * @property {number} resends
 * @property {number} probes
 * @property {number} blocksRecovered lost packets whose messages redundancy brought back
 * @property {number} bytesPerSecond that may be sent now
 * @property {number} pendingBytes that wait to be sent or acknowledged
 * @property {number} waitingBytes that wait for missing predecessors
 * @property {number} packetsInFlight
 * @property {number} messagesQueued that wait to be polled
 * @property {number} lastReceived when the last valid packet arrived
 */

/** A client's connection. */
export class Connection {
  /**
   * The attempt to connect begins with the first call of `poll`.
   * @param {Partial<import("./config.js").ConnectionConfig>} settings what is not given has a default
   */
  constructor(settings) {
    this.config = completeConfig(settings);
    this.checksum = checksumOf(this.config.protocolId);
    this.inbox = new Inbox(this.config.eventsQueuedMax, this.config.eventBytesMax);
    /** @type {Attempt | null} */
    this.attempt = null;
    this.attemptsLeft = 1 + this.config.connectRetries;
    /** @type {Link | null} */
    this.link = null;
    this.hasEnded = false;
    /** Two players who compare it over another line know that nobody sits between them; null if plain. */
    this.fingerprint = /** @type {bigint | null} */ (null);
    /** How many datagrams were dropped, by reason. */
    this.rejections = /** @type {Record<Rejection, number>} */ (
      Object.fromEntries(REJECTIONS.map((each) => [each, 0]))
    );
    this.handshakePackets = 0;
    this.handshakeBytes = 0;
    this.lastNow = 0;
  }

  /** @returns {ConnectionState} */
  get state() {
    if (this.link) return this.link.state;
    return this.hasEnded ? "disconnected" : "connecting";
  }

  get isSealed() {
    return this.link !== null && this.link.session.sealKey !== null;
  }

  /** The largest message that travels in one packet. */
  get wholeMessageBytesMax() {
    return wholeMessageBytesMax(this.config.mtu);
  }

  /**
   * Takes a datagram in. It is not changed, and not kept.
   * @param {Uint8Array} datagram
   * @param {number} now
   */
  handle(datagram, now) {
    this.lastNow = now;
    let rejection;
    try {
      rejection = this.#receive(datagram, now);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      rejection = /** @type {Rejection} */ (error.code);
    }
    if (rejection !== null) this.rejections[rejection]++;
  }

  /**
   * The next datagram to send; null if none is due. A view that is good until the next call.
   * @param {number} now
   * @returns {Uint8Array | null}
   */
  poll(now) {
    this.lastNow = now;
    if (this.link) return this.link.poll(now);
    if (this.hasEnded) return null;
    if (this.attempt === null || now >= this.attempt.ends) {
      if (this.attemptsLeft === 0) {
        this.#end(new ConnectionError("ConnectTimeout"));
        return null;
      }
      this.attemptsLeft--;
      this.attempt = new Attempt(this.config, this.checksum, now);
    }
    const request = this.attempt.poll(now);
    if (request) {
      this.handshakePackets++;
      this.handshakeBytes += request.length;
    }
    return request;
  }

  /**
   * When to call `poll` again at the latest; Infinity if nothing will be due.
   * @param {number} now
   */
  nextTimeout(now) {
    if (this.link) return this.link.deadline(now);
    if (this.hasEnded) return Infinity;
    return this.attempt ? this.attempt.deadline() : now;
  }

  /**
   * Takes a message for sending and says its number on the channel; a SendError says why it was not taken.
   * @param {number} channel
   * @param {Uint8Array} message copied
   * @param {number} [tag] of an unreliable message: an event says whether the packet with it was acknowledged
   */
  send(channel, message, tag = -1) {
    if (this.link?.state !== "connected")
      throw new SendError("NotConnected", `this connection is ${this.state}`);
    return this.link.outbound.outbox.push(channel, message, tag);
  }

  /** Bytes that wait on a channel to be sent or acknowledged. @param {number} channel */
  pendingBytes(channel) {
    return this.link?.outbound.outbox.senders[channel]?.pendingBytes ?? 0;
  }

  /** Changes the upper limit of the rate. @param {number} bytesPerSecond */
  setRateMax(bytesPerSecond) {
    this.link?.outbound.rate.setMax(bytesPerSecond);
  }

  /**
   * The next thing that happened; null if nothing did.
   * @returns {import("./inbox.js").ConnectionEvent | null}
   */
  pollEvent() {
    const event = this.inbox.poll();
    if (this.link?.inbound.isBlocked) this.link.resume(this.lastNow);
    return event;
  }

  /** Everything that happened. */
  *events() {
    for (let event = this.pollEvent(); event !== null; event = this.pollEvent()) yield event;
  }

  /**
   * Says goodbye; the reason travels to the other side. Keep on polling until the state is disconnected.
   * @param {import("./reason.js").DisconnectReason} reason
   * @param {number} now
   */
  close(reason, now) {
    if (this.link) this.link.close(reason, now);
    else this.#end(new ConnectionError("Cancelled"));
  }

  /**
   * The stream below is gone: the connection is lost at once instead of after a silence.
   * @param {number} now
   */
  handleBroken(now) {
    if (this.link) this.link.handleBroken(now);
    else this.#end(new ConnectionError("Broken"));
  }

  /** Whether nothing is left to say, so that the transport may be closed. @param {number} now */
  isFinished(now) {
    return this.link ? this.link.isFinished(now) : this.hasEnded;
  }

  /** @returns {ConnectionStats} */
  stats() {
    const link = this.link;
    const outbound = link?.outbound;
    const rate = outbound?.rate;
    const window = link?.inbound.window;
    return {
      rtt: rate?.rtt.smoothed ?? 0,
      rttMin: rate?.rtt.min ?? 0,
      jitter: rate?.rtt.jitter ?? 0,
      loss: rate?.loss ?? 0,
      packetsSent: this.handshakePackets + (outbound?.packetsSent ?? 0),
      packetsReceived: link?.packetsReceived ?? 0,
      bytesSent: this.handshakeBytes + (outbound?.bytesSent ?? 0),
      bytesReceived: link?.bytesReceived ?? 0,
      packetsLost: outbound?.packetsLost ?? 0,
      packetsLate: outbound?.packetsLate ?? 0,
      packetsRefused: link?.packetsRefused ?? 0,
      packetsMissing: link && window ? window.newest + 1 - link.packetsReceived : 0,
      resends: outbound?.resends ?? 0,
      probes: outbound?.probes ?? 0,
      blocksRecovered: link?.inbound.blocksRecovered ?? 0,
      bytesPerSecond: rate?.bytesPerSecond ?? 0,
      pendingBytes: outbound?.outbox.pendingBytes ?? 0,
      waitingBytes: link?.inbound.waitingBytes ?? 0,
      packetsInFlight: outbound?.sent.inFlight ?? 0,
      messagesQueued: this.inbox.messages,
      lastReceived: link?.lastReceived ?? 0,
    };
  }

  /** @param {Uint8Array} datagram @param {number} now @returns {Rejection | null} */
  #receive(datagram, now) {
    if (datagram.length === 0) return "too_short";
    if (datagram.length > DATAGRAM_BYTES_MAX) return "too_long";
    const type = datagram[0] & 0x0f;
    if (type > PacketType.Quiet) return "unknown_type";
    if (isHandshake(type)) return this.#receiveHandshake(type, datagram, now);
    if (this.link) return this.link.handle(datagram, now);
    const isPlain = datagram[0] >= 0x80;
    return isPlain || this.hasEnded ? "unknown_session" : "wrong_state";
  }

  /** @param {number} type @param {Uint8Array} datagram @param {number} now @returns {Rejection | null} */
  #receiveHandshake(type, datagram, now) {
    if (type === PacketType.Connect || type === PacketType.Response) return "not_listening";
    if (this.attempt === null) {
      // What answers nothing is still read, so that its counter says what was wrong with it first.
      if (this.link && type === PacketType.Challenge) readChallenge(datagram, this.checksum);
      if (this.link && type === PacketType.Reject) readReject(datagram, this.checksum);
      return "unsolicited";
    }
    if (type === PacketType.Challenge) {
      this.attempt.handleChallenge(datagram, now);
    } else if (type === PacketType.Accept) {
      const { session, resumeToken, fingerprint } = this.attempt.handleAccept(datagram);
      this.attempt = null;
      this.fingerprint = fingerprint;
      this.link = new Link(this.config, session, this.inbox, this.checksum, now);
      this.inbox.push({ type: "connected", resumeToken, isSealed: fingerprint !== null });
    } else {
      this.#end(new ConnectionError("Rejected", this.attempt.handleReject(datagram)));
    }
    return null;
  }

  /** @param {ConnectionError} error */
  #end(error) {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.attempt = null;
    this.inbox.push({ type: "ended", error });
  }
}

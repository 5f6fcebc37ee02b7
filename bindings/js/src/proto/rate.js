/**
 * How fast to send: the round trip, the loss, and a byte rate that fills no queues (section 26, "Rate").
 *
 * A client sends little: inputs, calls, now and then something large. So the controller is a plain one. Time
 * is cut into rounds of a round trip or so. A round in which even the quickest packet waited longer in queues
 * than the target, or in which too many were lost, cuts the rate to 85 % of what arrives, if the rate was in
 * use; else it was not this sender who caused it. A good round in which it was in use lets it grow, doubling
 * until the first cut.
 *
 * Two things are not punished. Distance: a queue is what exceeds the least round trip of the last ten
 * seconds. And loss that has nothing to do with the rate, as on a radio link: if a cut changes nothing, the
 * rate comes back, and that much loss is taken for the path's own.
 */

import { DATAGRAM_BYTES_MAX, IP_UDP_BYTES } from "./limits.js";

/** The resend timeout before the first sample. */
export const INITIAL_RTO = 250e3;

/** The least spread that the timeout allows for: the resolution of a driver's timer. */
const GRANULARITY = 1e3;
const MIN_RTT_SLOTS = 10;
const MIN_RTT_SLOT = 1e6;
const ROUND_MIN = 60e3;
const ROUND_SAMPLES_MIN = 4;
const CUT = 0.85;
const IN_USE = 0.75;
/** Loss above the path's own that is too much. */
const LOSS_EXCESS = 0.05;
/** The most that is taken for the path's own. */
const LOSS_OWN_MAX = 0.5;
/** Fewer packets say nothing about loss. */
const LOSS_PACKETS_MIN = 40;
const DATAGRAM_COST = DATAGRAM_BYTES_MAX + IP_UDP_BYTES;

/** The path's round trips, smoothed as RFC 6298 and RFC 3550 say. */
export class RoundTrip {
  constructor() {
    this.latest = 0;
    /** Zero before the first sample. */
    this.smoothed = 0;
    this.deviation = 0;
    this.jitter = 0;
    /** The least of each of the last ten seconds. */
    this.least = new Float64Array(MIN_RTT_SLOTS).fill(Infinity);
    this.slot = -1;
  }

  /** @param {number} rtt @param {number} now */
  handleSample(rtt, now) {
    if (this.smoothed === 0) {
      this.smoothed = rtt;
      this.deviation = rtt / 2;
    } else {
      this.deviation += (Math.abs(rtt - this.smoothed) - this.deviation) / 4;
      this.smoothed += (rtt - this.smoothed) / 8;
      this.jitter += (Math.abs(rtt - this.latest) - this.jitter) / 16;
    }
    this.latest = rtt;
    const slot = Math.floor(now / MIN_RTT_SLOT);
    if (slot - this.slot >= MIN_RTT_SLOTS || slot < this.slot) this.least.fill(Infinity);
    else for (let old = this.slot + 1; old <= slot; old++) this.least[old % MIN_RTT_SLOTS] = Infinity;
    this.slot = slot;
    this.least[slot % MIN_RTT_SLOTS] = Math.min(this.least[slot % MIN_RTT_SLOTS], rtt);
  }

  /** The least sample of the last ten seconds; zero before the first. */
  get min() {
    const min = Math.min(...this.least);
    return min === Infinity ? 0 : min;
  }

  /** How long to wait for an ack. @param {number} floor @param {number} ceiling */
  timeout(floor, ceiling) {
    const timeout =
      this.smoothed === 0 ? INITIAL_RTO : this.smoothed + Math.max(4 * this.deviation, GRANULARITY);
    return Math.min(ceiling, Math.max(floor, timeout));
  }
}

/** The rate of one connection. */
export class RateControl {
  /** @param {import("./config.js").RateConfig} config @param {number} now */
  constructor(config, now) {
    this.config = config;
    this.rtt = new RoundTrip();
    /** Recent loss, 0 to 1: smoothed over 64 packets. */
    this.loss = 0;
    /** Bytes per second that may be sent. */
    this.bytesPerSecond = config.bytesPerSecondInitial;
    this.isStarting = true;
    /** Bytes in hand; negative after more was sent than there were. */
    this.tokens = this.#capacity();
    this.refilledAt = now;
    // Since loss was last judged.
    this.acked = 0;
    this.lost = 0;
    /** The loss that the path is known for. */
    this.ownLoss = 0;
    /**
     * The loss for which the rate was last cut, and the rate before; whether the cut helped is not known yet.
     */
    this.triedLoss = 0;
    this.triedRate = 0;
    // Of the round under way.
    this.roundAt = now;
    this.sentBytes = 0;
    this.ackedBytes = 0;
    this.samples = 0;
    this.leastRtt = Infinity;
  }

  /** @param {number} bytes @param {number} now */
  handleSent(bytes, now) {
    this.tokens = Math.max(this.available(now) - bytes, -this.#capacity());
    this.refilledAt = now;
    this.sentBytes += bytes;
  }

  /**
   * @param {number} bytes
   * @param {number} rtt of the packet; zero if it cannot be measured
   * @param {number} now
   */
  handleAcked(bytes, rtt, now) {
    this.loss -= this.loss / 64;
    this.acked++;
    this.ackedBytes += bytes;
    if (rtt > 0) {
      this.rtt.handleSample(rtt, now);
      this.leastRtt = Math.min(this.leastRtt, rtt);
      this.samples++;
    }
    if (this.samples >= ROUND_SAMPLES_MIN && now - this.roundAt >= Math.max(ROUND_MIN, this.rtt.smoothed))
      this.#endRound(now);
  }

  handleLost() {
    this.loss += (1 - this.loss) / 64;
    this.lost++;
  }

  /** Bytes that may be sent now. @param {number} now */
  available(now) {
    const credit = (Math.max(0, now - this.refilledAt) * this.bytesPerSecond) / 1e6;
    return Math.min(this.#capacity(), this.tokens + credit);
  }

  /** When a datagram of so many bytes may go. @param {number} bytes @param {number} now */
  readyAt(bytes, now) {
    const missing = Math.min(bytes, this.#capacity()) - this.available(now);
    return missing <= 0 ? now : now + Math.ceil((missing * 1e6) / this.bytesPerSecond);
  }

  /** Changes the upper limit while running. @param {number} bytesPerSecond */
  setMax(bytesPerSecond) {
    this.config = {
      ...this.config,
      bytesPerSecondMax: Math.max(this.config.bytesPerSecondMin, bytesPerSecond),
    };
    this.bytesPerSecond = Math.min(this.bytesPerSecond, this.config.bytesPerSecondMax);
  }

  #capacity() {
    return Math.max(2 * DATAGRAM_COST, (this.bytesPerSecond * this.config.burst) / 1e6 + DATAGRAM_COST);
  }

  /** @param {number} now */
  #endRound(now) {
    const elapsed = now - this.roundAt;
    const isInUse = (this.sentBytes * 1e6) / elapsed >= IN_USE * this.bytesPerSecond;
    const arriving = (this.ackedBytes * 1e6) / elapsed;
    const isQueueing = this.leastRtt - this.rtt.min > this.config.delayTarget;
    const before = this.bytesPerSecond;
    if (isInUse && (this.#isLossy() || isQueueing)) {
      this.isStarting = false;
      this.#setRate(Math.min(before, CUT * arriving), now);
    } else if (isInUse && this.bytesPerSecond === before) {
      this.#setRate(this.isStarting ? 2 * before : before + DATAGRAM_COST, now);
    }
    this.roundAt = now;
    this.sentBytes = this.ackedBytes = this.samples = 0;
    this.leastRtt = Infinity;
  }

  /**
   * Whether more was lost than the path is known for. Brings the rate back if the last cut for that changed
   * nothing.
   */
  #isLossy() {
    const packets = this.acked + this.lost;
    if (packets < LOSS_PACKETS_MIN) return false;
    const loss = this.lost / packets;
    this.acked = this.lost = 0;
    const { triedLoss } = this;
    this.triedLoss = 0;
    if (triedLoss > 0 && 3 * loss >= 2 * triedLoss) {
      this.ownLoss = Math.min(LOSS_OWN_MAX, loss);
      this.bytesPerSecond = Math.max(
        this.bytesPerSecond,
        Math.min(this.triedRate, this.config.bytesPerSecondMax),
      );
      return false;
    }
    if (loss > this.ownLoss + LOSS_EXCESS) {
      this.triedLoss = loss;
      this.triedRate = this.bytesPerSecond;
      return true;
    }
    if (loss < this.ownLoss / 2) this.ownLoss -= (this.ownLoss - loss) / 4;
    return false;
  }

  /**
   * Credits the past at the old rate before the new one holds.
   * @param {number} bytesPerSecond
   * @param {number} now
   */
  #setRate(bytesPerSecond, now) {
    this.tokens = this.available(now);
    this.refilledAt = now;
    const { bytesPerSecondMin, bytesPerSecondMax } = this.config;
    this.bytesPerSecond = Math.min(bytesPerSecondMax, Math.max(bytesPerSecondMin, bytesPerSecond));
  }
}

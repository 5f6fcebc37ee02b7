/**
 * Which packets have arrived: against replay, and for acknowledgements (sections 18.3, 25 and 26).
 *
 * Of the last 512 numbers it is known which were *seen*, so that none is believed twice, and which were
 * *taken*, which is what is acknowledged: a packet that found no room is seen but not taken, and its sender
 * sends its messages again.
 *
 * An acknowledgement repeats the news until the other side is known to have it: each packet of ours remembers
 * how far its acknowledgement reached, and when that packet is acknowledged in turn, everything up to there
 * is old.
 */

import { expandPacketNumber } from "../wire/packet_number.js";
import { REPLAY_WINDOW } from "./limits.js";

const SEEN = 1;
const TAKEN = 2;
/** Packets before the named one that an acknowledgement can tell of. */
const ACK_BITS_MAX = 64;
/**
 * What the sender of a packet is owed: nothing; an acknowledgement soon, since something may have to be sent
 * again; one with the second such packet, since something may be built upon it; one with whatever goes next; one with
 * the next packet that asks for any.
 */
export const Answer = Object.freeze({ None: 0, Soon: 1, InPairs: 2, Patient: 3, Quiet: 4 });
/** How many times `ackDelay` each may wait. */
const DELAYS = [0, 1, 4, 4, 16];

/** What has arrived from the other side. */
export class ReceiveWindow {
  constructor() {
    this.flags = new Uint8Array(REPLAY_WINDOW);
    /** The highest number seen; −1 for none. */
    this.newest = -1;
    /** The highest number taken, and when. */
    this.newestTaken = -1;
    this.newestTakenAt = 0;
    /** When an acknowledgement must go, with or without data. */
    this.ackAt = Infinity;
    /** The lowest number that the other side may not know to be taken. */
    this.newsFrom = 0;
    /** The lowest number that no acknowledgement has reached yet. */
    this.unreportedFrom = 0;
    /** The highest number of a packet that asked for an acknowledgement. */
    this.eliciting = -1;
    /** Counts arrivals, so that a late one is told from what an earlier acknowledgement covered. */
    this.arrivals = 0;
    this.lateArrival = 0;
    this.unanswered = 0;
  }

  /**
   * The full number behind its low 16 bits.
   * @param {number} truncated
   */
  expand(truncated) {
    return this.newest < 0 ? truncated : expandPacketNumber(truncated, this.newest);
  }

  /**
   * Whether a packet may still be looked at. Changes nothing.
   * @param {number} number
   * @returns {"too_old" | "replayed" | null}
   */
  check(number) {
    if (number > this.newest) return null;
    if (this.newest - number >= REPLAY_WINDOW) return "too_old";
    return this.flags[number % REPLAY_WINDOW] & SEEN ? "replayed" : null;
  }

  /**
   * Remembers a packet that has passed every check.
   * @param {number} number
   * @param {boolean} isTaken
   */
  insert(number, isTaken) {
    if (number > this.newest) {
      if (number - this.newest >= REPLAY_WINDOW) this.flags.fill(0);
      else
        for (let skipped = this.newest + 1; skipped <= number; skipped++)
          this.flags[skipped % REPLAY_WINDOW] = 0;
      this.newest = number;
    }
    this.flags[number % REPLAY_WINDOW] = isTaken ? SEEN | TAKEN : SEEN;
  }

  /**
   * Schedules the acknowledgement of a packet that was taken.
   * @param {number} number
   * @param {number} answer
   * @param {number} ackDelay
   * @param {number} now
   */
  handleTaken(number, answer, ackDelay, now) {
    this.arrivals++;
    const isGap = this.newestTaken >= 0 && number !== this.newestTaken + 1;
    if (number > this.newestTaken) {
      this.newestTaken = number;
      this.newestTakenAt = now;
    } else {
      this.lateArrival = this.arrivals;
    }
    this.newsFrom = Math.min(this.newsFrom, number);
    if (answer === Answer.None) return;
    this.eliciting = Math.max(this.eliciting, number);
    if (answer !== Answer.Patient) this.unanswered++;
    const isDue = isGap || (this.unanswered >= 2 && answer !== Answer.Quiet);
    this.ackAt = Math.min(this.ackAt, isDue ? now : now + DELAYS[answer] * ackDelay);
  }

  /**
   * Fills in the acknowledgement of a packet that is about to go; a width of 0 if the other side knows
   * everything. Says the full number that it names; −1 for none.
   * @param {import("./packet.js").Ack} ack
   * @param {number} now
   */
  acknowledge(ack, now) {
    ack.width = 0;
    const newest = this.#newestToReport();
    if (newest < 0 || this.eliciting < this.newsFrom) return -1;
    const reach = newest - this.newsFrom;
    ack.width = reach <= 16 ? 16 : reach <= 32 ? 32 : 64;
    ack.newest = newest & 0xffff;
    ack.delayMs =
      newest === this.newestTaken
        ? Math.min(255, Math.max(0, Math.floor((now - this.newestTakenAt) / 1000)))
        : 255;
    ack.low = this.#bits(newest - 1, Math.min(32, ack.width));
    ack.high = ack.width === 64 ? this.#bits(newest - 33, 32) : 0;
    return newest;
  }

  /**
   * A packet has gone that named this number; −1 for one without acknowledgement.
   * @param {number} named
   */
  handleAcknowledged(named) {
    this.unreportedFrom = Math.max(this.unreportedFrom, named + 1);
    // One that did not reach the newest packet leaves the next one due.
    if (named < 0 || named >= this.newestTaken) this.ackAt = Infinity;
    this.unanswered = 0;
  }

  /**
   * A packet of ours arrived whose acknowledgement named this number when so many had arrived: that is no
   * longer news.
   * @param {number} named
   * @param {number} arrivals
   */
  handleReported(named, arrivals) {
    if (named >= 0 && this.lateArrival <= arrivals) this.newsFrom = Math.max(this.newsFrom, named + 1);
  }

  /** The number to count back from: the newest, unless more has arrived than one acknowledgement can name. */
  #newestToReport() {
    const newest = this.newestTaken;
    if (newest <= this.unreportedFrom + ACK_BITS_MAX) return newest;
    let oldest = Math.max(this.unreportedFrom, newest - REPLAY_WINDOW + 1);
    while (oldest < newest && !this.#isTaken(oldest)) oldest++;
    let named = Math.min(newest, oldest + ACK_BITS_MAX);
    while (named > oldest && !this.#isTaken(named)) named--;
    return named;
  }

  /** Bit i: whether `from − i` was taken. @param {number} from @param {number} count */
  #bits(from, count) {
    let bits = 0;
    for (let index = 0; index < count && from - index >= 0; index++) {
      if (this.#isTaken(from - index)) bits |= 1 << index;
    }
    return bits;
  }

  /** @param {number} number */
  #isTaken(number) {
    return this.newest - number < REPLAY_WINDOW && (this.flags[number % REPLAY_WINDOW] & TAKEN) !== 0;
  }
}

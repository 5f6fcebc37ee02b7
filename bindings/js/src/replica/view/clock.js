/**
 * What time it is on the server, as far as its snapshots tell.
 *
 * The two clocks started at different times, run at different speeds, and everything that is known of the
 * other one arrives late by an unknown and changing amount. But nothing arrives early. The snapshots that
 * were least delayed therefore lie on a line, and every other one lies below it:
 *
 *     server time − now
 *       ▲
 *       │  ●──────────●───────────────●──────────●──   the least delayed: where server times arrive
 *       │     ·    ·      ·    ·   ·      ·  ·         │ lateness of the others: jitter
 *       │        ·           ·                 ·       ▼
 *       └───────────────────────────────────────────▶ now        slope: how much faster the other clock runs
 *
 * What is read runs at 1 ± 2 % towards the line, and never backwards. Only a real break moves it at once, and
 * that is reported: five snapshots over at least 200 ms that agree with each other and lie more than half a
 * second off, as after a tab that slept or a server that was restarted.
 */

import { Lateness } from "./lateness.js";
import { LineOfLeastDelay } from "./line_of_least_delay.js";

/** How much faster or slower than the line the reading may run. */
const SLEW_MAX = 0.02;
/** The reading reaches the line in about this time, if the limit of its speed allows. */
const SETTLE_US = 500000;
/** Beyond this, samples that agree are a break and not weather. */
const BREAK_US = 500000;
/** Samples of a break agree to this. */
const AGREEMENT_US = 150000;
const BREAK_SAMPLES = 5;
const BREAK_SPAN_US = 200000;
/** Who looks this seldom delays what arrived in between, and not the network. */
const PAUSE_US = 100000;
/** After a pause, reading what has piled up takes no longer. */
const CATCHING_UP_US = 10000;
const RTT_US_MAX = 10000000;

/** The server's time as it arrives. All times in microseconds. */
export class ServerClock {
  constructor() {
    this.line = new LineOfLeastDelay();
    this.lateness = new Lateness();
    /**
     * The time that a snapshot without avoidable delay would carry if it arrived now, as of the last
     * `advance`; null before the first snapshot.
     * @type {number | null}
     */
    this.reading = null;
    /**
     * The round trip as it was told, smoothed.
     * @type {number | null}
     */
    this.rtt = null;
    /** How often the reading was moved at once. */
    this.resyncs = 0;
    /** When the clock was last asked or told something. */
    this.seen = 0;
    /** When somebody looked again after not having looked for so long. */
    this.pauseEnd = -Infinity;
    this.pause = 0;
    /** Samples far from the line that agree with each other. */
    this.suspects = { count: 0, lowest: 0, highest: 0, since: 0 };
    /**
     * Since when the reading is a break off the line.
     * @type {number | null}
     */
    this.offSince = null;
    /** @type {number | null} */
    this.jumpUs = null;
  }

  /** How late snapshots come: 95 % of the recent ones came no later than this after the least delayed. */
  get jitter() {
    return this.lateness.high;
  }

  /** How late the middle one of the recent snapshots came. */
  get typicalLateness() {
    return this.lateness.middle;
  }

  /** The time between two snapshots as the server makes them; zero until there are two. */
  get sendInterval() {
    return this.lateness.interval;
  }

  /** The delay with which 98 % of the recent snapshots would have come in time for the view. */
  get neededDelay() {
    return this.lateness.needed;
  }

  /** How much faster the server's clock runs, in parts per million. */
  get driftPpm() {
    return this.line.drift * 1e6;
  }

  /**
   * A snapshot of `serverTime` arrived: late, twice, out of order, as it pleases.
   * @param {number} now
   * @param {number} serverTime
   */
  handleSnapshot(now, serverTime) {
    this.advance(now);
    const offset = serverTime - now;
    const waited = now - this.pauseEnd <= CATCHING_UP_US ? this.pause : 0;
    // Before the first sample there is no line, and nothing is far from it.
    if (Math.abs(offset - this.line.offsetAt(now)) > BREAK_US) {
      if (!this.#suspect(now, offset, waited)) return;
    } else {
      this.suspects.count = 0;
    }
    this.line.insert(now, offset);
    const line = this.line.offsetAt(now);
    this.lateness.insert(serverTime, offset, waited, line);
    const target = now + line;
    if (this.reading === null) {
      this.reading = target;
    } else if (Math.abs(target - this.reading) <= BREAK_US) {
      this.offSince = null;
    } else if (waited === 0) {
      // After two breaks in a row the line has moved on by itself, and nothing lies far from it.
      this.offSince ??= now;
      if (now - this.offSince >= BREAK_SPAN_US) this.#jumpTo(target);
    }
  }

  /**
   * The round trip was measured.
   * @param {number} rtt
   */
  handleRtt(rtt) {
    const limited = Math.min(rtt, RTT_US_MAX);
    this.rtt = this.rtt === null ? limited : this.rtt + (limited - this.rtt) / 8;
  }

  /**
   * Moves the reading on to `now`; null before the first snapshot. A `now` that stands still or goes back
   * leaves it where it is.
   * @param {number} now
   */
  advance(now) {
    const passed = Math.max(now - this.seen, 0);
    if (passed > PAUSE_US) {
      this.pauseEnd = now;
      this.pause = passed;
    }
    this.seen = now;
    const line = this.line.offsetAt(now);
    if (this.reading === null || Number.isNaN(line)) return this.reading;
    const error = now + line - this.reading - passed;
    const limit = SLEW_MAX * passed;
    const towards = clamp(error * Math.min(passed / SETTLE_US, 1), -limit, limit);
    this.reading += Math.max(passed * (1 + this.line.drift) + towards, 0);
    return this.reading;
  }

  /** By how much the reading was moved at once since the last call, negative if back; null if it was not. */
  pollResync() {
    const jump = this.jumpUs;
    this.jumpUs = null;
    return jump;
  }

  /**
   * A sample far from the line: one alone is ignored. Says whether there are enough of them, and the line
   * starts anew.
   * @param {number} now
   * @param {number} offset
   * @param {number} waited
   */
  #suspect(now, offset, waited) {
    const { suspects } = this;
    const lowest = Math.min(suspects.lowest, offset);
    const highest = Math.max(suspects.highest, offset);
    // What waited for its reader may lie below the line by as much; who looks seldom has nothing else to go
    // by.
    if (suspects.count > 0 && highest - lowest <= AGREEMENT_US + waited) {
      Object.assign(suspects, { lowest, highest, count: suspects.count + 1 });
    } else {
      Object.assign(suspects, { lowest: offset, highest: offset, since: now, count: 1 });
    }
    if (suspects.count < BREAK_SAMPLES || now - suspects.since < BREAK_SPAN_US) return false;
    suspects.count = 0;
    this.line.restart();
    this.lateness.restart();
    this.line.insert(now, suspects.highest);
    const target = now + suspects.highest;
    // A clock of ours that went back moves the line, and the reading has been right all the time.
    if (this.reading !== null && Math.abs(target - this.reading) > BREAK_US) this.#jumpTo(target);
    return true;
  }

  /** @param {number} target */
  #jumpTo(target) {
    // One that nobody has asked about yet is part of this one.
    this.jumpUs = (this.jumpUs ?? 0) + target - (this.reading ?? target);
    this.reading = target;
    this.offSince = null;
    this.resyncs++;
  }
}

/**
 * @param {number} value
 * @param {number} min
 * @param {number} max
 */
function clamp(value, min, max) {
  return Math.min(Math.max(value, min), max);
}

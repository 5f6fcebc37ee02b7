/**
 * The own character, ahead of the server.
 *
 * The server's word on what a player did arrives a round trip later. A client that waits for it feels
 * sluggish at 50 ms and unplayable at 200. So it runs the same step as the server, at once, and keeps what it
 * did and what came of it. When the server's word arrives, it is about the past: about the state after step
 * 41, while the client is at 46.
 *
 *     log          │ 41 │ 42 │ 43 │ 44 │ 45 │ 46 │       input and predicted state of each step
 *                     ▲                        ▲ present: what the player feels
 *     server says: after step 41 it was so
 *
 *     the same     drop 41, nothing else happens
 *     different    the server's state, then step 42, 43, 44, 45, 46 again with the same inputs
 *
 * So the state is always exactly what follows from the server's newest word. What the player sees must not
 * jump, though: the difference between the old present and the new one becomes an offset of the view, which
 * decays:
 *
 *     distance     0 ───── small ──────────── large ─────▶
 *                   ignored  │  offset × e^(−k·t)  │ jump, reported
 */

import { isNewer, nearest } from "../tick.js";
import { Rate } from "../view/rate.js";
import { checkSetting } from "../view/setting.js";
import { Pose, UNTURNED, angleRadians, length3, normalized, slerp } from "../view/space.js";
import { Fields, errorOf } from "./fields.js";
import { Offset } from "./offset.js";

/** Steps that a log holds at least. */
const CAPACITY_MIN = 64;

/**
 * How an object is predicted; all have a default.
 * @typedef {object} PredictConfig
 * @property {number} [stepsPerSecond] of the simulation, 1 to 1,000
 * @property {number} [windowUs] how long the log of inputs reaches back, 1 to 5 s: the longest round trip
 *   that is bridged
 * @property {number} [smallMetres] up to this distance a correction is not worth smoothing
 * @property {number} [largeMetres] beyond this distance the view jumps
 * @property {number} [smallRadians] the same for turning
 * @property {number} [largeRadians] from π on it never jumps
 * @property {number} [silenceUs] if an object has moved here, and the server says nothing of it for so long,
 *   it has not moved there: 100 ms to 60 s
 * @property {number} [decayPerSecond] how fast an offset decays, 0.1 to 100
 */

/**
 * What the game gives: the step that server and client share, and what a state consists of.
 * @template S, I
 * @typedef {object} Stepper
 * @property {(state: S, input: I) => S} step the next state; the one that is given stays as it is
 * @property {(state: S, fields: Fields) => void} describe names its fields, in the same order for every state
 */

/**
 * The present is another one than the client thought.
 * @typedef {object} Correction
 * @property {number} step of which the server spoke
 * @property {number} replayed how many steps were run again from there
 * @property {"small" | "medium" | "large"} severity not seen, smoothed, or a jump
 * @property {number} metres how far the present moved
 * @property {number} radians how far it turned
 */

/**
 * When the server disagreed.
 * @template I
 * @typedef {object} Misprediction
 * @property {number} step of which the server spoke
 * @property {number} since of which it spoke before: the two parted in between
 * @property {I | null} input what the client did in `step`; null if it did nothing, or no longer knows
 */

/**
 * One object of which the client is ahead of the server.
 * @template S, I
 */
export class Predictor {
  /**
   * Predicts from a state that the server has told, after `step`.
   * @param {Stepper<S, I>} stepper
   * @param {number} step
   * @param {S} state
   * @param {PredictConfig} [config]
   */
  constructor(stepper, step, state, config = {}) {
    this.stepper = stepper;
    this.config = checkConfig(config);
    const rate = new Rate("stepsPerSecond", this.config.stepsPerSecond);
    this.capacity = Math.max(rate.stepsWithin(this.config.windowUs), CAPACITY_MIN);
    this.silenceSteps = Math.max(rate.stepAt(this.config.silenceUs), 1);
    /** @type {{ step: number, input: I, state: S }[]} */
    this.log = [];
    /** The newest step that is settled, and the state after it. */
    this.confirmed = { step, state };
    /** The newest step whose state the server has told, and that state. */
    this.told = { step, state };
    /**
     * Since which step the server is silent about an object that is not as it was told.
     * @type {number | null}
     */
    this.silentSince = null;
    /**
     * The newest step of the log that is settled.
     * @type {{ step: number, input: I } | null}
     */
    this.settled = null;
    this.hasRefused = false;
    this.own = new Fields();
    this.servers = new Fields();
    this.offset = new Offset();
    stepper.describe(state, this.own);
    if (this.own.values.length === 0) throw new RangeError("the state describes no fields: use 1 to 32");
    this.present = poseIn(this.own, new Pose());
    this.before = this.present;
    /** How good predictions were. */
    this.report = {
      confirmed: 0,
      small: 0,
      medium: 0,
      large: 0,
      stale: 0,
      pauses: 0,
      last: /** @type {Misprediction<I> | null} */ (null),
      fields: this.own.names.map((name) => ({ name, count: 0, largest: 0, largestAt: 0 })),
    };
  }

  /** The present: exactly what follows from the server's newest word and the inputs since. */
  get state() {
    return this.log.length > 0 ? this.log[this.log.length - 1].state : this.confirmed.state;
  }

  /** The newest step that was simulated here or settled. */
  get newest() {
    return this.log.length > 0 ? this.log[this.log.length - 1].step : this.confirmed.step;
  }

  /** Whether prediction waits for the server, which has confirmed nothing for as long as the log reaches. */
  get isPaused() {
    return this.log.length === this.capacity;
  }

  /** Whether the view is still on its way to the present. */
  get isCorrecting() {
    return !this.offset.isZero;
  }

  /**
   * Simulates a step with what the player does, at once. Steps may be left out, never repeated.
   * @param {number} step
   * @param {I} input
   * @returns {"done" | "paused" | "notNewer"}
   */
  applyLocal(step, input) {
    if (!isNewer(step, this.newest)) return "notNewer";
    if (this.isPaused) {
      if (!this.hasRefused) this.report.pauses++;
      this.hasRefused = true;
      return "paused";
    }
    this.hasRefused = false;
    const state = this.stepper.step(this.state, input);
    this.log.push({ step, input, state });
    this.before = this.present;
    this.present = this.#poseOf(state);
    return "done";
  }

  /**
   * The server says how the object was after a step. Of the step only the low 16 bits count, which is what
   * crosses the wire. If the server has moved the object somewhere else and that was not predicted, the view
   * jumps there.
   * @param {number} step
   * @param {S} server
   * @param {boolean} [hasJumped]
   * @returns {Correction | "stale" | "confirmed"}
   */
  handleState(step, server, hasJumped = false) {
    const whole = nearest(step & 0xffff, this.newest);
    // The state of a step may come after the news that the step was simulated.
    if (!isNewer(whole, this.told.step) || isNewer(this.confirmed.step, whole)) {
      this.report.stale++;
      return "stale";
    }
    const since = this.told.step;
    this.told = { step: whole, state: server };
    this.silentSince = null;
    this.#settle(whole);
    if (this.#compare(whole)) {
      this.report.confirmed++;
      return "confirmed";
    }
    return this.#correct(whole, since, hasJumped);
  }

  /**
   * The server has simulated a step and said nothing of the object: inputs up to it are done with. If it is
   * silent for too long while the object has moved here, its last word holds.
   * @param {number} step
   * @returns {Correction | null}
   */
  handleAcked(step) {
    const whole = nearest(step & 0xffff, this.newest);
    if (!isNewer(whole, this.confirmed.step)) return null;
    this.#settle(whole);
    this.#describe();
    if (this.own.isSame(this.servers)) {
      this.silentSince = null;
      return null;
    }
    this.silentSince ??= whole;
    if (((whole - this.silentSince) | 0) < this.silenceSteps) return null;
    this.#compare(whole);
    return this.#correct(whole, this.told.step, false);
  }

  /** Where the object is to be shown: the present and what is left of the offset. */
  view() {
    return this.offset.appliedTo(this.present);
  }

  /**
   * The same for frames between two steps.
   * @param {number} fraction of the way from the state before the present one, 0 to 1
   */
  viewBetween(fraction) {
    const part = fraction >= 0 ? Math.min(fraction, 1) : 0;
    const { before, present } = this;
    const position = before.position.map((axis, at) => axis + (present.position[at] - axis) * part);
    return this.offset.appliedTo(new Pose(position, slerp(before.rotation, present.rotation, part)));
  }

  /**
   * Time passes for the view.
   * @param {number} elapsedUs
   */
  advanceView(elapsedUs) {
    this.offset.decay(elapsedUs, this.config.decayPerSecond);
  }

  #describe() {
    this.stepper.describe(this.confirmed.state, this.own.clear());
    this.stepper.describe(this.told.state, this.servers.clear());
  }

  /**
   * Whether two states are the same to the wire; notes in which fields they are not.
   * @param {number} step
   */
  #compare(step) {
    this.#describe();
    const servers = this.servers.values;
    let isSame = this.own.values.length === servers.length;
    this.report.fields.forEach((errors, at) => {
      if (at >= servers.length || at >= this.own.values.length) return;
      const error = errorOf(this.own.values[at], servers[at]);
      if (error === 0) return;
      isSame = false;
      errors.count++;
      if (error > errors.largest) Object.assign(errors, { largest: error, largestAt: step });
    });
    return isSame;
  }

  /**
   * After `step`, the object was as the server has told last: everything since is run again.
   * @param {number} step
   * @param {number} since
   * @param {boolean} hasJumped
   * @returns {Correction}
   */
  #correct(step, since, hasJumped) {
    this.silentSince = null;
    this.report.last = { step, since, input: this.settled?.step === step ? this.settled.input : null };
    this.confirmed.state = this.told.state;
    let { state } = this.told;
    for (const logged of this.log) {
      state = this.stepper.step(state, logged.input);
      logged.state = state;
    }
    const shown = this.present;
    const count = this.log.length;
    this.before = this.#poseOf(count > 1 ? this.log[count - 2].state : this.told.state);
    this.present = this.#poseOf(this.state);
    const moved = this.#shiftView(shown, hasJumped);
    this.report[moved.severity]++;
    return { step, replayed: count, ...moved };
  }

  /**
   * What was predicted up to a step is done with.
   * @param {number} step
   */
  #settle(step) {
    let count = 0;
    while (count < this.log.length && !isNewer(this.log[count].step, step)) count++;
    if (count > 0) {
      const { step: last, input, state } = this.log[count - 1];
      this.confirmed.state = state;
      this.settled = { step: last, input };
    }
    this.log.splice(0, count);
    this.confirmed.step = step;
  }

  /**
   * The present has moved under the view.
   * @param {Pose} before
   * @param {boolean} hasJumped
   * @returns {{ severity: Correction["severity"], metres: number, radians: number }}
   */
  #shiftView(before, hasJumped) {
    const { smallMetres, largeMetres, smallRadians, largeRadians } = this.config;
    const after = this.present;
    const [x, y, z] = before.position.map((axis, at) => axis - after.position[at]);
    const [metres, radians] = [length3(x, y, z), angleRadians(before.rotation, after.rotation)];
    // Also what is not a number is not within.
    if (hasJumped || !(metres <= largeMetres && radians <= largeRadians)) {
      this.offset.clear();
      return { severity: "large", metres, radians };
    }
    if (metres <= smallMetres && radians <= smallRadians) return { severity: "small", metres, radians };
    this.offset.add(before, after);
    // Many corrections in the same direction add up to one that is too large to be smoothed.
    const isWithin = this.offset.isWithin(largeMetres, largeRadians);
    if (!isWithin) this.offset.clear();
    return { severity: isWithin ? "medium" : "large", metres, radians };
  }

  /** @param {S} state */
  #poseOf(state) {
    this.stepper.describe(state, this.own.clear());
    return poseIn(this.own, this.present);
  }
}

/** @param {PredictConfig} config */
function checkConfig(config) {
  const checked = {
    stepsPerSecond: config.stepsPerSecond ?? 60,
    windowUs: config.windowUs ?? 1500000,
    smallMetres: config.smallMetres ?? 0.02,
    largeMetres: config.largeMetres ?? 2,
    smallRadians: config.smallRadians ?? 0.02,
    largeRadians: config.largeRadians ?? 1.6,
    silenceUs: config.silenceUs ?? 500000,
    decayPerSecond: config.decayPerSecond ?? 6.3,
  };
  checkSetting("windowUs", checked.windowUs, 1000000, 5000000);
  checkSetting("smallMetres", checked.smallMetres, 0, Number.MAX_VALUE);
  checkSetting("largeMetres", checked.largeMetres, checked.smallMetres, Number.MAX_VALUE);
  checkSetting("smallRadians", checked.smallRadians, 0, Math.PI);
  checkSetting("largeRadians", checked.largeRadians, checked.smallRadians, 2 * Math.PI);
  checkSetting("silenceUs", checked.silenceUs, 100000, 60000000);
  checkSetting("decayPerSecond", checked.decayPerSecond, 0.1, 100);
  return checked;
}

/**
 * Where a state is seen. What is no number is not shown: the object stays where it was seen last.
 * @param {Fields} fields
 * @param {Pose} last
 */
function poseIn(fields, last) {
  const position = fields.first("position");
  const rotation = fields.first("rotation");
  const isPlace = position !== null && position.every(Number.isFinite);
  return new Pose(isPlace ? position : last.position, normalized(rotation ?? UNTURNED) ?? last.rotation);
}

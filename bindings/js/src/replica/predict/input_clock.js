/**
 * Which step of the simulation a client is at: so far ahead of the server that its inputs arrive in time.
 *
 * The input for step T must be at the server before the server simulates T. Too late and it is not used; too
 * early and the player feels a delay that nobody needed. How early the newest input came, its *slack*, is
 * known to the server only, and it says so in its snapshots:
 *
 *     client   T ─┐  T+1   T+2   T+3   T+4           lead = time of the newest step − now
 *                 └────── input T ──────┐
 *     server                            ▼ slack ▶│ T
 *                                                  └── snapshot: the slack of T was … ──▶ client
 *
 * **Start.** One round trip, two steps and the jitter ahead of the server's time as it arrives.
 *
 * **Steering.** What a slack tells is about the lead that a step had when the client made it, a round trip
 * ago. So the lead of every step is remembered, and `slack − lead` is smoothed: that is a property of the
 * route alone, and does not move while the client corrects itself. The correction can therefore be quick
 * without overshooting. It makes steps up to 5 % longer or shorter, until the expected slack is one step and
 * the jitter.
 *
 * **Frames.** Steps are made in frames, and a step that is due just after a frame waits for the next one.
 * With a slack of a step, or of the gap between frames less three eighths of a step if that is more, at least
 * an eighth of a step is to spare, wherever steps and frames happen to meet. That is what rounding in the
 * feedback can take.
 *
 * **Loss.** Every message has the inputs of the ones before it, too, so one that is lost is made up for by the
 * next, a step later: that is what the step of slack is for. Where packets get lost, so do two in a row, so
 * inputs come up to a step earlier there: then it takes three in a row.
 *
 * **Breaks.** An error beyond a bound skips steps, or waits if the client is too far ahead. No step is given
 * twice, unless the server's clock itself broke: then the count starts anew. When the server has been past
 * the newest step for a quarter of a second, its slacks are about steps that were never made: the client goes
 * by the clock, at once.
 */

import { isNewer, nearest } from "../tick.js";
import { Rate } from "../view/rate.js";
import { checkSetting } from "../view/setting.js";

/** How much longer or shorter a step may be. */
const DILATION_MAX = 0.05;
/** An error is gone in about this time, if the limit of the dilation allows. */
const SETTLE_US = 300000;
/** Slacks are smoothed over about so many. */
const SMOOTHING = 12;
/** One slack moves the estimate no more than if it were off by this. */
const SURPRISE_US_MAX = 100000;
const SLACK_US_MAX = 5000000;
/** How long leads are remembered: longer than any round trip that can be played with. */
const LEADS_MEMORY_US = 2000000;
/** Jitter beyond this is not waited for: the delay would be worse than the losses. */
const JITTER_US_MAX = 150000;
const JITTER_SETTLE_US = 2000000;
/** Loss from which on inputs come earlier, and from which on by a whole step. */
const LOSS_NONE = 0.01;
const LOSS_WHOLE = 0.03;
/** What is lost now and then counts soon, and is forgotten slowly: the next is lost as suddenly as the last. */
const LOSS_UP_US = 1000000;
const LOSS_DOWN_US = 10000000;
/** A server that has been past the newest step for so long will not be caught up with by its slacks. */
const BEHIND_US_MAX = 250000;
/** A longer gap is a hitch, and not the rate of frames. */
const GAP_US_MAX = 100000;
/** How much of a longer gap counts at once, and how much of a shorter one. */
const GAP_UP = 0.5;
const GAP_DOWN = 0.003;
/** How much earlier than needed the oldest step of a slow frame comes: feedback is rounded to quarters. */
const SPARE_STEPS = 0.125;
/** How much of a new lead counts: as much as of a slack on the server. */
const LEAD_WEIGHT = 1 / 8;
/** After so long without inputs the server begins anew, too. */
const LEAD_FORGOTTEN_US = 1000000;

/**
 * The steps that are to be simulated now.
 * @typedef {object} Steps
 * @property {number} first meaningless if there is none
 * @property {number} count
 * @property {number} skipped steps before the first that were never given and never will be
 */

/** The client's count of steps. All times in microseconds. */
export class InputClock {
  /**
   * @param {object} [config]
   * @param {number} [config.stepsPerSecond] as the server has them: 1 to 1,000
   * @param {number} [config.stepsPerPollMax] that one call gives, 1 to 64: a slow frame must not make the
   *   next one slower
   * @param {number} [config.resyncUs] an error of the lead beyond this skips or waits: 50 ms to 5 s
   */
  constructor({ stepsPerSecond = 60, stepsPerPollMax = 8, resyncUs = 400000 } = {}) {
    this.rate = new Rate("stepsPerSecond", stepsPerSecond);
    checkSetting("stepsPerPollMax", stepsPerPollMax, 1, 64);
    checkSetting("resyncUs", resyncUs, 50000, 5000000);
    this.stepsPerPollMax = stepsPerPollMax;
    this.resyncUs = resyncUs;
    const leads = 2 ** Math.ceil(Math.log2(Math.max(this.rate.stepAt(LEADS_MEMORY_US), 1)));
    /** By the low bits of the step: which it is, and its lead. */
    this.leadSteps = new Float64Array(leads).fill(-1);
    this.leads = new Float64Array(leads);
    /**
     * In the server's time: the step that is due is this divided by the length of a step; not a number at
     * first.
     */
    this.position = NaN;
    /** The newest step that was given, as a whole number that does not wrap. */
    this.given = 0;
    /** The newest lead, smoothed, and slack less lead of the route; not numbers if unknown. */
    this.lead = NaN;
    this.route = NaN;
    /** @type {number | null} */
    this.newestSlack = null;
    /** Since when the server is past the newest step; not a number if it is not. */
    this.behindSince = NaN;
    this.isLeftBehind = false;
    this.jitter = 0;
    this.loss = 0;
    /** How much earlier inputs come for it, in steps. */
    this.lossSteps = 0;
    /** From one frame to the next, at most. */
    this.gap = 0;
    /** The target of the frame before. */
    this.target = 0;
    this.seen = 0;
    /**
     * By how much the clock that is handed in went back so far: how far ahead we are does not change by that.
     */
    this.backUs = 0;
    this.resyncs = 0;
  }

  /** How early the inputs should come. */
  get targetSlack() {
    const forFrames = this.gap + this.rate.stepUs * (SPARE_STEPS - 0.5);
    return Math.max(this.rate.stepUs, forFrames) + this.jitter + this.lossSteps * this.rate.stepUs;
  }

  /** How early inputs are expected to come; null without feedback. */
  get expectedSlack() {
    const expected = this.route + this.lead;
    return Number.isNaN(expected) ? null : expected;
  }

  /**
   * The newest step that was given, and how far into it the client is, 0 to 1: for drawing between two steps.
   */
  get phase() {
    if (Number.isNaN(this.position)) return null;
    const part = (this.position - this.given * this.rate.stepUs) / this.rate.stepUs;
    return { step: this.given >>> 0, fraction: Math.min(Math.max(part, 0), 1) };
  }

  /**
   * What a snapshot said about this client's inputs.
   * @param {import("../world.js").Feedback} feedback
   */
  handleFeedback({ step, slack }) {
    const newest = this.given >>> 0;
    const isBehind = !Number.isNaN(this.position) && isNewer(nearest(step & 0xffff, newest), newest);
    if (!isBehind) {
      this.behindSince = NaN;
    } else if (Number.isNaN(this.behindSince)) {
      this.behindSince = this.seen;
    } else if (this.seen - this.behindSince >= BEHIND_US_MAX) {
      this.#forgetRoute();
      this.isLeftBehind = true;
    }
    if (slack !== null) this.handleSlack(step, (slack / 4) * this.rate.stepUs);
  }

  /**
   * The input for `step` was at the server so long before it was needed; negative if it came late. Old,
   * repeated and unknown steps are ignored.
   * @param {number} step of which the low 16 bits count
   * @param {number} slackUs
   */
  handleSlack(step, slackUs) {
    const whole = nearest(step & 0xffff, Number.isNaN(this.position) ? step : this.given >>> 0);
    if (this.newestSlack !== null && !isNewer(whole, this.newestSlack)) return;
    const place = whole & (this.leads.length - 1);
    if (this.leadSteps[place] !== whole) return;
    this.newestSlack = whole;
    const sample = Math.min(Math.max(slackUs, -SLACK_US_MAX), SLACK_US_MAX) - this.leads[place];
    const surprise = Math.min(Math.max(sample - this.route, -SURPRISE_US_MAX), SURPRISE_US_MAX);
    this.route = Number.isNaN(this.route) ? sample : this.route + surprise / SMOOTHING;
  }

  /**
   * So much of what this client sends gets lost, 0 to 1.
   * @param {number} loss
   */
  handleLoss(loss) {
    this.loss = loss;
  }

  /**
   * The steps that are due. The clock has been advanced to `now`.
   * @param {number} now
   * @param {import("../view/clock.js").ServerClock} clock
   * @returns {Steps}
   */
  pollSteps(now, clock) {
    this.backUs += Math.max(this.seen - (now + this.backUs), 0);
    const local = now + this.backUs;
    const passed = local - this.seen;
    this.seen = local;
    if (clock.reading === null) return { first: 0, count: 0, skipped: 0 };
    this.#followJitter(clock, passed);
    this.#followLoss(passed);
    this.#followFrames(passed);
    // An input is made in the first frame of its step at best, in the next one at worst: that takes another
    // step.
    const byClock = clock.reading + (clock.rtt ?? 0) + this.targetSlack + this.rate.stepUs;
    if (clock.resyncs !== this.resyncs) {
      this.resyncs = clock.resyncs;
      this.position = NaN;
      this.#forgetRoute();
    }
    if (Number.isNaN(this.position)) {
      this.position = byClock;
      this.given = Math.max(this.rate.stepAt(byClock) - 1, 0);
    } else {
      this.position += passed;
    }
    this.#steer(local, byClock, passed);
    return this.#give(local);
  }

  /** Until the next feedback only the server's clock counts, as at the beginning. */
  #forgetRoute() {
    this.lead = NaN;
    this.route = NaN;
    this.newestSlack = null;
    this.behindSince = NaN;
    this.leadSteps.fill(-1);
  }

  /**
   * @param {import("../view/clock.js").ServerClock} clock
   * @param {number} passed
   */
  #followJitter(clock, passed) {
    const measured = Math.min(Math.max(clock.jitter - clock.typicalLateness, 0), JITTER_US_MAX);
    const share = Number.isNaN(this.position) ? 1 : Math.min(passed / JITTER_SETTLE_US, 1);
    this.jitter += (measured - this.jitter) * share;
  }

  /** @param {number} passed */
  #followLoss(passed) {
    const wanted = Math.min(Math.max((this.loss - LOSS_NONE) / (LOSS_WHOLE - LOSS_NONE), 0), 1);
    const settle = wanted > this.lossSteps ? LOSS_UP_US : LOSS_DOWN_US;
    this.lossSteps += (wanted - this.lossSteps) * Math.min(passed / settle, 1);
  }

  /** @param {number} passed */
  #followFrames(passed) {
    if (passed < GAP_US_MAX) this.gap += (passed - this.gap) * (passed > this.gap ? GAP_UP : GAP_DOWN);
    if (passed >= LEAD_FORGOTTEN_US) this.lead = NaN;
  }

  /**
   * @param {number} now
   * @param {number} byClock
   * @param {number} passed
   */
  #steer(now, byClock, passed) {
    const target = this.targetSlack;
    const moved = target - this.target;
    this.target = target;
    const newest = Math.min(this.gap, this.rate.stepUs) / 2;
    const expected = this.route + this.position - now;
    const error = Number.isNaN(this.route) ? byClock - this.position : target + newest - expected;
    const isBreak = this.isLeftBehind || Math.abs(error) > this.resyncUs;
    this.isLeftBehind = false;
    if (isBreak) {
      this.position += error;
      return;
    }
    const limit = DILATION_MAX * passed;
    const wanted = error * Math.min(passed / SETTLE_US, 1) + moved;
    this.position += Math.min(Math.max(wanted, -limit), limit);
  }

  /**
   * @param {number} now
   * @returns {Steps}
   */
  #give(now) {
    const { stepUs } = this.rate;
    const due = Math.max(this.rate.stepAt(Math.max(this.position, 0)) - this.given, 0);
    const isBehind = due > this.stepsPerPollMax && due * stepUs > this.resyncUs;
    const skipped = isBehind ? due - this.stepsPerPollMax : 0;
    const count = Math.min(due - skipped, this.stepsPerPollMax);
    const first = this.given + skipped + 1;
    this.given += skipped + count;
    if (count > 0) {
      const lead = this.given * stepUs - now;
      this.lead = Number.isNaN(this.lead) ? lead : this.lead + (lead - this.lead) * LEAD_WEIGHT;
    }
    for (let step = first; step < first + count; step++) {
      const place = (step >>> 0) & (this.leads.length - 1);
      this.leadSteps[place] = step >>> 0;
      this.leads[place] = this.lead;
    }
    return { first: first >>> 0, count, skipped };
  }
}

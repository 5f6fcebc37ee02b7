/**
 * What the player sees: every object in sight, at one time, smoothly.
 *
 *     snapshot ─▶ World ─▶ View.handleSnapshot ─▶ clock: when it arrived       ─▶ delay
 *                                              └▶ states: metres, quaternions  ─▶ rings
 *     frame    ─▶ View.advance(now):  view time = server's time as it arrives − delay  ─▶ a pose of each
 *
 * A view is fed after every snapshot that the world took in, and asked in every frame. View time runs at 1 ±
 * 7 % of real time (2 % for the clock, 5 % for the delay) and never backwards, except after a break of the
 * clock, which `pollResync` reports. Time begins with the server: as long as its first moments lie within the
 * delay, the view stands at zero.
 *
 * An object that left is shown until view time reaches the tick in which it did, unless its slot is used
 * again before: of a rocket that hits, the last metres are seen too. One that entered is shown at once; until
 * the view gets there it stands still.
 */

import { slotOf } from "../../wire/alias.js";
import { viewTimeAt } from "../input.js";
import { distance, isNewer } from "../tick.js";
import { ServerClock } from "./clock.js";
import { ViewDelay } from "./delay.js";
import { EXTRAPOLATION_US_MAX, Interpolator } from "./interpolate.js";
import { Rate } from "./rate.js";
import { Pose } from "./space.js";

/** @typedef {import("../world.js").Change} Change */
/** @typedef {import("../world.js").World} World */

const NOBODY = -1;

/** The view of a client. All times in microseconds. */
export class View {
  /**
   * @param {object} [config]
   * @param {number} [config.ticksPerSecond] of snapshots, as the server has them: 1 to 1,000
   * @param {number} [config.delayUs] how far the view lies behind on a good connection: 50 to 500 ms
   * @param {boolean} [config.isAdaptive] whether that grows with jitter and loss
   * @param {number} [config.objects] for which there is room from the start
   * @param {number} [config.extrapolationUs] how long anything is carried on without news: 0 to 250 ms
   * @param {boolean} [config.isHeadless] time passes as ever, but no object is shown: for bots
   */
  constructor({
    ticksPerSecond = 20,
    delayUs,
    isAdaptive,
    objects = 256,
    extrapolationUs = EXTRAPOLATION_US_MAX,
    isHeadless = false,
  } = {}) {
    this.rate = new Rate("ticksPerSecond", ticksPerSecond);
    /** The server's clock as its snapshots tell it. */
    this.clock = new ServerClock();
    /** How far the view lies behind. */
    this.delay = new ViewDelay({ delayUs, isAdaptive });
    this.objects = new Interpolator({ statesPerSecond: ticksPerSecond, objects, extrapolationUs });
    this.isHeadless = isHeadless;
    /** Whether motion is shown smoothly and late; if not, view time is that of the newest snapshot. */
    this.isInterpolating = true;
    /**
     * The server's time that is shown; null before the first snapshot.
     * @type {number | null}
     */
    this.time = null;
    /** The newest tick of a snapshot, and what number it is of those since the server began. */
    this.newestTick = -1;
    this.newestNumber = 0;
    /**
     * By slot: the alias of what is shown.
     * @type {number[]}
     */
    this.seats = [];
    /**
     * What has left, and when: still seated until the view gets there.
     * @type {{ time: number, alias: number }[]}
     */
    this.leaving = [];
    /** @type {number | null} */
    this.resyncUs = null;
    this.position = new Float64Array(3);
    this.rotation = new Float32Array(4);
    this.velocity = new Float32Array(3);
    this.pose = new Pose();
  }

  /**
   * Takes over what the world's last snapshot changed. To be called after each of them, whether it was read
   * to its end or not.
   * @param {number} now
   * @param {World} world
   */
  handleSnapshot(now, world) {
    const { tick } = world;
    if (tick < 0) return;
    const number = this.#numberOf(tick);
    if (this.newestTick < 0 || isNewer(tick, this.newestTick)) {
      this.newestTick = tick;
      this.newestNumber = number;
    }
    const time = this.rate.timeOf(number);
    this.clock.handleSnapshot(now, time);
    if (this.isHeadless) return;
    if (world.error === null) this.objects.handleSnapshot(time);
    for (const change of world.changes) {
      if (change.kind === "left") this.#leave(change);
      else this.#take(tick, time, change);
    }
  }

  /**
   * The round trip was measured.
   * @param {number} rtt
   */
  handleRtt(rtt) {
    this.clock.handleRtt(rtt);
  }

  /**
   * Shows everything as of `now`: the server's time that is shown, null before the first snapshot.
   * @param {number} now
   */
  advance(now) {
    const reading = this.clock.advance(now);
    if (reading === null) return null;
    const resync = this.clock.pollResync();
    this.resyncUs = resync ?? this.resyncUs;
    const interval = this.clock.sendInterval || this.rate.timeOf(1);
    const delayed = Math.max(reading - this.delay.advance(now, interval, this.clock.neededDelay), 0);
    const time = this.isInterpolating ? delayed : this.rate.timeOf(this.newestNumber);
    this.time = resync === null ? Math.max(time, this.time ?? 0) : time;
    if (!this.isHeadless) {
      this.#letGo(this.time, resync !== null);
      this.objects.advance(this.time);
    }
    return this.time;
  }

  /**
   * Without interpolation, everything is as of the newest snapshot: what left is gone at once, and events
   * come when they arrive. Only when this is switched may view time go back.
   * @param {boolean} isWanted
   */
  setInterpolating(isWanted) {
    if (isWanted !== this.isInterpolating) this.time = null;
    this.isInterpolating = isWanted;
  }

  /**
   * Where an object is shown, in the world; null if it is not.
   * @param {number} alias
   * @param {Pose} [pose] where it goes
   */
  sample(alias, pose) {
    return this.#isSeated(alias) ? this.objects.shown(slotOf(alias), pose) : null;
  }

  /**
   * The same relative to its parent, if it has one.
   * @param {number} alias
   * @param {Pose} [pose]
   */
  sampleLocally(alias, pose) {
    return this.#isSeated(alias) ? this.objects.shownLocally(slotOf(alias), pose) : null;
  }

  /**
   * Where that comes from: see `Source`.
   * @param {number} alias
   */
  sourceOf(alias) {
    return this.#isSeated(alias) ? this.objects.sourceOf(slotOf(alias)) : null;
  }

  /**
   * Calls back for everything that is shown, in no order. The pose is the same one each time.
   * @param {(alias: number, pose: Pose) => void} callback
   */
  each(callback) {
    const { slots, motions } = this.objects;
    for (let row = 0; row < slots.length; row++) {
      const alias = this.seats[slots[row]];
      if (alias !== NOBODY && motions.sourceOf(row) >= 0) {
        callback(alias, this.objects.putWorld(row, this.pose));
      }
    }
  }

  /**
   * The time that is shown, in steps of a simulation, as inputs carry it to the server; null before the first
   * snapshot.
   * @param {number} stepsPerSecond
   */
  viewTime(stepsPerSecond) {
    return this.time === null ? null : viewTimeAt(this.time, stepsPerSecond);
  }

  /**
   * The server's time of a tick, counted as those of snapshots are: for events that are stamped with one.
   * @param {number} tick
   */
  timeOf(tick) {
    return this.rate.timeOf(this.#numberOf(tick));
  }

  /** By how much view time jumped since the last call, in microseconds; null if it did not. */
  pollResync() {
    const jump = this.resyncUs;
    this.resyncUs = null;
    return jump;
  }

  /**
   * Ticks have 32 bits and wrap; times do not.
   * @param {number} tick
   */
  #numberOf(tick) {
    return this.newestTick < 0 ? tick : Math.max(this.newestNumber + distance(tick, this.newestTick), 0);
  }

  /** @param {number} alias */
  #isSeated(alias) {
    return this.seats[slotOf(alias)] === alias;
  }

  /**
   * Whatever flew there is still on its way in the view: it goes when the view gets there.
   * @param {Change} change
   */
  #leave({ object: { alias }, tick }) {
    if (this.#isSeated(alias)) this.leaving.push({ time: this.timeOf(tick), alias });
  }

  /**
   * Takes away what has left by now, or, after a break of the clock, everything that has left.
   * @param {number} time
   * @param {boolean} all
   */
  #letGo(time, all) {
    if (this.leaving.length === 0) return;
    this.leaving = this.leaving.filter(({ time: left, alias }) => {
      if (left > time && !all) return true;
      if (this.#isSeated(alias)) {
        this.seats[slotOf(alias)] = NOBODY;
        this.objects.remove(slotOf(alias));
      }
      return false;
    });
  }

  /**
   * Takes in the state that a snapshot brought.
   * @param {number} tick
   * @param {number} time
   * @param {Change} change
   */
  #take(tick, time, { object, isInFull, jump }) {
    const { states, slot, alias } = object;
    const row = object.isInSight ? states.rowOf(tick) : -1;
    if (row < 0 || !object.putPosition(states.wordsAt(row), this.position)) return;
    object.putRotation(states.wordsAt(row), this.rotation);
    const velocity = object.putVelocity(states.wordsAt(row), this.velocity) ? this.velocity : null;
    while (this.seats.length <= slot) this.seats.push(NOBODY);
    if (!this.#isSeated(alias)) this.objects.remove(slot);
    if (this.leaving.length > 0) {
      this.leaving = this.leaving.filter((leaving) => slotOf(leaving.alias) !== slot);
    }
    this.seats[slot] = alias;
    this.objects.enter(slot, object.parent);
    if (isInFull) this.objects.noteEntry(slot, time);
    const jumpTime = jump < 0 ? -Infinity : this.timeOf(jump);
    this.objects.insert(slot, time, this.position, this.rotation, velocity, jumpTime);
  }
}

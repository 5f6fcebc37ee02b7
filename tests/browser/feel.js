/**
 * How a game felt: what a page showed, held against what was pressed and what was true.
 *
 * The page says of every frame which step of its own ship it showed, and up to which step its player had
 * acted. So it is known what was pressed in each step, and where the rules put a ship that starts from where
 * it was shown a frame ago. What the page counts of itself is not asked.
 */

import { speedOf, way } from "../../games/rtype/web/rules/ship.js";

/** @typedef {import("./rtype_log.js").Frame} Frame */
/** @typedef {import("./rtype_log.js").Log} Log */
/** @typedef {import("./rtype.js").TruthStep} TruthStep */
/** @typedef {{ x: number, y: number }} Place */

/** What a key asks for. @type {Map<unknown, readonly [number, number]>} */
const KEYS = new Map([
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
]);
/** The buttons of those. */
const STEERING = 0x0f;
const STEPS_PER_MS = 60 / 1_000;
/** A frame that took longer is a hitch of this machine, and nothing of it is the network's. */
const FRAME_MS_MAX = 50;
/** For so long after a hitch, keys are late for the server and packets have waited, whatever the line is. */
const HITCH_MS = 1_000;
/** How long a ship is at rest before a key is one from rest: longer than any frame. */
const REST_MS = 100;
/** Units that nobody sees. */
const UNSEEN = 0.25;
const STILL = 0.001;
/** Frames that are off belong to the same correction if they are so close: it is shown bit by bit. */
const CORRECTION_MS = 500;
/** Steps around a shown one whose speed counts: what was lost on the way is made up for within them. */
const AROUND_STEPS = 30;

/** Where ships were, step by step. */
export class Flights {
  /** By seat and step. @type {Map<number, Map<number, Place>>} */
  #seats = new Map();

  /** @param {TruthStep[]} truth */
  constructor(truth) {
    for (const { step, objects } of truth) {
      for (const { class: kind, seat, x, y } of objects) {
        if (kind !== "Ship" || seat === undefined) continue;
        const flight = this.#seats.get(seat) ?? new Map();
        this.#seats.set(seat, flight.set(step, { x, y }));
      }
    }
  }

  /**
   * Where the ship of a seat was after a step, or between two; null if there was none.
   * @param {number} seat
   * @param {number} step
   */
  place(seat, step) {
    const flight = this.#seats.get(seat);
    const [before, part] = [flight?.get(Math.floor(step)), step % 1];
    const after = part === 0 ? before : flight?.get(Math.floor(step) + 1);
    if (before === undefined || after === undefined) return null;
    return { x: before.x + (after.x - before.x) * part, y: before.y + (after.y - before.y) * part };
  }

  /**
   * How fast it was at most, in units of a step.
   * @param {number} seat
   * @param {number} from
   * @param {number} to
   */
  speed(seat, from, to) {
    let most = 0;
    for (let step = Math.floor(from); step < to; step++) {
      const [before, after] = [this.place(seat, step), this.place(seat, step + 1)];
      if (before !== null && after !== null) most = Math.max(most, distance(before, after));
    }
    return most;
  }
}

/**
 * Frames that can be judged, with the one before each, and how many could not be because they took too long.
 * @param {Frame[]} frames
 */
export function calmOf(frames) {
  /** @type {{ before: Frame, frame: Frame, ms: number }[]} */
  const calm = [];
  let [hitches, hitchMs] = [0, -Infinity];
  for (let at = 1; at < frames.length; at++) {
    const [before, frame] = [frames[at - 1], frames[at]];
    // A browser that is late says so by when it draws, or by leaving frames out.
    const ms = Math.max(frame.timeMs - before.timeMs, frame.drawnMs - before.drawnMs);
    if (ms > FRAME_MS_MAX) {
      hitches++;
      hitchMs = frame.drawnMs;
    }
    if (frame.drawnMs > hitchMs + HITCH_MS) calm.push({ before, frame, ms });
  }
  return { calm, hitches: hitches / frames.length };
}

/**
 * Keys that were pressed while the ship was at rest: how far the first frame that acted after each shows it
 * to have moved that way, and how many frames there were before that one. There are as many frames as steps,
 * and now and then no step falls into a frame.
 * @param {Log} log
 */
export function answersOf({ frames, events }) {
  const calm = new Set(calmOf(frames).calm.map(({ frame }) => frame));
  /** @type {{ timeMs: number, units: number, frames: number }[]} */
  const answers = [];
  for (const { type, code, timeMs } of events) {
    const [right, down] = KEYS.get(code) ?? [0, 0];
    const after = frames.findIndex((frame) => frame.timeMs > timeMs);
    const acted = frames.findIndex((frame, at) => at >= after && at > 0 && frame.step > frames[at - 1].step);
    // The last frame that began before the key may have been drawn after it.
    const rest = frames.slice(0, Math.max(after - 1, 0)).filter((frame) => frame.timeMs > timeMs - REST_MS);
    const isKey = type === "keydown" && (right !== 0 || down !== 0);
    const [from, to] = [rest[0]?.own ?? null, frames[acted]?.own ?? null];
    if (!isKey || after < 0 || from === null || to === null || !calm.has(frames[acted])) continue;
    const isAtRest = rest.every(
      ({ own, buttons }) => own !== null && distance(own, from) < STILL && (buttons & STEERING) === 0,
    );
    if (!isAtRest) continue;
    answers.push({ timeMs, units: (to.x - from.x) * right + (to.y - from.y) * down, frames: acted - after });
  }
  return answers;
}

/**
 * Frames in which the own ship was shown otherwise than its player pressed, those of one correction as one;
 * and the time that could be judged.
 * @param {Log} log
 */
export function correctionsOf({ frames }) {
  const pressed = pressedIn(frames);
  let [seconds, last] = [0, -Infinity];
  /** @type {{ timeMs: number, units: number }[]} */
  const corrections = [];
  for (const { before, frame } of calmOf(frames).calm) {
    const { timeMs, own, ownStep } = frame;
    seconds += (timeMs - before.timeMs) / 1_000;
    if (own === null || before.own === null || ownStep === null || before.ownStep === null) continue;
    // What was pressed before the log began, nobody knows.
    if (!pressed.has(Math.floor(before.ownStep) + 1)) continue;
    const flown = flownBetween(pressed, before.ownStep, ownStep);
    const units = distance(own, { x: before.own.x + flown.x, y: before.own.y + flown.y });
    if (units < UNSEEN) continue;
    if (timeMs > last + CORRECTION_MS) corrections.push({ timeMs, units });
    last = timeMs;
  }
  return { corrections, seconds };
}

/**
 * How far from the truth of the same step the own ship was shown, frame by frame.
 * @param {Log} log
 * @param {Flights} flights
 */
export function errorsOf({ frames }, flights) {
  const errors = [];
  for (const { frame } of calmOf(frames).calm) {
    const { own, ownStep } = frame;
    const truth = own === null || ownStep === null ? null : flights.place(own.seat, ownStep);
    if (own !== null && truth !== null) errors.push(distance(own, truth));
  }
  return errors;
}

/**
 * Frames in which another ship moved by more than twice what it truly did in that time, and all that could be
 * judged.
 * @param {Log} log
 * @param {Flights} flights
 */
export function jumpsOf({ frames }, flights) {
  let [judged, flown] = [0, 0];
  /** @type {{ timeMs: number, units: number, allowed: number }[]} */
  const jumps = [];
  const { calm, hitches } = calmOf(frames);
  for (const { before, frame, ms } of calm) {
    const [from, to] = [before.shownStep, frame.shownStep];
    if (from === null || to === null) continue;
    for (const ship of frame.others.filter(({ kind }) => kind === "ship")) {
      const was = before.others.find(({ alias }) => alias === ship.alias);
      if (was === undefined) continue;
      const speed = flights.speed(ship.what, Math.min(from, to) - AROUND_STEPS, to + AROUND_STEPS);
      const [units, allowed] = [distance(was, ship), 2 * speed * ms * STEPS_PER_MS + UNSEEN];
      judged++;
      flown += units;
      if (units > allowed) jumps.push({ timeMs: frame.timeMs, units, allowed });
    }
  }
  return { jumps, judged, flown, hitches };
}

/**
 * What was pressed in each step: a frame acts in the steps since the frame before it, the first one in its own.
 * @param {Frame[]} frames
 */
function pressedIn(frames) {
  /** @type {Map<number, number>} */
  const pressed = new Map();
  let last = (frames[0]?.step ?? 0) - 1;
  for (const { step, buttons } of frames) {
    while (last < step) pressed.set(++last, buttons);
  }
  return pressed;
}

/**
 * How far the rules take a ship from one step to another, far from the edges of the field.
 * @param {Map<number, number>} pressed
 * @param {number} from
 * @param {number} to
 */
function flownBetween(pressed, from, to) {
  const flown = { x: 0, y: 0 };
  for (let step = Math.floor(from); step < to; step++) {
    const part = Math.min(step + 1, to) - Math.max(step, from);
    const { right, down } = way(pressed.get(step + 1) ?? 0);
    const speed = speedOf(0, right !== 0 && down !== 0);
    flown.x += right * speed * part;
    flown.y += down * speed * part;
  }
  return flown;
}

/**
 * @param {Place} one
 * @param {Place} other
 */
function distance(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

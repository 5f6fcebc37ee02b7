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
export const FRAME_MS_MAX = 50;
/** After a hitch, what was pressed is late for the server, whatever the line: for so long it counts for nothing. */
const HITCH_MS = 1_000;
/** How long a ship is at rest before a key is one from rest: longer than any frame. */
const REST_MS = 100;
/** Units that nobody sees. */
const UNSEEN = 0.25;
/** Frames that are off belong to the same correction if they are so close: it is shown bit by bit. */
const CORRECTION_MS = 500;
/** Steps around a shown one of which the speed counts: those between which it may be interpolated. */
const AROUND_STEPS = 6;

/** Whether the time up to a frame was too long to judge it. @param {Frame} before @param {Frame} frame */
export const isHitch = (before, frame) => frame.timeMs - before.timeMs > FRAME_MS_MAX;

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
 * Keys that were pressed while the ship was at rest, and how far the first frame after each shows it to have
 * moved that way.
 * @param {Log} log
 * @returns {{ timeMs: number, units: number }[]}
 */
export function answersOf({ frames, events }) {
  const answers = [];
  for (const { type, code, timeMs } of events) {
    const [right, down] = KEYS.get(code) ?? [0, 0];
    const after = frames.findIndex((frame) => frame.timeMs > timeMs);
    // The last frame that began before the key may have been drawn after it.
    const rest = frames.slice(0, Math.max(after - 1, 0)).filter((frame) => frame.timeMs > timeMs - REST_MS);
    const isKey = type === "keydown" && (right !== 0 || down !== 0);
    const [from, to] = [rest[0]?.own ?? null, frames[after]?.own ?? null];
    if (!isKey || from === null || to === null || isHitch(frames[after - 1], frames[after])) continue;
    const isAtRest = rest.every(
      ({ own, buttons }) => own !== null && distance(own, from) < UNSEEN && (buttons & STEERING) === 0,
    );
    if (isAtRest) answers.push({ timeMs, units: (to.x - from.x) * right + (to.y - from.y) * down });
  }
  return answers;
}

/**
 * Frames in which the own ship was shown otherwise than its player pressed, those of one correction as one;
 * and the time that could be judged: all of it but what follows hitches.
 * @param {Log} log
 */
export function correctionsOf({ frames }) {
  const pressed = pressedIn(frames);
  let [seconds, last, hitchMs] = [0, -Infinity, -Infinity];
  /** @type {{ timeMs: number, units: number }[]} */
  const corrections = [];
  for (let at = 1; at < frames.length; at++) {
    const [before, frame] = [frames[at - 1], frames[at]];
    const { timeMs, own, ownStep } = frame;
    if (isHitch(before, frame)) hitchMs = timeMs;
    if (timeMs < hitchMs + HITCH_MS) continue;
    seconds += (timeMs - before.timeMs) / 1_000;
    if (own === null || before.own === null || ownStep === null || before.ownStep === null) continue;
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
  for (const { own, ownStep } of frames) {
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
  let [judged, hitches, flown] = [0, 0, 0];
  /** @type {{ timeMs: number, units: number, allowed: number }[]} */
  const jumps = [];
  for (let at = 1; at < frames.length; at++) {
    const [before, frame] = [frames[at - 1], frames[at]];
    if (isHitch(before, frame)) hitches++;
    const [from, to] = [before.shownStep, frame.shownStep];
    if (isHitch(before, frame) || from === null || to === null) continue;
    const steps = (frame.timeMs - before.timeMs) * STEPS_PER_MS;
    for (const ship of frame.others.filter(({ kind }) => kind === "ship")) {
      const was = before.others.find(({ alias }) => alias === ship.alias);
      if (was === undefined) continue;
      const speed = flights.speed(ship.what, Math.min(from, to) - AROUND_STEPS, to + AROUND_STEPS);
      const [units, allowed] = [distance(was, ship), 2 * speed * steps + UNSEEN];
      judged++;
      flown += units;
      if (units > allowed) jumps.push({ timeMs: frame.timeMs, units, allowed });
    }
  }
  return { jumps, judged, flown, hitches: hitches / frames.length };
}

/**
 * What was pressed in each step: a frame acts in the steps since the frame before it.
 * @param {Frame[]} frames
 */
function pressedIn(frames) {
  /** @type {Map<number, number>} */
  const pressed = new Map();
  let last = frames[0].step;
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

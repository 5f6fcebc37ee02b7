/**
 * A log of what was shown, frame by frame, for tools and tests: with `?log=1` in the address it is kept, as
 * `netloomFrames` of the window, and a button saves it as JSON.
 *
 * Each frame has its time, when it was really drawn, the newest step that the player acted in, the steps
 * that are shown of the own ship and of everything else, what was pressed, where the own ship is shown, and
 * where the others are. Places are in units. Keys and beams are logged as they happen, with their times. The
 * clock is performance.now().
 */

import { element } from "/common/words.js";

/** Ten minutes at 60 frames a second; the oldest are forgotten. */
const FRAMES_MAX = 36_000;
const EVENTS_MAX = 20_000;

/**
 * @typedef {object} LoggedFrame
 * @property {number} timeMs
 * @property {number} drawnMs
 * @property {number} step
 * @property {number | null} ownStep
 * @property {number | null} shownStep
 * @property {number} buttons
 * @property {{ seat: number, x: number, y: number, down: number } | null} own
 * @property {{ kind: "ship" | "enemy", alias: number, what: number, x: number, y: number }[]} others
 *   `what` is
 *   the seat of a ship, the kind of an enemy
 */

/** @typedef {{ timeMs: number, type: string, [detail: string]: unknown }} LoggedEvent */

/** See the module. */
export class FrameLog {
  /** @type {LoggedFrame[]} */
  frames = [];
  /** Keys, calls of beams and their hits. @type {LoggedEvent[]} */
  events = [];

  constructor() {
    for (const type of /** @type {const} */ (["keydown", "keyup"])) {
      addEventListener(type, ({ code, repeat }) => {
        if (!repeat) this.note(type, { code });
      });
    }
    const save = element("save-frames", HTMLButtonElement);
    save.hidden = false;
    save.addEventListener("click", () => this.#save());
    Object.defineProperty(globalThis, "netloomFrames", { value: this });
  }

  /**
   * @param {string} type
   * @param {object} details
   */
  note(type, details) {
    if (this.events.length === EVENTS_MAX) this.events.shift();
    this.events.push({ timeMs: performance.now(), type, ...details });
  }

  /** @param {import("/netloom/index.js").Client} client */
  attach(client) {
    client.on("call", ({ name, args }) => {
      if (name === "beam" || name === "beam_hits") this.note(name, { args: [...args] });
    });
  }

  /**
   * @param {import("/rtype/cast.js").Cast} cast
   * @param {number} step
   * @param {import("/netloom/index.js").Client} client
   * @param {number} buttons
   */
  add(cast, step, { ownStep, shownStep }, buttons) {
    /** @type {LoggedFrame} */
    const frame = {
      ...{ timeMs: cast.nowMs, drawnMs: performance.now() },
      ...{ step, ownStep, shownStep, buttons, own: null, others: [] },
    };
    for (const { id, seat, x, y, down, isOwn } of cast.ships) {
      if (isOwn) frame.own = { seat, x, y, down };
      else if (down === 0) frame.others.push({ kind: "ship", alias: id, what: seat, x, y });
    }
    for (const { id, kind, x, y } of cast.enemies) {
      frame.others.push({ kind: "enemy", alias: id, what: kind, x, y });
    }
    if (this.frames.length === FRAMES_MAX) this.frames.shift();
    this.frames.push(frame);
  }

  #save() {
    const json = JSON.stringify({ frames: this.frames, events: this.events });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([json], { type: "application/json" }));
    link.download = "netloom-frames.json";
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

/**
 * What the player wants, from keys and from a finger or the mouse on the yard.
 *
 * Keys count while nothing else has the focus that uses them: arrows move a slider where one is focused. A
 * drag on the yard is a stick whose middle is where it began. A leap is asked for once per press and kept
 * until a step takes it.
 */

import { walk } from "/cubes/game.js";

/** @typedef {import("/netloom/index.js").Client} Client */

/** @type {Map<string, readonly [right: number, up: number]>} */
const WAYS = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, 1]],
  ["ArrowDown", [0, -1]],
  ["KeyA", [-1, 0]],
  ["KeyD", [1, 0]],
  ["KeyW", [0, 1]],
  ["KeyS", [0, -1]],
]);
/** How far a finger moves before it means something. */
const STICK_PIXELS_MIN = 10;
/** The sine of 22.5°: beyond it a direction is across. */
const ACROSS = 0.383;

/** See the module. */
export class Controls {
  /** Where a drag began and where it is; null without one. */
  stick = /** @type {{ fromX: number, fromY: number, x: number, y: number } | null} */ (null);
  /** @type {ReturnType<Client["predict"]> | null} */
  own = null;
  /** @type {Set<string>} */
  #keys = new Set();
  #wantsLeap = false;
  #yard;

  /**
   * @param {HTMLCanvasElement} yard
   * @param {HTMLButtonElement} leap
   */
  constructor(yard, leap) {
    this.#yard = yard;
    addEventListener("keydown", (event) => this.#handleKey(event));
    addEventListener("keyup", (event) => this.#keys.delete(event.code));
    // A key that is let go elsewhere is never told of.
    addEventListener("blur", () => this.#letGo());
    document.addEventListener("visibilitychange", () => this.#letGo());
    leap.addEventListener("click", () => {
      this.#wantsLeap = true;
    });
    yard.addEventListener("pointerdown", (event) => this.#handleDown(event));
    yard.addEventListener("pointermove", (event) => this.#handleMove(event));
    for (const end of /** @type {const} */ (["pointerup", "pointercancel", "lostpointercapture"])) {
      yard.addEventListener(end, () => {
        this.stick = null;
      });
    }
  }

  /** @param {Client} client */
  attach(client) {
    this.own = client.predict("Walker", walk);
    client.setInput(() => this.#act());
  }

  /** What the player does in a step. */
  #act() {
    let [right, up] = this.#stickWay();
    for (const key of this.#keys) {
      const [byKeyRight, byKeyUp] = WAYS.get(key) ?? [0, 0];
      right += byKeyRight;
      up += byKeyUp;
    }
    // The server refuses the whole step of a walker that leaps too early.
    const dash = this.#wantsLeap && this.own?.state?.rest === 0 && (right !== 0 || up !== 0);
    this.#wantsLeap = false;
    return { right: Math.sign(right), up: Math.sign(up), dash };
  }

  #stickWay() {
    if (this.stick === null) return [0, 0];
    const { fromX, fromY, x, y } = this.stick;
    const [dx, dy] = [x - fromX, fromY - y];
    const length = Math.hypot(dx, dy);
    if (length < STICK_PIXELS_MIN) return [0, 0];
    return [dx, dy].map((part) => (Math.abs(part) > ACROSS * length ? Math.sign(part) : 0));
  }

  /** @param {KeyboardEvent} event */
  #handleKey(event) {
    const isFree = event.target === document.body || event.target === this.#yard;
    if (!isFree || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.code === "Space") this.#wantsLeap ||= !event.repeat;
    else if (WAYS.has(event.code)) this.#keys.add(event.code);
    else return;
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  #handleDown(event) {
    this.#yard.setPointerCapture(event.pointerId);
    const [x, y] = [event.offsetX, event.offsetY];
    this.stick = { fromX: x, fromY: y, x, y };
  }

  /** @param {PointerEvent} event */
  #handleMove(event) {
    if (this.stick === null) return;
    this.stick.x = event.offsetX;
    this.stick.y = event.offsetY;
  }

  #letGo() {
    this.#keys.clear();
    this.stick = null;
  }
}

/**
 * What the player presses: keys, a gamepad, or fingers on the field.
 *
 * Keys count while nothing else has the focus that uses them: arrows move a slider where one is focused. A
 * finger on the left half of the field is a stick whose middle is where it began; the buttons on the right
 * are held like keys.
 */

import { Button } from "/rtype/rules/kinds.js";

/** @type {Map<string, number>} */
const KEYS = new Map([
  ["ArrowUp", Button.UP],
  ["ArrowDown", Button.DOWN],
  ["ArrowLeft", Button.LEFT],
  ["ArrowRight", Button.RIGHT],
  ["KeyW", Button.UP],
  ["KeyS", Button.DOWN],
  ["KeyA", Button.LEFT],
  ["KeyD", Button.RIGHT],
  ["Space", Button.SHOOT],
  ["KeyX", Button.SHOOT],
  ["ShiftLeft", Button.BEAM],
  ["ShiftRight", Button.BEAM],
  ["KeyC", Button.BEAM],
]);
/** Keys for one of an offer, by their place in it. */
const CHOICES = ["Digit1", "Digit2", "Digit3"];
const PAD_CHOICES_KEYS = ["Numpad1", "Numpad2", "Numpad3"];

/** Buttons of a gamepad, in the order of the standard layout. */
const PAD = new Map([
  [0, Button.SHOOT],
  [7, Button.SHOOT],
  [1, Button.BEAM],
  [6, Button.BEAM],
  [12, Button.UP],
  [13, Button.DOWN],
  [14, Button.LEFT],
  [15, Button.RIGHT],
]);
const PAD_CHOICES = [2, 3, 5];
const PAD_START = 9;
const PAD_DEAD_ZONE = 0.35;

/** How far a finger moves before it means something. */
const STICK_PIXELS_MIN = 10;
/** The sine of 22.5°: beyond it a direction is across. */
const ACROSS = 0.383;

/** See the module. */
export class Controls {
  /** Where a finger began and where it is, in pixels of the field's element; null without one. */
  stick = /** @type {{ fromX: number, fromY: number, x: number, y: number } | null} */ (null);
  /** Hears of the place of a choice, from 0 on. @type {(choice: number) => void} */
  onChoice = () => {};
  /** Hears of Enter, or what is Enter elsewhere. */
  onStart = () => {};
  #field;
  /** @type {Map<string, number>} by key or button */
  #held = new Map();
  #padButtons = 0;
  /** @type {Set<number>} buttons of the gamepad that were down in the last frame */
  #padDown = new Set();
  #stickPointer = -1;

  /**
   * @param {HTMLCanvasElement} field
   * @param {HTMLButtonElement} fire
   * @param {HTMLButtonElement} beam
   */
  constructor(field, fire, beam) {
    this.#field = field;
    addEventListener("keydown", (event) => this.#handleKey(event));
    addEventListener("keyup", (event) => this.#held.delete(event.code));
    // A key that is let go elsewhere is never told of.
    addEventListener("blur", () => this.#letGo());
    document.addEventListener("visibilitychange", () => this.#letGo());
    this.#hold(fire, "fire", Button.SHOOT);
    this.#hold(beam, "beam", Button.BEAM);
    field.addEventListener("pointerdown", (event) => this.#handleDown(event));
    field.addEventListener("pointermove", (event) => this.#handleMove(event));
    for (const end of /** @type {const} */ (["pointerup", "pointercancel", "lostpointercapture"])) {
      field.addEventListener(end, ({ pointerId }) => {
        if (pointerId === this.#stickPointer) this.#letGoStick();
      });
    }
  }

  /** What is pressed, as a mask. */
  get buttons() {
    let buttons = this.#padButtons | this.#stickButtons();
    for (const button of this.#held.values()) buttons |= button;
    return buttons;
  }

  /** Looks at gamepads, which tell nothing by themselves. */
  poll() {
    this.#padButtons = 0;
    const down = new Set();
    for (const pad of navigator.getGamepads?.() ?? []) {
      if (pad === null || !pad.connected) continue;
      pad.buttons.forEach(({ pressed }, number) => {
        if (pressed) down.add(number);
      });
      const [right = 0, low = 0] = pad.axes;
      if (right < -PAD_DEAD_ZONE) this.#padButtons |= Button.LEFT;
      if (right > PAD_DEAD_ZONE) this.#padButtons |= Button.RIGHT;
      if (low < -PAD_DEAD_ZONE) this.#padButtons |= Button.UP;
      if (low > PAD_DEAD_ZONE) this.#padButtons |= Button.DOWN;
    }
    for (const number of down) {
      this.#padButtons |= PAD.get(number) ?? 0;
      if (this.#padDown.has(number)) continue;
      if (PAD_CHOICES.includes(number)) this.onChoice(PAD_CHOICES.indexOf(number));
      if (number === PAD_START) this.onStart();
    }
    this.#padDown = down;
  }

  /** @param {KeyboardEvent} event */
  #handleKey(event) {
    const isFree = event.target === document.body || event.target === this.#field;
    if (!isFree || event.ctrlKey || event.metaKey || event.altKey) return;
    const button = KEYS.get(event.code);
    const choice = Math.max(CHOICES.indexOf(event.code), PAD_CHOICES_KEYS.indexOf(event.code));
    if (button !== undefined) this.#held.set(event.code, button);
    else if (choice >= 0 && !event.repeat) this.onChoice(choice);
    else if (event.code === "Enter" && !event.repeat) this.onStart();
    else return;
    event.preventDefault();
  }

  /**
   * A button of the page that is held like a key.
   * @param {HTMLButtonElement} element
   * @param {string} name
   * @param {number} button
   */
  #hold(element, name, button) {
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.#held.set(name, button);
      event.preventDefault();
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      element.addEventListener(end, () => this.#held.delete(name));
    }
    element.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  #stickButtons() {
    if (this.stick === null) return 0;
    const { fromX, fromY, x, y } = this.stick;
    const [dx, dy] = [x - fromX, y - fromY];
    const length = Math.hypot(dx, dy);
    if (length < STICK_PIXELS_MIN) return 0;
    const across = ACROSS * length;
    return (
      (dx > across ? Button.RIGHT : dx < -across ? Button.LEFT : 0) |
      (dy > across ? Button.DOWN : dy < -across ? Button.UP : 0)
    );
  }

  /** @param {PointerEvent} event */
  #handleDown(event) {
    const isLeft = event.offsetX < this.#field.clientWidth / 2;
    if (event.pointerType === "mouse" || !isLeft || this.stick !== null) return;
    this.#field.setPointerCapture(event.pointerId);
    this.#stickPointer = event.pointerId;
    const [x, y] = [event.offsetX, event.offsetY];
    this.stick = { fromX: x, fromY: y, x, y };
  }

  /** @param {PointerEvent} event */
  #handleMove(event) {
    if (this.stick === null || event.pointerId !== this.#stickPointer) return;
    this.stick.x = event.offsetX;
    this.stick.y = event.offsetY;
  }

  #letGoStick() {
    this.stick = null;
    this.#stickPointer = -1;
  }

  #letGo() {
    this.#held.clear();
    this.#letGoStick();
  }
}

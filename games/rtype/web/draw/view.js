/**
 * The canvas: the field in its proportions, as large as there is room; or two of them side by side, what the
 * server last said and what is shown.
 */

import { CrispCanvas } from "/common/canvas.js";
import { plain } from "/common/words.js";
import { Effects } from "/rtype/draw/effects.js";
import { clipField, drawCast, drawGhosts } from "/rtype/draw/field.js";
import { SEAT_COLOURS } from "/rtype/draw/palette.js";
import { Sprites } from "/rtype/draw/sprites.js";
import { Stars } from "/rtype/draw/stars.js";
import { BOT } from "/rtype/protocol.js";
import { HEIGHT, WIDTH } from "/rtype/rules/constants.js";

/** @typedef {import("/rtype/cast.js").Cast} Cast */

const BEYOND = "#04060a";
const NAME_CHARACTERS_MAX = 16;
const NAME_FONT = "600 12px system-ui, sans-serif";
/** Names above ships where these are large enough to be told apart without. */
const NAME_SCALE_MIN = 0.3;
/** A longer frame was no frame: the tab was asleep. */
const FRAME_MS_MAX = 100;
const SPLIT_GAP = 6;

/**
 * Where the field is on the canvas, in CSS pixels.
 * @typedef {{ x: number, y: number, scale: number }} Pane
 */

/** See the module. */
export class View {
  effects = new Effects();
  isSplit = false;
  hasGhosts = false;
  /** Who flies a ship. @type {(pilot: number) => string} */
  nameOf = () => "";
  /** A finger that steers. @type {() => { fromX: number, fromY: number, x: number, y: number } | null} */
  stickOf = () => null;
  #canvas;
  #sprites = new Sprites();
  #stars = new Stars();
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #drawnAtMs = 0;

  /** @param {HTMLCanvasElement} element */
  constructor(element) {
    this.#canvas = new CrispCanvas(element);
  }

  get isStill() {
    return this.#still.matches;
  }

  /** @param {Cast} cast */
  draw(cast) {
    const elapsedMs = Math.min(FRAME_MS_MAX, Math.max(0, cast.nowMs - this.#drawnAtMs));
    this.#drawnAtMs = cast.nowMs;
    this.effects.isStill = this.isStill;
    this.effects.advance(elapsedMs);
    this.#stars.advance(elapsedMs / 1_000, cast.phase, this.isStill);
    if (!this.#canvas.isVisible) return;
    const context = this.#canvas.begin();
    context.fillStyle = BEYOND;
    context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
    const panes = this.#panes();
    this.#sprites.setScale(panes[0].scale * context.getTransform().a);
    panes.forEach((pane, index) => {
      const isTruth = this.isSplit && index === 0;
      this.#drawField(context, pane, cast, isTruth);
      if (!isTruth) this.#drawNames(context, pane, cast);
    });
    if (this.isSplit) this.#drawTitles(context, panes);
    drawStick(context, this.stickOf());
  }

  /** @returns {Pane[]} */
  #panes() {
    const { width, height } = this.#canvas;
    // On screens that are higher than wide, thumbs need what is below the field.
    if (!this.isSplit) return [fitted(0, 0, width, height, height > width ? 0 : 0.5)];
    if (height > width) {
      const half = (height - SPLIT_GAP) / 2;
      return [fitted(0, 0, width, half), fitted(0, half + SPLIT_GAP, width, half)];
    }
    const half = (width - SPLIT_GAP) / 2;
    return [fitted(0, 0, half, height), fitted(half + SPLIT_GAP, 0, half, height)];
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Pane} pane
   * @param {Cast} cast
   * @param {boolean} isTruth
   */
  #drawField(context, { x, y, scale }, cast, isTruth) {
    const { effects, isStill } = this;
    context.save();
    context.translate(x, y);
    context.scale(scale, scale);
    clipField(context);
    this.#stars.draw(context, cast.level);
    if (!isTruth) context.translate(effects.shakeX, effects.shakeY);
    drawCast(context, this.#sprites, cast, { isTruth, isStill });
    if (!isTruth) {
      effects.draw(context, this.#sprites);
      if (this.hasGhosts) drawGhosts(context, cast);
    }
    context.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Pane} pane
   * @param {Cast} cast
   */
  #drawNames(context, { x, y, scale }, cast) {
    if (scale < NAME_SCALE_MIN) return;
    context.font = NAME_FONT;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.lineWidth = 3;
    context.strokeStyle = "rgba(4,6,10,0.8)";
    for (const ship of cast.ships) {
      if (ship.down > 0) continue;
      const words = ship.isOwn ? "you" : ship.pilot === BOT ? "bot" : this.nameOf(ship.pilot);
      const label = plain(words, NAME_CHARACTERS_MAX);
      if (label === "") continue;
      const [at, above] = [x + ship.x * scale, y + (ship.y - 38) * scale];
      context.strokeText(label, at, above);
      context.fillStyle = SEAT_COLOURS[ship.seat];
      context.fillText(label, at, above);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Pane[]} panes
   */
  #drawTitles(context, panes) {
    context.font = "600 13px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "bottom";
    ["What the server last said", "What you see"].forEach((title, index) => {
      const { x, y, scale } = panes[index];
      const [left, bottom] = [x + 8, y + HEIGHT * scale - 8];
      context.fillStyle = "rgba(4,6,10,0.8)";
      context.fillRect(left - 4, bottom - 18, context.measureText(title).width + 8, 22);
      context.fillStyle = "#e8eef5";
      context.fillText(title, left, bottom);
    });
  }
}

/**
 * As large as it fits.
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {number} [share] of what is left of the height that is above it
 * @returns {Pane}
 */
function fitted(x, y, width, height, share = 0.5) {
  const scale = Math.min(width / WIDTH, height / HEIGHT);
  return { x: x + (width - WIDTH * scale) / 2, y: y + (height - HEIGHT * scale) * share, scale };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{ fromX: number, fromY: number, x: number, y: number } | null} stick
 */
function drawStick(context, stick) {
  if (stick === null) return;
  context.strokeStyle = "rgba(232,238,245,0.6)";
  context.fillStyle = "rgba(92,200,255,0.5)";
  context.lineWidth = 2;
  context.beginPath();
  context.arc(stick.fromX, stick.fromY, 44, 0, 2 * Math.PI);
  context.stroke();
  const far = Math.max(1, Math.hypot(stick.x - stick.fromX, stick.y - stick.fromY) / 44);
  context.beginPath();
  context.arc(
    stick.fromX + (stick.x - stick.fromX) / far,
    stick.fromY + (stick.y - stick.fromY) / far,
    18,
    0,
    2 * Math.PI,
  );
  context.fill();
}

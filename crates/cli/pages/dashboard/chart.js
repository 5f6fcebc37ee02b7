/**
 * Charts of the last five minutes.
 *
 * Figures of one unit share a chart, which finds its own scale. They differ by colour and by how their line
 * is drawn, so that nobody needs to tell colours apart. A pointer, or the arrow keys, show what was at a
 * moment.
 */

import { CrispCanvas } from "/common/canvas.js";
import { make } from "/common/words.js";
import { trimmed } from "./figures.js";

const SAMPLES = 300;
const COLOURS = { blue: "#5cc8ff", amber: "#ffb454", white: "#e8eef5" };
/** How lines are drawn. @type {Record<keyof typeof COLOURS, number[]>} */
const DASHES = { blue: [], amber: [5, 3], white: [1, 3] };
const GROUND = "#0b0f14";
const RULE = "#22303e";
const SOFT = "#a3b3c4";
const FONT = "11px system-ui, sans-serif";
const TOP = 16;
const BOTTOM = 4;

/**
 * @typedef {object} Line
 * @property {string} label
 * @property {string} figure what the server calls it
 * @property {keyof typeof COLOURS} colour
 */

/**
 * @typedef {object} ChartOptions
 * @property {string} title
 * @property {number} least what the scale reaches at least
 * @property {(value: number) => string} format
 * @property {Line[]} lines
 */

/** See the module. */
export class Chart {
  #options;
  #canvas;
  #element;
  /** What is said of each line. @type {HTMLElement[]} */
  #values = [];
  /** @type {Record<string, number[]>} */
  #figures = {};
  /** How many samples ago is looked at; `null` for now. @type {number | null} */
  #ago = null;

  /**
   * @param {HTMLElement} parent
   * @param {ChartOptions} options
   */
  constructor(parent, options) {
    this.#options = options;
    const figure = make("figure", "", "chart");
    const caption = make("figcaption");
    caption.append(make("b", options.title));
    for (const { label, colour } of options.lines) {
      const key = make("span", `${label} `, "key");
      key.dataset.colour = colour;
      const value = make("span", "", "value");
      key.append(value);
      caption.append(key);
      this.#values.push(value);
    }
    this.#element = make("canvas");
    this.#element.tabIndex = 0;
    this.#element.setAttribute("role", "img");
    this.#element.setAttribute("aria-label", `${options.title} over the last five minutes`);
    figure.append(caption, this.#element);
    parent.append(figure);
    this.#canvas = new CrispCanvas(this.#element);
    new ResizeObserver(() => this.draw()).observe(this.#element);
    this.#listen();
  }

  #listen() {
    this.#element.addEventListener("pointermove", ({ offsetX }) => {
      const { width } = this.#canvas;
      this.#look(Math.round((1 - offsetX / Math.max(width, 1)) * (SAMPLES - 1)));
    });
    this.#element.addEventListener("pointerleave", () => this.#look(null));
    this.#element.addEventListener("blur", () => this.#look(null));
    this.#element.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.#look((this.#ago ?? 0) + step * (event.shiftKey ? 10 : 1));
    });
  }

  /** @param {number | null} ago */
  #look(ago) {
    this.#ago = ago === null ? null : Math.min(Math.max(ago, 0), this.#length() - 1);
    this.draw();
  }

  #length() {
    return Math.max(...this.#options.lines.map(({ figure }) => this.#figures[figure]?.length ?? 0), 1);
  }

  /** @param {Record<string, number[]>} figures */
  update(figures) {
    this.#figures = figures;
    this.draw();
  }

  draw() {
    const { lines, format, least } = this.#options;
    const series = lines.map(({ figure }) => this.#figures[figure] ?? []);
    series.forEach((values, index) => {
      const value = values[values.length - 1 - (this.#ago ?? 0)];
      this.#values[index].textContent = value === undefined ? "" : format(value);
    });
    if (!this.#canvas.isVisible) return;
    const { width, height } = this.#canvas;
    const context = this.#canvas.begin();
    const highest = roundUp(Math.max(least, ...series.flat()));
    const x = (/** @type {number} */ ago) => width - 1 - (ago / (SAMPLES - 1)) * (width - 2);
    const y = (/** @type {number} */ value) => TOP + (1 - value / highest) * (height - TOP - BOTTOM);
    context.fillStyle = GROUND;
    context.fillRect(0, 0, width, height);
    this.#rule(context, x, y(highest), y(0));
    context.font = FONT;
    context.fillStyle = SOFT;
    context.fillText(trimmed(format(highest)), 4, 11);
    if (this.#ago !== null) this.#mark(context, x(this.#ago));
    // The first line is drawn last: it is what a chart is about.
    for (let index = series.length - 1; index >= 0; index--) {
      const { colour } = lines[index];
      trace(context, series[index], x, y, colour, index === 0 ? y(0) : null);
    }
  }

  /**
   * A line for each minute, and for nothing and most.
   * @param {CanvasRenderingContext2D} context
   * @param {(ago: number) => number} x
   * @param {number} top
   * @param {number} bottom
   */
  #rule(context, x, top, bottom) {
    context.strokeStyle = RULE;
    context.lineWidth = 1;
    context.setLineDash([]);
    context.beginPath();
    for (let ago = 60; ago < SAMPLES; ago += 60) {
      const at = Math.round(x(ago)) + 0.5;
      context.moveTo(at, top);
      context.lineTo(at, bottom);
    }
    for (const at of [top, bottom]) {
      context.moveTo(0, Math.round(at) + 0.5);
      context.lineTo(this.#canvas.width, Math.round(at) + 0.5);
    }
    context.stroke();
  }

  /**
   * The moment that is looked at.
   * @param {CanvasRenderingContext2D} context
   * @param {number} at
   */
  #mark(context, at) {
    const { width, height } = this.#canvas;
    context.strokeStyle = SOFT;
    context.setLineDash([2, 2]);
    context.beginPath();
    context.moveTo(Math.round(at) + 0.5, TOP);
    context.lineTo(Math.round(at) + 0.5, height);
    context.stroke();
    const words = this.#ago === 0 ? "now" : `${this.#ago} s ago`;
    const wide = context.measureText(words).width;
    context.fillText(words, Math.min(Math.max(at - wide / 2, 60), width - wide - 2), 11);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} values
 * @param {(ago: number) => number} x
 * @param {(value: number) => number} y
 * @param {keyof typeof COLOURS} colour
 * @param {number | null} ground what lies between the line and this is tinted
 */
function trace(context, values, x, y, colour, ground) {
  if (values.length === 0) return;
  context.setLineDash(DASHES[colour]);
  context.strokeStyle = COLOURS[colour];
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.beginPath();
  values.forEach((value, index) => context.lineTo(x(values.length - 1 - index), y(value)));
  context.stroke();
  context.setLineDash([]);
  if (ground === null) return;
  context.lineTo(x(0), ground);
  context.lineTo(x(values.length - 1), ground);
  context.globalAlpha = 0.14;
  context.fillStyle = COLOURS[colour];
  context.fill();
  context.globalAlpha = 1;
}

/** The next number that reads well: 1, 2 or 5 times a power of ten. @param {number} value */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const found = [1, 2, 5].find((step) => value <= step * power * 1.0001);
  return (found ?? 10) * power;
}

/** How long ticks take: a bar for each bucket, and where most of them end. */

import { CrispCanvas } from "/common/canvas.js";
import { make } from "/common/words.js";
import { count, milliseconds, trimmed } from "./figures.js";

const GROUND = "#0b0f14";
const RULE = "#22303e";
const SOFT = "#a3b3c4";
const BAR = "#5cc8ff";
/** Ticks that take all the time there is until the next one. */
const LATE_BAR = "#ffb454";
const FONT = "11px system-ui, sans-serif";
const FOOT = 16;
const HEAD = 4;

/** See the module. */
export class Histogram {
  #canvas;
  #element = make("canvas");
  #words = make("dl", "", "marks");
  /** @type {import("./feed.js").Ticks | null} */
  #ticks = null;
  #limitMs = Infinity;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.#element.setAttribute("role", "img");
    const figure = make("figure", "", "histogram");
    figure.append(this.#element, this.#words);
    parent.append(figure);
    this.#canvas = new CrispCanvas(this.#element);
    new ResizeObserver(() => this.draw()).observe(this.#element);
  }

  /**
   * @param {import("./feed.js").Ticks} ticks
   * @param {number} stepsPerSecond of the fastest room
   */
  update(ticks, stepsPerSecond) {
    this.#ticks = ticks;
    this.#limitMs = stepsPerSecond > 0 ? 1_000 / stepsPerSecond : Infinity;
    const marks = [
      ["p50", ticks.p50_ms],
      ["p99", ticks.p99_ms],
      ["longest", ticks.longest_ms],
      ["ever", ticks.longest_ever_ms],
    ];
    const parts = marks.flatMap(([name, value]) => [
      make("dt", String(name)),
      make("dd", ticks.count === 0 ? "–" : milliseconds(Number(value))),
    ]);
    this.#words.replaceChildren(...parts);
    this.#element.setAttribute(
      "aria-label",
      `${count(ticks.count)} ticks: half take up to ${milliseconds(ticks.p50_ms)}, ` +
        `99 of 100 up to ${milliseconds(ticks.p99_ms)}`,
    );
    this.draw();
  }

  draw() {
    if (this.#ticks === null || !this.#canvas.isVisible) return;
    const { counts, bucket_ends_ms: ends, p50_ms, p99_ms } = this.#ticks;
    const { width, height } = this.#canvas;
    const context = this.#canvas.begin();
    context.fillStyle = GROUND;
    context.fillRect(0, 0, width, height);
    const bottom = height - FOOT;
    const step = width / counts.length;
    const most = Math.max(...counts, 1);
    context.font = FONT;
    counts.forEach((ticks, index) => {
      // A single tick among thousands is what one looks for: it must be seen.
      const share = ticks === 0 ? 0 : Math.max(Math.sqrt(ticks / most), 0.03);
      const tall = share * (bottom - HEAD);
      const beginMs = index === 0 ? 0 : ends[index - 1];
      context.fillStyle = beginMs >= this.#limitMs * 0.99 ? LATE_BAR : BAR;
      context.fillRect(index * step + 1, bottom - tall, Math.max(step - 2, 1), tall);
    });
    context.fillStyle = RULE;
    context.fillRect(0, bottom, width, 1);
    context.fillStyle = SOFT;
    for (const [index, end] of ends.entries()) {
      if (![0.1, 1, 10, 100].includes(end)) continue;
      const words = trimmed(milliseconds(end));
      context.fillRect(Math.round((index + 1) * step), bottom, 1, 4);
      context.fillText(words, (index + 1) * step - context.measureText(words).width / 2, height - 3);
    }
    this.#mark(context, p50_ms, step, bottom);
    this.#mark(context, p99_ms, step, bottom);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} ms
   * @param {number} step
   * @param {number} bottom
   */
  #mark(context, ms, step, bottom) {
    const ends = this.#ticks?.bucket_ends_ms ?? [];
    const bucket = ends.findIndex((end) => ms <= end);
    if (ms === 0 || bucket < 0) return;
    context.strokeStyle = "#e8eef5";
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(Math.round((bucket + 1) * step) - 0.5, HEAD);
    context.lineTo(Math.round((bucket + 1) * step) - 0.5, bottom);
    context.stroke();
    context.setLineDash([]);
  }
}

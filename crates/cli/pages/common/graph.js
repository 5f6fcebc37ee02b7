/**
 * The net graph: what the client measures, over the last half minute.
 *
 * Figures of one unit share a strip, and every strip finds its own scale. A moment is a tenth of a second;
 * one in which nothing was measured, because the tab was asleep or there was no connection, is a gap and not
 * a line through it.
 */

import { CrispCanvas } from "/common/canvas.js";
import { LossMeter } from "/common/loss.js";
import { make } from "/common/words.js";

/** @typedef {import("/netloom/index.js").Client} Client */
/** @typedef {ReturnType<Client["stats"]> & { lossUpPercent: number, lossDownPercent: number }} Stats */

const MOMENT_MS = 100;
const MOMENTS = 300;
/** A page that stood still for longer was asleep. */
const HITCH_MOMENTS = 10;
/** How often figures in words change: faster cannot be read. */
const WORDS_MS = 300;
const STILL_MS = 1_000;
const COLOURS = { blue: "#5cc8ff", amber: "#ffb454" };
const SHADE = "rgb(92 200 255 / 16%)";
const GROUND = "#0b0f14";
const RULE = "#22303e";
const SOFT = "#a3b3c4";

/**
 * @typedef {{ label: string, colour: keyof typeof COLOURS, unit: string, of: (stats: Stats) => number }} Figure
 */

/** @type {{ title: string, least: number, figures: Figure[] }[]} */
const STRIPS = [
  {
    title: "Round trip and its jitter",
    least: 20,
    figures: [
      { label: "Round trip", colour: "blue", unit: "ms", of: (stats) => stats.pingMs },
      { label: "Jitter", colour: "amber", unit: "ms", of: (stats) => stats.jitterMs },
    ],
  },
  {
    title: "Packets lost on the way up and down",
    least: 5,
    figures: [
      { label: "Loss up", colour: "blue", unit: "%", of: (stats) => stats.lossUpPercent },
      { label: "Loss down", colour: "amber", unit: "%", of: (stats) => stats.lossDownPercent },
    ],
  },
  {
    title: "Traffic",
    least: 5,
    figures: [
      { label: "In", colour: "blue", unit: "kB/s", of: (stats) => stats.bytesReceivedPerSecond / 1_000 },
      { label: "Out", colour: "amber", unit: "kB/s", of: (stats) => stats.bytesSentPerSecond / 1_000 },
    ],
  },
  {
    title: "Age of the newest snapshot, and how far the view is behind",
    least: 100,
    figures: [
      { label: "Snapshot age", colour: "blue", unit: "ms", of: (stats) => stats.snapshotAgeMs },
      { label: "View delay", colour: "amber", unit: "ms", of: (stats) => stats.interpolationDelayMs },
    ],
  },
  {
    title: "Corrections of what was predicted",
    least: 2,
    figures: [{ label: "Corrections", colour: "blue", unit: "", of: (stats) => stats.corrections }],
  },
];

/** See the module. */
export class Graphs {
  #strips;
  #up = new LossMeter();
  #down = new LossMeter();
  #sampledAtMs = 0;
  #drawnAtMs = 0;
  #saidAtMs = 0;
  #still = matchMedia("(prefers-reduced-motion: reduce)");

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.#strips = STRIPS.map((strip) => new Strip(parent, strip));
  }

  /** The figures of another client have nothing to do with those before. */
  attach() {
    for (const strip of this.#strips) strip.skip(1);
    this.#up.reset();
    this.#down.reset();
  }

  /** Of the last ten seconds. */
  get loss() {
    return { upPercent: this.#up.percent, downPercent: this.#down.percent };
  }

  /**
   * @param {Client} client
   * @param {number} nowMs
   */
  update(client, nowMs) {
    const passed = Math.floor((nowMs - this.#sampledAtMs) / MOMENT_MS);
    if (passed < 1) return;
    this.#sampledAtMs = nowMs - ((nowMs - this.#sampledAtMs) % MOMENT_MS);
    const stats = this.#measure(client);
    const isTold = nowMs - this.#saidAtMs >= WORDS_MS;
    if (isTold) this.#saidAtMs = nowMs;
    const isDrawn = !this.#still.matches || nowMs - this.#drawnAtMs >= STILL_MS;
    if (isDrawn) this.#drawnAtMs = nowMs;
    for (const strip of this.#strips) {
      if (client.state === "connected" && passed <= HITCH_MOMENTS) strip.add(stats, passed);
      else strip.skip(passed);
      if (isTold) strip.tell(client.state === "connected" ? stats : null);
      if (isDrawn) strip.draw();
    }
  }

  /**
   * @param {Client} client
   * @returns {Stats}
   */
  #measure(client) {
    const stats = client.stats();
    this.#up.add(stats.packetsLost, stats.packetsSent);
    this.#down.add(stats.packetsMissing, stats.packetsReceived + stats.packetsMissing);
    return { ...stats, lossUpPercent: this.#up.percent, lossDownPercent: this.#down.percent };
  }
}

/** Figures of one unit. */
class Strip {
  #figures;
  #least;
  #canvas;
  #outputs;
  #values;
  #at = 0;

  /**
   * @param {HTMLElement} parent
   * @param {{ title: string, least: number, figures: Figure[] }} strip
   */
  constructor(parent, { title, least, figures }) {
    this.#figures = figures;
    this.#least = least;
    this.#values = figures.map(() => new Float64Array(MOMENTS).fill(NaN));
    const canvas = make("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${title}, over the last ${(MOMENTS * MOMENT_MS) / 1_000} seconds`);
    const caption = make("figcaption");
    this.#outputs = figures.map(({ label, colour }) => {
      const key = make("span", label, "key");
      const output = make("b", "–");
      key.dataset.colour = colour;
      key.append(output);
      caption.append(key);
      return output;
    });
    const figure = make("figure", "", "graph");
    figure.append(caption, canvas);
    parent.append(figure);
    this.#canvas = new CrispCanvas(canvas);
  }

  /**
   * The figures of one moment, or of a few.
   * @param {Stats} stats
   * @param {number} moments
   */
  add(stats, moments) {
    for (let left = moments; left > 0; left--) {
      this.#figures.forEach(({ of }, index) => {
        this.#values[index][this.#at] = of(stats);
      });
      this.#at = (this.#at + 1) % MOMENTS;
    }
  }

  /** Moments without figures. @param {number} moments */
  skip(moments) {
    for (let left = Math.min(moments, MOMENTS); left > 0; left--) {
      for (const values of this.#values) values[this.#at] = NaN;
      this.#at = (this.#at + 1) % MOMENTS;
    }
  }

  /** @param {Stats | null} stats */
  tell(stats) {
    this.#figures.forEach(({ of, unit }, index) => {
      this.#outputs[index].textContent = stats === null ? "–" : inWords(of(stats), unit);
    });
  }

  draw() {
    if (!this.#canvas.isVisible) return;
    const context = this.#canvas.begin();
    const { width, height } = this.#canvas;
    const top = this.#top();
    context.fillStyle = GROUND;
    context.fillRect(0, 0, width, height);
    context.fillStyle = RULE;
    context.fillRect(0, Math.round(height / 2), width, 1);
    this.#values.forEach((values, index) => {
      const line = this.#trace(context, values, top, index === 0);
      context.lineWidth = 1.5;
      context.lineJoin = "round";
      context.strokeStyle = COLOURS[this.#figures[index].colour];
      context.stroke(line);
    });
    context.fillStyle = SOFT;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(`${top} ${this.#figures[0].unit}`, 5, 4);
  }

  /** The end of the scale: the largest value in round numbers. */
  #top() {
    let largest = this.#least;
    for (const values of this.#values) {
      for (const value of values) if (value > largest) largest = value;
    }
    const power = 10 ** Math.floor(Math.log10(largest));
    const digit = [1, 2, 5, 10].find((each) => each * power >= largest) ?? 10;
    return digit * power;
  }

  /**
   * The line through values. What is below it is shaded if it is the first.
   * @param {CanvasRenderingContext2D} context
   * @param {Float64Array} values
   * @param {number} top
   * @param {boolean} isShaded
   */
  #trace(context, values, top, isShaded) {
    const { width, height } = this.#canvas;
    const line = new Path2D();
    const shade = new Path2D();
    let begin = -1;
    for (let moment = 0; moment <= MOMENTS; moment++) {
      const value = moment === MOMENTS ? NaN : values[(this.#at + moment) % MOMENTS];
      const x = (moment / (MOMENTS - 1)) * width;
      if (Number.isNaN(value)) {
        if (begin >= 0) {
          shade.lineTo(((moment - 1) / (MOMENTS - 1)) * width, height);
          shade.lineTo(begin, height);
        }
        begin = -1;
        continue;
      }
      const y = height - 1.5 - (value / top) * (height - 4);
      if (begin < 0) {
        begin = x;
        line.moveTo(x, y);
        shade.moveTo(x, y);
      } else {
        line.lineTo(x, y);
        shade.lineTo(x, y);
      }
    }
    if (isShaded) {
      context.fillStyle = SHADE;
      context.fill(shade);
    }
    return line;
  }
}

/**
 * @param {number} value
 * @param {string} unit
 */
function inWords(value, unit) {
  const digits = unit === "" || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${unit}`.trim();
}

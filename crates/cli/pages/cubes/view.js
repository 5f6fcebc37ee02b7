/**
 * The yard from above.
 *
 * A thousand cubes at sixty frames a second leave no time for a state change each. So the corners of all
 * cubes of a colour are one path: it is filled once, a little lower, as their sides, and once more as their
 * tops. Walkers are few and are drawn one by one.
 */

import { COLOURS, REST_STEPS, YARD_METRES } from "/cubes/game.js";
import { CrispCanvas } from "/common/canvas.js";
import { element, plain } from "/common/words.js";

/** @typedef {import("/netloom/index.js").Client} Client */
/** @typedef {import("/netloom/index.js").NetObject} NetObject */

const TOPS = { red: "#f0736f", green: "#5cc98a", blue: "#5aa5f5", yellow: "#efc55b" };
const SIDES = { red: "#98403f", green: "#2f7a51", blue: "#2e64a0", yellow: "#96762a" };
const GROUND = "#0d131a";
const FLOOR = "#121b25";
const GRID = "#1d2935";
const EDGE = "#3a4d61";
const LABEL = "#e8eef5";
const GRID_METRES = 10;
/** Around the whole yard. */
const MARGIN_METRES = 4;
/** Where the whole yard would be smaller, a part of it is shown at first. */
const COMFORT_PIXELS = 720;
const ZOOM_MAX = 8;
const ZOOM_STEP = 1.4;
const NAME_CHARACTERS_MAX = 20;
const LABEL_FONT = "600 12px system-ui, sans-serif";
/** A walker that the server saw so far away from where it is shown is worth a look. */
const GHOST_METRES = 0.25;

/** What does not change of an object. @typedef {{ colour: number, size: number, number: number }} Look */

/** See the module. */
export class View {
  /** 1 shows the whole yard; 0 until the size of the canvas is known. */
  zoom = 0;
  #canvas;
  #controls;
  /** CSS pixels per metre, and where the middle of the yard is on the canvas. */
  #scale = 1;
  #x = 0;
  #y = 0;
  /** @type {Map<number, { name: string, label: string }>} */
  #labels = new Map();

  /**
   * @param {HTMLCanvasElement} yard
   * @param {import("/cubes/controls.js").Controls} controls
   */
  constructor(yard, controls) {
    this.#canvas = new CrispCanvas(yard);
    this.#controls = controls;
    element("zoom-in", HTMLButtonElement).addEventListener("click", () => this.#zoomBy(ZOOM_STEP));
    element("zoom-out", HTMLButtonElement).addEventListener("click", () => this.#zoomBy(1 / ZOOM_STEP));
    yard.addEventListener("keydown", ({ key }) => {
      if (key === "+" || key === "=") this.#zoomBy(ZOOM_STEP);
      else if (key === "-") this.#zoomBy(1 / ZOOM_STEP);
    });
    yard.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.#zoomBy(Math.exp(-Math.sign(event.deltaY) * 0.15));
      },
      { passive: false },
    );
  }

  /** Names belong to a seat. @param {Client} client */
  attach(client) {
    client.on("welcome", () => this.#labels.clear());
  }

  /** @param {Client} client */
  draw(client) {
    if (!this.#canvas.isVisible) return;
    const context = this.#canvas.begin();
    this.#aim();
    this.#drawFloor(context);
    this.#drawCubes(context, client);
    this.#drawWalkers(context, client);
    this.#drawStick(context);
  }

  /** @param {number} factor */
  #zoomBy(factor) {
    this.zoom = Math.min(ZOOM_MAX, Math.max(1, this.zoom * factor));
  }

  /** Looks at the own walker, as far as the yard goes. */
  #aim() {
    const { width, height } = this.#canvas;
    const extent = YARD_METRES + MARGIN_METRES;
    this.zoom ||= Math.max(1, COMFORT_PIXELS / Math.min(width, height));
    this.#scale = (Math.min(width, height) / (2 * extent)) * this.zoom;
    const [x, y] = this.#controls.own?.object?.position ?? [0, 0];
    const roomX = Math.max(0, extent - width / 2 / this.#scale);
    const roomY = Math.max(0, extent - height / 2 / this.#scale);
    this.#x = width / 2 - Math.min(roomX, Math.max(-roomX, x)) * this.#scale;
    this.#y = height / 2 + Math.min(roomY, Math.max(-roomY, y)) * this.#scale;
  }

  /** @param {CanvasRenderingContext2D} context */
  #drawFloor(context) {
    const { width, height } = this.#canvas;
    const half = YARD_METRES * this.#scale;
    context.fillStyle = GROUND;
    context.fillRect(0, 0, width, height);
    context.fillStyle = FLOOR;
    context.fillRect(this.#x - half, this.#y - half, 2 * half, 2 * half);
    context.beginPath();
    for (let metres = GRID_METRES - YARD_METRES; metres < YARD_METRES; metres += GRID_METRES) {
      const at = metres * this.#scale;
      context.moveTo(this.#x + at, this.#y - half);
      context.lineTo(this.#x + at, this.#y + half);
      context.moveTo(this.#x - half, this.#y + at);
      context.lineTo(this.#x + half, this.#y + at);
    }
    context.lineWidth = 1;
    context.strokeStyle = GRID;
    context.stroke();
    context.strokeStyle = EDGE;
    context.strokeRect(this.#x - half, this.#y - half, 2 * half, 2 * half);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Client} client
   */
  #drawCubes(context, client) {
    const { width, height } = this.#canvas;
    const [scale, middleX, middleY] = [this.#scale, this.#x, this.#y];
    const paths = COLOURS.map(() => new Path2D());
    for (const cube of client.objects("Cube")) {
      /** @type {Look} */
      const look = (cube.data ??= lookOf(cube));
      const { position, rotation } = cube;
      const x = middleX + position[0] * scale;
      const y = middleY - position[1] * scale;
      const half = (look.size / 2) * scale;
      if (x < -2 * half || y < -2 * half || x > width + 2 * half || y > height + 2 * half) continue;
      // About the vertical axis only: the cosine and the sine of the whole angle, as it appears with y
      // upwards.
      const cosine = (1 - 2 * rotation[2] * rotation[2]) * half;
      const sine = 2 * rotation[2] * rotation[3] * half;
      const path = paths[look.colour];
      path.moveTo(x + cosine + sine, y - sine + cosine);
      path.lineTo(x + cosine - sine, y - sine - cosine);
      path.lineTo(x - cosine - sine, y + sine - cosine);
      path.lineTo(x - cosine + sine, y + sine + cosine);
      // Filling closes it.
    }
    const thickness = Math.max(1.5, 0.6 * scale);
    context.translate(0, thickness);
    COLOURS.forEach((colour, index) => fill(context, paths[index], SIDES[colour]));
    context.translate(0, -thickness);
    COLOURS.forEach((colour, index) => fill(context, paths[index], TOPS[colour]));
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Client} client
   */
  #drawWalkers(context, client) {
    const radius = Math.max(5, this.#scale);
    context.font = LABEL_FONT;
    context.textAlign = "center";
    context.textBaseline = "top";
    let own;
    for (const walker of client.objects("Walker")) {
      if (walker.isOwn) own = walker;
      else
        this.#drawWalker(
          context,
          walker,
          radius,
          this.#labelOf(client, (walker.data ??= lookOf(walker)).number),
        );
    }
    if (own === undefined) return;
    // Above all others.
    this.#drawGhost(context, own, radius);
    this.#drawWalker(context, own, radius, "you", true);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {NetObject} walker
   * @param {number} radius
   * @param {string} label
   * @param {boolean} [isOwn]
   */
  #drawWalker(context, walker, radius, label, isOwn = false) {
    /** @type {Look} */
    const look = (walker.data ??= lookOf(walker));
    const x = this.#x + walker.position[0] * this.#scale;
    const y = this.#y - walker.position[1] * this.#scale;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = isOwn ? "#ffffff" : TOPS[COLOURS[look.colour]];
    context.fill();
    context.lineWidth = 2;
    context.strokeStyle = isOwn ? "#5cc8ff" : "#0b0f14";
    context.stroke();
    if (isOwn) this.#drawRest(context, x, y, radius + 5);
    context.lineWidth = 3;
    context.strokeStyle = GROUND;
    context.strokeText(label, x, y + radius + 7);
    context.fillStyle = LABEL;
    context.fillText(label, x, y + radius + 7);
  }

  /**
   * Where the server last saw the own walker, if that is not where it is shown.
   * @param {CanvasRenderingContext2D} context
   * @param {NetObject} walker
   * @param {number} radius
   */
  #drawGhost(context, walker, radius) {
    const told = walker.get("at");
    if (told === undefined) return;
    if (Math.hypot(told[0] - walker.position[0], told[1] - walker.position[1]) < GHOST_METRES) return;
    context.beginPath();
    context.arc(this.#x + told[0] * this.#scale, this.#y - told[1] * this.#scale, radius, 0, 2 * Math.PI);
    context.setLineDash([3, 3]);
    context.lineWidth = 1.5;
    context.strokeStyle = "#ffb454";
    context.stroke();
    context.setLineDash([]);
  }

  /**
   * How long until the next leap: an arc that closes.
   * @param {CanvasRenderingContext2D} context
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   */
  #drawRest(context, x, y, radius) {
    const rest = this.#controls.own?.state?.rest ?? 0;
    if (rest === 0) return;
    context.beginPath();
    context.arc(x, y, radius, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * (1 - rest / REST_STEPS));
    context.lineWidth = 2;
    context.strokeStyle = "#6fdc8c";
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context */
  #drawStick(context) {
    const { stick } = this.#controls;
    if (stick === null) return;
    context.lineWidth = 2;
    context.strokeStyle = "#a3b3c4";
    context.beginPath();
    context.arc(stick.fromX, stick.fromY, 36, 0, 2 * Math.PI);
    context.moveTo(stick.fromX, stick.fromY);
    context.lineTo(stick.x, stick.y);
    context.stroke();
  }

  /**
   * The name above a walker; made anew when the player's name is known or another.
   * @param {Client} client
   * @param {number} number
   */
  #labelOf(client, number) {
    const name = client.players.get(number)?.name ?? "";
    let known = this.#labels.get(number);
    if (known?.name !== name) {
      known = { name, label: plain(name, NAME_CHARACTERS_MAX) };
      this.#labels.set(number, known);
    }
    return known.label;
  }
}

/**
 * @param {NetObject} object
 * @returns {Look}
 */
function lookOf(object) {
  return {
    colour: COLOURS.indexOf(object.get("colour")),
    size: object.get("size") ?? 1,
    number: object.get("number"),
  };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Path2D} path
 * @param {string} colour
 */
function fill(context, path, colour) {
  context.fillStyle = colour;
  context.fill(path);
}

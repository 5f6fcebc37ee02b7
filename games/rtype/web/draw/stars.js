/**
 * What is far behind: sky, clouds and three layers of stars, the nearer the faster. They move with the level:
 * slowly while a boss is here, fast from one level to the next.
 */

import { SKIES, faded } from "/rtype/draw/palette.js";
import { HEIGHT, WIDTH } from "/rtype/rules/constants.js";
import { Phase } from "/rtype/rules/kinds.js";
import { light } from "/rtype/draw/sprites.js";

/** Units a second of the nearest stars, by phase. @type {Map<number, number>} */
const SPEEDS = new Map([
  [Phase.Waves, 150],
  [Phase.Boss, 60],
  [Phase.Cleared, 700],
  [Phase.Lost, 25],
  [Phase.Won, 300],
]);
/** How quickly one speed becomes another: shares of the difference a second. */
const EASE = 1.5;
const LAYERS = /** @type {const} */ ([
  { count: 90, depth: 0.25, size: 1.6, alpha: 0.55 },
  { count: 60, depth: 0.5, size: 2.3, alpha: 0.75 },
  { count: 34, depth: 1, size: 3.2, alpha: 1 },
]);
const CLOUD_DEPTH = 0.12;
/** Clouds have no edges to be sharp: a picture of so many pixels is enough. */
const CLOUD_PIXELS = 400;
/** Nobody who wants less motion gets more than this share of it. */
const STILL_SHARE = 0.1;

/** See the module. */
export class Stars {
  #way = 0;
  #speed = 150;
  /** @type {readonly { x: number, y: number }[][]} */
  #stars;
  /** @type {Map<number, HTMLCanvasElement>} by sky */
  #clouds = new Map();

  constructor() {
    const next = numbers(20_250);
    this.#stars = LAYERS.map(({ count }) =>
      Array.from({ length: count }, () => ({ x: next() * WIDTH, y: next() * HEIGHT })),
    );
  }

  /**
   * Time passes.
   * @param {number} seconds
   * @param {number} phase
   * @param {boolean} isStill whether less motion is wanted
   */
  advance(seconds, phase, isStill) {
    const wanted = (SPEEDS.get(phase) ?? 150) * (isStill ? STILL_SHARE : 1);
    this.#speed += (wanted - this.#speed) * Math.min(1, EASE * seconds);
    this.#way += this.#speed * seconds;
  }

  /**
   * @param {CanvasRenderingContext2D} context in units
   * @param {number} level from 1 on
   */
  draw(context, level) {
    const number = (level + SKIES.length - 1) % SKIES.length;
    const sky = SKIES[number];
    const ground = context.createLinearGradient(0, 0, 0, HEIGHT);
    ground.addColorStop(0, sky.top);
    ground.addColorStop(1, sky.bottom);
    context.fillStyle = ground;
    context.fillRect(0, 0, WIDTH, HEIGHT);
    const clouds = this.#cloudsOf(number);
    const shift = (this.#way * CLOUD_DEPTH) % (2 * WIDTH);
    context.drawImage(clouds, -shift, 0, 2 * WIDTH, HEIGHT);
    if (shift > WIDTH) context.drawImage(clouds, 2 * WIDTH - shift, 0, 2 * WIDTH, HEIGHT);
    context.fillStyle = sky.star;
    LAYERS.forEach(({ depth, size, alpha }, layer) => {
      context.globalAlpha = alpha;
      // The faster, the longer they look.
      const length = size + Math.max(0, this.#speed * depth - 160) * 0.09;
      for (const { x, y } of this.#stars[layer]) {
        const at = x - ((this.#way * depth) % WIDTH);
        context.fillRect(at < -length ? at + WIDTH : at, y, length, size);
      }
    });
    context.globalAlpha = 1;
  }

  /** @param {number} number */
  #cloudsOf(number) {
    const known = this.#clouds.get(number);
    if (known !== undefined) return known;
    const image = document.createElement("canvas");
    image.width = CLOUD_PIXELS;
    image.height = Math.round((CLOUD_PIXELS * HEIGHT) / (2 * WIDTH));
    const context = /** @type {CanvasRenderingContext2D} */ (image.getContext("2d"));
    context.scale(image.width / (2 * WIDTH), image.height / HEIGHT);
    const next = numbers(77 + number);
    const { clouds } = SKIES[number];
    for (let cloud = 0; cloud < 26; cloud++) {
      const colour = clouds[cloud % clouds.length];
      const radius = 160 + 340 * next();
      const [x, y] = [2 * WIDTH * next(), HEIGHT * next()];
      // Once more a width away, so that the end fits to the beginning.
      for (const at of [x - 2 * WIDTH, x, x + 2 * WIDTH]) {
        context.fillStyle = light(context, at, y, radius, [
          faded(colour, 0.34),
          faded(colour, 0.12),
          faded(colour, 0),
        ]);
        context.fillRect(at - radius, y - radius, 2 * radius, 2 * radius);
      }
    }
    this.#clouds.set(number, image);
    return image;
  }
}

/**
 * Numbers from 0 to 1 that are the same every time.
 * @param {number} seed
 */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

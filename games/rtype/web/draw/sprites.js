/**
 * Pictures that are painted once and shown often.
 *
 * Glows and gradients are dear to paint and cheap to copy. So everything that many frames show is painted by
 * code into a canvas of its own, in the pixels of the screen, and painted anew when those change in size.
 */

/** Another size of the screen by so little is not worth painting everything again. */
const SCALE_TOLERANCE = 0.02;
/** Beyond this a picture is no sharper to the eye. */
const SCALE_MAX = 4;

/** @typedef {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} Context */
/** @typedef {(context: Context) => void} Paint paints around the origin, in units */
/** @typedef {{ image: HTMLCanvasElement, halfWidth: number, halfHeight: number }} Sprite */

/** See the module. */
export class Sprites {
  #scale = 0;
  /** @type {Map<string, Sprite>} */
  #painted = new Map();

  /** @param {number} scale pixels of the screen to a unit */
  setScale(scale) {
    const wanted = Math.min(scale, SCALE_MAX);
    if (Math.abs(wanted - this.#scale) <= SCALE_TOLERANCE * this.#scale) return;
    this.#scale = wanted;
    this.#painted.clear();
  }

  /**
   * The picture of that name, painted if there is none.
   * @param {string} name
   * @param {number} halfWidth in units
   * @param {number} halfHeight
   * @param {Paint} paint
   * @returns {Sprite}
   */
  get(name, halfWidth, halfHeight, paint) {
    const known = this.#painted.get(name);
    if (known !== undefined) return known;
    const image = document.createElement("canvas");
    image.width = Math.max(1, Math.ceil(2 * halfWidth * this.#scale));
    image.height = Math.max(1, Math.ceil(2 * halfHeight * this.#scale));
    const context = image.getContext("2d");
    if (context === null) throw new Error("this browser has no canvas");
    context.scale(image.width / (2 * halfWidth), image.height / (2 * halfHeight));
    context.translate(halfWidth, halfHeight);
    context.lineJoin = "round";
    context.lineCap = "round";
    paint(context);
    const sprite = { image, halfWidth, halfHeight };
    this.#painted.set(name, sprite);
    return sprite;
  }

  /**
   * The same shape, all in one colour: for a flash.
   * @param {string} name
   * @param {number} halfWidth
   * @param {number} halfHeight
   * @param {Paint} paint
   * @param {string} colour
   */
  flat(name, halfWidth, halfHeight, paint, colour) {
    return this.get(`${name} ${colour}`, halfWidth, halfHeight, (context) => {
      paint(context);
      context.globalCompositeOperation = "source-atop";
      context.fillStyle = colour;
      context.fillRect(-halfWidth, -halfHeight, 2 * halfWidth, 2 * halfHeight);
    });
  }
}

/**
 * Shows a picture around a place.
 * @param {CanvasRenderingContext2D} context
 * @param {Sprite} sprite
 * @param {number} x
 * @param {number} y
 */
export function stamp(context, { image, halfWidth, halfHeight }, x, y) {
  context.drawImage(image, x - halfWidth, y - halfHeight, 2 * halfWidth, 2 * halfHeight);
}

/**
 * The same, turned.
 * @param {CanvasRenderingContext2D} context
 * @param {Sprite} sprite
 * @param {number} x
 * @param {number} y
 * @param {number} radians
 */
export function stampTurned(context, { image, halfWidth, halfHeight }, x, y, radians) {
  context.translate(x, y);
  context.rotate(radians);
  context.drawImage(image, -halfWidth, -halfHeight, 2 * halfWidth, 2 * halfHeight);
  context.rotate(-radians);
  context.translate(-x, -y);
}

/**
 * A closed path through points.
 * @param {readonly number[]} numbers x, y, x, y …
 */
export function shape(...numbers) {
  const path = new Path2D();
  for (let at = 0; at + 1 < numbers.length; at += 2) path.lineTo(numbers[at], numbers[at + 1]);
  path.closePath();
  return path;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
export function circle(x, y, radius) {
  const path = new Path2D();
  path.arc(x, y, radius, 0, 2 * Math.PI);
  return path;
}

/**
 * @param {number} count of corners
 * @param {number} radius
 * @param {number} [turn] of the first, in radians
 * @param {number} [flatness] how much less high than wide
 */
export function polygon(count, radius, turn = 0, flatness = 1) {
  const numbers = [];
  for (let corner = 0; corner < count; corner++) {
    const angle = turn + (corner * 2 * Math.PI) / count;
    numbers.push(radius * Math.cos(angle), radius * flatness * Math.sin(angle));
  }
  return shape(...numbers);
}

/**
 * Metal that is lit from above.
 * @param {Context} context
 * @param {number} half of the height
 * @param {readonly string[]} colours from above to below
 */
export function metal(context, half, colours) {
  const gradient = context.createLinearGradient(0, -half, 0, half);
  colours.forEach((colour, index) => gradient.addColorStop(index / (colours.length - 1), colour));
  return gradient;
}

/**
 * Light that fades with distance.
 * @param {Context} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {readonly string[]} colours from the middle outwards
 */
export function light(context, x, y, radius, colours) {
  const gradient = context.createRadialGradient(x, y, 0, x, y, radius);
  colours.forEach((colour, index) => gradient.addColorStop(index / (colours.length - 1), colour));
  return gradient;
}

/**
 * Fills a shape, with a glow around it.
 * @param {Context} context
 * @param {Path2D} path
 * @param {string | CanvasGradient} fill
 * @param {string} [glow]
 * @param {number} [blur] in pixels of the picture
 */
export function solid(context, path, fill, glow, blur = 0) {
  if (glow !== undefined) {
    context.shadowColor = glow;
    context.shadowBlur = blur * (context.getTransform().a || 1);
  }
  context.fillStyle = fill;
  context.fill(path);
  context.shadowBlur = 0;
}

/**
 * @param {Context} context
 * @param {Path2D} path
 * @param {string} colour
 * @param {number} width
 */
export function line(context, path, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke(path);
}

/**
 * What is over in a moment: explosions, sparks, flashes of guns, beams.
 *
 * The server tells none of it. It follows from what comes and goes: an enemy that is gone before it left the
 * field has exploded, a shot that is gone has hit, a ship that is down was.
 */

import { ENEMY_SHOT, SEAT_COLOURS, faded } from "/rtype/draw/palette.js";
import { HEIGHT, NO_SEAT, WIDTH } from "/rtype/rules/constants.js";
import { EnemyKind, ShotKind } from "/rtype/rules/kinds.js";
import { light, solid, stamp, circle } from "/rtype/draw/sprites.js";

/** @typedef {import("/rtype/draw/sprites.js").Sprites} Sprites */

const SPARKS_MAX = 700;
const RINGS_MAX = 48;
const BEAM_MS = 260;
/** Units from the edge within which things leave rather than explode. */
const EDGE = 30;
const SHAKE_MAX = 14;
const SHAKE_DECAY_PER_SECOND = 6;

/**
 * How large an explosion of each kind is, and of which colour.
 * @type {Map<number, { size: number, colour: string }>}
 */
const BLASTS = new Map([
  [EnemyKind.Drone, { size: 1, colour: "#ff8a5c" }],
  [EnemyKind.Weaver, { size: 1, colour: "#c47bff" }],
  [EnemyKind.Hunter, { size: 1.2, colour: "#ffd25c" }],
  [EnemyKind.Turret, { size: 1.5, colour: "#9fb8ff" }],
  [EnemyKind.Dasher, { size: 1.3, colour: "#5cf5e0" }],
  [EnemyKind.Carrier, { size: 3, colour: "#ff7a9c" }],
  [EnemyKind.Warden, { size: 6, colour: "#8c9aff" }],
  [EnemyKind.Leviathan, { size: 6, colour: "#5cffc8" }],
]);

/** @typedef {{ x: number, y: number, vx: number, vy: number, leftMs: number, lifeMs: number, size: number,
 *   colour: string }} Spark */
/**
 * @typedef {{ x: number, y: number, radius: number, leftMs: number, lifeMs: number, colour: string }} Ring
 */
/** @typedef {{ x: number, y: number, reach: number, seat: number, leftMs: number }} Beam */

/** See the module. */
export class Effects {
  /** Whether less motion is wanted: nothing shakes, and less flies. */
  isStill = false;
  /** Hears of what can be heard. @type {(sound: import("/rtype/sound.js").SoundName, x: number) => void} */
  onSound = () => {};
  /** How far the picture is shaken. */
  shakeX = 0;
  shakeY = 0;
  #shake = 0;
  /** @type {Spark[]} */
  #sparks = [];
  /** @type {Ring[]} */
  #rings = [];
  /** @type {Beam[]} */
  #beams = [];

  /** Nothing of it is left. */
  clear() {
    this.#sparks.length = 0;
    this.#rings.length = 0;
    this.#beams.length = 0;
    this.#shake = 0;
  }

  /** @param {import("/rtype/cast.js").EnemyActor} enemy */
  enemyLeft({ x, y, kind }) {
    const { size, colour } = BLASTS.get(kind) ?? { size: 1, colour: "#ffffff" };
    if (x < EDGE || y < -EDGE || y > HEIGHT + EDGE || x > WIDTH + EDGE) return;
    this.explode(x, y, size, colour);
    this.onSound(size > 2 ? "blast" : "burst", x);
  }

  /** @param {import("/rtype/cast.js").ShipActor} ship */
  shipLeft({ x, y, down, seat }) {
    if (down === 0) this.#ring(x, y, 70, 420, SEAT_COLOURS[seat]);
  }

  /** @param {import("/rtype/cast.js").ShipActor} ship */
  shipDown({ x, y, seat }) {
    this.explode(x, y, 2.2, SEAT_COLOURS[seat]);
    this.onSound("blast", x);
  }

  /** @param {import("/rtype/cast.js").ShotActor} shot */
  shotLeft({ x, y, kind, seat }) {
    if (x < EDGE || x > WIDTH - EDGE || y < 0 || y > HEIGHT) return;
    const colour = seat === NO_SEAT ? ENEMY_SHOT : SEAT_COLOURS[seat];
    this.#burst(x, y, kind === ShotKind.Orb ? 8 : 4, 150, 180, 3, colour);
  }

  /** @param {import("/rtype/cast.js").CapsuleActor} capsule */
  capsuleLeft({ x, y }) {
    if (x < EDGE) return;
    this.#ring(x, y, 80, 380, "#ffffff");
    this.#burst(x, y, 10, 220, 420, 3, "#9fe7ff");
    this.onSound("take", x);
  }

  /**
   * A gun was fired.
   * @param {number} x
   * @param {number} y
   * @param {number} seat
   */
  muzzle(x, y, seat) {
    const colour = SEAT_COLOURS[seat] ?? ENEMY_SHOT;
    this.#rings.push({ x, y, radius: -16, leftMs: 70, lifeMs: 70, colour });
    this.onSound(seat === NO_SEAT ? "pellet" : "shot", x);
  }

  /**
   * @param {number} seat
   * @param {number} x
   * @param {number} y
   * @param {number} reach where it ends
   */
  beam(seat, x, y, reach) {
    this.#beams.push({ x, y, reach, seat, leftMs: BEAM_MS });
    this.#burst(Math.min(reach, WIDTH - 4), y, 10, 260, 300, 3, SEAT_COLOURS[seat]);
    this.onSound("beam", x);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} size
   * @param {string} colour
   */
  explode(x, y, size, colour) {
    this.#rings.push({ x, y, radius: -46 * size, leftMs: 160, lifeMs: 160, colour: "#fff1c9" });
    this.#ring(x, y, 62 * size, 320 + 60 * size, colour);
    if (size > 2) this.#ring(x, y, 110 * size, 700, "#ffffff");
    this.#burst(x, y, Math.round(14 * size), 240 + 60 * size, 420 + 70 * size, 4.2, colour);
    this.#burst(x, y, Math.round(8 * size), 130 + 30 * size, 640, 5.5, "#ffd08a");
    if (!this.isStill) this.#shake = Math.min(SHAKE_MAX, this.#shake + 1.6 * size * size);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   * @param {number} lifeMs
   * @param {string} colour
   */
  #ring(x, y, radius, lifeMs, colour) {
    if (this.#rings.length >= RINGS_MAX) this.#rings.shift();
    this.#rings.push({ x, y, radius, leftMs: lifeMs, lifeMs, colour });
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} count
   * @param {number} speed units a second
   * @param {number} lifeMs
   * @param {number} size
   * @param {string} colour
   */
  #burst(x, y, count, speed, lifeMs, size, colour) {
    const wanted = this.isStill ? Math.ceil(count / 3) : count;
    for (let number = 0; number < wanted && this.#sparks.length < SPARKS_MAX; number++) {
      const angle = Math.random() * 2 * Math.PI;
      const fast = speed * (0.25 + 0.75 * Math.random());
      const life = lifeMs * (0.5 + 0.5 * Math.random());
      const [vx, vy] = [fast * Math.cos(angle), fast * Math.sin(angle)];
      this.#sparks.push({
        x,
        y,
        vx,
        vy,
        leftMs: life,
        lifeMs: life,
        size: size * (0.5 + Math.random()),
        colour,
      });
    }
  }

  /** @param {number} elapsedMs */
  advance(elapsedMs) {
    const seconds = elapsedMs / 1_000;
    const drag = Math.exp(-2.4 * seconds);
    for (const spark of this.#sparks) {
      spark.x += spark.vx * seconds;
      spark.y += spark.vy * seconds;
      spark.vx *= drag;
      spark.vy *= drag;
    }
    for (const passing of [this.#sparks, this.#rings, this.#beams]) letPass(passing, elapsedMs);
    this.#shake *= Math.exp(-SHAKE_DECAY_PER_SECOND * seconds);
    this.shakeX = this.#shake < 0.2 ? 0 : this.#shake * (2 * Math.random() - 1);
    this.shakeY = this.#shake < 0.2 ? 0 : this.#shake * (2 * Math.random() - 1);
  }

  /**
   * @param {CanvasRenderingContext2D} context in units
   * @param {Sprites} sprites
   */
  draw(context, sprites) {
    context.globalCompositeOperation = "lighter";
    for (const beam of this.#beams) this.#drawBeam(context, beam);
    for (const { x, y, radius, leftMs, lifeMs, colour } of this.#rings) {
      const left = leftMs / lifeMs;
      if (radius < 0) {
        const sprite = sprites.get(`flash ${colour}`, 50, 50, (paint) => {
          solid(
            paint,
            circle(0, 0, 50),
            light(paint, 0, 0, 50, ["#ffffff", faded(colour, 0.7), faded(colour, 0)]),
          );
        });
        const half = -radius * (1.4 - 0.4 * left);
        context.globalAlpha = left;
        stamp(context, { ...sprite, halfWidth: half, halfHeight: half }, x, y);
        continue;
      }
      context.globalAlpha = left;
      context.lineWidth = 1 + 7 * left;
      context.strokeStyle = colour;
      context.beginPath();
      context.arc(x, y, radius * (1 - left * left) + 4, 0, 2 * Math.PI);
      context.stroke();
    }
    for (const { x, y, vx, vy, leftMs, lifeMs, size, colour } of this.#sparks) {
      context.globalAlpha = leftMs / lifeMs;
      context.strokeStyle = colour;
      context.lineWidth = size;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x - vx * 0.035, y - vy * 0.035);
      context.stroke();
    }
    context.globalAlpha = 1;
    context.globalCompositeOperation = "source-over";
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Beam} beam
   */
  #drawBeam(context, { x, y, reach, seat, leftMs }) {
    const left = leftMs / BEAM_MS;
    for (const [width, colour, alpha] of /** @type {const} */ ([
      [30, SEAT_COLOURS[seat], 0.25],
      [15, SEAT_COLOURS[seat], 0.6],
      [6, "#ffffff", 1],
    ])) {
      context.globalAlpha = alpha * left;
      context.strokeStyle = colour;
      context.lineWidth = width * (0.3 + 0.7 * left);
      context.lineCap = "round";
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(reach, y);
      context.stroke();
    }
  }
}

/**
 * Takes away what is over. The order does not matter.
 * @param {{ leftMs: number }[]} passing
 * @param {number} elapsedMs
 */
function letPass(passing, elapsedMs) {
  for (let at = passing.length - 1; at >= 0; at--) {
    passing[at].leftMs -= elapsedMs;
    if (passing[at].leftMs > 0) continue;
    passing[at] = passing[passing.length - 1];
    passing.pop();
  }
}

/** Ships: hull, engine, companion, shield. They look to the right; the nose is 34 units ahead. */

import { SEAT_COLOURS, faded, mixed } from "/rtype/draw/palette.js";
import { circle, light, line, metal, shape, solid, stamp } from "/rtype/draw/sprites.js";
import { COMPANION } from "/rtype/rules/weapons.js";

/** @typedef {import("/rtype/draw/sprites.js").Context} Context */
/** @typedef {import("/rtype/draw/sprites.js").Sprites} Sprites */
/** @typedef {import("/rtype/cast.js").ShipActor} ShipActor */

const HALF_WIDTH = 58;
const HALF_HEIGHT = 40;
const FLAME_X = -32;
/** Steps: a ship that cannot be hit blinks so often. */
const BLINK_STEPS = 8;

const HULL = shape(38, 2, 12, -6, -6, -9, -24, -8, -33, -3, -33, 6, -22, 10, 4, 10, 20, 7);
const UPPER_FIN = shape(-4, -8, -20, -24, -34, -25, -27, -14, -25, -7);
const LOWER_FIN = shape(2, 9, -14, 20, -32, 22, -26, 14, -24, 8);
const CANOPY = shape(18, -1, 8, -7, -4, -7, -8, -3, -2, -1);
const CANNON = shape(10, 6, 28, 7, 28, 10, 8, 11);

/**
 * @param {Context} context
 * @param {number} seat
 */
function paintShip(context, seat) {
  const colour = SEAT_COLOURS[seat];
  const dark = mixed(colour, "#05070c", 0.62);
  solid(context, UPPER_FIN, metal(context, 24, [colour, dark]), faded(colour, 0.9), 12);
  solid(context, LOWER_FIN, metal(context, 24, [dark, colour]), faded(colour, 0.9), 12);
  solid(context, HULL, metal(context, 10, ["#ffffff", "#c3cfdd", "#5d6b80", "#2b3442"]));
  solid(context, CANNON, metal(context, 12, ["#8b98aa", "#303a48"]));
  line(context, HULL, "#0a0f18", 1.2);
  solid(context, CANOPY, metal(context, 7, [mixed(colour, "#ffffff", 0.75), colour, dark]));
  line(context, CANOPY, "#0a0f18", 1);
  // Whose it is, also for those who do not tell the colours apart: one stripe to four.
  for (let stripe = 0; stripe <= seat; stripe++) {
    solid(
      context,
      shape(-28 + 5 * stripe, -7, -26 + 5 * stripe, -7, -26 + 5 * stripe, 8, -28 + 5 * stripe, 8),
      dark,
    );
  }
  context.globalAlpha = 0.7;
  line(context, shape(36, 1, 12, -5, -6, -8), "#ffffff", 0.9);
}

/** @param {Context} context */
function paintCompanion(context) {
  solid(
    context,
    circle(0, 0, 11),
    light(context, -3, -4, 16, ["#ffffff", "#a9b7c9", "#39445a"]),
    "#9adcff",
    10,
  );
  solid(context, shape(10, -3, 18, 0, 10, 3), "#d9e6f5");
  solid(context, circle(3, 0, 4), "#5cc8ff");
  line(context, circle(0, 0, 11), "#0a0f18", 1);
}

/** @param {Context} context */
function paintFlame(context) {
  const gradient = context.createLinearGradient(0, 0, -46, 0);
  [
    [0, "#ffffff"],
    [0.25, "#9fe7ff"],
    [0.6, "rgba(70,140,255,0.55)"],
    [1, "rgba(70,140,255,0)"],
  ].forEach(([at, colour]) => gradient.addColorStop(Number(at), String(colour)));
  const flame = new Path2D();
  flame.moveTo(0, -6);
  flame.quadraticCurveTo(-20, -7, -46, 0);
  flame.quadraticCurveTo(-20, 7, 0, 6);
  flame.closePath();
  solid(context, flame, gradient);
}

/**
 * @param {Context} context
 * @param {number} hits
 */
function paintShield(context, hits) {
  const shield = new Path2D();
  shield.ellipse(0, 0, 50, 34, 0, 0, 2 * Math.PI);
  solid(
    context,
    shield,
    light(context, 0, 0, 50, ["rgba(90,220,255,0)", "rgba(90,220,255,0.04)", "rgba(120,230,255,0.3)"]),
  );
  line(context, shield, "rgba(150,235,255,0.85)", 1.6);
  // One knot for each hit that it takes.
  for (let hit = 0; hit < hits; hit++) {
    const angle = -0.5 + 0.5 * hit;
    solid(context, circle(50 * Math.cos(angle), 34 * Math.sin(angle), 4), "#ffffff", "#7fe3ff", 8);
  }
}

/**
 * @param {Sprites} sprites
 * @param {number} seat
 */
function hullOf(sprites, seat) {
  return sprites.get(`ship ${seat}`, HALF_WIDTH, HALF_HEIGHT, (context) => paintShip(context, seat));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Sprites} sprites
 * @param {ShipActor} ship
 * @param {number} x
 * @param {number} y
 * @param {{ step: number, isStill: boolean }} moment steps since whenever, for what flickers
 */
export function drawShip(context, sprites, ship, x, y, { step, isStill }) {
  const isBlinkedAway = ship.safe > 0 && !isStill && Math.floor(step / BLINK_STEPS) % 2 === 0;
  context.globalAlpha = isBlinkedAway ? 0.35 : ship.safe > 0 && isStill ? 0.7 : 1;
  drawFlame(context, sprites, ship, x, y, isStill ? 0 : step);
  stamp(context, hullOf(sprites, ship.seat), x, y);
  if (ship.drone) {
    const bob = isStill ? 0 : 2.5 * Math.sin(step / 12);
    stamp(
      context,
      sprites.get("companion", 28, 24, paintCompanion),
      x + COMPANION.dx,
      y + COMPANION.dy + bob,
    );
  }
  context.globalAlpha = 1;
  if (ship.shield > 0) {
    stamp(
      context,
      sprites.get(`shield ${ship.shield}`, 60, 44, (paint) => paintShield(paint, ship.shield)),
      x,
      y,
    );
  }
}

/**
 * Longer to the right and with thrusters, shorter to the left.
 * @param {CanvasRenderingContext2D} context
 * @param {Sprites} sprites
 * @param {ShipActor} ship
 * @param {number} x
 * @param {number} y
 * @param {number} step
 */
function drawFlame(context, sprites, ship, x, y, step) {
  const flicker = 0.9 + 0.1 * Math.sin(step * 1.9) + 0.06 * Math.sin(step * 4.3);
  const length = (0.65 + 0.45 * ship.thrust + 0.16 * ship.thrusters) * flicker;
  const { image } = sprites.get("flame", 48, 10, paintFlame);
  context.globalCompositeOperation = "lighter";
  context.drawImage(image, x + FLAME_X - 48 * length, y + 1 - 10, 96 * length, 20);
  context.globalCompositeOperation = "source-over";
}

/**
 * The outline of a ship, where the server last said that it is.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 */
export function traceShip(context, x, y) {
  context.translate(x, y);
  context.stroke(HULL);
  context.stroke(UPPER_FIN);
  context.stroke(LOWER_FIN);
  context.translate(-x, -y);
}

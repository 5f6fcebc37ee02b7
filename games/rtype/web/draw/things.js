/** Shots, capsules and debris. What ships fire is long, what enemies fire is round. */

import { ENEMY_SHOT, SEAT_COLOURS, faded, mixed } from "/rtype/draw/palette.js";
import { ShotKind } from "/rtype/rules/kinds.js";
import { circle, light, line, metal, polygon, shape, solid } from "/rtype/draw/sprites.js";

/** @typedef {import("/rtype/draw/sprites.js").Context} Context */
/** @typedef {import("/rtype/draw/sprites.js").Sprites} Sprites */

/** Debris has so many faces: a number tells which. */
const ROCKS = 6;
const ROCK_RADIUS = 100;
/** By power. */
const POWER_COLOURS = /** @type {const} */ (["#ffb454", "#5cc8ff", "#7be495"]);

/**
 * A streak with a bright core.
 * @param {Context} context
 * @param {number} half
 * @param {number} thickness
 * @param {string} colour
 */
function streak(context, half, thickness, colour) {
  const body = new Path2D();
  body.roundRect(-half, -thickness, 2 * half, 2 * thickness, thickness);
  const gradient = context.createLinearGradient(-half, 0, half, 0);
  gradient.addColorStop(0, faded(colour, 0));
  gradient.addColorStop(0.55, colour);
  gradient.addColorStop(1, "#ffffff");
  solid(context, body, gradient, colour, 8);
  const core = new Path2D();
  core.roundRect(-half * 0.2, -thickness * 0.45, half * 1.15, thickness * 0.9, thickness * 0.45);
  solid(context, core, "#ffffff");
}

/**
 * @param {Context} context
 * @param {number} radius
 * @param {string} colour
 */
function ball(context, radius, colour) {
  solid(
    context,
    circle(0, 0, radius),
    light(context, 0, 0, radius, ["#fff6d8", "#ffd08a", colour, mixed(colour, "#200000", 0.5)]),
    colour,
    9,
  );
  line(context, circle(0, 0, radius), "#2a0500", 1.6);
  line(context, circle(0, 0, radius + 3), faded(colour, 0.55), 1.4);
}

/** @param {Context} context @param {string} colour */
function dart(context, colour) {
  solid(
    context,
    shape(12, 0, -2, -7, -12, -6, -7, 0, -12, 6, -2, 7),
    metal(context, 7, ["#ffffff", colour]),
    colour,
    8,
  );
}

/**
 * @param {Sprites} sprites
 * @param {number} kind
 * @param {number} seat
 */
export function shotSprite(sprites, kind, seat) {
  const colour = SEAT_COLOURS[seat] ?? ENEMY_SHOT;
  const name = `shot ${kind} ${seat}`;
  switch (kind) {
    case ShotKind.Bolt:
      return sprites.get(name, 34, 16, (context) => streak(context, 22, 4.5, colour));
    case ShotKind.Lance:
      return sprites.get(name, 70, 18, (context) => streak(context, 54, 5.5, colour));
    case ShotKind.Seeker:
      return sprites.get(name, 24, 20, (context) => dart(context, colour));
    case ShotKind.Pellet:
      return sprites.get(name, 24, 24, (context) => ball(context, 8.5, ENEMY_SHOT));
    default:
      return sprites.get(name, 32, 32, (context) => ball(context, 13, "#d94bff"));
  }
}

/**
 * The sign of a power, around the origin: chevrons, a shield, a companion.
 * @param {Context} context
 * @param {number} power
 * @param {string} colour
 */
export function paintPowerSign(context, power, colour) {
  if (power === 0) {
    for (const x of [-8, 1]) {
      const chevron = new Path2D();
      chevron.moveTo(x, -8);
      chevron.lineTo(x + 8, 0);
      chevron.lineTo(x, 8);
      line(context, chevron, colour, 3.5);
    }
  } else if (power === 1) {
    const shield = new Path2D();
    shield.moveTo(0, -11);
    shield.lineTo(9, -7);
    shield.quadraticCurveTo(9, 6, 0, 11);
    shield.quadraticCurveTo(-9, 6, -9, -7);
    shield.closePath();
    line(context, shield, colour, 3);
  } else {
    line(context, circle(-2, 0, 7), colour, 3);
    solid(context, shape(6, -4, 13, 0, 6, 4), colour);
  }
}

/**
 * @param {Sprites} sprites
 * @param {number} power
 */
export function capsuleSprite(sprites, power) {
  return sprites.get(`capsule ${power}`, 44, 44, (context) => {
    const colour = POWER_COLOURS[power] ?? POWER_COLOURS[0];
    const hull = polygon(6, 27, 0, 0.92);
    solid(context, hull, light(context, -6, -8, 34, ["#2a3850", "#0c121e"]), colour, 16);
    line(context, hull, colour, 3.2);
    line(context, polygon(6, 21, 0, 0.92), faded(colour, 0.4), 1.4);
    paintPowerSign(context, power, "#ffffff");
  });
}

/**
 * A rock; it is drawn as large as it is.
 * @param {Sprites} sprites
 * @param {number} number any
 */
export function rockSprite(sprites, number) {
  const which = number % ROCKS;
  return sprites.get(`rock ${which}`, ROCK_RADIUS * 1.1, ROCK_RADIUS * 1.1, (context) => {
    const corners = 11;
    const numbers = [];
    for (let corner = 0; corner < corners; corner++) {
      const radius = ROCK_RADIUS * (0.82 + 0.18 * Math.sin(7.3 * corner * (which + 1.7)));
      const angle = (2 * Math.PI * corner) / corners;
      numbers.push(radius * Math.cos(angle), radius * Math.sin(angle));
    }
    const rock = shape(...numbers);
    solid(context, rock, light(context, -30, -40, 150, ["#9aa3ad", "#555d68", "#22262d"]));
    context.save();
    context.clip(rock);
    for (let crater = 0; crater < 5; crater++) {
      const angle = 2.1 * crater + which;
      const [x, y] = [(20 + 11 * crater) * Math.cos(angle), (20 + 11 * crater) * Math.sin(angle)];
      solid(context, circle(x, y, 12 + 3 * ((crater + which) % 4)), "rgba(10,12,16,0.4)");
      line(context, circle(x - 2, y - 2, 12 + 3 * ((crater + which) % 4)), "rgba(255,255,255,0.1)", 3);
    }
    context.restore();
    line(context, rock, "#0b0d11", 4);
  });
}

/** How large debris of a size is drawn beside its picture. @param {number} size */
export const rockScale = (size) => (size * 10) / ROCK_RADIUS;

/** Enemies but for the bosses. They look to the left, and each kind has an outline of its own. */

import { EnemyKind } from "/rtype/rules/kinds.js";
import { circle, light, line, metal, polygon, shape, solid } from "/rtype/draw/sprites.js";

/** @typedef {import("/rtype/draw/sprites.js").Context} Context */
/**
 * @typedef {{ halfWidth: number, halfHeight: number, outline: Path2D, paint: (context: Context) => void }}
 *   Look
 */

const EDGE = "#0a0610";

/**
 * @param {Context} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} colour
 */
function eye(context, x, y, radius, colour) {
  solid(
    context,
    circle(x, y, radius),
    light(context, x, y, radius, ["#ffffff", colour, "#1a0206"]),
    colour,
    10,
  );
  line(context, circle(x, y, radius), EDGE, 1.2);
}

// A saucer with two claws and one eye.
const DRONE = shape(
  -14,
  -9,
  -4,
  -17,
  12,
  -15,
  24,
  -5,
  24,
  5,
  12,
  15,
  -4,
  17,
  -14,
  9,
  -28,
  15,
  -20,
  5,
  -22,
  0,
  -20,
  -5,
  -28,
  -15,
);
/** @param {Context} context */
function paintDrone(context) {
  solid(context, DRONE, metal(context, 18, ["#ffb199", "#d2432f", "#5b0f16"]), "#ff5a3c", 9);
  line(context, DRONE, EDGE, 1.5);
  solid(context, shape(6, -12, 18, -6, 18, 6, 6, 12), metal(context, 12, ["#7c1d1d", "#2e070b"]));
  eye(context, -6, 0, 7, "#ffd23c");
}

// A ray: wide wings, a long tail.
const WEAVER = shape(
  -26,
  0,
  -14,
  -6,
  -6,
  -22,
  6,
  -26,
  8,
  -10,
  14,
  -4,
  32,
  -3,
  32,
  3,
  14,
  4,
  8,
  10,
  6,
  26,
  -6,
  22,
  -14,
  6,
);
/** @param {Context} context */
function paintWeaver(context) {
  solid(
    context,
    WEAVER,
    metal(context, 26, ["#e7b4ff", "#8a35d1", "#3a0f6b", "#8a35d1", "#e7b4ff"]),
    "#b45cff",
    9,
  );
  line(context, WEAVER, EDGE, 1.5);
  line(context, shape(-2, -18, 4, -4, 4, 4, -2, 18), "rgba(255,255,255,0.35)", 1.2);
  eye(context, -12, -3.5, 3.5, "#7bffcf");
  eye(context, -12, 3.5, 3.5, "#7bffcf");
}

// A fork that points at its prey.
const HUNTER = shape(-32, -15, -6, -19, 22, -12, 14, 0, 22, 12, -6, 19, -32, 15, -10, 8, -6, 0, -10, -8);
/** @param {Context} context */
function paintHunter(context) {
  solid(context, HUNTER, metal(context, 20, ["#fff0a8", "#d79a1c", "#5f3806"]), "#ffc53c", 9);
  line(context, HUNTER, EDGE, 1.5);
  solid(context, shape(0, -11, 14, -8, 9, 0, 14, 8, 0, 11, 4, 0), "#4d2b05");
  eye(context, 1, 0, 5.5, "#ff3c3c");
}

// A drum with a barrel.
const TURRET = polygon(8, 31, Math.PI / 8);
/** @param {Context} context */
function paintTurret(context) {
  solid(context, shape(-20, -7, -42, -6, -42, 6, -20, 7), metal(context, 7, ["#b9c4d2", "#39424f"]));
  solid(context, TURRET, metal(context, 31, ["#b5c3d6", "#5a6a80", "#222a36"]), "#8fb2ff", 8);
  line(context, TURRET, EDGE, 1.8);
  solid(context, polygon(8, 21, Math.PI / 8), metal(context, 21, ["#2a3442", "#566579"]));
  for (let bolt = 0; bolt < 8; bolt++) {
    const angle = (bolt * Math.PI) / 4;
    solid(context, circle(26 * Math.cos(angle), 26 * Math.sin(angle), 2), "#10151d");
  }
  eye(context, -2, 0, 9, "#ff4b2b");
}

// A spear.
const DASHER = shape(
  -46,
  0,
  -12,
  -8,
  0,
  -20,
  14,
  -20,
  10,
  -8,
  36,
  -12,
  30,
  0,
  36,
  12,
  10,
  8,
  14,
  20,
  0,
  20,
  -12,
  8,
);
/** @param {Context} context */
function paintDasher(context) {
  solid(context, DASHER, metal(context, 20, ["#a8fff0", "#1aa392", "#053d3d"]), "#2df0d4", 9);
  line(context, DASHER, EDGE, 1.5);
  solid(context, shape(-40, 0, -12, -3.5, 24, -3, 24, 3, -12, 3.5), "#e9fffb");
  eye(context, -4, 0, 4.5, "#ff3c7d");
}

// A ship with three bays.
const CARRIER = shape(
  -96,
  6,
  -78,
  -22,
  -30,
  -34,
  -10,
  -54,
  60,
  -54,
  92,
  -30,
  96,
  18,
  74,
  40,
  20,
  54,
  -40,
  46,
  -84,
  26,
);
/** @param {Context} context */
function paintCarrier(context) {
  solid(context, CARRIER, metal(context, 54, ["#d9a3b4", "#8c3f5a", "#3a1528", "#1b0a14"]), "#ff6f9c", 12);
  line(context, CARRIER, EDGE, 2);
  solid(context, shape(-4, -48, 54, -48, 80, -28, -20, -28), "rgba(255,255,255,0.14)");
  for (const x of [-52, -12, 28]) {
    solid(
      context,
      shape(x, -10, x + 28, -10, x + 32, 18, x + 2, 20),
      metal(context, 20, ["#0a0408", "#3d0c1c"]),
    );
    line(context, shape(x, -10, x + 28, -10, x + 32, 18, x + 2, 20), "#ff8aa8", 1.4);
    solid(context, circle(x + 15, 5, 5), "#ffcf5c", "#ffcf5c", 8);
  }
  solid(context, shape(94, -14, 106, -20, 106, -4), "#ffb45c", "#ff9a3c", 12);
  solid(context, shape(92, 10, 106, 6, 104, 22), "#ffb45c", "#ff9a3c", 12);
  eye(context, -78, 2, 9, "#ff4b4b");
}

/** By kind. @type {ReadonlyMap<number, Look>} */
export const LOOKS = new Map([
  [EnemyKind.Drone, { halfWidth: 42, halfHeight: 34, outline: DRONE, paint: paintDrone }],
  [EnemyKind.Weaver, { halfWidth: 46, halfHeight: 40, outline: WEAVER, paint: paintWeaver }],
  [EnemyKind.Hunter, { halfWidth: 46, halfHeight: 34, outline: HUNTER, paint: paintHunter }],
  [EnemyKind.Turret, { halfWidth: 54, halfHeight: 46, outline: TURRET, paint: paintTurret }],
  [EnemyKind.Dasher, { halfWidth: 60, halfHeight: 36, outline: DASHER, paint: paintDasher }],
  [EnemyKind.Carrier, { halfWidth: 122, halfHeight: 74, outline: CARRIER, paint: paintCarrier }],
]);

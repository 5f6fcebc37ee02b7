/** The two bosses, and what tells of what they are about to do. */

import { EnemyKind } from "/rtype/rules/kinds.js";
import { circle, light, line, metal, polygon, shape, solid } from "/rtype/draw/sprites.js";

/** @typedef {import("/rtype/draw/sprites.js").Context} Context */

const EDGE = "#07040b";

// A fortress: two halves of armour around a core.
const WARDEN = shape(
  -70,
  -46,
  -104,
  -70,
  -84,
  -112,
  -30,
  -136,
  50,
  -132,
  96,
  -96,
  106,
  -30,
  106,
  30,
  96,
  96,
  50,
  132,
  -30,
  136,
  -84,
  112,
  -104,
  70,
  -70,
  46,
  -52,
  20,
  -52,
  -20,
);
const WARDEN_PLATE = shape(-60, -54, -86, -74, -70, -102, -24, -120, 30, -112, 20, -60, -20, -44);

/** @param {Context} context */
function paintWarden(context) {
  solid(
    context,
    WARDEN,
    metal(context, 136, ["#c8d2ff", "#5b67a8", "#272c57", "#12142c", "#272c57", "#5b67a8"]),
    "#6f7dff",
    18,
  );
  line(context, WARDEN, EDGE, 3);
  for (const side of [1, -1]) {
    context.save();
    context.scale(1, side);
    solid(context, WARDEN_PLATE, metal(context, 120, ["#aab6f5", "#39407a"]));
    line(context, WARDEN_PLATE, EDGE, 2);
    for (const [x, y] of [
      [-66, -82],
      [-24, -104],
      [12, -98],
    ])
      solid(context, circle(x, y, 5), "#0d0f22");
    // A gun.
    solid(
      context,
      shape(-84, -34, -126, -42, -126, -26, -76, -20),
      metal(context, 44, ["#8f9bd8", "#2a2f5c"]),
    );
    line(context, shape(-84, -34, -126, -42, -126, -26, -76, -20), EDGE, 2);
    solid(context, shape(60, -96, 92, -78, 98, -30, 66, -30), metal(context, 100, ["#464e94", "#191c3d"]));
    for (const y of [-80, -62, -44]) solid(context, shape(68, y, 90, y + 4, 90, y + 8, 68, y + 6), "#8ef0ff");
    context.restore();
  }
  solid(context, polygon(6, 50, Math.PI / 6), "#0a0b1c");
  line(context, polygon(6, 50, Math.PI / 6), "#8c9aff", 3);
  solid(
    context,
    circle(0, 0, 32),
    light(context, -4, -4, 34, ["#ffffff", "#ff9a5c", "#d1203c", "#3d0514"]),
    "#ff4b4b",
    22,
  );
  line(context, circle(0, 0, 32), EDGE, 2.5);
  solid(context, shape(-5, -22, 5, -22, 5, 22, -5, 22), "rgba(20,0,6,0.85)");
}

// A deep-sea jaw with a body of plates.
const LEVIATHAN = shape(
  -150,
  -14,
  -166,
  -52,
  -108,
  -58,
  -60,
  -92,
  10,
  -104,
  92,
  -84,
  140,
  -50,
  176,
  -62,
  160,
  -10,
  176,
  52,
  136,
  44,
  84,
  82,
  0,
  100,
  -64,
  86,
  -112,
  54,
  -164,
  46,
  -148,
  16,
  -96,
  12,
  -80,
  0,
  -96,
  -12,
);

/** @param {Context} context */
function paintLeviathan(context) {
  solid(
    context,
    shape(-20, -96, 20, -142, 62, -138, 54, -92),
    metal(context, 140, ["#9bffd6", "#0d4a45"]),
    "#2effb0",
    10,
  );
  solid(
    context,
    shape(-10, 94, 26, 134, 66, 128, 58, 84),
    metal(context, 140, ["#0d4a45", "#9bffd6"]),
    "#2effb0",
    10,
  );
  solid(context, LEVIATHAN, metal(context, 104, ["#b8ffe4", "#2d9c86", "#0c3f45", "#061c26"]), "#2effb0", 18);
  line(context, LEVIATHAN, EDGE, 3);
  for (let plate = 0; plate < 5; plate++) {
    const x = -34 + 38 * plate;
    const half = 84 - 11 * plate;
    const arc = new Path2D();
    arc.moveTo(x, -half);
    arc.quadraticCurveTo(x + 34, 0, x, half);
    line(context, arc, "rgba(4,20,24,0.75)", 3);
    line(context, arc, "rgba(190,255,230,0.25)", 1);
  }
  // Teeth, above and below.
  for (let tooth = 0; tooth < 5; tooth++) {
    const x = -144 + 15 * tooth;
    solid(context, shape(x, -17 + tooth, x + 11, -15 + tooth, x + 4, -1), "#f3fff4");
    solid(context, shape(x, 18 - tooth, x + 11, 16 - tooth, x + 4, 2), "#f3fff4");
  }
  for (const y of [-44, 42]) {
    solid(
      context,
      circle(-70, y, 13),
      light(context, -73, y - 3, 14, ["#ffffff", "#ffe45c", "#ff6a00", "#3d1400"]),
      "#ffb300",
      16,
    );
    line(context, circle(-70, y, 13), EDGE, 2);
  }
  solid(
    context,
    circle(40, 0, 26),
    light(context, 40, 0, 26, ["#eafff6", "#3affc1", "#04352c"]),
    "#3affc1",
    20,
  );
  line(context, circle(40, 0, 26), EDGE, 2);
}

/** By kind, as other enemies. @type {ReadonlyMap<number, import("/rtype/draw/enemies.js").Look>} */
export const BOSS_LOOKS = new Map([
  [EnemyKind.Warden, { halfWidth: 150, halfHeight: 160, outline: WARDEN, paint: paintWarden }],
  [EnemyKind.Leviathan, { halfWidth: 196, halfHeight: 164, outline: LEVIATHAN, paint: paintLeviathan }],
]);

/** Where the heart of a boss is. @type {Map<number, number>} */
export const HEARTS = new Map([
  [EnemyKind.Warden, 0],
  [EnemyKind.Leviathan, 40],
]);

/** What people call them. @type {Map<number, string>} */
export const BOSS_NAMES = new Map([
  [EnemyKind.Warden, "The Warden"],
  [EnemyKind.Leviathan, "The Leviathan"],
]);

/**
 * Colours, and how they are mixed. Everything that is told by colour is told by shape as well: seats by the
 * stripes on a hull, friend and foe by long and round shots, powers by their signs.
 */

/** By seat. */
export const SEAT_COLOURS = /** @type {const} */ (["#5cc8ff", "#ffb454", "#7be495", "#ff8ad8"]);
export const ENEMY_SHOT = "#ff6a3d";
export const GHOST = "#ffd27a";

/** The sky of each level, again from the first after the last. */
export const SKIES = /** @type {const} */ ([
  { top: "#070b18", bottom: "#0d1630", clouds: ["#1d3a6e", "#3b2a70", "#123c50"], star: "#cfe2ff" },
  { top: "#12060f", bottom: "#2a0d1e", clouds: ["#5e1d3f", "#4a2058", "#6b2a1f"], star: "#ffdcd0" },
  { top: "#04110f", bottom: "#08261f", clouds: ["#0f4d3f", "#1a4b63", "#2b5a2a"], star: "#d5fff0" },
  { top: "#0b0716", bottom: "#1b0f33", clouds: ["#3f1f78", "#1f2f78", "#5a1f66"], star: "#e2d6ff" },
]);

/**
 * A colour with less of it than all.
 * @param {string} colour as #rrggbb
 * @param {number} alpha
 */
export function faded(colour, alpha) {
  const [red, green, blue] = partsOf(colour);
  return `rgba(${red},${green},${blue},${alpha})`;
}

/**
 * A colour on the way to another.
 * @param {string} from
 * @param {string} to
 * @param {number} share
 */
export function mixed(from, to, share) {
  const [one, other] = [partsOf(from), partsOf(to)];
  const [red, green, blue] = one.map((part, index) => Math.round(part + (other[index] - part) * share));
  return `rgb(${red},${green},${blue})`;
}

/** @param {string} colour */
function partsOf(colour) {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

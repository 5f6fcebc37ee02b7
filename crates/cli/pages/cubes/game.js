/**
 * The game of this page, as the server declares it: cubes wander about a yard, and whoever joins walks among
 * them.
 */

import { defineProtocol, field } from "/netloom/index.js";

/** Half the length of the yard, in metres. */
export const YARD_METRES = 100;
/** Steps after a leap before the next. */
export const REST_STEPS = 120;
export const COLOURS = /** @type {const} */ (["red", "green", "blue", "yellow"]);

const WALK_METRES_PER_STEP = Math.fround(4 / 60);
const LEAP_METRES = 3;
const ACROSS = Math.fround(Math.SQRT1_2);
const colour = field.choice(...COLOURS);

export const cubes = defineProtocol("cubes", {
  objects: {
    Cube: {
      at: field.position(2),
      turned: field.rotation(),
      size: field.range(0.5, 3, 0.125),
      colour,
      number: field.u16(),
    },
    Walker: { at: field.position(2), colour, rest: field.u8(), number: field.u16() },
  },
  input: { right: field.int(-1, 1), up: field.int(-1, 1), dash: field.bool() },
});

/**
 * A step of a walker, as the server makes it: in numbers of 32 bits, in the same order.
 * @param {any} walker
 * @param {{ right: number, up: number, dash: boolean }} act
 */
export function walk(walker, { right, up, dash }) {
  const leaps = dash && walker.rest === 0;
  const metres = leaps ? LEAP_METRES : WALK_METRES_PER_STEP;
  const share = right !== 0 && up !== 0 ? ACROSS : 1;
  [right, up].forEach((way, axis) => {
    const moved = Math.fround(walker.at[axis] + Math.fround(Math.fround(way * share) * metres));
    walker.at[axis] = Math.min(YARD_METRES, Math.max(-YARD_METRES, moved));
  });
  walker.rest = leaps ? REST_STEPS : Math.max(0, walker.rest - 1);
}

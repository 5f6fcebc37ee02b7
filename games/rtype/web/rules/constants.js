/** Sizes and limits that the whole of the rules has in common. */

/** Units from the left edge of the field to the right one. */
export const WIDTH = 1600;
/** Units from the upper edge of the field to the lower one. */
export const HEIGHT = 900;
/** Ships at most. */
export const SEATS = 4;
/** Steps of a second. */
export const STEPS_PER_SECOND = 60;
/** The seat of shots that enemies fired. */
export const NO_SEAT = SEATS;
/** What the beam takes of a ship's energy, and all that a ship has at most. */
export const BEAM_ENERGY = 90;
/** How far the nose of a ship is ahead of its centre: shots and beams begin there. */
export const NOSE = 34;
/** How far from the field anything is at most. */
export const MARGIN = 200;

/** Enemies at a time. What would be more does not come. */
export const ENEMIES_MAX = 64;
/** Shots of enemies at a time: a boss fills the field with far fewer. */
export const ENEMY_SHOTS_MAX = 96;
/**
 * Shots of a ship at a time: as many as it can have in the air with the widest volley, so that none is ever
 * missing that its player has seen leave.
 */
export const SHIP_SHOTS_MAX = 96;
/** Capsules at a time. */
export const CAPSULES_MAX = 8;
/** Debris at a time. */
export const DEBRIS_MAX = 40;

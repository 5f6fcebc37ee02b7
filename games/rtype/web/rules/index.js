/**
 * The rules of R-TYPE: what happens in a step.
 *
 * A page that predicts, an attract mode without a network and the server must come to the same result, or
 * players see corrections. So the rules are whole numbers of 32 bits only, with one source of chance inside
 * the state and every list in a fixed order. The same rules in Rust are the server's; both are held to the
 * same recorded hashes.
 *
 * The field is `WIDTH` by `HEIGHT` units, x to the right and y downwards, and a second has `STEPS_PER_SECOND`
 * steps.
 *
 * ```js
 * const levels = new Levels([Levels.parse("1_outer_belt.json", text)]);
 * const state = new State(levels, 1, 42);
 * state.addShip(0);
 * state.advance(levels, [bot.buttons(state, 0), 0, 0, 0]);
 * ```
 *
 * Who only predicts a ship imports `ship.js` alone.
 */

export * as bot from "./bot.js";
export {
  MOOD_ARRIVES,
  MOOD_CALLS,
  MOOD_GATHERS,
  MOOD_RETURNS,
  MOOD_STEADY,
  MOOD_WORST,
} from "./boss.js";
export { beamCrosses, beamStops } from "./collide.js";
export * from "./constants.js";
export { Enemy, MOOD_CALM, MOOD_RUSH, MOOD_WARNING, isBoss, traits } from "./enemy.js";
export * from "./kinds.js";
export { LEVELS_MAX, Level, LevelError, Levels, SPAWNS_MAX, Spawn, WAVES_MAX } from "./levels.js";
export { Log } from "./log.js";
export { OFFER_STEPS, POWERS, Refused, WEAPONS } from "./offers.js";
export * from "./ship.js";
export { CAPSULE_HALF, debrisHalf, isEnemys, shotHalf } from "./shot.js";
export { CLEARED_STEPS } from "./stage.js";
export { State } from "./state.js";
export { BEAM_DAMAGE, COMPANION, VOLLEY_MAX, WEAPON_LEVEL_MAX } from "./weapons.js";

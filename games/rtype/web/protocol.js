/**
 * What page and server have in common: objects, what a player does in a step, and calls, as the server
 * declares them. Kinds of things are numbers here, as in the rules.
 */

import { defineProtocol, field } from "/netloom/index.js";
import { BUTTONS, Power, Weapon } from "/rtype/rules/kinds.js";

/** Units to a metre: positions are sent in metres, and the game counts in whole units. */
export const UNITS_PER_METRE = 100;
/** The pilot of a ship that only the server steers. */
export const BOT = 65_535;

/** By number, as in the rules. */
export const WEAPONS = Object.keys(Weapon);
export const POWERS = Object.keys(Power);

const at = field.position(2);
const ask = /** @type {const} */ ({ callers: "clients", bytesMax: 16 });
const tell = /** @type {const} */ ({ callers: "server" });

export const rtype = defineProtocol("rtype", {
  objects: {
    Ship: {
      at,
      seat: field.int(0, 3),
      pilot: field.u16(),
      lives: field.int(0, 9),
      shield: field.int(0, 3),
      thrusters: field.int(0, 3),
      drone: field.bool(),
      weapon: field.int(0, 3),
      weapon_level: field.int(1, 3),
      down: field.u8(),
      safe: field.u8(),
      score: field.int(0, 16_777_215),
      cooldown: field.u8().owner(),
      ammo: field.u8().owner(),
      refill: field.u8().owner(),
      energy: field.u8().owner(),
    },
    Enemy: { at, kind: field.int(0, 7), health: field.int(0, 100), mood: field.int(0, 7) },
    Shot: { at, kind: field.int(0, 4), seat: field.int(0, 4), key: field.u64().owner() },
    Capsule: { at, power: field.int(0, 2) },
    Debris: { at, size: field.int(1, 15) },
    Stage: { level: field.u8(), wave: field.u8(), phase: field.int(0, 4), seconds: field.u16() },
  },
  calls: {
    beam: { ...tell, delivery: "unreliable", atViewTime: true },
    choose_power: ask,
    choose_weapon: ask,
    lag_compensation: ask,
    power_offered: tell,
    power_status: tell,
    weapon_offered: tell,
    weapon_confirmed: tell,
    level_info: tell,
    boss_spawned: tell,
    game_over: tell,
    beam_hits: tell,
  },
  input: { buttons: field.int(0, 2 ** BUTTONS - 1) },
});

/**
 * What is seen behind the lobby: bots play the game by the same rules, here in the page, without a network.
 * The rules are loaded for it after everything else; without them the stars are all there is to see.
 */

import { BOT } from "/rtype/protocol.js";
import { SEATS, STEPS_PER_SECOND } from "/rtype/rules/constants.js";
import { Phase } from "/rtype/rules/kinds.js";

/** @typedef {import("/rtype/cast.js").Cast} Cast */
/** @typedef {import("/rtype/rules/state.js").State} State */
/** @typedef {import("/rtype/rules/levels.js").Levels} Levels */

const LEVELS = ["1_outer_belt", "2_the_gate", "3_the_deep"];
const SHIPS = 3;
/** Steps of one frame at most: a page that was asleep goes on where it was. */
const STEPS_MAX = 4;
/** Steps for which the end of a game is looked at. */
const OVER_STEPS = 240;

/** See the module. */
export class Demo {
  #cast;
  #effects;
  /** @type {typeof import("/rtype/rules/bot.js") | null} */
  #bot = null;
  /** @type {(level: number, seed: number) => State} */
  #newState = () => {
    throw new Error("the rules are not here yet");
  };
  /** @type {Levels | null} */
  #levels = null;
  /** @type {State | null} */
  #state = null;
  #buttons = new Uint8Array(SEATS);
  #games = 0;
  #overSteps = 0;
  #playedToMs = 0;

  /**
   * @param {Cast} cast
   * @param {import("/rtype/draw/effects.js").Effects} effects
   */
  constructor(cast, effects) {
    this.#cast = cast;
    this.#effects = effects;
    addEventListener("load", () => {
      this.#load().catch((error) => console.warn("nothing is played behind the lobby:", error));
    });
  }

  async #load() {
    const [{ State }, { Levels }, bot, ...files] = await Promise.all([
      import("/rtype/rules/state.js"),
      import("/rtype/rules/levels.js"),
      import("/rtype/rules/bot.js"),
      ...LEVELS.map(async (name) => (await fetch(`/rtype/levels/${name}.json`)).text()),
    ]);
    const levels = new Levels(files.map((text, index) => Levels.parse(`${LEVELS[index]}.json`, text)));
    this.#newState = (level, seed) => new State(levels, level, seed);
    this.#levels = levels;
    this.#bot = bot;
  }

  /** Steps that are due, and everybody as they are then. */
  update() {
    const { nowMs } = this.#cast;
    const stepMs = 1_000 / STEPS_PER_SECOND;
    if (nowMs - this.#playedToMs > STEPS_MAX * stepMs) this.#playedToMs = nowMs - stepMs;
    for (; this.#playedToMs + stepMs <= nowMs; this.#playedToMs += stepMs) this.#step();
    if (this.#state !== null) this.#show(this.#state);
  }

  #step() {
    if (this.#bot === null || this.#levels === null) return;
    const state = this.#state === null || this.#overSteps > OVER_STEPS ? this.#begin() : this.#state;
    for (let seat = 0; seat < SEATS; seat++) this.#buttons[seat] = this.#bot.buttons(state, seat);
    state.advance(this.#levels, this.#buttons);
    for (const event of state.events) {
      if (event.type !== "Beam") continue;
      const { seat, x, y } = event;
      this.#effects.beam(seat, x, y, state.beamEnd(x, y));
      for (const enemy of state.beamTargets(seat)) state.strike(seat, enemy);
    }
    if (state.phase === Phase.Lost || state.phase === Phase.Won) this.#overSteps++;
  }

  /** The next game: another level, and no two alike. */
  #begin() {
    const state = this.#newState(1 + (this.#games % LEVELS.length), Date.now() & 0xffff);
    for (let seat = 0; seat < SHIPS; seat++) state.addShip(seat);
    this.#state = state;
    this.#games++;
    this.#overSteps = 0;
    return state;
  }

  /** @param {State} state */
  #show(state) {
    const cast = this.#cast;
    cast.level = state.level;
    cast.wave = state.wave;
    cast.phase = state.phase;
    state.ships.forEach((ship, seat) => {
      if (ship === null) return;
      const actor = cast.see(cast.ships, seat);
      const { x, y, down, safe, thrusters, drone, weapon, weaponLevel } = ship.pilotage;
      const hasFallen = actor.seenAt !== 0 && actor.down === 0 && down > 0;
      const { lives, shield, score } = ship;
      Object.assign(actor, {
        seat,
        pilot: BOT,
        lives,
        shield,
        score,
        down,
        safe,
        thrusters,
        drone,
        weapon,
        weaponLevel,
      });
      cast.place(actor, x, y);
      if (hasFallen) this.#effects.shipDown(actor);
    });
    for (const { id, x, y, kind, mood, health, healthMax } of state.enemies) {
      const actor = cast.see(cast.enemies, id);
      const percent = (100 * health) / healthMax;
      if (actor.seenAt !== 0 && percent < actor.health) actor.hitMs = cast.nowMs;
      Object.assign(actor, { kind, mood, health: percent });
      cast.place(actor, x, y);
    }
    for (const { id, x, y, kind, seat } of state.shots) {
      const actor = cast.see(cast.shots, id);
      Object.assign(actor, { kind, seat });
      if (cast.place(actor, x, y) && seat < SEATS) this.#effects.muzzle(x, y, seat);
    }
    for (const { id, x, y, power } of state.capsules) {
      const actor = cast.see(cast.capsules, id);
      actor.power = power;
      cast.place(actor, x, y);
    }
    for (const { id, x, y, size } of state.debris) {
      const actor = cast.see(cast.debris, id);
      actor.size = size;
      cast.place(actor, x, y);
    }
  }
}

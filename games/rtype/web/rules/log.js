/**
 * Games played by chance, the same ones in every language: what holds two implementations of the rules to
 * each other.
 *
 * A log is a seed and a number of steps. Out of the seed come the level, who plays with what, what each
 * presses and for how long, who comes and leaves, and answers to offers, right ones and wrong ones. Some
 * seats are flown by bots, so that a log gets beyond the first wave. Every beam hits what is in front of it
 * now.
 */

import * as bot from "./bot.js";
import { SEATS } from "./constants.js";
import { BUTTONS } from "./kinds.js";
import { seeded, xorshift } from "./math.js";
import { State } from "./state.js";

/** @typedef {import("./levels.js").Levels} Levels */

/** A game played by chance. */
export class Log {
  #rng;
  #bots;
  #held = new Uint8Array(SEATS);
  #pressed = new Uint8Array(SEATS);

  /**
   * The log of a seed, before its first step.
   * @param {Levels} levels
   * @param {number} seed
   */
  constructor(levels, seed) {
    /** The game as it stands. */
    this.state = new State(levels, (seed % levels.length) + 1, seed);
    this.#rng = seeded(Math.imul(seed, 0x9e3779b1));
    const present = this.#random(15) + 1;
    this.#bots = this.#random(16);
    for (let seat = 0; seat < SEATS; seat++) {
      if (present & (1 << seat)) this.#addShip(seat);
    }
  }

  /**
   * One step: who comes and leaves, what is pressed, what beams hit, what is chosen.
   * @param {Levels} levels
   */
  step(levels) {
    if (this.#random(400) === 0) {
      const seat = this.#random(SEATS);
      if (this.state.ships[seat] === null) this.#addShip(seat);
      else this.state.removeShip(seat);
    }
    for (let seat = 0; seat < SEATS; seat++) {
      if (this.#random(12) === 0) this.#held[seat] = this.#random(1 << BUTTONS);
    }
    for (let seat = 0; seat < SEATS; seat++) {
      this.#pressed[seat] = this.#isBot(seat) ? bot.buttons(this.state, seat) : this.#held[seat];
    }
    this.state.advance(levels, this.#pressed);
    this.#strike();
    this.#choose();
  }

  /**
   * A ship that may have had its upgrades already: few logs would come to the higher ones.
   * @param {number} seat
   */
  #addShip(seat) {
    this.state.addShip(seat);
    const upgrades = {
      weapon: this.#random(4),
      weaponLevel: 1 + this.#random(3),
      thrusters: this.#random(4),
      drone: this.#random(2) === 1,
    };
    const ship = this.state.ships[seat];
    if (ship !== null) Object.assign(ship.pilotage, upgrades);
  }

  #strike() {
    // What a beam kills is an event, too, but no beam: the list may grow meanwhile.
    const count = this.state.events.length;
    for (let index = 0; index < count; index++) {
      const event = this.state.events[index];
      if (event.type !== "Beam") continue;
      for (const enemy of this.state.beamTargets(event.seat)) this.state.strike(event.seat, enemy);
    }
  }

  /** Bots answer at once. Others answer at times, and one time in four what was never offered. */
  #choose() {
    for (let seat = 0; seat < SEATS; seat++) {
      if (this.#isBot(seat)) {
        bot.choose(this.state, seat);
        continue;
      }
      const when = this.#random(64);
      const choice = this.#random(4);
      const wrong = this.#random(4) === 0 ? 1 : 0;
      const ship = this.state.ships[seat];
      if (ship === null) continue;
      const { power, weapon } = ship.offers;
      // A refusal changes nothing, and that is what is held here.
      if (when === 0 && power !== null) this.state.choosePower(seat, power.id ^ wrong, choice);
      if (when === 1 && weapon !== null) this.state.chooseWeapon(seat, weapon.id ^ wrong, choice);
    }
  }

  /** @param {number} seat */
  #isBot(seat) {
    return (this.#bots & (1 << seat)) !== 0;
  }

  /** @param {number} limit */
  #random(limit) {
    this.#rng = xorshift(this.#rng);
    return this.#rng % limit;
  }
}

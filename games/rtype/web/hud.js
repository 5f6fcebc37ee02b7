/** What a pilot wants to know at a glance. The page is touched only where a figure has changed. */

import { element, make, plain } from "/common/words.js";
import { BOSS_NAMES } from "/rtype/draw/bosses.js";
import { BOT, POWERS, WEAPONS } from "/rtype/protocol.js";
import { BEAM_ENERGY } from "/rtype/rules/constants.js";
import { DOWN_OUT } from "/rtype/rules/ship.js";

/** @typedef {import("/rtype/cast.js").Cast} Cast */
/** @typedef {import("/rtype/cast.js").ShipActor} ShipActor */

const AMMO_MAX = 99;
const LEVEL_SIGNS = ["", "I", "II", "III"];
const NAME_CHARACTERS_MAX = 14;
const WING_MS = 250;

/** See the module. */
export class Hud {
  #root = element("hud", HTMLElement);
  #score = element("score", HTMLElement);
  #lives = element("lives", HTMLElement);
  #level = element("level", HTMLElement);
  #weapon = element("weapon", HTMLElement);
  #ammo = element("ammo", HTMLElement);
  #energy = element("energy", HTMLElement);
  #powers = element("powers", HTMLElement);
  #wing = element("wing", HTMLUListElement);
  #boss = element("boss", HTMLElement);
  #bossName = element("boss-name", HTMLElement);
  #own = element("own-figures", HTMLElement);
  #gauges = element("gauges", HTMLElement);
  #wingAtMs = 0;
  #wingWords = "";

  /**
   * @param {Cast} cast
   * @param {any} own the fields of the own ship, or null
   * @param {(pilot: number) => string} nameOf
   */
  update(cast, own, nameOf) {
    setHidden(this.#root, false);
    setText(this.#level, `Level ${cast.level} · wave ${Math.max(1, cast.wave)}`);
    setHidden(this.#own, own === null);
    setHidden(this.#gauges, own === null);
    if (own !== null) this.#showOwn(own);
    this.#showBoss(cast);
    if (cast.nowMs - this.#wingAtMs >= WING_MS) {
      this.#wingAtMs = cast.nowMs;
      this.#showWing(cast, nameOf);
    }
  }

  hide() {
    setHidden(this.#root, true);
  }

  /** @param {any} own */
  #showOwn(own) {
    setText(this.#score, own.score.toLocaleString("en"));
    setText(this.#lives, "▲".repeat(own.lives) || "–");
    this.#lives.setAttribute("aria-label", `${own.lives} ships left`);
    setText(this.#weapon, `${WEAPONS[own.weapon]} ${LEVEL_SIGNS[own.weapon_level]}`);
    setGauge(this.#ammo, own.ammo / AMMO_MAX, String(own.ammo), own.ammo < 10);
    const isReady = own.energy >= BEAM_ENERGY;
    setGauge(this.#energy, own.energy / BEAM_ENERGY, isReady ? "ready" : "", !isReady);
    const powers = [
      own.thrusters > 0 ? `${POWERS[0]} ${own.thrusters}` : "",
      own.shield > 0 ? `${POWERS[1]} ${own.shield}` : "",
      own.drone ? POWERS[2] : "",
    ];
    setText(this.#powers, powers.filter((power) => power !== "").join(" · "));
  }

  /** @param {Cast} cast */
  #showBoss(cast) {
    let boss;
    for (const enemy of cast.enemies) if (BOSS_NAMES.has(enemy.kind)) boss = enemy;
    setHidden(this.#boss, boss === undefined);
    if (boss === undefined) return;
    setText(this.#bossName, BOSS_NAMES.get(boss.kind) ?? "");
    setGauge(this.#boss, boss.health / 100, "", false);
  }

  /**
   * All ships, by seat.
   * @param {Cast} cast
   * @param {(pilot: number) => string} nameOf
   */
  #showWing(cast, nameOf) {
    const ships = [...cast.ships].sort((one, other) => one.seat - other.seat);
    const words = ships.map((ship) => `${ship.seat} ${nameOf(ship.pilot)} ${stateOf(ship)}`).join("\n");
    if (words === this.#wingWords) return;
    this.#wingWords = words;
    this.#wing.replaceChildren(
      ...ships.map((ship) => {
        const row = make("li", "", ship.isOwn ? "own" : "");
        row.dataset.seat = String(ship.seat);
        const name = ship.isOwn ? "you" : ship.pilot === BOT ? "bot" : nameOf(ship.pilot);
        row.append(make("span", plain(name, NAME_CHARACTERS_MAX), "who"), make("b", stateOf(ship)));
        return row;
      }),
    );
  }
}

/** @param {ShipActor} ship */
function stateOf({ score, lives, down }) {
  return down === DOWN_OUT ? "out" : `${score.toLocaleString("en")} ${"▲".repeat(lives)}`;
}

/**
 * @param {HTMLElement} shown
 * @param {string} text
 */
function setText(shown, text) {
  if (shown.textContent !== text) shown.textContent = text;
}

/**
 * @param {HTMLElement} shown
 * @param {boolean} isHidden
 */
function setHidden(shown, isHidden) {
  if (shown.hidden !== isHidden) shown.hidden = isHidden;
}

/**
 * A gauge: how full its bar is, the figure beside it, and whether it is low.
 * @param {HTMLElement} gauge
 * @param {number} share
 * @param {string} words
 * @param {boolean} isLow
 */
function setGauge(gauge, share, words, isLow) {
  const percent = String(Math.round(100 * Math.max(0, Math.min(1, share))));
  if (gauge.dataset.percent !== percent) {
    gauge.dataset.percent = percent;
    gauge.style.setProperty("--share", `${percent}%`);
  }
  const figure = gauge.querySelector("b");
  if (figure !== null) setText(figure, words);
  if (gauge.classList.contains("low") !== isLow) gauge.classList.toggle("low", isLow);
}

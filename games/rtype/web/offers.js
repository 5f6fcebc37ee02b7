/**
 * What the player may choose: a small panel that does not stop the game. Power-ups and weapons may be
 * offered at the same time; the older offer is shown first.
 */

import { element, make } from "/common/words.js";
import { POWERS, WEAPONS } from "/rtype/protocol.js";
import { WEAPON_LEVEL_MAX } from "/rtype/rules/weapons.js";

/** @typedef {import("/netloom/index.js").Client} Client */
/**
 * @typedef {{ call: "choose_power" | "choose_weapon", id: number, choices: number[], atMs: number }} Offer
 */

/** The server takes the first choice after this time. */
const OFFER_MS = 15_000;
const SAID = {
  choose_power: { title: "Take one", names: POWERS, words: ["faster", "takes two hits", "fires with you"] },
  choose_weapon: {
    title: "Upgrade",
    names: WEAPONS,
    words: ["straight and steady", "a wide fan", "goes through", "finds its target"],
  },
};

/** See the module. */
export class Offers {
  /** Hears that something was chosen. */
  onChosen = () => {};
  /**
   * What the own ship is armed with: the same weapon again is a better one, and another is as good as it was.
   * @type {() => Record<string, any> | null}
   */
  armedOf = () => null;
  #panel = element("offers", HTMLElement);
  #title = element("offer-title", HTMLElement);
  #list = element("offer-list", HTMLElement);
  /** @type {Offer[]} the oldest first */
  #offers = [];
  /** @type {Client | null} */
  #client = null;

  /** @param {Client} client */
  attach(client) {
    this.#client = client;
    this.clear();
    client.on("welcome", () => this.clear());
    client.on("call", ({ name, args }) => {
      if (name === "power_offered") this.#add("choose_power", args);
      else if (name === "weapon_offered") this.#add("choose_weapon", args);
      else if (name === "power_status") this.#close("choose_power");
      else if (name === "weapon_confirmed") this.#close("choose_weapon");
    });
  }

  clear() {
    this.#offers.length = 0;
    this.#show();
  }

  /** Offers end by themselves. @param {number} nowMs */
  update(nowMs) {
    const [first] = this.#offers;
    if (first === undefined) return;
    const left = Math.max(0, OFFER_MS - (nowMs - first.atMs));
    this.#panel.style.setProperty("--share", `${Math.round((100 * left) / OFFER_MS)}%`);
    if (left > 0) return;
    this.#offers.shift();
    this.#show();
  }

  /** Takes one of the offer that is shown. @param {number} choice its place, from 0 on */
  choose(choice) {
    const [offer] = this.#offers;
    if (offer === undefined || choice >= offer.choices.length || this.#client?.canCall !== true) return;
    this.#client.call(offer.call, [offer.id, choice]);
    this.#offers.shift();
    this.#show();
    this.onChosen();
  }

  /**
   * @param {Offer["call"]} call
   * @param {readonly any[]} args
   */
  #add(call, [id, choices]) {
    if (!Array.isArray(choices) && !(choices instanceof Uint8Array)) return;
    this.#offers = this.#offers.filter((offer) => offer.call !== call);
    this.#offers.push({ call, id, choices: [...choices], atMs: performance.now() });
    this.#show();
  }

  /** The server has answered, or chosen itself. @param {Offer["call"]} call */
  #close(call) {
    this.#offers = this.#offers.filter((offer) => offer.call !== call);
    this.#show();
  }

  /** How good a weapon will be. @param {number} weapon */
  #levelOf(weapon) {
    const armed = this.armedOf();
    if (armed === null) return 0;
    return Math.min(armed.weapon_level + (armed.weapon === weapon ? 1 : 0), WEAPON_LEVEL_MAX);
  }

  #show() {
    const [offer] = this.#offers;
    this.#panel.hidden = offer === undefined;
    if (offer === undefined) return;
    const { title, names, words } = SAID[offer.call];
    this.#title.textContent = title;
    this.#list.replaceChildren(
      ...offer.choices.map((choice, place) => {
        const button = make("button", "", "offer");
        button.type = "button";
        const level = offer.call === "choose_weapon" ? this.#levelOf(choice) : 0;
        button.append(
          make("kbd", String(place + 1)),
          make("b", `${names[choice] ?? "?"} ${"I".repeat(level)}`.trim()),
          make("span", words[choice] ?? ""),
        );
        button.addEventListener("click", () => this.choose(place));
        return button;
      }),
    );
  }
}

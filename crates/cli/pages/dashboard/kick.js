/** Removing a player: asks for the reason, does it, and says what came of it. */

import { element, plain } from "/common/words.js";
import { kick } from "./feed.js";

const SAID_MS = 6_000;
const NAME_CHARACTERS_MAX = 32;

/** See the module. */
export class Kicker {
  #dialog = element("kick", HTMLDialogElement);
  #title = element("kick-title", HTMLElement);
  #reason = element("kick-reason", HTMLInputElement);
  #said = element("said", HTMLElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {import("./feed.js").Peer | null} */
  #peer = null;

  constructor() {
    element("kick-cancel", HTMLButtonElement).addEventListener("click", () => this.#dialog.close());
    element("kick-form", HTMLFormElement).addEventListener("submit", () => this.#kick());
  }

  /** @param {import("./feed.js").Peer} peer */
  ask(peer) {
    this.#peer = peer;
    this.#title.textContent = `Remove ${nameOf(peer)}`;
    this.#reason.value = "";
    this.#dialog.showModal();
    this.#reason.focus();
  }

  async #kick() {
    const peer = this.#peer;
    if (peer === null) return;
    const { isKicked, problem } = await kick(peer.player, this.#reason.value.trim());
    this.#say(isKicked ? `${nameOf(peer)} was removed` : `${nameOf(peer)} was not removed: ${problem}`);
  }

  /** @param {string} words */
  #say(words) {
    this.#said.textContent = words;
    this.#said.hidden = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#said.hidden = true), SAID_MS);
  }
}

/** @param {import("./feed.js").Peer} peer */
export function nameOf({ name, player }) {
  return name === "" ? `player ${player}` : plain(name, NAME_CHARACTERS_MAX);
}

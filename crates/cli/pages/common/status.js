/**
 * In words: what state the connection is in, how much is to be seen, and a curtain before the game when there
 * is nothing.
 */

import { TRANSPORTS, element, plain } from "/common/words.js";

/** @typedef {import("/netloom/index.js").Client} Client */

const COUNTS_MS = 500;

/** @type {Map<string, string>} */
const STATES = new Map([
  ["connecting", "Connecting"],
  ["reconnecting", "Connecting again"],
  ["disconnecting", "Leaving"],
  ["disconnected", "Not connected"],
]);

/** See the module. */
export class Status {
  #pill = element("status", HTMLElement);
  #words = element("status-words", HTMLElement);
  #place = element("place", HTMLElement);
  #counts = element("counts", HTMLElement);
  #curtain = element("curtain", HTMLElement);
  #title = element("curtain-title", HTMLElement);
  #text = element("curtain-words", HTMLElement);
  #button = element("curtain-button", HTMLButtonElement);
  #action = () => {};
  #countedAtMs = 0;

  constructor() {
    this.#button.addEventListener("click", () => this.#action());
  }

  /**
   * @param {string} state
   * @param {Client} client
   */
  setState(state, client) {
    this.#pill.dataset.state = state;
    const transport = TRANSPORTS.get(client.transport ?? "") ?? client.transport;
    this.#words.textContent =
      state === "connected" ? `Connected by ${transport}` : (STATES.get(state) ?? state);
    if (client.room !== null) this.#place.textContent = `Room ${plain(client.room, 32)}`;
  }

  /**
   * @param {Client} client
   * @param {import("/common/frames.js").FrameTimes} frames
   * @param {number} nowMs
   */
  update(client, frames, nowMs) {
    if (nowMs - this.#countedAtMs < COUNTS_MS) return;
    this.#countedAtMs = nowMs;
    const { objects } = client.stats();
    const words = `${objects} objects · ${frames.median.toFixed(1)} ms of script`;
    this.#counts.textContent = client.state === "connected" ? words : "";
  }

  /**
   * @param {string} title
   * @param {string} words
   * @param {string} label of the button
   * @param {() => void} action of the button
   */
  dropCurtain(title, words, label, action) {
    this.#title.textContent = title;
    this.#text.textContent = plain(words, 400);
    this.#button.textContent = label;
    this.#action = action;
    this.#curtain.hidden = false;
  }

  liftCurtain() {
    this.#curtain.hidden = true;
  }
}

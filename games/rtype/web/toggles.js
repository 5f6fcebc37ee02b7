/**
 * What the netcode does, one thing at a time: each can be switched off to see the game without it, and what
 * the server said can be seen beside what is shown.
 */

import { element } from "/common/words.js";

/** @typedef {import("/netloom/index.js").Client} Client */

/** See the module. */
export class Toggles {
  #prediction = element("prediction", HTMLInputElement);
  #interpolation = element("interpolation", HTMLInputElement);
  #lagCompensation = element("lag-compensation", HTMLInputElement);
  #ghosts = element("ghosts", HTMLInputElement);
  #split = element("split", HTMLInputElement);
  #beams = element("beams", HTMLElement);
  #fired = 0;
  #hit = 0;
  /** What the server was told of lag compensation; each client begins with it. */
  #isCompensated = true;
  /** @type {Client | null} */
  #client = null;
  #source;

  /**
   * @param {import("/rtype/net_source.js").NetSource} source
   * @param {import("/rtype/draw/view.js").View} view
   */
  constructor(source, view) {
    this.#source = source;
    this.#prediction.addEventListener("change", () => source.setPredicting(this.#prediction.checked));
    this.#interpolation.addEventListener("change", () => {
      this.#client?.setInterpolation(this.#interpolation.checked);
    });
    this.#ghosts.addEventListener("change", () => {
      view.hasGhosts = this.#ghosts.checked;
    });
    this.#split.addEventListener("change", () => {
      view.isSplit = this.#split.checked;
    });
  }

  /** What is switched off stays off for the next client. @param {Client} client */
  attach(client) {
    this.#client = client;
    this.#source.setPredicting(this.#prediction.checked);
    client.setInterpolation(this.#interpolation.checked);
    client.on("welcome", ({ isResumed }) => {
      if (!isResumed) this.#isCompensated = true;
    });
    client.on("call", ({ name, args }) => {
      if (name === "beam_hits") this.#count(args[0]);
    });
  }

  /** Asks for lag compensation as it is wanted, as soon as that can be asked. */
  update() {
    const isWanted = this.#lagCompensation.checked;
    if (isWanted === this.#isCompensated || this.#client?.canCall !== true) return;
    this.#client.call("lag_compensation", [isWanted]);
    this.#isCompensated = isWanted;
    this.#fired = 0;
    this.#hit = 0;
    this.#beams.textContent = "";
  }

  /** @param {number} hits of a beam */
  #count(hits) {
    this.#fired++;
    if (hits > 0) this.#hit++;
    this.#beams.textContent = `Beams: ${this.#hit} of ${this.#fired} hit something.`;
  }
}

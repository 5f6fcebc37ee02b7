/** Words across the field: what begins, what was won, who is waited for. One line at a time. */

import { element } from "/common/words.js";

const SHOWN_MS = 2_600;

/** See the module. */
export class Banner {
  #element = element("banner", HTMLElement);
  #title = element("banner-title", HTMLElement);
  #words = element("banner-words", HTMLElement);
  #untilMs = 0;
  /** What stands there while nothing else does. */
  #lasting = "";

  /**
   * @param {string} title
   * @param {string} [words]
   */
  say(title, words = "") {
    this.#untilMs = performance.now() + SHOWN_MS;
    this.#set(title, words);
  }

  /**
   * @param {number} nowMs
   * @param {string} lasting what stands there for as long as it is so; empty for nothing
   */
  update(nowMs, lasting) {
    this.#lasting = lasting;
    if (nowMs >= this.#untilMs) this.#set("", this.#lasting);
  }

  clear() {
    this.#untilMs = 0;
    this.#set("", "");
  }

  /**
   * @param {string} title
   * @param {string} words
   */
  #set(title, words) {
    if (this.#title.textContent !== title) this.#title.textContent = title;
    if (this.#words.textContent !== words) this.#words.textContent = words;
    const isEmpty = title === "" && words === "";
    if (this.#element.classList.contains("empty") !== isEmpty)
      this.#element.classList.toggle("empty", isEmpty);
  }
}

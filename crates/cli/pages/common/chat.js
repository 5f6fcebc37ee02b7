/** The chat: what others say is text, and only so much of it is kept. */

import { element, make, plain } from "/common/words.js";

/** @typedef {import("/netloom/index.js").Client} Client */

const LINES_MAX = 100;
const NAME_CHARACTERS_MAX = 24;
const TEXT_CHARACTERS_MAX = 500;

/** See the module. */
export class Chat {
  #lines = element("chat-lines", HTMLOListElement);
  #text = element("chat-text", HTMLInputElement);
  /** @type {Client | null} */
  #client = null;
  #isSettled = false;

  constructor() {
    element("chat", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.#say();
    });
  }

  /** @param {Client} client */
  attach(client) {
    this.#client = client;
    client.on("chat", ({ name, text }) => this.#add(name, text));
    client.on("notice", ({ text }) => this.#tell(text));
    // Those who were here before are told of as well, at the beginning.
    client.on("welcome", () => {
      this.#isSettled = false;
    });
    client.on("complete", () => {
      this.#isSettled = true;
    });
    client.on("join", ({ name }) => {
      if (this.#isSettled) this.#tell(`${plain(name, NAME_CHARACTERS_MAX)} came in`);
    });
    client.on("part", ({ name }) => this.#tell(`${plain(name, NAME_CHARACTERS_MAX)} left`));
  }

  #say() {
    const text = this.#text.value.trim();
    if (text === "") return;
    try {
      this.#client?.chat(text);
      this.#text.value = "";
    } catch (error) {
      this.#tell(`not said: ${error instanceof Error ? error.message : error}`);
    }
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  #add(name, text) {
    const line = make("li");
    const who = plain(name, NAME_CHARACTERS_MAX) || "server";
    line.append(make("b", who), make("span", ` ${plain(text, TEXT_CHARACTERS_MAX)}`));
    this.#append(line);
  }

  /** What nobody said. @param {string} text */
  #tell(text) {
    if (text !== "") this.#append(make("li", plain(text, TEXT_CHARACTERS_MAX), "told"));
  }

  /** @param {HTMLLIElement} line */
  #append(line) {
    const { scrollTop, clientHeight, scrollHeight } = this.#lines;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 8;
    this.#lines.append(line);
    while (this.#lines.childElementCount > LINES_MAX) this.#lines.firstElementChild?.remove();
    // Whoever reads further up is not pulled away.
    if (isAtEnd) this.#lines.scrollTop = this.#lines.scrollHeight;
  }
}

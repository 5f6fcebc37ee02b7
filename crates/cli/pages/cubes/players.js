/** Who is here, and under which name. */

import { element, make, plain } from "/common/words.js";

/** @typedef {import("/netloom/index.js").Client} Client */

const SHOWN_MAX = 40;
const NAME_CHARACTERS_MAX = 24;

/** See the module. */
export class Players {
  #list = element("player-list", HTMLUListElement);
  #count = element("player-count", HTMLElement);
  #session;

  /** @param {import("/common/session.js").Session} session */
  constructor(session) {
    this.#session = session;
    const text = element("name-text", HTMLInputElement);
    text.value = session.name;
    element("name", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      const name = text.value.trim();
      if (name !== "" && name !== session.name) session.rename(name);
    });
  }

  /** @param {Client} client */
  attach(client) {
    const show = () => this.#show(client);
    client.on("welcome", show);
    client.on("join", show);
    client.on("part", show);
    client.on("state", show);
  }

  /** @param {Client} client */
  #show(client) {
    const isHere = client.state === "connected";
    const others = isHere ? [...client.players.values()] : [];
    this.#count.textContent = String(others.length + (isHere ? 1 : 0));
    this.#list.replaceChildren();
    if (!isHere) return;
    this.#list.append(make("li", `${plain(this.#session.name, NAME_CHARACTERS_MAX)} (you)`, "you"));
    for (const { name, isSpectator } of others.slice(0, SHOWN_MAX)) {
      this.#list.append(make("li", plain(name, NAME_CHARACTERS_MAX) + (isSpectator ? " (watching)" : "")));
    }
    if (others.length > SHOWN_MAX) this.#list.append(make("li", `and ${others.length - SHOWN_MAX} more`));
  }
}

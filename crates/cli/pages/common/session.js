/**
 * The way to the server, and back to it.
 *
 * The SDK takes up a lost connection by itself, and waits for a server that was restarted. What is left for
 * the page: servers that were not there at the beginning, or were gone for too long; another transport or
 * name, which needs another client; and words for all of it.
 */

import { Client } from "/netloom/index.js";
import { keepName, keptName } from "/common/name.js";
import { TRANSPORTS } from "/common/words.js";

/** @typedef {import("/netloom/index.js").NetloomError} NetloomError */

/** Between attempts, in milliseconds. */
const PAUSES = [1_000, 2_000, 4_000, 8_000];
/** A connection that comes back within this time was not worth a word. */
const CURTAIN_MS = 400;
/** Endings after which the server may come back by itself. */
const MAY_BE_BACK = new Set(["unreachable", "lost", "shutdown", "room-ended"]);

/** @type {Map<string, string>} */
const TITLES = new Map([
  ["unreachable", "The server does not answer"],
  ["lost", "The connection is lost"],
  ["shutdown", "The server has stopped"],
  ["room-ended", "The room has ended"],
  ["protocol", "This page and the server do not match"],
  ["refused", "The server lets nobody in"],
  ["kicked", "You were sent out"],
]);

/** See the module. */
export class Session {
  /** The one that is shown; null before the first. */
  client = /** @type {Client | null} */ (null);
  /** Who wants to hear of each new client. @type {(client: Client) => void} */
  onClient = () => {};
  name;
  /** A transport by name; empty for the best there is. */
  transport;
  #protocol;
  #room;
  #status;
  #failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isWaiting = false;
  /** It said that it stops: that it does not answer from then on is no news. */
  #hasStopped = false;
  /** Settles when the last client that was replaced has left. @type {Promise<unknown>} */
  #parted = Promise.resolve();

  /**
   * @param {import("/netloom/index.js").Protocol} protocol
   * @param {import("/common/status.js").Status} status
   * @param {URLSearchParams} wishes
   */
  constructor(protocol, status, wishes) {
    this.#protocol = protocol;
    this.#status = status;
    this.name = wishes.get("name") || keptName();
    this.#room = wishes.get("room") ?? "";
    const transport = wishes.get("transport") ?? "";
    this.transport = TRANSPORTS.has(transport) ? transport : "";
    const hurry = () => {
      if (this.#isWaiting && document.visibilityState === "visible") this.open();
    };
    document.addEventListener("visibilitychange", hurry);
    addEventListener("online", hurry);
  }

  /** Connects, or connects anew as the settings are now. */
  open() {
    clearTimeout(this.#timer);
    this.#isWaiting = false;
    this.#hasStopped = false;
    const before = this.client;
    const client = new Client(location.origin, {
      protocol: this.#protocol,
      name: this.name,
      room: this.#room,
      reconnect: "always",
      transports: this.transport === "" ? undefined : [/** @type {any} */ (this.transport)],
    });
    this.client = client;
    client.on("state", (state) => this.#status.setState(state, client));
    client.on("welcome", () => this.#handleWelcome());
    client.on("lost", (error) => this.#handleLost(client, error));
    client.on("close", (error) => this.#handleClose(client, error));
    this.onClient(client);
    // The seat of the former client is given up first, so that its name is free.
    if (before !== null && before.state !== "disconnected") this.#parted = before.close();
    void this.#parted.then(() => {
      if (client !== this.client) return;
      client.open().catch(() => {
        // "close" tells the same.
      });
    });
  }

  /** Another name is another player. @param {string} name */
  rename(name) {
    this.name = name;
    keepName(name);
    this.open();
  }

  /** @param {string} transport */
  setTransport(transport) {
    this.transport = transport;
    this.open();
  }

  #handleWelcome() {
    clearTimeout(this.#timer);
    this.#hasStopped = false;
    this.#failures = 0;
    this.#status.liftCurtain();
  }

  /**
   * @param {Client} client
   * @param {NetloomError} error
   */
  #handleLost(client, error) {
    if (client !== this.client) return;
    if (this.#hasStopped && error.code === "unreachable") return;
    this.#hasStopped = error.code === "shutdown";
    clearTimeout(this.#timer);
    const title = TITLES.get(error.code) ?? "The connection is lost";
    this.#timer = setTimeout(() => {
      this.#status.dropCurtain(
        title,
        "This page comes back by itself as soon as the server answers.",
        "Try now",
        () => this.open(),
      );
    }, CURTAIN_MS);
  }

  /**
   * @param {Client} client
   * @param {NetloomError} error
   */
  #handleClose(client, error) {
    if (client !== this.client) return;
    clearTimeout(this.#timer);
    const title = TITLES.get(error.code) ?? "That did not work";
    if (error.code === "protocol") {
      const words = `${error.message}. A fresh copy of the page is likely to match.`;
      this.#status.dropCurtain(title, words, "Reload the page", () => location.reload());
    } else if (MAY_BE_BACK.has(error.code)) {
      this.#isWaiting = true;
      this.#timer = setTimeout(() => this.open(), PAUSES[Math.min(this.#failures++, PAUSES.length - 1)]);
      const words = "This page tries again by itself until it does.";
      this.#status.dropCurtain(title, `${sentence(error.message)} ${words}`, "Try now", () => this.open());
    } else {
      this.#status.dropCurtain(title, sentence(error.message), "Try again", () => this.open());
    }
  }
}

/** @param {string} words */
function sentence(words) {
  const text = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

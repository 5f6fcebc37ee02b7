/**
 * Before and after a game: who is here, who is ready, what will be played. The server has the last word on
 * all of it and tells the whole state whenever it changes, so every change is simply shown anew.
 */

import { keepName } from "/common/name.js";
import { element, make, plain } from "/common/words.js";
import { SEATS } from "/rtype/rules/constants.js";

/** @typedef {import("/netloom/index.js").Client} Client */
/** @typedef {NonNullable<Client["lobby"]["state"]>} LobbyState */

const NAME_CHARACTERS_MAX = 20;

/** See the module. */
export class LobbyPanel {
  /** Hears that a game begins. */
  onStarted = () => {};
  #panel = element("lobby", HTMLElement);
  #seats = element("seats", HTMLUListElement);
  #words = element("lobby-words", HTMLElement);
  #ready = element("ready", HTMLButtonElement);
  #watch = element("watch", HTMLButtonElement);
  #bots = element("bots", HTMLSelectElement);
  #level = element("level-choice", HTMLInputElement);
  #name = element("name-text", HTMLInputElement);
  #countdownAtMs = 0;
  #wantsAgain = false;
  #refusal = "";
  /** @type {Client | null} */
  #client = null;
  #session;

  /** @param {import("/common/session.js").Session} session */
  constructor(session) {
    this.#session = session;
    this.#name.value = session.name;
    element("name", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.#rename();
    });
    this.#name.addEventListener("change", () => this.#rename());
    this.#ready.addEventListener("click", () => this.toggleReady());
    this.#watch.addEventListener("click", () => this.#client?.lobby.spectate(!this.#own?.isSpectator));
    this.#bots.addEventListener("change", () => this.#set("bots", this.#bots.value));
    this.#level.addEventListener("change", () => this.#set("level", this.#level.value));
  }

  /** @param {Client} client */
  attach(client) {
    this.#client = client;
    client.on("state", () => this.#show());
    client.on("welcome", () => this.#show());
    client.on("lobby", (state) => this.#handleState(state));
    client.on("lobby-event", (event) => {
      if (event.type === "started") this.onStarted();
      if (event.type !== "refused") return;
      this.#refusal = event.text;
      this.#show();
    });
  }

  /** The lobby of a client that is here, or will be again; null if there is none. */
  get #state() {
    const isHere = this.#client?.state === "connected" || this.#client?.state === "reconnecting";
    return isHere ? (this.#client?.lobby.state ?? null) : null;
  }

  /** What somebody is called; empty if nobody knows. @param {number} player */
  nameOf(player) {
    return this.#state?.members.find((member) => member.player === player)?.name ?? "";
  }

  get #own() {
    return this.#state?.members.find(({ player }) => player === this.#client?.player);
  }

  /** Whether a game is on. */
  get isPlaying() {
    return this.#state?.phase === "playing";
  }

  /** Whether this player only watches. */
  get isWatching() {
    return this.#own?.isSpectator ?? false;
  }

  /** Says that this player is ready, or no longer. */
  toggleReady() {
    const own = this.#own;
    if (own === undefined || this.isPlaying) return;
    if (own.isSpectator) this.#client?.lobby.spectate(false);
    else this.#client?.lobby.ready(!own.isReady);
  }

  /** Ready for the next game as soon as there is a lobby again. */
  again() {
    this.#wantsAgain = true;
  }

  /** Time passes: a countdown goes on between two states. @param {number} nowMs */
  update(nowMs) {
    const state = this.#state;
    if (state?.phase === "countdown")
      this.#words.textContent = countdown(state.leftMs - (nowMs - this.#countdownAtMs));
  }

  /** @param {LobbyState} state */
  #handleState(state) {
    this.#countdownAtMs = performance.now();
    this.#refusal = "";
    if (this.#wantsAgain && state.phase === "waiting" && this.#own !== undefined) {
      this.#wantsAgain = false;
      if (!this.#own.isReady && !this.#own.isSpectator) this.#client?.lobby.ready();
    }
    this.#show();
  }

  #rename() {
    const name = this.#name.value.trim();
    if (name === "" || name === this.#session.name || this.#state === null) return;
    this.#session.name = name;
    keepName(name);
    this.#client?.lobby.rename(name);
  }

  /**
   * @param {string} key
   * @param {string} value
   */
  #set(key, value) {
    this.#client?.lobby.set(key, value);
    // Shown as it is until the server says that it is another.
    this.#show();
  }

  #show() {
    const state = this.#state;
    this.#panel.hidden = state === null || state.phase === "playing";
    if (state === null) return;
    const own = this.#own;
    const isHost = state.host === this.#client?.player;
    const bots = Number(state.settings.get("bots") ?? 0);
    this.#seats.replaceChildren(...this.#rows(state, bots));
    for (const [control, key] of /** @type {const} */ ([
      [this.#bots, "bots"],
      [this.#level, "level"],
    ])) {
      control.disabled = !isHost || state.phase !== "waiting";
      if (document.activeElement !== control || this.#refusal !== "")
        control.value = state.settings.get(key) ?? control.value;
    }
    this.#ready.textContent = own?.isSpectator
      ? "Take a seat"
      : own?.isReady
        ? "Not ready after all"
        : "Ready";
    this.#ready.setAttribute("aria-pressed", String(own?.isReady ?? false));
    this.#watch.hidden = own?.isSpectator ?? false;
    this.#words.textContent = this.#refusal || wordsFor(state, own, bots);
  }

  /**
   * @param {LobbyState} state
   * @param {number} bots
   */
  #rows({ members, host }, bots) {
    const players = members.filter(({ isSpectator }) => !isSpectator);
    const rows = players.map(({ player, name, isReady }, seat) => {
      const isOwn = player === this.#client?.player;
      const marks = [isOwn ? "you" : "", player === host ? "host" : ""].filter((mark) => mark !== "");
      return seatRow(
        seat,
        plain(name, NAME_CHARACTERS_MAX),
        marks.join(", "),
        isReady ? "ready" : "not ready",
      );
    });
    const botCount = Math.min(bots, SEATS - players.length);
    for (let bot = 0; bot < botCount; bot++) rows.push(seatRow(rows.length, "bot", "", "ready"));
    while (rows.length < SEATS) rows.push(seatRow(rows.length, "free seat", "", ""));
    const watching = members
      .filter(({ isSpectator }) => isSpectator)
      .map(({ name }) => plain(name, NAME_CHARACTERS_MAX));
    if (watching.length > 0)
      rows.push(make("li", `Watching: ${watching.slice(0, 6).join(", ")}`, "watching"));
    return rows;
  }
}

/**
 * @param {number} seat
 * @param {string} name
 * @param {string} marks
 * @param {string} state
 */
function seatRow(seat, name, marks, state) {
  const row = make("li", "", state === "" ? "free" : state === "ready" ? "is-ready" : "");
  row.dataset.seat = String(seat);
  row.append(make("span", name, "who"));
  if (marks !== "") row.append(make("span", marks, "marks"));
  row.append(make("span", state === "" ? "" : state === "ready" ? "✓ ready" : "…", "state"));
  return row;
}

/**
 * @param {LobbyState} state
 * @param {LobbyState["members"][number] | undefined} own
 * @param {number} bots
 */
function wordsFor(state, own, bots) {
  if (state.phase === "countdown") return countdown(state.leftMs);
  const players = state.members.filter(({ isSpectator }) => !isSpectator);
  const missing = state.playersMin - players.length;
  if (missing > 0) return `${missing} more to come before a game can begin.`;
  if (own?.isSpectator) return "You watch.";
  if (own?.isReady !== true)
    return bots === 0 && players.length === 1
      ? "Ready when you are. Bots fill seats."
      : "Ready when you are.";
  const others = players
    .filter(({ isReady }) => !isReady)
    .map(({ name }) => plain(name, NAME_CHARACTERS_MAX));
  return others.length === 0 ? "All are ready." : `Waiting for ${others.join(", ")}.`;
}

/** @param {number} leftMs */
function countdown(leftMs) {
  return `Starts in ${Math.max(1, Math.ceil(leftMs / 1_000))}`;
}

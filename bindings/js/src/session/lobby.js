/**
 * The lobby: who plays in a room, before, during and after a game (section "lobby" of the standard).
 *
 * A client gives commands, and the server answers with events and tells the whole state whenever it changed.
 * So there is nothing to merge: the newest state is the state.
 */

import { ByteReader } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { LOBBY_REFUSALS, rowOf } from "./codes.js";
import { NetloomError } from "./error.js";
import { KIND, checkText } from "./messages.js";

const TYPED_BYTES_MAX = 2_000;
const KEY_BYTES_MAX = 32;
const VALUE_BYTES_MAX = 64;
const NAME_BYTES_MAX = 128;
const REASON_BYTES_MAX = 400;
const PLAYERS_MAX = 64;
const TEAMS_MAX = 16;
const SETTINGS_MAX = 32;
const MEMBERS_MAX = 128;
const PHASES = /** @type {const} */ (["waiting", "countdown", "playing"]);

/**
 * Somebody in the lobby.
 * @typedef {object} Member
 * @property {number} player
 * @property {string} name as the server cleaned it; show it as text, never as markup
 * @property {number | null} team
 * @property {boolean} isReady
 * @property {boolean} isSpectator
 */

/**
 * A lobby.
 * @typedef {object} LobbyState
 * @property {"waiting" | "countdown" | "playing"} phase
 * @property {number} leftMs of the countdown, when this state was made
 * @property {number | null} host
 * @property {number} playersMax
 * @property {number} playersMin
 * @property {number} teams
 * @property {number} spectatorsMax
 * @property {Map<string, string>} settings
 * @property {Member[]} members in the order in which they came
 */

/**
 * @param {Uint8Array} bytes
 * @returns {LobbyState}
 */
export function readLobbyState(bytes) {
  const reader = new ByteReader(bytes);
  const phase = PHASES[reader.u8()];
  if (phase === undefined) throw new WireError("OutOfRange");
  const state = {
    phase,
    leftMs: phase === "countdown" ? reader.u32() : 0,
    host: reader.bool() ? reader.u32() : null,
    playersMax: readCount(reader, PLAYERS_MAX),
    playersMin: readCount(reader, PLAYERS_MAX),
    teams: readCount(reader, TEAMS_MAX),
    spectatorsMax: readCount(reader, PLAYERS_MAX),
    settings: new Map(),
    /** @type {Member[]} */
    members: [],
  };
  for (let left = readCount(reader, SETTINGS_MAX); left > 0; left--) {
    const key = reader.str(KEY_BYTES_MAX);
    state.settings.set(key, reader.str(VALUE_BYTES_MAX));
  }
  for (let left = readCount(reader, MEMBERS_MAX); left > 0; left--) {
    state.members.push(readMember(reader, state.teams));
  }
  reader.finish();
  return state;
}

/**
 * @param {ByteReader} reader
 * @param {number} max
 */
function readCount(reader, max) {
  const count = reader.u8();
  if (count > max) throw new WireError("TooLong");
  return count;
}

/**
 * @param {ByteReader} reader
 * @param {number} teams
 * @returns {Member}
 */
function readMember(reader, teams) {
  const player = reader.u32();
  const flags = reader.u8();
  if (flags > 7) throw new WireError("ReservedBits");
  const team = (flags & 4) !== 0 ? reader.u16() : null;
  if (team !== null && team >= teams) throw new WireError("OutOfRange");
  const name = reader.str(NAME_BYTES_MAX);
  return { player, name, team, isReady: (flags & 2) !== 0, isSpectator: (flags & 1) !== 0 };
}

/**
 * Something that happened in the lobby. `player` of a chat is null if the server says it.
 * @typedef {{ type: "started", player: number } | { type: "stopped" }
 *   | { type: "kicked", player: number, reason: string }
 *   | { type: "chat", player: number | null, team: number | null, text: string }
 *   | { type: "refused", reason: string, text: string }} LobbyEvent
 */

/**
 * @param {Uint8Array} bytes
 * @returns {LobbyEvent}
 */
export function readLobbyEvent(bytes) {
  const reader = new ByteReader(bytes);
  const event = readEvent(reader);
  reader.finish();
  return event;
}

/**
 * @param {ByteReader} reader
 * @returns {LobbyEvent}
 */
function readEvent(reader) {
  switch (reader.u8()) {
    case 0:
      return { type: "started", player: reader.u32() };
    case 1:
      return { type: "stopped" };
    case 2: {
      const player = reader.u32();
      return { type: "kicked", player, reason: reader.str(REASON_BYTES_MAX) };
    }
    case 3: {
      const flags = reader.u8();
      if (flags > 3) throw new WireError("ReservedBits");
      const player = (flags & 1) !== 0 ? null : reader.u32();
      const team = (flags & 2) !== 0 ? reader.u16() : null;
      return { type: "chat", player, team, text: reader.str(TYPED_BYTES_MAX) };
    }
    case 4: {
      const { name, words } = rowOf(LOBBY_REFUSALS, reader.u8());
      return { type: "refused", reason: name, text: words };
    }
    default:
      throw new WireError("OutOfRange");
  }
}

/** What a player may ask of the lobby. The server has the last word; a refusal is an event. */
export class Lobby {
  #send;
  /** @type {LobbyState | null} */
  #state = null;

  /**
   * @param {(fill: (out: import("../wire/bytes.js").ByteWriter) => void) => void} send sends a message of
   *   control
   */
  constructor(send) {
    this.#send = send;
  }

  /** The lobby as the server told of it last; null in a room without one. */
  get state() {
    return this.#state;
  }

  /** @param {LobbyState | null} state */
  setState(state) {
    this.#state = state;
  }

  /** @param {boolean} isReady */
  ready(isReady = true) {
    this.#command(0, (out) => out.bool(isReady));
  }

  /** @param {number} team */
  team(team) {
    if (!Number.isInteger(team) || team < 0 || team > 0xffff) {
      throw new NetloomError("setting", `a team is a number from 0 on, not ${team}`);
    }
    this.#command(1, (out) => out.u16(team));
  }

  /** @param {boolean} watches whether to watch, or to take a seat again */
  spectate(watches = true) {
    this.#command(2, (out) => out.bool(watches));
  }

  /** @param {string} name */
  rename(name) {
    checkText("the name", name, TYPED_BYTES_MAX);
    this.#command(3, (out) => out.str(name));
  }

  /**
   * For the host.
   * @param {string} key
   * @param {string} value
   */
  set(key, value) {
    checkText("the key of a setting", key, KEY_BYTES_MAX);
    checkText("the value of a setting", value, VALUE_BYTES_MAX);
    this.#command(4, (out) => {
      out.str(key);
      out.str(value);
    });
  }

  /** For the host. */
  start() {
    this.#command(5);
  }

  /** For the host, in a countdown. */
  cancel() {
    this.#command(6);
  }

  /** For the host, in a game. */
  restart() {
    this.#command(7);
  }

  /**
   * For the host.
   * @param {number} player
   * @param {string} [reason]
   */
  kick(player, reason = "") {
    checkText("the reason", reason, TYPED_BYTES_MAX);
    this.#command(8, (out) => {
      out.u32(player);
      out.str(reason);
    });
  }

  /**
   * @param {string} text
   * @param {{ toTeam?: boolean }} [options]
   */
  chat(text, { toTeam = false } = {}) {
    checkText("the line", text, TYPED_BYTES_MAX);
    this.#command(toTeam ? 10 : 9, (out) => out.str(text));
  }

  /**
   * @param {number} kind
   * @param {(out: import("../wire/bytes.js").ByteWriter) => void} [content]
   */
  #command(kind, content) {
    this.#send((out) => {
      out.u8(KIND.lobby);
      out.u8(kind);
      content?.(out);
    });
  }
}

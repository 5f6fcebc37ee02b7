/** Who else is in the room, and what is said there: the part of a server's messages that is about people. */

import { Lobby, readLobbyEvent, readLobbyState } from "./lobby.js";

/** A room has no more players, and no more spectators, than 16 bits count. */
const PLAYERS_MAX = 2 * 65_535;

/** See the module. */
export class Company {
  /** @type {Map<number, { name: string, isSpectator: boolean }>} everybody else, by number */
  players = new Map();
  #events;

  /**
   * @param {import("./events.js").Events} events
   * @param {(fill: (out: import("../wire/bytes.js").ByteWriter) => void) => void} send a message of control
   */
  constructor(events, send) {
    this.#events = events;
    this.lobby = new Lobby(send);
  }

  /** Another seat, or none: the room tells everything anew. */
  clear() {
    this.players.clear();
    this.lobby.setState(null);
  }

  /**
   * @param {import("./messages.js").ToClient} message
   * @param {import("./seat.js").Seat | null} seat
   * @returns {boolean} whether it was about people
   */
  handle(message, seat) {
    switch (message.type) {
      case "lobby-state": {
        const state = readLobbyState(message.bytes);
        this.lobby.setState(state);
        seat?.handleRole(state.members);
        this.#events.push({ type: "lobby", state });
        return true;
      }
      case "lobby-event":
        this.#events.push({ type: "lobby-event", event: readLobbyEvent(message.bytes) });
        return true;
      case "joined": {
        const { player, name, isSpectator } = message;
        if (this.players.size < PLAYERS_MAX) this.players.set(player, { name, isSpectator });
        this.#events.push({ type: "joined", player, name, isSpectator });
        return true;
      }
      case "left": {
        const name = this.players.get(message.player)?.name ?? "";
        this.players.delete(message.player);
        this.#events.push({ type: "left", player: message.player, name });
        return true;
      }
      case "said":
        this.#events.push({ ...message, player: message.player === 0 ? null : message.player });
        return true;
      default:
        return false;
    }
  }
}

/** Who is connected, and how well. */

import { element, plain } from "/common/words.js";
import { bytes, bytesPerSecond, hertz, milliseconds, percent } from "./figures.js";
import { nameOf } from "./kick.js";
import { Table } from "./table.js";

/** @typedef {import("./feed.js").Peer} Peer */

/** What a player notices, and what spoils a game. */
const PING_MS = { warn: 150, bad: 300 };
const LOSS_PERCENT = { warn: 2, bad: 5 };
const QUEUE_EVENTS = { warn: 32, bad: 128 };
/** A connection that takes nearly all that may be sent holds something back. */
const BUDGET_SHARE = { warn: 0.9, bad: Infinity };

/**
 * @param {number} value
 * @param {{ warn: number, bad: number }} limits
 */
const levelOf = (value, { warn, bad }) => (value >= bad ? "bad" : value >= warn ? "warn" : "");

/** See the module. */
export class Peers {
  #search = element("search", HTMLInputElement);
  #count = element("peer-count", HTMLElement);
  #table;
  /** @type {Peer[]} */
  #peers = [];
  /** The names of rooms. @type {Map<number, string>} */
  #rooms = new Map();

  /** @param {(peer: Peer) => void} kick */
  constructor(kick) {
    this.#table = new Table(element("peers", HTMLElement), {
      caption: "Players and how well they are connected",
      key: (peer) => peer.player,
      empty: "Nobody is here.",
      sorted: 8,
      button: { text: "Kick", label: (peer) => `Kick ${nameOf(peer)}`, press: kick },
      columns: this.#columns(),
    });
    this.#search.addEventListener("input", () => this.#show());
  }

  /** @returns {import("./table.js").Column<Peer>[]} */
  #columns() {
    const room = (/** @type {Peer} */ peer) => this.#rooms.get(peer.room) ?? String(peer.room);
    return [
      { title: "Player", isWords: true, value: (peer) => nameOf(peer) },
      { title: "#", about: "Its number", value: (peer) => peer.player },
      { title: "Room", isWords: true, value: room },
      { title: "Transport", isWords: true, value: (peer) => peer.transport },
      {
        title: "RTT",
        about: "Round trip",
        value: (peer) => peer.ping_ms,
        text: (peer) => milliseconds(peer.ping_ms),
        level: (peer) => levelOf(peer.ping_ms, PING_MS),
      },
      {
        title: "Jitter",
        about: "How much the round trip varies",
        value: (peer) => peer.jitter_ms,
        text: (peer) => milliseconds(peer.jitter_ms),
      },
      {
        title: "Loss",
        about: "The share of packets that are lost",
        value: (peer) => peer.packet_loss_percent,
        text: (peer) => percent(peer.packet_loss_percent),
        level: (peer) => levelOf(peer.packet_loss_percent, LOSS_PERCENT),
      },
      {
        title: "Rate",
        about: "Snapshots a second, as adapted to the connection",
        value: (peer) => peer.send_rate_hertz,
        text: (peer) => hertz(peer.send_rate_hertz),
      },
      {
        title: "Out",
        about: "Sent to it",
        value: (peer) => peer.sent_bytes_per_second,
        text: (peer) => bytesPerSecond(peer.sent_bytes_per_second),
        level: (peer) => levelOf(peer.sent_bytes_per_second / peer.budget_bytes_per_second, BUDGET_SHARE),
      },
      {
        title: "In",
        about: "Received from it",
        value: (peer) => peer.received_bytes_per_second,
        text: (peer) => bytesPerSecond(peer.received_bytes_per_second),
      },
      {
        title: "Budget",
        about: "What may be sent to it, by its connection and the settings",
        value: (peer) => peer.budget_bytes_per_second,
        text: (peer) => bytesPerSecond(peer.budget_bytes_per_second),
      },
      {
        title: "Queue",
        about: "Events that wait",
        value: (peer) => peer.queue_events,
        level: (peer) => levelOf(peer.queue_events, QUEUE_EVENTS),
      },
      {
        title: "Pending",
        about: "Unsent or unacknowledged",
        value: (peer) => peer.pending_bytes,
        text: (peer) => bytes(peer.pending_bytes),
      },
      {
        title: "World",
        about: "Objects that it is known to have, of those that it sees",
        value: (peer) => peer.held_objects,
        text: (peer) => `${peer.held_objects}/${peer.seen_objects}`,
      },
    ];
  }

  /** @param {import("./feed.js").Data} data */
  update({ peers, rooms }) {
    this.#peers = peers;
    this.#rooms = new Map(rooms.map(({ room, name }) => [room, plain(name, 24)]));
    this.#show();
  }

  #show() {
    const sought = this.#search.value.trim().toLowerCase();
    const found = this.#peers.filter((peer) => {
      const texts = [peer.name, `#${peer.player}`, peer.transport, this.#rooms.get(peer.room) ?? ""];
      return texts.some((text) => text.toLowerCase().includes(sought));
    });
    const all = this.#peers.length;
    this.#count.textContent = found.length === all ? String(all) : `${found.length} of ${all}`;
    this.#table.update(found);
  }
}

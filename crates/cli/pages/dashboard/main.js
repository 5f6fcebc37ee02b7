/** Puts the dashboard together. */

import { element, make, plain } from "/common/words.js";
import { Chart } from "./chart.js";
import { Feed } from "./feed.js";
import {
  bytesPerSecond,
  count,
  duration,
  hertz,
  milliseconds,
  perSecond,
  percent,
  words,
} from "./figures.js";
import { Histogram } from "./histogram.js";
import { Kicker, nameOf } from "./kick.js";
import { Peers } from "./peers.js";
import { Ranking } from "./ranking.js";
import { Table } from "./table.js";

/** @typedef {import("./feed.js").Data} Data */

/** The server at this moment. @type {[string, (server: Record<string, number>) => string][]} */
const TILES = [
  ["Players", (server) => count(server.peers)],
  ["Objects", (server) => count(server.objects)],
  ["Out", (server) => bytesPerSecond(server.sent_bytes_per_second)],
  ["In", (server) => bytesPerSecond(server.received_bytes_per_second)],
  ["Round trip", (server) => milliseconds(server.ping_ms)],
  ["Loss", (server) => percent(server.packet_loss_percent)],
  ["Tick p99", (server) => milliseconds(server.tick_p99_ms)],
  ["Send rate", (server) => hertz(server.send_rate_hertz)],
  ["Rejects", (server) => perSecond(server.rejects_per_second)],
];

/** @type {import("./chart.js").ChartOptions[]} */
const CHARTS = [
  {
    title: "Traffic",
    least: 1_000,
    format: bytesPerSecond,
    lines: [
      { label: "out", figure: "sent_bytes_per_second", colour: "blue" },
      { label: "in", figure: "received_bytes_per_second", colour: "amber" },
    ],
  },
  {
    title: "Tick",
    least: 1,
    format: milliseconds,
    lines: [
      { label: "p50", figure: "tick_p50_ms", colour: "blue" },
      { label: "p99", figure: "tick_p99_ms", colour: "amber" },
      { label: "longest", figure: "tick_longest_ms", colour: "white" },
    ],
  },
  {
    title: "Round trip",
    least: 10,
    format: milliseconds,
    lines: [
      { label: "mean", figure: "ping_ms", colour: "blue" },
      { label: "jitter", figure: "jitter_ms", colour: "amber" },
    ],
  },
  {
    title: "Packets lost",
    least: 1,
    format: percent,
    lines: [{ label: "mean", figure: "packet_loss_percent", colour: "blue" }],
  },
  {
    title: "World",
    least: 10,
    format: count,
    lines: [
      { label: "objects", figure: "objects", colour: "blue" },
      { label: "players", figure: "peers", colour: "amber" },
    ],
  },
  {
    title: "Rejects",
    least: 1,
    format: perSecond,
    lines: [{ label: "all", figure: "rejects_per_second", colour: "blue" }],
  },
];

const TALKERS_MAX = 6;
const CLASSES_MAX = 12;
const REJECTS_MAX = 12;

/** Everything that is shown. */
class Dashboard {
  #about = element("about", HTMLElement);
  #status = element("status", HTMLElement);
  #statusWords = element("status-words", HTMLElement);
  #roomCount = element("room-count", HTMLElement);
  #tiles = makeTiles(element("tiles", HTMLElement));
  #charts = CHARTS.map((options) => new Chart(element("charts", HTMLElement), options));
  #ticks = new Histogram(element("ticks", HTMLElement));
  #talkers = new Ranking(element("talkers", HTMLElement), "Nobody talks.", TALKERS_MAX);
  #classes = new Ranking(element("classes", HTMLElement), "Nothing was sent.", CLASSES_MAX);
  #rejects = new Ranking(element("rejects", HTMLElement), "Nothing was refused.", REJECTS_MAX);
  #kicker = new Kicker();
  #peers = new Peers((peer) => this.#kicker.ask(peer));
  #rooms = makeRooms(element("rooms", HTMLElement));
  #feed = new Feed(
    (data) => this.#show(data),
    (problem) => this.#setStatus("lost", problem),
  );

  constructor() {
    const pause = element("pause", HTMLButtonElement);
    pause.addEventListener("click", () => {
      const isPaused = pause.getAttribute("aria-pressed") !== "true";
      pause.setAttribute("aria-pressed", String(isPaused));
      this.#feed.setPaused(isPaused);
      if (isPaused) this.#setStatus("waiting", "Paused");
    });
  }

  run() {
    return this.#feed.run();
  }

  /**
   * @param {string} state
   * @param {string} text
   */
  #setStatus(state, text) {
    if (this.#statusWords.textContent === text) return;
    this.#status.dataset.state = state;
    this.#statusWords.textContent = text;
  }

  /** @param {Data} data */
  #show(data) {
    const { game, netloom, uptime_seconds, health, server, ticks, rooms, peers, classes, rejects } = data;
    this.#about.textContent = `${plain(game, 24)} · version ${netloom} · up for ${duration(uptime_seconds)}`;
    this.#setStatus(health === "ok" ? "well" : "lost", health === "ok" ? "Running" : health);
    if (server !== null) this.#tiles.forEach((tile, index) => (tile.textContent = TILES[index][1](server)));
    this.#charts.forEach((chart) => chart.update(this.#feed.figures));
    this.#ticks.update(ticks, Math.max(0, ...rooms.map((room) => room.steps_per_second)));
    this.#peers.update(data);
    this.#roomCount.textContent = String(rooms.length);
    this.#rooms.update(rooms);
    this.#talkers.update(peers.map(talker).filter(({ size }) => size > 0));
    this.#classes.update(classes.map(objectClass).filter(({ size }) => size > 0));
    this.#rejects.update(
      rejects.map(({ kind, reason, total, per_second }) => ({
        name: `${words(reason)} (${kind})`,
        about: `${total} since the server began`,
        size: total,
        text: per_second > 0 ? `${count(total)} · ${perSecond(per_second)}` : count(total),
      })),
    );
  }
}

/** @param {import("./feed.js").Peer} peer */
function talker(peer) {
  const size = peer.sent_bytes_per_second + peer.received_bytes_per_second;
  return { name: nameOf(peer), about: `player ${peer.player}`, size, text: bytesPerSecond(size) };
}

/** @param {import("./feed.js").ObjectClass} each */
function objectClass(each) {
  const updates = each.updates_per_second + each.entries_per_second + each.values_per_second;
  return {
    name: `${each.class} × ${count(each.objects)}`,
    about: `${perSecond(each.updates_per_second)} updates, ${perSecond(each.entries_per_second)} entries`,
    size: each.bytes_per_second,
    text: `${bytesPerSecond(each.bytes_per_second)} · ${count(updates)} updates/s`,
  };
}

/** @param {HTMLElement} parent */
function makeTiles(parent) {
  return TILES.map(([label]) => {
    const tile = make("div");
    const value = make("dd", "–");
    tile.append(make("dt", label), value);
    parent.append(tile);
    return value;
  });
}

/** @param {HTMLElement} parent @returns {Table<import("./feed.js").Room>} */
function makeRooms(parent) {
  const isAny = (/** @type {number} */ value) => (value > 0 ? "warn" : "");
  return new Table(parent, {
    caption: "Rooms and what they do",
    key: (room) => room.room,
    empty: "There are no rooms.",
    columns: [
      { title: "Room", isWords: true, value: (room) => plain(room.name, 32) },
      { title: "Players", value: (room) => room.players },
      { title: "Objects", value: (room) => room.objects },
      {
        title: "Steps",
        value: (room) => room.steps_per_second,
        text: (room) => perSecond(room.steps_per_second),
      },
      {
        title: "Snapshots",
        value: (room) => room.snapshots_per_second,
        text: (room) => perSecond(room.snapshots_per_second),
      },
      {
        title: "Out",
        about: "Bytes of snapshots",
        value: (room) => room.snapshot_bytes_per_second,
        text: (room) => bytesPerSecond(room.snapshot_bytes_per_second),
      },
      {
        title: "Calls",
        value: (room) => room.calls_per_second,
        text: (room) => perSecond(room.calls_per_second),
      },
      {
        title: "Skipped",
        about: "Steps whose time passed without them being made",
        value: (room) => room.skipped_steps_total,
        level: (room) => isAny(room.skipped_steps_per_second),
      },
      { title: "Inputs refused", value: (room) => room.rejected_inputs_total },
      { title: "Calls refused", value: (room) => room.refused_calls_total },
      {
        title: "Undelivered",
        about: "Messages for which there was no room, or nobody to send to",
        value: (room) => room.undelivered_messages_total,
      },
      {
        title: "Overflows",
        about: "Ticks in which codes found no room in their memory: raise replication.arena_size",
        value: (room) => room.arena_overflows_total,
        level: (room) => isAny(room.arena_overflows_total),
      },
    ],
  });
}

await new Dashboard().run();

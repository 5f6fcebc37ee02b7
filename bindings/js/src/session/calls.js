/**
 * Calls of a client, in both directions. Where those that arrive may have to wait, and for how long, is told
 * in call_waiting.js. Calls of this client do not wait: before the two sides agree on names they fail,
 * because only then is it known whether the server takes them at all.
 */

import { ViewEvents } from "../replica/view/events.js";
import { ByteWriter } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { FRAME_HEADER_BYTES_MAX, readServerCall, targetCode, writeCallHead } from "./call_frame.js";
import { CallList, CallMap } from "./call_table.js";
import { CallInbox, WaitingCalls } from "./call_waiting.js";
import { NetloomError } from "./error.js";
import { CHANNEL, KIND } from "./messages.js";
import { ARGS_BYTES_MAX, readArgs, writeArgs } from "./msgpack.js";

const AT_VIEW_MAX = 256;
const AHEAD_MAX_US = 2_000_000;

/**
 * A call that arrived.
 * @typedef {object} Called
 * @property {string} name
 * @property {any[]} args
 * @property {number | null} player who calls; null is the server. That is the server's word, no player can
 *   forge it
 * @property {number | null} alias of the object that it is about; null if there is none, or this client does
 *   not see it
 * @property {number | null} tick of snapshots that it belongs to, if it was to be seen together with that
 * @property {number} lateMs by how much that had passed
 */

/** @typedef {import("./call_frame.js").ServerCall} ServerCall */

/** See the module. */
export class Calls {
  /** What became of the calls that arrived. */
  counters = { given: 0, unknown: 0, malformed: 0, dropped: 0, withoutObject: 0 };
  /** @type {CallMap | null} null until both sides agree */
  #map = null;
  #list = new CallList();
  #inbox = new CallInbox();
  #waiting = new WaitingCalls();
  #atView = /** @type {ViewEvents<Called>} */ (
    new ViewEvents({ waitingMax: AT_VIEW_MAX, aheadUsMax: AHEAD_MAX_US })
  );
  #message = new ByteWriter(1 + FRAME_HEADER_BYTES_MAX + ARGS_BYTES_MAX);
  #table;
  #events;

  /**
   * @param {import("./call_table.js").CallTable} table
   * @param {import("./events.js").Events} events
   */
  constructor(table, events) {
    this.#table = table;
    this.#events = events;
  }

  /** Whether this client knows which calls the server has. */
  get isAgreed() {
    return this.#map !== null;
  }

  /** Another connection, or none: nothing of the old one counts. */
  restart() {
    this.#map = null;
    this.#list = new CallList();
    this.#inbox.take();
    this.#waiting.clear();
    this.#atView.clear();
  }

  /** @param {boolean} hasSameCalls */
  handleWelcome(hasSameCalls) {
    this.#map = hasSameCalls ? CallMap.same(this.#table) : null;
  }

  /**
   * A page of the server's list.
   * @param {Uint8Array} page
   */
  handlePage(page) {
    if (!this.#list.handlePage(page)) return;
    this.#map = new CallMap(this.#table, this.#list.entries);
    this.#events.push({ type: "calls-agreed", missing: this.#map.missing() });
  }

  /**
   * Keeps a call until `deliver`: what entered with the same packet comes first.
   * @param {Uint8Array} frame
   */
  handleCall(frame) {
    if (!this.#inbox.push(frame)) this.counters.dropped++;
  }

  /**
   * The name behind one of the server's ids; null if this side has none.
   * @param {number} id
   */
  nameOf(id) {
    return this.#map?.incoming(id)?.name ?? null;
  }

  /**
   * An object is here: what waits for it goes on.
   * @param {number} alias
   * @param {import("./seat.js").Seat} seat
   */
  handleEntered(alias, seat) {
    this.#waiting.release(alias, (call) => this.#give(call, seat));
  }

  /**
   * Goes through what has arrived, if both sides agree on names.
   * @param {number} now
   * @param {import("./seat.js").Seat} seat
   */
  deliver(now, seat) {
    if (this.#map === null) return;
    for (const frame of this.#inbox.take()) {
      const call = this.#read(() => readServerCall(frame));
      if (call === null) continue;
      if (call.alias !== null && !seat.isInSight(call.alias)) {
        this.#waiting.hold(now, call, (oldest) => this.#giveWithoutObject(oldest, seat));
      } else {
        this.#give(call, seat);
      }
    }
  }

  /**
   * Gives what the view has reached, and what has waited for its object for too long.
   * @param {number} now
   * @param {import("./seat.js").Seat} seat
   */
  advance(now, seat) {
    this.#waiting.handleTimeout(now, (call) => this.#giveWithoutObject(call, seat));
    const viewTime = seat.viewTime;
    if (viewTime === null) return;
    for (let due = this.#atView.poll(viewTime); due !== null; due = this.#atView.poll(viewTime)) {
      this.counters.given++;
      this.#events.push({ type: "called", call: { ...due.payload, lateMs: due.late / 1_000 } });
    }
  }

  nextTimeout() {
    return this.#waiting.nextTimeout();
  }

  /**
   * The message of a call and the channel that it travels on.
   * @param {string} name
   * @param {readonly any[]} args
   * @param {import("./call_frame.js").Target} target
   * @param {number | null} alias
   * @param {import("./seat.js").Seat} seat
   */
  write(name, args, target, alias, seat) {
    if (this.#map === null) {
      throw new NetloomError(
        "call",
        'the server\'s list of calls has not arrived yet: wait for the event "calls"',
      );
    }
    const { id, options } = this.#map.outgoing(name, targetCode(target) !== 0);
    const out = this.#message.reset();
    out.u8(KIND.call);
    writeCallHead(out, { id, target, alias, tick: options.atViewTime ? seat.viewTick : null });
    const head = out.at;
    writeArgs(out, args);
    if (out.at - head > options.bytesMax) {
      const words = `the arguments of "${name}" take ${out.at - head} bytes, allowed are ${options.bytesMax}`;
      throw new NetloomError("arguments", words);
    }
    const channel = CHANNEL[options.delivery];
    return { channel, message: out.written() };
  }

  /**
   * @param {ServerCall} call
   * @param {import("./seat.js").Seat} seat
   */
  #giveWithoutObject(call, seat) {
    this.counters.withoutObject++;
    this.#give({ ...call, alias: null }, seat);
  }

  /**
   * @param {ServerCall} call
   * @param {import("./seat.js").Seat} seat
   */
  #give(call, seat) {
    const row = this.#map?.incoming(call.id);
    if (row === undefined) {
      this.counters.unknown++;
      return;
    }
    const args = this.#read(() => readArgs(call.args));
    if (args === null) return;
    const player = call.caller === 0 ? null : call.caller;
    const called = { name: row.name, args, player, alias: call.alias, tick: call.tick, lateMs: 0 };
    const viewTime = seat.viewTime;
    if (call.tick !== null && viewTime !== null) {
      const time = seat.timeOf(call.tick);
      // What cannot wait is given at once: a call that was to arrive does.
      if (this.#atView.push(viewTime, time, true, called)) return;
    }
    this.counters.given++;
    this.#events.push({ type: "called", call: called });
  }

  /**
   * @template T
   * @param {() => T} read
   * @returns {T | null}
   */
  #read(read) {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.counters.malformed++;
      return null;
    }
  }
}

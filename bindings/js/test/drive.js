// Drives a connection over a transport in real time.
import { Connection } from "../src/proto/connection.js";

/** Microseconds from an arbitrary zero. */
export const now = () => performance.now() * 1000;

/** @type {Set<Driven>} those that a failing test leaves behind, which would keep the process from ending */
const alive = new Set();

/** Ends everything that still runs. */
export function dropAll() {
  for (const driven of alive) driven.drop();
}

/**
 * Runs a test again, at most twice, that failed while the machine stood still: a computer that sleeps for
 * half a minute lets every connection time out, which says nothing about the code.
 * @param {() => Promise<void>} body
 */
export function whileAwake(body) {
  return async () => {
    for (let runsLeft = 2; ; runsLeft--) {
      let last = performance.now();
      let stoodStillMs = 0;
      const watch = () => {
        stoodStillMs = Math.max(stoodStillMs, performance.now() - last);
        last = performance.now();
      };
      const watcher = setInterval(watch, 50);
      try {
        return await body();
      } catch (error) {
        watch();
        dropAll();
        if (stoodStillMs < 2000 || runsLeft === 0) throw error;
      } finally {
        clearInterval(watcher);
      }
    }
  };
}

/** A connection, its transport, and what happened so far. */
export class Driven {
  /**
   * @param {import("../src/transport/transport.js").Transport} transport
   * @param {ConstructorParameters<typeof Connection>[0]} settings
   */
  constructor(transport, settings) {
    alive.add(this);
    this.transport = transport;
    this.connection = new Connection(settings);
    /** @type {import("../src/proto/inbox.js").ConnectionEvent[]} */
    this.events = [];
    /** @type {(() => void)[]} */
    this.waiting = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    transport.onDatagram = (bytes) => {
      this.connection.handle(bytes, now());
      this.pump();
    };
    transport.onClose = () => {
      this.connection.handleBroken(now());
      this.pump();
    };
    this.pump();
  }

  pump() {
    for (let packet = this.connection.poll(now()); packet; packet = this.connection.poll(now()))
      this.transport.send(packet);
    this.events.push(...this.connection.events());
    clearTimeout(this.timer);
    const wait = (this.connection.nextTimeout(now()) - now()) / 1000;
    if (wait < Infinity) this.timer = setTimeout(() => this.pump(), Math.max(0, wait));
    for (const check of this.waiting.splice(0)) check();
  }

  /**
   * Waits until something holds; an end before that is thrown.
   * @param {() => boolean} holds
   */
  until(holds) {
    return new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
      const check = () => {
        const ended = this.events.find((event) => event.type === "ended");
        if (holds()) resolve();
        else if (ended) reject(/** @type {any} */ (ended).error);
        else this.waiting.push(check);
      };
      check();
    });
  }

  /**
   * Waits for an event that fits, also among those that have happened.
   * @template {import("../src/proto/inbox.js").ConnectionEvent["type"]} T
   * @param {T} type
   * @param {(event: any) => boolean} [fits]
   * @returns {Promise<Extract<import("../src/proto/inbox.js").ConnectionEvent, { type: T }>>}
   */
  async event(type, fits = () => true) {
    const find = () => this.events.find((event) => event.type === type && fits(event));
    await this.until(() => find() !== undefined);
    return /** @type {any} */ (find());
  }

  close() {
    this.connection.close("Requested", now());
    this.pump();
  }

  /** Ends everything at once. */
  drop() {
    if (!alive.delete(this)) return;
    clearTimeout(this.timer);
    this.transport.onDatagram = this.transport.onClose = null;
    this.transport.close();
  }
}

/**
 * How a client gets to its server, and back to it.
 *
 * A transport takes time to open, may not lead to the server though it opens, and ends when a network
 * changes. A seat outlives it: the session says whether it may be taken up again, and here the way there is
 * opened anew, after a pause that grows if the server itself is gone. A page that is reloaded leaves the
 * token of its seat behind for the next one.
 */

import { NetloomError } from "../session/error.js";
import { connectOver, dial } from "./dial.js";
import { report } from "./emitter.js";
import { ResumeStore } from "./resume_store.js";
import { findServer } from "./server_info.js";
import { codesFor } from "./tables.js";

/** Between attempts to take up a seat. */
const RETRY_MS = 1_000;
/** Between attempts to get a new one. */
const BACKOFF_MS = [500, 1_000, 2_000, 4_000, 8_000];
const REJOINS_MAX = 60;
/** Endings after which a server may be back. */
const MAY_BE_BACK = new Set(["shutdown", "lost", "unreachable"]);

/** See the module. */
export class Line {
  /** In milliseconds: when to try again; Infinity if not. */
  retryAtMs = Infinity;
  /** @type {import("./dial.js").Transport | null} */
  #transport = null;
  #name = "";
  /** Which attempt is under way: an older one that comes to an end late is of no interest. */
  #attempt = 0;
  #avoided = /** @type {Set<string>} */ (new Set());
  #wasWelcomed = false;
  #rejoins = 0;
  #address;
  #options;
  #session;
  #lab;
  #store;
  #clock;
  #wake;
  /** @type {(() => void)[]} */
  #listeners = [];

  /**
   * @param {string | URL} address
   * @param {ReturnType<import("./options.js").completeOptions>} options
   * @param {import("../session/client.js").SessionClient} session
   * @param {import("./lab.js").Lab} lab
   * @param {() => number} clock the time in microseconds, which never goes back
   * @param {() => void} wake something happened
   */
  constructor(address, options, session, lab, clock, wake) {
    this.#address = address;
    this.#options = options;
    this.#session = session;
    this.#lab = lab;
    this.#clock = clock;
    this.#wake = wake;
    const { resumeAfterReload, storage, protocol, room } = options;
    this.#store = new ResumeStore(resumeAfterReload ? storage : null, `${address} ${protocol.name} ${room}`);
  }

  /** The name of the transport in use; null while there is none. */
  get transport() {
    return this.#transport === null ? null : this.#name;
  }

  /** Whether what was sent last still waits to leave: what is said later is fresher then. */
  get isCongested() {
    return this.#transport?.isCongested ?? false;
  }

  /** For the first time: with the seat of before a reload, if there is one. */
  open() {
    this.#listen();
    void this.#dial(this.#store.take(Date.now()));
  }

  /** There is a seat. */
  handleWelcomed() {
    this.#wasWelcomed = true;
    this.#rejoins = 0;
    this.#avoided.clear();
  }

  /** The connection is lost, and the seat is to be taken up again. @param {number} nowMs */
  handleLost(nowMs) {
    this.retryAtMs = nowMs;
  }

  /**
   * The session ended. Whether there will be another attempt, and whether that is for somebody who had a
   * seat.
   * @param {NetloomError} error
   * @param {number} nowMs
   * @returns {"over" | "connecting" | "reconnecting"}
   */
  handleEnded(error, nowMs) {
    if (!this.#wasWelcomed) {
      if (error.code === "unreachable" && this.transport === "webtransport") {
        // This way opened and led nowhere; the next one may lead there.
        this.#avoided.add(this.#name);
        this.retryAtMs = nowMs;
        return "connecting";
      }
      // The seat of before a reload is gone: another one, then.
      if (error.reason === "Resume") {
        this.retryAtMs = nowMs;
        return "connecting";
      }
      return "over";
    }
    // A server that knows nothing of the seat was restarted meanwhile.
    const mayBeBack = MAY_BE_BACK.has(error.code) || error.reason === "Resume";
    const mayRejoin = this.#options.reconnect === "always" && mayBeBack;
    if (!mayRejoin || this.#rejoins >= REJOINS_MAX) return "over";
    const pause = BACKOFF_MS[Math.min(this.#rejoins, BACKOFF_MS.length - 1)];
    this.#rejoins++;
    // Not all at the same moment, when a server comes back to many.
    this.retryAtMs = nowMs + pause * (0.8 + 0.4 * Math.random());
    return "reconnecting";
  }

  /** Tries again if it is time. @param {number} nowMs */
  poll(nowMs) {
    if (nowMs >= this.retryAtMs) void this.#dial(this.#session.resumeToken);
  }

  /** @param {Uint8Array} datagram */
  send(datagram) {
    this.#transport?.send(datagram);
  }

  /** No way is opened any more; what is open stays until `end`. */
  giveUp() {
    this.#attempt++;
    this.retryAtMs = Infinity;
  }

  /** It is over. */
  end() {
    this.giveUp();
    this.#store.forget();
    for (const end of this.#listeners) end();
    this.#hangUp();
  }

  /** @param {Uint8Array | null} resumeToken */
  async #dial(resumeToken) {
    const attempt = ++this.#attempt;
    this.retryAtMs = Infinity;
    this.#hangUp();
    try {
      const { transports, encryption, protocol, table } = this.#options;
      // Asked anew each time, because the hashes of its certificates change.
      const server = await findServer(this.#address, protocol);
      const codes = await codesFor(table, server.table);
      if (attempt !== this.#attempt) return;
      const opened = await dial(this.#address, server.routes, transports, this.#avoided);
      if (attempt !== this.#attempt) return opened.transport.close();
      const transport = this.#lab.wrap(opened.transport);
      transport.onDatagram = (datagram) => {
        this.#session.handleDatagram(datagram, this.#clock());
        this.#wake();
      };
      transport.onClose = () => {
        this.#session.handleBroken(this.#clock());
        this.#wake();
      };
      this.#transport = transport;
      this.#name = opened.name;
      this.#session.connect(connectOver(transport, protocol, codes, { encryption, resumeToken }), codes);
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.#handleFailure(error);
    }
    this.#wake();
  }

  /**
   * No transport could be opened.
   * @param {unknown} error
   */
  #handleFailure(error) {
    if (!(error instanceof NetloomError)) report(error);
    const reason =
      error instanceof NetloomError
        ? error
        : new NetloomError("unreachable", String(error), { cause: error });
    if (this.#session.isLost && reason.code === "unreachable")
      this.retryAtMs = this.#clock() / 1_000 + RETRY_MS;
    else this.#session.giveUp(reason);
  }

  /** Lets go of the transport without a word. */
  #hangUp() {
    const transport = this.#transport;
    this.#transport = null;
    if (transport === null) return;
    transport.onDatagram = null;
    transport.onClose = null;
    transport.close();
  }

  /** A page that goes away leaves the token behind; one that comes back from the cache takes it again. */
  #listen() {
    const target = /** @type {any} */ (globalThis);
    if (typeof target.addEventListener !== "function") return;
    const leave = () => {
      const token = this.#session.resumeToken;
      if (token !== null) this.#store.keep(token, Date.now());
    };
    const stay = () => {
      this.#store.forget();
      this.#wake();
    };
    target.addEventListener("pagehide", leave);
    target.addEventListener("pageshow", stay);
    this.#listeners.push(() => {
      target.removeEventListener?.("pagehide", leave);
      target.removeEventListener?.("pageshow", stay);
    });
  }
}

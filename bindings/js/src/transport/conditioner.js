/**
 * A bad line on purpose, around any transport.
 *
 * A game that was only ever played over loopback has never been played. The conditioner does to datagrams
 * what a line does, in both directions, from a seed, adjustable while the game runs.
 *
 * ```text
 *            ┌──────────────── Conditioner ────────────────┐
 *   send ──▶ │ outgoing line ──▶ on their way ──▶ transport │ ──▶
 *        ◀── │ on their way ◀── incoming line ◀── transport │ ◀──
 *            └──────────────────────────────────────────────┘
 * ```
 *
 * Latency counts in each direction, so a round trip takes twice that.
 */

import { completeLine, Line } from "./line.js";

/**
 * A timer's shortest sleep means "soon": what is due within it goes with what is due now, instead of a
 * millisecond late.
 */
const TIMER_GRAIN = 500;

/**
 * A transport on a bad line.
 * @implements {Transport}
 * @typedef {import("./transport.js").Transport} Transport
 */
export class Conditioner {
  /**
   * @param {Transport} inner
   * @param {{ outgoing?: Partial<import("./line.js").LineConfig>, incoming?:
   *   Partial<import("./line.js").LineConfig>, seed?: number, now?: () => number }} [options] `now` is a
   *   clock of microseconds
   */
  constructor(inner, { outgoing = {}, incoming = {}, seed = 1, now = () => performance.now() * 1000 } = {}) {
    const isStream = inner.reliable && inner.ordered;
    this.inner = inner;
    this.now = now;
    this.mtu = inner.mtu;
    this.reliable = inner.reliable;
    this.ordered = isStream;
    this.secure = inner.secure;
    this.outgoing = new Line(outgoing, isStream, 2 * seed);
    this.incoming = new Line(incoming, isStream, 2 * seed + 1);
    /** @type {((bytes: Uint8Array) => void) | null} */
    this.onDatagram = null;
    /** @type {((reason: string) => void) | null} */
    this.onClose = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.wakesAt = Infinity;
    inner.onDatagram = (bytes) => {
      this.incoming.admit(bytes, this.now());
      this.#pump();
    };
    /** @type {string | null} why the transport closed, until what it delivered before has arrived */
    this.closeReason = null;
    inner.onClose = (reason) => {
      this.closeReason = reason;
      this.#pump();
    };
  }

  get isCongested() {
    return this.inner.isCongested;
  }

  /**
   * Changes both directions, for what is sent and received from now on.
   * @param {Partial<import("./line.js").LineConfig>} line
   */
  setLine(line) {
    this.outgoing.config = this.incoming.config = completeLine(line);
  }

  /** Changes what happens to what is sent. @param {Partial<import("./line.js").LineConfig>} line */
  setOutgoing(line) {
    this.outgoing.config = completeLine(line);
  }

  /** Changes what happens to what is received. @param {Partial<import("./line.js").LineConfig>} line */
  setIncoming(line) {
    this.incoming.config = completeLine(line);
  }

  /** Pulls the plug, or puts it back. @param {boolean} isUnplugged */
  setUnplugged(isUnplugged) {
    this.outgoing.isUnplugged = this.incoming.isUnplugged = isUnplugged;
  }

  /** @param {Uint8Array} bytes */
  send(bytes) {
    this.outgoing.admit(bytes, this.now());
    this.#pump();
  }

  close() {
    clearTimeout(this.timer);
    this.onDatagram = this.onClose = null;
    // What is on its way, a goodbye perhaps, would have left this machine already.
    this.outgoing.release(Infinity, (bytes) => this.inner.send(bytes));
    this.inner.close();
  }

  #pump() {
    const due = this.now() + TIMER_GRAIN;
    this.outgoing.release(due, (bytes) => this.inner.send(bytes));
    this.incoming.release(due, (bytes) => this.onDatagram?.(bytes));
    if (this.closeReason !== null && this.incoming.nextAt === Infinity) return this.#closed(this.closeReason);
    const wakesAt = Math.min(this.outgoing.nextAt, this.incoming.nextAt);
    if (wakesAt === this.wakesAt) return;
    clearTimeout(this.timer);
    this.wakesAt = wakesAt;
    if (wakesAt === Infinity) return;
    this.timer = setTimeout(
      () => {
        this.wakesAt = Infinity;
        this.#pump();
      },
      Math.max(0, (wakesAt - this.now()) / 1000),
    );
  }

  /** @param {string} reason */
  #closed(reason) {
    clearTimeout(this.timer);
    const { onClose } = this;
    this.onClose = null;
    onClose?.(reason);
  }
}

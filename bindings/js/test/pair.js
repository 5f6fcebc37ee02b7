// Two ends of a session over a bad line, in virtual time.
import { channel, CHANNEL_KINDS, completeConfig } from "../src/proto/config.js";
import { SealKey } from "../src/proto/crypto/chacha20poly1305.js";
import { Inbox } from "../src/proto/inbox.js";
import { Link } from "../src/proto/link.js";
import { Line } from "../src/transport/line.js";

/** The channels of every session. */
export const channels = CHANNEL_KINDS.map((kind) => channel(kind));

/** One end, and what it has been told. */
export class End {
  /** @param {object} settings @param {boolean} isSealed @param {"a" | "b"} side */
  constructor(settings, isSealed, side) {
    const sessionId = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const [own, other] = side === "a" ? [1, 2] : [2, 1];
    const key = (/** @type {number} */ fill) =>
      isSealed ? new SealKey(new Uint8Array(32).fill(fill)) : null;
    const name = isSealed ? (side === "a" ? Uint8Array.of(7, 0) : new Uint8Array(0)) : sessionId;
    const alias = side === "b" ? Uint8Array.of(7, 0) : null;
    const config = completeConfig({ channels, ...settings });
    this.inbox = new Inbox(config.eventsQueuedMax, config.eventBytesMax);
    this.link = new Link(
      config,
      { sessionId, name, alias, sealKey: key(own), openKey: key(other) },
      this.inbox,
      99,
      0,
    );
    /** @type {Uint8Array[][]} messages by channel */
    this.received = channels.map(() => []);
    /** @type {import("../src/proto/reason.js").ConnectionError | null} */
    this.ended = null;
    /** @type {Record<string, number>} */
    this.rejections = {};
    /** @type {Map<number, boolean>} */
    this.outcomes = new Map();
  }

  /** @param {number} channelId @param {Uint8Array} message @param {number} [tag] */
  send(channelId, message, tag = -1) {
    return this.link.outbound.outbox.push(channelId, message, tag);
  }

  /** @param {Uint8Array} datagram @param {number} now */
  handle(datagram, now) {
    const rejection = this.link.handle(datagram, now);
    if (rejection) this.rejections[rejection] = (this.rejections[rejection] ?? 0) + 1;
  }

  /** @param {number} now */
  pollEvents(now) {
    for (let event = this.inbox.poll(); event; event = this.inbox.poll()) {
      if (event.type === "message") this.received[event.channel].push(event.data);
      if (event.type === "ended") this.ended = event.error;
      if (event.type === "outcome") this.outcomes.set(event.tag, event.isAcked);
      this.link.resume(now);
    }
  }
}

/** Both ends. */
export class Pair {
  /**
   * @param {{ settings?: object, isSealed?: boolean, line?:
   *   Partial<import("../src/transport/line.js").LineConfig>, isStream?: boolean, seed?: number }} [options]
   */
  constructor({ settings = {}, isSealed = false, line = {}, isStream = false, seed = 1 } = {}) {
    this.now = 0;
    this.a = new End(settings, isSealed, "a");
    this.b = new End(settings, isSealed, "b");
    this.toB = new Line(line, isStream, 2 * seed);
    this.toA = new Line(line, isStream, 2 * seed + 1);
    /** Called before the ends take what has arrived; stops events from being polled if it says false. */
    this.isPolling = true;
  }

  /** Lets time go on. @param {number} micros */
  run(micros) {
    const end = this.now + micros;
    for (;;) {
      this.#exchange();
      const deadlines = [
        this.toA.nextAt,
        this.toB.nextAt,
        this.a.link.deadline(this.now),
        this.b.link.deadline(this.now),
      ];
      // A step of time at least, so that a deadline that is always now shows as slowness and not as a hang.
      const next = Math.max(this.now + 100, Math.min(...deadlines));
      if (next > end) break;
      this.now = next;
    }
    this.now = end;
    this.#exchange();
  }

  /**
   * Runs until something holds; says whether it came to that.
   * @param {() => boolean} holds
   * @param {number} microsMax
   */
  runUntil(holds, microsMax) {
    for (const end = this.now + microsMax; this.now < end && !holds();) this.run(10e3);
    return holds();
  }

  #exchange() {
    this.toA.release(this.now, (bytes) => this.a.handle(bytes, this.now));
    this.toB.release(this.now, (bytes) => this.b.handle(bytes, this.now));
    if (this.isPolling) for (const end of [this.a, this.b]) end.pollEvents(this.now);
    for (const [end, line] of /** @type {const} */ ([
      [this.a, this.toB],
      [this.b, this.toA],
    ])) {
      for (let packet = end.link.poll(this.now); packet; packet = end.link.poll(this.now))
        line.admit(packet, this.now);
    }
  }
}

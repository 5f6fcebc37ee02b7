/**
 * A client without a network: one connection to a server, a seat in a room, and what the player sees and does
 * there.
 *
 *   every frame:
 *     handleDatagram, for each ─▶ tick(now) ─▶ pollEvent ─▶ for each pollStep: pushInput ─▶ pollTransmit
 *
 * It does no I/O and reads no clock. A connection that is lost is waited for as long as the server keeps the
 * seat: `lost` is an event, and whoever drives this opens another link and calls `connect` again, with the
 * same seat at its other end.
 */

import { Codes } from "../replica/codes.js";
import { WireError } from "../wire/error.js";
import { Calls } from "./calls.js";
import { Company } from "./company.js";
import { endingOf, farewellOf } from "./ending.js";
import { NetloomError } from "./error.js";
import { Events } from "./events.js";
import { InputLog } from "./inputs.js";
import { CHANNEL, checkHello, readToClient, write } from "./messages.js";
import { Outgoing } from "./outgoing.js";
import { Seat } from "./seat.js";

/** How long a lost seat is tried for. */
const RECONNECT_WINDOW_US = 60_000_000;

/** @typedef {import("./outgoing.js").Link} Link */

/** See the module. */
export class SessionClient {
  /** Messages of the server that made no sense. */
  nonsense = 0;
  /** @type {Seat | null} */
  seat = null;
  #settings;
  /** Whether motion is shown smoothly and late, in this seat and the next. */
  #isInterpolating = true;
  #out = new Outgoing();
  /** @type {Link | null} one that has ended, and may have to confirm the other side's goodbye */
  #parting = null;
  #inputs = new InputLog();
  #codes = Codes.generic();
  #events = new Events();
  #calls;
  #company;
  /** @type {Uint8Array | null} */
  #resumeToken = null;
  /** @type {number | null} since when the seat is lost, while it is tried for */
  #lostSince = null;
  /** @type {NetloomError | null} what was said before the connection ended */
  #farewell = null;

  /** @param {import("./seat.js").SessionSettings} settings */
  constructor(settings) {
    const { protocol, name, room, isSpectator, ticket } = settings;
    this.#settings = settings;
    this.#calls = new Calls(protocol.calls, this.#events);
    this.#company = new Company(this.#events, (fill) => this.#out.trySend(CHANNEL.control, fill));
    this.hello = { name, room, isSpectator, ticket, callsHash: protocol.calls.hash() };
    checkHello(this.hello);
  }

  /** The token that takes up the seat again; null if there is none. */
  get resumeToken() {
    return this.#resumeToken;
  }

  /** Whether a seat is lost and may be taken up again. */
  get isLost() {
    return this.#lostSince !== null;
  }

  /** Everybody else in the room, by number. */
  get players() {
    return this.#company.players;
  }

  get lobby() {
    return this.#company.lobby;
  }

  get callCounters() {
    return this.#calls.counters;
  }

  /** Whether this client knows which calls the server has. */
  get canCall() {
    return this.seat !== null && this.#calls.isAgreed;
  }

  /** @returns {"disconnected" | "connecting" | "connected" | "disconnecting"} */
  get state() {
    return this.#out.connection?.state ?? "disconnected";
  }

  /** What was measured of the connection; null without one. */
  stats() {
    return this.#out.connection?.stats() ?? null;
  }

  /**
   * Goes on over a connection that is being made.
   * @param {Link} connection
   * @param {Codes} [codes] the code tables that it was made with
   */
  connect(connection, codes = Codes.generic()) {
    if (this.#out.connection !== null)
      throw new NetloomError("setting", `this client is ${this.state} already: close it first`);
    this.#out.connection = connection;
    this.#codes = codes;
    this.#parting = null;
    this.#farewell = null;
  }

  /**
   * Says goodbye. The seat is given up.
   * @param {number} now
   */
  disconnect(now) {
    this.#resumeToken = null;
    this.#lostSince = null;
    this.#out.connection?.close("Requested", now);
  }

  /**
   * No way leads to the server any more, or none that is worth waiting for.
   * @param {NetloomError} error
   */
  giveUp(error) {
    this.#out.connection = null;
    this.#end(error);
  }

  /**
   * @param {Uint8Array} datagram
   * @param {number} now
   */
  handleDatagram(datagram, now) {
    (this.#out.connection ?? this.#parting)?.handle(datagram, now);
  }

  /**
   * The stream to the server is gone.
   * @param {number} now
   */
  handleBroken(now) {
    this.#out.connection?.handleBroken(now);
  }

  /**
   * A frame: takes in what arrived, and moves the view and the player's steps on.
   * @param {number} now
   */
  tick(now) {
    this.receive(now);
    const { seat } = this;
    if (seat === null) return;
    seat.advance(now, this.stats(), this.#inputs);
    this.#calls.advance(now, seat);
    const delayMs = seat.pollViewing(now);
    if (delayMs !== null) this.#out.send(CHANNEL.control, (out) => write.viewing(out, delayMs));
  }

  /**
   * Between two frames: takes in what arrived.
   * @param {number} now
   */
  receive(now) {
    this.#receive(now);
    const isOver = this.#lostSince !== null && now - this.#lostSince > RECONNECT_WINDOW_US;
    if (isOver && this.#out.connection === null)
      this.#end(new NetloomError("lost", "the server keeps the lost seat no longer: connect again"));
  }

  /** @param {number} now */
  #receive(now) {
    const connection = this.#out.connection;
    if (connection === null) return;
    for (let event = connection.pollEvent(); event !== null; event = connection.pollEvent()) {
      switch (event.type) {
        case "connected":
          this.#resumeToken = event.resumeToken;
          this.#calls.restart();
          this.#out.send(CHANNEL.control, (out) => write.hello(out, this.hello));
          break;
        case "message":
          this.#understand(now, event.data);
          break;
        case "ended":
          this.#flush(now);
          this.#handleEnded(now, event.error);
          return;
        default:
          break;
      }
    }
    this.#flush(now);
  }

  /**
   * What arrived, in the order in which a game is to hear of it: objects before the calls about them.
   * @param {number} now
   */
  #flush(now) {
    const { seat } = this;
    if (seat === null) return;
    seat.flush((fill) => this.#out.send(CHANNEL.control, fill));
    for (let event = seat.pollEvent(); event !== null; event = seat.pollEvent()) {
      this.#events.push(event);
      if (event.type === "entered") this.#calls.handleEntered(event.alias, seat);
    }
    this.#calls.deliver(now, seat);
  }

  /** @param {number} now @param {Uint8Array} bytes */
  #understand(now, bytes) {
    try {
      this.#handle(now, readToClient(bytes));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.nonsense++;
    }
  }

  /**
   * @param {number} now
   * @param {import("./messages.js").ToClient} message
   */
  #handle(now, message) {
    if (this.#company.handle(message, this.seat)) return;
    switch (message.type) {
      case "welcome":
        return this.#handleWelcome(message.welcome);
      case "refused":
        this.#farewell = new NetloomError("refused", message.text, { reason: message.reason });
        return;
      case "snapshot":
        return this.seat?.handleSnapshot(now, message.bytes);
      case "packed":
        return this.seat?.handlePacked(now, message.bytes);
      case "property":
        return this.seat?.handleProperty(message.bytes);
      case "call":
        return this.#calls.handleCall(message.bytes);
      case "names":
        return this.#calls.handlePage(message.bytes);
      case "call-refused": {
        const { id, reason, text } = message;
        return this.#events.push({ type: "call-refused", name: this.#calls.nameOf(id), reason, text });
      }
      case "notice":
        this.#farewell = farewellOf(message) ?? this.#farewell;
        return this.#events.push(message);
      case "claimed":
      case "rejected":
        return this.#events.push(message);
      default:
    }
  }

  /** @param {import("./messages.js").Welcome} welcome */
  #handleWelcome(welcome) {
    this.seat = new Seat({ ...this.#settings, codes: this.#codes }, welcome);
    this.seat.view.setInterpolating(this.#isInterpolating);
    this.#company.clear();
    this.#lostSince = null;
    this.#inputs.clear();
    const { player, room, isResumed, isSpectator } = welcome;
    this.#events.push({ type: "welcomed", player, room, isResumed, isSpectator });
    this.#calls.handleWelcome(welcome.hasSameCalls);
  }

  /**
   * The connection ended: for good, or to be taken up again.
   * @param {number} now
   * @param {import("../proto/reason.js").ConnectionError} error
   */
  #handleEnded(now, error) {
    this.#parting = this.#out.connection;
    this.#out.connection = null;
    const ending = this.#farewell ?? endingOf(error);
    const mayReturn = this.#settings.reconnects && this.#resumeToken !== null && this.#farewell === null;
    // One attempt to come back may fail; there may be another.
    const isRetry = this.#lostSince !== null && error.code === "ConnectTimeout";
    if (isRetry || (mayReturn && this.seat !== null && error.isResumable)) {
      this.#lostSince ??= now;
      this.#events.push({ type: "lost", error: ending });
      return;
    }
    this.#end(ending);
  }

  /** @param {NetloomError} error */
  #end(error) {
    this.seat = null;
    this.#resumeToken = null;
    this.#lostSince = null;
    this.#company.clear();
    this.#calls.restart();
    this.#events.push({ type: "ended", error });
  }

  /** The next thing that happened; undefined if nothing did. */
  pollEvent() {
    return this.#events.poll();
  }

  /** The next step that the player is to act in; null if there is none. Each wants an input. */
  pollStep() {
    return this.#inputs.pollStep();
  }

  /**
   * What the player does in a step that `pollStep` asked for.
   * @param {number} step
   * @param {any} input
   */
  pushInput(step, input) {
    if (!this.#inputs.push(step, input)) {
      throw new NetloomError("setting", `an input for step ${step} is not asked for: take steps in order`);
    }
  }

  /**
   * How far behind the view is on a good connection.
   * @param {number} delay in microseconds
   */
  setDelay(delay) {
    this.#seated().setDelay(delay);
  }

  /** @param {boolean} isWanted */
  setInterpolation(isWanted) {
    this.#isInterpolating = isWanted;
    this.seat?.view.setInterpolating(isWanted);
  }

  /**
   * Says something to the room, or to the own team.
   * @param {string} text
   * @param {boolean} toTeam
   */
  chat(text, toTeam) {
    this.#seated();
    this.#out.trySend(CHANNEL.ordered, (out) => write.chat(out, toTeam, text));
  }

  /**
   * Asks to own an object, or to give it back; `claimed` is the answer.
   * @param {number} alias
   * @param {boolean} isWanted
   */
  claim(alias, isWanted) {
    this.#seated();
    this.#out.trySend(CHANNEL.control, (out) => write.claim(out, alias, isWanted));
  }

  /**
   * Asks to set a field that clients may write. The server has the last word.
   * @param {number} alias
   * @param {string} name
   * @param {any} value
   */
  write(alias, name, value) {
    const seat = this.#seated();
    this.#out.trySend(CHANNEL.control, (out) => seat.writeField(out, alias, name, value));
  }

  /**
   * Calls something on the server, or on other players through it.
   * @param {string} name
   * @param {readonly any[]} args
   * @param {import("./call_frame.js").Target} target
   * @param {number | null} alias
   */
  call(name, args, target, alias) {
    const { channel, message } = this.#calls.write(name, args, target, alias, this.#seated());
    this.#out.deliver(channel, message);
  }

  #seated() {
    if (this.seat === null)
      throw new NetloomError("no-seat", "this client is in no room yet: wait for connect()");
    return this.seat;
  }

  /**
   * The next datagram to send; null if there is none for now.
   * @param {number} now
   * @returns {Uint8Array | null}
   */
  pollTransmit(now) {
    const { seat } = this;
    const pending = seat === null ? null : this.#inputs.poll();
    if (seat !== null && pending !== null) {
      // What has no room now comes with the next message.
      this.#out.send(CHANNEL.input, (out) => seat.writeInputs(out, pending.step, pending.inputs));
    }
    return (this.#out.connection ?? this.#parting)?.poll(now) ?? null;
  }

  /**
   * Whether nothing is left to say, so that the transport may be closed.
   * @param {number} now
   */
  isFinished(now) {
    return this.#out.connection === null && (this.#parting?.isFinished(now) ?? true);
  }

  /**
   * When to call `tick` again at the latest.
   * @param {number} now
   */
  nextTimeout(now) {
    const { connection } = this.#out;
    // One that ended while it was asked for datagrams has that to tell.
    if (connection?.state === "disconnected") return now;
    return Math.min((connection ?? this.#parting)?.nextTimeout(now) ?? Infinity, this.#calls.nextTimeout());
  }
}

/**
 * A client over a real transport: what a game developer holds.
 *
 * Everything that arrives is taken in as it comes, and everything else happens in `#run`: it is called soon
 * after an arrival, at deadlines, and by games that have frames of their own (`update`). One run takes in
 * what arrived, tells the game, asks it for the inputs of the steps that are due (in a game with frames: if
 * this is one), and sends. So a client needs no frame loop to stay connected, and one in a background tab
 * goes on.
 */

import { NetloomError } from "../session/error.js";
import { SessionClient } from "../session/client.js";
import { Actor } from "./actor.js";
import { Emitter } from "./emitter.js";
import { Lab } from "./lab.js";
import { Line } from "./line.js";
import { completeOptions, within } from "./options.js";
import { Pump } from "./pump.js";
import { answered } from "./request.js";
import { Scene } from "./scene.js";
import { StatsKeeper } from "./stats.js";
import { toldOf } from "./told.js";

/** A game that calls `update` at least so often has frames of its own. */
const FRAME_MS_MAX = 100;
/** Without a frame for so many of them, and so long, it has none any more, or is not seen. */
const FRAMES_MISSED = 3;
const MISSED_MS_MIN = 34;
/** When to look again at a stream that is full. */
const CONGESTED_MS = 20;
const REQUEST_MS = 5_000;

const closedHere = () => new NetloomError("closed", "closed by this client");

/** @typedef {import("./object.js").NetObject} NetObject */
/** @typedef {import("../session/call_frame.js").Target} Target */
/** @typedef {import("./told.js").Call} Call */
/** @typedef {import("./told.js").State} State */

/**
 * See the module; made by `connect`.
 * @extends {Emitter<import("./told.js").ClientEvents>}
 */
export class Client extends Emitter {
  #name;
  #session;
  #scene;
  #line;
  #pump = new Pump(() => this.#run());
  #stats = new StatsKeeper();
  /** @type {State} */
  #state = "disconnected";
  #isClosing = false;
  #now = 0;
  #updatedAtMs = -Infinity;
  /** Until when the game has frames of its own. */
  #drivenUntilMs = -Infinity;
  /** When the last frame was, by `#now`. */
  #framedAt = 0;
  #actor;
  /** @type {(error: NetloomError) => void} */
  #settleClosed = () => {};

  /**
   * @param {string | URL} address
   * @param {import("./options.js").ConnectOptions} options
   */
  constructor(address, options) {
    super();
    const complete = completeOptions(options);
    const { protocol, name, interpolationDelayMs, reconnect } = complete;
    this.#name = name;
    this.#session = new SessionClient({
      ...complete,
      delay: interpolationDelayMs * 1_000,
      reconnects: reconnect !== "never",
    });
    this.#scene = new Scene(this.#session, protocol);
    this.#actor = new Actor(this.#session, this.#scene, protocol, complete.input);
    this.protocol = protocol;
    /** A bad line on purpose. */
    this.lab = new Lab(complete.lab);
    const [clock, wake] = [() => this.#moveOn(), () => this.#pump.soon()];
    this.#line = new Line(address, complete, this.#session, this.lab, clock, wake);
    /** What can be asked of the lobby, and its state. */
    this.lobby = this.#session.lobby;
    /** Settles with the reason when it is over. */
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
  }

  /** @returns {State} */
  get state() {
    return this.#state;
  }

  /** The transport in use: "webtransport", "websocket" or "udp"; null while there is none. */
  get transport() {
    return this.#line.transport;
  }

  /** Who this player is; null before there is a seat. */
  get player() {
    return this.#session.seat?.player ?? null;
  }

  get room() {
    return this.#session.seat?.room ?? null;
  }

  /** Everybody else in the room, by number. */
  get players() {
    return /** @type {ReadonlyMap<number, { name: string, isSpectator: boolean }>} */ (this.#session.players);
  }

  /** Steps of the server's simulation a second; null before there is a seat. */
  get stepsPerSecond() {
    return this.#session.seat?.stepsPerSecond ?? null;
  }

  /** The step that is shown of what this player predicts, with a fraction; null before the first. */
  get ownStep() {
    return this.#session.seat?.ownStep ?? null;
  }

  /** The server's step that is shown of all else, counted as the steps of inputs; null before the first. */
  get shownStep() {
    const { seat } = this.#session;
    return seat === null || seat.viewTime === null ? null : (seat.viewTime * seat.stepsPerSecond) / 1e6;
  }

  /** How much of the world is here of what there was when this client joined: 0 to 1. */
  get progress() {
    return this.#session.seat?.progress ?? 0;
  }

  /** Whether calls can be made: both sides know which there are. */
  get canCall() {
    return this.#session.canCall;
  }

  /** The world as it arrived, for tests and tools: see `World`. Null before there is a seat. */
  get world() {
    return this.#session.seat?.world ?? null;
  }

  /** What is in sight, of one kind or all. @param {string} [kind] */
  *objects(kind) {
    for (const object of this.#scene.values()) if (kind === undefined || object.kind === kind) yield object;
  }

  /** An object in sight. @param {number} alias @returns {NetObject | undefined} */
  object(alias) {
    return this.#scene.get(alias);
  }

  /** The player's own object, the first of a kind. @param {string} [kind] */
  own(kind) {
    for (const object of this.objects(kind)) if (object.isOwn) return object;
    return undefined;
  }

  /** What was measured of the connection. */
  stats() {
    return this.#stats.read(this.#nowMs(), this.#session, this.#actor.corrections);
  }

  /**
   * What the player does from now on: fields of the protocol's input, or a function that says them for each
   * step.
   * @param {any} input
   */
  setInput(input) {
    this.#actor.input = input;
  }

  /**
   * Predicts the player's own object of a kind: `step` moves its fields by one step, as the server does. With
   * `fields`, only those, and all others are as the server told last.
   * @param {string} kind
   * @param {(state: any, input: any) => void} step
   * @param {{ fields?: readonly string[] }} [options]
   */
  predict(kind, step, { fields } = {}) {
    return this.#actor.predict(kind, step, fields ?? null);
  }

  /** How far behind the view is on a good connection: 50 to 500 ms. @param {number} ms */
  setInterpolationDelay(ms) {
    within("the interpolation delay", ms, 50, 500);
    this.#session.setDelay(ms * 1_000);
  }

  /**
   * Whether motion is shown smoothly, a little late (as from the beginning), or just as it arrives: to show
   * what the difference is.
   * @param {boolean} [isWanted]
   */
  setInterpolation(isWanted = true) {
    this.#session.setInterpolation(isWanted);
  }

  /**
   * Says something to the room, or to the own team.
   * @param {string} text
   * @param {{ toTeam?: boolean }} [options]
   */
  chat(text, { toTeam = false } = {}) {
    this.#session.chat(text, toTeam);
    this.#pump.soon();
  }

  /**
   * Calls something on the server, or on other players through it.
   * @param {string} name
   * @param {readonly any[]} [args]
   * @param {{ target?: Target, object?: NetObject | null }} [options]
   */
  call(name, args = [], { target = "server", object = null } = {}) {
    this.#session.call(name, args, target, object?.alias ?? null);
    this.#pump.soon();
  }

  /**
   * Calls something, and waits for the call that is its answer.
   * @param {string} name
   * @param {readonly any[]} args
   * @param {{ answer: string, timeoutMs?: number, target?: Target, object?: NetObject | null }} options
   * @returns {Promise<Call>}
   */
  request(name, args, { answer, timeoutMs = REQUEST_MS, ...options }) {
    return answered(this, name, { answer, timeoutMs }, () => this.call(name, args, options));
  }

  /**
   * Asks to own an object, or to give it back; "claimed" is the answer.
   * @param {NetObject} object
   * @param {boolean} [isWanted]
   */
  claim(object, isWanted = true) {
    this.#session.claim(object.alias, isWanted);
    this.#pump.soon();
  }

  /**
   * A frame of the game: everything is shown as of now. Without frames there is no need to call it.
   * @param {number} [nowMs] by the clock of performance.now(), such as the time that requestAnimationFrame
   *   tells
   */
  update(nowMs = performance.now()) {
    const frameMs = nowMs - this.#updatedAtMs;
    this.#updatedAtMs = nowMs;
    // One frame alone is no sign of another.
    const missedMs = frameMs < FRAME_MS_MAX ? Math.max(FRAMES_MISSED * frameMs, MISSED_MS_MIN) : 0;
    this.#drivenUntilMs = nowMs + missedMs;
    this.#run(nowMs, true);
  }

  /** Says goodbye and gives up the seat. Settles when it is over. @returns {Promise<NetloomError>} */
  close() {
    if (this.#state !== "disconnected" && !this.#isClosing) {
      this.#isClosing = true;
      this.#line.giveUp();
      this.#session.disconnect(this.#moveOn());
      this.#setState("disconnecting");
      this.#pump.soon();
    }
    return this.closed;
  }

  /**
   * Connects; settles when there is a seat. Called by `connect`.
   * @returns {Promise<this>}
   */
  open() {
    return new Promise((resolve, reject) => {
      this.once("welcome", () => resolve(this));
      this.closed.then(reject);
      this.#setState("connecting");
      this.#line.open();
    });
  }

  #nowMs() {
    return performance.now();
  }

  /** Time never goes back, whatever a frame says. @param {number} [nowMs] */
  #moveOn(nowMs = this.#nowMs()) {
    this.#now = Math.max(this.#now, Math.round(nowMs * 1_000));
    return this.#now;
  }

  /** Whether the game has frames of its own at present. */
  get #isDriven() {
    return this.#nowMs() < this.#drivenUntilMs;
  }

  /**
   * See the module. The player acts in frames only: a step that was made when something arrived would miss
   * the key that is pressed before the next frame.
   * @param {number} [nowMs]
   * @param {boolean} [isFrame]
   */
  #run(nowMs, isFrame = !this.#isDriven) {
    if (this.#state === "disconnected") return;
    const now = this.#moveOn(nowMs);
    if (isFrame) this.#session.tick(now);
    else this.#session.receive(now);
    this.#tell();
    if (isFrame) {
      for (const object of this.#scene.gone()) this.emit("leave", object);
      this.#actor.act(now - this.#framedAt);
      this.#framedAt = now;
    }
    this.#scene.frame++;
    this.#transmit(now);
    this.#stats.update(now / 1_000, this.#session);
    if (this.#isClosing && this.#session.isFinished(now)) this.#finish(closedHere());
    this.#line.poll(this.#nowMs());
    this.#schedule();
  }

  /** @param {number} now */
  #transmit(now) {
    if (this.#line.isCongested) return;
    const next = () => this.#session.pollTransmit(now);
    for (let datagram = next(); datagram !== null; datagram = next()) this.#line.send(datagram);
  }

  #schedule() {
    if (this.#state === "disconnected") return;
    const nowMs = this.#nowMs();
    const { seat } = this.#session;
    const idleMs = this.#isDriven ? this.#drivenUntilMs - nowMs : 1_000 / (seat?.stepsPerSecond ?? 0);
    const sendMs = this.#line.isCongested
      ? nowMs + CONGESTED_MS
      : this.#session.nextTimeout(this.#now) / 1_000;
    this.#pump.at(nowMs, Math.min(sendMs, nowMs + idleMs, this.#line.retryAtMs));
  }

  /** Tells the game what happened. */
  #tell() {
    for (let event = this.#session.pollEvent(); event !== undefined; event = this.#session.pollEvent()) {
      this.#tellOf(event);
      if (event.type === "welcomed") {
        // Whoever waits for connect() goes on first, and has its handlers in place for the rest.
        this.#pump.soon();
        return;
      }
    }
  }

  /** @param {import("../session/events.js").SessionEvent} event */
  #tellOf(event) {
    switch (event.type) {
      case "welcomed":
        return this.#handleWelcomed(event);
      case "lost":
        return this.#handleLost(event.error);
      case "ended":
        return this.#handleEnded(event.error);
      case "entered": {
        const object = this.#scene.enter(event.alias);
        if (object !== undefined) this.emit("enter", object);
        return;
      }
      case "gone":
        return this.#scene.leave(event.alias);
      case "changed": {
        const object = this.hears("change") ? this.#scene.get(event.alias) : undefined;
        if (object !== undefined) this.emit("change", object);
        return;
      }
      default:
        this.emit(...toldOf(event, this.#scene, (player) => this.#nameOf(player)));
    }
  }

  /** The name of who speaks; the own is as it was asked for. @param {number | null} player */
  #nameOf(player) {
    if (player === null) return "";
    return player === this.player ? this.#name : (this.#session.players.get(player)?.name ?? "");
  }

  /** @param {{ player: number, room: string, isResumed: boolean }} welcome */
  #handleWelcomed({ player, room, isResumed }) {
    this.#line.handleWelcomed();
    this.#clearScene();
    this.#setState("connected");
    this.emit("welcome", { player, room, isResumed });
  }

  /** Aliases of an old seat mean nothing in the next. */
  #clearScene() {
    this.#actor.reset();
    for (const object of this.#scene.clear()) this.emit("leave", object);
  }

  /** @param {NetloomError} error */
  #handleLost(error) {
    this.#setState("reconnecting");
    this.emit("lost", error);
    this.#line.handleLost(this.#nowMs());
  }

  /** @param {NetloomError} error */
  #handleEnded(error) {
    if (this.#isClosing) return;
    const next = this.#line.handleEnded(error, this.#nowMs());
    if (next === "connecting") return;
    if (next === "reconnecting") {
      this.#clearScene();
      this.#setState("reconnecting");
      this.emit("lost", error);
      return;
    }
    this.#transmit(this.#now);
    this.#finish(error);
  }

  /** @param {NetloomError} error */
  #finish(error) {
    if (this.#state === "disconnected") return;
    this.#isClosing = false;
    this.#pump.stop();
    this.#line.end();
    this.#clearScene();
    this.#setState("disconnected");
    this.#settleClosed(error);
    this.emit("close", error);
  }

  /** @param {State} state */
  #setState(state) {
    const before = this.#state;
    if (state === before) return;
    this.#state = state;
    this.emit("state", state, before);
  }
}

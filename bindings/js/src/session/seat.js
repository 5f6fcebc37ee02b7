/**
 * A seat in a room, from the inside: the world as it arrives, the clocks, and how the two are shown.
 */

import { InputWriter } from "../replica/input.js";
import { InputClock } from "../replica/predict/input_clock.js";
import { ATTACH_DEPTH_MAX } from "../replica/view/interpolate.js";
import { Pose, outward } from "../replica/view/space.js";
import { View } from "../replica/view/view.js";
import { World } from "../replica/world.js";
import { WireError } from "../wire/error.js";
import { writeValue } from "../wire/value.js";
import { Adapt } from "./adapt.js";
import { NetloomError } from "./error.js";
import { SNAPSHOT_BYTES_MAX, unpack } from "./lz4.js";
import { KIND, write } from "./messages.js";

/** The server hears of another delay of the view if it differs by so much, and this often at most. */
const VIEWING_MS_MIN = 5;
const VIEWING_INTERVAL_US = 250_000;
/** Snapshots of which it is remembered after which step they were. */
const TOLD_KEPT = 64;
const STEPS_PER_SECOND_MAX = 240;
/** Objects whose entering, leaving or change waits to be told. */
const CHANGES_MAX = 65_536;

/**
 * @typedef {object} SessionSettings
 * @property {import("./protocol.js").Protocol} protocol
 * @property {string} name to be known by, up to 64 bytes
 * @property {string} room by name or code; empty for the server's choice
 * @property {boolean} isSpectator
 * @property {Uint8Array} ticket what the game asks for to let somebody in
 * @property {number} delay how far behind the view is, in microseconds
 * @property {number} objectsMax
 * @property {number} stepsPerFrameMax
 * @property {boolean} reconnects whether a lost connection is to be taken up again
 */

/** @typedef {import("../wire/bytes.js").ByteWriter} ByteWriter */

/** See the module. */
export class Seat {
  /** @type {{ type: "entered" | "gone" | "changed", alias: number }[]} */
  #changes = [];
  #at = 0;
  #isComplete = false;
  #objectsAtJoin;
  #adapt = new Adapt();
  #delay;
  #delayMin = 0;
  /** @type {{ ms: number, at: number } | null} what the server was told of the delay */
  #viewing = null;
  /** @type {{ tick: number, step: number }[]} of the last snapshots: the step after which they were */
  #told = [];
  #unpacked = new Uint8Array(SNAPSHOT_BYTES_MAX);
  #pose = new Pose();
  #inputWriter;
  #inputClock;
  #kinds;

  /**
   * @param {SessionSettings & { codes?: import("../replica/codes.js").Codes }} settings
   * @param {import("./messages.js").Welcome} welcome
   */
  constructor({ protocol, codes, delay, objectsMax, stepsPerFrameMax }, welcome) {
    const { stepsPerSecond, sendsPerSecond } = welcome;
    const isPossible =
      stepsPerSecond >= 1 &&
      stepsPerSecond <= STEPS_PER_SECOND_MAX &&
      sendsPerSecond >= 1 &&
      stepsPerSecond % sendsPerSecond === 0;
    if (!isPossible) throw new WireError("OutOfRange", "the server's rates cannot be");
    this.player = welcome.player;
    this.room = welcome.room;
    this.isSpectator = welcome.isSpectator;
    this.stepsPerSecond = stepsPerSecond;
    this.sendsPerSecond = sendsPerSecond;
    const { classes } = protocol;
    this.world = new World({ classes, codes, objectsMax, propertyHoldTicks: sendsPerSecond });
    this.world.startNear(welcome.tick, welcome.step);
    this.view = new View({ ticksPerSecond: sendsPerSecond, delayUs: delay });
    this.#inputClock = new InputClock({ stepsPerSecond, stepsPerPollMax: stepsPerFrameMax });
    this.#inputWriter = new InputWriter(protocol.input);
    this.#objectsAtJoin = welcome.objects;
    this.#delay = delay;
    this.#kinds = protocol.kinds;
  }

  /**
   * @param {number} now
   * @param {Uint8Array} snapshot
   */
  handleSnapshot(now, snapshot) {
    const { world, view } = this;
    // One that cannot be read to its end is told to the server, which builds on something else.
    world.handleSnapshot(snapshot);
    view.handleSnapshot(now, world);
    for (const { object, kind } of world.changes) {
      if (this.#changes.length - this.#at >= CHANGES_MAX) this.#at++;
      const type = kind === "left" ? "gone" : kind === "updated" ? "changed" : "entered";
      this.#changes.push({ type, alias: object.alias });
    }
    const { feedback, newest } = world;
    if (feedback === null) return;
    this.#inputClock.handleFeedback(feedback);
    if (this.#told.at(-1)?.tick === newest) return;
    if (this.#told.length === TOLD_KEPT) this.#told.shift();
    this.#told.push({ tick: newest, step: feedback.step });
  }

  /**
   * @param {number} now
   * @param {Uint8Array} packed
   */
  handlePacked(now, packed) {
    this.handleSnapshot(now, unpack(packed, this.#unpacked));
  }

  /** @param {Uint8Array} property */
  handleProperty(property) {
    this.world.handleProperty(property);
  }

  /**
   * Whoever takes a seat in the lobby acts from then on, and whoever leaves it to watch does not.
   * @param {readonly import("./lobby.js").Member[]} members
   */
  handleRole(members) {
    this.isSpectator = members.find(({ player }) => player === this.player)?.isSpectator ?? this.isSpectator;
  }

  /**
   * Tells the server what could not be read and what is held otherwise, and applies properties whose objects
   * are here.
   * @param {(fill: (out: ByteWriter) => void) => void} send
   */
  flush(send) {
    const { world } = this;
    for (let tick = world.pollRefusal(); tick !== null; tick = world.pollRefusal()) {
      const unread = tick;
      send((out) => write.unread(out, unread));
    }
    for (let region = world.pollMismatch(); region !== null; region = world.pollMismatch()) {
      const differing = region;
      send((out) => write.mismatch(out, differing));
    }
    for (let applied = world.pollProperty(); applied !== null; applied = world.pollProperty()) {
      this.#changes.push({ type: "changed", alias: applied.object.alias });
    }
  }

  /** @returns {{ type: "entered" | "gone" | "changed", alias: number } | { type: "complete" } | null} */
  pollEvent() {
    if (this.#at < this.#changes.length) return this.#changes[this.#at++];
    this.#changes.length = 0;
    this.#at = 0;
    if (this.#isComplete || this.world.newest < 0 || this.world.size < this.#objectsAtJoin) return null;
    this.#isComplete = true;
    return { type: "complete" };
  }

  /**
   * @param {number} now
   * @param {{ rtt: number, jitter: number, loss: number } | null} measured
   * @param {import("./inputs.js").InputLog} inputs
   */
  advance(now, measured, inputs) {
    if (measured !== null && measured.rtt > 0) {
      this.view.handleRtt(measured.rtt);
      this.#inputClock.handleLoss(measured.loss);
      this.#adapt.update(now, measured.rtt, measured.jitter);
      if (this.#adapt.interpolationDelayMin !== this.#delayMin) {
        this.#delayMin = this.#adapt.interpolationDelayMin;
        this.setDelay(this.#delay);
      }
    }
    this.view.advance(now);
    const { feedback } = this.world;
    if (feedback !== null) inputs.confirm(feedback.step);
    if (this.isSpectator) return;
    const { first, count } = this.#inputClock.pollSteps(now, this.view.clock);
    inputs.setSteps(first, count);
  }

  /**
   * The delay that the user wants, in microseconds; the connection may ask for more.
   * @param {number} delay
   */
  setDelay(delay) {
    this.#delay = delay;
    this.view.delay.set(Math.max(delay, this.#delayMin));
  }

  /** How far behind the view is at present, in microseconds. */
  get delay() {
    return this.view.delay.delay;
  }

  /** How far prediction may reach without a word from the server, in microseconds. */
  get predictionWindow() {
    return this.#adapt.predictionWindow;
  }

  /** How far this client is into its newest step, 0 to 1: for drawing between two steps. */
  get stepFraction() {
    return this.#inputClock.phase?.fraction ?? 1;
  }

  /** The step that is shown of what this client predicts, with a fraction; null before the first. */
  get ownStep() {
    const { phase } = this.#inputClock;
    return phase === null ? null : phase.step - 1 + phase.fraction;
  }

  /** The server's time that is shown; null before the first snapshot. */
  get viewTime() {
    return this.view.time;
  }

  /** The tick of snapshots that the player sees. */
  get viewTick() {
    return this.view.viewTime(this.sendsPerSecond)?.step ?? null;
  }

  /**
   * The server's time of a tick.
   * @param {number} tick
   */
  timeOf(tick) {
    return this.view.timeOf(tick);
  }

  /** @param {number} alias */
  isInSight(alias) {
    return this.world.object(alias) !== undefined;
  }

  /**
   * Whether an object is shown, be it that it has left and the view has not got there.
   * @param {number} alias
   */
  isShown(alias) {
    return this.view.sourceOf(alias) !== null;
  }

  /**
   * Fills in where an object is shown.
   * @param {number} alias
   * @param {Float64Array} position of two or three coordinates
   * @param {Float64Array} rotation x y z w
   */
  show(alias, position, rotation) {
    const pose = this.view.isInterpolating ? this.view.sample(alias, this.#pose) : this.#received(alias);
    if (pose === null) return;
    for (let axis = 0; axis < position.length; axis++) position[axis] = pose.position[axis];
    rotation.set(pose.rotation);
  }

  /**
   * Where an object was in the newest of its states that arrived.
   * @param {number} alias
   */
  #received(alias) {
    /** @type {Pose | null} */
    let pose = null;
    let object = this.world.object(alias);
    for (let depth = 0; depth <= ATTACH_DEPTH_MAX && object !== undefined; depth++) {
      const [position, rotation] = [new Float64Array(3), new Float32Array(4)];
      if (!object.putPosition(object.states.newestAt, position)) return pose;
      object.putRotation(object.states.newestAt, rotation);
      const own = new Pose([...position], [...rotation]);
      pose = pose === null ? own : outward(own, pose);
      object = object.parent === null ? undefined : this.world.slots[object.parent];
    }
    return pose;
  }

  /**
   * The step after which an own object was as it was told last; null if that is not known.
   * @param {number} alias
   */
  toldStep(alias) {
    const object = this.world.object(alias);
    if (object === undefined || !object.isOwned) return null;
    return this.#told.find(({ tick }) => tick === object.tick)?.step ?? null;
  }

  /**
   * Writes the message that asks to set a field.
   * @param {ByteWriter} out
   * @param {number} alias
   * @param {string} name
   * @param {any} value
   */
  writeField(out, alias, name, value) {
    const object = this.world.object(alias);
    if (object === undefined) throw new NetloomError("no-object", `no object ${alias} is in sight`);
    const index = object.class.schema.indexOf(name);
    if (index < 0) {
      const known = object.class.schema.fields.map((field) => field.name).join(", ");
      throw new NetloomError("setting", `${object.class.name} has no field "${name}": it has ${known}`);
    }
    write.field(out, alias, index);
    try {
      writeValue(
        object.shape.fields[index],
        this.#kinds[object.class.number].types[index].fromGame(value),
        out,
      );
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new NetloomError("setting", `${name}: ${error.message}`, { cause: error });
    }
  }

  /**
   * Writes the message with inputs, the newest first.
   * @param {ByteWriter} out
   * @param {number} step
   * @param {readonly any[]} inputs
   */
  writeInputs(out, step, inputs) {
    const message = this.#inputWriter.write(step, this.view.viewTime(this.stepsPerSecond), inputs);
    out.u8(KIND.input);
    if (message !== null) out.bytes(message);
  }

  /**
   * How far the view is behind, in milliseconds, if the server should hear of it. The first one also says
   * that this client is ready for snapshots.
   * @param {number} now
   */
  pollViewing(now) {
    const ms = Math.floor(this.delay / 1_000);
    const said = this.#viewing;
    if (said !== null && (Math.abs(said.ms - ms) < VIEWING_MS_MIN || now - said.at < VIEWING_INTERVAL_US))
      return null;
    this.#viewing = { ms, at: now };
    return ms;
  }

  /** How much of the world is here of what there was when this client joined: 0 to 1. */
  get progress() {
    if (this.#isComplete) return 1;
    return this.#objectsAtJoin === 0 ? 0 : Math.min(1, this.world.size / this.#objectsAtJoin);
  }
}

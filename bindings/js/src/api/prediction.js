/**
 * The player's own object, ahead of the server.
 *
 * It begins when an own object of the kind appears, and starts anew with each new one. Every input moves
 * it at once, by the step that the server makes as well; when the server's word arrives, the predictor
 * compares, and what differs is run again from there. What is compared is every field that the owner is
 * sent in snapshots, as finely as it is sent, or those that the game names: of what the server alone
 * decides (points, lives) every change would look like a mistake. Prediction can be switched off and on
 * again, to feel the difference.
 */

import { Predictor } from "../replica/predict/predict.js";
import { isNewer } from "../replica/tick.js";
import { encodeUtf8 } from "../wire/bytes.js";
import { fnv1a32 } from "../wire/hash.js";
import { PROFILES } from "../wire/quantize.js";
import { reaches } from "../wire/schema.js";
import { NetloomError } from "../session/error.js";
import { report } from "./emitter.js";

/**
 * The server touches an object whenever it did something else than its player asked, so its silence means
 * consent.
 */
const SILENCE_US = 10_000_000;

/** @typedef {{ [field: string]: any }} State */

/** See the module; made by `Client.predict`. */
export class Prediction {
  /** How often the server disagreed, before the present object. */
  #corrections = 0;
  /** @type {Predictor<State, any> | null} */
  #own = null;
  /** @type {import("./object.js").NetObject | null} */
  #object = null;
  /**
   * @type {{ step: number, tick: number } | null} the newest step whose state was handed over, and the tick
   *   of that state
   */
  #told = null;
  #isEnabled = true;
  #session;
  #scene;
  #kind;
  #stepper;
  #recent;
  /** @type {readonly string[] | null} */
  #fields;

  /**
   * @param {import("../session/client.js").SessionClient} session
   * @param {import("./scene.js").Scene} scene
   * @param {import("../session/protocol.js").Protocol} protocol
   * @param {string} kindName
   * @param {(state: State, input: any) => void} step
   * @param {readonly { step: number, input: any }[]} recent what the player did of late, the newest last
   * @param {readonly string[] | null} fields that are predicted; null for all
   */
  constructor(session, scene, protocol, kindName, step, recent, fields) {
    const kind = protocol.kinds.find(({ name }) => name === kindName);
    if (kind === undefined) {
      const known = protocol.kinds.map(({ name }) => name).join(", ");
      throw new NetloomError(
        "setting",
        `there is no kind of object called "${kindName}": the protocol has ${known}`,
      );
    }
    const unknown = fields?.find((field) => kind.schema.indexOf(field) < 0);
    if (unknown !== undefined) {
      const known = kind.schema.fields.map(({ name }) => name).join(", ");
      throw new NetloomError("setting", `${kindName} has no field "${unknown}": it has ${known}`);
    }
    this.#fields = fields;
    this.#session = session;
    this.#scene = scene;
    this.#kind = kind;
    this.#recent = recent;
    this.#stepper = {
      step: (/** @type {State} */ state, /** @type {any} */ input) => stepped(step, state, input),
      describe: (/** @type {State} */ state, /** @type {Fields} */ fields) => describe(kind, state, fields),
    };
  }

  /** The object that is predicted; null if there is none. */
  get object() {
    return this.#object;
  }

  /** Its predicted fields now, ahead of the server; null if there is none. */
  get state() {
    return this.#own?.state ?? null;
  }

  /** Whether anything is predicted at all. */
  get isEnabled() {
    return this.#isEnabled;
  }

  /** The own object moves at once, or like all others: as the server tells. @param {boolean} [isWanted] */
  enable(isWanted = true) {
    if (!isWanted) this.reset();
    this.#isEnabled = isWanted;
  }

  /** How often the server disagreed. */
  get corrections() {
    return this.#corrections + correctionsOf(this.#own);
  }

  /** How often it did so about what, for the present object; null if there is none. */
  get report() {
    return this.#own?.report ?? null;
  }

  /** Another seat: nothing of before is predicted any more. */
  reset() {
    this.#corrections += correctionsOf(this.#own);
    if (this.#object !== null) this.#scene.predicted.delete(this.#object.alias);
    this.#own = null;
    this.#object = null;
    this.#told = null;
  }

  /**
   * Compares with what the server said, and lets time pass for the view.
   * @param {number} elapsedUs
   */
  update(elapsedUs) {
    const { seat } = this.#session;
    const object = this.#find();
    if (object !== this.#object) this.reset();
    if (seat === null || object === null) return;
    const step = seat.toldStep(object.alias);
    const known = this.#scene.known(object);
    if (step !== null && known !== undefined) this.#handleTold(object, step, known);
    const feedback = seat.world.feedback;
    if (feedback !== null) this.#own?.handleAcked(feedback.step);
    this.#own?.advanceView(elapsedUs);
  }

  /**
   * @param {import("./object.js").NetObject} object
   * @param {number} step
   * @param {import("../replica/object.js").WorldObject} known
   */
  #handleTold(object, step, known) {
    const { tick, jumped } = known;
    if (this.#own === null) {
      const config = { stepsPerSecond: this.#session.seat?.stepsPerSecond, silenceUs: SILENCE_US };
      this.#own = new Predictor(this.#stepper, step, this.#valuesOf(object), config);
      // What is on its way to the server counts already.
      for (const done of this.#recent)
        if (isNewer(done.step, this.#own.newest)) this.#own.applyLocal(done.step, done.input);
      this.#object = object;
      this.#scene.predicted.set(object.alias, this);
    } else if (this.#told === null || isNewer(step, this.#told.step)) {
      const hasJumped = jumped >= 0 && this.#told !== null && isNewer(jumped, this.#told.tick);
      this.#own.handleState(step, this.#valuesOf(object), hasJumped);
    } else {
      return;
    }
    this.#told = { step, tick };
  }

  /** What the server told of what is predicted. @param {import("./object.js").NetObject} object */
  #valuesOf(object) {
    const values = object.values();
    return this.#fields === null
      ? values
      : Object.fromEntries(this.#fields.map((field) => [field, values[field]]));
  }

  /** The object that is predicted, if it is still there and this player's, or one to begin with. */
  #find() {
    if (!this.#isEnabled) return null;
    const isOwn = (/** @type {import("./object.js").NetObject} */ object) => object.isOwn && object.isInSight;
    if (this.#object !== null && isOwn(this.#object)) return this.#object;
    for (const object of this.#scene.values())
      if (object.kind === this.#kind.name && isOwn(object)) return object;
    return null;
  }

  /**
   * Reacts to an input at once.
   * @param {number} step
   * @param {any} input
   */
  apply(step, input) {
    // The steps were begun anew, for the server stood still: what was predicted will never be.
    if (this.#own?.applyLocal(step, input) === "notNewer") this.reset();
  }

  /**
   * Fills in where it is shown; false if nothing is predicted.
   * @param {Float64Array} position
   * @param {Float64Array} rotation
   */
  show(position, rotation) {
    if (this.#own === null) return false;
    const pose = this.#own.viewBetween(this.#session.seat?.stepFraction ?? 1);
    for (let axis = 0; axis < position.length; axis++) position[axis] = pose.position[axis];
    rotation.set(pose.rotation);
    return true;
  }
}

/** @param {Predictor<State, any> | null} own */
function correctionsOf(own) {
  return own === null ? 0 : own.report.small + own.report.medium + own.report.large;
}

/**
 * The next state, made from a copy. A step that throws is the game's mistake: it is reported, and nothing
 * moves.
 * @param {(state: State, input: any) => void} step
 * @param {State} state
 * @param {any} input
 */
function stepped(step, state, input) {
  /** @type {State} */
  const next = {};
  for (const [name, value] of Object.entries(state)) next[name] = Array.isArray(value) ? [...value] : value;
  try {
    step(next, input);
  } catch (error) {
    report(error);
    return state;
  }
  return next;
}

/** @typedef {import("../replica/predict/fields.js").Fields} Fields */

/**
 * Lists the fields that the owner is sent in snapshots.
 * @param {import("../session/protocol.js").ObjectKind} kind
 * @param {State} state
 * @param {Fields} fields
 */
function describe(kind, state, fields) {
  for (const { name, index, isReliable, ...own } of kind.schema.fields) {
    const value = state[name];
    if (isReliable || value === undefined || !reaches(kind.schema.fields[index], true)) continue;
    const wire = kind.types[index].fromGame(value);
    switch (own.kind) {
      case "position":
        fields.position(name, /** @type {any} */ (kind.profile), wire);
        break;
      case "rotation":
        fields.rotation(name, /** @type {any} */ (kind.profile), wire);
        break;
      case "velocity":
      case "scale": {
        const { perUnit } = PROFILES[own.profile][own.kind];
        for (const axis of wire) fields.number(name, kind.profile === "none" ? 0 : 1 / perUnit, axis);
        break;
      }
      case "quantized":
        fields.number(name, 1 / own.perUnit, wire);
        break;
      case "f32":
        fields.number(name, 0, Math.fround(wire));
        break;
      case "u64":
      case "name":
        fields.whole(name, Number(BigInt.asUintN(32, wire)));
        fields.whole(name, Number(BigInt.asUintN(32, wire >> 32n)));
        break;
      case "text":
      case "bytes":
      case "array":
        fields.whole(name, fnv1a32(contentOf(wire)));
        break;
      default:
        fields.whole(name, wire);
    }
  }
}

/**
 * Bytes that differ if the values do.
 * @param {string | Uint8Array | readonly any[]} value
 */
function contentOf(value) {
  if (value instanceof Uint8Array) return value;
  return encodeUtf8(typeof value === "string" ? value : value.join(" "));
}

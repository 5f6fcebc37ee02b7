/** What the player does in each step, and what is predicted of it. */

import { isNewer } from "../replica/tick.js";
import { report } from "./emitter.js";
import { Prediction } from "./prediction.js";

/**
 * Steps of which it is remembered what the player did: longer than any round trip that can be played with.
 */
const RECENT_MAX = 256;

/** See the module. */
export class Actor {
  #session;
  #scene;
  #protocol;
  /** @type {Prediction[]} */
  #predictions = [];
  /** @type {{ step: number, input: any }[]} what the player did of late, the newest last */
  #recent = [];

  /**
   * @param {import("../session/client.js").SessionClient} session
   * @param {import("./scene.js").Scene} scene
   * @param {import("../session/protocol.js").Protocol} protocol
   * @param {any} input
   */
  constructor(session, scene, protocol, input) {
    this.#session = session;
    this.#scene = scene;
    this.#protocol = protocol;
    /** What the player does from now on, or a function that says it for each step. */
    this.input = input;
  }

  /** How often the server disagreed with what was predicted. */
  get corrections() {
    return this.#predictions.reduce((sum, prediction) => sum + prediction.corrections, 0);
  }

  /**
   * @param {string} kind
   * @param {(state: any, input: any) => void} step
   * @param {readonly string[] | null} fields
   */
  predict(kind, step, fields) {
    const prediction = new Prediction(
      this.#session,
      this.#scene,
      this.#protocol,
      kind,
      step,
      this.#recent,
      fields,
    );
    this.#predictions.push(prediction);
    return prediction;
  }

  /** Another seat: nothing of before is predicted any more. */
  reset() {
    this.#recent.length = 0;
    for (const prediction of this.#predictions) prediction.reset();
  }

  /**
   * A frame: compares with what the server said, and acts in the steps that are due.
   * @param {number} elapsedUs
   */
  act(elapsedUs) {
    for (const prediction of this.#predictions) prediction.update(elapsedUs);
    for (let step = this.#session.pollStep(); step !== null; step = this.#session.pollStep()) {
      const input = typeof this.input === "function" ? this.#ask(step) : { ...this.input };
      this.#session.pushInput(step, input);
      this.#remember(step, input);
      for (const prediction of this.#predictions) prediction.apply(step, input);
    }
  }

  /**
   * @param {number} step
   * @param {any} input
   */
  #remember(step, input) {
    const newest = this.#recent.at(-1);
    // The steps were begun anew, for the server stood still: it will never see those of before.
    if (newest !== undefined && !isNewer(step, newest.step)) this.#recent.length = 0;
    if (this.#recent.length === RECENT_MAX) this.#recent.shift();
    this.#recent.push({ step, input });
  }

  /** @param {number} step */
  #ask(step) {
    try {
      return this.input(step) ?? {};
    } catch (error) {
      report(error);
      return {};
    }
  }
}

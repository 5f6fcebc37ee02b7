/**
 * The net lab: a bad line on purpose, adjustable while the game runs.
 *
 * What is set here happens to real datagrams, in both directions or each by itself, and outlives reconnects.
 * Latency counts in each direction, so that the round trip grows by twice that. On a WebSocket nothing can be
 * lost: what would be is late instead.
 */

import { NetloomError } from "../session/error.js";
import { Conditioner } from "../transport/conditioner.js";
import { PRESETS, completeLine, preset } from "../transport/line.js";

/**
 * One direction of a line. What is not said is as on a perfect line.
 * @typedef {object} LineSettings
 * @property {number} [latencyMs] one way
 * @property {number} [jitterMs] at most as much as the latency
 * @property {number} [lossPercent]
 * @property {number} [duplicatePercent]
 * @property {number} [reorderPercent]
 * @property {number} [corruptPercent]
 * @property {number} [kilobitsPerSecond]
 */

/**
 * Both directions, or each by itself.
 * @typedef {LineSettings & { outgoing?: LineSettings, incoming?: LineSettings }} LabSettings
 */

/** @typedef {import("../transport/line.js").LineConfig} LineConfig */

/** See the module. */
export class Lab {
  /** The names of lines that are known. */
  presets = Object.freeze(Object.keys(PRESETS));
  /** @type {Conditioner | null} */
  #conditioner = null;
  #outgoing;
  #incoming;
  #isUnplugged = false;
  #wraps = 0;

  /** @param {LabSettings | string} [settings] or the name of a known line */
  constructor(settings = {}) {
    this.#outgoing = completeLine({});
    this.#incoming = this.#outgoing;
    if (typeof settings === "string") this.preset(settings);
    else this.set(settings);
  }

  /** What is set, one way and the other. */
  get settings() {
    return {
      outgoing: shown(this.#outgoing),
      incoming: shown(this.#incoming),
      isUnplugged: this.#isUnplugged,
    };
  }

  /**
   * Another line from now on.
   * @param {LabSettings} settings
   */
  set({ outgoing, incoming, ...both }) {
    this.#apply(lineOf({ ...both, ...outgoing }), lineOf({ ...both, ...incoming }));
  }

  /**
   * A line that has a name: one of `presets`.
   * @param {string} name
   */
  preset(name) {
    const line = checked(() => preset(name));
    this.#apply(line, line);
  }

  /** A perfect line again. */
  off() {
    this.unplug(false);
    this.set({});
  }

  /**
   * Pulls the plug, or puts it back: nothing gets through meanwhile.
   * @param {boolean} [isUnplugged]
   */
  unplug(isUnplugged = true) {
    this.#isUnplugged = isUnplugged;
    this.#conditioner?.setUnplugged(isUnplugged);
  }

  /**
   * Puts the line between a transport and whoever uses it.
   * @param {import("../transport/transport.js").Transport} transport
   */
  wrap(transport) {
    const conditioner = new Conditioner(transport, {
      outgoing: this.#outgoing,
      incoming: this.#incoming,
      seed: ++this.#wraps,
    });
    conditioner.setUnplugged(this.#isUnplugged);
    this.#conditioner = conditioner;
    return conditioner;
  }

  /**
   * @param {LineConfig} outgoing
   * @param {LineConfig} incoming
   */
  #apply(outgoing, incoming) {
    this.#outgoing = outgoing;
    this.#incoming = incoming;
    this.#conditioner?.setOutgoing(outgoing);
    this.#conditioner?.setIncoming(incoming);
  }
}

/**
 * @param {LineSettings} settings
 * @returns {LineConfig}
 */
function lineOf(settings) {
  const {
    latencyMs = 0,
    jitterMs = 0,
    lossPercent = 0,
    duplicatePercent = 0,
    reorderPercent = 0,
    corruptPercent = 0,
    kilobitsPerSecond = Infinity,
  } = settings;
  return checked(() =>
    completeLine({
      latency: latencyMs * 1_000,
      jitter: Math.min(jitterMs, latencyMs) * 1_000,
      loss: lossPercent / 100,
      duplicate: duplicatePercent / 100,
      reorder: reorderPercent / 100,
      corrupt: corruptPercent / 100,
      bytesPerSecond: kilobitsPerSecond * 125,
    }),
  );
}

/**
 * In the units of the settings. Loss that comes in bursts is told by its mean.
 * @param {LineConfig} line
 */
function shown({ latency, jitter, loss, duplicate, reorder, corrupt, bytesPerSecond }) {
  const mean =
    typeof loss === "number"
      ? loss
      : (loss.lossBad * loss.goodToBad + loss.lossGood * loss.badToGood) / (loss.goodToBad + loss.badToGood);
  return {
    latencyMs: latency / 1_000,
    jitterMs: jitter / 1_000,
    lossPercent: mean * 100,
    duplicatePercent: duplicate * 100,
    reorderPercent: reorder * 100,
    corruptPercent: corrupt * 100,
    kilobitsPerSecond: bytesPerSecond / 125,
  };
}

/**
 * @template T
 * @param {() => T} make
 * @returns {T}
 */
function checked(make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NetloomError("setting", error.message, { cause: error });
  }
}

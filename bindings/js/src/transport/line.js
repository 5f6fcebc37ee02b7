/**
 * What one direction of a bad line does to datagrams. No clock and no timers: time is an argument.
 *
 * Each question about a datagram is asked in the order in which a real path asks it:
 *
 * ```text
 * send → plug → queue of the bottleneck → loss → duplication ┬→ damage → delay → arrival
 *                                                            └→ damage → delay → arrival
 * ```
 *
 * The fate of the n-th datagram is drawn from numbers of its own, so that switching one disturbance on leaves
 * the others' decisions as they were.
 *
 * A stream loses, doubles and reorders nothing: its operating system sends again and keeps the rest waiting.
 * There, what would have been lost is late by a resend timeout, and everything behind it as well.
 */

/** The shortest time after which a stream's operating system sends again what was lost, in microseconds. */
const STREAM_RESEND_MIN = 200e3;
/** What IP and UDP add to a datagram, counted against the bandwidth. */
const HEADER_OVERHEAD_BYTES = 28;

/**
 * Loss that comes in bursts: a chain of two states that moves once per datagram.
 * @typedef {object} Bursts
 * @property {number} goodToBad the probability of turning bad when good
 * @property {number} badToGood of turning good when bad; its inverse is the mean length of a burst
 * @property {number} lossGood the loss while good
 * @property {number} lossBad the loss while bad
 */

/**
 * One direction of a line. Times in microseconds, probabilities from 0 to 1.
 * @typedef {object} LineConfig
 * @property {number} latency the mean one-way delay
 * @property {number} jitter the largest deviation from it either way; it reorders, too
 * @property {number | Bursts} loss which datagrams vanish
 * @property {number} duplicate how many arrive twice, each copy with a delay of its own
 * @property {number} reorder how many are held back so that later ones overtake
 * @property {number} reorderDelayMax for how long at most
 * @property {number} corrupt how many are damaged: one to three flipped bits or, one time in eight, a cut
 *   tail
 * @property {number} bytesPerSecond the bottleneck; Infinity for none
 * @property {number} queueDelayMax how long its queue gets before the tail is dropped
 */

/** @type {LineConfig} */
const PERFECT = {
  latency: 0,
  jitter: 0,
  loss: 0,
  duplicate: 0,
  reorder: 0,
  reorderDelayMax: 50e3,
  corrupt: 0,
  bytesPerSecond: Infinity,
  queueDelayMax: 200e3,
};

/**
 * @param {number} begin
 * @param {number} end
 * @returns {Bursts} three of four datagrams are lost while it lasts
 */
const bursts = (begin, end) => ({ goodToBad: begin, badToGood: end, lossGood: 0, lossBad: 0.75 });
const MEGABIT = 125_000;

/** Lines that have a name, one direction of each. */
export const PRESETS = Object.freeze({
  none: PERFECT,
  "home wifi": {
    ...PERFECT,
    loss: bursts(0.002, 0.4),
    latency: 8e3,
    jitter: 6e3,
    reorder: 0.001,
    reorderDelayMax: 10e3,
    bytesPerSecond: 50 * MEGABIT,
    queueDelayMax: 60e3,
  },
  "4G": {
    ...PERFECT,
    loss: bursts(0.002, 0.25),
    latency: 30e3,
    jitter: 15e3,
    reorder: 0.005,
    reorderDelayMax: 30e3,
    bytesPerSecond: 12 * MEGABIT,
    queueDelayMax: 200e3,
  },
  transatlantic: {
    ...PERFECT,
    loss: 0.001,
    latency: 45e3,
    jitter: 3e3,
    bytesPerSecond: 100 * MEGABIT,
    queueDelayMax: 50e3,
  },
  awful: {
    ...PERFECT,
    loss: bursts(0.04, 0.25),
    latency: 150e3,
    jitter: 80e3,
    reorder: 0.05,
    reorderDelayMax: 100e3,
    duplicate: 0.02,
    bytesPerSecond: 1 * MEGABIT,
    queueDelayMax: 400e3,
  },
});

/**
 * A line by its name; case does not matter, nor whether words are joined by a space, `-` or `_`.
 * @param {string} name
 * @returns {LineConfig}
 */
export function preset(name) {
  const asked = name.trim().replace(/[-_]/g, " ").toLowerCase();
  for (const [known, line] of Object.entries(PRESETS)) if (known.toLowerCase() === asked) return line;
  throw new RangeError(`there is no line called "${name}": choose one of ${Object.keys(PRESETS).join(", ")}`);
}

/**
 * Completes settings; one that no line has is a RangeError that names it.
 * @param {Partial<LineConfig>} settings
 * @returns {LineConfig}
 */
export function completeLine(settings) {
  const line = { ...PERFECT, ...settings };
  const within = (
    /** @type {string} */ field,
    /** @type {number} */ value,
    /** @type {number} */ min,
    /** @type {number} */ max,
  ) => {
    if (!(value >= min && value <= max))
      throw new RangeError(`${field} = ${value} is not allowed: use ${min} to ${max}`);
  };
  within("latency", line.latency, 0, 60e6);
  within("jitter", line.jitter, 0, line.latency);
  const losses = typeof line.loss === "number" ? { loss: line.loss } : line.loss;
  const probabilities = {
    ...losses,
    duplicate: line.duplicate,
    reorder: line.reorder,
    corrupt: line.corrupt,
  };
  for (const [field, value] of Object.entries(probabilities)) within(field, value, 0, 1);
  within("reorderDelayMax", line.reorderDelayMax, 0, 60e6);
  within("bytesPerSecond", line.bytesPerSecond, 1, Infinity);
  within("queueDelayMax", line.queueDelayMax, 0, 60e6);
  return line;
}

/** Numbers that follow from a seed and an index alone (splitmix, in 32 bits). */
class Draws {
  /** @param {number} seed @param {number} index */
  constructor(seed, index) {
    this.state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca77)) >>> 0;
  }

  /** From 0 to 1, without 1. */
  unit() {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4294967296;
  }
}

/** @typedef {{ at: number, bytes: Uint8Array }} OnItsWay */

/** One direction: the line decides when a datagram arrives, and here it waits for that. */
export class Line {
  /**
   * @param {Partial<LineConfig>} settings
   * @param {boolean} isStream whether nothing may vanish or overtake
   * @param {number} seed where every decision is drawn from
   * @param {number} [inFlightMax] datagrams on their way at most; more are lost, as in a full queue
   */
  constructor(settings, isStream, seed, inFlightMax = 4096) {
    this.config = completeLine(settings);
    this.isStream = isStream;
    this.seed = seed;
    this.inFlightMax = inFlightMax;
    this.isUnplugged = false;
    /** @type {OnItsWay[]} by arrival */
    this.onTheirWay = [];
    this.isInBurst = false;
    /** When the bottleneck has sent what waits before it. */
    this.idleAt = -Infinity;
    this.newestArrival = -Infinity;
    this.counters = {
      sent: 0,
      sentBytes: 0,
      delivered: 0,
      deliveredBytes: 0,
      lost: 0,
      lostInQueue: 0,
      duplicated: 0,
      heldBack: 0,
      damaged: 0,
    };
  }

  /** When the next datagram arrives. */
  get nextAt() {
    return this.onTheirWay.length > 0 ? this.onTheirWay[0].at : Infinity;
  }

  /**
   * Sends a copy of a datagram along, or loses it.
   * @param {Uint8Array} bytes
   * @param {number} now
   */
  admit(bytes, now) {
    const draws = new Draws(this.seed, this.counters.sent++);
    this.counters.sentBytes += bytes.length;
    const isLost = this.#loses(draws);
    const isDoubled = draws.unit() < this.config.duplicate;
    if (this.isUnplugged) {
      this.counters.lost++;
      return;
    }
    const leavesAt = this.#passBottleneck(bytes.length, now);
    if (this.isStream) {
      this.#admitToStream(bytes, leavesAt, isLost, draws);
    } else if (leavesAt === Infinity) {
      this.counters.lostInQueue++;
    } else if (isLost) {
      this.counters.lost++;
    } else {
      this.#arrive(bytes, leavesAt, draws);
      if (!isDoubled) return;
      this.counters.duplicated++;
      this.#arrive(bytes, leavesAt, draws);
    }
  }

  /**
   * Hands out what has arrived by now, in order.
   * @param {number} now
   * @param {(bytes: Uint8Array) => void} deliver
   */
  release(now, deliver) {
    let due = 0;
    while (due < this.onTheirWay.length && this.onTheirWay[due].at <= now) due++;
    if (due === 0) return;
    for (const { bytes } of this.onTheirWay.splice(0, due)) {
      this.counters.delivered++;
      this.counters.deliveredBytes += bytes.length;
      deliver(bytes);
    }
  }

  /** @param {Draws} draws */
  #loses(draws) {
    const { loss } = this.config;
    const [first, second] = [draws.unit(), draws.unit()];
    if (typeof loss === "number") return second < loss;
    if (first < (this.isInBurst ? loss.badToGood : loss.goodToBad)) this.isInBurst = !this.isInBurst;
    return second < (this.isInBurst ? loss.lossBad : loss.lossGood);
  }

  /**
   * When the last bit has left the bottleneck; Infinity if its queue is full.
   * @param {number} length
   * @param {number} now
   */
  #passBottleneck(length, now) {
    const { bytesPerSecond, queueDelayMax } = this.config;
    if (bytesPerSecond === Infinity) return now;
    if (this.idleAt - now > queueDelayMax) return Infinity;
    this.idleAt = Math.max(now, this.idleAt) + ((length + HEADER_OVERHEAD_BYTES) * 1e6) / bytesPerSecond;
    return this.idleAt;
  }

  /** @param {Uint8Array} bytes @param {number} leavesAt @param {boolean} isLost @param {Draws} draws */
  #admitToStream(bytes, leavesAt, isLost, draws) {
    const { latency, jitter } = this.config;
    const isLate = isLost || leavesAt === Infinity;
    let at = (leavesAt === Infinity ? this.idleAt : leavesAt) + latency + jitter * (2 * draws.unit() - 1);
    if (isLate) {
      this.counters.heldBack++;
      at += Math.max(STREAM_RESEND_MIN, 2 * latency + 4 * jitter);
    }
    this.newestArrival = Math.max(this.newestArrival, at);
    this.#put(bytes.slice(), this.newestArrival);
  }

  /** @param {Uint8Array} bytes @param {number} leavesAt @param {Draws} draws */
  #arrive(bytes, leavesAt, draws) {
    const { latency, jitter, reorder, reorderDelayMax, corrupt } = this.config;
    let at = leavesAt + latency + jitter * (2 * draws.unit() - 1);
    const [late, lateness, damage] = [draws.unit(), draws.unit(), draws.unit()];
    if (late < reorder) {
      this.counters.heldBack++;
      at += lateness * reorderDelayMax;
    }
    this.#put(damage < corrupt ? this.#damage(bytes, draws) : bytes.slice(), at);
  }

  /** @param {Uint8Array} bytes @param {Draws} draws */
  #damage(bytes, draws) {
    this.counters.damaged++;
    if (bytes.length === 0 || draws.unit() < 1 / 8)
      return bytes.slice(0, Math.floor(draws.unit() * bytes.length));
    const damaged = bytes.slice();
    const flips = 1 + Math.floor(3 * draws.unit());
    const bits = 8 * bytes.length;
    const first = Math.floor(draws.unit() * bits);
    // Spread evenly, so that no flip undoes another.
    for (let flip = 0; flip < flips; flip++) {
      const bit = (first + flip * Math.floor(bits / flips)) % bits;
      damaged[bit >> 3] ^= 1 << (bit & 7);
    }
    return damaged;
  }

  /** @param {Uint8Array} bytes @param {number} at */
  #put(bytes, at) {
    const { onTheirWay } = this;
    if (onTheirWay.length >= this.inFlightMax) {
      this.counters.lostInQueue++;
      return;
    }
    let place = onTheirWay.length;
    while (place > 0 && onTheirWay[place - 1].at > at) place--;
    onTheirWay.splice(place, 0, { at, bytes });
  }
}

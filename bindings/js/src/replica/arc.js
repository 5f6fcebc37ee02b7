/**
 * A rotation, predicted by turning on (section 46.5 of the standard).
 *
 * The words of a rotation are three components of a quaternion; which three changes as the object turns, and
 * none of them moves evenly. So the arc through both baselines is continued on whole quaternions, in steps,
 * and only then taken apart again. What is said is off along the way: the step with the largest share of the
 * way leads, and its difference corrects what is expected of the other two.
 */

/** @typedef {import("./line.js").Line} Line */
/** @typedef {import("../wire/rotation.js").RotationWidth} RotationWidth */

/**
 * The constants of a width; where a quotient is rounded, what the dividend is multiplied by.
 * @typedef {object} Unit
 * @property {number} chordScale
 * @property {number} chordFactor
 * @property {number} bendScale of a product of the bend
 * @property {number} weightScale
 * @property {number} reciprocal the numerator
 * @property {number} slopeFrom of a product with the reciprocal
 * @property {number} slopeScale of a product with a slope
 */

/** @type {(c: number, f: number, w: number, r: number, s: number) => Unit} */
const unit = (c, f, w, r, s) => ({
  chordScale: 2 ** -c,
  chordFactor: f,
  bendScale: 2 ** (w - 21),
  weightScale: 2 ** -w,
  reciprocal: 2 ** r,
  slopeFrom: 2 ** (s - r),
  slopeScale: 2 ** -s,
});

const UNIT_10 = unit(7, 514, 10, 22, 10);
const UNIT_15 = unit(17, 512, 13, 30, 12);

/** Rounds to nearest, ties up. Exact: no product here needs more than 49 bits. */
const near = (/** @type {number} */ value, /** @type {number} */ scale) => Math.floor(value * scale + 0.5);

/** The integer nearest to a root: no integer has one half-way between two. */
const root = (/** @type {number} */ square) => Math.floor(Math.sqrt(square) + 0.5);

/** Where the steps of a quaternion are that drops a component. */
const KEPT = [
  [1, 2, 3],
  [0, 2, 3],
  [0, 1, 3],
  [0, 1, 2],
];

/** What is expected of a rotation. One is used again and again. */
export class Arc {
  constructor() {
    this.newer = new Float64Array(4);
    this.older = new Float64Array(4);
    this.predicted = new Float64Array(4);
    /** The three steps of the newer rotation, and those predicted, after `drop`. */
    this.from = new Float64Array(3);
    this.to = new Float64Array(3);
    this.unit = UNIT_10;
  }

  /**
   * Continues the arc from the older to the newer of two rotations.
   * @param {RotationWidth} width
   * @param {Int32Array} words
   * @param {number} newerAt
   * @param {number} olderAt
   * @param {Line | null} line null if only the newer one counts
   */
  trace(width, words, newerAt, olderAt, line) {
    this.unit = width.bits === 10 ? UNIT_10 : UNIT_15;
    const { newer, older, predicted } = this;
    putWhole(width, words, newerAt, newer);
    if (line === null) {
      predicted.set(newer);
      return;
    }
    putWhole(width, words, olderAt, older);
    let dot = 0;
    for (let part = 0; part < 4; part++) dot += newer[part] * older[part];
    const sign = dot < 0 ? -1 : 1;
    let chord = 0;
    for (let part = 0; part < 4; part++) {
      const rise = newer[part] - sign * older[part];
      predicted[part] = rise;
      chord += rise * rise;
    }
    const { chordScale, chordFactor, bendScale, weightScale } = this.unit;
    const bend = Math.min(near(near(chord, chordScale) * chordFactor, 1 / 256), line.bendMax);
    const inner = near(line.inwards * bend, bendScale);
    const straight = width.bits === 10 ? line.ratio10 : line.ratio13;
    const outer = straight - near(line.backwards * bend, bendScale);
    for (let part = 0; part < 4; part++) {
      predicted[part] = newer[part] + near(predicted[part] * outer - newer[part] * inner, weightScale);
    }
  }

  /** The component that is expected to be dropped: the largest of those predicted, of equals the first. */
  get dropped() {
    let dropped = 0;
    for (let part = 1; part < 4; part++) {
      if (Math.abs(this.predicted[part]) > Math.abs(this.predicted[dropped])) dropped = part;
    }
    return dropped;
  }

  /**
   * Takes both quaternions apart, so that what is dropped is not negative.
   * @param {number} dropped
   */
  drop(dropped) {
    const sign = this.predicted[dropped] < 0 ? -1 : 1;
    const kept = KEPT[dropped];
    for (let step = 0; step < 3; step++) {
      this.from[step] = sign * this.newer[kept[step]];
      this.to[step] = sign * this.predicted[kept[step]];
    }
  }

  /** The step with the longest way ahead, of equals the first. */
  get #leader() {
    const { from, to } = this;
    let leader = 0;
    for (let step = 1; step < 3; step++) {
      if (Math.abs(to[step] - from[step]) > Math.abs(to[leader] - from[leader])) leader = step;
    }
    return leader;
  }

  /** How long the way of the lead is. */
  get size() {
    const leader = this.#leader;
    return Math.abs(this.to[leader] - this.from[leader]);
  }

  /**
   * Adds to the predicted steps the difference of the lead, and what it leaves of the others.
   * @param {Int32Array} differences
   */
  correct([lead, second, third]) {
    const { from, to, unit } = this;
    const way = (/** @type {number} */ step) => to[step] - from[step];
    const leader = this.#leader;
    // What is kept when the leader is dropped: the other two, in order.
    const [secondStep, thirdStep] = KEPT[leader];
    const ahead = way(leader);
    const size = Math.max(Math.abs(ahead), 1);
    const rounded = Math.floor((2 * unit.reciprocal + size) / (2 * size));
    const reciprocal = ahead < 0 ? -rounded : rounded;
    const follow = (/** @type {number} */ step) => {
      const slope = near(3 * near(way(step) * reciprocal, unit.slopeFrom), 1 / 4);
      return near(lead * slope, unit.slopeScale);
    };
    const [secondFollows, thirdFollows] = [follow(secondStep), follow(thirdStep)];
    to[leader] += lead;
    to[secondStep] += second + secondFollows;
    to[thirdStep] += third + thirdFollows;
  }
}

/**
 * The four components of a rotation, in steps.
 * @param {RotationWidth} width
 * @param {Int32Array} words
 * @param {number} at
 * @param {Float64Array} whole
 */
function putWhole(width, words, at, whole) {
  const dropped = words[at] & 3;
  const kept = KEPT[dropped];
  let rest = width.one;
  for (let step = 0; step < 3; step++) {
    const word = words[at + 1 + step];
    whole[kept[step]] = word;
    rest -= word * word;
  }
  whole[dropped] = root(Math.max(rest, 0));
}

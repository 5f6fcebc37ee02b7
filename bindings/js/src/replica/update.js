/**
 * What changed of one object (section 46 of the standard).
 *
 * Both ends hold the same one or two earlier states of the object. One symbol says what changed and how it is
 * predicted, unless it is as usual; the differences from the prediction follow, then the other fields. How long an update is follows
 * from the object's own states: a reader that has not got them cannot find the next one.
 */

import { bitsFor } from "../wire/bits.js";
import { readChanged, readResidual } from "../wire/delta.js";
import { WireError } from "../wire/error.js";
import { hasWords } from "../wire/quantize.js";
import { readContentBits, readRotationBits, readTripleBits, readValueBits } from "../wire/value.js";
import { Arc } from "./arc.js";
import { ALONE, Chain, HEAD_FROM_NEWER, HEAD_OTHER, LINE, NEWER } from "./chain.js";
import { WORDS_MAX } from "./class.js";
import { readSingles, readTurn } from "./singles.js";

/** @typedef {import("../wire/bits.js").BitReader} BitReader */
/** @typedef {import("../wire/table.js").CodeTable} CodeTable */
/** @typedef {import("./class.js").PlacedField} PlacedField */
/** @typedef {import("./class.js").Shape} Shape */
/** @typedef {import("./codes.js").Codes} Codes */
/** @typedef {import("./line.js").Line} Line */

const PLACES = 5;
const COMBINATIONS = 35;
const JUMPED = 70;

const PLACE_PREDICTED = 1;
const PLACE_FROM_NEWER = 2;
const PLACE_FROM_LINE = 3;
const PLACE_IN_FULL = 4;
const TURN_SAME = 0;
const TURN_PREDICTED = 1;
const TURN_FROM_NEWER = 2;
const TURN_FROM_NEWER_DROPPING = 3;
const TURN_FROM_ARC = 4;
const TURN_FROM_ARC_DROPPING = 5;
const TURN_IN_FULL = 6;

/** The form needs no first number, or it has not been read. */
const NO_NUMBER = -1;

/** Reads updates under one set of codes. What it found is in its fields until the next one. */
export class UpdateReader {
  /** @param {Codes} codes */
  constructor(codes) {
    this.codes = codes;
    /** The words of the object now. */
    this.words = new Int32Array(WORDS_MAX);
    /** How many ticks ago it jumped; −1 if it did not since the newer baseline. */
    this.jumpAge = -1;
    /** The fields whose contents changed, and those. */
    this.contentFields = /** @type {number[]} */ ([]);
    this.contents = /** @type {Uint8Array[]} */ ([]);
    this.chain = new Chain();
    /** What the position makes from the newer baseline to the end of the line, and how large that is. */
    this.steps = new Int32Array(3);
    this.stepSize = 0;
    /** The form of the update, and the symbol of the first number of its position if the head was that. */
    this.place = 0;
    this.turn = 0;
    this.hasOthers = false;
    this.firstNumber = NO_NUMBER;
    /** Whether the newer position is of singles. */
    this.isExact = false;
    this.changed = new Uint8Array(64);
    this.arc = new Arc();
  }

  /**
   * Reads the update of an object of which `states` has the words of both baselines.
   * @param {Shape} shape
   * @param {Int32Array} states
   * @param {number} newerAt
   * @param {number} newerAge
   * @param {number} olderAt that of the newer one again if there is no other
   * @param {Line | null} line
   * @param {BitReader} reader
   */
  read(shape, states, newerAt, newerAge, olderAt, line, reader) {
    for (let word = 0; word < shape.wordCount; word++) this.words[word] = states[newerAt + word];
    this.jumpAge = -1;
    this.contentFields.length = 0;
    this.contents.length = 0;
    const { position, rotation, others } = shape;
    if (position === null && rotation === null) {
      if (others.length > 0) this.#readOthers(others, reader);
      return;
    }
    const first = position === null ? 0 : position.first;
    const mark = position === null ? 0 : states[newerAt + first + 3];
    this.isExact = mark !== 0;
    const isKnown = this.isExact || (position !== null && position.form !== null && hasWords(position.form));
    const hasLine = isKnown && line !== null && states[olderAt + first + 3] === mark;
    if (hasLine && !this.isExact) this.#step(states, newerAt + first, olderAt + first, line);
    this.#readForm(shape, states, newerAt, newerAge, olderAt, line, isKnown, hasLine, reader);
    const { place, turn } = this;
    if (this.hasOthers && others.length === 0) throw new WireError("InvalidCode");
    if (place !== 0) {
      if (position === null) throw new WireError("InvalidCode");
      if (this.isExact && place === PLACE_FROM_NEWER) {
        readSingles(3, states, olderAt + first, hasLine ? line : null, reader, this.words, first);
      } else {
        this.#readPosition(position, states, newerAt, isKnown && !this.isExact, hasLine, reader);
      }
    }
    if (turn !== 0) {
      if (rotation === null) throw new WireError("InvalidCode");
      this.#readRotation(rotation, turn, states, newerAt, olderAt, line, reader);
    }
    if (this.hasOthers) this.#readOthers(others, reader);
  }

  /**
   * Goes on along the line through two positions.
   * @param {Int32Array} states
   * @param {number} newer
   * @param {number} older
   * @param {Line} line
   */
  #step(states, newer, older, line) {
    let folds = 0;
    for (let axis = 0; axis < 3; axis++) {
      const rise = (states[newer + axis] - states[older + axis]) | 0;
      const step = Math.floor((rise * line.ratio + 1024) / 2048) | 0;
      folds |= step ^ (step >> 31);
      this.steps[axis] = step;
    }
    this.stepSize = folds;
  }

  /**
   * What changed and how it is said (section 46.2).
   * @param {Shape} shape
   * @param {Int32Array} states
   * @param {number} newerAt
   * @param {number} newerAge
   * @param {number} olderAt
   * @param {Line | null} line
   * @param {boolean} isKnown whether the newer position has words, or singles
   * @param {boolean} hasLine whether the older one has the same
   * @param {BitReader} reader
   */
  #readForm({ position, rotation }, states, newerAt, newerAge, olderAt, line, isKnown, hasLine, reader) {
    const moves = (/** @type {PlacedField | null} */ field) =>
      line !== null && field !== null && differs(states, newerAt + field.first, olderAt + field.first);
    const [hasMoved, hasTurned] = [moves(position), moves(rotation)];
    this.firstNumber = NO_NUMBER;
    this.hasOthers = false;
    const isUsual = isKnown && (hasMoved || !hasLine);
    if (isUsual) {
      const turned = rotation?.width ? TURN_FROM_ARC : TURN_FROM_NEWER;
      const turn = line === null ? TURN_FROM_NEWER : hasTurned ? turned : TURN_SAME;
      this.place = hasLine && !this.isExact ? PLACE_FROM_LINE : PLACE_FROM_NEWER;
      this.turn = rotation === null ? TURN_SAME : turn;
    }
    if (this.isExact && isUsual && reader.bits(1) === 1) return;
    if (!this.isExact && isUsual) {
      this.#expectPlace(hasLine);
      const symbol = this.codes.head[this.chain.first].read(reader);
      if (symbol === HEAD_FROM_NEWER) {
        if (!hasLine) throw new WireError("InvalidCode");
        this.place = PLACE_FROM_NEWER;
        return;
      }
      if (symbol !== HEAD_OTHER) {
        this.firstNumber = symbol;
        return;
      }
    }
    const past = line === null ? 0 : 1 + (hasMoved ? 1 : 0) + (hasTurned ? 2 : 0);
    const symbol = this.#readSymbol(this.codes.symbol[past], newerAge, reader);
    const combination = symbol % COMBINATIONS;
    this.place = combination % PLACES;
    this.turn = (combination - this.place) / PLACES;
    this.hasOthers = symbol >= COMBINATIONS;
  }

  /**
   * Says what is expected of the differences of a position.
   * @param {boolean} hasLine
   */
  #expectPlace(hasLine) {
    if (hasLine) this.chain.expect(this.place === PLACE_FROM_LINE ? LINE : NEWER, this.stepSize);
    else this.chain.expect(ALONE, 0);
  }

  /**
   * @param {CodeTable} table
   * @param {number} newerAge
   * @param {BitReader} reader
   */
  #readSymbol(table, newerAge, reader) {
    const first = table.read(reader);
    if (first !== JUMPED) return first;
    const age = reader.bits(bitsFor(newerAge - 1));
    if (age >= newerAge) throw new WireError("OutOfRange");
    this.jumpAge = age;
    const symbol = table.read(reader);
    if (symbol === JUMPED) throw new WireError("InvalidCode");
    return symbol;
  }

  /**
   * @param {PlacedField} field
   * @param {Int32Array} states
   * @param {number} newerAt
   * @param {boolean} isKnown
   * @param {boolean} hasLine
   * @param {BitReader} reader
   */
  #readPosition(field, states, newerAt, isKnown, hasLine, reader) {
    const form = /** @type {import("../wire/quantize.js").TripleForm} */ (field.form);
    const { words, chain, steps, codes, place, firstNumber } = this;
    const { first } = field;
    if (place === PLACE_IN_FULL) return readTripleBits(form, reader, words, first);
    const isFromLine = place !== PLACE_FROM_NEWER;
    if (!isKnown || (isFromLine && !hasLine)) throw new WireError("InvalidCode");
    this.#expectPlace(hasLine);
    if (firstNumber !== NO_NUMBER) chain.readAfter(firstNumber, codes.place, reader);
    else if (place === PLACE_PREDICTED) chain.numbers.fill(0);
    else chain.read(codes.place, codes.place, reader);
    for (let axis = 0; axis < 3; axis++) {
      const step = isFromLine ? steps[axis] : 0;
      const word = (states[newerAt + first + axis] + step + chain.numbers[axis]) | 0;
      if (word < form.min || word > form.max) throw new WireError("OutOfRange");
      words[first + axis] = word;
    }
    words[first + 3] = 0;
  }

  /**
   * @param {PlacedField} field
   * @param {number} turn
   * @param {Int32Array} states
   * @param {number} newerAt
   * @param {number} olderAt
   * @param {Line | null} line
   * @param {BitReader} reader
   */
  #readRotation(field, turn, states, newerAt, olderAt, line, reader) {
    const { width, first } = field;
    const { words, arc, chain, codes } = this;
    if (turn === TURN_IN_FULL) return readRotationBits(width, reader, words, first);
    const isFromNewer = turn > TURN_PREDICTED && turn <= TURN_FROM_NEWER_DROPPING;
    if (width === null && turn === TURN_FROM_NEWER) {
      return readTurn(states, olderAt + first, line, reader, words, first);
    }
    if (width === null || (!isFromNewer && line === null)) throw new WireError("InvalidCode");
    arc.trace(width, states, newerAt + first, olderAt + first, line);
    const isNamed = turn === TURN_FROM_NEWER_DROPPING || turn === TURN_FROM_ARC_DROPPING;
    const expected = isFromNewer ? states[newerAt + first] : arc.dropped;
    const dropped = isNamed ? reader.bits(2) : expected;
    arc.drop(dropped);
    if (turn !== TURN_PREDICTED) {
      if (line === null) chain.expect(ALONE, 0);
      else chain.expect(isFromNewer ? NEWER : LINE, arc.size);
      chain.read(codes.lead, codes.rest, reader);
    }
    if (isFromNewer) {
      for (let step = 0; step < 3; step++) arc.to[step] = (arc.from[step] + chain.numbers[step]) | 0;
    } else if (turn !== TURN_PREDICTED) {
      arc.correct(chain.numbers);
    }
    let squares = 0;
    words[first] = dropped;
    for (let step = 0; step < 3; step++) {
      const value = arc.to[step];
      if (value < -width.half || value > width.half) throw new WireError("InvalidRotation");
      squares += value * value;
      words[first + 1 + step] = value;
    }
    if (squares > width.one) throw new WireError("InvalidRotation");
  }

  /**
   * The fields beside the transform (section 46.6).
   * @param {readonly PlacedField[]} others
   * @param {BitReader} reader
   */
  #readOthers(others, reader) {
    const count = readChanged(reader, this.codes.mask, others.length, this.changed);
    for (let place = 0; place < count; place++) {
      const field = others[this.changed[place]];
      if (field.kind === "int" || field.kind === "quantized") {
        const word = this.words[field.first];
        this.words[field.first] = readResidual(reader, this.codes.residual, word, field.min, field.max);
      } else if (field.contentMax > 0) {
        this.#readContent(field, reader);
      } else if (field.kind === "f32" || (field.form !== null && !hasWords(field.form))) {
        readSingles(field.kind === "f32" ? 1 : 3, this.words, 0, null, reader, this.words, field.first);
      } else if (field.form !== null && this.words[field.first + 3] === 0) {
        this.#readNearTriple(field, field.form, reader);
      } else {
        readValueBits(field, reader, this.words, field.first);
      }
    }
  }

  /**
   * A scale or velocity whose baseline has words.
   * @param {PlacedField} field
   * @param {import("../wire/quantize.js").TripleForm} form
   * @param {BitReader} reader
   */
  #readNearTriple(field, form, reader) {
    const { words, codes } = this;
    if (form.mayBeRaw && (reader.peek() & 1) === 1) return readTripleBits(form, reader, words, field.first);
    if (form.mayBeRaw) reader.skip(1);
    for (let word = field.first; word < field.first + 3; word++) {
      words[word] = readResidual(reader, codes.residual, words[word], form.min, form.max);
    }
  }

  /**
   * @param {PlacedField} field
   * @param {BitReader} reader
   */
  #readContent(field, reader) {
    const number = this.words[field.first];
    this.words[field.first] = readResidual(reader, this.codes.residual, number, -(2 ** 31), 2 ** 31 - 1);
    this.contents.push(readContentBits(field, reader));
    this.contentFields.push(field.index);
  }
}

/**
 * Whether any of four words differ.
 * @param {Int32Array} states
 * @param {number} a
 * @param {number} b
 */
function differs(states, a, b) {
  return (
    states[a] !== states[b] ||
    states[a + 1] !== states[b + 1] ||
    states[a + 2] !== states[b + 2] ||
    states[a + 3] !== states[b + 3]
  );
}

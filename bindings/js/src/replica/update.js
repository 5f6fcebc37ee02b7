/**
 * What changed of one object (section 46 of the standard).
 *
 * Both ends hold the same one or two earlier states of the object. One symbol says what changed and how it is
 * predicted; the differences from the prediction follow, then the other fields. How long an update is follows
 * from the object's own states: a reader that has not got them cannot find the next one.
 */

import { bitsFor } from "../wire/bits.js";
import { readChanged, readResidual } from "../wire/delta.js";
import { WireError } from "../wire/error.js";
import { hasWords } from "../wire/quantize.js";
import { readContentBits, readRotationBits, readTripleBits, readValueBits } from "../wire/value.js";
import { Arc } from "./arc.js";
import { WORDS_MAX } from "./class.js";

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
const PLACE_IN_FULL = 4;
const TURN_PREDICTED = 1;
const TURN_FROM_NEWER_DROPPING = 3;
const TURN_FROM_ARC_DROPPING = 5;
const TURN_IN_FULL = 6;

const UNEXPECTED = 24;
const LEVEL_MAX = 11;
const LINE_TABLES = 12;
const OTHERS_TABLE_MAX = 10;

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
    this.differences = new Int32Array(3);
    this.steps = new Int32Array(3);
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
    let past = 0;
    if (line !== null) {
      const hasMoved =
        position !== null && differs(states, newerAt + position.first, olderAt + position.first);
      const hasTurned =
        rotation !== null && differs(states, newerAt + rotation.first, olderAt + rotation.first);
      past = 1 + (hasMoved ? 1 : 0) + (hasTurned ? 2 : 0);
    }
    const symbol = this.#readSymbol(this.codes.symbol[past], newerAge, reader);
    const combination = symbol % COMBINATIONS;
    const place = combination % PLACES;
    const turn = (combination - place) / PLACES;
    if (symbol >= COMBINATIONS && others.length === 0) throw new WireError("InvalidCode");
    if (place !== 0) {
      if (position === null) throw new WireError("InvalidCode");
      this.#readPosition(position, place, states, newerAt, olderAt, line, reader);
    }
    if (turn !== 0) {
      if (rotation === null) throw new WireError("InvalidCode");
      this.#readRotation(rotation, turn, states, newerAt, olderAt, line, reader);
    }
    if (symbol >= COMBINATIONS) this.#readOthers(others, reader);
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
   * @param {number} place
   * @param {Int32Array} states
   * @param {number} newerAt
   * @param {number} olderAt
   * @param {Line | null} line
   * @param {BitReader} reader
   */
  #readPosition(field, place, states, newerAt, olderAt, line, reader) {
    const form = /** @type {import("../wire/quantize.js").TripleForm} */ (field.form);
    const { words, differences, steps } = this;
    const { first } = field;
    if (place === PLACE_IN_FULL) return readTripleBits(form, reader, words, first);
    const newer = newerAt + first;
    const older = olderAt + first;
    const hasLine = line !== null && states[older + 3] === 0;
    const isFromLine = place !== PLACE_FROM_NEWER;
    if (!hasWords(form) || states[newer + 3] !== 0 || (isFromLine && !hasLine)) {
      throw new WireError("InvalidCode");
    }
    let folds = 0;
    for (let axis = 0; axis < 3; axis++) {
      const rise = (states[newer + axis] - states[older + axis]) | 0;
      const step = line === null ? 0 : Math.floor((rise * line.ratio + 1024) / 2048) | 0;
      folds |= step ^ (step >> 31);
      steps[axis] = isFromLine ? step : 0;
    }
    if (place === PLACE_PREDICTED) {
      differences.fill(0);
    } else {
      const level = Math.min(bitsFor(folds), LEVEL_MAX);
      this.#readTriple(
        this.codes.triple[hasLine ? level + (isFromLine ? LINE_TABLES : 0) : UNEXPECTED],
        reader,
      );
    }
    for (let axis = 0; axis < 3; axis++) {
      const word = (states[newer + axis] + steps[axis] + differences[axis]) | 0;
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
    const { words, arc, differences } = this;
    if (turn === TURN_IN_FULL) return readRotationBits(width, reader, words, first);
    const isFromNewer = turn > TURN_PREDICTED && turn <= TURN_FROM_NEWER_DROPPING;
    if (width === null || (!isFromNewer && line === null)) throw new WireError("InvalidCode");
    const isNamed = turn === TURN_FROM_NEWER_DROPPING || turn === TURN_FROM_ARC_DROPPING;
    const dropped = isNamed ? reader.bits(2) : states[newerAt + first];
    arc.trace(width, states, newerAt + first, olderAt + first, line);
    arc.drop(dropped);
    const level = Math.min(arc.level, LEVEL_MAX);
    if (isFromNewer) {
      this.#readTriple(this.codes.triple[line === null ? UNEXPECTED : level], reader);
      for (let step = 0; step < 3; step++) arc.to[step] = (arc.from[step] + differences[step]) | 0;
    } else if (turn !== TURN_PREDICTED) {
      this.#readLead(level, reader);
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
   * Reads the lead and what it leaves of the others (section 46.5), and corrects the arc by them.
   * @param {number} level
   * @param {BitReader} reader
   */
  #readLead(level, reader) {
    const symbol = this.codes.lead[level].read(reader);
    const bits = symbol < 2 ? 0 : symbol - 1;
    let lead = symbol === 1 ? -1 : 0;
    if (bits > 0) {
      const value = reader.bits(bits);
      lead = value >= 1 << (bits - 1) ? value : value - (1 << bits);
    }
    const rest = this.codes.others[Math.min(bits, OTHERS_TABLE_MAX)].read(reader);
    if (rest < 16) {
      this.arc.correct(lead, (rest << 30) >> 30, (rest << 28) >> 30);
    } else {
      const second = reader.signed(rest - 13);
      this.arc.correct(lead, second, reader.signed(rest - 13));
    }
  }

  /**
   * Three differences at once (section 46.3).
   * @param {CodeTable} table
   * @param {BitReader} reader
   */
  #readTriple(table, reader) {
    const { differences } = this;
    const symbol = table.read(reader);
    if (symbol < 64) {
      differences[0] = (symbol << 30) >> 30;
      differences[1] = (symbol << 28) >> 30;
      differences[2] = (symbol << 26) >> 30;
      return;
    }
    const isEscape = symbol === 141;
    const mask = isEscape ? 7 : 1 + ((symbol - 64) % 7);
    const width = isEscape ? reader.bits(5) + 1 : 3 + Math.floor((symbol - 64) / 7);
    for (let axis = 0; axis < 3; axis++) differences[axis] = (mask >> axis) & 1 ? reader.signed(width) : 0;
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
      } else if (field.form !== null && hasWords(field.form) && this.words[field.first + 3] === 0) {
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

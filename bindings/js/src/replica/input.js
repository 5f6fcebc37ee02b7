/**
 * What a player does, on its way to the server (section 47 of the standard).
 *
 * An input is for one step of the server's simulation and no other; if it comes too late there is no second
 * chance. So every message carries all inputs that the server has not confirmed, the newest first, and a lost
 * one costs nothing if the next arrives in time. An input that did not change takes one bit.
 *
 * What an input consists of is the game's own: a form says how one is written. Two inputs are the same if
 * their bits are.
 */

import { BitReader, BitWriter } from "../wire/bits.js";
import { ByteReader } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { nearest } from "./tick.js";

const INPUTS_MAX = 64;
const MESSAGE_BYTES_MAX = 512;
/** Bytes of one input, if it is bytes. */
export const INPUT_BYTES_MAX = 64;
const INPUT_BITS_MAX = 520;
const LENGTH_BITS = 7;
const VIEW = 0x80;

/**
 * A moment of the server's world: a step, and so many 256ths of the way to the next.
 * @typedef {object} ViewTime
 * @property {number} step
 * @property {number} fraction
 */

/**
 * The moment at a server time, where step 0 is at zero.
 * @param {number} timeUs
 * @param {number} stepsPerSecond
 * @returns {ViewTime}
 */
export function viewTimeAt(timeUs, stepsPerSecond) {
  const parts = Math.floor((timeUs * stepsPerSecond * 256) / 1e6);
  return { step: Math.floor(parts / 256) >>> 0, fraction: parts % 256 };
}

/**
 * What an input consists of.
 * @typedef {object} InputForm
 * @property {number} bitsMax the most bits of one, up to 520
 * @property {(input: any, writer: BitWriter) => void} write
 */

/**
 * Inputs that are bytes: always as many, or preceded by their number.
 * @param {number | null} byteLength up to 64; null if each says its own
 * @returns {InputForm}
 */
export function bytesForm(byteLength) {
  const bitsMax = byteLength === null ? LENGTH_BITS + 8 * INPUT_BYTES_MAX : 8 * byteLength;
  return {
    bitsMax,
    write(input, writer) {
      const isRight = byteLength === null ? input.length <= INPUT_BYTES_MAX : input.length === byteLength;
      if (!isRight) throw new RangeError(`an input of ${input.length} bytes: use ${byteLength ?? "0 to 64"}`);
      if (byteLength === null) writer.bits(input.length, LENGTH_BITS);
      writer.bytes(input);
    },
  };
}

/** Writes messages with inputs. */
export class InputWriter {
  /** @param {InputForm} form */
  constructor(form) {
    if (!(form.bitsMax >= 0 && form.bitsMax <= INPUT_BITS_MAX)) {
      throw new RangeError(`an input of ${form.bitsMax} bits: use 0 to ${INPUT_BITS_MAX}`);
    }
    this.form = form;
    this.writer = new BitWriter(MESSAGE_BYTES_MAX);
    this.input = new BitWriter(INPUT_BITS_MAX / 8);
    this.before = new BitWriter(INPUT_BITS_MAX / 8);
  }

  /**
   * The message with the input of step `newest` and those of the steps before it, as many as there is room
   * for, as a view that is good until the next one; null if there are none.
   * @param {number} newest
   * @param {ViewTime | null} view what the player saw at the newest
   * @param {readonly any[]} inputs the newest first
   */
  write(newest, view, inputs) {
    const writer = this.writer.reset();
    writer.bits(newest & 0xffff, 16);
    writer.bits(0, 8);
    if (view !== null) {
      writer.bits(view.step & 0xffff, 16);
      writer.bits(view.fraction, 8);
    }
    const count = this.#writeInputs(inputs);
    writer.buffer[2] = count | (view === null ? 0 : VIEW);
    return count === 0 ? null : writer.written();
  }

  /** @param {readonly any[]} inputs */
  #writeInputs(inputs) {
    const { writer, form } = this;
    const count = Math.min(inputs.length, INPUTS_MAX);
    for (let at = 0; at < count; at++) {
      const { input, before } = this;
      form.write(inputs[at], input.reset());
      const isSame = at > 0 && isEqual(input, before);
      if (writer.left < 1 + (isSame ? 0 : form.bitsMax)) return at;
      if (at > 0) writer.bool(isSame);
      if (!isSame) copyBits(input, writer);
      this.input = before;
      this.before = input;
    }
    return count;
  }
}

/**
 * @param {BitWriter} a
 * @param {BitWriter} b
 */
function isEqual(a, b) {
  return a.at === b.at && a.written().every((byte, at) => byte === b.buffer[at]);
}

/**
 * @param {BitWriter} from
 * @param {BitWriter} to
 */
function copyBits(from, to) {
  for (let at = 0; at < from.at; at += 8) to.bits(from.buffer[at >>> 3], Math.min(8, from.at - at));
}

/**
 * Reads a message with inputs, as a server does.
 * @param {Uint8Array} message
 * @param {number | null} byteLength
 * @param {number} near the step that the simulation has come to
 * @returns {{ newest: number, view: ViewTime | null, inputs: Uint8Array[] }} inputs with the newest first
 */
export function readInputs(message, byteLength, near) {
  if (message.length > MESSAGE_BYTES_MAX) throw new WireError("TooLong");
  const reader = new ByteReader(message);
  const newest = nearest(reader.u16(), near);
  const bits = reader.u8();
  const view = (bits & VIEW) !== 0 ? { step: nearest(reader.u16(), near), fraction: reader.u8() } : null;
  const count = bits & ~VIEW;
  if (count === 0 || count > INPUTS_MAX) throw new WireError("OutOfRange");
  const rest = new BitReader(message, reader.at);
  const inputs = [readInput(rest, byteLength)];
  while (inputs.length < count) {
    inputs.push(rest.bool() ? inputs[inputs.length - 1] : readInput(rest, byteLength));
  }
  rest.finish();
  return { newest, view, inputs };
}

/**
 * @param {BitReader} reader
 * @param {number | null} byteLength
 */
function readInput(reader, byteLength) {
  const length = byteLength ?? reader.bits(LENGTH_BITS);
  if (length > INPUT_BYTES_MAX) throw new WireError("TooLong");
  return Uint8Array.from({ length }, () => reader.bits(8));
}

/**
 * What a player does, on its way to the server (section 47 of the standard).
 *
 * An input is for one step of the server's simulation and no other; if it comes too late there is no second chance. So
 * every message carries all inputs that the server has not confirmed, the newest first, and a lost one costs nothing if
 * the next arrives in time. An input that did not change takes one bit.
 *
 * An input is a `Uint8Array`, either always of the same length or preceded by it.
 */

import { BitReader, BitWriter } from "../wire/bits.js";
import { ByteReader } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { nearest } from "./tick.js";

const INPUTS_MAX = 64;
const MESSAGE_BYTES_MAX = 512;
/** Bytes of one input. */
export const INPUT_BYTES_MAX = 64;
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

/** Writes messages with inputs. */
export class InputWriter {
  /** @param {number | null} byteLength of every input, up to 64; null if each says its own */
  constructor(byteLength) {
    if (byteLength !== null && !(byteLength >= 0 && byteLength <= INPUT_BYTES_MAX)) {
      throw new RangeError(`an input of ${byteLength} bytes: use 0 to ${INPUT_BYTES_MAX}`);
    }
    this.byteLength = byteLength;
    this.bitsMax = byteLength === null ? LENGTH_BITS + 8 * INPUT_BYTES_MAX : 8 * byteLength;
    this.writer = new BitWriter(MESSAGE_BYTES_MAX);
  }

  /**
   * The message with the input of step `newest` and those of the steps before it, as many as there is room for, as a
   * view that is good until the next one; null if there are none.
   * @param {number} newest
   * @param {ViewTime | null} view what the player saw at the newest
   * @param {readonly Uint8Array[]} inputs the newest first
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

  /** @param {readonly Uint8Array[]} inputs */
  #writeInputs(inputs) {
    const { writer } = this;
    const count = Math.min(inputs.length, INPUTS_MAX);
    for (let at = 0; at < count; at++) {
      const isSame = at > 0 && isEqual(inputs[at], inputs[at - 1]);
      if (writer.left < 1 + (isSame ? 0 : this.bitsMax)) return at;
      if (at > 0) writer.bool(isSame);
      if (!isSame) this.#writeInput(inputs[at]);
    }
    return count;
  }

  /** @param {Uint8Array} input */
  #writeInput(input) {
    const { byteLength, writer } = this;
    const isRight = byteLength === null ? input.length <= INPUT_BYTES_MAX : input.length === byteLength;
    if (!isRight) throw new RangeError(`an input of ${input.length} bytes: use ${byteLength ?? "0 to 64"}`);
    if (byteLength === null) writer.bits(input.length, LENGTH_BITS);
    writer.bytes(input);
  }
}

/**
 * @param {Uint8Array} a
 * @param {Uint8Array} b
 */
function isEqual(a, b) {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
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
  while (inputs.length < count) inputs.push(rest.bool() ? inputs[inputs.length - 1] : readInput(rest, byteLength));
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

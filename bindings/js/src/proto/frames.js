/**
 * The frames in a Data packet's payload (sections 23 and 24), read and written.
 *
 * A payload must parse as a whole before anything of it takes effect. So reading makes a table, a row per
 * frame, in typed arrays that are used again for the next packet; the data stays where it is.
 */

import { ByteReader, varintBytes } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { isReliable } from "./config.js";
import {
  BLOCK_BYTES_MAX,
  BLOCK_DISTANCE_MAX,
  FRAMES_MAX,
  LINK_CHANNEL,
  RELIABLE_FRAGMENTS_MAX,
  UNRELIABLE_FRAGMENTS_MAX,
} from "./limits.js";

/** What a frame is: a message or part of one on a channel, or a repetition of earlier blocks. */
export const FrameKind = Object.freeze({ Message: 0, Copy: 1, Parity: 2 });

/** The longest header of a message frame: first byte, id, index, count, length. */
export const FRAME_HEADER_BYTES_MAX = 1 + 2 + 2 + 2 + 3;

/** The frames of one payload. */
export class FrameTable {
  /** @param {readonly import("./config.js").ChannelKind[]} kinds of the channels, by id */
  constructor(kinds) {
    this.kinds = kinds;
    this.reader = new ByteReader(new Uint8Array(0));
    /** How many there are. */
    this.count = 0;
    this.kind = new Uint8Array(FRAMES_MAX);
    this.channel = new Uint8Array(FRAMES_MAX);
    this.id = new Uint16Array(FRAMES_MAX);
    /** The number of fragments of the message; 0 for a whole one. */
    this.parts = new Uint16Array(FRAMES_MAX);
    /** Which of them this is. */
    this.part = new Uint16Array(FRAMES_MAX);
    /** Of a copy or parity. */
    this.distance = new Uint8Array(FRAMES_MAX);
    /** Of a parity. */
    this.otherDistance = new Uint8Array(FRAMES_MAX);
    this.lengthsXored = new Uint8Array(FRAMES_MAX);
    /** Where the data, or the body of a link frame, stands. */
    this.start = new Uint16Array(FRAMES_MAX);
    this.end = new Uint16Array(FRAMES_MAX);
    /** Where the block stands: the leading whole frames on reliable channels. */
    this.blockStart = 0;
    this.blockEnd = 0;
  }

  /**
   * Reads a payload: a count and as many frames. What does not parse is a WireError.
   * @param {Uint8Array} bytes
   * @param {number} start
   * @param {number} end
   */
  readPayload(bytes, start, end) {
    const reader = this.reader.reset(bytes, start, end);
    const count = reader.u8();
    if (count === 0) throw new WireError("malformed");
    this.#begin();
    while (this.count < count) this.#readFrame(reader);
    reader.finish();
  }

  /**
   * Reads a block: whole frames on reliable channels, to the end.
   * @param {Uint8Array} bytes
   * @param {number} start
   * @param {number} end
   */
  readBlock(bytes, start, end) {
    const reader = this.reader.reset(bytes, start, end);
    this.#begin();
    while (reader.left > 0) this.#readFrame(reader);
    if (this.blockEnd !== end && end > start) throw new WireError("malformed");
  }

  #begin() {
    this.count = 0;
    this.blockStart = this.blockEnd = this.reader.at;
  }

  /** @param {ByteReader} reader */
  #readFrame(reader) {
    const row = this.count++;
    const isBlockOpen = this.blockEnd === reader.at;
    const first = reader.u8();
    const channel = first & 0x0f;
    const form = first >> 4;
    this.channel[row] = channel;
    let length;
    if (channel === LINK_CHANNEL) {
      this.#readLink(reader, row, form);
      length = reader.u8();
    } else {
      const kind = this.kinds[channel];
      if (kind === undefined || form > 1) throw new WireError("malformed");
      this.kind[row] = FrameKind.Message;
      this.id[row] = kind === "unreliable" && form === 0 ? 0 : reader.u16();
      this.parts[row] = this.part[row] = 0;
      if (form === 1) this.#readPart(reader, row, kind);
      length = reader.varint();
    }
    this.start[row] = reader.skip(length);
    this.end[row] = reader.at;
    if (isBlockOpen && channel !== LINK_CHANNEL && form === 0 && isReliable(this.kinds[channel])) {
      this.blockEnd = reader.at;
    }
  }

  /** @param {ByteReader} reader @param {number} row @param {import("./config.js").ChannelKind} kind */
  #readPart(reader, row, kind) {
    const part = reader.varint();
    const parts = reader.varint();
    const most = isReliable(kind) ? RELIABLE_FRAGMENTS_MAX : UNRELIABLE_FRAGMENTS_MAX;
    if (parts < 2 || parts > most || part >= parts) throw new WireError("malformed");
    this.part[row] = part;
    this.parts[row] = parts;
  }

  /** @param {ByteReader} reader @param {number} row @param {number} form */
  #readLink(reader, row, form) {
    this.kind[row] = form === 0 ? FrameKind.Copy : FrameKind.Parity;
    let near = 1;
    let far = 2;
    let lengths = 0;
    if (form === 0) {
      near = reader.u8();
      if (near < 1 || near > BLOCK_DISTANCE_MAX) throw new WireError("malformed");
    } else if (form === 1) {
      const distances = reader.u8();
      near = distances & 0x0f;
      far = distances >> 4;
      lengths = reader.u8();
      const isInOrder = near >= 1 && near < far && far <= BLOCK_DISTANCE_MAX;
      if (!isInOrder || (near === 1 && far === 2 && lengths === 0)) throw new WireError("malformed");
    } else if (form !== 2) {
      throw new WireError("malformed");
    }
    this.distance[row] = near;
    this.otherDistance[row] = far;
    this.lengthsXored[row] = lengths;
  }
}

/** A payload that is being filled. */
export class FrameWriter {
  constructor() {
    /** @type {Uint8Array} */
    this.out = new Uint8Array(0);
    this.start = 0;
    this.at = 0;
    this.end = 0;
    this.count = 0;
    /** Where the block ends, and how many messages are in it. */
    this.blockEnd = 0;
    this.blockMessages = 0;
    this.isBlockOpen = true;
  }

  /**
   * Starts a payload at `start` that must not go past `end`.
   * @param {Uint8Array} out
   * @param {number} start
   * @param {number} end
   */
  begin(out, start, end) {
    this.out = out;
    this.start = start;
    this.at = this.blockEnd = start + 1;
    this.end = end;
    this.count = this.blockMessages = 0;
    this.isBlockOpen = true;
  }

  /** How many bytes are left. */
  get room() {
    return Math.max(0, this.end - this.at);
  }

  /**
   * Appends a message or part, if it fits and leaves `reserve` bytes; says whether it did.
   * @param {number} channel
   * @param {import("./config.js").ChannelKind} kind
   * @param {number} id
   * @param {number} part
   * @param {number} parts 0 for a whole message
   * @param {Uint8Array} data
   * @param {number} reserve
   */
  message(channel, kind, id, part, parts, data, reserve) {
    const length = messageFrameBytes(kind, part, parts, data.length);
    if (this.count === FRAMES_MAX || length + reserve > this.room) return false;
    const out = this.out;
    out[this.at++] = channel | (parts > 0 ? 0x10 : 0);
    if (kind !== "unreliable" || parts > 0) {
      out[this.at++] = id;
      out[this.at++] = id >>> 8;
    }
    if (parts > 0) {
      this.#varint(part);
      this.#varint(parts);
    }
    this.#varint(data.length);
    out.set(data, this.at);
    this.at += data.length;
    this.count++;
    this.isBlockOpen &&= parts === 0 && isReliable(kind);
    if (this.isBlockOpen) {
      this.blockEnd = this.at;
      this.blockMessages++;
    }
    return true;
  }

  /**
   * Appends the copy of a block.
   * @param {number} distance
   * @param {Uint8Array} block
   * @param {number} reserve
   */
  copy(distance, block, reserve) {
    if (this.count === FRAMES_MAX || 3 + block.length + reserve > this.room) return false;
    this.out[this.at++] = LINK_CHANNEL;
    this.out[this.at++] = distance;
    this.#body(block);
    return true;
  }

  /**
   * Appends the parity of two blocks.
   * @param {number} near
   * @param {number} far
   * @param {number} lengthsXored
   * @param {Uint8Array} body
   * @param {number} reserve
   */
  parity(near, far, lengthsXored, body, reserve) {
    const isNear = near === 1 && far === 2 && lengthsXored === 0;
    if (this.count === FRAMES_MAX || (isNear ? 2 : 4) + body.length + reserve > this.room) return false;
    this.out[this.at++] = LINK_CHANNEL | (isNear ? 0x20 : 0x10);
    if (!isNear) {
      this.out[this.at++] = near | (far << 4);
      this.out[this.at++] = lengthsXored;
    }
    this.#body(body);
    return true;
  }

  /** The block, if it can be repeated; empty if not. */
  block() {
    const block = this.out.subarray(this.start + 1, this.blockEnd);
    return block.length <= BLOCK_BYTES_MAX ? block : block.subarray(0, 0);
  }

  /** Writes the count; says where the payload ends. */
  finish() {
    this.out[this.start] = this.count;
    return this.at;
  }

  /** @param {Uint8Array} body */
  #body(body) {
    this.isBlockOpen = false;
    this.out[this.at++] = body.length;
    this.out.set(body, this.at);
    this.at += body.length;
    this.count++;
  }

  /** @param {number} value */
  #varint(value) {
    for (; value > 0x7f; value >>>= 7) this.out[this.at++] = (value & 0x7f) | 0x80;
    this.out[this.at++] = value;
  }
}

/**
 * How many bytes a message or part takes in a payload.
 * @param {import("./config.js").ChannelKind} kind
 * @param {number} part
 * @param {number} parts
 * @param {number} length
 */
export function messageFrameBytes(kind, part, parts, length) {
  const idBytes = kind === "unreliable" && parts === 0 ? 0 : 2;
  const partBytes = parts > 0 ? varintBytes(part) + varintBytes(parts) : 0;
  return 1 + idBytes + partBytes + varintBytes(length) + length;
}

/**
 * Frames on a byte stream (section 12.1).
 *
 * TCP has no borders, so each datagram that travels over it stands in a frame: signature, length, id,
 * payload. Input comes in pieces of any size; at most one frame is ever held.
 */

import { WireError } from "./error.js";

/** The bytes before a payload. */
export const FRAME_HEADER_BYTES = 10;
/** The id of a frame that carries a datagram of a connection. */
export const DATAGRAM_FRAME_ID = 1;

const SIGNATURE = [0x22, 0x94, 0x1e, 0x01];

/** Takes a stream in and gives its frames out. After a WireError the stream is lost for good. */
export class FrameReader {
  /** @param {number} payloadBytesMax longer payloads are refused before any of their bytes */
  constructor(payloadBytesMax) {
    this.payloadBytesMax = payloadBytesMax;
    this.header = new Uint8Array(FRAME_HEADER_BYTES);
    this.payload = new Uint8Array(0);
    /** Bytes of the frame under way, its header included. */
    this.held = 0;
  }

  /**
   * Takes the next piece of the stream.
   * @param {Uint8Array} piece
   * @param {(id: number, payload: Uint8Array) => void} deliver called for each frame; the payload is its own
   *   to keep
   */
  push(piece, deliver) {
    let at = 0;
    for (;;) {
      while (this.held < FRAME_HEADER_BYTES) {
        if (at === piece.length) return;
        const byte = piece[at++];
        if (this.held < 4 && byte !== SIGNATURE[this.held]) throw new WireError("BadSignature");
        this.header[this.held++] = byte;
        if (this.held === 8 && this.#length() > this.payloadBytesMax) throw new WireError("Oversize");
        if (this.held === FRAME_HEADER_BYTES) this.payload = new Uint8Array(this.#length());
      }
      const filled = this.held - FRAME_HEADER_BYTES;
      const taken = Math.min(this.payload.length - filled, piece.length - at);
      this.payload.set(piece.subarray(at, at + taken), filled);
      this.held += taken;
      at += taken;
      if (filled + taken < this.payload.length) return;
      this.held = 0;
      deliver(this.header[8] | (this.header[9] << 8), this.payload);
    }
  }

  #length() {
    const header = this.header;
    return (header[4] | (header[5] << 8) | (header[6] << 16) | (header[7] << 24)) >>> 0;
  }
}

/**
 * The frame of a payload.
 * @param {number} id
 * @param {Uint8Array} payload
 */
export function writeFrame(id, payload) {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + payload.length);
  const view = new DataView(frame.buffer);
  frame.set(SIGNATURE);
  view.setUint32(4, payload.length, true);
  view.setUint16(8, id, true);
  frame.set(payload, FRAME_HEADER_BYTES);
  return frame;
}

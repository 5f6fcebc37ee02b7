/**
 * The first byte and the header of session packets (sections 17 and 18).
 *
 * ```text
 *  first byte │ session: 8, 2 or 0 │ number 2 │ ack 2, delay 1, bits 2, 4 or 8 │ payload │ CRC 4 or tag 16
 * ```
 *
 * A header is read for every packet, so it is read into an object that is used again.
 */

/** The packet types. */
export const PacketType = Object.freeze({
  Connect: 0,
  Challenge: 1,
  Response: 2,
  Accept: 3,
  Reject: 4,
  Data: 5,
  Ack: 6,
  KeepAlive: 7,
  Disconnect: 8,
  PathChallenge: 9,
  PathResponse: 10,
  Quiet: 11,
});

/** Bytes of a checksum. */
export const CRC_BYTES = 4;
/** The longest header: session id, number, ack with 64 bits. */
export const HEADER_BYTES_MAX = 1 + 8 + 2 + 5 + 8;
/** The bit of the first byte that says *protected*. */
export const PROTECTED_BIT = 0x40;
const PLAIN_BIT = 0x80;

/** @param {number} type */
export function isHandshake(type) {
  return type <= PacketType.Reject;
}

/** Whether packets of a type ask to be acknowledged. @param {number} type */
export function asksForAck(type) {
  return type === PacketType.Data || type === PacketType.KeepAlive || type === PacketType.Quiet;
}

/** What a packet acknowledges: one number and up to 64 before it. */
export class Ack {
  constructor() {
    /** Bits that travel: 0 for no ack, else 16, 32 or 64. */
    this.width = 0;
    /** The low 16 bits of the number. */
    this.newest = 0;
    /** Milliseconds since it arrived; 255 for unknown. */
    this.delayMs = 0;
    /** Bit i: the number 1 + i before it was taken, for i below 32. */
    this.low = 0;
    /** The same for i from 32 on. */
    this.high = 0;
  }
}

/** The header of a session packet. */
export class Header {
  constructor() {
    this.type = 0;
    this.isPlain = false;
    this.isProtected = false;
    /** Where the session id (plain) or alias (sealed) stands. */
    this.sessionAt = 1;
    /** The low 16 bits of the packet number. */
    this.number = 0;
    this.ack = new Ack();
    /** Where the payload begins. */
    this.length = 0;
  }

  /**
   * Reads a header; says the rejection if there is one.
   * @param {Uint8Array} datagram not empty, of a session type
   * @param {boolean} isAliased whether the receiver gives out aliases
   * @returns {"bad_flags" | "truncated_header" | null}
   */
  read(datagram, isAliased) {
    const first = datagram[0];
    this.type = first & 0x0f;
    this.isPlain = (first & PLAIN_BIT) !== 0;
    this.isProtected = (first & PROTECTED_BIT) !== 0;
    if (this.isProtected && this.type !== PacketType.Data) return "bad_flags";
    const form = (first >> 4) & 3;
    const ack = this.ack;
    ack.width = form === 0 ? 0 : 8 << form;
    const numberAt = 1 + sessionBytes(this.isPlain, isAliased);
    this.length = numberAt + 2 + (form === 0 ? 0 : 3 + ack.width / 8);
    if (datagram.length < this.length) return "truncated_header";
    this.number = datagram[numberAt] | (datagram[numberAt + 1] << 8);
    if (form > 0) {
      const at = numberAt + 2;
      ack.newest = datagram[at] | (datagram[at + 1] << 8);
      ack.delayMs = datagram[at + 2];
      ack.low = datagram[at + 3] | (datagram[at + 4] << 8);
      ack.high = 0;
      if (form > 1) ack.low |= (datagram[at + 5] << 16) | (datagram[at + 6] << 24);
      if (form > 2) {
        ack.high =
          datagram[at + 7] | (datagram[at + 8] << 8) | (datagram[at + 9] << 16) | (datagram[at + 10] << 24);
      }
    }
    return null;
  }
}

/** @param {boolean} isPlain @param {boolean} isAliased */
function sessionBytes(isPlain, isAliased) {
  return isPlain ? 8 : isAliased ? 2 : 0;
}

/**
 * Writes a header; says where the payload begins.
 * @param {Uint8Array} out
 * @param {number} type
 * @param {boolean} isPlain
 * @param {Uint8Array} session what names the session to the receiver: its id, its alias or nothing
 * @param {number} number
 * @param {Ack} ack
 */
export function writeHeader(out, type, isPlain, session, number, ack) {
  const form = ack.width === 0 ? 0 : ack.width === 16 ? 1 : ack.width === 32 ? 2 : 3;
  out[0] = type | (form << 4) | (isPlain ? PLAIN_BIT : 0);
  out.set(session, 1);
  let at = 1 + session.length;
  out[at++] = number & 0xff;
  out[at++] = (number >>> 8) & 0xff;
  if (form === 0) return at;
  out[at++] = ack.newest;
  out[at++] = ack.newest >>> 8;
  out[at++] = ack.delayMs;
  for (let bit = 0; bit < ack.width; bit += 8) {
    out[at++] = bit < 32 ? ack.low >>> bit : ack.high >>> (bit - 32);
  }
  return at;
}

/**
 * The packets of the handshake, as a client writes and reads them (section 22).
 *
 * What is read throws a WireError whose code is the rejection (section 27).
 */

import { ByteReader, ByteWriter } from "../wire/bytes.js";
import { crc32c } from "../wire/crc32c.js";
import { WireError } from "../wire/error.js";
import { SECURITIES } from "./config.js";
import { TAG_BYTES } from "./crypto/chacha20poly1305.js";
import { DATAGRAM_BYTES_MAX, RESUME_TOKEN_BYTES, WIRE_VERSION } from "./limits.js";
import { CRC_BYTES, PacketType } from "./packet.js";
import { REJECT_REASONS } from "./reason.js";

/** Bytes of a nonce. */
export const NONCE_BYTES = 16;
/** Bytes of a cookie. */
export const COOKIE_BYTES = 20;
/** Bytes of an X25519 key. */
export const PUBLIC_BYTES = 32;
const CLAIMS_BYTES = 66;
/** Where the secret part of a Response begins and ends. */
const TOKEN_AT = 1 + CLAIMS_BYTES + COOKIE_BYTES;
const TOKEN_END = TOKEN_AT + 1 + RESUME_TOKEN_BYTES;
/** Where the secret part of an Accept begins, and its bytes. */
const SESSION_AT = 1 + 2 * NONCE_BYTES;
const SESSION_BYTES = 8 + 2 + RESUME_TOKEN_BYTES;
/** The number under which the body of an Accept is sealed: 2^64 − 1. */
const ACCEPT_NUMBER = -1;

/**
 * What every checksum starts from: that of the protocol id.
 * @param {bigint} protocolId
 */
export function checksumOf(protocolId) {
  return crc32c(protocolBytes(protocolId));
}

/** @param {bigint} protocolId */
export function protocolBytes(protocolId) {
  const writer = new ByteWriter(8);
  writer.u64(protocolId);
  return writer.written();
}

/**
 * What a client says of itself.
 * @param {{ layoutHash: bigint, tableId: number, security: import("./config.js").Security, nonce: Uint8Array,
 *   publicKey: Uint8Array, alias?: number | null }} claims
 * @returns {Uint8Array} 66 bytes
 */
export function writeClaims({ layoutHash, tableId, security, nonce, publicKey, alias = null }) {
  const writer = new ByteWriter(CLAIMS_BYTES);
  writer.u16(WIRE_VERSION);
  writer.u64(layoutHash);
  writer.u32(tableId);
  writer.u8(SECURITIES.indexOf(security));
  writer.bytes(nonce);
  writer.bytes(publicKey);
  writer.bool(alias !== null);
  writer.u16(alias ?? 0);
  return writer.written();
}

/**
 * @param {Uint8Array} claims
 * @param {number} checksum of the protocol id
 * @param {number} length that it is padded to
 */
export function writeConnect(claims, checksum, length) {
  const packet = new Uint8Array(length);
  packet[0] = PacketType.Connect;
  packet.set(claims, 1);
  return finish(packet, checksum);
}

/**
 * @param {Uint8Array} claims
 * @param {Uint8Array} cookie
 * @param {Uint8Array | null} resumeToken
 * @param {import("./crypto/chacha20poly1305.js").SealKey | null} key null if the connection will be plain
 * @param {number} checksum of the protocol id
 * @param {number} length that it is padded to
 */
export function writeResponse(claims, cookie, resumeToken, key, checksum, length) {
  const packet = new Uint8Array(length);
  packet[0] = PacketType.Response;
  packet.set(claims, 1);
  packet.set(cookie, 1 + CLAIMS_BYTES);
  if (resumeToken) {
    packet[TOKEN_AT] = 1;
    packet.set(resumeToken, TOKEN_AT + 1);
  }
  key?.seal(0, packet, TOKEN_AT, TOKEN_END);
  return finish(packet, checksum);
}

/** @param {Uint8Array} packet @param {number} checksum */
function finish(packet, checksum) {
  const end = packet.length - CRC_BYTES;
  new DataView(packet.buffer).setUint32(end, crc32c(packet, 0, end, checksum), true);
  return packet;
}

/**
 * A reader of what stands between the first byte and the checksum of a packet from the server.
 * @param {Uint8Array} datagram
 * @param {number} checksum of the protocol id
 */
function openReply(datagram, checksum) {
  if (datagram.length < 1 + CRC_BYTES) throw new WireError("too_short");
  if (datagram[0] > 0x0f) throw new WireError("bad_flags");
  const end = datagram.length - CRC_BYTES;
  if (crc32c(datagram, 0, end, checksum) !== new ByteReader(datagram, end).u32())
    throw new WireError("integrity");
  return new ByteReader(datagram, 1, end);
}

/**
 * Reads the fields of a packet: what ends within one is `too_short`, what has no meaning or is left over
 * `malformed`.
 * @template T
 * @param {ByteReader} reader
 * @param {(reader: ByteReader) => T} read
 * @returns {T}
 */
function readFields(reader, read) {
  try {
    const fields = read(reader);
    reader.finish();
    return fields;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new WireError(error.code === "UnexpectedEnd" ? "too_short" : "malformed");
  }
}

/**
 * @param {Uint8Array} datagram
 * @param {number} checksum of the protocol id
 */
export function readChallenge(datagram, checksum) {
  return readFields(openReply(datagram, checksum), (reader) => ({
    nonce: reader.bytes(NONCE_BYTES),
    isSealed: reader.bool(),
    publicKey: reader.bytes(PUBLIC_BYTES),
    cookie: reader.bytes(COOKIE_BYTES),
  }));
}

/**
 * @param {Uint8Array} datagram
 * @param {number} checksum of the protocol id
 */
export function readReject(datagram, checksum) {
  return readFields(openReply(datagram, checksum), (reader) => {
    const nonce = reader.bytes(NONCE_BYTES);
    const reason = REJECT_REASONS[reader.u8() - 1];
    if (reason === undefined) throw new WireError("malformed");
    return { nonce, reason, detail: reader.u64() };
  });
}

/**
 * The nonces of an Accept, which are needed to open the rest.
 * @param {Uint8Array} datagram
 * @param {number} checksum of the protocol id
 */
export function readAcceptNonces(datagram, checksum) {
  const reader = openReply(datagram, checksum);
  if (reader.left < 2 * NONCE_BYTES) throw new WireError("too_short");
  return { clientNonce: reader.bytes(NONCE_BYTES), serverNonce: reader.bytes(NONCE_BYTES) };
}

/**
 * The rest of an Accept.
 * @param {Uint8Array} datagram whose nonces have been read
 * @param {import("./crypto/chacha20poly1305.js").SealKey | null} key null if the connection is plain
 */
export function openAccept(datagram, key) {
  const end = datagram.length - CRC_BYTES;
  let body = datagram.subarray(SESSION_AT, end);
  if (key) {
    const opened = new Uint8Array(DATAGRAM_BYTES_MAX);
    if (end !== SESSION_AT + SESSION_BYTES + TAG_BYTES) throw new WireError("integrity");
    const length = key.open(ACCEPT_NUMBER, datagram.subarray(0, end), SESSION_AT, opened);
    if (length < 0) throw new WireError("integrity");
    body = opened.subarray(0, length);
  }
  return readFields(new ByteReader(body), (reader) => ({
    sessionId: reader.bytes(8).slice(),
    alias: reader.bytes(2).slice(),
    resumeToken: reader.bytes(RESUME_TOKEN_BYTES).slice(),
  }));
}

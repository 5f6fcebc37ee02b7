// A server's side of the handshake, enough to bring a client to any stage of it.
import { SealKey } from "../src/proto/crypto/chacha20poly1305.js";
import { x25519, x25519PublicKey } from "../src/proto/crypto/x25519.js";
import { checksumOf, protocolBytes } from "../src/proto/handshake.js";
import { concat, deriveSessionKeys } from "../src/proto/keys.js";
import { crc32c } from "../src/wire/crc32c.js";

const secret = new Uint8Array(32).fill(0x42);
const serverNonce = new Uint8Array(16).fill(0x17);
const cookie = new Uint8Array(20).fill(0xc0);

/** Ends a packet with its checksum. @param {Uint8Array} packet @param {bigint} protocolId */
export function withChecksum(packet, protocolId) {
  const crc = crc32c(packet, 0, packet.length, checksumOf(protocolId));
  return concat(packet, Uint8Array.of(crc, crc >>> 8, crc >>> 16, crc >>> 24));
}

/** @param {Uint8Array} connect @param {bigint} protocolId @param {boolean} isSealed */
export function challengeFor(connect, protocolId, isSealed) {
  const publicKey = isSealed ? x25519PublicKey(secret) : new Uint8Array(32);
  const nonce = connect.subarray(16, 32);
  return withChecksum(
    concat(Uint8Array.of(1), nonce, Uint8Array.of(isSealed ? 1 : 0), publicKey, cookie),
    protocolId,
  );
}

/**
 * An Accept, and the keys of both directions.
 * @param {Uint8Array} response
 * @param {bigint} protocolId
 * @param {boolean} isSealed
 */
export function acceptFor(response, protocolId, isSealed) {
  const claims = response.subarray(1, 67);
  const nonce = claims.subarray(15, 31);
  const sessionId = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  let packet = concat(
    Uint8Array.of(3),
    nonce,
    serverNonce,
    sessionId,
    Uint8Array.of(7, 0),
    new Uint8Array(32).fill(0x77),
  );
  if (!isSealed)
    return { accept: withChecksum(packet, protocolId), toServer: null, toClient: null, sessionId };
  const transcript = concat(protocolBytes(protocolId), claims, x25519PublicKey(secret), cookie);
  const keys = deriveSessionKeys(x25519(secret, claims.subarray(31, 63)), nonce, serverNonce, transcript);
  packet = concat(packet, new Uint8Array(16));
  new SealKey(keys.toClient).seal(-1, packet, 33, 75);
  return {
    accept: withChecksum(packet, protocolId),
    toServer: keys.toServer,
    toClient: keys.toClient,
    sessionId,
  };
}

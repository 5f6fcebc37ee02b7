/** From a shared secret to the keys of a session (section 21). */

import { ByteReader, encodeUtf8 } from "../wire/bytes.js";
import { hkdfSha256 } from "./crypto/sha256.js";

const RESPONSE_LABEL = encodeUtf8("netloom response");
const SESSION_LABEL = encodeUtf8("netloom session");

/** @param {...Uint8Array} parts @returns {Uint8Array} */
export function concat(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/**
 * The key that a Response's token is sealed with.
 * @param {Uint8Array} shared
 * @param {Uint8Array} clientNonce
 * @param {Uint8Array} transcript
 */
export function deriveResponseKey(shared, clientNonce, transcript) {
  return hkdfSha256(clientNonce, shared, concat(RESPONSE_LABEL, transcript), 32);
}

/**
 * The keys of both directions, and the fingerprint that two players may compare over another line.
 * @param {Uint8Array} shared
 * @param {Uint8Array} clientNonce
 * @param {Uint8Array} serverNonce
 * @param {Uint8Array} transcript
 */
export function deriveSessionKeys(shared, clientNonce, serverNonce, transcript) {
  const material = hkdfSha256(
    concat(clientNonce, serverNonce),
    shared,
    concat(SESSION_LABEL, transcript),
    72,
  );
  return {
    toServer: material.subarray(0, 32),
    toClient: material.subarray(32, 64),
    fingerprint: new ByteReader(material, 64).u64(),
  };
}

/**
 * The client's side of the handshake: attempts, repetitions, and what is learnt on the way (section 22).
 *
 * One attempt lasts `connectTimeout`; inside it the current request is repeated every `handshakeResend`. Each
 * attempt has a fresh nonce and key, so that nothing of an earlier one can be mixed in.
 */

import { WireError } from "../wire/error.js";
import { layoutHash } from "./config.js";
import { SealKey } from "./crypto/chacha20poly1305.js";
import { x25519, x25519PublicKey, X25519_BYTES } from "./crypto/x25519.js";
import {
  NONCE_BYTES,
  openAccept,
  protocolBytes,
  PUBLIC_BYTES,
  readAcceptNonces,
  readChallenge,
  readReject,
  writeClaims,
  writeConnect,
  writeResponse,
} from "./handshake.js";
import { concat, deriveResponseKey, deriveSessionKeys } from "./keys.js";

/** An attempt under way. */
export class Attempt {
  /**
   * @param {import("./config.js").ConnectionConfig} config
   * @param {number} checksum of the protocol id
   * @param {number} now
   */
  constructor(config, checksum, now) {
    this.config = config;
    this.checksum = checksum;
    this.nextSend = now;
    this.ends = now + config.connectTimeout;
    this.nonce = new Uint8Array(NONCE_BYTES);
    config.fillRandom(this.nonce);
    this.secret = new Uint8Array(X25519_BYTES);
    config.fillRandom(this.secret);
    const isOff = config.security === "off";
    this.claims = writeClaims({
      layoutHash: layoutHash(
        config.schemaHash,
        config.channels.map((channel) => channel.kind),
      ),
      tableId: config.tableId,
      security: config.security,
      nonce: this.nonce,
      publicKey: isOff ? new Uint8Array(PUBLIC_BYTES) : x25519PublicKey(this.secret),
    });
    /** What is sent until it is answered. */
    this.request = writeConnect(this.claims, checksum, config.mtu);
    this.isChallenged = false;
    /** @type {Uint8Array} what the keys come of, if the connection will be sealed */
    this.shared = new Uint8Array(0);
    /** @type {Uint8Array} */
    this.transcript = new Uint8Array(0);
    this.isSealed = false;
  }

  /** When something is due. */
  deadline() {
    return Math.min(this.nextSend, this.ends);
  }

  /** The request, if it is due. @param {number} now @returns {Uint8Array | null} */
  poll(now) {
    if (now < this.nextSend) return null;
    this.nextSend = now + this.config.handshakeResend;
    return this.request;
  }

  /** The Response is due at once. @param {Uint8Array} datagram @param {number} now */
  handleChallenge(datagram, now) {
    const { config, checksum, claims } = this;
    const challenge = readChallenge(datagram, checksum);
    if (this.isChallenged || !equal(challenge.nonce, this.nonce)) throw new WireError("unsolicited");
    const isContradicted = challenge.isSealed ? config.security === "off" : config.security === "required";
    if (isContradicted) throw new WireError("wrong_security");
    let key = null;
    if (challenge.isSealed) {
      const shared = x25519(this.secret, challenge.publicKey);
      if (shared.every((byte) => byte === 0)) throw new WireError("malformed");
      this.shared = shared;
      this.transcript = concat(
        protocolBytes(config.protocolId),
        claims,
        challenge.publicKey,
        challenge.cookie,
      );
      key = new SealKey(deriveResponseKey(shared, this.nonce, this.transcript));
    }
    this.isChallenged = true;
    this.isSealed = challenge.isSealed;
    this.request = writeResponse(claims, challenge.cookie, config.resumeToken, key, checksum, config.mtu);
    this.nextSend = now;
  }

  /**
   * What the session is: its keys, the token to resume it with, and the fingerprint if it is sealed.
   * @param {Uint8Array} datagram
   */
  handleAccept(datagram) {
    const { clientNonce, serverNonce } = readAcceptNonces(datagram, this.checksum);
    if (!this.isChallenged || !equal(clientNonce, this.nonce)) throw new WireError("unsolicited");
    const keys = this.isSealed
      ? deriveSessionKeys(this.shared, this.nonce, serverNonce, this.transcript)
      : null;
    const openKey = keys && new SealKey(keys.toClient);
    const { sessionId, alias, resumeToken } = openAccept(datagram, openKey);
    /** @type {import("./link.js").SessionKeys} */
    const session = {
      sessionId,
      name: keys ? alias : sessionId,
      alias: null,
      sealKey: keys && new SealKey(keys.toServer),
      openKey,
    };
    return { session, resumeToken, fingerprint: keys && keys.fingerprint };
  }

  /** Why the server refused. @param {Uint8Array} datagram */
  handleReject(datagram) {
    const { nonce, reason, detail } = readReject(datagram, this.checksum);
    if (!equal(nonce, this.nonce)) throw new WireError("unsolicited");
    return { reason, detail };
  }
}

/** @param {Uint8Array} one @param {Uint8Array} other */
function equal(one, other) {
  return one.every((byte, index) => byte === other[index]);
}

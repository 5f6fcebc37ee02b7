/**
 * Why datagrams are dropped, connections are refused, and connections end. Names and codes are the standard's
 * (sections 22.6, 27 and 29); the words are for the player or developer who reads them, and say what to do.
 */

/** The reasons for which a datagram is dropped, in the order of the standard. */
export const REJECTIONS = /** @type {const} */ ([
  "too_short",
  "too_long",
  "unknown_type",
  "bad_flags",
  "truncated_header",
  "not_listening",
  "unpadded",
  "unknown_session",
  "wrong_state",
  "wrong_security",
  "wrong_address",
  "replayed",
  "too_old",
  "integrity",
  "rate_limited",
  "bad_cookie",
  "unsolicited",
  "ack_of_unsent",
  "malformed",
  "out_of_window",
  "no_room",
]);

/** @typedef {typeof REJECTIONS[number]} Rejection */

/** Why a server does not accept a connection; the code is the place, from 1. */
export const REJECT_REASONS = /** @type {const} */ ([
  "Version",
  "Schema",
  "Tables",
  "Security",
  "Full",
  "Resume",
  "Denied",
]);

/** @typedef {typeof REJECT_REASONS[number]} RejectReason */

/** Why a connection ended; the code is the place, from 0. */
export const DISCONNECT_REASONS = /** @type {const} */ ([
  "Requested",
  "Timeout",
  "ConnectTimeout",
  "Cancelled",
  "Rejected",
  "Protocol",
  "Undeliverable",
  "SlowConsumer",
  "Resumed",
  "Shutdown",
  "Kicked",
  "Broken",
]);

/** @typedef {typeof DISCONNECT_REASONS[number]} DisconnectReason */

/** @type {Record<RejectReason, string>} */
const rejectWords = {
  Version: "the server speaks another protocol version: update the older side",
  Schema: "client and server define different replicated data or channels: build both from the same sources",
  Tables: "client and server use different code tables: ship the same table file with both",
  Security: "one side requires encryption and the other has it switched off: set the same on both",
  Full: "the server is full: try again later",
  Resume: "the session can no longer be resumed: connect anew",
  Denied: "the server refused this player",
};

/** @type {Record<DisconnectReason, string>} */
const disconnectWords = {
  Requested: "disconnected on request",
  Timeout: "the server fell silent: check the network, then connect again",
  ConnectTimeout: "nobody answered: check the address, and that the server runs and speaks this protocol",
  Cancelled: "the connection attempt was cancelled",
  Rejected: "the server refused the connection",
  Protocol: "the other side violated the protocol: update the older side",
  Undeliverable: "a reliable message could not be delivered: check the network, then connect again",
  SlowConsumer: "this client could not keep up with the server",
  Resumed: "the session goes on in a newer connection",
  Shutdown: "the server is shutting down",
  Kicked: "removed by the server",
  Broken: "the stream to the server broke: connect again",
};

/** Why a connection ended, or never began. */
export class ConnectionError extends Error {
  /**
   * @param {DisconnectReason} code
   * @param {{ reason: RejectReason, detail: bigint } | null} [reject] what the server said, if the code is
   *   `Rejected`
   */
  constructor(code, reject = null) {
    super(reject ? rejectWords[reject.reason] : disconnectWords[code]);
    this.name = "ConnectionError";
    this.code = code;
    this.reject = reject;
  }

  /** Whether the seat may be waiting still, so that connecting with the resume token takes it up again. */
  get isResumable() {
    return this.code === "Timeout" || this.code === "Undeliverable" || this.code === "Broken";
  }
}

/**
 * @typedef {"NotConnected" | "NoSuchChannel" | "TooLong" | "Full" | "TagOnReliable" | "TagOnFragments"}
 *   SendErrorCode
 */

/** Why a message was not taken for sending. */
export class SendError extends Error {
  /**
   * @param {SendErrorCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = "SendError";
    this.code = code;
  }
}

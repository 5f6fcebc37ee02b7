/**
 * What decoders throw, and the only thing they throw, when bytes are not what they should be.
 *
 * A program must be able to tell "these bytes are bad" from "this program is wrong": the first is counted or
 * ends a connection, the second should be seen. So bad input has one class of its own.
 */

/**
 * The reasons for refusal of the standard (section 1.1), and those of streams (12.1).
 * @typedef {"UnexpectedEnd" | "TrailingData" | "ReservedBits" | "OutOfRange" | "InvalidVarint"
 *   | "InvalidBool" | "TooLong" | "InvalidUtf8" | "NonFinite" | "InvalidRotation" | "InvalidFlags"
 *   | "InvalidField" | "InvalidCode" | "NameMismatch" | "UnknownName" | "BadSignature" | "Oversize"} Refusal
 */

/** Bytes that must be refused, with the reason as `code`. */
export class WireError extends Error {
  /**
   * @param {Refusal | (string & {})} code one of the reasons above, or a reason of the layer that decodes
   * @param {string} [message]
   */
  constructor(code, message) {
    super(message ? `${code}: ${message}` : code);
    this.name = "WireError";
    /** @type {Refusal | (string & {})} */
    this.code = code;
  }
}

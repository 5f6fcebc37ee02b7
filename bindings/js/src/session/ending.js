/** Why a connection ended, and why something was not sent, in the words and codes of this SDK. */

import { ConnectionError, SendError } from "../proto/reason.js";
import { NetloomError } from "./error.js";
import { Protocol } from "./protocol.js";

/**
 * @param {ConnectionError} error
 * @returns {NetloomError}
 */
export function endingOf(error) {
  const cause = error;
  const reason = error.reject?.reason ?? error.code;
  if (error.reject !== null) {
    const { detail } = error.reject;
    switch (error.reject.reason) {
      case "Version":
        return new NetloomError("protocol", `${error.message}; the server speaks version ${detail}`, {
          cause,
          reason,
          details: { serverVersion: Number(detail) },
        });
      case "Schema": {
        const version = Protocol.versionIn(detail);
        return new NetloomError(
          "protocol",
          `${error.message}; the server has version ${version} of the game`,
          {
            cause,
            reason,
            details: { gameVersion: version, schemaHash: detail },
          },
        );
      }
      case "Tables": {
        const id = detail.toString(16).padStart(8, "0");
        return new NetloomError(
          "protocol",
          `${error.message}; the server has the table with the id ${id}`,
          { cause, reason, details: { tableId: Number(detail) } },
        );
      }
      case "Security":
        return new NetloomError("protocol", error.message, { cause, reason });
      default:
        return new NetloomError("refused", error.message, { cause, reason });
    }
  }
  switch (error.code) {
    case "Requested":
    case "Cancelled":
      return new NetloomError("closed", error.message, { cause, reason });
    case "ConnectTimeout":
      return new NetloomError("unreachable", error.message, { cause, reason });
    case "Shutdown":
      return new NetloomError("shutdown", error.message, { cause, reason });
    case "Kicked":
    case "SlowConsumer":
      return new NetloomError("kicked", error.message, { cause, reason });
    default:
      return new NetloomError("lost", error.message, { cause, reason });
  }
}

const ANNOUNCED = new Map(
  /** @type {const} */ ([
    ["kicked", { code: "kicked", words: "removed by the server" }],
    ["slow-consumer", { code: "kicked", words: "removed by the server" }],
    ["shutdown", { code: "shutdown", words: "the server stopped" }],
    ["room-ended", { code: "room-ended", words: "the room has ended" }],
  ]),
);

/**
 * The ending that a notice announces; null if it is only to be read.
 * @param {{ kind: string, text: string }} notice
 */
export function farewellOf({ kind, text }) {
  const announced = ANNOUNCED.get(/** @type {any} */ (kind));
  if (announced === undefined) return null;
  const { code, words } = announced;
  return new NetloomError(code, text === "" ? words : `${words}: ${text}`, { reason: kind });
}

/**
 * @param {unknown} error
 * @returns {unknown}
 */
export function sendErrorOf(error) {
  if (!(error instanceof SendError)) return error;
  return new NetloomError(error.code === "Full" ? "full" : "no-seat", error.message, {
    cause: error,
    reason: error.code,
  });
}

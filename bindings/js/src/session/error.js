/**
 * What this SDK throws at a game, and what it ends with: one class, whose `code` is for programs and whose
 * message says, in words, what happened and what to do.
 */

/**
 * - `address`: the address cannot be used here
 * - `setting`: a setting or argument of the game's own cannot be
 * - `unreachable`: no server answers there, or no transport leads to it
 * - `protocol`: the server runs another version of the game, or another game
 * - `refused`: the server has no seat; `reason` says why
 * - `kicked`, `room-ended`, `shutdown`: the server let this client go
 * - `lost`: the connection ended and could not be taken up again
 * - `closed`: this client is closed, by itself
 * - `no-seat`: there is no room yet, or no more
 * - `no-object`: the object is not in sight, or a call needs one
 * - `call`, `arguments`, `call-refused`: a call cannot be made, or was not taken
 * - `full`: more waits to be sent than may; try again later
 * - `timeout`: no answer in time
 * @typedef {"address" | "setting" | "unreachable" | "protocol" | "refused" | "kicked" | "room-ended" |
 *   "shutdown" | "lost" | "closed" | "no-seat" | "no-object" | "call" | "arguments" | "call-refused" | "full"
 *   | "timeout"} ErrorCode
 */

/** See the module. */
export class NetloomError extends Error {
  /**
   * @param {ErrorCode} code
   * @param {string} message
   * @param {{ reason?: string, cause?: unknown, details?: { [key: string]: unknown } }} [more]
   */
  constructor(code, message, more = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "NetloomError";
    /** @type {ErrorCode} */
    this.code = code;
    /** Which of several, where `code` covers more than one: "room-full", "timeout", … */
    this.reason = more.reason ?? null;
    /** Figures that belong to it, such as the version that the server speaks. */
    this.details = more.details ?? {};
  }
}

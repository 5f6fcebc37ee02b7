/**
 * Messages on their way to the server: one buffer for all of them, and one place where a full connection is
 * noticed.
 */

import { ByteWriter } from "../wire/bytes.js";
import { sendErrorOf } from "./ending.js";
import { NetloomError } from "./error.js";
import { MESSAGE_BYTES_MAX } from "./messages.js";

/**
 * The connection that a client needs: see `Connection` of src/proto.
 * @typedef {Pick<import("../proto/connection.js").Connection, "handle" | "handleBroken" | "pollEvent" |
 *   "poll" | "nextTimeout" | "send" | "close" | "isFinished" | "stats" | "state">} Link
 */

/** See the module. */
export class Outgoing {
  /** @type {Link | null} */
  connection = null;
  #message = new ByteWriter(MESSAGE_BYTES_MAX);

  /**
   * What has no room is left out: a connection that is so full has bigger troubles.
   * @param {number} channel
   * @param {(out: ByteWriter) => void} fill
   */
  send(channel, fill) {
    try {
      this.trySend(channel, fill);
    } catch (error) {
      if (!(error instanceof NetloomError)) throw error;
    }
  }

  /**
   * The same; what has no room is an error.
   * @param {number} channel
   * @param {(out: ByteWriter) => void} fill
   */
  trySend(channel, fill) {
    fill(this.#message.reset());
    this.deliver(channel, this.#message.written());
  }

  /**
   * @param {number} channel
   * @param {Uint8Array} message
   */
  deliver(channel, message) {
    if (this.connection === null) throw new NetloomError("no-seat", "this client is not connected");
    try {
      this.connection.send(channel, message);
    } catch (error) {
      throw sendErrorOf(error);
    }
  }
}

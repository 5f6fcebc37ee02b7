/**
 * The bytes of one call (section "the frame of a call"). A client's frame has a target and no caller, for the
 * server knows whose connection it is; a server's has the caller, which only the server writes.
 */

import { ByteReader } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { nameOf } from "../wire/name.js";
import { NetloomError } from "./error.js";
import { readAlias, writeAlias } from "./messages.js";
import { ARGS_BYTES_MAX } from "./msgpack.js";

/** The most bytes of a frame besides its arguments. */
export const FRAME_HEADER_BYTES_MAX = 3 + 8 + 3 + 4;
const HAS_OBJECT = 1 << 3;
const HAS_TICK = 1 << 4;

/**
 * Whom a call is for: the server, every player, every other player, the owner of the object, everybody who
 * sees it, one player, or the members of a group.
 * @typedef {"server" | "all" | "others" | "owner" | "interested" | { player: number } | { group: string }}
 *   Target
 */

/**
 * The number of a target in the flags.
 * @param {Target} target
 */
export function targetCode(target) {
  if (typeof target === "object" && target !== null) {
    // Nobody is player 0 but the server.
    if ("player" in target) return target.player === 0 ? 0 : 4;
    if ("group" in target) return 5;
  }
  const code = { server: 0, all: 1, others: 2, owner: 3, interested: 6 }[/** @type {string} */ (target)];
  if (code === undefined) {
    const known = '"server", "all", "others", "owner", "interested", { player } or { group }';
    throw new NetloomError("call", `there is no target ${JSON.stringify(target)}: use ${known}`);
  }
  return code;
}

/**
 * Writes everything but the arguments, which follow.
 * @param {import("../wire/bytes.js").ByteWriter} out
 * @param {{ id: number, target: Target, alias: number | null, tick: number | null }} call
 */
export function writeCallHead(out, { id, target, alias, tick }) {
  const code = targetCode(target);
  if ((code === 3 || code === 6) && alias === null) {
    throw new NetloomError(
      "no-object",
      "a call to the owner of an object, or to those who see it, needs the object",
    );
  }
  out.u16(id);
  out.u8(code | (alias === null ? 0 : HAS_OBJECT) | (tick === null ? 0 : HAS_TICK));
  if (code === 4) out.u32(/** @type {{ player: number }} */ (target).player);
  if (code === 5) out.u64(nameOf(/** @type {{ group: string }} */ (target).group));
  if (alias !== null) writeAlias(out, alias);
  if (tick !== null) out.u32(tick);
}

/**
 * A call that arrived. `caller` is 0 for the server; `args` is a view of the frame.
 * @typedef {{ id: number, caller: number, alias: number | null, tick: number | null, args: Uint8Array }}
 *   ServerCall
 */

/**
 * @param {Uint8Array} frame
 * @returns {ServerCall}
 */
export function readServerCall(frame) {
  const reader = new ByteReader(frame);
  const id = reader.u16();
  const flags = reader.u8();
  if ((flags & ~(HAS_OBJECT | HAS_TICK)) !== 0) throw new WireError("ReservedBits");
  const caller = reader.u32();
  const alias = (flags & HAS_OBJECT) !== 0 ? readAlias(reader) : null;
  const tick = (flags & HAS_TICK) !== 0 ? reader.u32() : null;
  if (reader.left > ARGS_BYTES_MAX) throw new WireError("TooLong");
  return { id, caller, alias, tick, args: reader.rest() };
}

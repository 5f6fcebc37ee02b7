/** What a game may say about a client, completed and checked: a value that cannot be is named at once. */

import { NetloomError } from "../session/error.js";
import { Protocol } from "../session/protocol.js";
import { tabStorage } from "./resume_store.js";

/**
 * @typedef {object} ConnectOptions
 * @property {Protocol} protocol what client and server have in common: see `defineProtocol`
 * @property {string} [name] to be known by, up to 64 bytes; "player"
 * @property {string} [room] by name or code; the server's choice
 * @property {boolean} [spectator] to watch only
 * @property {Uint8Array | string} [ticket] what the game asks for to let somebody in, up to 1,024 bytes
 * @property {any} [input] what the player does at first, or a function that says it for each step
 * @property {number} [interpolationDelayMs] how far behind the view is on a good connection, 50 to 500; 100
 * @property {number} [objectsMax] objects in sight at once, 1 to 65,535; 65,535
 * @property {number} [stepsPerFrameMax] steps that one frame makes at most, 1 to 64; 8
 * @property {"off" | "optional" | "required"} [encryption] of Netloom's own, under that of the transport;
 *   "optional"
 * @property {readonly ("webtransport" | "websocket" | "udp")[]} [transports] that may be used; all
 * @property {"resume" | "always" | "never"} [reconnect] what follows when the connection is lost: the seat is
 *   taken up again; the same, and a new seat when the server was restarted; nothing. "resume"
 * @property {boolean} [resumeAfterReload] whether a reload of the page takes up the seat; true
 * @property {Pick<Storage, "getItem" | "setItem" | "removeItem"> | null} [storage] for that; the tab's
 * @property {import("./tables.js").TableOption} [table] the code tables, if the server has no web side that
 *   serves them: a file of `netloom train`, its address, or the name of one that comes with Netloom
 * @property {import("./lab.js").LabSettings | string} [lab] a bad line on purpose, from the start
 */

/** @param {ConnectOptions} options */
export function completeOptions(options) {
  const {
    protocol,
    name = "player",
    room = "",
    spectator = false,
    ticket = new Uint8Array(0),
    input = {},
    lab = {},
    interpolationDelayMs = 100,
    objectsMax = 65_535,
    stepsPerFrameMax = 8,
    encryption = "optional",
    transports = null,
    reconnect = "resume",
    resumeAfterReload = true,
    storage = tabStorage(),
    table = null,
  } = options ?? {};
  if (!(protocol instanceof Protocol)) {
    throw new NetloomError(
      "setting",
      "options.protocol is missing: declare it with defineProtocol(name, { … })",
    );
  }
  within("interpolationDelayMs", interpolationDelayMs, 50, 500);
  within("objectsMax", objectsMax, 1, 65_535);
  within("stepsPerFrameMax", stepsPerFrameMax, 1, 64);
  oneOf("encryption", encryption, ["off", "optional", "required"]);
  oneOf("reconnect", reconnect, ["resume", "always", "never"]);
  const bytes = typeof ticket === "string" ? new TextEncoder().encode(ticket) : ticket;
  return {
    protocol,
    name,
    room,
    isSpectator: spectator,
    ticket: bytes,
    input,
    interpolationDelayMs,
    objectsMax,
    stepsPerFrameMax,
    encryption,
    transports,
    reconnect,
    resumeAfterReload,
    storage,
    table,
    lab,
  };
}

/**
 * @param {string} field
 * @param {number} value
 * @param {number} min
 * @param {number} max
 */
export function within(field, value, min, max) {
  if (!(value >= min && value <= max)) {
    throw new NetloomError("setting", `${field} = ${value} is not allowed: use ${min} to ${max}`);
  }
}

/**
 * @param {string} field
 * @param {unknown} value
 * @param {readonly string[]} allowed
 */
function oneOf(field, value, allowed) {
  if (!allowed.includes(/** @type {string} */ (value))) {
    throw new NetloomError(
      "setting",
      `${field} = ${String(value)} is not allowed: use ${allowed.join(", ")}`,
    );
  }
}

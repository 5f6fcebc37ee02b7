/**
 * The messages of a session (section 51): the first byte says what it is. What a client sends is written,
 * what it receives is read to the last byte; anything else is refused, and whoever reads goes on with the
 * next message.
 */

import { ByteReader, encodeUtf8 } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { CALL_REFUSALS, NOTICES, REFUSALS, REJECTIONS, rowOf } from "./codes.js";
import { NetloomError } from "./error.js";

/** What travels on which channel of the connection. */
export const CHANNEL = Object.freeze({ control: 0, ordered: 1, unordered: 2, unreliable: 3, input: 4 });

/** The longest message of control, in bytes. */
export const MESSAGE_BYTES_MAX = 32 * 1024;
const NAME_BYTES_MAX = 64;
const TICKET_BYTES_MAX = 1_024;
const REASON_BYTES_MAX = 256;
const CHAT_BYTES_MAX = 2_000;
const REJECTED_TEXT_BYTES_MAX = 120;
/** Codes of refused inputs from here on are the game's own. */
const GAME_CODES = 128;

/** The first byte. */
export const KIND = Object.freeze({
  hello: 1,
  input: 2,
  unread: 3,
  mismatch: 4,
  call: 5,
  lobby: 6,
  claim: 7,
  write: 8,
  viewing: 9,
  chat: 10,
  welcome: 64,
  refused: 65,
  snapshot: 66,
  property: 67,
  joined: 68,
  left: 69,
  called: 70,
  callRefused: 71,
  lobbyNews: 72,
  claimed: 73,
  rejected: 74,
  names: 75,
  notice: 76,
  said: 77,
  packed: 78,
});

/** @typedef {import("../wire/bytes.js").ByteWriter} ByteWriter */

/**
 * Refuses a text that the wire has no room for, before anything is sent.
 * @param {string} what
 * @param {string} text
 * @param {number} bytesMax
 */
export function checkText(what, text, bytesMax) {
  if (typeof text !== "string") throw new NetloomError("setting", `${what} must be a text`);
  const bytes = encodeUtf8(text).length;
  if (bytes > bytesMax)
    throw new NetloomError("setting", `${what} has ${bytes} bytes, at most ${bytesMax} are sent`);
}

/**
 * What a client says of itself.
 * @typedef {object} Hello
 * @property {string} name
 * @property {string} room a name or a code; empty is the server's choice
 * @property {boolean} isSpectator
 * @property {bigint} callsHash
 * @property {Uint8Array} ticket what the game asks for to let somebody in
 */

/** @param {Hello} hello */
export function checkHello(hello) {
  checkText("the name", hello.name, NAME_BYTES_MAX);
  checkText("the room", hello.room, NAME_BYTES_MAX);
  if (hello.ticket.length > TICKET_BYTES_MAX) {
    throw new NetloomError(
      "setting",
      `the ticket has ${hello.ticket.length} bytes, at most ${TICKET_BYTES_MAX} are sent`,
    );
  }
}

/** Messages to the server. Each writes the whole message. */
export const write = {
  /**
   * @param {ByteWriter} out
   * @param {Hello} hello
   */
  hello(out, hello) {
    out.u8(KIND.hello);
    out.str(hello.name);
    out.str(hello.room);
    out.bool(hello.isSpectator);
    out.u64(hello.callsHash);
    out.blob(hello.ticket);
  },

  /**
   * A snapshot that could not be read to its end.
   * @param {ByteWriter} out
   * @param {number} tick
   */
  unread(out, tick) {
    out.u8(KIND.unread);
    out.u16(tick & 0xffff);
  },

  /**
   * A region whose digest differs.
   * @param {ByteWriter} out
   * @param {number} region
   */
  mismatch(out, region) {
    out.u8(KIND.mismatch);
    out.u16(region);
  },

  /**
   * @param {ByteWriter} out
   * @param {number} alias
   * @param {boolean} isWanted
   */
  claim(out, alias, isWanted) {
    out.u8(KIND.claim);
    writeAlias(out, alias);
    out.bool(isWanted);
  },

  /**
   * The value follows, as section 9.4 writes it.
   * @param {ByteWriter} out
   * @param {number} alias
   * @param {number} field
   */
  field(out, alias, field) {
    out.u8(KIND.write);
    writeAlias(out, alias);
    out.u8(field);
  },

  /**
   * @param {ByteWriter} out
   * @param {number} delayMs how far the view is behind
   */
  viewing(out, delayMs) {
    out.u8(KIND.viewing);
    out.u16(delayMs);
  },

  /**
   * @param {ByteWriter} out
   * @param {boolean} toTeam
   * @param {string} text
   */
  chat(out, toTeam, text) {
    checkText("the line", text, CHAT_BYTES_MAX);
    out.u8(KIND.chat);
    out.bool(toTeam);
    out.str(text);
  },
};

/**
 * An alias as three bytes: slot, then generation.
 * @param {ByteWriter} out
 * @param {number} alias
 */
export function writeAlias(out, alias) {
  out.u16(alias & 0xffff);
  out.u8(alias >>> 16);
}

/**
 * @param {ByteReader} reader
 * @returns {number} slot + 65,536 × generation
 */
export function readAlias(reader) {
  const slot = reader.u16();
  return slot + reader.u8() * 0x1_0000;
}

/**
 * A seat.
 * @typedef {object} Welcome
 * @property {boolean} isResumed
 * @property {boolean} hasSameCalls
 * @property {boolean} isSpectator
 * @property {number} player
 * @property {number} tick
 * @property {number} step
 * @property {number} stepsPerSecond
 * @property {number} sendsPerSecond
 * @property {number} objects
 * @property {string} room
 */

/**
 * What servers say, by `type`.
 * @typedef {{ type: "welcome", welcome: Welcome } | { type: "refused", reason: string, text: string } | {
 *   type: "snapshot" | "packed" | "property" | "call" | "names" | "lobby-state" | "lobby-event", bytes:
 *   Uint8Array } | { type: "joined", player: number, isSpectator: boolean, name: string } | { type: "left",
 *   player: number } | { type: "call-refused", id: number, reason: string, text: string } | { type:
 *   "claimed", alias: number, isGranted: boolean } | { type: "rejected", step: number, reason: string, code:
 *   number, text: string } | { type: "notice", kind: string, text: string } | { type: "said", player: number,
 *   toTeam: boolean, text: string }} ToClient
 */

/**
 * Reads a message of the server. Contents that have a format of their own are views of `bytes`.
 * @param {Uint8Array} bytes
 * @returns {ToClient}
 */
export function readToClient(bytes) {
  const reader = new ByteReader(bytes);
  const kind = reader.u8();
  switch (kind) {
    case KIND.snapshot:
      return { type: "snapshot", bytes: reader.rest() };
    case KIND.packed:
      return { type: "packed", bytes: reader.rest() };
    case KIND.property:
      return { type: "property", bytes: reader.rest() };
    case KIND.called:
      return { type: "call", bytes: reader.rest() };
    case KIND.names:
      return { type: "names", bytes: reader.rest() };
    case KIND.lobbyNews: {
      const news = reader.u8();
      if (news > 1) throw new WireError("OutOfRange");
      return { type: news === 0 ? "lobby-state" : "lobby-event", bytes: reader.rest() };
    }
    default: {
      const message = readWhole(kind, reader);
      reader.finish();
      return message;
    }
  }
}

/**
 * @param {number} kind
 * @param {ByteReader} reader
 * @returns {ToClient}
 */
function readWhole(kind, reader) {
  switch (kind) {
    case KIND.welcome:
      return { type: "welcome", welcome: readWelcome(reader) };
    case KIND.refused: {
      const { name, words } = rowOf(REFUSALS, reader.u8());
      return { type: "refused", reason: name, text: reader.str(REASON_BYTES_MAX) || words };
    }
    case KIND.joined: {
      const player = reader.u32();
      const isSpectator = reader.bool();
      return { type: "joined", player, isSpectator, name: reader.str(NAME_BYTES_MAX) };
    }
    case KIND.left:
      return { type: "left", player: reader.u32() };
    case KIND.callRefused: {
      const id = reader.u16();
      const { name, words } = rowOf(CALL_REFUSALS, reader.u8());
      return { type: "call-refused", id, reason: name, text: reader.str(REASON_BYTES_MAX) || words };
    }
    case KIND.claimed: {
      const alias = readAlias(reader);
      return { type: "claimed", alias, isGranted: reader.bool() };
    }
    case KIND.rejected:
      return readRejected(reader);
    case KIND.notice: {
      const { name } = rowOf(NOTICES, reader.u8());
      return { type: "notice", kind: name, text: reader.str(REASON_BYTES_MAX) };
    }
    case KIND.said: {
      const player = reader.u32();
      const toTeam = reader.bool();
      return { type: "said", player, toTeam, text: reader.str(CHAT_BYTES_MAX) };
    }
    default:
      throw new WireError("OutOfRange", `no message of kind ${kind}`);
  }
}

/**
 * @param {ByteReader} reader
 * @returns {Welcome}
 */
function readWelcome(reader) {
  const flags = reader.u8();
  if (flags > 7) throw new WireError("ReservedBits");
  return {
    isResumed: (flags & 1) !== 0,
    hasSameCalls: (flags & 2) !== 0,
    isSpectator: (flags & 4) !== 0,
    player: reader.u32(),
    tick: reader.u32(),
    step: reader.u32(),
    stepsPerSecond: reader.u16(),
    sendsPerSecond: reader.u16(),
    objects: reader.u32(),
    room: reader.str(NAME_BYTES_MAX),
  };
}

/**
 * @param {ByteReader} reader
 * @returns {ToClient}
 */
function readRejected(reader) {
  const step = reader.u32();
  const code = reader.u8();
  if (code >= GAME_CODES) {
    const own = code - GAME_CODES;
    const text = reader.str(REJECTED_TEXT_BYTES_MAX) || `refused by the game (reason ${own})`;
    return { type: "rejected", step, reason: "by-game", code: own, text };
  }
  const { name, words } = rowOf(REJECTIONS, code);
  if (reader.str(REJECTED_TEXT_BYTES_MAX) !== "") throw new WireError("OutOfRange");
  return { type: "rejected", step, reason: name, code, text: words };
}

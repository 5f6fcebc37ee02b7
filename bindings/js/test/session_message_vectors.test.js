// Every golden vector of a session's messages: what servers say is read, what clients say is written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesForm, readInputs } from "../src/replica/input.js";
import { Calls } from "../src/session/calls.js";
import { CALL_REFUSALS, LOBBY_REFUSALS, NOTICES, REFUSALS, REJECTIONS } from "../src/session/codes.js";
import { Events } from "../src/session/events.js";
import { Lobby, readLobbyEvent, readLobbyState } from "../src/session/lobby.js";
import { KIND, MESSAGE_BYTES_MAX, checkHello, readToClient, write } from "../src/session/messages.js";
import { readArgs } from "../src/session/msgpack.js";
import { defineProtocol } from "../src/session/protocol.js";
import { Seat } from "../src/session/seat.js";
import { ByteReader, ByteWriter } from "../src/wire/bytes.js";
import { fromHex, toHex, vectors } from "./vectors.js";

/** Codes of refused inputs from here on are the game's own. */
const GAME_CODES = 128;
const PHASES = ["waiting", "countdown", "playing"];

// What servers say.

/**
 * @param {string} file
 * @param {(bytes: Uint8Array) => any} read
 */
function checkRead(file, read) {
  for (const { name, hex, value, error } of vectors(file)) {
    test(`${file}: ${name}`, () => {
      if (error) assert.throws(() => read(fromHex(hex)), { name: "WireError", code: error });
      else assert.deepEqual(read(fromHex(hex)), value);
    });
  }
}

/**
 * The code of a reason, and the text that came with it: where none did, the SDK says the reason in words.
 * @param {typeof REFUSALS} table
 * @param {string} reason
 * @param {string} text
 */
function coded(table, reason, text) {
  const row = [...table.values()].find(({ name }) => name === reason);
  assert.ok(row, `a reason of the table: ${reason}`);
  return { code: row.code, text: text === row.words ? "" : text };
}

/** @param {number} alias */
const jsonAlias = (alias) => ({ slot: alias & 0xffff, generation: alias >>> 16 });

/** @param {import("../src/session/messages.js").Welcome} welcome */
function jsonWelcome({ isResumed, hasSameCalls, isSpectator, stepsPerSecond, sendsPerSecond, ...same }) {
  return {
    message: "Welcome",
    resumed: isResumed,
    same_calls: hasSameCalls,
    spectator: isSpectator,
    steps_per_second: stepsPerSecond,
    sends_per_second: sendsPerSecond,
    ...same,
  };
}

/** @param {{ step: number, reason: string, code: number, text: string }} rejected */
function jsonRejected({ step, reason, code, text }) {
  if (reason === "by-game") return { step, code: GAME_CODES + code, text };
  const found = coded(REJECTIONS, reason, text);
  assert.equal(found.code, code);
  return { step, ...found };
}

/** @param {import("../src/session/messages.js").ToClient} read */
function jsonToClient(read) {
  switch (read.type) {
    case "welcome":
      return jsonWelcome(read.welcome);
    case "refused": {
      const { code, text } = coded(REFUSALS, read.reason, read.text);
      return { message: "Refused", reason: code, text };
    }
    case "snapshot":
      return { message: "Snapshot", rest: toHex(read.bytes) };
    case "packed":
      return { message: "Packed", rest: toHex(read.bytes) };
    case "property":
      return { message: "Property", rest: toHex(read.bytes) };
    case "call":
      return { message: "Call", rest: toHex(read.bytes) };
    case "names":
      return { message: "Names", rest: toHex(read.bytes) };
    case "lobby-state":
      return { message: "Lobby", news: 0, rest: toHex(read.bytes) };
    case "lobby-event":
      return { message: "Lobby", news: 1, rest: toHex(read.bytes) };
    case "joined":
      return { message: "Joined", player: read.player, spectator: read.isSpectator, name: read.name };
    case "left":
      return { message: "Left", player: read.player };
    case "call-refused": {
      const { code, text } = coded(CALL_REFUSALS, read.reason, read.text);
      return { message: "CallRefused", call: read.id, reason: code, text };
    }
    case "claimed":
      return { message: "Claimed", object: jsonAlias(read.alias), granted: read.isGranted };
    case "rejected":
      return { message: "Rejected", ...jsonRejected(read) };
    case "notice":
      return { message: "Notice", kind: coded(NOTICES, read.kind, "").code, text: read.text };
    case "said":
      return { message: "Said", player: read.player, to_team: read.toTeam, text: read.text };
  }
}

checkRead("session_to_client", (bytes) => jsonToClient(readToClient(bytes)));

checkRead("session_rejected", (bytes) => {
  const read = readToClient(Uint8Array.of(KIND.rejected, ...bytes));
  assert.equal(read.type, "rejected");
  return jsonRejected(/** @type {any} */ (read));
});

checkRead("session_lobby_event", (bytes) => {
  const event = readLobbyEvent(bytes);
  switch (event.type) {
    case "started":
      return { event: "started", player: event.player };
    case "stopped":
      return { event: "stopped" };
    case "kicked":
      return { event: "kicked", player: event.player, text: event.reason };
    case "chat":
      return { event: "chat", from: event.player, team: event.team, text: event.text };
    case "refused": {
      const { code, text } = coded(LOBBY_REFUSALS, event.reason, event.text);
      assert.equal(text, "", "the words of the table");
      return { event: "refused", code };
    }
  }
});

checkRead("session_lobby_state", (bytes) => {
  const state = readLobbyState(bytes);
  const members = state.members.map(({ isReady, isSpectator, ...same }) => ({
    ready: isReady,
    watches: isSpectator,
    ...same,
  }));
  return {
    phase: PHASES.indexOf(state.phase),
    left_ms: state.phase === "countdown" ? state.leftMs : null,
    host: state.host,
    seats: state.playersMax,
    needed: state.playersMin,
    teams: state.teams,
    places_to_watch: state.spectatorsMax,
    settings: [...state.settings],
    members,
  };
});

// What clients say.

/**
 * Bytes that nothing in a client writes, so that only the decoder of a server meets them: cut off, with more
 * after their end, with numbers that stand for nothing, or with booleans and texts that are none.
 * @param {{ error?: string }} vector
 */
const isForServersOnly = ({ error = "" }) =>
  ["UnexpectedEnd", "TrailingData", "OutOfRange", "InvalidBool", "InvalidUtf8"].includes(error);

/**
 * Values are written; what is longer than any receiver takes is refused before a byte of it is sent.
 * @param {string} file
 * @param {(value: any) => Uint8Array} encode
 * @param {Record<string, any>} tooLong the values of cases that are `TooLong`, by name
 */
function checkWrite(file, encode, tooLong) {
  for (const { name, hex, value, error } of vectors(file).filter((each) => !isForServersOnly(each))) {
    test(`${file}: ${name}`, () => {
      if (error === undefined) {
        assert.equal(toHex(encode(value)), hex);
        return;
      }
      assert.equal(error, "TooLong");
      assert.ok(name in tooLong, "a value that is too long");
      const refusal = { name: "NetloomError", code: "setting", message: /at most/ };
      assert.throws(() => encode(tooLong[name]), refusal);
    });
  }
}

/** @param {(out: ByteWriter) => void} fill */
function filled(fill) {
  const out = new ByteWriter(MESSAGE_BYTES_MAX);
  fill(out);
  return out.written().slice();
}

/** @param {{ slot: number, generation: number }} object */
const aliasOf = ({ slot, generation }) => slot + 0x1_0000 * generation;

/** A seat in a game whose inputs are one byte. */
function seat() {
  const settings = {
    protocol: defineProtocol("vectors", { input: bytesForm(1) }),
    name: "",
    room: "",
    isSpectator: false,
    ticket: new Uint8Array(),
    delay: 100_000,
    objectsMax: 16,
    stepsPerFrameMax: 8,
    reconnects: false,
  };
  const welcome = {
    isResumed: false,
    hasSameCalls: true,
    isSpectator: false,
    player: 1,
    tick: 0,
    step: 0,
    stepsPerSecond: 60,
    sendsPerSecond: 20,
    objects: 0,
    room: "",
  };
  return new Seat(settings, welcome);
}

/**
 * A call to the server about no object, by its name.
 * @param {Uint8Array} frame
 */
function encodeCall(frame) {
  const reader = new ByteReader(frame);
  const [id, flags] = [reader.u16(), reader.u8()];
  assert.equal(flags, 0, "to the server, about no object and no tick");
  const names = Array.from({ length: id + 1 }, (_, at) => `call ${String(at).padStart(5, "0")}`);
  const { calls: table } = defineProtocol("vectors", {
    calls: Object.fromEntries(names.map((name) => [name, {}])),
  });
  const calls = new Calls(table, new Events());
  calls.handleWelcome(true);
  return calls.write(names[id], readArgs(reader.rest()), "server", null, seat()).message;
}

/**
 * The whole messages of what is asked of a lobby.
 * @param {any} value
 */
function encodeCommand(value) {
  /** @type {Uint8Array[]} */
  const sent = [];
  const lobby = new Lobby((fill) => sent.push(filled(fill)));
  const commands = /** @type {Record<string, () => void>} */ ({
    ready: () => lobby.ready(value.is),
    team: () => lobby.team(value.team),
    spectate: () => lobby.spectate(value.is),
    rename: () => lobby.rename(value.text),
    set: () => lobby.set(value.key, value.value),
    start: () => lobby.start(),
    cancel: () => lobby.cancel(),
    restart: () => lobby.restart(),
    kick: () => lobby.kick(value.player, value.text),
    chat: () => lobby.chat(value.text),
    "team chat": () => lobby.chat(value.text, { toTeam: true }),
  });
  commands[value.command]();
  assert.equal(sent.length, 1);
  return sent[0];
}

/** Encoders by message; where the content has a section of its own, the case tells of it as bytes. */
const ENCODERS = /** @type {Record<string, (value: any) => Uint8Array>} */ ({
  Hello({ name, room, spectator, calls_hash, ticket }) {
    const callsHash = BigInt(calls_hash);
    const hello = { name, room, isSpectator: spectator, callsHash, ticket: fromHex(ticket) };
    checkHello(hello);
    return filled((out) => write.hello(out, hello));
  },
  Input({ rest }) {
    const { newest, view, inputs } = readInputs(fromHex(rest), 1, 0);
    assert.equal(view, null, "a seat that has seen nothing yet");
    return filled((out) => seat().writeInputs(out, newest, inputs));
  },
  Unread: ({ tick }) => filled((out) => write.unread(out, tick)),
  Mismatch: ({ region }) => filled((out) => write.mismatch(out, region)),
  Call: ({ rest }) => encodeCall(fromHex(rest)),
  Lobby({ rest }) {
    const { value } = vectors("session_lobby_command").find(({ hex }) => hex === rest);
    return encodeCommand(value);
  },
  Claim: ({ object, wanted }) => filled((out) => write.claim(out, aliasOf(object), wanted)),
  Write: ({ object, field, rest }) =>
    filled((out) => {
      write.field(out, aliasOf(object), field);
      out.bytes(fromHex(rest));
    }),
  Viewing: ({ ms }) => filled((out) => write.viewing(out, ms)),
  Chat: ({ to_team, text }) => filled((out) => write.chat(out, to_team, text)),
});

const HELLO = { message: "Hello", name: "x", room: "", spectator: false, calls_hash: "0", ticket: "" };

checkWrite("session_to_server", (value) => ENCODERS[value.message](value), {
  "Hello with a name of 65 bytes": { ...HELLO, name: "x".repeat(65) },
  "Hello with a ticket of 1,025 bytes": { ...HELLO, ticket: "00".repeat(1_025) },
  "Chat of 2,001 bytes": { message: "Chat", to_team: false, text: "x".repeat(2_001) },
});

checkWrite(
  "session_lobby_command",
  (value) => {
    const message = encodeCommand(value);
    assert.equal(message[0], KIND.lobby);
    return message.subarray(1);
  },
  {
    "chat of 2,001 bytes": { command: "chat", text: "x".repeat(2_001) },
    "a key of 33 bytes": { command: "set", key: "x".repeat(33), value: "" },
  },
);

import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteWriter } from "../src/wire/bytes.js";
import { WireError } from "../src/wire/error.js";
import { NetloomError } from "../src/session/error.js";
import { Lobby, readLobbyEvent, readLobbyState } from "../src/session/lobby.js";
import { MESSAGE_BYTES_MAX, checkHello, readToClient, write } from "../src/session/messages.js";
import { Random } from "./random.js";

/** @param {(out: ByteWriter) => void} fill */
function filled(fill) {
  const out = new ByteWriter(MESSAGE_BYTES_MAX);
  fill(out);
  return out.written().slice();
}

/** @param {string} text */
const str = (text) => [text.length, ...new TextEncoder().encode(text)];

test("what a client says has the bytes of the standard", () => {
  const hello = {
    name: "Ada",
    room: "",
    isSpectator: true,
    callsHash: 0x0102030405060708n,
    ticket: Uint8Array.of(9),
  };
  const expected = [1, ...str("Ada"), 0, 1, 8, 7, 6, 5, 4, 3, 2, 1, 1, 9];
  assert.deepEqual(
    filled((out) => write.hello(out, hello)),
    Uint8Array.from(expected),
  );
  assert.deepEqual(
    filled((out) => write.unread(out, 0x1_2345)),
    Uint8Array.of(3, 0x45, 0x23),
  );
  assert.deepEqual(
    filled((out) => write.claim(out, 0x07_0102, true)),
    Uint8Array.of(7, 2, 1, 7, 1),
  );
  assert.deepEqual(
    filled((out) => write.viewing(out, 300)),
    Uint8Array.of(9, 44, 1),
  );
  assert.deepEqual(
    filled((out) => write.chat(out, false, "hi")),
    Uint8Array.of(10, 0, ...str("hi")),
  );
  assert.throws(() => filled((out) => write.chat(out, false, "é".repeat(1_001))), NetloomError);
  assert.throws(() => checkHello({ ...hello, name: "x".repeat(65) }), /the name has 65 bytes, at most 64/);
});

test("what a server says is read to its last byte", () => {
  const welcome = [64, 6, 7, 0, 0, 0, 1, 0, 1, 0, 3, 0, 1, 0, 60, 0, 20, 0, 200, 0, 0, 0, ...str("yard")];
  assert.deepEqual(readToClient(Uint8Array.from(welcome)), {
    type: "welcome",
    welcome: {
      isResumed: false,
      hasSameCalls: true,
      isSpectator: true,
      player: 7,
      tick: 65_537,
      step: 65_539,
      stepsPerSecond: 60,
      sendsPerSecond: 20,
      objects: 200,
      room: "yard",
    },
  });
  const read = (/** @type {number[]} */ ...bytes) => readToClient(Uint8Array.from(bytes));
  assert.deepEqual(read(65, 1, 0), {
    type: "refused",
    reason: "room-full",
    text: "the room is full: try again later or choose another one",
  });
  assert.deepEqual(read(71, 5, 0, 10, ...str("no")), {
    type: "call-refused",
    id: 5,
    reason: "by-game",
    text: "no",
  });
  assert.deepEqual(read(73, 2, 1, 7, 1), { type: "claimed", alias: 0x07_0102, isGranted: true });
  assert.deepEqual(read(74, 8, 0, 0, 0, 5, 0), {
    type: "rejected",
    step: 8,
    reason: "cooldown",
    code: 5,
    text: "the action is still cooling down",
  });
  assert.deepEqual(read(74, 7, 0, 0, 0, 131, ...str("dry")), {
    type: "rejected",
    step: 7,
    reason: "by-game",
    code: 3,
    text: "dry",
  });
  assert.deepEqual(read(77, 0, 0, 0, 0, 1, ...str("hi")), {
    type: "said",
    player: 0,
    toTeam: true,
    text: "hi",
  });
  const refused = [
    [],
    [63],
    [79],
    [64, 8],
    [...welcome, 0],
    [65, 9, 0],
    [68, 1, 0, 0, 0, 2, 0],
    [72, 2],
    [74, 8, 0, 0, 0, 5, 1, 120],
    [74, 8, 0, 0, 0, 8, 0],
    [76, 0, 0],
    [69, 1, 0, 0],
  ];
  for (const bytes of refused) assert.throws(() => read(...bytes), WireError, String(bytes));
});

test("a lobby reads as the standard has it, and nothing else does", () => {
  const state = [
    1,
    0x88,
    0x13,
    0,
    0,
    1,
    7,
    0,
    0,
    0,
    4,
    2,
    2,
    8,
    1,
    ...str("map"),
    ...str("lake"),
    2,
    7,
    0,
    0,
    0,
    6,
    1,
    0,
    ...str("Ada"),
    9,
    0,
    0,
    0,
    1,
    ...str("Bo"),
  ];
  assert.deepEqual(readLobbyState(Uint8Array.from(state)), {
    phase: "countdown",
    leftMs: 5_000,
    host: 7,
    playersMax: 4,
    playersMin: 2,
    teams: 2,
    spectatorsMax: 8,
    settings: new Map([["map", "lake"]]),
    members: [
      { player: 7, name: "Ada", team: 1, isReady: true, isSpectator: false },
      { player: 9, name: "Bo", team: null, isReady: false, isSpectator: true },
    ],
  });
  const event = (/** @type {number[]} */ ...bytes) => readLobbyEvent(Uint8Array.from(bytes));
  assert.deepEqual(event(0, 7, 0, 0, 0), { type: "started", player: 7 });
  assert.deepEqual(event(1), { type: "stopped" });
  assert.deepEqual(event(3, 3, 1, 0, ...str("go")), { type: "chat", player: null, team: 1, text: "go" });
  assert.equal(/** @type {any} */ (event(4, 9)).reason, "not-host");
  for (const bytes of [[], [5], [1, 0], [3, 4, 0], [4, 0], [4, 26]])
    assert.throws(() => event(...bytes), WireError);
  const cut = Uint8Array.from(state);
  for (let length = 0; length < cut.length; length++) {
    assert.throws(() => readLobbyState(cut.subarray(0, length)), WireError, `${length} bytes`);
  }
});

test("what is asked of a lobby has the bytes of the standard", () => {
  /** @type {number[][]} */
  const sent = [];
  const lobby = new Lobby((fill) => sent.push([...filled(fill)]));
  lobby.ready();
  lobby.team(1);
  lobby.spectate(false);
  lobby.rename("Bo");
  lobby.set("map", "lake");
  lobby.start();
  lobby.cancel();
  lobby.restart();
  lobby.kick(9, "bye");
  lobby.chat("hi");
  lobby.chat("hi", { toTeam: true });
  assert.deepEqual(sent, [
    [6, 0, 1],
    [6, 1, 1, 0],
    [6, 2, 0],
    [6, 3, ...str("Bo")],
    [6, 4, ...str("map"), ...str("lake")],
    [6, 5],
    [6, 6],
    [6, 7],
    [6, 8, 9, 0, 0, 0, ...str("bye")],
    [6, 9, ...str("hi")],
    [6, 10, ...str("hi")],
  ]);
  assert.throws(() => lobby.team(-1), NetloomError);
  assert.throws(() => lobby.set("k".repeat(33), ""), NetloomError);
});

test("random bytes are messages or refused, and nothing else", () => {
  const random = new Random(3);
  for (let round = 0; round < 20_000; round++) {
    const bytes = random.bytes(1 + random.below(60));
    bytes[0] = 60 + random.below(20);
    for (const read of [readToClient, readLobbyState, readLobbyEvent]) {
      try {
        read(bytes);
      } catch (error) {
        assert.ok(error instanceof WireError, `seed 3, round ${round}: ${error}`);
      }
    }
  }
});

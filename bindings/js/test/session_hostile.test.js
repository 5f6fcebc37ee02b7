/**
 * A server that sends whatever it likes: a client drops and counts it, or ends with a typed reason, and never
 * grows.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError } from "../src/proto/reason.js";
import { SessionClient } from "../src/session/client.js";
import { NetloomError } from "../src/session/error.js";
import { ByteWriter } from "../src/wire/bytes.js";
import { Random } from "./random.js";
import { tour } from "./tour.js";

/** A connection whose other end is the test. */
class FakeConnection {
  /** @type {any[]} */
  events = [{ type: "connected", resumeToken: new Uint8Array(32), isSealed: true }];
  /** @type {{ channel: number, message: Uint8Array }[]} */
  sent = [];
  /** @type {"connected" | "disconnected"} */
  state = "connected";

  /** @param {Uint8Array} data @param {number} [channel] */
  say(data, channel = 0) {
    this.events.push({ type: "message", channel, data });
  }

  /** @param {import("../src/proto/reason.js").DisconnectReason} code */
  end(code) {
    this.state = "disconnected";
    this.events.push({ type: "ended", error: new ConnectionError(code) });
  }

  pollEvent() {
    return this.events.shift() ?? null;
  }

  /** @param {number} channel @param {Uint8Array} message */
  send(channel, message) {
    this.sent.push({ channel, message: message.slice() });
    return this.sent.length;
  }

  stats() {
    return /** @type {any} */ ({ rtt: 50_000, jitter: 1_000, bytesSent: 0, bytesReceived: 0 });
  }

  poll() {
    return null;
  }

  nextTimeout() {
    return Infinity;
  }

  isFinished() {
    return true;
  }

  handle() {}
  handleBroken() {}
  close() {
    this.end("Requested");
  }
}

function seated() {
  const session = new SessionClient({
    protocol: tour,
    name: "Ada",
    room: "",
    isSpectator: false,
    ticket: new Uint8Array(0),
    delay: 100_000,
    objectsMax: 1_000,
    stepsPerFrameMax: 8,
    reconnects: true,
  });
  const connection = new FakeConnection();
  session.connect(connection);
  connection.say(welcome());
  session.tick(0);
  return { session, connection };
}

function welcome({ stepsPerSecond = 60, sendsPerSecond = 20 } = {}) {
  const out = new ByteWriter(64);
  out.u8(64);
  out.u8(2);
  out.u32(7);
  out.u32(100);
  out.u32(300);
  out.u16(stepsPerSecond);
  out.u16(sendsPerSecond);
  out.u32(0);
  out.str("yard");
  return out.written().slice();
}

/** @param {SessionClient} session */
function events(session) {
  const told = [];
  for (let event = session.pollEvent(); event !== undefined; event = session.pollEvent()) told.push(event);
  return told;
}

test("a client greets, has a seat, and says that it is ready for snapshots", () => {
  const { session, connection } = seated();
  assert.deepEqual(events(session)[0], {
    type: "welcomed",
    player: 7,
    room: "yard",
    isResumed: false,
    isSpectator: false,
  });
  assert.deepEqual(
    connection.sent.map(({ channel, message }) => [channel, message[0]]),
    [
      [0, 1],
      [0, 9],
    ],
  );
});

test("rates that cannot be are nonsense, and give no seat", () => {
  for (const rates of [
    { stepsPerSecond: 0 },
    { sendsPerSecond: 0 },
    { sendsPerSecond: 7 },
    { stepsPerSecond: 241, sendsPerSecond: 241 },
  ]) {
    const session = new SessionClient({
      protocol: tour,
      name: "Ada",
      room: "",
      isSpectator: false,
      ticket: new Uint8Array(0),
      delay: 100_000,
      objectsMax: 10,
      stepsPerFrameMax: 8,
      reconnects: true,
    });
    const connection = new FakeConnection();
    session.connect(connection);
    connection.say(welcome(rates));
    session.tick(0);
    assert.equal(session.seat, null);
    assert.equal(session.nonsense, 1);
  }
});

test("random messages of every kind are understood or counted, and nothing grows", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(seed);
    const { session, connection } = seated();
    events(session);
    for (let round = 0; round < 2_000; round++) {
      const data = random.bytes(1 + random.below(random.chance(0.1) ? 1_200 : 60));
      data[0] = 64 + random.below(16);
      connection.say(data, random.below(5));
      if (random.chance(0.2)) {
        try {
          session.tick(round * 16_000);
          session.pollTransmit(round * 16_000);
        } catch (error) {
          throw new Error(`seed ${seed}, round ${round}: ${/** @type {Error} */ (error).stack}`);
        }
      }
      if (connection.sent.length > 10_000) assert.fail(`seed ${seed}: the client answers without end`);
      connection.sent.length = Math.min(connection.sent.length, 100);
    }
    session.tick(60e6);
    assert.ok(session.nonsense > 0);
    assert.ok(events(session).length <= 8_192);
    assert.ok(session.players.size <= 2_000);
    assert.ok((session.seat?.world.held ?? 0) <= 1_000);
  }
});

test("events that nobody asks for do not fill the memory", () => {
  const { session, connection } = seated();
  const line = Uint8Array.of(77, 7, 0, 0, 0, 0, 1, 120);
  for (let round = 0; round < 20_000; round++) connection.say(line, 1);
  session.tick(1_000);
  assert.equal(events(session).length, 8_192);
});

test("calls before the list of calls wait, within bounds", () => {
  const { session, connection } = seated();
  const other = welcome();
  other[1] = 0;
  connection.say(other);
  for (let round = 0; round < 10_000; round++)
    connection.say(Uint8Array.of(70, 0, 0, 0, 0, 0, 0, 0, 0x90), 1);
  session.tick(1_000);
  assert.equal(session.callCounters.dropped, 10_000 - 4_096);
});

test("each ending has its type", () => {
  /** @param {(connection: FakeConnection) => void} act */
  const ending = (act) => {
    const { session, connection } = seated();
    events(session);
    act(connection);
    session.tick(1_000);
    const told = events(session).at(-1);
    assert.ok(told?.type === "ended" && told.error instanceof NetloomError, JSON.stringify(told));
    assert.equal(session.seat, null);
    return told.error.code;
  };
  /** @param {number} kind */
  const notice = (kind) => (/** @type {FakeConnection} */ connection) => {
    connection.say(Uint8Array.of(76, kind, 2, 111, 107));
    connection.end("Kicked");
  };
  assert.equal(ending(notice(2)), "kicked");
  assert.equal(ending(notice(3)), "shutdown");
  assert.equal(ending(notice(4)), "room-ended");
  assert.equal(ending(notice(5)), "kicked");
  assert.equal(
    ending((connection) => connection.end("Shutdown")),
    "shutdown",
  );
  assert.equal(
    ending((connection) => connection.end("Kicked")),
    "kicked",
  );
  assert.equal(
    ending((connection) => connection.end("Protocol")),
    "lost",
  );
  assert.equal(
    ending((connection) => connection.end("Requested")),
    "closed",
  );
});

test("a lost connection keeps its seat for a minute, and no longer", () => {
  const { session, connection } = seated();
  events(session);
  connection.end("Timeout");
  session.tick(1_000_000);
  assert.deepEqual(
    events(session).map(({ type }) => type),
    ["lost"],
  );
  assert.ok(session.isLost && session.resumeToken !== null && session.seat !== null);
  const second = new FakeConnection();
  session.connect(second);
  second.events = [];
  second.end("ConnectTimeout");
  session.tick(10_000_000);
  assert.deepEqual(
    events(session).map(({ type }) => type),
    ["lost"],
    "there may be another attempt",
  );
  session.tick(61_000_001);
  assert.deepEqual(
    events(session).map(({ type }) => type),
    ["ended"],
  );
  assert.equal(session.seat, null);
});

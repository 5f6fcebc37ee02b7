// Whatever a server, or somebody who poses as one, may send: nothing throws, hangs or grows without bound.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../src/proto/connection.js";
import { FrameWriter } from "../src/proto/frames.js";
import { acceptFor, challengeFor, withChecksum } from "./double.js";
import { channels, Pair } from "./pair.js";
import { Random } from "./random.js";

const protocolId = 77n;
const stages = /** @type {const} */ ([
  "connecting",
  "challenged",
  "connected",
  "disconnecting",
  "disconnected",
]);

/** A client in some stage of its life. @param {typeof stages[number]} stage @param {boolean} isSealed */
function clientIn(stage, isSealed) {
  const connection = new Connection({
    protocolId,
    security: isSealed ? "required" : "off",
    eventsQueuedMax: 64,
    eventBytesMax: 1 << 16,
  });
  /** @type {Uint8Array[]} what a server may have sent it */
  const seen = [];
  const reached = stages.indexOf(stage);
  const connect = connection.poll(0);
  assert(connect);
  seen.push(challengeFor(connect, protocolId, isSealed));
  if (reached >= 1) connection.handle(seen[0], 0);
  const response = connection.poll(1000);
  if (response) seen.push(acceptFor(response, protocolId, isSealed).accept);
  if (reached >= 2) connection.handle(seen[1], 1000);
  if (reached >= 2) assert.equal(connection.state, "connected");
  connection.poll(2000);
  if (reached >= 3) connection.close("Requested", 3000);
  if (reached >= 4) connection.handleBroken(4000);
  return { connection, seen };
}

/** @param {Connection} connection @param {string} when */
function assertBounded(connection, when) {
  const { inbox, link } = connection;
  assert(inbox.messages <= 64 && inbox.events.length <= 64 + 3 && inbox.outcomes.length <= 8192, when);
  if (!link) return;
  assert(link.outbound.sent.slots.length <= 2048 && link.outbound.sent.carried <= 8192, when);
  for (const [id, receiver] of link.inbound.receivers.entries()) {
    assert(receiver.waitingBytes <= channels[id].receiveBytesMax + channels[id].messageBytesMax, when);
  }
}

for (const isSealed of [false, true]) {
  for (const stage of stages) {
    test(`random and mutated datagrams, ${stage}, ${isSealed ? "sealed" : "plain"}`, () => {
      const seed = 11;
      const random = new Random(seed);
      const { connection, seen } = clientIn(stage, isSealed);
      let now = 5000;
      for (let round = 0; round < 20_000; round++) {
        let datagram;
        if (random.chance(0.5)) {
          datagram = random.bytes(random.below(random.chance(0.1) ? 1300 : 120));
          if (datagram.length > 0 && random.chance(0.7))
            datagram[0] = random.below(11) | (random.below(16) << 4);
        } else {
          datagram = seen[random.below(seen.length)].slice(
            0,
            random.chance(0.2) ? random.below(100) : undefined,
          );
          for (let flips = random.below(3); flips >= 0 && datagram.length > 0; flips--) {
            datagram[random.below(datagram.length)] ^= 1 << random.below(8);
          }
          // Past the checksum, half of the time: that is no protection against whoever knows the protocol's
          // id.
          if (random.chance(0.5) && datagram.length > 4)
            datagram = withChecksum(datagram.slice(0, -4), protocolId);
        }
        assert.doesNotThrow(() => connection.handle(datagram, now), `seed ${seed}, round ${round}`);
        for (let packets = 0; connection.poll(now); packets++)
          assert(packets < 10, `seed ${seed}, round ${round}`);
        if (round % 100 === 0) assertBounded(connection, `seed ${seed}, round ${round}`);
        now += 20;
      }
      const dropped = Object.values(connection.rejections).reduce((sum, count) => sum + count, 0);
      assert(dropped > 15_000, `${dropped} were dropped and counted`);
    });
  }
}

/** A payload of frames that mean something, most of the time. @param {Random} random */
function randomPayload(random) {
  const writer = new FrameWriter();
  writer.begin(new Uint8Array(1200), 0, 1150);
  for (let count = 1 + random.below(6); count > 0; count--) {
    const data = random.bytes(random.below(random.chance(0.1) ? 900 : 30));
    const id = random.chance(0.8) ? random.below(40) : random.below(65536);
    const kind = random.below(10);
    if (kind === 0) writer.copy(random.below(10), data.subarray(0, 255), 0);
    else if (kind === 1)
      writer.parity(random.below(10), random.below(10), random.below(256), data.subarray(0, 255), 0);
    else {
      const channel = random.below(5);
      const parts = random.chance(0.3) ? 2 + random.below(random.chance(0.1) ? 600 : 4) : 0;
      writer.message(
        channel,
        channels[channel].kind,
        id,
        parts > 0 ? random.below(parts) : 0,
        parts,
        data,
        0,
      );
    }
  }
  const payload = writer.out.slice(0, Math.max(1, writer.finish()));
  if (random.chance(0.1)) payload[random.below(payload.length)] ^= 1 << random.below(8);
  return payload;
}

test("a server that violates the protocol with authentic packets", () => {
  const endings = new Map();
  for (let seed = 1; seed <= 300; seed++) {
    const random = new Random(seed);
    const { connection } = clientIn("connected", false);
    const session = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    let now = 5000;
    for (let number = 0; number < 200; number++) {
      const first = 0x85 | (random.chance(0.3) ? 0x40 : 0);
      const wireNumber = random.chance(0.05) ? random.below(65536) : number;
      const head = Uint8Array.of(first, ...session, wireNumber & 0xff, wireNumber >> 8);
      const datagram = withChecksum(new Uint8Array([...head, ...randomPayload(random)]), protocolId);
      if (datagram.length > 1200) continue;
      assert.doesNotThrow(() => connection.handle(datagram, now), `seed ${seed}, packet ${number}`);
      for (let packets = 0; connection.poll(now); packets++)
        assert(packets < 70, `seed ${seed}, packet ${number}`);
      assertBounded(connection, `seed ${seed}, packet ${number}`);
      if (random.chance(0.2)) connection.pollEvent();
      now += 1000 + random.below(20_000);
    }
    endings.set(connection.state, (endings.get(connection.state) ?? 0) + 1);
  }
  assert(endings.has("disconnecting") || endings.has("disconnected"), "some violations end the connection");
  assert(endings.has("connected"), "and what merely does not parse does not");
});

test("a flood of half-sent messages keeps to the memory that it may have", () => {
  const { connection } = clientIn("connected", false);
  let now = 5000;
  const writer = new FrameWriter();
  for (let number = 0; number < 5000; number++) {
    const out = new Uint8Array(1200);
    out.set([0x85, 1, 2, 3, 4, 5, 6, 7, 8, number & 0xff, number >> 8]);
    writer.begin(out, 11, 1190);
    // First parts that never get their second, with a gap in front of everything reliable.
    writer.message(1, "ordered", 2 + 2 * (number % 500), 0, 2, new Uint8Array(500), 0);
    writer.message(3, "unreliable", number, 0, 64, new Uint8Array(500), 0);
    connection.handle(withChecksum(out.slice(0, writer.finish()), protocolId), now);
    while (connection.poll(now));
    assertBounded(connection, `packet ${number}`);
    now += 1000;
  }
  const { link } = connection;
  assert(link);
  assert(link.inbound.receivers[3].waitingBytes <= 4 * 500, "at most four messages are put together at once");
});

test("an application that never polls its outcomes or messages keeps a bounded queue", () => {
  const pair = new Pair({ settings: { eventsQueuedMax: 50 } });
  pair.isPolling = false;
  for (let round = 0; round < 10_000; round++) {
    pair.a.send(3, new Uint8Array(1), round);
    if (round % 10 === 0) pair.run(1000);
  }
  pair.run(5e6);
  assert(pair.b.inbox.messages <= 50 && pair.a.inbox.outcomes.length <= 8192);
});

test("a clock that jumps, either way, breaks nothing", () => {
  const pair = new Pair({ isSealed: true });
  pair.run(100e3);
  const forward = pair.a.link.poll(pair.now + 3600e6);
  assert.equal(pair.a.link.state, "disconnected", "an hour without a packet is a timeout");
  assert.equal(forward, null);
  const other = new Pair({ isSealed: true });
  other.run(5e6);
  for (const now of [1e6, 0, 5e6]) {
    other.a.send(1, new Uint8Array(100));
    for (let packets = 0; other.a.link.poll(now); packets++) assert(packets < 10);
    assert(!Number.isNaN(other.a.link.deadline(now)));
  }
});

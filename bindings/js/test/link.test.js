// Two ends of a session over bad lines, in virtual time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeUtf8 } from "../src/wire/bytes.js";
import { preset, PRESETS } from "../src/transport/line.js";
import { Pair } from "./pair.js";
import { Random } from "./random.js";
import { toHex } from "./vectors.js";

const [PRIORITY, ORDERED, UNORDERED, UNRELIABLE, SEQUENCED] = [0, 1, 2, 3, 4];
const bad = { latency: 40e3, jitter: 20e3, loss: 0.15, duplicate: 0.05, reorder: 0.1, corrupt: 0.02 };

/** A message that names itself. @param {string} name @param {number} length */
const message = (name, length) => encodeUtf8(name.padEnd(length, "."));

/** @param {Uint8Array[]} messages */
const texts = (messages) => messages.map((each) => Buffer.from(each).toString());

for (const isSealed of [false, true]) {
  for (const line of [
    {},
    bad,
    { ...bad, loss: 0.35 },
    { ...bad, bytesPerSecond: 40_000, queueDelayMax: 100e3 },
  ]) {
    for (const seed of [1, 2, 3]) {
      const title = `${isSealed ? "sealed" : "plain"}, ${JSON.stringify(line)}, seed ${seed}`;
      test(`every channel keeps its promise: ${title}`, () => {
        const random = new Random(seed);
        const pair = new Pair({ isSealed, line, seed });
        /** @type {string[][][]} what each end sent, by channel */
        const sent = [
          [[], [], [], [], []],
          [[], [], [], [], []],
        ];
        for (let round = 0; round < 60; round++) {
          for (const [index, end] of [pair.a, pair.b].entries()) {
            for (const channel of [PRIORITY, ORDERED, UNORDERED, UNRELIABLE, SEQUENCED]) {
              if (random.chance(0.4)) continue;
              const length = random.chance(0.05) ? 1200 + random.below(5000) : random.below(120);
              const bytes = message(`${channel}-${round}`, length);
              sent[index][channel].push(Buffer.from(bytes).toString());
              end.send(channel, bytes);
            }
          }
          pair.run(33e3);
        }
        assert(
          pair.runUntil(
            () => pair.a.link.outbound.outbox.pendingBytes + pair.b.link.outbound.outbox.pendingBytes === 0,
            120e6,
          ),
        );
        pair.run(1e6);
        for (const [index, end] of [pair.b, pair.a].entries()) {
          assert.equal(end.ended, null);
          assert.equal(end.rejections.malformed ?? 0, 0);
          for (const channel of [PRIORITY, ORDERED])
            assert.deepEqual(texts(end.received[channel]), sent[index][channel]);
          assert.deepEqual(texts(end.received[UNORDERED]).sort(), sent[index][UNORDERED].sort());
          for (const channel of [UNRELIABLE, SEQUENCED]) {
            const received = texts(end.received[channel]);
            assert.equal(new Set(received).size, received.length, "no message twice");
            assert(received.every((each) => sent[index][channel].includes(each)));
            const order = received.map((each) => sent[index][channel].indexOf(each));
            if (channel === SEQUENCED)
              assert.deepEqual(
                order,
                [...order].sort((x, y) => x - y),
                "never back",
              );
            assert(received.length > 0.3 * sent[index][channel].length, `${received.length} arrived`);
          }
          for (const channel of [PRIORITY, ORDERED, UNORDERED])
            assert.equal(end.link.inbound.receivers[channel].waitingBytes, 0);
        }
      });
    }
  }
}

test("redundancy brings small messages over a loss without a resend", () => {
  const [off, parity] = ["off", "parity"].map((redundancy) => {
    const total = { lost: 0, resends: 0, recovered: 0 };
    for (let seed = 1; seed <= 10; seed++) {
      const pair = new Pair({ settings: { redundancy }, line: { latency: 50e3, loss: 0.1 }, seed });
      for (let round = 0; round < 100; round++) {
        pair.a.send(ORDERED, message(`${round}`, 20));
        pair.run(20e3);
      }
      pair.run(2e6);
      assert.deepEqual(
        texts(pair.b.received[ORDERED]).map((text) => parseInt(text, 10)),
        [...Array(100).keys()],
        `seed ${seed}`,
      );
      total.lost += pair.a.link.outbound.packetsLost;
      total.resends += pair.a.link.outbound.resends;
      total.recovered += pair.b.link.inbound.blocksRecovered;
    }
    return total;
  });
  assert.equal(off.recovered, 0);
  assert(off.resends > 0.8 * off.lost, JSON.stringify(off));
  assert(parity.recovered > 0.7 * off.lost, JSON.stringify({ off, parity }));
  assert(parity.resends < 0.4 * off.resends, JSON.stringify({ off, parity }));
});

test("a tagged message's outcome says whether its packet arrived", () => {
  const pair = new Pair({ line: { latency: 20e3, loss: 0.2 }, seed: 7 });
  for (let tag = 0; tag < 200; tag++) {
    pair.a.send(UNRELIABLE, message(`${tag}`, 50), tag);
    pair.run(20e3);
  }
  pair.run(4e6);
  assert.equal(pair.a.outcomes.size, 200);
  const arrived = new Set(texts(pair.b.received[UNRELIABLE]).map((text) => parseInt(text, 10)));
  for (const [tag, isAcked] of pair.a.outcomes)
    if (isAcked) assert(arrived.has(tag), `${tag} was acknowledged`);
  const lost = [...pair.a.outcomes.values()].filter((isAcked) => !isAcked).length;
  assert(lost > 20 && lost < 80, `${lost} of 200 at 20 % loss`);
});

test("a sequenced message that was not sent is replaced, and its outcome is a loss", () => {
  const pair = new Pair();
  pair.a.send(SEQUENCED, message("old", 10), 1);
  pair.a.send(SEQUENCED, message("new", 10), 2);
  pair.run(200e3);
  assert.deepEqual(texts(pair.b.received[SEQUENCED]), ["new......."]);
  assert.deepEqual(
    [...pair.a.outcomes],
    [
      [1, false],
      [2, true],
    ],
  );
});

test("an application that does not poll is not flooded, and loses nothing of what is reliable", () => {
  const pair = new Pair({
    settings: { eventsQueuedMax: 16, eventBytesMax: 1 << 16 },
    line: { latency: 5e3 },
  });
  pair.isPolling = false;
  const expected = Array.from({ length: 300 }, (_, index) => message(`${index}`, 40));
  for (const each of expected) pair.a.send(ORDERED, each);
  pair.run(500e3);
  assert.equal(pair.b.inbox.messages, 16);
  assert(pair.b.link.packetsRefused > 0 || pair.b.link.inbound.waitingBytes > 0);
  pair.isPolling = true;
  assert(
    pair.runUntil(() => pair.b.received[ORDERED].length === 300, 30e6),
    `${pair.b.received[ORDERED].length} arrived`,
  );
  assert.deepEqual(texts(pair.b.received[ORDERED]), texts(expected));
});

test("a full channel says so instead of growing", () => {
  const pair = new Pair({ line: { loss: 1 } });
  assert.throws(
    () => {
      for (let count = 0; count < 100; count++) pair.a.send(ORDERED, new Uint8Array(60_000));
    },
    { name: "SendError", code: "Full" },
  );
  assert.throws(
    () => {
      for (let count = 0; count < 1e6; count++) pair.a.send(UNORDERED, new Uint8Array(0));
    },
    { name: "SendError", code: "Full" },
  );
  assert.throws(() => pair.a.send(ORDERED, new Uint8Array(65_537)), { name: "SendError", code: "TooLong" });
  assert.throws(() => pair.a.send(9, new Uint8Array(1)), { name: "SendError", code: "NoSuchChannel" });
  assert.throws(() => pair.a.send(ORDERED, new Uint8Array(1), 5), {
    name: "SendError",
    code: "TagOnReliable",
  });
});

test("silence ends both sides after the peer's timeout, and not before", () => {
  const pair = new Pair();
  pair.run(1e6);
  pair.toA.isUnplugged = pair.toB.isUnplugged = true;
  pair.run(8.5e6);
  assert(!pair.a.ended && !pair.b.ended);
  pair.run(2e6);
  for (const { ended } of [pair.a, pair.b]) {
    assert.equal(ended?.code, "Timeout");
    assert(ended.isResumable);
  }
});

test("a reliable message that nobody acknowledges ends the connection as undeliverable", () => {
  const pair = new Pair({ settings: { resendsMax: 5, peerTimeout: 600e6 } });
  pair.run(100e3);
  pair.toB.config = { ...pair.toB.config, loss: 1 };
  pair.a.send(ORDERED, message("lost", 10));
  pair.run(10e6);
  assert.equal(pair.a.ended?.code, "Undeliverable");
});

test("goodbye reaches the other side over a bad line, and both end", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const pair = new Pair({ line: { ...bad, loss: 0.3 }, seed });
    pair.run(500e3);
    pair.a.link.close("Kicked", pair.now);
    pair.run(3e6);
    assert.equal(pair.a.ended?.code, "Kicked", `seed ${seed}`);
    assert.equal(pair.b.ended?.code, "Kicked", `seed ${seed}`);
    assert(pair.a.link.isFinished(pair.now) && pair.b.link.isFinished(pair.now));
  }
});

test("a PathChallenge is answered with its bytes", () => {
  const pair = new Pair({ isSealed: true });
  pair.run(100e3);
  const challenge = pair.b.link.outbound.writeSmall(9, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), pair.now);
  assert(challenge);
  pair.a.handle(challenge.slice(), pair.now);
  const response = pair.a.link.poll(pair.now);
  assert(response);
  assert.equal(response[0] & 0x0f, 10);
  const payload = pair.b.link.session.openKey?.open(
    pair.a.link.outbound.sent.next - 1,
    response,
    response.length - 16 - 8,
    pair.b.link.opened,
  );
  assert.equal(payload, 8);
  assert.equal(toHex(pair.b.link.opened.subarray(0, 8)), "0102030405060708");
});

test("loss, round trip and jitter are measured as they are", () => {
  const pair = new Pair({ line: { latency: 60e3, jitter: 10e3, loss: 0.1 }, seed: 3 });
  for (let round = 0; round < 600; round++) {
    pair.a.send(SEQUENCED, message(`${round}`, 40));
    pair.b.send(UNRELIABLE, message(`${round}`, 200));
    pair.run(16e3);
  }
  const { rtt, loss } = pair.a.link.outbound.rate;
  assert(Math.abs(rtt.smoothed - 120e3) < 24e3, `round trip ${rtt.smoothed}`);
  assert(rtt.min > 95e3 && rtt.min < 125e3, `least round trip ${rtt.min}`);
  assert(rtt.jitter > 1e3 && rtt.jitter < 15e3, `jitter ${rtt.jitter}`);
  assert(loss > 0.03 && loss < 0.25, `loss ${loss}`);
  const { packetsLost, packetsSent } = pair.a.link.outbound;
  assert(Math.abs(packetsLost / packetsSent - 0.1) < 0.04, `${packetsLost} of ${packetsSent} packets lost`);
});

test("a narrow line is not flooded, and carries what it can", () => {
  const pair = new Pair({ line: { latency: 20e3, bytesPerSecond: 50_000, queueDelayMax: 1e6 }, seed: 4 });
  for (let second = 0; second < 20; second++) {
    while (pair.a.link.outbound.outbox.senders[ORDERED].pendingBytes < 200_000)
      pair.a.send(ORDERED, new Uint8Array(2000));
    pair.run(1e6);
  }
  const bytes = pair.b.received[ORDERED].length * 2000;
  assert(bytes > 20 * 50_000 * 0.5, `${bytes} bytes in 20 s over 50 kB/s`);
  assert(
    pair.toB.counters.lostInQueue < 0.05 * pair.toB.counters.sent,
    `${pair.toB.counters.lostInQueue} lost in the queue`,
  );
  assert.equal(pair.a.ended, null);
});

test("loss that has nothing to do with the rate does not wear it down", () => {
  const pair = new Pair({ line: { latency: 20e3, loss: 0.12 }, seed: 6 });
  for (let second = 0; second < 20; second++) {
    while (pair.a.link.outbound.outbox.senders[ORDERED].pendingBytes < 400_000)
      pair.a.send(ORDERED, new Uint8Array(2000));
    pair.run(1e6);
  }
  const bytes = pair.b.received[ORDERED].length * 2000;
  assert(bytes > 20 * 100_000, `${bytes} bytes in 20 s`);
});

test("over a stream nothing is lost, and a session lives on every named line", () => {
  for (const name of Object.keys(PRESETS)) {
    for (const isStream of [false, true]) {
      const pair = new Pair({ line: preset(name), isStream, isSealed: true, seed: 9 });
      for (let round = 0; round < 100; round++) {
        pair.a.send(ORDERED, message(`${round}`, 30));
        pair.run(20e3);
      }
      assert(
        pair.runUntil(() => pair.b.received[ORDERED].length === 100, 60e6),
        `${name}, stream ${isStream}`,
      );
      assert.equal(pair.a.ended ?? pair.b.ended, null);
    }
  }
});

test("a packet number that comes round 16 bits is understood", () => {
  const pair = new Pair({ isSealed: true, line: { latency: 1e3, loss: 0.1, jitter: 1e3 } });
  for (const end of [pair.a, pair.b]) {
    // As if so many packets that ask for nothing had gone before.
    for (let number = 0; number < 65_500; number++) end.link.outbound.sent.handleSent(20, false, 0);
  }
  for (let round = 0; round < 200; round++) {
    pair.a.send(ORDERED, message(`${round}`, 30));
    pair.run(10e3);
  }
  pair.run(2e6);
  assert.equal(pair.b.received[ORDERED].length, 200);
  assert(pair.a.link.outbound.sent.next > 65_700);
});

test("at a low rate what comes every frame does not keep a long message out", () => {
  const rate = { bytesPerSecondMax: 9_000, bytesPerSecondInitial: 9_000 };
  const pair = new Pair({ settings: { rate }, line: { latency: 20e3 } });
  pair.a.send(ORDERED, message("long", 8_000));
  for (let frame = 0; frame < 600; frame++) {
    pair.a.send(SEQUENCED, message(`input ${frame}`, 200));
    pair.run(16_667);
  }
  assert.equal(pair.b.received[ORDERED].length, 1);
  assert.ok(pair.b.received[SEQUENCED].length > 60, `${pair.b.received[SEQUENCED].length} inputs arrived`);
});

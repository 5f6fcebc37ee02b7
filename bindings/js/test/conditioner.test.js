import assert from "node:assert/strict";
import { test } from "node:test";
import { Conditioner } from "../src/transport/conditioner.js";
import { completeLine, Line, preset, PRESETS } from "../src/transport/line.js";
import { whileAwake } from "./drive.js";

const COUNT = 20_000;

/**
 * Sends numbered datagrams along a line, a millisecond apart; says which arrived, in order, and when.
 * @param {Line} line
 * @param {number} [count]
 */
function sendAlong(line, count = COUNT) {
  /** @type {{ index: number, delay: number }[]} */
  const arrivals = [];
  const take = (/** @type {number} */ now) =>
    line.release(now, (bytes) => {
      const index = bytes[0] | (bytes[1] << 8);
      arrivals.push({ index, delay: now - 1000 * index });
    });
  let now = 0;
  for (let index = 0; index < count; index++) {
    for (; line.nextAt <= 1000 * index; take(now)) now = line.nextAt;
    line.admit(Uint8Array.of(index, index >> 8, ...new Uint8Array(98)), 1000 * index);
  }
  for (; line.nextAt < Infinity; take(now)) now = line.nextAt;
  return arrivals;
}

test("a perfect line changes nothing", () => {
  const arrivals = sendAlong(new Line({}, false, 1), 1000);
  assert.deepEqual(
    arrivals.map(({ index }) => index),
    [...Array(1000).keys()],
  );
  assert(arrivals.every(({ delay }) => delay === 0));
});

test("latency and jitter are as set, and the same seed gives the same fate", () => {
  const line = { latency: 50e3, jitter: 20e3 };
  const arrivals = sendAlong(new Line(line, false, 2));
  const delays = arrivals.map(({ delay }) => delay);
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / COUNT;
  assert(Math.abs(mean - 50e3) < 500, `mean ${mean}`);
  assert(Math.min(...delays) >= 30e3 && Math.max(...delays) <= 70e3);
  assert(Math.min(...delays) < 31e3 && Math.max(...delays) > 69e3);
  assert(
    arrivals.some(({ index }, place) => place > 0 && index < arrivals[place - 1].index),
    "jitter reorders",
  );
  assert.deepEqual(sendAlong(new Line(line, false, 2)), arrivals);
  assert.notDeepEqual(sendAlong(new Line(line, false, 3)), arrivals);
});

for (const [field, loss, share] of /** @type {const} */ ([
  ["uniform", 0.1, 0.1],
  ["in bursts", { goodToBad: 0.04, badToGood: 0.25, lossGood: 0, lossBad: 0.75 }, (0.75 * 0.04) / 0.29],
])) {
  test(`loss ${field} loses what it says`, () => {
    const line = new Line({ loss }, false, 4);
    const lost = 1 - sendAlong(line).length / COUNT;
    assert(Math.abs(lost - share) < 0.01, `${lost}`);
    assert.equal(line.counters.lost, Math.round(lost * COUNT));
  });
}

test("duplicates, disorder and damage are as many as set", () => {
  const line = new Line({ duplicate: 0.1, reorder: 0.2, corrupt: 0.05, latency: 10e3 }, false, 5);
  let intact = 0;
  let cut = 0;
  const take = (/** @type {Uint8Array} */ bytes) => {
    if (bytes.length < 100) cut++;
    else if (bytes.every((byte) => byte === bytes[0])) intact++;
  };
  for (let index = 0; index < COUNT; index++) {
    line.admit(new Uint8Array(100).fill(index), 1000 * index);
    line.release(1000 * index, take);
  }
  line.release(Infinity, take);
  const { duplicated, heldBack, damaged, delivered } = line.counters;
  assert(Math.abs(duplicated / COUNT - 0.1) < 0.01, `${duplicated}`);
  assert(Math.abs(heldBack / delivered - 0.2) < 0.01, `${heldBack}`);
  assert(Math.abs(damaged / delivered - 0.05) < 0.01, `${damaged}`);
  assert.equal(delivered, COUNT + duplicated);
  assert.equal(intact, delivered - damaged);
  assert(cut > 0 && cut < damaged / 4);
});

test("switching one disturbance on leaves the others' decisions as they were", () => {
  const lostBy = (/** @type {object} */ line) => {
    const arrived = new Set(sendAlong(new Line(line, false, 6), 2000).map(({ index }) => index));
    return [...Array(2000).keys()].filter((index) => !arrived.has(index));
  };
  assert.deepEqual(lostBy({ loss: 0.1 }), lostBy({ loss: 0.1, duplicate: 0.5, latency: 20e3, jitter: 5e3 }));
});

test("a bottleneck delays by its queue and drops what does not fit", () => {
  const line = new Line({ bytesPerSecond: 64_000, queueDelayMax: 100e3 }, false, 7);
  const arrivals = sendAlong(line, 2000); // 128 bytes with headers each, 128 kB/s: twice what passes
  assert(Math.abs(arrivals.length / 2000 - 0.5) < 0.05, `${arrivals.length} passed`);
  assert(arrivals.every(({ delay }) => delay <= 102e3 + 1));
  assert(Math.max(...arrivals.map(({ delay }) => delay)) > 95e3);
  assert.equal(line.counters.lostInQueue, 2000 - arrivals.length);
});

test("on a stream a loss is a delay, and everything behind it waits as well", () => {
  const line = new Line({ loss: 0.01, latency: 30e3, jitter: 10e3, duplicate: 0.5, reorder: 0.5 }, true, 8);
  const arrivals = sendAlong(line);
  assert.deepEqual(
    arrivals.map(({ index }) => index),
    [...Array(COUNT).keys()],
  );
  assert(Math.abs(line.counters.heldBack / COUNT - 0.01) < 0.003);
  const late = arrivals.findIndex(({ delay }) => delay >= 200e3);
  assert(late > 0 && arrivals[late + 1].delay > 190e3, "the next one came no earlier");
  assert(Math.max(...arrivals.map(({ delay }) => delay)) <= 200e3 + 40e3 + 1);
});

test("a line holds no more than its limit", () => {
  const line = new Line({ latency: 60e6 }, false, 9);
  for (let index = 0; index < 10_000; index++) line.admit(new Uint8Array(10), index);
  assert.equal(line.onTheirWay.length, 4096);
  assert.equal(line.counters.lostInQueue, 10_000 - 4096);
});

test("every named line can be, and names are found however they are written", () => {
  assert.deepEqual(Object.keys(PRESETS), ["none", "home wifi", "4G", "transatlantic", "awful"]);
  for (const line of Object.values(PRESETS)) assert.deepEqual(completeLine(line), line);
  assert.equal(preset("Home-WiFi"), PRESETS["home wifi"]);
  assert.equal(preset(" 4g "), PRESETS["4G"]);
  assert.throws(() => preset("5G"), {
    name: "RangeError",
    message: /no line called "5G": choose one of none, home wifi/,
  });
  assert.throws(() => completeLine({ loss: 1.5 }), { message: "loss = 1.5 is not allowed: use 0 to 1" });
  assert.throws(() => completeLine({ jitter: 5 }), { message: "jitter = 5 is not allowed: use 0 to 0" });
});

/** A transport that brings back what it is given. */
class Echo {
  constructor() {
    this.mtu = 1200;
    this.reliable = this.ordered = this.secure = this.isCongested = false;
    /** @type {((bytes: Uint8Array) => void) | null} */
    this.onDatagram = null;
    /** @type {((reason: string) => void) | null} */
    this.onClose = null;
    this.isClosed = false;
    this.sent = 0;
  }

  /** @param {Uint8Array} bytes */
  send(bytes) {
    this.sent++;
    this.onDatagram?.(bytes);
  }

  close() {
    this.isClosed = true;
  }
}

test(
  "around a transport, a round trip takes twice the latency; it changes while it runs",
  whileAwake(async () => {
    const line = new Conditioner(new Echo(), {
      outgoing: { latency: 30e3 },
      incoming: { latency: 30e3 },
      seed: 1,
    });
    const roundTrip = () =>
      new Promise((/** @type {(ms: number) => void} */ resolve) => {
        const start = performance.now();
        line.onDatagram = () => resolve(performance.now() - start);
        line.send(Uint8Array.of(1));
      });
    const first = await roundTrip();
    assert(first >= 59 && first < 90, `${first} ms`);
    line.setLine({ latency: 5e3 });
    const second = await roundTrip();
    assert(second >= 9 && second < 40, `${second} ms`);
    line.close();
  }),
);

test(
  "a transport that closes is told of when what it delivered before has arrived",
  whileAwake(async () => {
    const echo = new Echo();
    const line = new Conditioner(echo, { incoming: { latency: 20e3 }, seed: 1 });
    /** @type {string[]} */
    const told = [];
    line.onDatagram = (bytes) => told.push(`datagram ${bytes[0]}`);
    const closed = new Promise((resolve) => (line.onClose = resolve));
    echo.onDatagram?.(Uint8Array.of(7));
    echo.onClose?.("gone");
    assert.deepEqual(told, []);
    assert.equal(await closed, "gone");
    assert.deepEqual(told, ["datagram 7"]);
  }),
);

test("unplugged nothing passes; closing lets go of what was on its way", () => {
  const echo = new Echo();
  const line = new Conditioner(echo, { outgoing: { latency: 1e6 }, seed: 1 });
  line.setUnplugged(true);
  line.send(Uint8Array.of(1));
  line.setUnplugged(false);
  line.send(Uint8Array.of(2));
  assert.equal(echo.sent, 0);
  line.close();
  assert.equal(echo.sent, 1);
  assert(echo.isClosed);
});

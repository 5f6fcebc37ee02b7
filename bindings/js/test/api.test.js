/** What surrounds a connection: addresses, what is kept over a reload, events, declarations. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Emitter } from "../src/api/emitter.js";
import { ResumeStore } from "../src/api/resume_store.js";
import { findServer, routesOf, tableOf } from "../src/api/server_info.js";
import { connect, defineProtocol, field } from "../src/index.js";
import { BitWriter } from "../src/wire/bits.js";
import { tour } from "./tour.js";

/** @implements {Pick<Storage, "getItem" | "setItem" | "removeItem">} */
class FakeStorage {
  /** @type {Map<string, string>} */
  items = new Map();

  /** @param {string} key */
  getItem(key) {
    return this.items.get(key) ?? null;
  }

  /** @param {string} key @param {string} value */
  setItem(key, value) {
    this.items.set(key, value);
  }

  /** @param {string} key */
  removeItem(key) {
    this.items.delete(key);
  }
}

test("addresses lead to transports, the best first", async () => {
  assert.deepEqual(await findServer("ws://127.0.0.1:7778/netloom", tour), {
    routes: [{ transport: "websocket", url: "ws://127.0.0.1:7778/netloom" }],
    table: null,
  });
  assert.deepEqual(await findServer("udp://[::1]:7777", tour), {
    routes: [{ transport: "udp", host: "::1", port: 7777 }],
    table: null,
  });
  const document = {
    webtransport: { url: "https://127.0.0.1:4433/netloom", certificateHashes: ["AQID"] },
    websocket: { url: "/netloom" },
  };
  assert.deepEqual(routesOf(document, new URL("ws://127.0.0.1:80/x")), [
    {
      transport: "webtransport",
      url: "https://127.0.0.1:4433/netloom",
      certificateHashes: [Uint8Array.of(1, 2, 3)],
    },
    { transport: "websocket", url: "ws://127.0.0.1/netloom" },
  ]);
  for (const [address, code] of [
    ["nowhere", "address"],
    ["ftp://x", "address"],
    ["udp://host", "address"],
  ]) {
    await assert.rejects(findServer(address, tour), { code }, address);
  }
});

test("code tables are taken from beside the document, and from nowhere else", () => {
  const base = new URL("https://game.example/play");
  const of = (/** @type {any} */ table) => tableOf({ table }, base);
  const url = new URL("https://game.example/netloom-7.table");
  assert.deepEqual(of({ id: 7, url: "/netloom-7.table" }), { id: 7, url });
  for (const none of [undefined, null, {}, { id: "7", url: "/x" }, { id: 7 }]) assert.equal(of(none), null);
  assert.throws(() => of({ id: 7, url: "https://evil.example/x.table" }), { code: "unreachable" });
});

test("a server's document may be anything, and says so where it helps nobody", async () => {
  let answer = "{}";
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end(answer));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
  try {
    for (const wrong of [
      "{}",
      "null",
      "[1]",
      "not json",
      '{"websocket":{"url":5}}',
      `"${"x".repeat(70_000)}"`,
      '{"webtransport":{"url":"https://x","certificateHashes":["*"]}}',
    ]) {
      answer = wrong;
      await assert.rejects(
        connect(address, { protocol: tour }),
        { name: "NetloomError", code: "unreachable" },
        wrong.slice(0, 50),
      );
    }
    answer = '{"game":{"name":"chess","version":1},"websocket":{"url":"ws://127.0.0.1:1"}}';
    await assert.rejects(connect(address, { protocol: tour }), { code: "protocol", message: /serves "chess" version 1/ });
    status = 404;
    await assert.rejects(connect(address, { protocol: tour }), /it answers 404/);
  } finally {
    server.close();
  }
  await assert.rejects(connect(address, { protocol: tour }), { code: "unreachable" }, "nobody is there");
});

test("what cannot be is named before anything is sent", async () => {
  await assert.rejects(connect("ws://127.0.0.1:1", /** @type {any} */ ({})), /options.protocol is missing/);
  await assert.rejects(
    connect("ws://127.0.0.1:1", { protocol: tour, interpolationDelayMs: 5 }),
    /use 50 to 500/,
  );
  await assert.rejects(
    connect("ws://127.0.0.1:1", { protocol: tour, reconnect: /** @type {any} */ ("yes") }),
    /use resume, always, never/,
  );
  await assert.rejects(connect("ws://127.0.0.1:1", { protocol: tour, name: "x".repeat(65) }), {
    code: "setting",
  });
  assert.throws(() => defineProtocol(""), { code: "setting" });
  assert.throws(() => defineProtocol("g", { objects: { A: {} } }), { code: "setting" });
  assert.throws(
    () => defineProtocol("g", { objects: { A: { at: /** @type {any} */ ("position") } } }),
    /A.at must be one of field/,
  );
  assert.throws(
    () => defineProtocol("g", { input: { name: field.text(5) } }),
    /input.name must be a number of fixed width/,
  );
  assert.throws(() => field.range(0, 1, 0.3), /one over a whole number/);
  assert.throws(() => field.choice("only"), { code: "setting" });
});

test("inputs have as many bits as their fields need, and end where their ranges do", () => {
  const { input } = defineProtocol("g", {
    input: { x: field.int(-1, 1), fire: field.bool(), aim: field.range(-1, 1, 0.5) },
  });
  assert.equal(input.bitsMax, 2 + 1 + 3);
  const written = (/** @type {any} */ value) => {
    const writer = new BitWriter(8);
    input.write(value, writer);
    return [writer.at, writer.written()[0]];
  };
  assert.deepEqual(written({ x: 1, fire: true, aim: 1 }), [6, 0b100_1_10]);
  assert.deepEqual(written({ x: 99, fire: 1, aim: -99 }), [6, 0b000_1_10]);
  assert.deepEqual(written({}), [6, 0b010_0_01], "nothing is zero");
  assert.deepEqual(written({ x: NaN, aim: NaN }), [6, 0b010_0_01]);
});

test("a token is kept once, for a minute, and storage that fails is none", () => {
  const storage = new FakeStorage();
  const store = new ResumeStore(storage, "here");
  const token = Uint8Array.from({ length: 32 }, (_, at) => at);
  assert.equal(store.take(0), null);
  store.keep(token, 1_000);
  assert.equal(new ResumeStore(storage, "there").take(1_000), null, "another server");
  assert.deepEqual(store.take(60_000), token);
  assert.equal(store.take(60_000), null, "it is good once");
  store.keep(token, 1_000);
  assert.equal(store.take(61_001), null, "too old");
  store.keep(token, 1_000);
  assert.equal(store.take(0), null, "a clock that went back");
  for (const text of ["", "{", "null", "5", '{"token":"zz","atMs":0}', '{"token":5,"atMs":0}']) {
    storage.setItem("netloom.resume here", text);
    assert.equal(store.take(0), null, text);
  }
  const broken = new ResumeStore(
    /** @type {any} */ ({ getItem: () => assert.fail(), setItem: null }),
    "here",
  );
  broken.keep(token, 0);
  broken.forget();
  assert.equal(broken.take(0), null);
  assert.equal(new ResumeStore(null, "here").take(0), null);
});

test("one handler's mistake is reported and keeps nobody from hearing", () => {
  /** @type {Emitter<{ tick: [number] }>} */
  const emitter = new Emitter();
  /** @type {unknown[]} */
  const reported = [];
  const before = globalThis.reportError;
  globalThis.reportError = (error) => void reported.push(error);
  try {
    const heard = /** @type {number[]} */ ([]);
    emitter.on("tick", () => {
      throw new Error("mine");
    });
    const off = emitter.on("tick", (value) => heard.push(value));
    emitter.once("tick", (value) => heard.push(-value));
    emitter.emit("tick", 1);
    emitter.emit("tick", 2);
    off();
    emitter.emit("tick", 3);
    assert.deepEqual(heard, [1, -1, 2]);
    assert.equal(reported.length, 3);
  } finally {
    globalThis.reportError = before;
  }
});

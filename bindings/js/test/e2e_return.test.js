/** Coming back: after a silence, a sleep, a reload of the page, and a restart of the server. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { connect } from "../src/node/index.js";
import { eventually, heard } from "./expect.js";
import { addressOf, startTour } from "./servers.js";
import { tour } from "./tour.js";

/** @typedef {import("../src/index.js").Client} Client */

const realNow = performance.now.bind(performance);
/** By how much time has jumped. */
let jumpMs = 0;
performance.now = () => realNow() + jumpMs;

/** @type {(() => unknown)[]} */
const ends = [];
afterEach(async () => {
  while (ends.length > 0) await ends.pop()?.();
});

/** @param {"udp" | "ws"} scheme @param {string} [address] */
async function serve(scheme, address = `${scheme}://127.0.0.1:0`) {
  const server = await startTour([address]);
  ends.push(() => server.stop());
  return server;
}

/** @param {string} address @param {object} [options] */
async function join(address, options = {}) {
  const client = await connect(address, { protocol: tour, name: "Ada", ...options });
  ends.push(() => client.close());
  return client;
}

/** @param {Client} client */
const isWhole = (client) => client.state === "connected" && [...client.objects("Ball")].length === 200;

for (const scheme of /** @type {const} */ (["udp", "ws"])) {
  test(`a client that slept for a minute has its seat again, over ${scheme}`, async () => {
    const server = await serve(scheme);
    const client = await join(addressOf(server, scheme));
    await eventually(() => isWhole(client) && client.own() !== undefined, "the world is here");
    const [player, walker] = [client.player, client.own()];
    /** @type {string[]} */
    const states = [];
    client.on("state", (state) => states.push(state));
    const left = heard(client, "leave", (object) => object === walker);
    const back = heard(client, "welcome");
    const lost = heard(client, "lost");
    // Nothing that arrives meanwhile is looked at.
    client.lab.unplug();
    jumpMs += 55_000;
    await lost;
    client.lab.off();
    assert.equal((await back).isResumed, true);
    await left;
    assert.deepEqual(states, ["reconnecting", "connected"]);
    assert.equal(client.player, player, "the same player");
    await eventually(() => isWhole(client) && client.own() !== undefined, "the world is here again");
    assert.notEqual(client.own(), walker, "objects are told anew");
    assert.deepEqual((await client.request("add", [1, 1], { answer: "sum" })).args, [2]);
  });
}

test("a stream that breaks is replaced by another, and the seat is the same", async () => {
  const server = await serve("ws");
  const client = await join(addressOf(server, "ws"));
  const { player } = client;
  const back = heard(client, "welcome");
  client.lab.unplug();
  jumpMs += 11_000;
  await heard(client, "lost");
  assert.equal(client.state, "reconnecting");
  assert.throws(() => client.chat("anybody?"), { code: "no-seat" });
  client.lab.off();
  assert.equal((await back).isResumed, true);
  assert.equal(client.player, player);
});

test("without reconnecting a lost connection is the end", async () => {
  const server = await serve("udp");
  const client = await join(addressOf(server, "udp"), { reconnect: "never" });
  client.lab.unplug();
  jumpMs += 11_000;
  const error = await client.closed;
  assert.deepEqual([error.code, error.reason], ["lost", "Timeout"]);
});

test("a server that is restarted is waited for, if that is wanted", async () => {
  const first = await startTour(["ws://127.0.0.1:0"]);
  const address = addressOf(first, "ws");
  const client = await join(address, { reconnect: "always" });
  await eventually(() => isWhole(client), "the world is here");
  const lost = heard(client, "lost");
  first.say("stop");
  assert.equal((await lost).code, "shutdown");
  assert.equal(client.state, "reconnecting");
  assert.equal([...client.objects()].length, 0);
  await first.stop();
  const back = heard(client, "welcome");
  await serve("ws", address.replace("/netloom", ""));
  assert.equal((await back).isResumed, false, "it is another server");
  await eventually(() => isWhole(client), "its world is here");
});

test("closing while a way is being looked for ends at once", async () => {
  const first = await startTour(["ws://127.0.0.1:0"]);
  const client = await join(addressOf(first, "ws"), { reconnect: "always" });
  first.say("stop");
  await heard(client, "lost");
  assert.equal((await client.close()).code, "closed");
  assert.equal(client.state, "disconnected");
  await first.stop();
});

test("a page that is reloaded has its seat again, and a copy of its tab has not", async () => {
  const page = new EventTarget();
  Object.assign(globalThis, {
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
  });
  /** @type {Map<string, string>} */
  const items = new Map();
  const storage = {
    getItem: (/** @type {string} */ key) => items.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void items.set(key, value),
    removeItem: (/** @type {string} */ key) => void items.delete(key),
  };
  try {
    const server = await serve("ws");
    const address = addressOf(server, "ws");
    const before = await join(address, { storage });
    const { player } = before;
    const copy = await join(address, { storage });
    assert.notEqual(copy.player, player, "a copy of the tab while the first one is there");
    await copy.close();
    page.dispatchEvent(new Event("pagehide"));
    assert.equal(items.size, 1, "the token is left behind");
    before.lab.unplug();
    const next = await join(address, { storage });
    assert.equal(next.player, player);
    assert.equal(items.size, 0, "it is used up");
    page.dispatchEvent(new Event("pagehide"));
    page.dispatchEvent(new Event("pageshow"));
    assert.equal(items.size, 0, "the page came back from the cache");
    storage.setItem(
      "netloom.resume " + `${address} tour `,
      JSON.stringify({ token: "00".repeat(32), atMs: Date.now() }),
    );
    const other = await join(address, { storage });
    assert.notEqual(other.player, player, "a token of nobody gives another seat");
  } finally {
    Object.assign(globalThis, { addEventListener: undefined, removeEventListener: undefined });
  }
});

test("the lab makes a line as bad as it is told to", async () => {
  const server = await serve("udp");
  const client = await join(addressOf(server, "udp"), { lab: { latencyMs: 60, jitterMs: 5 } });
  await eventually(() => client.stats().packetsReceived > 60, "a while");
  const { pingMs } = client.stats();
  assert.ok(pingMs > 110 && pingMs < 180, `a round trip of ${pingMs} ms`);
  client.lab.set({ outgoing: { lossPercent: 5 }, incoming: { latencyMs: 10 } });
  assert.deepEqual(
    [client.lab.settings.outgoing.lossPercent, client.lab.settings.incoming.latencyMs],
    [5, 10],
  );
  client.lab.preset("awful");
  await eventually(() => isWhole(client), "the world comes over an awful line as well");
  assert.throws(() => client.lab.preset("perfect"), { code: "setting" });
  assert.throws(() => client.lab.set({ lossPercent: 101 }), { code: "setting" });
  client.lab.off();
});

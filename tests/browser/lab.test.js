/** The net lab: what its sliders say is what happens to packets, as measured by the connection itself. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, joined, measured, openPage, shoot, slide, useBrowser } from "./browser.js";
import { serve } from "./server.js";

/** Packets that a share of them is told by: enough for ± 20 % of it to be beyond chance. */
const PACKETS_UP = 1_200;
const PACKETS_DOWN = 450;

useBrowser();
/** @type {import("./server.js").Served} */
let server;
before(async () => {
  server = await serve();
});
after(() => server.stop());

/** @param {number} value @param {number} wanted */
const isNear = (value, wanted) => Math.abs(value - wanted) <= 0.2 * wanted;

test("latency up and down is in the round trip, within a fifth", async () => {
  const { page, mistakes } = await openPage(server, { query: "?name=Ada" });
  await joined(page);
  const before = await measured(page);
  assert.ok(before.pingMs < 100, `${before.pingMs} ms without the lab`);
  await slide(page, "both", { latencyMs: 150 });
  assert.equal(await page.inputValue("#preset"), "your own");
  await eventually(
    () => measured(page),
    ({ pingMs }) => isNear(pingMs, 300),
    "150 ms each way",
  );
  await slide(page, "outgoing", { latencyMs: 0 });
  await eventually(
    () => measured(page),
    ({ pingMs }) => isNear(pingMs, 150),
    "150 ms down only",
  );
  await slide(page, "both", { latencyMs: 100, jitterMs: 60 });
  await eventually(
    () => measured(page),
    ({ jitterMs }) => jitterMs > 15,
    "jitter",
  );
  await page.click("#lab-off");
  await eventually(
    () => measured(page),
    ({ pingMs }) => pingMs < 100,
    "a good line again",
  );
  assert.deepEqual(mistakes, []);
  await page.close();
});

test("loss in each direction is measured as set, within a fifth, and the graph says so", async () => {
  const { page, mistakes } = await openPage(server, { query: "?name=Bob" });
  await joined(page);
  await slide(page, "outgoing", { lossPercent: 20 });
  await slide(page, "incoming", { lossPercent: 40 });
  const first = await measured(page);
  const last = await eventually(
    () => measured(page),
    (now) => {
      return (
        now.packetsSent - first.packetsSent >= PACKETS_UP &&
        now.packetsReceived + now.packetsMissing - first.packetsReceived - first.packetsMissing >=
          PACKETS_DOWN
      );
    },
    "enough packets",
    90_000,
  );
  const sent = last.packetsSent - first.packetsSent;
  const up = (100 * (last.packetsLost - first.packetsLost)) / sent;
  assert.ok(isNear(up, 20), `${up} % of ${sent} packets up`);
  const missing = last.packetsMissing - first.packetsMissing;
  const down = (100 * missing) / (last.packetsReceived - first.packetsReceived + missing);
  assert.ok(isNear(down, 40), `${down} % down`);
  // The graph shows the last ten seconds, in which chance has more of a say.
  assert.ok(Math.abs(last.upPercent - 20) < 8 && Math.abs(last.downPercent - 40) < 16, JSON.stringify(last));
  await shoot(page, "loss");
  assert.deepEqual(mistakes, []);
  await page.close();
});

test("a line by its name is in the sliders, and without the plug there is silence", async () => {
  const { page, mistakes } = await openPage(server, { query: "?name=Cleo" });
  await joined(page);
  await page.selectOption("#preset", "transatlantic");
  assert.equal(await page.inputValue("#latencyMs"), "45");
  await eventually(
    () => measured(page),
    ({ pingMs }) => isNear(pingMs, 90),
    "across the ocean",
  );
  await page.click("#unplug");
  assert.equal(await page.getAttribute("#unplug", "aria-pressed"), "true");
  await eventually(
    () => measured(page),
    ({ snapshotAgeMs }) => snapshotAgeMs > 1_000,
    "silence",
  );
  await page.click("#unplug");
  await eventually(
    () => measured(page),
    ({ state, snapshotAgeMs }) => state === "connected" && snapshotAgeMs < 200,
    "back",
  );
  assert.deepEqual(mistakes, []);
  await page.close();
});

test("the page says that a WebSocket loses nothing", async () => {
  const { page } = await openPage(server, { query: "?name=Dan&transport=websocket&lab=awful" });
  await joined(page);
  assert.equal(await page.inputValue("#preset"), "awful");
  assert.match(/** @type {string} */ (await page.textContent("#lab-note")), /comes late instead/);
  await page.close();
});

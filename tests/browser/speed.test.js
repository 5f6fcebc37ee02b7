/** How much of a frame the page takes, and how little it takes to come. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, joined, measured, openPage, shoot, useBrowser } from "./browser.js";
import { serve } from "./server.js";

const FRAMES = 300;
const SCRIPT_MS_MAX = 4;

useBrowser();

test("a thousand visible objects take less than 4 ms of script per frame", async (context) => {
  const server = await serve({
    settings: { NETLOOM_ROOM_THINGS: "1000", NETLOOM_CONNECTION_BANDWIDTH_BUDGET_KBPS: "2048" },
  });
  try {
    const { page, mistakes } = await openPage(server);
    await joined(page);
    await eventually(() => measured(page), ({ objects }) => objects === 1_001, "all are here");
    const frames = () => page.evaluate(() => {
      const { frames: { count, median }, view: { zoom } } = /** @type {any} */ (globalThis).netloom;
      return { count, median, zoom };
    });
    const browser = await page.context().newCDPSession(page);
    await browser.send("Performance.enable");
    const scriptSeconds = async () => {
      const { metrics } = await browser.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "ScriptDuration")?.value ?? NaN;
    };
    const [first, secondsBefore] = [await frames(), await scriptSeconds()];
    assert.equal(first.zoom, 1, "the whole yard is in view");
    const last = await eventually(frames, ({ count }) => count >= first.count + FRAMES, "frames");
    const all = ((await scriptSeconds()) - secondsBefore) * 1_000 / (last.count - first.count);
    context.diagnostic(`${last.median.toFixed(1)} ms a frame (median), ${all.toFixed(2)} ms with all that happens between frames (mean)`);
    assert.ok(last.median < SCRIPT_MS_MAX, `${last.median} ms`);
    await shoot(page, "thousand");
    assert.deepEqual(mistakes, []);
    await page.close();
  } finally {
    await server.stop();
  }
});

test("the page is painted within a second, and is less than 150 kB", async (context) => {
  const server = await serve();
  try {
    const { page } = await openPage(server);
    await joined(page);
    const came = await page.evaluate(() => {
      const loaded = /** @type {PerformanceResourceTiming[]} */ ([
        ...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource"),
      ]);
      const paints = Object.fromEntries(performance.getEntriesByType("paint").map(({ name, startTime }) => [name, startTime]));
      return { paintMs: paints["first-contentful-paint"], bytes: loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0), files: loaded.length };
    });
    context.diagnostic(JSON.stringify(came));
    assert.ok(came.paintMs < 1_000, `${came.paintMs} ms`);
    assert.ok(came.files > 50 && came.bytes > 50_000 && came.bytes < 150_000, JSON.stringify(came));
    await page.close();
  } finally {
    await server.stop();
  }
});

/** How much of a frame the page takes, and how little it takes to come. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, joined, measured, openPage, shoot, useBrowser } from "./browser.js";
import { serve } from "./server.js";

const FRAMES = 300;
const SCRIPT_MS_MAX = 4;
/** What the browser calls the running of scripts. */
const SCRIPTS = new Set([
  "FireAnimationFrame",
  "FunctionCall",
  "RunMicrotasks",
  "TimerFire",
  "EventDispatch",
  "EvaluateScript",
]);

useBrowser();

/**
 * How long scripts ran from each frame to the next, in milliseconds, by what the browser recorded: what
 * arrives is read between frames, and is to be paid for as well.
 * @param {{ name: string, ph: string, ts: number, dur?: number, pid: number, tid: number }[]} events
 */
function scriptPerFrame(events) {
  const frames = events.filter(({ name }) => name === "FireAnimationFrame");
  const [{ pid, tid }] = frames;
  const scripts = events
    .filter((event) => SCRIPTS.has(event.name) && event.ph === "X" && event.pid === pid && event.tid === tid)
    .sort((one, other) => one.ts - other.ts);
  const begins = frames.map(({ ts }) => ts).sort((one, other) => one - other);
  const perFrame = begins.slice(1).map(() => 0);
  let frame = 0;
  let end = 0;
  for (const { ts, dur = 0 } of scripts) {
    while (frame < begins.length && ts >= begins[frame]) frame++;
    // One that runs inside another is counted with it.
    if (frame >= 1 && frame < begins.length && ts >= end) perFrame[frame - 1] += dur / 1_000;
    end = Math.max(end, ts + dur);
  }
  return perFrame;
}

test("a thousand visible objects take less than 4 ms of script per frame", async (context) => {
  const server = await serve({
    settings: { NETLOOM_ROOM_THINGS: "1000", NETLOOM_CONNECTION_BANDWIDTH_BUDGET_KBPS: "2048" },
  });
  try {
    const { page, mistakes } = await openPage(server);
    await joined(page);
    await eventually(
      () => measured(page),
      ({ objects }) => objects === 1_001,
      "all are here",
    );
    const frames = () =>
      page.evaluate(() => {
        const {
          frames: { count, median },
          view: { zoom },
        } = /** @type {any} */ (globalThis).netloom;
        return { count, median, zoom };
      });
    const first = await frames();
    assert.equal(first.zoom, 1, "the whole yard is in view");
    const browser = /** @type {import("playwright-core").Browser} */ (page.context().browser());
    await browser.startTracing(page, { categories: ["devtools.timeline"] });
    const last = await eventually(frames, ({ count }) => count >= first.count + FRAMES, "frames");
    const all = scriptPerFrame(JSON.parse((await browser.stopTracing()).toString()).traceEvents);
    const median = all.sort((one, other) => one - other)[all.length >> 1];
    context.diagnostic(
      `${last.median.toFixed(1)} ms in a frame, ${median.toFixed(2)} ms with what happens between frames: medians`,
    );
    assert.ok(all.length >= FRAMES - 10, `${all.length} frames`);
    assert.ok(last.median < SCRIPT_MS_MAX && median < SCRIPT_MS_MAX, `${last.median} and ${median} ms`);
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
        ...performance.getEntriesByType("navigation"),
        ...performance.getEntriesByType("resource"),
      ]);
      const paints = Object.fromEntries(
        performance.getEntriesByType("paint").map(({ name, startTime }) => [name, startTime]),
      );
      return {
        paintMs: paints["first-contentful-paint"],
        bytes: loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
        files: loaded.length,
      };
    });
    context.diagnostic(JSON.stringify(came));
    assert.ok(came.paintMs < 1_000, `${came.paintMs} ms`);
    assert.ok(came.files > 50 && came.bytes > 50_000 && came.bytes < 150_000, JSON.stringify(came));
    await page.close();
  } finally {
    await server.stop();
  }
});

/** Beams over a bad line: they hit what their players saw, and without lag compensation they miss it. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, newWindow, shoot, useBrowser } from "./browser.js";
import { serveRtype } from "./rtype.js";
import { BAD_LINE, enterLobby, pause, takeOff } from "./rtype_log.js";

/** @typedef {import("playwright-core").Page} Page */

/** Ships that play at once, each in a lane of weavers of its own, half of them with lag compensation. */
const SHIPS = 4;
const BEAMS_MIN = 25;
const PATIENCE_MS = 90_000;
/** Until a line is known as it is. */
const SETTLE_MS = 3_000;

useBrowser();
/** @type {Awaited<ReturnType<typeof serveRtype>>} */
let server;
before(async () => {
  server = await serveRtype({
    levels: "weavers",
    settings: { NETLOOM_RTYPE_MIN_PLAYERS: String(SHIPS) },
  });
});
after(() => server.stop());

/**
 * Fires whenever an enemy, as it is shown, crosses the line of the own ship.
 * @param {Page} page
 */
function fireAtWill(page) {
  return page.evaluate(() => {
    const { frames } = /** @type {any} */ (globalThis).netloomFrames;
    const isInLine = (/** @type {{ x: number, y: number }} */ own, /** @type {any} */ { kind, x, y }) =>
      kind === "enemy" && Math.abs(y - own.y) <= 8 && x > own.x + 100 && x < 1_500;
    const look = () => {
      requestAnimationFrame(look);
      const { own, others } = frames.at(-1);
      const wants = own !== null && others.some((/** @type {any} */ other) => isInLine(own, other));
      const type = wants ? "keydown" : "keyup";
      document.body.dispatchEvent(new KeyboardEvent(type, { code: "ShiftLeft", bubbles: true }));
    };
    look();
  });
}

/**
 * How many each beam hit, by what the server told who fired it.
 * @param {Page} page
 * @returns {Promise<number[]>}
 */
function hitsOf(page) {
  return page.evaluate(() => {
    const { events } = /** @type {any} */ (globalThis).netloomFrames;
    const told = events.filter((/** @type {any} */ { type }) => type === "beam_hits");
    return told.map((/** @type {any} */ { args }) => args[0]);
  });
}

test("beams hit at least twice as often with lag compensation", async (context) => {
  /** @type {Page[]} */
  const pages = [];
  for (let ship = 0; ship < SHIPS; ship++) {
    const window = await newWindow({ viewport: { width: 400, height: 300 } });
    const { page } = await enterLobby(server, `Ada${ship}`, { line: BAD_LINE, window });
    if (ship % 2 === 1) await page.uncheck("#lag-compensation");
    pages.push(page);
  }
  for (const page of pages) await page.click("#ready");
  for (const page of pages) await takeOff(page);
  await pause(SETTLE_MS);
  for (const page of pages) await fireAtWill(page);

  const [on, off] = await eventually(
    async () => {
      const hits = await Promise.all(pages.map(hitsOf));
      return [0, 1].map((half) => hits.filter((_, ship) => ship % 2 === half).flat());
    },
    (halves) => halves.every(({ length }) => length >= BEAMS_MIN),
    "beams",
    PATIENCE_MS,
  );
  await shoot(pages[0], "rtype-beam");
  const rate = (/** @type {number[]} */ hits) => hits.filter((count) => count > 0).length / hits.length;
  context.diagnostic(
    `with lag compensation ${(100 * rate(on)).toFixed(0)} % of ${on.length} beams hit, ` +
      `without ${(100 * rate(off)).toFixed(0)} % of ${off.length}`,
  );
  assert.ok(rate(on) >= 0.5, `${rate(on)} of the beams hit what was shown`);
  assert.ok(rate(on) >= 2 * rate(off), `${rate(on)} with, ${rate(off)} without`);
  for (const page of pages) await page.context().close();
});

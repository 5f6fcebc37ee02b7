/**
 * Beams over a bad line: they hit what their players saw, and without lag compensation they miss it.
 *
 * Four players in one page that draws nothing: what is judged is what they are shown, not how fast this
 * machine draws four games.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, newWindow, useBrowser } from "./browser.js";
import { serveRtype } from "./rtype.js";
import { BAD_LINE } from "./rtype_log.js";

/** @typedef {import("playwright-core").Page} Page */

/** Ships that play at once, each in a lane of weavers of its own, half of them with lag compensation. */
const SHIPS = 4;
const BEAMS_MIN = 25;
const PATIENCE_MS = 120_000;

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
 * Has players fire whenever an enemy, as it is shown to them, crosses the line of their ship.
 * @param {Page} page
 */
function play(page) {
  return page.evaluate(
    async ({ line, ships }) => {
      const load = (/** @type {string} */ path) => import(path);
      const { Client } = await load("/netloom/index.js");
      const { rtype } = await load("/rtype/protocol.js");
      const { Button } = await load("/rtype/rules/kinds.js");
      const isInLine = (/** @type {number[]} */ own, /** @type {number[]} */ [x, y]) =>
        Math.abs(y - own[1]) <= 0.08 && x > own[0] + 1 && x < 15;
      /** @type {number[][]} */
      const hits = Array.from({ length: ships }, () => []);
      const clients = hits.map((told, ship) => {
        const client = new Client(location.origin, { protocol: rtype, name: `Ada${ship}` });
        client.lab.set({ ...line, seed: ship });
        client.setInput(() => {
          const own = client.own("Ship")?.position;
          const targets = own === undefined ? [] : [...client.objects("Enemy")];
          return { buttons: targets.some(({ position }) => isInLine(own, position)) ? Button.BEAM : 0 };
        });
        client.on("call", (/** @type {any} */ { name, args }) => {
          if (name === "beam_hits") told.push(args[0]);
        });
        return client;
      });
      await Promise.all(clients.map((client) => client.open()));
      for (const [ship, client] of clients.entries()) {
        client.call("lag_compensation", [ship % 2 === 0]);
        client.lobby.ready();
      }
      requestAnimationFrame(function frame(now) {
        for (const client of clients) client.update(now);
        requestAnimationFrame(frame);
      });
      Object.assign(globalThis, { hits });
    },
    { line: BAD_LINE, ships: SHIPS },
  );
}

/** @param {number[]} hits how many each beam hit */
function rate(hits) {
  return hits.filter((count) => count > 0).length / hits.length;
}

test("beams hit at least twice as often with lag compensation", async (context) => {
  const window = await newWindow();
  const page = await window.newPage();
  await page.goto(`${server.page}/netloom/index.js`);
  await play(page);
  const [on, off] = await eventually(
    async () => {
      /** @type {number[][]} */
      const hits = await page.evaluate(() => /** @type {any} */ (globalThis).hits);
      return [0, 1].map((half) => hits.filter((_, ship) => ship % 2 === half).flat());
    },
    (halves) => halves.every(({ length }) => length >= BEAMS_MIN),
    "beams",
    PATIENCE_MS,
  );
  context.diagnostic(
    `with lag compensation ${(100 * rate(on)).toFixed(0)} % of ${on.length} beams hit, ` +
      `without ${(100 * rate(off)).toFixed(0)} % of ${off.length}`,
  );
  assert.ok(rate(on) >= 0.5, `${rate(on)} of the beams hit what was shown`);
  assert.ok(rate(on) >= 2 * rate(off), `${rate(on)} with, ${rate(off)} without`);
  await window.close();
});

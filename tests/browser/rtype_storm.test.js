/**
 * What a busy level costs on the wire: four players in a storm, what flew there by what was true, and what
 * was sent and received by the server's own count of every byte.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newWindow, shoot, useBrowser } from "./browser.js";
import { serveRtype } from "./rtype.js";
import { enterLobby, pause, takeOff } from "./rtype_log.js";
import { sendBots } from "./server.js";

/** @typedef {import("./rtype.js").TruthStep} TruthStep */

/** How long is measured. */
const SECONDS = Number(process.env.NETLOOM_STORM_SECONDS ?? 15);
const PLAYERS = 4;
const STORM_LEVEL = 4;
/** Until the field is full. */
const SETTLE_MS = 5_000;
/** Bytes of datagrams a second and player, at most. */
const DOWN_MAX = 10_000;
const UP_MAX = 3_000;
/** Things that move at all times, those that come or go a second, and steps a second, at least. */
const MOVERS_MIN = 60;
const TURNOVER_MIN = 20;
const STEPS_MIN = 54;

useBrowser();
/** @type {Awaited<ReturnType<typeof serveRtype>>} */
let server;
/** @type {{ stop: () => Promise<void> }} */
let bots;
before(async () => {
  server = await serveRtype({
    more: ["--level", String(STORM_LEVEL)],
    settings: { NETLOOM_RTYPE_MIN_PLAYERS: String(PLAYERS) },
  });
  bots = sendBots(server, PLAYERS - 1, "rtype");
});
after(async () => {
  await bots.stop();
  await server.stop();
});

/**
 * A figure of every player, by name.
 * @param {string} figures
 * @param {string} name
 */
function perPlayer(figures, name) {
  const line = new RegExp(`^${name}\\{[^}]*name="([^"]*)"[^}]*\\} (\\S+)$`, "gm");
  return new Map([...figures.matchAll(line)].map(([, player, value]) => [player, Number(value)]));
}

/** What every player was sent and has sent so far, and when that was. */
async function traffic() {
  const atMs = performance.now();
  const figures = await server.figures();
  return {
    atMs,
    down: perPlayer(figures, "netloom_peer_sent_bytes_total"),
    up: perPlayer(figures, "netloom_peer_received_bytes_total"),
  };
}

/**
 * What flew: the fewest things that moved in a step, and how many came or went and steps there were a second.
 * @param {TruthStep[]} truth
 */
function weatherOf(truth) {
  let [moversMin, turnover] = [Infinity, 0];
  /** @type {Map<number, { x: number, y: number }>} */
  let before = new Map();
  truth.forEach(({ objects }, at) => {
    const now = new Map(objects.map((object) => [object.id, object]));
    if (at > 0) {
      const stayed = objects.filter(({ id }) => before.has(id));
      const moved = stayed.filter(({ id, x, y }) => before.get(id)?.x !== x || before.get(id)?.y !== y);
      turnover += now.size + before.size - 2 * stayed.length;
      moversMin = Math.min(moversMin, moved.length);
    }
    before = now;
  });
  const seconds = (truth[truth.length - 1].ms - truth[0].ms) / 1_000;
  return { moversMin, turnover: turnover / seconds, steps: (truth.length - 1) / seconds, seconds };
}

/**
 * What the dashboard shows of every player in two of its columns, in bytes a second.
 * @param {import("playwright-core").Page} page
 */
async function shownOn(page) {
  const rows = await page.evaluate(() => {
    const texts = (/** @type {Element} */ row, /** @type {string} */ of) =>
      [...row.querySelectorAll(of)].map(({ textContent }) => (textContent ?? "").trim());
    const titles = [...document.querySelectorAll("#peers thead tr")].flatMap((row) => texts(row, "th"));
    const [out, into] = ["Out", "In"].map((title) => titles.findIndex((each) => each.startsWith(title)));
    return [...document.querySelectorAll("#peers tbody tr")].map((row) => {
      const cells = texts(row, "td");
      return [cells[0], cells[out], cells[into]];
    });
  });
  const rate = (/** @type {string} */ text) => Number.parseFloat(text) * (text.includes("kB/s") ? 1_000 : 1);
  return rows.map(([player, down, up]) => ({ player, down: rate(down), up: rate(up) }));
}

/** @param {number} one @param {number} other */
const isNear = (one, other) => Math.abs(one - other) <= 0.25 * other;

test("a player in a storm takes at most 10 kB/s down and 3 kB/s up, as is shown", async (context) => {
  const window = await newWindow({ viewport: { width: 640, height: 480 } });
  const { page } = await enterLobby(server, "Ada", { window });
  await page.click("#ready");
  await takeOff(page);
  await page.keyboard.down("Space");
  const dashboard = await (await newWindow()).newPage();
  await dashboard.goto(server.dashboard);
  await pause(SETTLE_MS);
  const first = await traffic();
  /** @type {Awaited<ReturnType<typeof shownOn>>} */
  const shown = [];
  const keys = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ShiftLeft"];
  for (let press = 0; performance.now() < first.atMs + SECONDS * 1_000; press++) {
    const key = keys[press % keys.length];
    await page.keyboard.down(key);
    await pause(400);
    await page.keyboard.up(key);
    shown.push(...(await shownOn(dashboard)));
  }
  const last = await traffic();
  await page.bringToFront();
  await shoot(page, "rtype-storm");
  await shoot(dashboard, "rtype-storm-dashboard");

  const weather = weatherOf(server.truth().slice(-SECONDS * 60));
  context.diagnostic(
    `at least ${weather.moversMin} things move, ${weather.turnover.toFixed(1)} come or go a second, ` +
      `${weather.steps.toFixed(1)} steps a second, for ${weather.seconds.toFixed(1)} s`,
  );
  const seconds = (last.atMs - first.atMs) / 1_000;
  const rates = [...last.down.keys()].map((player) => {
    const per = (/** @type {"down" | "up"} */ way) =>
      ((last[way].get(player) ?? 0) - (first[way].get(player) ?? 0)) / seconds;
    const said = (/** @type {"down" | "up"} */ way) => {
      const all = shown.filter((each) => each.player === player).map((each) => each[way]);
      return all.reduce((sum, each) => sum + each, 0) / all.length;
    };
    return { player, down: per("down"), up: per("up"), saidDown: said("down"), saidUp: said("up") };
  });
  for (const { player, down, up } of rates)
    context.diagnostic(`${player}: ${down.toFixed(0)} bytes/s down, ${up.toFixed(0)} up`);
  assert.ok(weather.moversMin >= MOVERS_MIN, `${weather.moversMin} things move`);
  assert.ok(weather.turnover >= TURNOVER_MIN, `${weather.turnover} come or go a second`);
  assert.ok(weather.steps >= STEPS_MIN && weather.seconds >= SECONDS - 1, JSON.stringify(weather));
  assert.equal(rates.length, PLAYERS);
  for (const rate of rates) {
    const said = JSON.stringify(rate);
    assert.ok(rate.down > 1_000 && rate.down <= DOWN_MAX, `down: ${said}`);
    assert.ok(rate.up > 100 && rate.up <= UP_MAX, `up: ${said}`);
    assert.ok(isNear(rate.saidDown, rate.down) && isNear(rate.saidUp, rate.up), `on the dashboard: ${said}`);
  }
  await dashboard.context().close();
  await page.context().close();
});

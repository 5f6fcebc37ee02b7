/**
 * What a busy level costs on the wire: four players in a storm, what flew there by what was true, and what was
 * sent and received by the server's own count of every byte.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, newWindow, shoot, useBrowser } from "./browser.js";
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
const STEPS_MIN = 59;

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

test("a player of a storm takes at most 10 kB/s down and 3 kB/s up, and the dashboard says so", async (context) => {
  const window = await newWindow({ viewport: { width: 640, height: 480 } });
  const { page } = await enterLobby(server, "Ada", { window });
  await page.click("#ready");
  await takeOff(page);
  await page.keyboard.down("Space");
  await pause(SETTLE_MS);
  const first = await traffic();
  const until = first.atMs + SECONDS * 1_000;
  const keys = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ShiftLeft"];
  for (let press = 0; performance.now() < until; press++) {
    const key = keys[press % keys.length];
    await page.keyboard.down(key);
    await pause(300);
    await page.keyboard.up(key);
  }
  const last = await traffic();
  await shoot(page, "rtype-storm");
  const seconds = (last.atMs - first.atMs) / 1_000;

  const truth = await eventually(
    async () => server.truth(),
    (steps) => steps[steps.length - 1].objects.length > 0,
    "what happened",
  );
  const weather = weatherOf(truth.slice(-Math.ceil(SECONDS * 60)));
  context.diagnostic(
    `${weather.moversMin} things move at least, ${weather.turnover.toFixed(1)} come or go a second, ` +
      `${weather.steps.toFixed(1)} steps a second, for ${weather.seconds.toFixed(1)} s`,
  );
  assert.equal(last.down.size, PLAYERS);
  const rates = [...last.down.keys()].map((player) => ({
    player,
    down: ((last.down.get(player) ?? 0) - (first.down.get(player) ?? 0)) / seconds,
    up: ((last.up.get(player) ?? 0) - (first.up.get(player) ?? 0)) / seconds,
  }));
  for (const { player, down, up } of rates)
    context.diagnostic(`${player}: ${down.toFixed(0)} bytes/s down, ${up.toFixed(0)} up`);
  assert.ok(weather.moversMin >= MOVERS_MIN, `${weather.moversMin} things move`);
  assert.ok(weather.turnover >= TURNOVER_MIN, `${weather.turnover} come or go a second`);
  assert.ok(weather.steps >= STEPS_MIN && weather.seconds >= SECONDS - 1, JSON.stringify(weather));
  for (const { player, down, up } of rates)
    assert.ok(down > 1_000 && down <= DOWN_MAX && up > 100 && up <= UP_MAX, `${player}: ${down} down, ${up} up`);
  await page.context().close();
});

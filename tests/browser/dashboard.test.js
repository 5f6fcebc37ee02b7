/** The dashboard: what an operator sees and does there, and who must not. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { PATIENCE_MS, eventually, joined, newWindow, openPage, shoot, useBrowser } from "./browser.js";
import { sendBots, serve } from "./server.js";

/** @typedef {import("playwright-core").Page} Page */

const BOTS = 12;

useBrowser();
/** @type {import("./server.js").Served} */
let server;
/** @type {{ stop: () => Promise<void> }} */
let bots;
before(async () => {
  server = await serve();
  bots = sendBots(server, BOTS);
});
after(async () => {
  await bots.stop();
  await server.stop();
});

/**
 * The dashboard, opened, and what went wrong in it.
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
async function openDashboard(options = {}) {
  const page = await (await newWindow(options)).newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  /** @type {string[]} */
  const mistakes = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") mistakes.push(message.text());
  });
  page.on("pageerror", (error) => mistakes.push(String(error)));
  await page.goto(server.dashboard);
  return { page, mistakes };
}

/** The cells of the table of players, in their order. @param {Page} page */
function rows(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll("#peers tbody tr")].map((row) =>
      [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? ""),
    ),
  );
}

/** @param {Page} page @param {number} least */
function shows(page, least) {
  return eventually(
    () => rows(page),
    (all) => {
      const isMeasured = (/** @type {string} */ ping) => /^[\d.]+ m?s$/.test(ping) && ping !== "0.00 ms";
      return all.length >= least && all.every(([, , , , ping]) => isMeasured(ping));
    },
    "players with a round trip",
  );
}

/**
 * What the server answers, whatever is asked.
 * @param {string} path
 * @param {import("node:http").RequestOptions} options
 * @param {string} [body]
 * @returns {Promise<{ status: number | undefined, text: string }>}
 */
function ask(path, options, body = "") {
  return new Promise((resolve, reject) => {
    const asked = request(`${server.metrics}${path}`, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** @returns {Promise<any>} */
async function data() {
  return (await fetch(`${server.metrics}/dashboard/data.json`)).json();
}

test("rooms and players are shown with figures that are those of the metrics", async () => {
  const { page, mistakes } = await openDashboard();
  await shows(page, BOTS);
  const busy = await eventually(
    data,
    ({ classes, server: all }) =>
      all.peers === BOTS && classes.every((/** @type {any} */ each) => each.bytes_per_second > 0),
    "everything moves",
  );
  const cubes = busy.classes.find((/** @type {any} */ each) => each.class === "Cube");
  assert.ok(cubes.objects === 256 && cubes.updates_per_second > 100, JSON.stringify(cubes));
  const sum = (/** @type {any[]} */ list, /** @type {string} */ name) =>
    list.reduce((all, each) => all + each[name], 0);
  assert.ok(sum(busy.peers, "sent_bytes_per_second") > 1_000, "players are sent something");
  const metrics = await server.figures();
  assert.match(metrics, new RegExp(`netloom_connected_peers ${BOTS}\n`));
  assert.match(metrics, /netloom_class_objects\{class="Cube"\} 256\n/);
  assert.match(metrics, /netloom_rejects_total\{kind="input",reason="too_fast"\} \d+\n/);
  assert.match(metrics, /netloom_class_bytes_total\{class="Cube",kind="update"\} [1-9]/);

  const text = async (/** @type {string} */ id) => (await page.textContent(id)) ?? "";
  assert.match(await text("#tiles"), new RegExp(`Players${BOTS}Objects${256 + BOTS}`));
  assert.match(await text("#rooms"), /yard/);
  assert.match(await text("#classes"), /Cube × 256[\d.]+ k?B\/s/);
  assert.match(await text("#talkers"), /bot-\d+[\d.]+ k?B\/s/);
  await eventually(
    () => text("#ticks"),
    (marks) => /p50[\d.]+ m?s.*p99[\d.]+ m?s.*longest[\d.]+ m?s/.test(marks),
    "tick times",
  );
  await eventually(
    () => text("#charts"),
    (legends) => /Trafficout [\d.]+ k?B\/sin [\d.]+ k?B\/s/.test(legends),
    "charts, which need a second look at the figures",
  );
  assert.match(await text("#about"), /^cubes · version \S+ · up for /);
  assert.equal(await text("#status-words"), "Running");
  await shoot(page, "dashboard");
  assert.deepEqual(mistakes, []);
  await page.context().close();
});

test("players are sorted by any column, by mouse and by keys, and found by name", async () => {
  const { page } = await openDashboard();
  await shows(page, BOTS);
  const numbers = async () => (await rows(page)).map(([, number]) => Number(number));
  const sorted = (await numbers()).sort((one, other) => one - other);
  await page.click("#peers th:nth-child(2) button");
  assert.equal(await page.getAttribute("#peers th:nth-child(2)", "aria-sort"), "descending");
  assert.deepEqual(await numbers(), [...sorted].reverse());
  await page.focus("#peers th:nth-child(2) button");
  await page.keyboard.press("Enter");
  assert.equal(await page.getAttribute("#peers th:nth-child(2)", "aria-sort"), "ascending");
  assert.deepEqual(await numbers(), sorted);
  await page.fill("#search", "BOT-3");
  assert.deepEqual(
    (await rows(page)).map(([name]) => name),
    ["bot-3"],
  );
  assert.equal(await page.textContent("#peer-count"), `1 of ${BOTS}`);
  await page.context().close();
});

test("a kicked player is told why and gone, and who is gone is said to be", async () => {
  const { page: player } = await openPage(server, { query: `?name=${encodeURIComponent("<b>Mallory</b>")}` });
  await joined(player);
  const { page, mistakes } = await openDashboard();
  await eventually(
    () => rows(page),
    (all) => all.some(([name, , , transport]) => name === "<b>Mallory</b>" && transport === "webtransport"),
    "the player is shown, as text",
  );
  const button = page.getByRole("button", { name: "Kick <b>Mallory</b>" });
  await button.click();
  assert.equal(await page.textContent("#kick-title"), "Remove <b>Mallory</b>");
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("#kick"), false, "the key of escape is no kick");
  await button.click();
  await page.fill("#kick-reason", "too loud");
  await shoot(page, "dashboard-kick");
  await page.keyboard.press("Enter");
  await player.waitForSelector("#curtain:not([hidden])");
  assert.equal(await player.textContent("#curtain-title"), "You were sent out");
  assert.match((await player.textContent("#curtain-words")) ?? "", /too loud/i);
  await page.waitForSelector("#said:not([hidden])");
  assert.equal(await page.textContent("#said"), "<b>Mallory</b> was removed");
  await eventually(
    () => rows(page),
    (all) => all.every(([name]) => name !== "<b>Mallory</b>"),
    "nobody is left",
  );
  const again = await page.evaluate(async () => {
    const headers = { "Content-Type": "application/json", "X-Netloom-Dashboard": "1" };
    const asked = { method: "POST", headers, body: JSON.stringify({ player: 4_000_000 }) };
    const response = await fetch("/dashboard/kick", asked);
    return { status: response.status, said: await response.json() };
  });
  assert.deepEqual(again, {
    status: 404,
    said: { kicked: false, problem: "the player is not there any more" },
  });
  assert.deepEqual(
    mistakes.filter((text) => !text.includes("404")),
    [],
  );
  await page.context().close();
  await player.context().close();
});

test("other names of this machine, proxies and pages of other sites are refused", async () => {
  const { host } = new URL(server.metrics);
  assert.equal((await ask("/dashboard/data.json", { headers: { host } })).status, 200);
  for (const headers of [{ host: "evil.example" }, { host, "x-forwarded-for": "192.0.2.1" }]) {
    for (const path of ["/dashboard", "/dashboard/", "/dashboard/data.json", "/dashboard/main.js"]) {
      const { status, text } = await ask(path, { headers });
      assert.ok(status === 403 && /^the dashboard .*\n$/.test(text), `${path}: ${status} ${text}`);
    }
  }
  const { player } = (await data()).peers[0];
  const order = JSON.stringify({ player, reason: "forged" });
  const own = { host, origin: server.metrics, "x-netloom-dashboard": "1", "content-length": order.length };
  for (const headers of [
    { ...own, origin: "http://evil.example" },
    { ...own, origin: server.page },
    { ...own, "x-netloom-dashboard": "" },
    { ...own, host: "evil.example", origin: "http://evil.example" },
  ]) {
    assert.equal((await ask("/dashboard/kick", { method: "POST", headers }, order)).status, 403);
  }
  assert.equal((await ask("/dashboard/kick", { headers: { host } })).status, 405);

  // The page of the game is of another origin: its scripts can neither read nor give orders.
  const { page } = await openPage(server);
  const tried = await page.evaluate(
    async ({ at, body }) => {
      const headers = { "X-Netloom-Dashboard": "1", "Content-Type": "application/json" };
      const tries = [
        fetch(`${at}/data.json`),
        fetch(`${at}/kick`, { method: "POST", headers, body }),
        fetch(`${at}/kick`, { method: "POST", mode: "no-cors", body }).then(() => "sent, and refused"),
      ];
      return Promise.all(tries.map((each) => each.then(String, () => "blocked")));
    },
    { at: server.dashboard, body: order },
  );
  assert.deepEqual(tried, ["blocked", "blocked", "blocked"], "by the policy of the page, too");
  await page.goto(`${server.page}/dashboard`);
  assert.equal(page.url(), `${server.dashboard}/`, "the port of the page leads to the dashboard");
  const still = (await data()).peers.map((/** @type {any} */ peer) => peer.player);
  assert.ok(still.includes(player), "nobody was kicked");
  await page.context().close();
});

test("it fits phones and large screens, and has names for every control", async () => {
  for (const [width, height] of [
    [390, 844],
    [1_024, 768],
    [1_920, 1_080],
  ]) {
    const { page, mistakes } = await openDashboard({ viewport: { width, height }, reducedMotion: "reduce" });
    await shows(page, BOTS);
    const said = await page.evaluate(() => {
      const nameOf = (/** @type {any} */ control) => {
        const label = control.labels?.[0]?.textContent ?? "";
        return control.getAttribute("aria-label") ?? (label.trim() || control.textContent.trim());
      };
      const controls = [...document.querySelectorAll("button, input, a, canvas")];
      const nameless = controls.filter((control) => nameOf(control) === "").map(({ outerHTML }) => outerHTML);
      const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
      return {
        wide: document.documentElement.scrollWidth,
        nameless,
        doubled: ids.length - new Set(ids).size,
        inline: document.querySelectorAll("[style], style, script:not([src])").length,
      };
    });
    assert.ok(said.wide <= width, `${said.wide} pixels wide`);
    assert.deepEqual({ ...said, wide: 0 }, { wide: 0, nameless: [], doubled: 0, inline: 0 });
    await shoot(page, `dashboard-${width}`);
    assert.deepEqual(mistakes, []);
    await page.context().close();
  }
});

test("a server that goes away is said to be away, and its successor is found", async () => {
  const first = await serve();
  const page = await (await newWindow()).newPage();
  await page.goto(first.dashboard);
  const words = () => page.textContent("#status-words");
  await eventually(words, (text) => text === "Running", "it runs");
  await first.stop();
  await eventually(words, (text) => text === "The server does not answer", "it is away");
  const second = await serve({ args: first.args });
  try {
    await eventually(words, (text) => text === "Running", "it runs again");
    await page.click("#pause");
    assert.equal(await words(), "Paused");
    await page.click("#pause");
    await eventually(words, (text) => text === "Running", "it goes on");
  } finally {
    await page.context().close();
    await second.stop();
  }
});

/** What becomes of the page when its server, its tab or its storage does not behave. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, joined, measured, newWindow, openPage, shoot, useBrowser } from "./browser.js";
import { serve } from "./server.js";

useBrowser();

/** @param {import("playwright-core").Page} page @param {string} [transport] */
function isBack(page, transport = "webtransport") {
  return eventually(
    () => measured(page),
    (now) => {
      return now.state === "connected" && now.objects > 200 && now.transport === transport;
    },
    "it is back",
    60_000,
  );
}

test("a server stops and starts again with another certificate: the page says so and comes back", async () => {
  let server = await serve();
  try {
    const { page } = await openPage(server);
    await joined(page);
    await page.evaluate(() => {
      const page = /** @type {any} */ (globalThis);
      page.losses = [];
      page.netloom.session.client.on("lost", (/** @type {{ code: string }} */ { code }) => page.losses.push(code));
    });
    await server.stop();
    await page.waitForSelector("#curtain:not([hidden])");
    assert.equal(await page.textContent("#curtain-title"), "The server has stopped");
    await eventually(
      () => page.textContent("#status-words"),
      (words) => words !== "Connected by WebTransport",
      "the state",
    );
    await shoot(page, "stopped");
    // It does not answer either, of course: that is no news, however often it is tried.
    await eventually(
      () => page.evaluate(() => /** @type {any} */ (globalThis).losses),
      (/** @type {string[]} */ losses) => losses.filter((code) => code === "unreachable").length >= 2,
      "it was tried twice",
    );
    assert.equal(await page.textContent("#curtain-title"), "The server has stopped");
    server = await serve({ args: server.args });
    await isBack(page);
    assert.equal(await page.isVisible("#curtain"), false);
    await page.close();
  } finally {
    await server.stop();
  }
});

test("a server that is killed and restarted is found again by WebSocket, too", async () => {
  let server = await serve();
  try {
    const { page } = await openPage(server, { query: "?transport=websocket" });
    await joined(page);
    // The new one knows nothing of the seat that is asked for.
    await server.stop("SIGKILL");
    await page.waitForSelector("#curtain:not([hidden])");
    server = await serve({ args: server.args });
    await isBack(page, "websocket");
    await server.stop("SIGKILL");
    await page.waitForSelector("#curtain:not([hidden])");
    await page.click("#curtain-button");
    await eventually(
      () => page.textContent("#curtain-title"),
      (title) => title === "The server does not answer",
      "in vain",
    );
    server = await serve({ args: server.args });
    await isBack(page, "websocket");
    await page.close();
  } finally {
    await server.stop();
  }
});

test("a page that is older than its server says what to do", async () => {
  const server = await serve();
  try {
    const { page } = await openPage(server, {
      async prepare(fresh) {
        await fresh.route("**/game.js", async (route) => {
          const code = await (await route.fetch()).text();
          const body = code.replace('defineProtocol("cubes", {', 'defineProtocol("cubes", { version: 9,');
          await route.fulfill({ body, contentType: "text/javascript" });
        });
      },
    });
    await page.waitForSelector("#curtain:not([hidden])");
    assert.equal(await page.textContent("#curtain-title"), "This page and the server do not match");
    assert.equal(await page.textContent("#curtain-button"), "Reload the page");
    await page.unroute("**/game.js");
    await page.click("#curtain-button");
    await joined(page);
    await page.close();
  } finally {
    await server.stop();
  }
});

test("two tabs are two players, and a reload keeps the seat", async () => {
  const server = await serve();
  try {
    const window = await newWindow();
    const [first, second] = [await openPage(server, { window }), await openPage(server, { window })];
    await joined(first.page);
    await joined(second.page);
    const [one, two] = [await measured(first.page), await measured(second.page)];
    assert.notEqual(one.player, two.player);
    await eventually(
      () => first.page.textContent("#player-count"),
      (count) => count === "2",
      "both are listed",
    );
    await second.page.reload();
    await joined(second.page);
    assert.equal((await measured(second.page)).player, two.player);
    assert.equal((await measured(first.page)).player, one.player);
    assert.equal((await measured(first.page)).state, "connected");
    assert.deepEqual([...first.mistakes, ...second.mistakes], []);
    await window.close();
  } finally {
    await server.stop();
  }
});

test("without storage everything works", async () => {
  const server = await serve();
  try {
    const { page, mistakes } = await openPage(server, {
      script: () => {
        for (const name of ["localStorage", "sessionStorage"]) {
          Object.defineProperty(globalThis, name, {
            get() {
              throw new DOMException("storage is disabled", "SecurityError");
            },
          });
        }
      },
    });
    await joined(page);
    await page.fill("#name-text", "Grace");
    await page.click("text=Rename");
    await eventually(
      () => page.textContent("#player-list"),
      (names) => names === "Grace (you)",
      "another name",
    );
    await page.reload();
    await joined(page);
    assert.deepEqual(mistakes, []);
    await page.close();
  } finally {
    await server.stop();
  }
});

test("a tab that was asleep for longer than the server waits has its seat again", async () => {
  const server = await serve({ settings: { NETLOOM_CONNECTION_PEER_TIMEOUT: "2" } });
  try {
    const { page, mistakes } = await openPage(server, { query: "?name=Ada" });
    await joined(page);
    const { player } = await measured(page);
    // As in a tab that is asleep, nothing of the page runs, and what arrives piles up.
    const asleep = page.evaluate(() => {
      const until = performance.now() + 6_000;
      while (performance.now() < until);
    });
    await eventually(
      () => server.figures(),
      (figures) => !/name="Ada",.*transport=/.test(figures),
      "the server misses it",
    );
    await asleep;
    await isBack(page);
    assert.equal((await measured(page)).player, player);
    assert.deepEqual(mistakes, []);
    await page.close();
  } finally {
    await server.stop();
  }
});

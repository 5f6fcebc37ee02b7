/** What becomes of a game of R-TYPE when players, tabs or the server do not behave. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, joined, measured, newWindow, openPage, shoot, useBrowser } from "./browser.js";
import { ClassicPlayer, serveRtype } from "./rtype.js";

/** @typedef {import("playwright-core").Page} Page */

useBrowser();

/** Who is in the lobby, seat by seat. @param {Page} page */
function seatsIn(page) {
  return page.locator("#seats .who").allTextContents();
}

/** @param {Page} page */
function isPlaying(page) {
  return page.waitForFunction(() => /** @type {any} */ (globalThis).netloom.lobby.isPlaying);
}

/** The pilots of the ships that a page shows. @param {Page} page @returns {Promise<number[]>} */
function pilotsIn(page) {
  return page.evaluate(() => {
    const { cast } = /** @type {any} */ (globalThis).netloom;
    return [...cast.ships].map(({ pilot }) => pilot).sort();
  });
}

/**
 * Waits until a page shows the ships of these pilots and no others.
 * @param {Page} page
 * @param {number[]} pilots
 * @param {string} what
 */
function showsShipsOf(page, pilots, what) {
  const wanted = [...pilots].sort().join();
  return eventually(
    () => pilotsIn(page),
    (shown) => shown.join() === wanted,
    what,
  );
}

test("two tabs of one person are two players, and a reload during a game keeps the ship", async () => {
  const server = await serveRtype({ levels: "life" });
  try {
    const window = await newWindow({ viewport: { width: 1000, height: 700 } });
    const [first, second] = [await openPage(server, { window }), await openPage(server, { window })];
    const pages = [first.page, second.page];
    for (const page of pages) await joined(page);
    const players = [(await measured(first.page)).player, (await measured(second.page)).player];
    assert.notEqual(players[0], players[1]);
    await eventually(
      () => seatsIn(first.page),
      (names) => names.filter((name) => name === "free seat").length === 2,
      "each has a seat",
    );
    for (const page of pages) await page.click("#ready");
    for (const page of pages) await isPlaying(page);
    for (const page of pages) await showsShipsOf(page, players, "each has a ship");
    await second.page.reload();
    await joined(second.page);
    await isPlaying(second.page);
    for (const page of pages) await showsShipsOf(page, players, "the same ships as before");
    const after = await Promise.all(pages.map(measured));
    assert.deepEqual(
      after.map(({ player, state }) => [player, state]),
      players.map((player) => [player, "connected"]),
    );
    assert.deepEqual([...first.mistakes, ...second.mistakes], []);
    await window.close();
  } finally {
    await server.stop();
  }
});

test("a server dies in the middle of a game and is restarted: the page says so and has a lobby", async () => {
  let server = await serveRtype({ levels: "life" });
  try {
    /** @type {Page[]} */
    const pages = [];
    for (const query of ["?name=Ada", "?name=Ben&transport=websocket"]) {
      const { page } = await openPage(server, { query });
      await joined(page);
      pages.push(page);
    }
    for (const page of pages) await page.click("#ready");
    for (const page of pages) await isPlaying(page);
    await server.stop("SIGKILL");
    for (const page of pages) {
      await page.waitForSelector("#curtain:not([hidden])");
      assert.match((await page.textContent("#curtain-title")) ?? "", /^The (connection is lost|server )/);
    }
    await shoot(pages[0], "rtype-restart");
    server = await serveRtype({ levels: "life", args: server.args });
    for (const page of pages) {
      await page.waitForSelector("#lobby:not([hidden])", { timeout: 60_000 });
      await page.waitForSelector("#curtain", { state: "hidden" });
      assert.equal(await page.isVisible("#hud"), false, "nothing is left of the old game");
    }
    await eventually(
      () => seatsIn(pages[0]),
      (names) => ["Ada", "Ben"].every((name) => names.includes(name)),
      "both have seats",
    );
    for (const page of pages) await page.click("#ready");
    for (const page of pages) await isPlaying(page);
    const players = (await Promise.all(pages.map(measured))).map(({ player }) => player);
    for (const page of pages) await showsShipsOf(page, players, "a new game");
    for (const page of pages) await page.close();
  } finally {
    await server.stop();
  }
});

test("a classic player who says nothing more is gone after five seconds, and the others see it", async () => {
  const server = await serveRtype({ levels: "life" });
  /** @type {ClassicPlayer | undefined} */
  let classic;
  try {
    const { page, mistakes } = await openPage(server, { query: "?name=Ada" });
    await joined(page);
    classic = new ClassicPlayer(server);
    await classic.saw("lobby", ({ players }) => players === 2);
    await page.click("#ready");
    await isPlaying(page);
    const { your_id: classicId } = await classic.saw("start");
    const { player } = await measured(page);
    await showsShipsOf(page, [player, classicId], "both fly");
    classic.signal("SIGSTOP");
    await showsShipsOf(page, [player], "one is left");
    await eventually(
      () => page.textContent("#chat-lines"),
      (lines) => lines?.includes("classic 1 left") === true,
      "it is told",
    );
    assert.equal((await measured(page)).state, "connected");
    // Whoever comes to again finds that out.
    classic.signal("SIGCONT");
    await classic.saw("left");
    assert.deepEqual(mistakes, []);
    await page.close();
  } finally {
    await classic?.stop("SIGKILL");
    await server.stop();
  }
});

/** The page of the shooter: from the lobby into a game with bots, by keys, by touch, and with every switch. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, joined, newWindow, openPage, shoot, useBrowser } from "./browser.js";
import { serve } from "./server.js";

/** @typedef {import("playwright-core").Page} Page */

const PACKED_BYTES_MAX = 210_000;

useBrowser();

/**
 * A test with a server of its own: whoever plays ends nobody else's game.
 * @param {string} name
 * @param {(server: import("./server.js").Served, context: import("node:test").TestContext) => Promise<void>} run
 */
function play(name, run) {
  test(name, async (context) => {
    const server = await serve({ game: "rtype" });
    try {
      await run(server, context);
    } finally {
      await server.stop();
    }
  });
}

/** What the page has of its game: the own ship in units, and how many of each there are. @param {Page} page */
function seen(page) {
  return page.evaluate(() => {
    const { cast, source, session, lobby } = /** @type {any} */ (globalThis).netloom;
    const own = [...cast.ships].find(({ isOwn }) => isOwn);
    return {
      isPlaying: lobby.isPlaying,
      ships: cast.ships.size,
      others: cast.size - cast.ships.size,
      own: own === undefined ? null : { x: own.x, y: own.y, truthX: own.truthX, truthY: own.truthY },
      isPredicted: source.prediction?.object !== null,
      shownStep: session.client?.shownStep ?? null,
      newestTick: session.client?.world?.newest ?? -1,
      phase: session.client?.lobby.state?.phase ?? null,
    };
  });
}

/**
 * In the lobby, with a seat.
 * @param {import("./server.js").Served} server
 * @param {Parameters<typeof openPage>[1]} [options]
 */
async function enterLobby(server, options) {
  const { page, mistakes } = await openPage(server, options);
  await joined(page);
  await eventually(
    () => seen(page),
    ({ phase }) => phase === "waiting",
    "the lobby",
  );
  return { page, mistakes };
}

/** Begins a game with bots, and waits for the own ship. @param {Page} page @param {string} bots */
async function start(page, bots) {
  await page.selectOption("#bots", bots);
  await eventually(
    () => page.locator("#seats li.is-ready").count(),
    (count) => count === Number(bots),
    "the bots have seats",
  );
  await page.locator("#field").focus();
  await page.keyboard.press("Enter");
  return eventually(
    () => seen(page),
    ({ own, ships }) => own !== null && ships === 1 + Number(bots),
    "ships",
  );
}

play(
  "the page comes in one piece: title, lobby, bots that play behind it, less than 210 kB",
  async (server, context) => {
    const { page, mistakes } = await enterLobby(server, { query: "?name=Ada" });
    assert.equal(await page.title(), "Netloom: R-Type");
    assert.equal(await page.isVisible("#lobby"), true);
    assert.match((await page.textContent("#seats")) ?? "", /^Adayou, host….*free seat.*free seat.*free seat/);
    const behind = await eventually(
      () => seen(page),
      ({ ships, others }) => ships === 3 && others > 0,
      "bots play behind the lobby",
    );
    assert.equal(behind.isPlaying, false);
    const came = await page.evaluate(() => {
      const loaded = /** @type {PerformanceResourceTiming[]} */ ([
        ...performance.getEntriesByType("navigation"),
        ...performance.getEntriesByType("resource"),
      ]);
      return {
        bytes: loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
        files: loaded.length,
      };
    });
    context.diagnostic(JSON.stringify(came));
    assert.ok(came.files > 80 && came.bytes > 80_000 && came.bytes < PACKED_BYTES_MAX, JSON.stringify(came));
    await page.fill("#name-text", "<i>Grace</i>");
    await page.keyboard.press("Enter");
    await eventually(
      () => page.textContent("#seats"),
      (text) => text?.startsWith("<i>Grace</i>") ?? false,
      "another name, as text",
    );
    await shoot(page, "rtype-lobby");
    assert.deepEqual(mistakes, []);
    await page.close();
  },
);

play("alone with bots by keys only: ready, fly, fire; figures tell of it", async (server) => {
  const { page, mistakes } = await enterLobby(server, { query: "?name=Ada&log=1" });
  const begin = await start(page, "3");
  assert.equal(await page.isVisible("#lobby"), false);
  assert.equal(await page.isVisible("#hud"), true);
  const from = /** @type {{ x: number }} */ (begin.own).x;
  await page.keyboard.down("ArrowRight");
  await eventually(
    () => seen(page),
    ({ own }) => own !== null && own.x > from + 200,
    "it flies",
  );
  await page.keyboard.up("ArrowRight");
  await page.keyboard.down("Space");
  await eventually(
    () => page.textContent("#ammo b"),
    (shots) => Number(shots) < 57,
    "it fires",
  );
  await eventually(
    () =>
      page.evaluate(() => {
        const { shots } = /** @type {any} */ (globalThis).netloom.source;
        return [...shots].some(({ object }) => object !== null);
      }),
    (isRecognised) => isRecognised,
    "the server's shot is recognised as the own one",
  );
  await page.keyboard.up("Space");
  const { frames, events } = await page.evaluate(() => {
    const { frames, events } = /** @type {any} */ (globalThis).netloomFrames;
    return { frames: frames.slice(-600), events };
  });
  const flown = frames.filter((/** @type {any} */ { own }) => own !== null);
  assert.ok(flown.length > 30 && flown.every((/** @type {any} */ { ownStep, step }) => ownStep <= step));
  assert.ok(flown.some((/** @type {any} */ { others }) => others.length >= 3));
  assert.ok(events.some((/** @type {any} */ { type, code }) => type === "keydown" && code === "ArrowRight"));
  await shoot(page, "rtype-play");
  assert.deepEqual(mistakes, []);
  await page.close();
});

play("every switch does what it says", async (server) => {
  const { page, mistakes } = await enterLobby(server, { query: "?name=Ada" });
  await start(page, "1");
  await page.fill("#latencyMs", "100");
  await eventually(
    () => seen(page),
    ({ isPredicted }) => isPredicted,
    "predicted",
  );
  await page.uncheck("#prediction");
  await eventually(
    () => seen(page),
    ({ isPredicted }) => !isPredicted,
    "not predicted",
  );
  await page.uncheck("#interpolation");
  await eventually(
    () => seen(page),
    ({ own, shownStep }) =>
      shownStep !== null && own !== null && own.x === own.truthX && own.y === own.truthY,
    "shown where the server said, at a step",
  );
  await page.check("#interpolation");
  await page.check("#prediction");
  await page.uncheck("#lag-compensation");
  await page.check("#ghosts");
  await page.check("#split");
  const views = await page.evaluate(() => {
    const { view } = /** @type {any} */ (globalThis).netloom;
    return [view.hasGhosts, view.isSplit];
  });
  assert.deepEqual(views, [true, true]);
  await page.locator("#field").focus();
  await page.keyboard.down("ArrowDown");
  await eventually(
    () => seen(page),
    ({ own }) => own !== null && own.y - own.truthY > 20,
    "ahead of what the server said",
  );
  await shoot(page, "rtype-split");
  await page.keyboard.up("ArrowDown");
  // A beam is answered: the switch above has not cost the connection.
  await page.keyboard.down("ShiftLeft");
  await eventually(
    () => page.textContent("#beams"),
    (words) => /^Beams: \d+ of [1-9]/.test(words ?? ""),
    "the server judged a beam",
  );
  await page.keyboard.up("ShiftLeft");
  assert.deepEqual(mistakes, []);
  await page.close();
});

play("on a phone everything fits, a thumb steers and the other fires", async (server) => {
  const window = await newWindow({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
  });
  const { page, mistakes } = await enterLobby(server, { window });
  await shoot(page, "rtype-phone-lobby");
  await page.selectOption("#bots", "1");
  await page.tap("#ready");
  const begin = await eventually(
    () => seen(page),
    ({ own }) => own !== null,
    "a ship",
  );
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} pixels wide`);
  for (const id of ["fire", "fire-beam"]) {
    const box = await page.locator(`#${id}`).boundingBox();
    assert.ok(box !== null && box.x > 195 - 84 && box.y + box.height <= 844 && box.width >= 44, id);
  }
  const field = /** @type {{ x: number, y: number }} */ (await page.locator("#field").boundingBox());
  const browser = await window.newCDPSession(page);
  /** @param {"touchStart" | "touchMove" | "touchEnd"} type @param {{ x: number, y: number }[]} touchPoints */
  const touch = (type, ...touchPoints) => browser.send("Input.dispatchTouchEvent", { type, touchPoints });
  const thumb = { x: field.x + 80, y: field.y + 500 };
  await touch("touchStart", thumb);
  await touch("touchMove", { x: thumb.x, y: thumb.y + 60 });
  const from = /** @type {{ y: number }} */ (begin.own).y;
  await eventually(
    () => seen(page),
    ({ own }) => own !== null && own.y > from + 60,
    "it flies where it is pulled",
  );
  await shoot(page, "rtype-phone");
  await touch("touchEnd");
  const { x, y } = /** @type {{ x: number, y: number }} */ (await page.locator("#fire").boundingBox());
  await touch("touchStart", { x: x + 40, y: y + 40 });
  await eventually(
    () => page.textContent("#ammo b"),
    (shots) => Number(shots) < 58,
    "it fires",
  );
  await touch("touchEnd");
  assert.deepEqual(mistakes, []);
  await window.close();
});

play("whoever comes during a game waits for the next wave or watches, and is told so", async (server) => {
  const { page, mistakes } = await enterLobby(server, { query: "?name=Ada" });
  await start(page, "0");
  const late = await openPage(server, { query: "?name=Bob" });
  await joined(late.page);
  const ready = await eventually(
    async () => ({ words: await late.page.textContent("#banner"), ...(await seen(late.page)) }),
    ({ words, own }) => own !== null || /next wave|watching/.test(words ?? ""),
    "words or a ship",
  );
  assert.equal(ready.isPlaying, true);
  assert.deepEqual([...mistakes, ...late.mistakes], []);
  await late.page.close();
  await page.close();
});

/**
 * A whole game of R-TYPE: somebody by WebTransport, somebody by WebSocket, somebody over the classic
 * protocol, and a bot of the server; and all of them see the same.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, joined, measured, newWindow, openPage, shoot, useBrowser } from "./browser.js";
import { ClassicPlayer, serveRtype } from "./rtype.js";
import { seenIn, takeOff, watch } from "./rtype_pilot.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("./rtype_pilot.js").Seen} Seen */
/** @typedef {import("./rtype.js").TruthStep} TruthStep */

useBrowser();

const SEATS = [0, 1, 2, 3];
const BOT = 65_535;
/** The ids that bots have in the classic protocol, before that of the seat. */
const CLASSIC_BOTS = 0x4000_0000;
const WARDEN = 6;
const WON = 4;
/** How long a part of a game may take, on a machine that does other things as well. */
const GAME_MS = 60_000;
/** A ship that has been so far away from where it was has flown. */
const FLOWN_UNITS = 60;

/**
 * Two pages in a lobby whose host wants a bot, too.
 * @param {import("./server.js").Served} server
 */
async function gather(server) {
  const viewport = { width: 1200, height: 900 };
  const ada = await openPage(server, { query: "?name=Ada", window: await newWindow({ viewport }) });
  await joined(ada.page);
  await ada.page.selectOption("#bots", "1");
  const query = "?name=Ben&transport=websocket";
  const ben = await openPage(server, { query, window: await newWindow({ viewport }) });
  await joined(ben.page);
  return [ada, ben];
}

/** @param {Page} page */
function isPlaying(page) {
  return page.waitForFunction(() => /** @type {any} */ (globalThis).netloom.lobby.isPlaying);
}

/**
 * Answers whatever is offered, until the game is over. What is offered may be gone before it is answered: the
 * game does not wait.
 * @param {Page} page
 * @param {() => Promise<void>} choose
 */
async function answer(page, choose) {
  const shown = page.locator("#offers:not([hidden]), #over:not([hidden])").first();
  for (;;) {
    await shown.waitFor({ timeout: GAME_MS });
    if (await page.isVisible("#over")) return;
    await choose();
  }
}

/** In the page: four ships again, and nobody has the points of a game that was won. */
function isNewGame() {
  const { cast, lobby } = /** @type {any} */ (globalThis).netloom;
  const ships = [...cast.ships];
  const isFresh = ships.length === 4 && ships.every(({ score }) => score < 2_000);
  return lobby.isPlaying && cast.level === 1 && isFresh;
}

/** @param {TruthStep} step */
function shipsOf({ objects }) {
  return objects.filter((object) => object.class === "Ship");
}

/**
 * What the server says of the first of two games.
 * @param {TruthStep[]} truth
 * @param {(number | null)[]} owners of the ships, by their seats
 */
function assertHappened(truth, owners) {
  const first = /** @type {TruthStep} */ (truth.find((step) => shipsOf(step).length === 4));
  const ids = SEATS.map((seat) => shipsOf(first).find((ship) => ship.seat === seat)?.id);
  assert.deepEqual(
    ids.map((id) => shipsOf(first).find((ship) => ship.id === id)?.owner),
    owners,
  );
  const game = truth.filter((step) => shipsOf(step).some(({ id }) => ids.includes(id)));
  for (const seat of SEATS) {
    const path = game.flatMap((step) => shipsOf(step).filter((ship) => ship.seat === seat));
    const flown = path.map(({ x, y }) => Math.abs(x - path[0].x) + Math.abs(y - path[0].y));
    assert.ok(flown.some((units) => units >= FLOWN_UNITS), `${seat} moved`);
    const isShot = (/** @type {any} */ object) => object.class === "Shot" && object.seat === seat;
    assert.ok(game.some(({ objects }) => objects.some(isShot)), `${seat} fired`);
  }
  /** @param {string} name */
  const count = (name) => {
    const those = game.flatMap(({ objects }) => objects.filter((object) => object.class === name));
    return new Set(those.map(({ id }) => id)).size;
  };
  assert.equal(count("Ship"), 4);
  // The drones of both levels and the warden, who may have called for help.
  assert.ok(count("Enemy") >= 4 * 3 * 4 + 1, `${count("Enemy")} enemies`);
  assert.ok(count("Capsule") > 0);
}

/**
 * What a page must have shown of a game that was won.
 * @param {string} who
 * @param {Seen} seen
 * @param {number[]} pilots by their seats
 */
function assertSawAll(who, seen, pilots) {
  assert.equal(seen.together, 4, `${who} sees four ships`);
  assert.deepEqual(
    SEATS.map((seat) => seen.ships[seat]?.pilot),
    pilots,
    `${who} sees who flies which`,
  );
  for (const seat of SEATS) {
    assert.ok(seen.ships[seat].flown >= FLOWN_UNITS, `${who} sees that ${seat} moves`);
    assert.ok(seen.shots[seat] > 0, `${who} sees that ${seat} shoots`);
    assert.ok(seen.ships[seat].earned >= 100, `${who} sees that ${seat} kills`);
    assert.ok(seen.ships[seat].isUpgraded, `${who} sees that ${seat} has a better weapon`);
  }
  assert.ok(seen.enemies.includes(WARDEN) && seen.enemies.includes(0), `${who} sees drones and the warden`);
  assert.ok(seen.capsules >= 4, `${who} sees capsules`);
  assert.deepEqual(seen.levels, [1, 2]);
  const names = seen.calls.map(([name]) => name);
  for (const name of ["level_info", "power_offered", "power_status", "weapon_offered", "weapon_confirmed"])
    assert.ok(names.includes(name), `${who} is told: ${name}`);
  assert.equal(names.filter((name) => name === "boss_spawned").length, 1);
  assert.equal(names.filter((name) => name === "game_over").length, 1);
}

/**
 * What somebody was given first of each kind is what was chosen, and not what the server gives to who says
 * nothing.
 * @param {string} who
 * @param {Seen} seen
 * @param {number} place of what was chosen in what was offered
 */
function assertChose(who, { calls }, place) {
  for (const [offer, answer] of [
    ["power_offered", "power_status"],
    ["weapon_offered", "weapon_confirmed"],
  ]) {
    const offered = calls.find(([name]) => name === offer)?.[2];
    const given = calls.find(([name]) => name === answer)?.[1];
    assert.equal(given, offered.at(place), `${who} gets what was chosen`);
  }
}

/** @param {Seen["ships"]} ships */
function scoresIn(ships) {
  return SEATS.map((seat) => ships[seat]?.score ?? 0);
}

/** @param {number[]} scores */
function sumOf(scores) {
  return scores.reduce((sum, score) => sum + score, 0);
}

/** The points of all, as told at the end of a game that was won. @param {Seen["calls"]} calls */
function toldScore(calls) {
  return calls.find(([name, isWon, , level]) => name === "game_over" && isWon === true && level === 2)?.[2];
}

/**
 * All meet in the lobby, and all are ready; settles when the game is on, with the ids of the players.
 * @param {Page[]} pages
 * @param {ClassicPlayer} classic
 */
async function begin([page, other], classic) {
  await classic.saw("lobby", ({ players, your_ready: isReady }) => players === 3 && isReady === 1);
  const seats = await eventually(
    () => page.locator("#seats .who").allTextContents(),
    (names) => names.length === 4 && !names.includes("free seat"),
    "everybody is in the lobby",
  );
  assert.deepEqual([seats[0], seats[1], seats[3]], ["Ada", "Ben", "bot"]);
  await shoot(page, "rtype-lobby");
  for (const each of [page, other]) await watch(each);
  await page.keyboard.press("Enter");
  await eventually(
    () => page.textContent("#lobby-words"),
    (words) => words === "Waiting for Ben.",
    "one is missing",
  );
  await other.click("#ready");
  for (const each of [page, other]) await isPlaying(each);
  const { your_id: classicId } = await classic.saw("start");
  const [ada, ben] = [await measured(page), await measured(other)];
  assert.deepEqual([ada.transport, ben.transport], ["webtransport", "websocket"]);
  return [ada.player, ben.player, classicId];
}

/**
 * The game, from its beginning to its end: one chooses what is offered first, by keys, the other what is
 * offered last, with the mouse. Pictures of it are kept.
 * @param {Page[]} pages
 */
async function playThrough([page, other]) {
  for (const each of [page, other]) await takeOff(each);
  const photographed = new Set();
  const answering = [
    answer(page, async () => {
      const title = (await page.textContent("#offer-title")) ?? "";
      if (!photographed.has(title)) await shoot(page, `rtype-offer-${photographed.add(title).size}`);
      await page.keyboard.press("Digit1");
    }),
    answer(other, () =>
      other.evaluate(() => /** @type {any} */ (document.querySelector(".offer:last-child"))?.click()),
    ),
  ];
  const isOver = () => page.waitForSelector("#over:not([hidden])", { timeout: GAME_MS });
  await page.waitForFunction(() => {
    const { cast } = /** @type {any} */ (globalThis).netloom;
    return cast.ships.size === 4 && cast.enemies.size > 1 && cast.shots.size > 2;
  });
  await shoot(page, "rtype-play");
  const isFought = page.waitForFunction(
    (warden) => {
      const { cast } = /** @type {any} */ (globalThis).netloom;
      return [...cast.enemies].some(({ kind, x }) => kind === warden && x < 1_450);
    },
    WARDEN,
    { timeout: GAME_MS },
  );
  await Promise.race([isFought, isOver()]);
  await shoot(page, "rtype-boss");
  await Promise.all([isOver(), ...answering]);
  await shoot(page, "rtype-over");
  for (const each of [page, other]) assert.equal(await each.textContent("#over-title"), "You won");
}

/**
 * What a classic player must have seen of a game that was won.
 * @param {ClassicPlayer} classic
 * @param {number[]} ids of the ships
 * @param {number[]} scores by their seats
 */
async function assertClassicSawAll(classic, ids, scores) {
  const over = await classic.saw("over");
  assert.deepEqual([over.won, over.score, over.level], [1, sumOf(scores), 2]);
  for (const event of ["flew", "fired"]) {
    const those = classic.all(event).map(({ id }) => id);
    assert.deepEqual(new Set(those), new Set(ids), `the classic player sees who ${event}`);
  }
  for (const event of ["level", "boss", "capsule", "offer", "power", "weapon_offer", "weapon"]) {
    assert.ok(classic.all(event).length > 0, `the classic player is told: ${event}`);
  }
  await classic.saw("info", ({ score, phase }) => score === scores[2] && phase === WON);
}

test("two browsers, a classic player and a bot collect, upgrade, beat a boss, and play again", async () => {
  const server = await serveRtype({ levels: "players" });
  /** @type {ClassicPlayer | undefined} */
  let classic;
  try {
    const players = await gather(server);
    const pages = players.map(({ page }) => page);
    classic = new ClassicPlayer(server);
    const ids = await begin(pages, classic);
    await playThrough(pages);
    // The last points may come after the word that it is over.
    const views = await eventually(
      () => Promise.all(pages.map(seenIn)),
      (all) => all.every(({ ships, calls }) => sumOf(scoresIn(ships)) === toldScore(calls)),
      "the points of everybody are those that were told",
    );
    for (const [number, who] of ["Ada", "Ben"].entries()) assertSawAll(who, views[number], [...ids, BOT]);
    assertChose("Ada", views[0], 0);
    assertChose("Ben", views[1], -1);
    const [scores, same] = views.map(({ ships }) => scoresIn(ships));
    assert.deepEqual(scores, same, "both see the same scores");
    await assertClassicSawAll(classic, [...ids, CLASSIC_BOTS + 3], scores);

    await pages[0].click("#again");
    await pages[1].keyboard.press("Enter");
    const starts = async () => classic?.all("start").length;
    await eventually(starts, (count) => count === 2, "another game");
    for (const page of pages) await page.waitForFunction(isNewGame);
    const truth = await eventually(
      async () => server.truth(),
      (steps) => new Set(steps.flatMap(shipsOf).map(({ id }) => id)).size === 8,
      "the ships of two games are written down",
    );
    assertHappened(truth, [...ids, null]);
    assert.deepEqual([...players.flatMap(({ mistakes }) => mistakes), ...classic.all("error")], []);
  } finally {
    await classic?.stop();
    await server.stop();
  }
});

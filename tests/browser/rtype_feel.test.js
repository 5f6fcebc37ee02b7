/**
 * How the game feels over a bad line, from what the page showed and what was true: the own ship answers at
 * once and is hardly ever corrected, others fly smoothly; and not so without prediction and interpolation.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newWindow, shoot, useBrowser } from "./browser.js";
import { Flights, answersOf, correctionsOf, errorsOf, jumpsOf } from "./feel.js";
import { serveRtype } from "./rtype.js";
import { BAD_LINE, enterLobby, logOf, nowIn, pause, takeOff } from "./rtype_log.js";
import { sendBots } from "./server.js";

/** @typedef {import("./rtype_log.js").Log} Log */
/** @typedef {import("playwright-core").Page} Page */

/** What is pressed, one after the other: all of it leads back to about where it began. */
const PRESSES = [
  ["ArrowRight"],
  ["ArrowDown"],
  ["ArrowLeft"],
  ["ArrowUp"],
  ["ArrowRight", "ArrowDown"],
  ["ArrowLeft", "ArrowUp", "Space"],
];
/**
 * Of play that can be judged. On a busy machine it takes longer to get so much; after twice that time, half of
 * it does.
 */
const CALM_SECONDS = 20;
const CALM_SECONDS_MIN = 10;
const PATIENCE = 2;
const CORRECTIONS_PER_SECOND_MAX = 0.1;
/** Frames in which the own ship is where the server had it in the same step, all but those of corrections. */
const TRUE_FRAMES_MIN = 0.95;
/** Frames that took too long to be judged: with more of them the rest means little. */
const HITCHES_MAX = 0.2;
/** Keys that are answered in the very first frame: all but those in whose frame there is no step. */
const FIRST_FRAMES_MIN = 0.8;
/** Until a line is known as it is. */
const SETTLE_MS = 3_000;

useBrowser();
/** @type {Page} */
let page;
/** @type {Awaited<ReturnType<typeof serveRtype>>} */
let server;
/** @type {{ stop: () => Promise<void> }} */
let bots;
/** @type {{ all: Log, unpredicted: Log, uninterpolated: Log }} */
let logs;
/** @type {Flights} */
let flights;

/** Plays, as it is played and without prediction and interpolation: for the first test, and all have it. */
async function play() {
  server = await serveRtype({ levels: "quiet", settings: { NETLOOM_RTYPE_MIN_PLAYERS: "2" } });
  bots = sendBots(server, 1, "rtype");
  // A small window is drawn in time everywhere: what is judged here is not how fast this machine draws.
  const window = await newWindow({ viewport: { width: 640, height: 480 } });
  const { page: opened, mistakes } = await enterLobby(server, "Ada", { line: BAD_LINE, window });
  page = opened;
  await page.click("#ready");
  await takeOff(page);
  await flyToTheMiddle();
  await pause(SETTLE_MS);
  const all = await fly(CALM_SECONDS);
  await shoot(page, "rtype-feel");
  await page.uncheck("#prediction");
  // Every key is seen late: there must be a rest to be seen before the next.
  const unpredicted = await fly(7, 800);
  await page.check("#prediction");
  await page.uncheck("#interpolation");
  const uninterpolated = await fly(5);
  assert.deepEqual(mistakes, []);
  logs = { all, unpredicted, uninterpolated };
  flights = new Flights(server.truth());
}

after(async () => {
  await page?.context().close();
  await bots?.stop();
  await server?.stop();
});

/** Where no edge is near: at one, a ship flies otherwise than its player presses. */
async function flyToTheMiddle() {
  await page.keyboard.down("ArrowRight");
  await page.keyboard.down("ArrowDown");
  await page.waitForFunction(() => {
    const { own } = /** @type {any} */ (globalThis).netloomFrames.frames.at(-1);
    return own.x > 450 && own.y > 350;
  });
  await page.keyboard.up("ArrowDown");
  await page.keyboard.up("ArrowRight");
}

/**
 * Presses keys until there is so much play that can be judged: what was logged of it.
 * @param {number} seconds
 * @param {number} [restMs] between one key and the next
 */
async function fly(seconds, restMs = 250) {
  await page.focus("#field");
  const fromMs = await nowIn(page);
  let [press, nowMs, log] = [0, fromMs, /** @type {Log} */ ({ frames: [], events: [] })];
  // To ask for the log makes the page stop for a moment: that is not done more often than needed.
  for (let untilMs = fromMs + seconds * 1_100; correctionsOf(log).seconds < seconds; untilMs += 5_000) {
    for (; nowMs < untilMs; nowMs = await nowIn(page)) await pressOneByOne(restMs, press++);
    log = await logOf(page, fromMs, nowMs);
    if (nowMs > fromMs + PATIENCE * seconds * 1_000) break;
  }
  return log;
}

/**
 * @param {number} restMs
 * @param {number} round
 */
async function pressOneByOne(restMs, round) {
  for (const [at, keys] of PRESSES.entries()) {
    for (const key of keys) await page.keyboard.down(key);
    // Not the same time after each frame and step.
    await pause(200 + ((round * 37 + at * 61) % 100));
    for (const key of keys) await page.keyboard.up(key);
    await pause(restMs);
  }
}

/** Every key from rest moves the own ship in the first frame after it that acts. @param {Log} log */
function checkAnswers(log) {
  const answers = answersOf(log);
  const late = answers.filter(({ units, frames }) => units <= 0 || frames > 1);
  const inFirst = answers.filter(({ frames }) => frames === 0).length;
  assert.ok(answers.length >= 5, `${answers.length} keys from rest are nothing to judge by`);
  assert.equal(late.length, 0, `${late.length} of ${answers.length} keys are not answered at once`);
  assert.ok(inFirst >= FIRST_FRAMES_MIN * answers.length, `${inFirst} of ${answers.length} in the first`);
}

/** Others never jump. @param {Log} log */
function checkJumps(log) {
  const { jumps, judged, flown, hitches } = jumpsOf(log, flights);
  assert.ok(judged > 100 && flown > 500, `${flown} units in ${judged} frames are nothing to judge by`);
  assert.ok(hitches <= HITCHES_MAX, `${(100 * hitches).toFixed(1)} % of the frames took too long`);
  assert.deepEqual(jumps, [], `jumps in ${judged} frames`);
}

test("the own ship moves in the first frame after a key", async (context) => {
  await play();
  const answers = answersOf(logs.all);
  const inFirst = answers.filter(({ units, frames }) => units > 0 && frames === 0).length;
  context.diagnostic(`${answers.length} keys from rest, ${inFirst} answered in the very first frame`);
  checkAnswers(logs.all);
});

test("without prediction it does not", () => {
  assert.throws(() => checkAnswers(logs.unpredicted), /not answered at once/);
});

test("the own ship is corrected less than once in ten seconds, and was where it was shown", (context) => {
  const { corrections, seconds } = correctionsOf(logs.all);
  const errors = errorsOf(logs.all, flights).sort((one, other) => one - other);
  const share = errors.filter((units) => units < 1).length / errors.length;
  context.diagnostic(
    `${corrections.length} corrections in ${seconds.toFixed(1)} s (${JSON.stringify(corrections)}); ` +
      `${(100 * share).toFixed(1)} % of ${errors.length} frames true within a unit`,
  );
  assert.ok(seconds >= CALM_SECONDS_MIN, `only ${seconds.toFixed(1)} s to judge: this machine is too busy`);
  assert.ok(corrections.length < CORRECTIONS_PER_SECOND_MAX * seconds, JSON.stringify(corrections));
  assert.ok(share >= TRUE_FRAMES_MIN, `${share} of the frames are true`);
});

test("other ships never move by more than twice their way of a frame", (context) => {
  const { judged, hitches } = jumpsOf(logs.all, flights);
  context.diagnostic(`${judged} frames, and ${(100 * hitches).toFixed(1)} % that took too long`);
  checkJumps(logs.all);
});

test("without interpolation they do", () => {
  assert.throws(() => checkJumps(logs.uninterpolated), /jumps in/);
});

/** The browser of this machine, and pages in it that are watched for mistakes. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("./server.js").Served} Served */

const SHOTS = fileURLToPath(new URL("../../target/browser/", import.meta.url));
/** How long anything may take on a machine that does other things as well. */
export const PATIENCE_MS = 30_000;

/** @type {import("playwright-core").Browser} */
let browser;

/** To be called once by every file of tests. */
export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({
      executablePath: execFileSync("which", ["chromium"], { encoding: "utf8" }).trim(),
      // Tests may run as root, in a container; what they load is our own.
      args: ["--no-sandbox"],
    });
  });
  after(() => browser.close());
}

/**
 * A window of its own, with storage of its own.
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export function newWindow(options = {}) {
  return browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
}

/**
 * A page that is open, and what went wrong in it.
 * @param {Served} server
 * @param {object} [options]
 * @param {string} [options.query]
 * @param {() => void} [options.script] runs before everything else
 * @param {import("playwright-core").BrowserContext} [options.window]
 * @param {(page: Page) => Promise<void>} [options.prepare]
 * @returns {Promise<{ page: Page, mistakes: string[] }>}
 */
export async function openPage(server, { query = "", script, window, prepare } = {}) {
  const page = await (window ?? (await newWindow())).newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  /** @type {string[]} */
  const mistakes = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") mistakes.push(message.text());
  });
  page.on("pageerror", (error) => mistakes.push(String(error)));
  if (script !== undefined) await page.addInitScript(script);
  await prepare?.(page);
  await page.goto(`${server.page}/${query}`);
  return { page, mistakes };
}

/**
 * Waits until there is a seat and the world is here.
 * @param {Page} page
 */
export async function joined(page) {
  await page.waitForFunction(() => {
    const { client } = /** @type {any} */ (globalThis).netloom?.session ?? {};
    return client?.state === "connected" && client.progress === 1;
  });
}

/** @param {Page} page @returns {Promise<any>} what the page's client measures, and which transport it uses */
export function measured(page) {
  return page.evaluate(() => {
    const { session, graphs } = /** @type {any} */ (globalThis).netloom;
    const { client } = session;
    return {
      ...client.stats(),
      ...graphs.loss,
      transport: client.transport,
      player: client.player,
      state: client.state,
    };
  });
}

/** Where everything is shown. @param {Page} page @returns {Promise<Record<string, [number, number]>>} */
export function places(page) {
  return page.evaluate(() => {
    const { client } = /** @type {any} */ (globalThis).netloom.session;
    return Object.fromEntries([...client.objects()].map((object) => [object.alias, [...object.position]]));
  });
}

/**
 * Moves sliders of the net lab.
 * @param {Page} page
 * @param {"both" | "outgoing" | "incoming"} direction
 * @param {Record<string, number>} values
 */
export async function slide(page, direction, values) {
  await page.check(`input[name=way][value=${direction}]`, { force: true });
  for (const [id, value] of Object.entries(values)) await page.fill(`#${id}`, String(value));
}

/** Keeps a picture of a page, to be looked at. @param {Page} page @param {string} name */
export async function shoot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}${name}.png` });
}

/**
 * Asks until it is so, and tells what was seen last if it never is.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(answer: T) => boolean} isRight
 * @param {string} what
 * @param {number} [patienceMs]
 */
export async function eventually(ask, isRight, what, patienceMs = PATIENCE_MS) {
  const until = performance.now() + patienceMs;
  let seen = await ask();
  while (!isRight(seen)) {
    assert.ok(performance.now() < until, `${what}: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen = await ask();
  }
  return seen;
}

/** What a page of R-TYPE showed, frame by frame: pages that keep a log of it, and how to get at that. */

import { joined, openPage, slide } from "./browser.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("./server.js").Served} Served */
/** @typedef {import("/rtype/frame_log.js").LoggedFrame} Frame */
/** @typedef {import("/rtype/frame_log.js").LoggedEvent} LoggedEvent */
/** @typedef {{ frames: Frame[], events: LoggedEvent[] }} Log what was shown, and what happened meanwhile */

/** 150 ms there and back, up to 30 ms more or less, and one of twenty packets is lost on each way. */
export const BAD_LINE = { latencyMs: 75, jitterMs: 15, lossPercent: 5 };

/**
 * A page in the lobby that keeps a log of its frames.
 * @param {Served} server
 * @param {string} name
 * @param {object} [options]
 * @param {Record<string, number>} [options.line] what the sliders of the net lab are set to
 * @param {import("playwright-core").BrowserContext} [options.window]
 */
export async function enterLobby(server, name, { line, window } = {}) {
  const { page, mistakes } = await openPage(server, { query: `?log=1&name=${name}`, window });
  await joined(page);
  if (line !== undefined) await slide(page, "both", line);
  return { page, mistakes };
}

/** Waits until there is an own ship, and gives it the keys. @param {Page} page */
export async function takeOff(page) {
  await page.waitForFunction(
    () => /** @type {any} */ (globalThis).netloomFrames.frames.at(-1)?.own?.down === 0,
  );
  await page.focus("#field");
}

/** What time it is in a page. @param {Page} page */
export function nowIn(page) {
  return page.evaluate(() => performance.now());
}

/**
 * What a page logged from one time to another.
 * @param {Page} page
 * @param {number} fromMs
 * @param {number} toMs
 * @returns {Promise<Log>}
 */
export function logOf(page, fromMs, toMs) {
  return page.evaluate(
    ([from, to]) => {
      const { frames, events } = /** @type {any} */ (globalThis).netloomFrames;
      const isThen = (/** @type {{ timeMs: number }} */ { timeMs }) => timeMs >= from && timeMs < to;
      return { frames: frames.filter(isThen), events: events.filter(isThen) };
    },
    [fromMs, toMs],
  );
}

/** @param {number} ms */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How the page gets to its server, and what it sees there. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, joined, measured, openPage, places, shoot, useBrowser } from "./browser.js";
import { serve } from "./server.js";

useBrowser();
/** @type {import("./server.js").Served} */
let server;
before(async () => {
  server = await serve();
});
after(() => server.stop());

/** @param {import("playwright-core").Page} page */
async function seesThingsMove(page) {
  const before = await places(page);
  assert.ok(Object.keys(before).length >= 200, `${Object.keys(before).length} objects`);
  await eventually(
    () => places(page),
    (now) => {
      const moved = Object.keys(before).filter((alias) => {
        const [from, to] = [before[alias], now[alias]];
        return to !== undefined && Math.hypot(to[0] - from[0], to[1] - from[1]) > 0.5;
      });
      return moved.length >= 200;
    },
    "200 objects are elsewhere",
  );
}

/** @param {string} name @param {string} transport */
function serverSees(name, transport) {
  const row = `name="${name}",room="0",transport="${transport}"}`;
  return eventually(
    () => server.figures(),
    (figures) => figures.includes(row),
    `${name} by ${transport}`,
  );
}

const WAYS = [
  { what: "by WebTransport", transport: "webtransport", words: "WebTransport", query: "?name=Ada" },
  {
    what: "by WebSocket where there is no WebTransport",
    transport: "websocket",
    words: "WebSocket",
    query: "?name=Bob",
    script: () => {
      delete (/** @type {any} */ (globalThis).WebTransport);
    },
  },
  {
    what: "by WebSocket where WebTransport leads nowhere",
    transport: "websocket",
    words: "WebSocket",
    query: "?name=Cleo",
    script: () => {
      /** @type {any} */ (globalThis).WebTransport = class {
        ready = Promise.reject(new Error("blocked on the way"));
        closed = this.ready;
        datagrams = {};
        close() {}
      };
    },
  },
  {
    what: "by WebSocket if asked for",
    transport: "websocket",
    words: "WebSocket",
    query: "?name=Dan&transport=websocket",
  },
];

for (const { what, transport, words, query, script } of WAYS) {
  test(`connects ${what}, and 200 objects move`, async () => {
    const { page, mistakes } = await openPage(server, { query, script });
    await joined(page);
    assert.equal((await measured(page)).transport, transport);
    assert.equal(await page.textContent("#status-words"), `Connected by ${words}`);
    await serverSees(/** @type {string} */ (new URLSearchParams(query).get("name")), transport);
    await seesThingsMove(page);
    await shoot(page, `yard-${new URLSearchParams(query).get("name")}`);
    assert.deepEqual(mistakes, []);
    await page.close();
  });
}

test("another transport is taken while the page is open", async () => {
  const { page, mistakes } = await openPage(server, { query: "?name=Eve" });
  await joined(page);
  await page.selectOption("#transport", "websocket");
  await eventually(
    () => measured(page),
    ({ state, transport }) => state === "connected" && transport === "websocket",
    "WebSocket",
  );
  await serverSees("Eve", "websocket");
  await page.selectOption("#transport", "");
  await eventually(
    () => measured(page),
    ({ state, transport }) => state === "connected" && transport === "webtransport",
    "back",
  );
  // Whoever cannot decide gets the last that was chosen.
  await page.evaluate(() => {
    const choice = /** @type {HTMLSelectElement} */ (document.getElementById("transport"));
    for (const transport of ["websocket", "", "webtransport", "websocket"]) {
      choice.value = transport;
      choice.dispatchEvent(new Event("change"));
    }
  });
  await eventually(
    () => measured(page),
    ({ state, transport }) => state === "connected" && transport === "websocket",
    "the last one",
  );
  // By the name alone: nobody is left who has it.
  await serverSees("Eve", "websocket");
  assert.deepEqual(mistakes, []);
  await page.close();
});

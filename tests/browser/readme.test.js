/** The page of the SDK's README works as it stands, served from the server's own address. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import { readmePage } from "../../bindings/js/test/readme.js";
import { eventually, newWindow, useBrowser } from "./browser.js";
import { serve } from "./server.js";

useBrowser();

/**
 * In front of a server: everything is passed on, but the page at `/` is another.
 * @param {string} address
 * @param {string} page
 */
async function withPage(address, page) {
  const { hostname, port } = new URL(address);
  const front = createServer((client) => {
    client.on("error", () => client.destroy());
    client.once("data", (first) => {
      if (/^GET \/ HTTP/.test(first.toString("latin1"))) {
        client.end(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n${page}`);
        return;
      }
      const server = connect(Number(port), hostname);
      server.on("error", () => client.destroy());
      server.write(first);
      client.pipe(server).pipe(client);
    });
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  return {
    front,
    url: `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (front.address()).port}/`,
  };
}

test("the README's page shows the cubes", async () => {
  const server = await serve();
  const { front, url } = await withPage(server.page, readmePage());
  try {
    const page = await (await newWindow()).newPage();
    /** @type {string[]} */
    const mistakes = [];
    page.on("pageerror", (error) => mistakes.push(String(error)));
    await page.goto(url);
    const words = await eventually(
      () => page.textContent("p"),
      (text) => /, 257 objects, /.test(text ?? ""),
      "it shows the cubes",
    );
    assert.match(words ?? "", /^(webtransport|websocket), 257 objects, [\d.]+ ms$/);
    const colours = await page.evaluate(() => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector("canvas"));
      const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).getImageData(
        0,
        0,
        600,
        600,
      );
      const seen = new Set();
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] === 255) seen.add(data.slice(at, at + 3).join());
      return [...seen];
    });
    for (const colour of ["255,0,0", "0,128,0", "0,0,255", "255,255,0", "255,255,255"])
      assert.ok(colours.includes(colour), colour);
    assert.deepEqual(mistakes, []);
    await page.close();
  } finally {
    front.close();
    await server.stop();
  }
});

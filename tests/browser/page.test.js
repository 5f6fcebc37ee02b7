/** What a page owes to everybody: words, labels, contrast, keys, and other people's words as words. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, joined, measured, newWindow, openPage, places, shoot, useBrowser } from "./browser.js";
import { serve } from "./server.js";

const CONTRAST_MIN = 4.5;

useBrowser();
/** @type {import("./server.js").Served} */
let server;
/** The same for the shooter. @type {import("./server.js").Served} */
let shooter;
before(async () => {
  server = await serve();
  shooter = await serve({ game: "rtype" });
});
after(async () => {
  await server.stop();
  await shooter.stop();
});

/** The pages, each of which owes the same. */
const PAGES = /** @type {const} */ ([
  { game: "cubes", title: "Netloom: the yard", serverOf: () => server },
  { game: "rtype", title: "Netloom: R-Type", serverOf: () => shooter },
]);

/** @param {import("playwright-core").Page} page */
async function ownPlace(page) {
  return page.evaluate(() => {
    const own = /** @type {any} */ (globalThis).netloom.session.client.own("Walker");
    return own === undefined ? null : [...own.position];
  });
}

for (const { game, title, serverOf } of PAGES) {
  test(`${game} has a title, a language, a viewport, headings in order and a name for every control`, async () => {
    const { page, mistakes } = await openPage(serverOf());
    await joined(page);
    const said = await page.evaluate(() => {
      const nameOf = (/** @type {any} */ control) => {
        const label = control.labels?.[0]?.textContent ?? "";
        return control.getAttribute("aria-label") ?? (label.trim() || control.textContent.trim());
      };
      const nameless = [...document.querySelectorAll("button, input, select, textarea, a, canvas")].filter(
        (control) => nameOf(control) === "" && control.closest("[hidden]") === null,
      );
      return {
        title: document.title,
        language: document.documentElement.lang,
        viewport: document.querySelector("meta[name=viewport]")?.getAttribute("content"),
        headings: [...document.querySelectorAll("h1")].length,
        landmarks: document.querySelectorAll("main, header").length,
        nameless: nameless.map(({ outerHTML }) => outerHTML),
        ids: [...document.querySelectorAll("[id]")].map(({ id }) => id),
        inline: document.querySelectorAll("[style], style, script:not([src])").length,
      };
    });
    assert.deepEqual(
      { ...said, ids: said.ids.length - new Set(said.ids).size },
      {
        title,
        language: "en",
        viewport: "width=device-width, initial-scale=1",
        headings: 1,
        landmarks: 2,
        nameless: [],
        ids: 0,
        inline: 0,
      },
    );
    assert.deepEqual(mistakes, []);
    await page.close();
  });

  test(`all text of ${game} has a contrast of at least 4.5, before a curtain as well`, async () => {
    const { page } = await openPage(serverOf());
    await joined(page);
    for (const isCurtain of [false, true]) {
      if (isCurtain) await page.evaluate(() => document.getElementById("curtain")?.removeAttribute("hidden"));
      const { texts, faint } = await page.evaluate((least) => {
        const parts = (/** @type {string} */ colour) => {
          const [red, green, blue, alpha = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
          return { rgb: [red, green, blue], alpha };
        };
        const groundOf = (/** @type {Element | null} */ element) => {
          /** @type {{ rgb: number[], alpha: number }[]} */
          const layers = [];
          for (let at = element; at !== null; at = at.parentElement) {
            layers.push(parts(getComputedStyle(at).backgroundColor));
            if (layers[layers.length - 1].alpha === 1) break;
          }
          return layers.reduceRight(
            (below, { rgb, alpha }) => below.map((value, index) => value + (rgb[index] - value) * alpha),
            [0, 0, 0],
          );
        };
        const light = (/** @type {number[]} */ rgb) => {
          const [red, green, blue] = rgb.map((value) => {
            const share = value / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const faint = [];
        let texts = 0;
        while (walker.nextNode()) {
          const { textContent, parentElement } = walker.currentNode;
          if (textContent?.trim() === "" || parentElement === null || !parentElement.checkVisibility())
            continue;
          texts++;
          const [one, two] = [
            light(parts(getComputedStyle(parentElement).color).rgb),
            light(groundOf(parentElement)),
          ];
          const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
          if (contrast < least) faint.push(`${contrast.toFixed(2)}: ${textContent}`);
        }
        return { texts, faint };
      }, CONTRAST_MIN);
      assert.ok(texts > 25, `${texts} texts`);
      assert.deepEqual(faint, []);
    }
    await page.close();
  });

  test(`every control of ${game} is reached by the Tab key and shows that it has the focus`, async () => {
    const { page } = await openPage(serverOf());
    await joined(page);
    const controls = await page.evaluate(() => {
      const all = [...document.querySelectorAll("button, input, select, a[href], [tabindex='0']")];
      // Of a group of radio buttons the chosen one is reached; arrow keys lead to the others.
      return all.filter(
        (each) =>
          each.checkVisibility() &&
          !each.matches(":disabled") &&
          !(each instanceof HTMLInputElement && each.type === "radio" && !each.checked),
      ).length;
    });
    const seen = new Set();
    for (let presses = 0; presses < controls; presses++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(() => {
        const element = /** @type {HTMLElement} */ (document.activeElement);
        const shown = element.matches("input[type=radio]")
          ? /** @type {Element} */ (element.nextElementSibling)
          : element;
        const { outlineStyle, outlineWidth } = getComputedStyle(shown);
        return {
          what: element.id || element.outerHTML,
          isMarked: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2,
        };
      });
      assert.ok(focused.isMarked, `${focused.what} shows no focus`);
      seen.add(focused.what);
    }
    assert.equal(seen.size, controls);
    await page.close();
  });
}

test("the walker walks by keys while they are not for a slider, by touch, and leaps", async () => {
  const window = await newWindow({
    viewport: { width: 400, height: 860 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
  });
  const { page, mistakes } = await openPage(server, { window });
  await joined(page);
  await shoot(page, "phone");
  const begin = /** @type {number[]} */ (await ownPlace(page));
  const way = begin[0] > 0 ? "ArrowLeft" : "ArrowRight";
  await page.keyboard.down(way);
  const walked = await eventually(
    () => ownPlace(page),
    (at) => at !== null && Math.abs(at[0] - begin[0]) > 2,
    "it walks",
  );
  await page.keyboard.press("Space");
  await eventually(
    () => ownPlace(page),
    (at) => at !== null && Math.abs(at[0] - Number(walked?.[0])) > 3,
    "it leaps",
    2_000,
  );
  await page.keyboard.up(way);
  await page.focus("#latencyMs");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.inputValue("#latencyMs"), "5");
  await page.fill("#latencyMs", "0");
  const before = /** @type {number[]} */ (
    await eventually(
      () => ownPlace(page),
      (at) => at !== null,
      "it is there",
    )
  );
  await page.locator("#yard").scrollIntoViewIfNeeded();
  const { x, y } = /** @type {{ x: number, y: number }} */ (await page.locator("#yard").boundingBox());
  const browser = await window.newCDPSession(page);
  const touch = (
    /** @type {"touchStart" | "touchMove" | "touchEnd"} */ type,
    /** @type {number[]} */ ...downs
  ) => {
    return browser.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: downs.map((down) => ({ x: x + 150, y: y + down })),
    });
  };
  await touch("touchStart", 150);
  await touch("touchMove", before[1] > 0 ? 220 : 80);
  await eventually(
    () => ownPlace(page),
    (at) => at !== null && Math.abs(at[1] - before[1]) > 2,
    "it walks where it is pulled",
  );
  await shoot(page, "touch");
  await touch("touchEnd");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 400, `${wide} pixels wide`);
  assert.deepEqual(mistakes, []);
  await window.close();
});

test("names and chat are text, whatever they look like", async () => {
  const evil = "<img src=x onerror=boom()>";
  const window = await newWindow();
  const { page: one, mistakes } = await openPage(server, {
    query: `?name=${encodeURIComponent("<b>Eve</b>\u202e")}`,
    window,
  });
  const { page: two, mistakes: others } = await openPage(server, { query: "?name=Bob" });
  await joined(one);
  await joined(two);
  await one.fill("#chat-text", `${evil} <script>boom()</script> \u202e\u0007`);
  await one.keyboard.press("Enter");
  const line = await eventually(
    () => two.textContent("#chat-lines"),
    (text) => text?.includes("onerror") ?? false,
    "it is said",
  );
  assert.ok(line?.includes(`${evil} <script>boom()</script>`), line ?? "");
  assert.doesNotMatch(line ?? "", /[\u202e\u0007]/);
  assert.equal(await two.locator("#chat-lines img, #chat-lines script, #player-list b").count(), 0);
  assert.match(/** @type {string} */ (await two.textContent("#player-list")), /<b>Eve<\/b>/);
  assert.ok(Object.keys(await places(two)).length > 200);
  await shoot(two, "chat");
  assert.deepEqual([...mistakes, ...others], []);
  await window.close();
  await two.close();
});

test("the canvas has the pixels of the screen, at any size", async () => {
  for (const [width, height, deviceScaleFactor] of [
    [400, 800, 3],
    [1_100, 700, 1],
    [2_560, 1_440, 1.5],
  ]) {
    const window = await newWindow({ viewport: { width, height }, deviceScaleFactor });
    const { page } = await openPage(server, { window });
    await joined(page);
    const size = () =>
      page.evaluate(() => {
        const yard = /** @type {HTMLCanvasElement} */ (document.getElementById("yard"));
        const box = yard.getBoundingClientRect();
        return {
          off:
            Math.abs(yard.width - box.width * devicePixelRatio) +
            Math.abs(yard.height - box.height * devicePixelRatio),
          wide: document.documentElement.scrollWidth,
        };
      });
    await eventually(size, ({ off, wide }) => off <= 2 && wide <= width, `${width} pixels`);
    await page.setViewportSize({ width: width - 60, height: height - 50 });
    await eventually(size, ({ off, wide }) => off <= 2 && wide <= width - 60, "smaller");
    if (width > 2_000) await shoot(page, "large");
    await window.close();
  }
});

test("whoever wants less motion gets a still graph, and the same figures", async () => {
  const window = await newWindow({ reducedMotion: "reduce" });
  const { page, mistakes } = await openPage(server, { window });
  await joined(page);
  await eventually(
    () => page.textContent("#graphs"),
    (text) => /Round trip[\d.]+ ms/.test(text ?? ""),
    "figures",
  );
  assert.equal((await measured(page)).state, "connected");
  assert.deepEqual(mistakes, []);
  await window.close();
});

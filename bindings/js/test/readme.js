/** What the README shows, for tests that run it: a page that does not work is worse than none. */

import { readFileSync } from "node:fs";

const README = new URL("../README.md", import.meta.url);

/**
 * The code of the README in a language, in its order.
 * @param {string} language as in ```html
 * @returns {string[]}
 */
export function readmeBlocks(language) {
  const text = readFileSync(README, "utf8");
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  return Array.from(text.matchAll(fence), ([, code]) => code);
}

/** The page of the README, as it stands. */
export function readmePage() {
  const [page] = readmeBlocks("html");
  if (page === undefined) throw new Error("the README has no page");
  return page;
}

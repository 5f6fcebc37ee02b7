/** Small help with elements and with other people's words. */

/**
 * An element of this page, which has it.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} called ${id}`);
  return found;
}

/**
 * A new element with a text in it. It is a text, whatever it looks like.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} kind
 * @param {string} [text]
 * @param {string} [className]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(kind, text = "", className = "") {
  const made = document.createElement(kind);
  made.textContent = text;
  if (className !== "") made.className = className;
  return made;
}

/**
 * What turns a line around, hides a part of it or breaks it; not the joiners that emoji and some scripts
 * need.
 */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** More marks upon a letter than any language has reach into the lines above. */
const PILED = /(\p{M}{3})\p{M}+/gu;

/**
 * Somebody's words, fit to stand in a line with others'.
 * @param {string} text
 * @param {number} charactersMax
 */
export function plain(text, charactersMax) {
  const clean = [...text.replace(UNSEEN, "\ufffd").replace(PILED, "$1")];
  return clean.length > charactersMax ? `${clean.slice(0, charactersMax - 1).join("")}…` : clean.join("");
}

/** The names of transports, as people write them. */
export const TRANSPORTS = new Map([
  ["webtransport", "WebTransport"],
  ["websocket", "WebSocket"],
]);

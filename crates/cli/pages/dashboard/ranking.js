/** The most of something: a name, a bar and a figure for each. */

import { make } from "/common/words.js";

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {{ name: string, about?: string, size: number, text: string }} Entry */

/** See the module. */
export class Ranking {
  #list = make("ol", "", "ranking");
  #empty;
  #most;

  /**
   * @param {HTMLElement} parent
   * @param {string} empty what is said if there is nothing
   * @param {number} most how many are shown
   */
  constructor(parent, empty, most) {
    this.#empty = make("p", empty, "note");
    this.#most = most;
    parent.append(this.#list, this.#empty);
  }

  /** @param {Entry[]} entries */
  update(entries) {
    const first = entries.sort((one, other) => other.size - one.size).slice(0, this.#most);
    while (this.#list.children.length > first.length) this.#list.lastElementChild?.remove();
    while (this.#list.children.length < first.length) this.#list.append(makeEntry());
    const largest = Math.max(first[0]?.size ?? 0, Number.MIN_VALUE);
    first.forEach((entry, index) => show(this.#list.children[index], entry, largest));
    this.#empty.hidden = first.length > 0;
  }
}

function makeEntry() {
  const entry = make("li");
  const bar = document.createElementNS(SVG, "svg");
  bar.setAttribute("aria-hidden", "true");
  bar.append(document.createElementNS(SVG, "rect"));
  entry.append(make("span", "", "name"), make("span", "", "figure"), bar);
  return entry;
}

/**
 * @param {Element} element
 * @param {Entry} entry
 * @param {number} largest
 */
function show(element, { name, about = "", size, text }, largest) {
  const [label, figure] = element.querySelectorAll("span");
  label.textContent = name;
  label.title = about;
  figure.textContent = text;
  element.querySelector("rect")?.setAttribute("width", `${((100 * size) / largest).toFixed(1)}%`);
}

/**
 * The net lab: sliders that make the line bad, for real packets, while the game runs.
 *
 * What is set is kept here and handed to every client anew. A line with a name has more to it than the
 * sliders show (bursts, bandwidth), so it is set by its name until a slider is moved.
 */

import { element, make } from "/common/words.js";

/** @typedef {import("/netloom/index.js").Client} Client */
/** @typedef {{ latencyMs: number, jitterMs: number, lossPercent: number, duplicatePercent: number }} Line */
/** @typedef {"outgoing" | "incoming"} Way */

/** @type {readonly { id: keyof Line, label: string, unit: string, max: number, step: number }[]} */
const SLIDERS = [
  { id: "latencyMs", label: "Latency", unit: "ms", max: 500, step: 5 },
  { id: "jitterMs", label: "Jitter ±", unit: "ms", max: 200, step: 1 },
  { id: "lossPercent", label: "Loss", unit: "%", max: 50, step: 0.5 },
  { id: "duplicatePercent", label: "Duplication", unit: "%", max: 50, step: 0.5 },
];
const PERFECT = "none";
const OWN = "your own";

/** See the module. */
export class LabPanel {
  #form = element("lab", HTMLFormElement);
  #preset = element("preset", HTMLSelectElement);
  #note = element("lab-note", HTMLElement);
  #unplug = element("unplug", HTMLButtonElement);
  /** @type {Map<keyof Line, { slider: HTMLInputElement, output: HTMLOutputElement, unit: string }>} */
  #sliders = new Map();
  /** @type {Client | null} */
  #client = null;
  /** A line by name; null if the sliders were moved since. @type {string | null} */
  #named;
  /** @type {Record<Way, Line>} */
  #lines = { outgoing: perfect(), incoming: perfect() };
  #isUnplugged = false;

  /**
   * @param {import("/common/session.js").Session} session
   * @param {URLSearchParams} wishes
   */
  constructor(session, wishes) {
    this.#named = wishes.get("lab") ?? PERFECT;
    const parent = element("sliders", HTMLElement);
    for (const { id, label, unit, max, step } of SLIDERS) this.#addSlider(parent, id, label, unit, max, step);
    this.#preset.addEventListener("change", () => this.#choose(this.#preset.value));
    element("lab-off", HTMLButtonElement).addEventListener("click", () => this.#choose(PERFECT));
    this.#unplug.addEventListener("click", () => this.#setUnplugged(!this.#isUnplugged));
    for (const way of this.#form.querySelectorAll("input[name=way]"))
      way.addEventListener("change", () => this.#show());
    const transport = element("transport", HTMLSelectElement);
    transport.value = session.transport;
    transport.addEventListener("change", () => session.setTransport(transport.value));
    this.#form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** @param {Client} client */
  attach(client) {
    this.#client = client;
    if (this.#preset.length === 0) {
      const names = [...client.lab.presets, OWN];
      this.#preset.append(
        ...names.map((name) => {
          const option = make("option", name === PERFECT ? "perfect" : name);
          option.value = name;
          return option;
        }),
      );
    }
    if (this.#named !== null && !client.lab.presets.includes(this.#named)) this.#named = PERFECT;
    client.on("state", () => this.#show());
    this.#apply();
  }

  /**
   * @param {HTMLElement} parent
   * @param {keyof Line} id
   * @param {string} text
   * @param {string} unit
   * @param {number} max
   * @param {number} step
   */
  #addSlider(parent, id, text, unit, max, step) {
    const [row, label, slider, output] = [
      make("div", "", "slider"),
      make("label", text),
      make("input"),
      make("output"),
    ];
    slider.type = "range";
    slider.id = id;
    slider.max = String(max);
    slider.step = String(step);
    slider.value = "0";
    label.htmlFor = id;
    output.htmlFor.add(id);
    slider.addEventListener("input", () => this.#set(id, slider.valueAsNumber));
    row.append(label, slider, output);
    parent.append(row);
    this.#sliders.set(id, { slider, output, unit });
  }

  /** Which ways the sliders are about. @returns {Way[]} */
  get #ways() {
    const way = new FormData(this.#form).get("way");
    return way === "outgoing" || way === "incoming" ? [way] : ["outgoing", "incoming"];
  }

  /**
   * @param {keyof Line} id
   * @param {number} value
   */
  #set(id, value) {
    this.#named = null;
    for (const way of this.#ways) {
      const line = { ...this.#lines[way], [id]: value };
      // A packet cannot arrive before it is sent: there is no jitter beyond the latency.
      if (id === "jitterMs") line.latencyMs = Math.max(line.latencyMs, value);
      if (id === "latencyMs") line.jitterMs = Math.min(line.jitterMs, value);
      this.#lines[way] = line;
    }
    this.#apply();
  }

  /** @param {string} name */
  #choose(name) {
    this.#named = name === OWN ? null : name;
    if (name === PERFECT) this.#setUnplugged(false);
    this.#apply();
  }

  /** @param {boolean} isUnplugged */
  #setUnplugged(isUnplugged) {
    this.#isUnplugged = isUnplugged;
    this.#client?.lab.unplug(isUnplugged);
    this.#unplug.setAttribute("aria-pressed", String(isUnplugged));
    this.#unplug.textContent = isUnplugged ? "Plug it in again" : "Pull the plug";
  }

  #apply() {
    if (this.#client === null) return;
    const { lab } = this.#client;
    if (this.#named === null) lab.set(this.#lines);
    else lab.preset(this.#named);
    lab.unplug(this.#isUnplugged);
    const { outgoing, incoming } = lab.settings;
    this.#lines = { outgoing: shownOf(outgoing), incoming: shownOf(incoming) };
    this.#show();
  }

  /** Puts what is set into the controls. */
  #show() {
    this.#preset.value = this.#named ?? OWN;
    const line = this.#lines[this.#ways[0]];
    for (const [id, { slider, output, unit }] of this.#sliders) {
      slider.value = String(line[id]);
      output.textContent = `${Number(line[id].toFixed(1))} ${unit}`;
      slider.setAttribute("aria-valuetext", output.textContent);
    }
    const isStream = this.#client?.transport === "websocket";
    this.#note.textContent = isStream
      ? "A WebSocket loses and doubles nothing: what is lost on the way comes late instead."
      : "Latency counts each way: the round trip grows by twice as much.";
  }
}

/** @returns {Line} */
function perfect() {
  return { latencyMs: 0, jitterMs: 0, lossPercent: 0, duplicatePercent: 0 };
}

/**
 * @param {Line} line
 * @returns {Line}
 */
function shownOf({ latencyMs, jitterMs, lossPercent, duplicatePercent }) {
  return { latencyMs, jitterMs, lossPercent, duplicatePercent };
}

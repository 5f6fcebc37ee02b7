/** Figures as people read them. */

const STEPS = ["", "k", "M", "G", "T"];

/**
 * Three digits that matter, and what they are thousands of.
 * @param {number} value
 */
function short(value) {
  let step = 0;
  let rest = Math.abs(value);
  while (rest >= 999.5 && step < STEPS.length - 1) {
    rest /= 1_000;
    step++;
  }
  const digits = rest >= 99.95 || (step === 0 && Number.isInteger(rest)) ? 0 : rest >= 9.995 ? 1 : 2;
  return { text: `${value < 0 ? "−" : ""}${rest.toFixed(digits)}`, step: STEPS[step] };
}

/** A figure of a scale, whose last zeros say nothing. @param {string} text */
export function trimmed(text) {
  return text.replace(/\.0+(?!\d)|(\.\d*[1-9])0+(?!\d)/, "$1");
}

/** @param {number} value */
export function count(value) {
  const { text, step } = short(value);
  return step === "" ? text : `${text} ${step}`;
}

/** @param {number} bytes */
export function bytes(bytes) {
  const { text, step } = short(Math.round(bytes));
  return `${text} ${step}B`;
}

/** @param {number} rate in bytes a second */
export function bytesPerSecond(rate) {
  return `${bytes(rate)}/s`;
}

/** @param {number} value */
export function perSecond(value) {
  return value === 0 ? "0/s" : `${count(value)}/s`;
}

/** @param {number} value */
export function milliseconds(value) {
  if (value >= 999.5) return `${(value / 1_000).toFixed(2)} s`;
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ms`;
}

/** @param {number} value */
export function percent(value) {
  return `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

/** @param {number} value */
export function hertz(value) {
  return `${Number(value.toFixed(1))} Hz`;
}

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.floor(seconds);
  const parts = [
    [Math.floor(whole / 86_400), "d"],
    [Math.floor(whole / 3_600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "min"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount !== 0);
  const shown = first < 0 ? [[0, "s"]] : parts.slice(first, first + 2);
  return shown.map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}

/** `too_often` as people write it. @param {string} name */
export function words(name) {
  return name.replaceAll("_", " ");
}

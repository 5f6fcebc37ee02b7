/** The player's name from one visit to the next, where the browser keeps anything at all. */

const KEY = "netloom.name";

/** The name of last time, or a new one. */
export function keptName() {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept !== null && kept !== "") return kept;
  } catch {
    // Storage is disabled: every visit is the first.
  }
  return `guest-${Math.floor(Math.random() * 9_000 + 1_000)}`;
}

/** @param {string} name */
export function keepName(name) {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // As above.
  }
}

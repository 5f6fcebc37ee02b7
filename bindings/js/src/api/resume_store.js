/**
 * A seat that outlives a reload of the page.
 *
 * The token that takes a seat up again is good once. It is written down only while the page goes away and
 * taken out when the next one connects: so a copy of the tab, which has a copy of the storage, does not take
 * the seat from the tab that is in it. Storage that is disabled, full or broken is as if nothing had been
 * written.
 */

const KEY_PREFIX = "netloom.resume ";
const KEPT_MS_MAX = 60_000;

/** @typedef {Pick<Storage, "getItem" | "setItem" | "removeItem">} Store */

/** The storage of this tab, if there is one that may be used. */
export function tabStorage() {
  try {
    return globalThis.sessionStorage ?? null;
  } catch {
    return null;
  }
}

/** See the module. */
export class ResumeStore {
  #store;
  #key;

  /**
   * @param {Store | null} store
   * @param {string} seat what the token is for: the server, the game and the room
   */
  constructor(store, seat) {
    this.#store = store;
    this.#key = KEY_PREFIX + seat;
  }

  /**
   * The token, which is no longer here.
   * @param {number} nowMs by the clock of the day
   * @returns {Uint8Array | null}
   */
  take(nowMs) {
    try {
      const text = this.#store?.getItem(this.#key) ?? null;
      if (text === null) return null;
      this.#store?.removeItem(this.#key);
      const { token, atMs } = JSON.parse(text);
      const isFresh = nowMs - atMs >= 0 && nowMs - atMs <= KEPT_MS_MAX;
      if (!isFresh || typeof token !== "string" || !/^([0-9a-f]{2}){1,64}$/.test(token)) return null;
      return Uint8Array.from(token.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
    } catch {
      return null;
    }
  }

  /**
   * @param {Uint8Array} token
   * @param {number} nowMs
   */
  keep(token, nowMs) {
    try {
      const hex = Array.from(token, (byte) => byte.toString(16).padStart(2, "0")).join("");
      this.#store?.setItem(this.#key, JSON.stringify({ token: hex, atMs: nowMs }));
    } catch {
      // Without storage a reload begins anew.
    }
  }

  forget() {
    try {
      this.#store?.removeItem(this.#key);
    } catch {
      // What cannot be removed cannot be read either, or ends within a minute.
    }
  }
}

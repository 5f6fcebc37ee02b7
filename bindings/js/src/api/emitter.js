/** Events by name. A handler that throws must not keep others from hearing, nor stop the connection. */

/**
 * @template {{ [name: string]: any[] }} Events
 */
export class Emitter {
  /** @type {Map<keyof Events, Set<(...details: any[]) => void>>} */
  #handlers = new Map();

  /**
   * Calls the handler whenever the event happens. The result ends that.
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {(...details: Events[Name]) => void} handler
   * @returns {() => void}
   */
  on(name, handler) {
    if (typeof handler !== "function")
      throw new TypeError(`the handler of "${String(name)}" must be a function`);
    // Wrapped, so that one function registered twice is heard twice and ended once.
    const own = (/** @type {any[]} */ ...details) => handler(.../** @type {Events[Name]} */ (details));
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers.add(own));
    return () => {
      handlers.delete(own);
    };
  }

  /**
   * The same, for the first time only.
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {(...details: Events[Name]) => void} handler
   * @returns {() => void}
   */
  once(name, handler) {
    const off = this.on(name, (...details) => {
      off();
      handler(...details);
    });
    return off;
  }

  /**
   * Whether anybody listens: what is costly to tell need not be told to nobody.
   * @param {keyof Events} name
   */
  hears(name) {
    return (this.#handlers.get(name)?.size ?? 0) > 0;
  }

  /**
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {Events[Name]} details
   */
  emit(name, ...details) {
    const handlers = this.#handlers.get(name);
    if (handlers === undefined) return;
    for (const handler of [...handlers]) {
      try {
        handler(...details);
      } catch (error) {
        report(error);
      }
    }
  }
}

/**
 * Shows an error of the game where uncaught ones are shown, after the present work is done.
 * @param {unknown} error
 */
export function report(error) {
  if (typeof globalThis.reportError === "function") globalThis.reportError(error);
  else {
    queueMicrotask(() => {
      throw error;
    });
  }
}

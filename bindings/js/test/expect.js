/** Waiting for what must come, with an end: a test that waits in vain says for what. */

const WAIT_MS = 20_000;

/**
 * Settles as soon as something holds.
 * @param {() => boolean} holds
 * @param {string} what
 */
export async function eventually(holds, what) {
  const until = performance.now() + WAIT_MS;
  while (!holds()) {
    if (performance.now() > until) throw new Error(`in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * The details of the next event of which something holds.
 * @param {import("../src/index.js").Client} client
 * @param {any} name
 * @param {(details: any) => boolean} [holds]
 * @returns {Promise<any>}
 */
export function heard(client, name, holds = () => true) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      off();
      reject(new Error(`in vain: the event "${String(name)}"`));
    }, WAIT_MS);
    const off = client.on(name, (/** @type {any[]} */ ...details) => {
      if (!holds(details[0])) return;
      clearTimeout(timer);
      off();
      resolve(details[0]);
    });
  });
}

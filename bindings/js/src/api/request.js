/**
 * A call and its answer as one promise. Calls have no results of their own: what answers one is another call.
 */

import { NetloomError } from "../session/error.js";

/**
 * Makes a call and waits for the one that answers it. Rejects if the call is refused, if there is no answer
 * in time, and if the connection ends.
 * @param {import("./client.js").Client} client
 * @param {string} name
 * @param {{ answer: string, timeoutMs: number }} expected
 * @param {() => void} call
 * @returns {Promise<import("./told.js").Call>}
 */
export function answered(client, name, { answer, timeoutMs }, call) {
  return new Promise((resolve, reject) => {
    /** @type {(() => void)[]} */
    const ends = [];
    const settle = (/** @type {() => void} */ how) => {
      for (const end of ends) end();
      how();
    };
    const timer = setTimeout(() => {
      settle(() =>
        reject(
          new NetloomError("timeout", `"${name}" was not answered by "${answer}" within ${timeoutMs} ms`),
        ),
      );
    }, timeoutMs);
    ends.push(
      () => clearTimeout(timer),
      client.on("call", (arrived) => {
        if (arrived.name === answer) settle(() => resolve(arrived));
      }),
      client.on("call-refused", ({ name: refused, reason, text }) => {
        if (refused === name) settle(() => reject(new NetloomError("call-refused", text, { reason })));
      }),
      client.on("close", (error) => settle(() => reject(error))),
    );
    try {
      call();
    } catch (error) {
      settle(() => reject(error));
    }
  });
}

/**
 * Random sessions of the real server and this client over bad lines agree on every bit: see random_session.js.
 *
 *   NETLOOM_SEEDS=200 node --test test/random_sessions.test.js     so many of them
 *   NETLOOM_SEED=17 node --test test/random_sessions.test.js       one again
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RandomServers } from "./random_servers.js";
import { RandomSession } from "./random_session.js";

const AT_ONCE = 16;
const SEEDS =
  process.env.NETLOOM_SEED !== undefined
    ? [Number(process.env.NETLOOM_SEED)]
    : Array.from({ length: Number(process.env.NETLOOM_SEEDS ?? 24) }, (_, index) => index + 1);

test(`${SEEDS.length} random sessions agree with the server on every bit`, async (context) => {
  const servers = new RandomServers();
  const waiting = [...SEEDS];
  /** @type {string[]} */
  const failed = [];
  /** @type {{ [what: string]: number }} */
  const compared = {};
  const work = async () => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      try {
        const counts = await new RandomSession(seed, servers).run();
        for (const [what, count] of Object.entries(counts)) compared[what] = (compared[what] ?? 0) + count;
      } catch (error) {
        const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
        failed.push(
          `seed ${seed}: ${words}\n  again: NETLOOM_SEED=${seed} node --test test/random_sessions.test.js`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await servers.stop();
  context.diagnostic(`compared: ${JSON.stringify(compared)}`);
  assert.equal(failed.length, 0, failed.join("\n"));
  for (const [what, count] of Object.entries(compared))
    assert.ok(count > SEEDS.length, `${what}: ${count} were compared`);
});

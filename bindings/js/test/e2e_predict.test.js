/** The player's own object over a slow line: it moves at once, and the server agrees. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../src/node/index.js";
import { eventually } from "./expect.js";
import { addressOf, startTour } from "./servers.js";
import { tour } from "./tour.js";

/** As the server steps. @param {any} walker @param {any} input */
function walk(walker, { way }) {
  walker.at[0] += [0, 0.125, -0.125][way] ?? 0;
  walker.steps = (walker.steps + (way !== 0 ? 1 : 0)) & 0xffff;
}

const WALKS_MAX = 5;

/**
 * The own object walks ten metres, ahead of what the server has told, and stops where the server says.
 * @param {import("../src/index.js").Client} client
 * @param {ReturnType<import("../src/index.js").Client["predict"]>} own
 * @param {import("../src/index.js").NetObject} walker
 */
async function walkAndStop(client, own, walker) {
  const [start, told] = [own.state?.at[0], walker.get("at")[0]];
  client.setInput({ way: 1 });
  await eventually(() => own.state?.at[0] > start, "it moves");
  assert.equal(walker.get("at")[0], told, "the server has not said so yet");
  await eventually(() => own.state?.at[0] > start + 10, "it walks");
  assert.ok(own.state?.at[0] > walker.get("at")[0], "it is ahead of what the server told");
  client.update();
  assert.ok(Math.abs(walker.position[0] - own.state?.at[0]) <= 0.3, "it is shown where it is predicted");
  client.setInput({ way: 0 });
  await eventually(() => walker.get("steps") === own.state?.steps, "the server made the same steps");
  assert.ok(Math.abs(walker.get("at")[0] - own.state?.at[0]) < 0.01, "and came to the same place");
}

for (const scheme of /** @type {const} */ (["udp", "ws"])) {
  test(`over ${scheme} with 160 ms of round trip the own object reacts at once, uncorrected`, async () => {
    const server = await startTour([`${scheme}://127.0.0.1:0`]);
    const client = await connect(addressOf(server, scheme), {
      protocol: tour,
      name: "Ada",
      input: { way: 0 },
      lab: { latencyMs: 80 },
    });
    try {
      const own = client.predict("Walker", walk);
      await eventually(() => own.object !== null && client.progress === 1, "the walker is predicted");
      await eventually(() => client.stats().packetsReceived > 100, "the clocks have settled");
      const walker = /** @type {import("../src/index.js").NetObject} */ (own.object);
      assert.equal(walker, client.own("Walker"));
      // A machine that stands still sends inputs too late, and the server is right to make some up: then once more.
      let corrections;
      for (let walks = 0; walks < WALKS_MAX && corrections !== 0; walks++) {
        const before = own.corrections;
        await walkAndStop(client, own, walker);
        corrections = own.corrections - before;
      }
      assert.equal(corrections, 0, JSON.stringify(own.report));
      assert.equal(client.stats().corrections, own.corrections);
    } finally {
      await client.close();
      await server.stop();
    }
  });
}

test("a step that is wrong is corrected by the server, and seen in the figures", async () => {
  const server = await startTour(["udp://127.0.0.1:0"]);
  const client = await connect(addressOf(server, "udp"), {
    protocol: tour,
    name: "Ada",
    input: { way: 1 },
    lab: { latencyMs: 20 },
  });
  try {
    const own = client.predict("Walker", (walker, input) => {
      walk(walker, input);
      walker.at[0] += 0.125;
    });
    await eventually(() => own.corrections > 3, "the server disagrees");
    assert.ok((own.report?.fields.find(({ name }) => name === "at")?.count ?? 0) > 3);
    assert.equal(client.stats().corrections, own.corrections);
    assert.throws(() => client.predict("Tank", walk), { code: "setting" });
    assert.throws(() => client.predict("Walker", walk, { fields: ["at", "wheels"] }), { code: "setting" });
  } finally {
    await client.close();
    await server.stop();
  }
});

test("without prediction the own object waits for the server; without interpolation it is where it was told", async () => {
  const server = await startTour(["udp://127.0.0.1:0"]);
  const client = await connect(addressOf(server, "udp"), {
    protocol: tour,
    name: "Ada",
    input: { way: 1 },
    lab: { latencyMs: 60 },
  });
  try {
    const own = client.predict("Walker", walk);
    await eventually(() => own.object !== null && client.stats().packetsReceived > 60, "it is predicted");
    const walker = /** @type {import("../src/index.js").NetObject} */ (own.object);
    const told = () => walker.get("at")[0];
    // On a machine that stands still now and then, either side may be behind for a moment.
    await eventually(() => {
      client.update();
      return walker.position[0] > told() && Number(client.ownStep) > Number(client.shownStep);
    }, "ahead of what was told, and of everything else that is shown");
    own.enable(false);
    assert.deepEqual([own.isEnabled, own.object, own.state], [false, null, null]);
    await eventually(() => {
      client.update();
      return walker.position[0] < told();
    }, "behind what was told, as everything else");
    client.setInterpolation(false);
    client.update();
    assert.equal(walker.position[0], told(), "where it was told");
    const newest = Number(client.shownStep);
    assert.ok(Math.abs(newest - Math.round(newest)) < 1e-3, "a snapshot's own step");
    await eventually(() => {
      const [late, now] = [true, false].map((isWanted) => {
        client.setInterpolation(isWanted);
        client.update();
        return Number(client.shownStep);
      });
      return late < now;
    }, "late with interpolation");
    client.setInterpolation();
    own.enable();
    await eventually(() => {
      client.update();
      return own.object === walker && walker.position[0] > told();
    }, "ahead again");
  } finally {
    await client.close();
    await server.stop();
  }
});

test("what is not predicted is as the server told, and no mistake", async () => {
  const server = await startTour(["udp://127.0.0.1:0"]);
  const client = await connect(addressOf(server, "udp"), { protocol: tour, name: "Ada", input: { way: 1 } });
  try {
    const inPlaceOnly = client.predict(
      "Walker",
      (walker, { way }) => {
        walker.at[0] += [0, 0.125, -0.125][way] ?? 0;
      },
      { fields: ["at"] },
    );
    await eventually(() => (inPlaceOnly.report?.confirmed ?? 0) > 5, "the server agrees");
    assert.deepEqual(Object.keys(inPlaceOnly.state ?? {}), ["at"]);
    assert.deepEqual(
      inPlaceOnly.report?.fields.map(({ name }) => name),
      ["at"],
    );
    assert.ok((inPlaceOnly.object?.get("steps") ?? 0) > 0, "which the step above does not count");
  } finally {
    await client.close();
    await server.stop();
  }
});

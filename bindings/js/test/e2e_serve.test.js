/**
 * A client against `netloom serve` as anybody runs it: the whole world, word for word, and a seat that
 * outlives its connection.
 */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connect } from "../src/node/index.js";
import { eventually } from "./expect.js";
import { addressOf, startServe } from "./servers.js";
import { cubes } from "./tour.js";

/** @typedef {import("./servers.js").Running} Running */
/** @typedef {import("../src/index.js").Client} Client */

const TICKS = 12;
/** What is still on its way when the last tick is here. */
const LATE_TICKS = 4;

/**
 * The hashes of the next twelve ticks, here and on the server, of those in which every cube was told. A server
 * leaves objects for the next tick when its budget is used up, as right after a join; all cubes move, so what
 * has no state of a tick is older here than there.
 * @param {Client} client
 */
async function compare(client) {
  const world = /** @type {import("../src/replica/world.js").World} */ (client.world);
  const first = world.newest + 1;
  await eventually(() => world.newest >= first + TICKS + LATE_TICKS, "twelve more ticks");
  const isWhole = (/** @type {number} */ tick) => {
    return [...world.objects()].every((object) => object.class.name !== "Cube" || object.states.rowOf(tick) >= 0);
  };
  const ticks = Array.from({ length: TICKS }, (_, after) => first + after);
  const own = ticks.map((tick) => (isWhole(tick) ? world.hashAt(tick).toString(16).padStart(16, "0") : null));
  const { args } = await client.request("world_hash", [first], { answer: "world_hashes" });
  assert.equal(args[0], first);
  const servers = args[1].map((/** @type {number | bigint} */ hash) => hash.toString(16).padStart(16, "0"));
  const whole = ticks.map((_, at) => at).filter((at) => own[at] !== null);
  return { own: whole.map((at) => own[at]), servers: whole.map((at) => servers[at]) };
}

for (const [scheme, encryption] of /** @type {const} */ ([
  ["udp", "off"],
  ["udp", "required"],
  ["ws", "off"],
  ["ws", "required"],
])) {
  describe(`netloom serve over ${scheme}, encryption ${encryption}`, () => {
    /** @type {Running} */
    let server;
    before(async () => {
      server = await startServe();
    });
    after(() => server.stop());

    test("256 cubes are equal to the server's to the last word, while all of them move", async () => {
      const client = await connect(addressOf(server, scheme), { protocol: cubes, name: "Ada", encryption });
      assert.equal(client.transport, scheme === "ws" ? "websocket" : "udp");
      await eventually(
        () => client.progress === 1 && [...client.objects("Cube")].length === 256,
        "256 cubes",
      );
      client.setInput({ right: 1, up: -1, dash: false });
      const { own, servers } = await compare(client);
      assert.deepEqual(own, servers);
      assert.ok(own.length >= TICKS / 2, `${own.length} ticks were told whole`);
      assert.equal(new Set(own).size, own.length, "everything moves");
      assert.equal(client.stats().snapshotsRefused, 0);
      assert.equal((await client.close()).code, "closed");
    });
  });
}

test("a view shows cubes between their states, and never faster than they can be", async () => {
  const server = await startServe();
  try {
    const client = await connect(addressOf(server, "udp"), { protocol: cubes, name: "Ada" });
    await eventually(() => client.progress === 1, "the world is here");
    const [cube] = client.objects("Cube");
    const until = performance.now() + 1_500;
    let before = { at: performance.now(), place: [...cube.position] };
    let moves = 0;
    while (performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 16));
      client.update();
      const now = { at: performance.now(), place: [...cube.position] };
      const metres = Math.hypot(now.place[0] - before.place[0], now.place[1] - before.place[1]);
      const metresMax = (2 * 2 * (now.at - before.at)) / 1_000 + 0.05;
      assert.ok(metres <= metresMax, `${metres} m within ${now.at - before.at} ms`);
      if (metres > 0) moves++;
      before = now;
    }
    assert.ok(moves > 20, `it moved in ${moves} frames`);
    assert.equal(cube.position.length, 2);
    assert.ok(Math.abs(Math.hypot(...cube.rotation) - 1) < 1e-3);
    await client.close();
  } finally {
    await server.stop();
  }
});

test("nobody at an address is no mystery", async () => {
  await assert.rejects(connect("udp://127.0.0.1:9", { protocol: cubes }), {
    name: "NetloomError",
    code: "unreachable",
  });
  await assert.rejects(connect("ws://127.0.0.1:9/netloom", { protocol: cubes }), {
    name: "NetloomError",
    code: "unreachable",
  });
});

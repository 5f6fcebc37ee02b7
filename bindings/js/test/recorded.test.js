// Sessions of the reference server over a bad network, as its own client understood them. They were recorded
// by `cargo run --release -p netloom-conformance --example record_sessions`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "../src/replica/world.js";
import { recordedClasses, recordedSessions } from "./recorded.js";
import { fromHex } from "./vectors.js";

for (const { name, steps } of recordedSessions()) {
  test(`recorded: ${name}`, () => {
    const world = new World({ classes: recordedClasses() });
    steps.forEach(([hex, error, tick, count, hash], number) => {
      world.handleSnapshot(fromHex(hex));
      const seen = [
        world.error,
        world.newest,
        world.size,
        world.hashAt(world.newest).toString(16).padStart(16, "0"),
      ];
      assert.deepEqual(seen, [error, tick, count, hash], `snapshot ${number}`);
    });
  });
}

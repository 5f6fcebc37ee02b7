// Generated scenes over a bad network, as the reference client understood them, with every table that comes
// with Netloom: the same bits are the same objects. They are recorded by
// `cargo run -p netloom-conformance --example record_scenes`; a test there says when to do that again.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ClassTable } from "../src/replica/class.js";
import { Codes } from "../src/replica/codes.js";
import { World } from "../src/replica/world.js";
import { schemaOf } from "./schemas.js";
import { fromHex } from "./vectors.js";

/**
 * @typedef {object} Recorded
 * @property {string} scene
 * @property {string} table
 * @property {any[]} classes
 * @property {[string[], number, number, string][]} ticks snapshots, newest tick, objects, hash of their words
 */

/** @type {{ tables: Record<string, string>, scenes: Recorded[] }} */
const RECORDED = JSON.parse(readFileSync(new URL("scenes.json", import.meta.url), "utf8"));

for (const { scene, table, classes, ticks } of RECORDED.scenes) {
  test(`scene ${scene} with the table ${table}`, () => {
    const codes = new Codes(fromHex(RECORDED.tables[table]));
    const world = new World({ classes: new ClassTable(classes.map(schemaOf)), codes });
    let updates = 0;
    ticks.forEach(([snapshots, newest, count, hash], number) => {
      for (const hex of snapshots) {
        world.handleSnapshot(fromHex(hex));
        assert.equal(world.error, null, `tick ${number}`);
        updates += world.changes.filter(({ kind }) => kind === "updated").length;
      }
      const seen = [world.newest, world.size, world.hashAt(world.newest).toString(16).padStart(16, "0")];
      assert.deepEqual(seen, [newest, count, hash], `tick ${number}`);
    });
    assert.ok(updates > 100, `${updates} updates`);
  });
}

test("every kind of motion is there", () => {
  const scenes = new Set(RECORDED.scenes.map(({ scene }) => scene));
  assert.deepEqual([...scenes].sort(), ["crowd", "planet", "rigid", "shooter", "walk"]);
  assert.ok(RECORDED.scenes.every(({ table }) => RECORDED.tables[table] !== undefined));
});

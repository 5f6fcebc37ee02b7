// How long it takes to read a snapshot in which 200 objects changed (STANDARD profile, generic tables): `node
// bench/decode.js`. The snapshots are those of the reference server, recorded; a tick may have several.
import { World } from "../src/replica/world.js";
import { recordedClasses, recordedSessions } from "../test/recorded.js";
import { fromHex } from "../test/vectors.js";
import { report } from "./report.js";

const ROUNDS = 400;
const WARM_UP_ROUNDS = 100;
const OBJECTS = 200;

const classes = recordedClasses();
const steps = recordedSessions()[0].steps.map(([hex, , tick]) => ({ bytes: fromHex(hex), tick }));

/** @type {number[]} */
const times = [];
for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
  const world = new World({ classes });
  let microseconds = 0;
  let changed = 0;
  steps.forEach(({ bytes, tick }, number) => {
    const start = performance.now();
    world.handleSnapshot(bytes);
    microseconds += (performance.now() - start) * 1000;
    changed += world.changes.filter(({ kind }) => kind === "updated").length;
    if (steps[number + 1]?.tick === tick) return;
    if (changed === OBJECTS && round >= WARM_UP_ROUNDS) times.push(microseconds);
    microseconds = 0;
    changed = 0;
  });
}
report(`decode of ${OBJECTS} changed objects`, times, 500);

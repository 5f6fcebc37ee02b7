// How long a frame takes in which 1,000 objects are interpolated: `node bench/interpolate.js`. Every object
// moves and turns, and snapshots of all of them come twenty times a second between the frames.
import { Interpolator } from "../src/replica/view/interpolate.js";
import { report } from "./report.js";

const OBJECTS = 1000;
const INTERVAL_US = 50000;
const FRAME_US = 16667;

const objects = new Interpolator({ objects: OBJECTS });
/** @type {number[]} */
const times = [];
let tick = 0;
for (let now = 0; now < 60e6; now += FRAME_US) {
  for (; tick * INTERVAL_US <= now; tick++) {
    objects.handleSnapshot(tick * INTERVAL_US);
    for (let slot = 0; slot < OBJECTS; slot++) {
      const angle = tick * 0.05 + slot;
      const rotation = [0, 0, Math.sin(angle / 2), Math.cos(angle / 2)];
      const position = [Math.cos(angle) * slot, Math.sin(angle) * slot, slot];
      objects.insert(slot, tick * INTERVAL_US, position, rotation, null, -Infinity);
    }
  }
  const start = performance.now();
  objects.advance(Math.max(now - 100000, 0));
  if (now > 10e6) times.push((performance.now() - start) * 1000);
}
report(`a frame of ${OBJECTS} objects`, times, 500);

/**
 * Some fields of an object, each after its index (section 9.5 of the standard).
 */

import { WireError } from "./error.js";

/**
 * Reads the indexes of a block, and for each calls `readOne`, which reads the value. Ends where the reader
 * does.
 * @param {number} fieldCount of the schema
 * @param {import("./bytes.js").ByteReader} reader
 * @param {(index: number) => void} readOne
 */
export function readPropertyBlock(fieldCount, reader, readOne) {
  const count = reader.varintUpTo(fieldCount);
  let last = -1;
  for (let place = 0; place < count; place++) {
    const index = reader.varintUpTo(fieldCount - 1, "InvalidField");
    if (index <= last) throw new WireError("InvalidField");
    last = index;
    readOne(index);
  }
  reader.finish();
}

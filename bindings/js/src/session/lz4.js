/**
 * Unpacking snapshots (section "packed snapshots" of the standard): one block of the LZ4 block format.
 *
 * A block is a row of sequences: a token with two lengths, literals, and a match, which copies from what was
 * unpacked before, possibly overlapping itself. The last sequence ends after its literals. Everything is
 * checked against both ends before it is copied, so whatever arrives, nothing is written beyond the length
 * that was announced.
 */

import { ByteReader } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";

/** The longest snapshot that is packed, in bytes. */
export const SNAPSHOT_BYTES_MAX = 1_200;
const MATCH_MIN = 4;

/**
 * Unpacks what follows the kind of a packed snapshot. The result is a view of `out`.
 * @param {Uint8Array} packed
 * @param {Uint8Array} out at least SNAPSHOT_BYTES_MAX long
 * @returns {Uint8Array}
 */
export function unpack(packed, out) {
  const reader = new ByteReader(packed);
  const length = reader.u16();
  if (length === 0 || length > SNAPSHOT_BYTES_MAX) throw new WireError("OutOfRange");
  const { buffer, end } = reader;
  let from = reader.at;
  let to = 0;

  /** @param {number} nibble */
  const extended = (nibble) => {
    let value = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255;) {
      if (from >= end) throw new WireError("OutOfRange");
      byte = buffer[from++];
      value += byte;
    }
    return value;
  };

  for (;;) {
    if (from >= end) throw new WireError("OutOfRange");
    const token = buffer[from++];
    const literals = extended(token >> 4);
    if (literals > end - from || literals > length - to) throw new WireError("OutOfRange");
    for (let index = 0; index < literals; index++) out[to++] = buffer[from++];
    if (from === end) break;
    if (end - from < 2) throw new WireError("OutOfRange");
    const back = buffer[from] | (buffer[from + 1] << 8);
    from += 2;
    const match = extended(token & 15) + MATCH_MIN;
    if (back === 0 || back > to || match > length - to) throw new WireError("OutOfRange");
    for (let index = 0; index < match; index++, to++) out[to] = out[to - back];
  }
  if (to !== length) throw new WireError("OutOfRange");
  return out.subarray(0, length);
}

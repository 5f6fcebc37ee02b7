/**
 * Counters of which only the low bits travel (section 6).
 *
 * The standard's packet numbers have 64 bits. A Number is exact below 2^53: at a million packets a second
 * that is two hundred and eighty years, so numbers are Numbers here.
 */

/**
 * The full number behind its low 16 bits: the one nearest to the next expected; of two equally near, the
 * larger.
 * @param {number} truncated
 * @param {number} largest the largest number received so far
 */
export function expandPacketNumber(truncated, largest) {
  const expected = largest + 1;
  const candidate = expected - (expected % 65536) + truncated;
  if (candidate <= expected - 32768) return candidate + 65536;
  if (candidate >= 65536 && candidate - 32768 > expected) return candidate - 65536;
  return candidate;
}

/**
 * How far a 16-bit counter lies ahead of another: −32768..=32767.
 * @param {number} counter
 * @param {number} from
 */
export function distance16(counter, from) {
  return ((counter - from) << 16) >> 16;
}

/**
 * CRC32C, the checksum of handshake packets and plain sessions (section 19.1): the Castagnoli polynomial,
 * reflected.
 */

const table = new Int32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0x82f63b78 : 0);
  table[byte] = remainder;
}

/**
 * The checksum of a range, as an unsigned number. To continue after other bytes, hand in their checksum.
 * @param {Uint8Array} bytes
 * @param {number} [start]
 * @param {number} [end]
 * @param {number} [before] the checksum of what came before
 */
export function crc32c(bytes, start = 0, end = bytes.length, before = 0) {
  let remainder = ~before;
  for (let at = start; at < end; at++) remainder = (remainder >>> 8) ^ table[(remainder ^ bytes[at]) & 0xff];
  return ~remainder >>> 0;
}

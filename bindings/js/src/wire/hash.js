/**
 * FNV-1a (section 5.1): names, schemas, layouts and tables are told apart by it. It detects mistakes, not
 * attacks.
 *
 * 64 bits do not fit a Number, so the wide form multiplies four 16-bit limbs: names are hashed while a game
 * runs, and a BigInt per byte would be a hundred times slower.
 */

/**
 * 32 bits, as an unsigned Number.
 * @param {Uint8Array} bytes
 */
export function fnv1a32(bytes) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193);
  return hash >>> 0;
}

/**
 * 64 bits.
 * @param {Uint8Array} bytes
 * @returns {bigint}
 */
export function fnv1a64(bytes) {
  // Limbs of 0xCBF29CE484222325, the lowest first; the prime is 0x1B3 + 2^40.
  let h0 = 0x2325;
  let h1 = 0x8422;
  let h2 = 0x9ce4;
  let h3 = 0xcbf2;
  for (let at = 0; at < bytes.length; at++) {
    h0 ^= bytes[at];
    const p0 = h0 * 0x1b3;
    const p1 = h1 * 0x1b3 + (p0 >>> 16);
    const p2 = h2 * 0x1b3 + (h0 << 8) + (p1 >>> 16);
    const p3 = h3 * 0x1b3 + (h1 << 8) + (p2 >>> 16);
    h0 = p0 & 0xffff;
    h1 = p1 & 0xffff;
    h2 = p2 & 0xffff;
    h3 = p3 & 0xffff;
  }
  const low = (h0 | (h1 << 16)) >>> 0;
  const high = (h2 | (h3 << 16)) >>> 0;
  return BigInt(low) | (BigInt(high) << 32n);
}

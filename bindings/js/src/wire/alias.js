/**
 * What an object is called on one connection (section 6.3 of the standard): a slot that is used again, and a
 * generation that tells its users apart. Games see both as one opaque integer.
 */

/** The slot that names nothing. */
export const NO_SLOT = 65535;

/**
 * @param {number} slot
 * @param {number} generation
 */
export function aliasOf(slot, generation) {
  return slot | (generation << 16);
}

/** @param {number} alias */
export function slotOf(alias) {
  return alias & 0xffff;
}

/** @param {number} alias */
export function generationOf(alias) {
  return (alias >>> 16) & 0xff;
}

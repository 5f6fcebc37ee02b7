/**
 * One number for a whole state: two implementations, or two machines, that differ in anything differ in it.
 *
 * FNV-1a of 32 bits over every whole number of the state, four bytes each, the lowest first, in the order in
 * which they are named here. Lists begin with their length; a ship or an offer that is not there is a 0, one
 * that is there begins with a 1.
 */

/** @typedef {import("./state.js").State} State */

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * @param {number} hash
 * @param {number} n
 */
function add(hash, n) {
  let next = Math.imul(hash ^ (n & 0xff), PRIME);
  next = Math.imul(next ^ ((n >>> 8) & 0xff), PRIME);
  next = Math.imul(next ^ ((n >>> 16) & 0xff), PRIME);
  return Math.imul(next ^ (n >>> 24), PRIME);
}

/**
 * @param {number} hash
 * @param {...number} numbers
 */
function addAll(hash, ...numbers) {
  for (const n of numbers) hash = add(hash, n);
  return hash;
}

/**
 * The hash of everything but the events.
 * @param {State} state
 */
export function hashOf(state) {
  let hash = addAll(BASIS, state.step, state.level, state.wave, state.phase);
  hash = addAll(hash, state.phaseSteps, state.levelSteps, Number(state.endless));
  hash = addAll(hash, state.rng, state.nextId, state.nextOffer);
  for (const ship of state.ships) hash = ship === null ? add(hash, 0) : addShip(hash, ship);
  hash = add(hash, state.enemies.length);
  for (const enemy of state.enemies) {
    hash = addAll(hash, enemy.id, enemy.kind, enemy.x, enemy.y, enemy.vx, enemy.vy);
    hash = addAll(hash, enemy.health, enemy.healthMax, enemy.mood, enemy.timer);
    hash = addAll(hash, enemy.fireEvery, enemy.fireIn, enemy.count, Number(enemy.carries));
  }
  hash = add(hash, state.shots.length);
  for (const { id, kind, seat, x, y, vx, vy, damage, life, struck } of state.shots) {
    hash = addAll(hash, id, kind, seat, x, y, vx, vy, damage, life, struck);
  }
  hash = add(hash, state.capsules.length);
  for (const { id, x, y, vx, power } of state.capsules) hash = addAll(hash, id, x, y, vx, power);
  hash = add(hash, state.debris.length);
  for (const { id, x, y, vx, vy, size } of state.debris) hash = addAll(hash, id, x, y, vx, vy, size);
  return hash >>> 0;
}

/**
 * @param {number} hash
 * @param {import("./ship.js").Ship} ship
 */
function addShip(hash, { pilotage, lives, shield, score, offers }) {
  hash = addAll(hash, 1, pilotage.seat, pilotage.x, pilotage.y, pilotage.down, pilotage.safe);
  hash = addAll(hash, pilotage.thrusters, Number(pilotage.drone), pilotage.weapon, pilotage.weaponLevel);
  hash = addAll(hash, pilotage.cooldown, pilotage.ammo, pilotage.refill, pilotage.energy);
  hash = addAll(hash, lives, shield, score, offers.owed, offers.marks);
  return addOffer(addOffer(hash, offers.power), offers.weapon);
}

/**
 * @param {number} hash
 * @param {import("./offers.js").Offer | null} offer
 */
function addOffer(hash, offer) {
  return offer === null ? add(hash, 0) : addAll(hash, 1, offer.id, offer.left, ...offer.choices);
}

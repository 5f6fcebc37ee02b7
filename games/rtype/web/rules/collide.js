/** Who touches whom, and what comes of it. Boxes: half the width and the height around a centre. */

import { NOSE, SEATS, WIDTH } from "./constants.js";
import { isBoss, traits } from "./enemy.js";
import { Phase, ShotKind } from "./kinds.js";
import { retain } from "./list.js";
import { addScore, offerPower } from "./offers.js";
import { DOWN_OUT, DOWN_STEPS, SAFE_STEPS_SHIELD, SHIP_HALF_HEIGHT, SHIP_HALF_WIDTH } from "./ship.js";
import { CAPSULE_HALF, debrisHalf, isAlive, isEnemys, shotHalf } from "./shot.js";
import { BEAM_DAMAGE } from "./weapons.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./enemy.js").Enemy} Enemy */
/** @typedef {import("./shot.js").Shot} Shot */

/** What a ship takes of an enemy that it runs into, and that is no boss. */
const RAM_DAMAGE = 40;

/**
 * Whether two boxes meet, by the distance of their centres and the sum of their halves.
 * @param {number} dx
 * @param {number} dy
 * @param {number} halfWidth
 * @param {number} halfHeight
 */
function meet(dx, dy, halfWidth, halfHeight) {
  return Math.abs(dx) < halfWidth && Math.abs(dy) < halfHeight;
}

/**
 * Whether a beam that goes from `from` to `to` at a height of `y` crosses an enemy of that kind there.
 * Whoever judges beams by what a player saw asks this with the places of that time.
 * @param {number} from
 * @param {number} to
 * @param {number} y
 * @param {number} kind
 * @param {number} enemyX
 * @param {number} enemyY
 */
export function beamCrosses(from, to, y, kind, enemyX, enemyY) {
  const { halfWidth, halfHeight } = traits(kind);
  return Math.abs(enemyY - y) <= halfHeight && enemyX + halfWidth >= from && enemyX - halfWidth <= to;
}

/**
 * Where a beam ends that would go from `from` to `end` at a height of `y`, with debris of that half width
 * there.
 * @param {number} from
 * @param {number} end
 * @param {number} y
 * @param {number} half
 * @param {number} debrisX
 * @param {number} debrisY
 */
export function beamStops(from, end, y, half, debrisX, debrisY) {
  const left = debrisX - half;
  const stops = Math.abs(debrisY - y) <= half && debrisX + half >= from && left < end;
  return stops ? Math.max(left, from) : end;
}

/**
 * How far a beam from there gets: to the nearest debris, else to the right edge.
 * @param {State} state
 * @param {number} from
 * @param {number} y
 */
export function beamEnd(state, from, y) {
  let end = WIDTH;
  for (const debris of state.debris) {
    end = beamStops(from, end, y, debrisHalf(debris), debris.x, debris.y);
  }
  return end;
}

/**
 * The enemies that a beam of a ship hits where everything is now, in the order of the enemies: their numbers.
 * @param {State} state
 * @param {number} seat
 */
export function beamTargets(state, seat) {
  /** @type {number[]} */
  const targets = [];
  const ship = state.ships[seat] ?? null;
  if (ship === null) return targets;
  const { x, y } = ship.pilotage;
  const from = x + NOSE;
  const to = beamEnd(state, from, y);
  for (const enemy of state.enemies) {
    if (beamCrosses(from, to, y, enemy.kind, enemy.x, enemy.y)) targets.push(enemy.id);
  }
  return targets;
}

/**
 * A beam of a ship hit an enemy, as whoever judged it found. Returns whether the enemy was there.
 * @param {State} state
 * @param {number} seat
 * @param {number} id
 */
export function strike(state, seat, id) {
  const enemy = state.enemies.find((candidate) => candidate.id === id);
  if (enemy === undefined) return false;
  damage(state, enemy, BEAM_DAMAGE, seat);
  retain(state.enemies, isThere);
  return true;
}

/**
 * Everything that touches in this step. What is hit by two things at once is hit by the older one.
 * @param {State} state
 */
export function collide(state) {
  for (const shot of state.shots) {
    if (hitsDebris(state, shot)) shot.life = 0;
    else if (isEnemys(shot)) shotAtShips(state, shot);
    else shotAtEnemies(state, shot);
  }
  retain(state.shots, isAlive);
  retain(state.enemies, isThere);
  for (let seat = 0; seat < SEATS; seat++) shipAtThings(state, seat);
  retain(state.enemies, isThere);
}

/** @param {Enemy} enemy */
function isThere(enemy) {
  return enemy.health > 0;
}

/** @param {State} state @param {Shot} shot */
function hitsDebris(state, shot) {
  const { width, height } = shotHalf(shot.kind);
  for (const debris of state.debris) {
    const half = debrisHalf(debris);
    if (meet(debris.x - shot.x, debris.y - shot.y, half + width, half + height)) return true;
  }
  return false;
}

/** @param {State} state @param {Shot} shot */
function shotAtShips(state, shot) {
  const { width, height } = shotHalf(shot.kind);
  for (let seat = 0; seat < SEATS; seat++) {
    const ship = state.ships[seat];
    if (ship === null || !ship.flies()) continue;
    const { x, y } = ship.pilotage;
    if (meet(x - shot.x, y - shot.y, SHIP_HALF_WIDTH + width, SHIP_HALF_HEIGHT + height)) {
      shot.life = 0;
      hitShip(state, seat);
      return;
    }
  }
}

/** @param {State} state @param {Shot} shot */
function shotAtEnemies(state, shot) {
  const { width, height } = shotHalf(shot.kind);
  for (const enemy of state.enemies) {
    const { halfWidth, halfHeight } = traits(enemy.kind);
    if (enemy.health <= 0 || enemy.id === shot.struck) continue;
    if (!meet(enemy.x - shot.x, enemy.y - shot.y, halfWidth + width, halfHeight + height)) continue;
    damage(state, enemy, shot.damage, shot.seat);
    if (shot.kind !== ShotKind.Lance) {
      shot.life = 0;
      return;
    }
    shot.struck = enemy.id;
  }
}

/** @param {State} state @param {number} seat */
function shipAtThings(state, seat) {
  const ship = state.ships[seat];
  if (ship === null || !ship.flies()) return;
  const { x, y } = ship.pilotage;
  const mayTake = ship.offers.power === null;
  for (const enemy of state.enemies) {
    const { halfWidth, halfHeight } = traits(enemy.kind);
    const touch = meet(enemy.x - x, enemy.y - y, halfWidth + SHIP_HALF_WIDTH, halfHeight + SHIP_HALF_HEIGHT);
    if (touch && hitShip(state, seat) && !isBoss(enemy.kind)) damage(state, enemy, RAM_DAMAGE, seat);
  }
  for (const debris of state.debris) {
    const half = debrisHalf(debris);
    const touch = meet(debris.x - x, debris.y - y, half + SHIP_HALF_WIDTH, half + SHIP_HALF_HEIGHT);
    if (touch) hitShip(state, seat);
  }
  if (mayTake) takeCapsule(state, seat, x, y);
}

/** @param {State} state @param {number} seat @param {number} x @param {number} y */
function takeCapsule(state, seat, x, y) {
  const index = state.capsules.findIndex((capsule) =>
    meet(capsule.x - x, capsule.y - y, CAPSULE_HALF + SHIP_HALF_WIDTH, CAPSULE_HALF + SHIP_HALF_HEIGHT),
  );
  if (index < 0) return;
  const { id, power } = state.capsules[index];
  state.capsules.splice(index, 1);
  state.events.push({ type: "CapsuleTaken", id, seat });
  offerPower(state, seat, power);
}

/**
 * Takes health of an enemy. At its end whoever did it gets the points; its place is cleared by the caller.
 * @param {State} state
 * @param {Enemy} enemy
 * @param {number} taken
 * @param {number} by
 */
function damage(state, enemy, taken, by) {
  if (enemy.health <= 0) return;
  enemy.health -= taken;
  if (enemy.health > 0) return;
  const { id, kind, x, y } = enemy;
  state.events.push({ type: "EnemyKilled", id, kind, x, y, by });
  if (enemy.carries) state.addCapsule(x, y);
  addScore(state, by, traits(kind).points);
}

/**
 * A ship is hit, unless nothing can hit it now. Returns whether it was.
 * @param {State} state
 * @param {number} seat
 */
function hitShip(state, seat) {
  const ship = state.ships[seat];
  const over = state.phase === Phase.Lost || state.phase === Phase.Won;
  if (ship === null || ship.pilotage.safe > 0 || !ship.flies() || over) return false;
  const { pilotage } = ship;
  if (ship.shield > 0 || state.endless) {
    ship.shield = Math.max(ship.shield - 1, 0);
    pilotage.safe = SAFE_STEPS_SHIELD;
    state.events.push({ type: "ShipHit", seat });
    return true;
  }
  ship.lives -= 1;
  pilotage.down = ship.lives > 0 ? DOWN_STEPS : DOWN_OUT;
  pilotage.drone = false;
  state.events.push({ type: "ShipDown", seat, x: pilotage.x, y: pilotage.y, lives: ship.lives });
  return true;
}

/**
 * Enemies: how each kind moves and fires.
 *
 * What flies straight at a constant speed costs next to nothing to send, so velocities change seldom and at
 * once: a weaver flies eight straight pieces a wave, a hunter looks for its prey twice a second.
 */

import { leviathan, warden } from "./boss.js";
import { HEIGHT, WIDTH } from "./constants.js";
import { EnemyKind, ShotKind } from "./kinds.js";
import { aim } from "./math.js";

/** @typedef {import("./state.js").State} State */

/** Steps for which a turret shows that it is about to fire. */
const TURRET_WARNING_STEPS = 24;
// Where dashers and carriers stop, from the left.
const DASHER_STOP_X = 1400;
const CARRIER_STOP_X = 1320;
/** Steps for which a dasher shows that it is about to rush. */
const DASHER_WAIT_STEPS = 50;
const DASHER_SPEED = 15;
/** Steps between looks of a hunter. */
const HUNTER_LOOK_STEPS = 30;
// Drones of a carrier, and steps between them.
const CARRIER_DRONES = 6;
const CARRIER_DRONE_STEPS = 80;
// Steps of each straight piece of a weaver's way, and its speed downwards in each.
const WEAVE_STEPS = 12;
const WEAVE = [2, 4, 4, 2, -2, -4, -4, -2];
/** Units of a step of an enemy's shot. */
const PELLET_SPEED = 7;

/** Nothing special. */
export const MOOD_CALM = 0;
/** About to fire, or to rush: ships see it and can get away. */
export const MOOD_WARNING = 1;
/** Rushing. */
export const MOOD_RUSH = 2;

/**
 * What all enemies of a kind have in common.
 * @typedef {object} Traits
 * @property {number} halfWidth half the width of what can be hit
 * @property {number} halfHeight half the height of what can be hit
 * @property {number} health what it begins with; for bosses with one ship in the game
 * @property {number} points for its end
 * @property {number} speed units of a step to the left, unless the level says otherwise
 * @property {number} fireEvery steps between its shots, unless the level says otherwise
 */

/**
 * @param {number} halfWidth
 * @param {number} halfHeight
 * @param {number} health
 * @param {number} points
 * @param {number} speed
 * @param {number} fireEvery
 * @returns {Readonly<Traits>}
 */
function traitsOf(halfWidth, halfHeight, health, points, speed, fireEvery) {
  return Object.freeze({ halfWidth, halfHeight, health, points, speed, fireEvery });
}

/** By kind: drone, weaver, hunter, turret, dasher, carrier, warden, leviathan. */
const TRAITS = [
  traitsOf(26, 20, 10, 100, 5, 0),
  traitsOf(26, 22, 10, 150, 4, 0),
  traitsOf(28, 22, 24, 200, 4, 0),
  traitsOf(30, 30, 40, 300, 2, 90),
  traitsOf(36, 20, 24, 250, 5, 0),
  traitsOf(90, 52, 200, 1000, 3, 0),
  traitsOf(100, 130, 3400, 5000, 4, 0),
  traitsOf(150, 100, 5000, 10000, 4, 0),
];

/**
 * What all enemies of a kind have in common.
 * @param {number} kind
 */
export function traits(kind) {
  return TRAITS[kind];
}

/**
 * Whether a kind is a boss.
 * @param {number} kind
 */
export function isBoss(kind) {
  return kind === EnemyKind.Warden || kind === EnemyKind.Leviathan;
}

/** An enemy. */
export class Enemy {
  /**
   * @param {number} id
   * @param {number} kind
   * @param {number} x
   * @param {number} y
   */
  constructor(id, kind, x, y) {
    const { speed, health, fireEvery } = traits(kind);
    /** Its number: never given again in a game. */
    this.id = id;
    /** What it is. */
    this.kind = kind;
    /** Its centre, in units from the left. */
    this.x = x;
    /** Its centre, in units from the top. */
    this.y = y;
    /** Units of a step to the right. */
    this.vx = -speed;
    /** Units of a step downwards. */
    this.vy = 0;
    /** What is left of it. */
    this.health = health;
    /** What it began with. */
    this.healthMax = health;
    /** What it is about, 0 to 7. */
    this.mood = MOOD_CALM;
    /** Steps since it began to be about that. */
    this.timer = 0;
    /** Steps between its shots; 0: it has none of its own accord. */
    this.fireEvery = fireEvery;
    /** Steps until the next. */
    this.fireIn = fireEvery >> 1;
    /** What it counts: a carrier the drones that it let out, a boss how far its spiral has turned. */
    this.count = 0;
    /** Whether it leaves a capsule. */
    this.carries = kind === EnemyKind.Carrier;
  }

  /** What is left of it in percent, at least 1 while it is there. */
  percent() {
    return ((this.health * 100 + this.healthMax - 1) / this.healthMax) | 0;
  }

  /**
   * Begins to be about something else.
   * @param {number} mood
   */
  turnTo(mood) {
    this.mood = mood;
    this.timer = 0;
  }
}

/**
 * Moves every enemy, and lets it act. Those that come in the course of it move from the next step on.
 * @param {State} state
 */
export function stepEnemies(state) {
  const count = state.enemies.length;
  for (let index = 0; index < count; index++) {
    const enemy = state.enemies[index];
    enemy.timer += 1;
    act(state, enemy);
    enemy.x += enemy.vx;
    enemy.y += enemy.vy;
    fireAtTimes(state, enemy);
  }
}

/** @param {State} state @param {Enemy} enemy */
function act(state, enemy) {
  switch (enemy.kind) {
    case EnemyKind.Weaver:
      enemy.vy = WEAVE[((enemy.timer / WEAVE_STEPS) | 0) & 7];
      break;
    case EnemyKind.Hunter:
      hunt(state, enemy);
      break;
    case EnemyKind.Dasher:
      dash(state, enemy);
      break;
    case EnemyKind.Carrier:
      carry(state, enemy);
      break;
    case EnemyKind.Warden:
      warden(state, enemy);
      break;
    case EnemyKind.Leviathan:
      leviathan(state, enemy);
      break;
    default: // Drones and turrets fly straight on.
  }
}

/** @param {State} state @param {Enemy} enemy */
function hunt(state, enemy) {
  if (enemy.timer % HUNTER_LOOK_STEPS !== 0) return;
  enemy.vy = 0;
  const prey = state.nearestShip(enemy.x, enemy.y);
  if (prey === null || prey.x >= enemy.x) return;
  const dy = prey.y - enemy.y;
  if (dy > 40) enemy.vy = 3;
  else if (dy < -40) enemy.vy = -3;
}

/** @param {State} state @param {Enemy} enemy */
function dash(state, enemy) {
  if (enemy.mood === MOOD_CALM && enemy.x <= DASHER_STOP_X) {
    enemy.turnTo(MOOD_WARNING);
    enemy.vx = 0;
  } else if (enemy.mood === MOOD_WARNING && enemy.timer >= DASHER_WAIT_STEPS) {
    enemy.turnTo(MOOD_RUSH);
    const prey = state.nearestShip(enemy.x, enemy.y);
    const [x, y] = prey === null ? [0, enemy.y] : [prey.x, prey.y];
    // Never back to where it came from, however near the prey is.
    const { vx, vy } = aim(Math.min(x - enemy.x, -400), y - enemy.y, DASHER_SPEED);
    enemy.vx = vx;
    enemy.vy = vy;
  }
}

/** @param {State} state @param {Enemy} enemy */
function carry(state, enemy) {
  if (enemy.mood === MOOD_CALM && enemy.x <= CARRIER_STOP_X && enemy.count < CARRIER_DRONES) {
    enemy.turnTo(MOOD_WARNING);
    enemy.vx = 0;
  } else if (enemy.mood === MOOD_WARNING && enemy.timer % CARRIER_DRONE_STEPS === 0) {
    const aside = (enemy.count & 1) === 0 ? -1 : 1;
    const drone = state.addEnemy(EnemyKind.Drone, enemy.x - 60, enemy.y + 30 * aside);
    if (drone !== null) drone.vy = aside;
    enemy.count += 1;
    if (enemy.count >= CARRIER_DRONES) {
      enemy.turnTo(MOOD_CALM);
      enemy.vx = -traits(EnemyKind.Carrier).speed;
    }
  }
}

/** @param {State} state @param {Enemy} enemy */
function fireAtTimes(state, enemy) {
  const isSeen = enemy.x >= 0 && enemy.x <= WIDTH && enemy.y >= 0 && enemy.y <= HEIGHT;
  if (enemy.fireEvery === 0 || !isSeen) return;
  enemy.fireIn -= 1;
  if (enemy.kind === EnemyKind.Turret) {
    enemy.mood = enemy.fireIn <= TURRET_WARNING_STEPS ? MOOD_WARNING : MOOD_CALM;
  }
  if (enemy.fireIn > 0) return;
  enemy.fireIn = enemy.fireEvery;
  const prey = state.nearestShip(enemy.x, enemy.y);
  if (prey === null) return;
  const { vx, vy } = aim(prey.x - enemy.x, prey.y - enemy.y, PELLET_SPEED);
  state.addEnemyShot(ShotKind.Pellet, enemy.x, enemy.y, vx, vy);
}

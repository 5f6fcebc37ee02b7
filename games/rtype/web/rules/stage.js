/**
 * How a game goes: levels, waves, the boss, the end.
 *
 * ```text
 *   Waves ──▶ Boss ──▶ Cleared ──▶ Waves of the next level, or Won
 *     └──────────┴──▶ Lost, as soon as every ship is out
 * ```
 */

import { HEIGHT, SEATS, STEPS_PER_SECOND, WIDTH } from "./constants.js";
import { isBoss } from "./enemy.js";
import { Phase } from "./kinds.js";
import { SPAWN_X } from "./levels.js";
import { retain } from "./list.js";
import { addScore, offerWeapon } from "./offers.js";
import { AMMO_START, comeBack } from "./ship.js";
import { isEnemys } from "./shot.js";

/** @typedef {import("./levels.js").Levels} Levels */
/** @typedef {import("./levels.js").Level} Level */
/** @typedef {import("./levels.js").Spawn} Spawn */
/** @typedef {import("./state.js").State} State */

/** Steps between the end of a level and the next. */
export const CLEARED_STEPS = 300;
/** Steps after which a level whose waves are over goes on though there are enemies left. */
const STRAGGLER_STEPS = 1200;
/** Points for the end of a level, for each ship that is not out, times the level. */
const CLEARED_POINTS = 1000;

/** @param {State} state */
function isFought(state) {
  return state.phase === Phase.Waves || state.phase === Phase.Boss;
}

/**
 * What the level sends in this step.
 * @param {State} state
 * @param {Levels} levels
 */
export function stepLevel(state, levels) {
  if (state.phase === Phase.Cleared) {
    state.phaseSteps += 1;
    if (state.phaseSteps >= CLEARED_STEPS) leaveLevel(state, levels);
  }
  if (!isFought(state)) return;
  const level = levels.get(state.level);
  if (state.levelSteps === 0) state.events.push({ type: "LevelBegan", level: state.level });
  if (level.debrisEverySteps > 0 && state.levelSteps % level.debrisEverySteps === 0) sendDebris(state);
  if (state.phase === Phase.Waves) sendWaves(state, level);
  // Bounded, since an endless level may go on for days.
  state.levelSteps = (state.levelSteps + 1) & 0x00ffffff;
}

/** @param {State} state @param {Level} level */
function sendWaves(state, level) {
  const now = level.endless ? state.levelSteps % level.steps() : state.levelSteps;
  for (let index = 0; index < level.waves.length; index++) {
    const wave = level.waves[index];
    const since = now - wave.atSeconds * STEPS_PER_SECOND;
    if (since < 0) return;
    if (since === 0) {
      state.wave = index + 1;
      state.events.push({ type: "WaveBegan", wave: state.wave });
    }
    for (const spawn of wave.spawns) {
      for (let member = 0; member < spawn.count; member++) {
        if (spawn.stepOf(member) === since) sendMember(state, spawn, member);
      }
    }
  }
}

/** @param {State} state @param {Spawn} spawn @param {number} member */
function sendMember(state, spawn, member) {
  const random = state.random(0x10000);
  const enemy = state.addEnemy(spawn.kind, spawn.x, spawn.yOf(member, random));
  if (enemy === null) return;
  if (spawn.speed > 0) enemy.vx = -spawn.speed;
  if (spawn.fireEverySteps > 0) {
    enemy.fireEvery = spawn.fireEverySteps;
    enemy.fireIn = spawn.fireEverySteps >> 1;
  }
  if (spawn.capsule && member === spawn.count - 1) enemy.carries = true;
}

/** @param {State} state */
function sendDebris(state) {
  const y = state.random(HEIGHT);
  const vx = -2 - state.random(3);
  const vy = state.random(3) - 1;
  const size = 3 + state.random(4);
  state.addDebris(WIDTH + 10 * size, y, vx, vy, size);
}

/**
 * Whether it is time for what comes next.
 * @param {State} state
 * @param {Levels} levels
 */
export function stepPhase(state, levels) {
  if (!isFought(state)) return;
  if (isEveryoneOut(state)) {
    turnTo(state, Phase.Lost);
    state.events.push({ type: "GameLost" });
    return;
  }
  const level = levels.get(state.level);
  if (state.phase === Phase.Boss) {
    if (!state.enemies.some((enemy) => isBoss(enemy.kind))) clearLevel(state, levels);
  } else if (!level.endless && state.levelSteps > level.steps()) {
    const late = state.levelSteps > level.steps() + STRAGGLER_STEPS;
    if (state.enemies.length > 0 && !late) return;
    if (level.boss === null) clearLevel(state, levels);
    else sendBoss(state, level.boss, level.bossHealth);
  }
}

/**
 * @param {State} state
 * @param {number} kind
 * @param {number} health for one ship; 0: as its kind has it
 */
function sendBoss(state, kind, health) {
  turnTo(state, Phase.Boss);
  const ships = state.ships.filter((ship) => ship !== null).length;
  // The enemies that are late make room: it is the one that must come.
  state.enemies.length = 0;
  const boss = state.addEnemy(kind, SPAWN_X + 130, HEIGHT >> 1);
  if (boss === null) return;
  boss.health = (((health > 0 ? health : boss.health) * (2 * Math.max(ships, 1) + 1)) / 3) | 0;
  boss.healthMax = boss.health;
  state.events.push({ type: "BossSpawned", id: boss.id, kind });
}

/** @param {State} state @param {Levels} levels */
function clearLevel(state, levels) {
  state.enemies.length = 0;
  retain(state.shots, (shot) => !isEnemys(shot));
  state.events.push({ type: "LevelCleared", level: state.level });
  for (let seat = 0; seat < SEATS; seat++) {
    const ship = state.ships[seat];
    if (ship !== null && !ship.isOut()) addScore(state, seat, CLEARED_POINTS * state.level);
  }
  if (levels.after(state.level) === null) {
    turnTo(state, Phase.Won);
    state.events.push({ type: "GameWon" });
    return;
  }
  turnTo(state, Phase.Cleared);
  for (let seat = 0; seat < SEATS; seat++) offerWeapon(state, seat);
}

/** @param {State} state @param {Levels} levels */
function leaveLevel(state, levels) {
  const next = levels.after(state.level);
  if (next === null) return;
  state.level = next;
  state.wave = 0;
  state.levelSteps = 0;
  state.endless = levels.get(next).endless;
  turnTo(state, Phase.Waves);
  for (let seat = 0; seat < SEATS; seat++) {
    const ship = state.ships[seat];
    if (ship === null) continue;
    ship.pilotage.ammo = Math.max(ship.pilotage.ammo, AMMO_START);
    if (ship.isOut()) {
      ship.lives = 1;
      comeBack(ship.pilotage);
      state.events.push({ type: "ShipBack", seat });
    }
  }
}

/** @param {State} state @param {number} phase */
function turnTo(state, phase) {
  state.phase = phase;
  state.phaseSteps = 0;
}

/** @param {State} state */
function isEveryoneOut(state) {
  let anyone = false;
  for (const ship of state.ships) {
    if (ship === null) continue;
    if (!ship.isOut()) return false;
    anyone = true;
  }
  return anyone;
}

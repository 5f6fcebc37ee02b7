/**
 * Levels, as data: what comes when.
 *
 * The files are those of the server, and so are the bounds: whatever is read here is bounded, so that no
 * level, however odd, makes a step take longer or a number overflow. Who writes a level asks the server,
 * which also knows the line of a mistake, and minds a field that is there twice.
 *
 * ```text
 *   { "name": "Outer belt",
 *     "seconds": 60,                        when the waves are over and, if there is one, the boss comes
 *     "boss": "warden",
 *     "boss_health": 2000,                  for one ship; without it as its kind has it
 *     "debris_every_steps": 120,
 *     "waves": [
 *       { "at_seconds": 2,
 *         "spawns": [ { "kind": "drone", "count": 5, "every_steps": 15, "formation": "wedge" } ] } ] }
 * ```
 */

import { HEIGHT, STEPS_PER_SECOND, WIDTH } from "./constants.js";
import { EnemyKind } from "./kinds.js";
import { Misfit, flag, list, object, oneOf, text, whole } from "./levels/field.js";
import { clamp } from "./math.js";

/** Levels of a game. */
export const LEVELS_MAX = 32;
/** Waves of a level. */
export const WAVES_MAX = 64;
/** Spawns of a wave. */
export const SPAWNS_MAX = 16;
/** Where enemies come from unless a level says otherwise: out of sight, by the right edge. */
export const SPAWN_X = WIDTH + 60;
/** How near to the upper and lower edges enemies come into the field. */
const SPAWN_EDGE_Y = 60;

/**
 * Where the members of a group are, and when they come.
 *
 * - line: one after the other, at the same height
 * - stairs: one after the other, each `spread` lower
 * - column: all at once, one above the other, `spread` apart
 * - wedge: the middle one first, those beside it later, `spread` apart
 * - scatter: one after the other, at any height
 *
 * @typedef {"line" | "stairs" | "column" | "wedge" | "scatter"} Formation
 */

/** @type {ReadonlyMap<string, Formation>} */
const FORMATIONS = new Map([
  ["line", "line"],
  ["stairs", "stairs"],
  ["column", "column"],
  ["wedge", "wedge"],
  ["scatter", "scatter"],
]);

/** @type {ReadonlyMap<string, number>} */
const ENEMIES = new Map([
  ["drone", EnemyKind.Drone],
  ["weaver", EnemyKind.Weaver],
  ["hunter", EnemyKind.Hunter],
  ["turret", EnemyKind.Turret],
  ["dasher", EnemyKind.Dasher],
  ["carrier", EnemyKind.Carrier],
]);

/** @type {ReadonlyMap<string, number | null>} */
const BOSSES = new Map([
  ["warden", EnemyKind.Warden],
  ["leviathan", EnemyKind.Leviathan],
  ["none", null],
]);

/** A group of enemies. */
export class Spawn {
  /** @param {Record<string, any>} written */
  constructor(written) {
    /** What they are. @type {number} */
    this.kind = written.kind;
    /** How many. @type {number} */
    this.count = written.count;
    /** Steps after the wave began. @type {number} */
    this.afterSteps = written.after_steps;
    /** Steps between one and the next. @type {number} */
    this.everySteps = written.every_steps;
    /** Where they are. @type {Formation} */
    this.formation = written.formation;
    /** Where they come into the field, from the left. @type {number} */
    this.x = written.x;
    /** The height of the first of them, or of the middle. @type {number} */
    this.y = written.y;
    /** The height between one and the next. @type {number} */
    this.spread = written.spread;
    /** Units of a step to the left; 0: as their kind has it. @type {number} */
    this.speed = written.speed;
    /** Steps between shots of each; 0: as their kind has it. @type {number} */
    this.fireEverySteps = written.fire_every_steps;
    /** Whether the last of them leaves a capsule. @type {boolean} */
    this.capsule = written.capsule;
  }

  /**
   * Steps after the wave began at which a member comes.
   * @param {number} member
   */
  stepOf(member) {
    return this.afterSteps + this.#place(member) * this.everySteps;
  }

  /** @param {number} member */
  #place(member) {
    if (this.formation === "column") return 0;
    return this.formation === "wedge" ? Math.abs(2 * member - (this.count - 1)) >> 1 : member;
  }

  /**
   * The height at which a member comes.
   * @param {number} member
   * @param {number} random any number, for formations that want one
   */
  yOf(member, random) {
    return clamp(this.#height(member, random), SPAWN_EDGE_Y, HEIGHT - SPAWN_EDGE_Y);
  }

  /** @param {number} member @param {number} random */
  #height(member, random) {
    switch (this.formation) {
      case "line":
        return this.y;
      case "stairs":
        return this.y + member * this.spread;
      case "scatter":
        return SPAWN_EDGE_Y + (random % (HEIGHT - 2 * SPAWN_EDGE_Y));
      default:
        return this.y + ((((2 * member - (this.count - 1)) * this.spread) / 2) | 0);
    }
  }
}

/**
 * Groups that come together.
 * @typedef {object} Wave
 * @property {number} atSeconds seconds after the level began
 * @property {readonly Spawn[]} spawns the groups
 */

/** A level. */
export class Level {
  /** @param {Record<string, any>} written */
  constructor(written) {
    /** What it is called. @type {string} */
    this.name = written.name;
    /** Seconds after which its waves are over, and an endless one begins anew. @type {number} */
    this.seconds = written.seconds;
    /** Who waits at its end. @type {number | null} */
    this.boss = written.boss;
    /** What that one begins with, if there is one ship in the game; 0: as its kind has it. @type {number} */
    this.bossHealth = written.boss_health;
    /** Steps between one piece of debris and the next; 0: there is none. @type {number} */
    this.debrisEverySteps = written.debris_every_steps;
    /** Whether it never ends, and nobody loses a ship. @type {boolean} */
    this.endless = written.endless;
    /** What comes, in order of time. @type {readonly Wave[]} */
    this.waves = written.waves;
  }

  /** Steps after which its waves are over. */
  steps() {
    return this.seconds * STEPS_PER_SECOND;
  }
}

const readSpawn = object("a spawn, with at least `kind`", {
  kind: { read: oneOf("kind", ENEMIES) },
  count: { read: whole("count", 1, 64), missing: 1 },
  after_steps: { read: whole("after_steps", 0, 6000), missing: 0 },
  every_steps: { read: whole("every_steps", 1, 600), missing: 20 },
  formation: { read: oneOf("formation", FORMATIONS), missing: "line" },
  x: { read: whole("x", 800, 1700), missing: SPAWN_X },
  y: { read: whole("y", 60, 840), missing: HEIGHT >> 1 },
  spread: { read: whole("spread", -800, 800), missing: 80 },
  speed: { read: whole("speed", 0, 12), missing: 0 },
  fire_every_steps: { read: whole("fire_every_steps", 0, 600), missing: 0 },
  capsule: { read: flag("capsule"), missing: false },
});

const readWave = object("a wave, with `at_seconds` and `spawns`", {
  at_seconds: { read: whole("at_seconds", 0, 600) },
  spawns: { read: list("spawns", SPAWNS_MAX, (value) => new Spawn(readSpawn(value))) },
});

const readWritten = object("a level, with at least `name`, `seconds` and `waves`", {
  name: { read: text("name", 40) },
  seconds: { read: whole("seconds", 1, 600) },
  boss: { read: oneOf("boss", BOSSES), missing: null },
  boss_health: { read: whole("boss_health", 0, 20000), missing: 0 },
  debris_every_steps: { read: whole("debris_every_steps", 0, 6000), missing: 0 },
  endless: { read: flag("endless"), missing: false },
  waves: { read: list("waves", WAVES_MAX, wave) },
});

/** @param {unknown} value @returns {Wave} */
function wave(value) {
  const { at_seconds: atSeconds, spawns } = readWave(value);
  return { atSeconds, spawns };
}

/** @param {unknown} value */
function readLevel(value) {
  const level = new Level(readWritten(value));
  if (level.endless && level.boss !== null) {
    throw new Misfit("`boss`: an endless level has no end for one to wait at");
  }
  if (level.bossHealth > 0 && level.boss === null) {
    throw new Misfit("`boss_health`: there is no `boss` in this level");
  }
  level.waves.forEach(({ atSeconds, spawns }, index) => {
    const number = index + 1;
    if (index > 0 && atSeconds <= level.waves[index - 1].atSeconds) {
      throw new Misfit(`\`at_seconds\` of wave ${number} must be later than that of the wave before`);
    }
    for (const spawn of spawns) {
      for (let member = 0; member < spawn.count; member++) {
        if (atSeconds * STEPS_PER_SECOND + spawn.stepOf(member) >= level.steps()) {
          throw new Misfit(`\`seconds\`: wave ${number} is still coming when the waves are over`);
        }
      }
    }
  });
  return level;
}

/** Why a level could not be read. */
export class LevelError extends Error {
  /**
   * @param {string} file
   * @param {string} what what is wrong, naming the field
   */
  constructor(file, what) {
    super(`${file}: ${what}`);
    this.name = "LevelError";
    /** The file. */
    this.file = file;
    /** What is wrong in it. */
    this.what = what;
  }
}

/** The levels of a game, from 1 on. After an endless one, or the last, there is no other: see `after`. */
export class Levels {
  #levels;

  /**
   * Levels that were parsed one by one, at least one and at most `LEVELS_MAX`; what is more is left out.
   * @param {readonly Level[]} levels
   */
  constructor(levels) {
    if (levels.length === 0) throw new RangeError("a game has at least one level");
    this.#levels = levels.slice(0, LEVELS_MAX);
  }

  /**
   * One level, from what is written in a file of that name. Throws a `LevelError`.
   * @param {string} file
   * @param {string} json
   */
  static parse(file, json) {
    try {
      return readLevel(JSON.parse(json));
    } catch (error) {
      if (error instanceof Misfit || error instanceof SyntaxError) throw new LevelError(file, error.message);
      throw error;
    }
  }

  /** How many there are, at least one. */
  get length() {
    return this.#levels.length;
  }

  /**
   * A level by its number, from 1 on; beyond the last it is the last.
   * @param {number} level
   */
  get(level) {
    return this.#levels[clamp(level, 1, this.length) - 1];
  }

  /**
   * The number of the level that comes after one: none after the last, and an endless one comes only when it
   * is asked for.
   * @param {number} level
   */
  after(level) {
    const next = level + 1;
    return next <= this.length && !this.get(next).endless ? next : null;
  }
}

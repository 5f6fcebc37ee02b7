/**
 * Who is on the stage: what is drawn, wherever it comes from.
 *
 * The game over the network and the one that bots play behind the lobby are drawn by the same code. Each
 * source tells in every frame whom it sees and where; whoever was not seen is gone, and that is known as
 * well, because an enemy that is gone has exploded. Places are in units.
 */

/**
 * Something that is drawn.
 * @typedef {object} Actor
 * @property {number} id
 * @property {number} x where it is shown
 * @property {number} y
 * @property {number} lastX where it was shown a frame ago
 * @property {number} lastY
 * @property {number} truthX where the server last said that it is
 * @property {number} truthY
 * @property {boolean} isTold whether the server, as last heard, has it
 * @property {number} bornMs
 * @property {number} seenAt the frame in which it was seen last
 */

/** @typedef {Actor & { seat: number, pilot: number, lives: number, shield: number, thrusters: number,
 *   drone: boolean, weapon: number, weaponLevel: number, down: number, safe: number, score: number,
 *   thrust: number, isOwn: boolean }} ShipActor */
/**
 * @typedef {Actor & { kind: number, health: number, mood: number, hitMs: number, tilt: number }} EnemyActor
 */
/** @typedef {Actor & { kind: number, seat: number, angle: number }} ShotActor */
/** @typedef {Actor & { power: number }} CapsuleActor */
/** @typedef {Actor & { size: number }} DebrisActor */
/** @typedef {{ ship: ShipActor, enemy: EnemyActor, shot: ShotActor, capsule: CapsuleActor,
 *   debris: DebrisActor }} Actors */

/** One that just came, before anything is known of it. @type {{ [K in keyof Actors]: () => Actors[K] }} */
const NEW = {
  ship: () => ({
    ...actor(),
    seat: 0,
    pilot: 0,
    lives: 0,
    shield: 0,
    thrusters: 0,
    drone: false,
    weapon: 0,
    weaponLevel: 1,
    down: 0,
    safe: 0,
    score: 0,
    thrust: 0,
    isOwn: false,
  }),
  enemy: () => ({ ...actor(), kind: 0, health: 100, mood: 0, hitMs: -Infinity, tilt: 0 }),
  shot: () => ({ ...actor(), kind: 0, seat: 0, angle: 0 }),
  capsule: () => ({ ...actor(), power: 0 }),
  debris: () => ({ ...actor(), size: 1 }),
};

/** @returns {Actor} */
function actor() {
  return { id: 0, x: 0, y: 0, lastX: 0, lastY: 0, truthX: 0, truthY: 0, isTold: true, bornMs: 0, seenAt: 0 };
}

/** What becomes of those who come and go. @typedef {import("/rtype/draw/effects.js").Effects} Effects */

/**
 * Those of one type.
 * @template {Actor} T
 */
class Group {
  /** @type {Map<number, T>} */
  #actors = new Map();
  #make;

  /** @param {() => T} make */
  constructor(make) {
    this.#make = make;
  }

  get size() {
    return this.#actors.size;
  }

  [Symbol.iterator]() {
    return this.#actors.values();
  }

  /**
   * @param {number} id
   * @param {number} nowMs
   */
  see(id, nowMs) {
    let seen = this.#actors.get(id);
    if (seen === undefined) {
      seen = this.#make();
      seen.id = id;
      seen.bornMs = nowMs;
      this.#actors.set(id, seen);
    }
    seen.isTold = true;
    return seen;
  }

  /** Takes away those who were not seen in a frame. @param {number} frame */
  *sweep(frame) {
    for (const [id, each] of this.#actors) {
      if (each.seenAt === frame) continue;
      this.#actors.delete(id);
      yield each;
    }
  }

  clear() {
    this.#actors.clear();
  }
}

/** See the module. */
export class Cast {
  ships = new Group(NEW.ship);
  enemies = new Group(NEW.enemy);
  shots = new Group(NEW.shot);
  capsules = new Group(NEW.capsule);
  debris = new Group(NEW.debris);
  level = 1;
  wave = 1;
  phase = 0;
  nowMs = 0;
  #frame = 0;

  /** How many there are. */
  get size() {
    return this.ships.size + this.enemies.size + this.shots.size + this.capsules.size + this.debris.size;
  }

  /** A frame begins. @param {number} nowMs */
  begin(nowMs) {
    this.#frame++;
    this.nowMs = nowMs;
  }

  /**
   * Somebody is there: the one who was before, or a new one, whose `seenAt` is 0 until `place`.
   * @template {Actor} T
   * @param {Group<T>} group
   * @param {number} id
   */
  see(group, id) {
    return group.see(id, this.nowMs);
  }

  /**
   * Says where; true if it just came.
   * @param {Actor} actor
   * @param {number} x
   * @param {number} y
   * @param {number} [truthX]
   * @param {number} [truthY]
   */
  place(actor, x, y, truthX = x, truthY = y) {
    const isNew = actor.seenAt === 0;
    actor.lastX = isNew ? x : actor.x;
    actor.lastY = isNew ? y : actor.y;
    actor.x = x;
    actor.y = y;
    actor.truthX = truthX;
    actor.truthY = truthY;
    actor.seenAt = this.#frame;
    return isNew;
  }

  /** The frame is told: whoever was not seen is gone. @param {Effects} effects */
  end(effects) {
    for (const ship of this.ships.sweep(this.#frame)) effects.shipLeft(ship);
    for (const enemy of this.enemies.sweep(this.#frame)) effects.enemyLeft(enemy);
    for (const shot of this.shots.sweep(this.#frame)) effects.shotLeft(shot);
    for (const capsule of this.capsules.sweep(this.#frame)) effects.capsuleLeft(capsule);
    for (const _ of this.debris.sweep(this.#frame));
  }

  /** Nobody is there, and nobody exploded. */
  clear() {
    for (const group of [this.ships, this.enemies, this.shots, this.capsules, this.debris]) group.clear();
  }
}

/** The game over the network, as a cast to draw. */

import { OwnShots } from "/rtype/own_shots.js";
import { PREDICTED, firedBy, fly } from "/rtype/flight.js";
import { UNITS_PER_METRE } from "/rtype/protocol.js";
import { NOSE, NO_SEAT, WIDTH } from "/rtype/rules/constants.js";

/** @typedef {import("/netloom/index.js").Client} Client */
/** @typedef {import("/netloom/index.js").NetObject} NetObject */
/** @typedef {import("/rtype/cast.js").Cast} Cast */
/** @typedef {import("/rtype/cast.js").ShipActor} ShipActor */

/** Shots that are seen for the first time so close to a gun were fired there. */
const MUZZLE_MS = 120;
/** How quickly another lag is taken over: shares a frame. */
const LAG_EASE = 0.05;

/** See the module. */
export class NetSource {
  shots = new OwnShots();
  /** Whether the own ship is ahead of the server. */
  isPredicting = true;
  /** Who hears of the own beam. @type {(step: number) => void} */
  onBeam = () => {};
  /** @type {ReturnType<Client["predict"]> | null} */
  #own = null;
  /** @type {Client | null} */
  #client = null;
  #effects;
  #controls;
  #cast;
  #step = 0;
  #lagSteps = 0;

  /**
   * @param {Cast} cast
   * @param {import("/rtype/draw/effects.js").Effects} effects
   * @param {{ readonly buttons: number }} controls
   */
  constructor(cast, effects, controls) {
    this.#cast = cast;
    this.#effects = effects;
    this.#controls = controls;
  }

  /** The newest step that this client acted in. */
  get step() {
    return this.#step;
  }

  /** How the own ship is predicted; null before the first client. */
  get prediction() {
    return this.#own;
  }

  /** The fields of the own ship: ahead of the server, if that is wanted; null without one. */
  get ownShip() {
    const told = this.#client?.own("Ship")?.values();
    return told === undefined ? null : { ...told, ...this.#own?.state };
  }

  /** @param {Client} client */
  attach(client) {
    this.#client = client;
    this.#own = client.predict("Ship", fly, { fields: PREDICTED });
    this.#own.enable(this.isPredicting);
    this.shots.reset();
    client.setInput((/** @type {number} */ step) => this.#act(client, step));
    client.on("welcome", () => this.shots.reset());
    client.on("enter", (object) => {
      if (object.kind === "Shot") this.shots.enter(object);
    });
    client.on("leave", (object) => {
      if (object.kind === "Shot") this.shots.leave(object);
    });
  }

  /** @param {boolean} isWanted */
  setPredicting(isWanted) {
    this.isPredicting = isWanted;
    this.#own?.enable(isWanted);
    if (!isWanted) this.shots.reset();
  }

  /**
   * What the player does in a step, and what is seen of it at once.
   * @param {Client} client
   * @param {number} step
   */
  #act(client, step) {
    const { buttons } = this.#controls;
    this.#step = step;
    const ship = this.#own?.state ?? null;
    if (ship === null || client.player === null) return { buttons };
    const { shots, beam } = firedBy(ship, buttons);
    this.shots.fire(client.player, step, ship.seat, shots);
    if (shots.length > 0) this.#effects.muzzle(shots[0].x, shots[0].y, ship.seat);
    if (beam) {
      const [x, y] = [ship.at[0] * UNITS_PER_METRE + NOSE, ship.at[1] * UNITS_PER_METRE];
      this.#effects.beam(ship.seat, x, y, this.#reachOf(x, y));
      this.onBeam(step);
    }
    return { buttons };
  }

  /**
   * Where a beam ends, as it is seen here: at debris, or at the edge.
   * @param {number} fromX
   * @param {number} y
   */
  #reachOf(fromX, y) {
    let reach = WIDTH;
    for (const rock of this.#cast.debris) {
      const half = rock.size * 9;
      const isInTheWay = Math.abs(rock.y - y) <= half && rock.x + half >= fromX;
      if (isInTheWay) reach = Math.min(reach, Math.max(fromX, rock.x - half));
    }
    return reach;
  }

  /** Everybody who is shown now. */
  update() {
    const client = this.#client;
    if (client === null) return;
    const ownStep = client.ownStep ?? this.#step;
    const lag = client.shownStep === null ? 0 : ownStep - client.shownStep;
    this.#lagSteps += (lag - this.#lagSteps) * (Math.abs(lag - this.#lagSteps) > 60 ? 1 : LAG_EASE);
    this.shots.update(client);
    for (const object of client.objects()) this.#see(object);
    for (const shot of this.shots) {
      const actor = this.#cast.see(this.#cast.shots, shot.id);
      actor.kind = shot.kind;
      actor.seat = shot.seat;
      actor.isTold = shot.object?.isInSight ?? false;
      const [x, y] = this.shots.placeOf(shot, ownStep, this.#lagSteps);
      const truth = shot.object?.get("at");
      this.#cast.place(actor, x, y, ...toUnits(truth ?? [x / UNITS_PER_METRE, y / UNITS_PER_METRE]));
    }
  }

  /** @param {NetObject} object */
  #see(object) {
    switch (object.kind) {
      case "Ship":
        return this.#seeShip(object);
      case "Enemy":
        return this.#seeEnemy(object);
      case "Shot":
        return this.#seeShot(object);
      case "Capsule": {
        const capsule = this.#cast.see(this.#cast.capsules, object.alias);
        if (this.#place(capsule, object)) capsule.power = object.get("power");
        return;
      }
      case "Debris": {
        const rock = this.#cast.see(this.#cast.debris, object.alias);
        if (this.#place(rock, object)) rock.size = object.get("size");
        return;
      }
      case "Stage":
        this.#cast.level = object.get("level") ?? this.#cast.level;
        this.#cast.wave = object.get("wave") ?? this.#cast.wave;
        this.#cast.phase = object.get("phase") ?? this.#cast.phase;
    }
  }

  /**
   * Says where an object is shown, and where the server last said; true if it just came.
   * @param {import("/rtype/cast.js").Actor} actor
   * @param {NetObject} object
   */
  #place(actor, object) {
    const [x, y] = toUnits(object.position);
    const truth = object.get("at");
    actor.isTold = truth !== undefined && object.isInSight;
    return this.#cast.place(actor, x, y, ...(truth === undefined ? [x, y] : toUnits(truth)));
  }

  /** @param {NetObject} object */
  #seeShip(object) {
    const ship = this.#cast.see(this.#cast.ships, object.alias);
    const told = object.values();
    if (this.#own?.object === object) Object.assign(told, this.#own.state);
    if (told.seat === undefined) {
      this.#place(ship, object);
      return;
    }
    const { down } = ship;
    const { seat, pilot, lives, shield, thrusters, drone, weapon, safe, score } = told;
    Object.assign(ship, { seat, pilot, lives, shield, thrusters, drone, weapon, safe, score });
    ship.down = told.down;
    ship.weaponLevel = told.weapon_level;
    ship.isOwn = object.isOwn;
    const isNew = this.#place(ship, object);
    if (!isNew && down === 0 && ship.down > 0) this.#effects.shipDown(ship);
  }

  /** @param {NetObject} object */
  #seeEnemy(object) {
    const enemy = this.#cast.see(this.#cast.enemies, object.alias);
    const isNew = this.#place(enemy, object);
    enemy.kind = object.get("kind") ?? enemy.kind;
    const health = object.get("health") ?? enemy.health;
    if (!isNew && health < enemy.health) enemy.hitMs = this.#cast.nowMs;
    enemy.health = health;
    enemy.mood = object.get("mood") ?? enemy.mood;
  }

  /** @param {NetObject} object */
  #seeShot(object) {
    if (this.shots.has(object)) return;
    const shot = this.#cast.see(this.#cast.shots, object.alias);
    if (!this.#place(shot, object)) return;
    shot.kind = object.get("kind") ?? 0;
    shot.seat = object.get("seat") ?? NO_SEAT;
    if (this.#cast.nowMs - shot.bornMs < MUZZLE_MS && shot.seat !== NO_SEAT) {
      this.#effects.muzzle(shot.x, shot.y, shot.seat);
    }
  }
}

/**
 * @param {ArrayLike<number>} metres
 * @returns {[x: number, y: number]}
 */
function toUnits(metres) {
  return [metres[0] * UNITS_PER_METRE, metres[1] * UNITS_PER_METRE];
}

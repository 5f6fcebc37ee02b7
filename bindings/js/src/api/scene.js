/** The objects in sight, by their aliases, as handles for a game. */

import { slotOf } from "../wire/alias.js";
import { NetObject } from "./object.js";

/** @typedef {import("../replica/object.js").WorldObject} WorldObject */

/** See the module. */
export class Scene {
  /** Counts what is shown: handles look again when it has moved on. */
  frame = 0;
  /** @type {Map<number, NetObject>} */
  #objects = new Map();
  /** @type {Set<number>} aliases of those that are shown to the end */
  #leaving = new Set();
  #metres = new Float64Array(3);
  #session;
  #protocol;
  /** @type {Map<number, import("./prediction.js").Prediction>} by alias */
  predicted = new Map();

  /**
   * @param {import("../session/client.js").SessionClient} session
   * @param {import("../session/protocol.js").Protocol} protocol
   */
  constructor(session, protocol) {
    this.#session = session;
    this.#protocol = protocol;
  }

  get size() {
    return this.#objects.size;
  }

  values() {
    return this.#objects.values();
  }

  /**
   * @param {number} alias
   * @returns {NetObject | undefined}
   */
  get(alias) {
    return this.#objects.get(alias);
  }

  /**
   * An object is here, or is told anew. The handle, if it is a new one.
   * @param {number} alias
   */
  enter(alias) {
    const seen = this.#session.seat?.world.object(alias);
    this.#leaving.delete(alias);
    if (seen === undefined || this.#objects.has(alias)) return undefined;
    const object = new NetObject(this, alias, this.#protocol.kinds[seen.class.number]);
    this.#objects.set(alias, object);
    return object;
  }

  /**
   * An object has left the server's world, or this player's sight. It stays until the view gets there too: of
   * a rocket that hits, the last metres are seen.
   * @param {number} alias
   */
  leave(alias) {
    if (this.#objects.has(alias)) this.#leaving.add(alias);
  }

  /** Those that are gone from view, which are no longer here. */
  *gone() {
    if (this.#leaving.size === 0) return;
    const { seat } = this.#session;
    for (const alias of this.#leaving) {
      if (seat?.isShown(alias)) continue;
      this.#leaving.delete(alias);
      const object = this.#objects.get(alias);
      this.#objects.delete(alias);
      if (object !== undefined) yield object;
    }
  }

  /** Everything leaves. */
  clear() {
    const objects = [...this.#objects.values()];
    this.#objects.clear();
    this.#leaving.clear();
    return objects;
  }

  /**
   * What is known of an object; undefined if it is gone.
   * @param {NetObject} object
   * @returns {WorldObject | undefined}
   */
  known(object) {
    if (this.#objects.get(object.alias) !== object) return undefined;
    const held = this.#session.seat?.world.slots[slotOf(object.alias)];
    return held?.alias === object.alias ? held : undefined;
  }

  /**
   * @param {NetObject} object
   * @returns {NetObject | null}
   */
  parentOf(object) {
    const slot = this.known(object)?.parent ?? null;
    if (slot === null) return null;
    const parent = this.#session.seat?.world.slots[slot];
    return parent === undefined ? null : (this.#objects.get(parent.alias) ?? null);
  }

  /**
   * @param {NetObject} object
   * @param {string} name
   */
  valueOf(object, name) {
    const known = this.known(object);
    if (known === undefined) return undefined;
    const index = known.class.schema.indexOf(name);
    if (index < 0 || !isTold(known, index)) return undefined;
    return this.#protocol.kinds[known.class.number].types[index].toGame(this.#wireValue(known, index));
  }

  /**
   * Places are told in the world, wherever they are counted from on the wire.
   * @param {WorldObject} object
   * @param {number} index
   */
  #wireValue(object, index) {
    if (object.class.schema.fields[index].kind !== "position") return object.value(index);
    object.putPosition(object.states.newestAt, this.#metres);
    return [...this.#metres];
  }

  /** @param {NetObject} object */
  valuesOf(object) {
    /** @type {{ [name: string]: any }} */
    const values = {};
    const known = this.known(object);
    for (const { name, index } of known?.class.schema.fields ?? []) {
      if (known !== undefined && isTold(known, index)) values[name] = this.valueOf(object, name);
    }
    return values;
  }

  /**
   * @param {number} alias
   * @param {string} name
   * @param {any} value
   */
  write(alias, name, value) {
    this.#session.write(alias, name, value);
  }

  /**
   * Fills in where an object is shown.
   * @param {number} alias
   * @param {Float64Array} position
   * @param {Float64Array} rotation
   */
  show(alias, position, rotation) {
    const own = this.predicted.get(alias);
    if (own?.show(position, rotation)) return;
    this.#session.seat?.show(alias, position, rotation);
  }
}

/**
 * Whether this client is told a field of an object.
 * @param {WorldObject} object
 * @param {number} index
 */
function isTold(object, index) {
  return object.shape.isVisible[index] || object.contents[index] !== undefined;
}

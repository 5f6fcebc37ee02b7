/**
 * One object as a client holds it: what it is, the states that arrived, and the contents of its texts, bytes
 * and arrays.
 */

import { aliasOf } from "../wire/alias.js";
import { PROFILES, singleOf } from "../wire/quantize.js";
import { putQuaternion } from "../wire/rotation.js";
import { reaches } from "../wire/schema.js";
import { valueOf } from "../wire/value.js";
import { isSameObject } from "./entry.js";
import { States } from "./states.js";
import { isNewer } from "./tick.js";

/** @typedef {import("./entry.js").Facts} Facts */
/** @typedef {import("../wire/value.js").Value} Value */

const NOTHING = new Uint8Array(0);

/**
 * An object, also one that has left until its slot is used again: late snapshots must still be read past it.
 */
export class WorldObject {
  /**
   * @param {Facts} facts
   * @param {number} tick of the entry
   */
  constructor(facts, tick) {
    this.facts = facts;
    this.alias = aliasOf(facts.slot, facts.generation);
    this.slot = facts.slot;
    this.class = facts.class;
    this.shape = facts.class.shape(facts.profile, facts.audience);
    this.entered = tick;
    this.isInSight = true;
    this.states = new States(facts.class.wordCount);
    /**
     * By field.
     * @type {(Uint8Array | undefined)[]}
     */
    this.contents = [];
    /** The tick of what was the newest state before; −1 if there was none. */
    this.tickBefore = -1;
  }

  get generation() {
    return this.facts.generation;
  }

  /** What this client is to it: owner, team or public. */
  get audience() {
    return this.facts.audience;
  }

  get isOwned() {
    return this.facts.audience === "owner";
  }

  /** The slot of what it is attached to, or null. */
  get parent() {
    return this.facts.parent;
  }

  /** The tick of its newest state. */
  get tick() {
    return this.states.tick;
  }

  /** When it jumped last, up to its newest state; −1 if it did not since it came into sight. */
  get jumped() {
    return this.states.jumpOf(this.states.newest);
  }

  /** Whether it jumped on the way to its newest state from the one before. */
  get hasTeleported() {
    return this.tickBefore >= 0 && this.jumped >= 0 && isNewer(this.jumped, this.tickBefore);
  }

  /** Its newest words, as a view that is good until the next state. */
  get words() {
    return this.states.rows.subarray(this.states.newestAt, this.states.newestAt + this.states.wordCount);
  }

  /**
   * The newest value of a field; undefined if there is none of that name, or none that this client receives.
   * @param {string | number} field its name or index
   * @returns {Value | undefined}
   */
  value(field) {
    const place = this.shape.fields[typeof field === "number" ? field : this.class.schema.indexOf(field)];
    if (place === undefined || !this.shape.isSeen[place.index]) return undefined;
    return valueOf(place, this.states.rows, this.states.newestAt + place.first, this.content(place.index));
  }

  /**
   * All that this client receives of it, by name.
   * @returns {Record<string, Value | undefined>}
   */
  values() {
    const seen = this.shape.fields.filter(({ index }) => this.shape.isSeen[index]);
    return Object.fromEntries(seen.map((field) => [field.name, this.value(field.index)]));
  }

  /**
   * The content of a field of variable length.
   * @param {number} index
   */
  content(index) {
    return this.contents[index] ?? NOTHING;
  }

  /**
   * Where a state says that the object is: metres in the world, or relative to its parent.
   * @param {number} at where its words are among those of the states
   * @param {Float64Array} metres where it goes
   * @returns {boolean} false if the object has no position that this client sees
   */
  putPosition(at, metres) {
    const place = this.shape.position;
    if (place === null) return false;
    const { rows } = this.states;
    const first = at + place.first;
    const { perUnit } = /** @type {import("../wire/quantize.js").TripleForm} */ (place.form);
    const isRaw = rows[first + 3] !== 0;
    const isRelative = this.facts.parent !== null || !PROFILES[place.profile].usesOrigin;
    const origin = this.facts.origin.metres;
    for (let axis = 0; axis < 3; axis++) {
      const own = isRaw ? singleOf(rows[first + axis]) : rows[first + axis] / perUnit;
      metres[axis] = isRelative ? own : own + origin[axis];
    }
    return true;
  }

  /**
   * Which way a state says that it is turned.
   * @param {number} at
   * @param {Float32Array} quaternion x y z w
   */
  putRotation(at, quaternion) {
    const place = this.shape.rotation;
    if (place === null) {
      quaternion.fill(0);
      quaternion[3] = 1;
    } else {
      putQuaternion(place.width, this.states.rows, at + place.first, quaternion);
    }
  }

  /**
   * Metres a second, by the first velocity among its fields; false if it has none that this client sees.
   * @param {number} at
   * @param {Float32Array} velocity
   */
  putVelocity(at, velocity) {
    const place = this.shape.velocity;
    if (place === null) return false;
    const { rows } = this.states;
    const first = at + place.first;
    const { perUnit } = /** @type {import("../wire/quantize.js").TripleForm} */ (place.form);
    const isRaw = rows[first + 3] !== 0;
    for (let axis = 0; axis < 3; axis++) {
      velocity[axis] = isRaw ? singleOf(rows[first + axis]) : rows[first + axis] / perUnit;
    }
    return true;
  }

  /**
   * Keeps one more state, and contents if it is the newest.
   * @param {number} tick
   * @param {Int32Array} words
   * @param {number} jump
   * @param {readonly number[]} fields
   * @param {readonly Uint8Array[]} contents
   */
  keep(tick, words, jump, fields, contents) {
    const isNewest = this.states.count === 0 || isNewer(tick, this.tick);
    if (isNewest) {
      if (this.states.count > 0) this.tickBefore = this.tick;
      for (let at = 0; at < fields.length; at++) this.contents[fields[at]] = contents[at].slice();
    }
    this.states.insert(tick, words, jump);
  }

  /**
   * Whether an entry says what is known already, the state apart.
   * @param {Facts} facts
   */
  isSame(facts) {
    return this.isInSight && isSameObject(this.facts, facts);
  }

  /**
   * Takes over what the same object was told reliably before this entry of it, as far as it may still be
   * seen.
   * @param {WorldObject} before
   */
  inherit(before) {
    if (before.alias !== this.alias || before.class !== this.class) return;
    this.tickBefore = before.tick;
    for (const field of this.class.fields) {
      const content = before.contents[field.index];
      if (content && field.isReliable && reaches(field, this.isOwned)) this.contents[field.index] = content;
    }
  }
}

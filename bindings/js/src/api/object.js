/**
 * An object as a game sees it: a handle that stays the same from `enter` to `leave`.
 *
 * Where it is shown is a little behind the server, between two states that arrived, or ahead of it if the
 * player predicts it. What else is known of it is as the server told last. The vectors are made once and
 * filled again at every frame: to keep one beyond that, copy it.
 */

import { NetloomError } from "../session/error.js";

/** See the module. */
export class NetObject {
  #scene;
  #position;
  #rotation = new Float64Array([0, 0, 0, 1]);
  #shownAt = -1;

  /**
   * @param {import("./scene.js").Scene} scene
   * @param {number} alias
   * @param {import("../session/protocol.js").ObjectKind} kind
   */
  constructor(scene, alias, kind) {
    this.#scene = scene;
    /** By what it is known while it is in sight. */
    this.alias = alias;
    /** What kind of object it is, by name. */
    this.kind = kind.name;
    /** Anything that the game wants to remember of it. */
    this.data = /** @type {any} */ (undefined);
    this.#position = new Float64Array(kind.positionParts);
  }

  /** Whether it still is in sight; one that left is shown until the view gets there. */
  get isInSight() {
    return this.#scene.known(this)?.isInSight ?? false;
  }

  /** Whether it is this player's own. */
  get isOwn() {
    return this.#scene.known(this)?.isOwned ?? false;
  }

  /**
   * What it is attached to; null if nothing, or nothing in sight.
   * @returns {NetObject | null}
   */
  get parent() {
    return this.#scene.parentOf(this);
  }

  /** Where to show it, in metres; in the plane if its kind has two coordinates. */
  get position() {
    this.#show();
    return this.#position;
  }

  /** How to turn it: a unit quaternion x y z w. */
  get rotation() {
    this.#show();
    return this.#rotation;
  }

  /**
   * A field, as the server told last. One that this player is not told has no value.
   * @param {string} name
   * @returns {any}
   */
  get(name) {
    return this.#scene.valueOf(this, name);
  }

  /** All fields that this player is told, by name. */
  values() {
    return this.#scene.valuesOf(this);
  }

  /**
   * Asks to set a field that players may write. What the server decides comes back as every other change
   * does.
   * @param {string} name
   * @param {any} value
   */
  set(name, value) {
    if (!this.isInSight) throw new NetloomError("no-object", `the ${this.kind} is no longer in sight`);
    this.#scene.write(this.alias, name, value);
  }

  #show() {
    if (this.#shownAt === this.#scene.frame) return;
    this.#shownAt = this.#scene.frame;
    this.#scene.show(this.alias, this.#position, this.#rotation);
  }
}

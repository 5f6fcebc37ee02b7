/**
 * What is true on a server, as `random_sessions` tells it, and how a client's world differs from that.
 *
 * The server tells after every tick what changed for the player. Whether a state that arrived is right is looked up by the alias
 * and the tick that it arrived under, however late that was.
 */

import { toHex } from "./vectors.js";

/**
 * An object as the server has it and the player is told it.
 * @typedef {object} TrueObject
 * @property {number} id
 * @property {number} alias
 * @property {number} class
 * @property {number} profile
 * @property {string} audience
 * @property {boolean} isAttached
 * @property {number | null} parent the slot of what it is attached to, if the player sees that
 * @property {number[] | null} origin
 * @property {number | null} jumped
 * @property {(number | null)[]} words null for change numbers, which each side counts for itself
 * @property {{ [field: string]: string }} contents in hex
 * @property {{ [field: string]: string }} reliable in hex
 */

/** See the module. */
export class Truth {
  tick = -1;
  /** When something changed last. */
  changedAt = -1;
  /** @type {Map<number, TrueObject>} by identity: what the player sees */
  objects = new Map();
  /** @type {Map<number, { tick: number, object: TrueObject | null }[]>} by alias */
  #history = new Map();
  /** @type {Map<number, Set<number>>} by identity: the aliases that it has had */
  #aliases = new Map();

  /** @param {{ tick: number, changed: TrueObject[], gone: number[] }} told */
  handleTick({ tick, changed, gone }) {
    this.tick = tick;
    if (changed.length + gone.length > 0) this.changedAt = tick;
    for (const id of gone) {
      const before = this.objects.get(id);
      if (before !== undefined) this.#note(before.alias, tick, null);
      this.objects.delete(id);
    }
    for (const object of changed) {
      const before = this.objects.get(object.id);
      if (before !== undefined && before.alias !== object.alias) this.#note(before.alias, tick, null);
      this.objects.set(object.id, object);
    }
    // What left an alias must not hide what took it over in the same tick.
    for (const object of changed) this.#note(object.alias, tick, object);
  }

  /**
   * @param {number} alias
   * @param {number} tick
   * @param {TrueObject | null} object
   */
  #note(alias, tick, object) {
    const history = this.#history.get(alias) ?? [];
    history.push({ tick, object });
    this.#history.set(alias, history);
    if (object === null) return;
    const aliases = this.#aliases.get(object.id) ?? new Set();
    this.#aliases.set(object.id, aliases.add(alias));
  }

  /**
   * What an alias stood for at a tick, and how it was.
   * @param {number} alias
   * @param {number} tick
   */
  at(alias, tick) {
    const history = this.#history.get(alias) ?? [];
    let at = history.length - 1;
    while (at >= 0 && history[at].tick > tick) at--;
    return at < 0 ? null : history[at].object;
  }

  /**
   * Whether an object ever was known by an alias.
   * @param {number} id
   * @param {number} alias
   */
  isKnownBy(id, alias) {
    return this.#aliases.get(id)?.has(alias) ?? false;
  }

  /**
   * How a world differs from what the player should have now, in words; none if it does not.
   * @param {import("../src/replica/world.js").World} world
   */
  differences(world) {
    const found = [];
    for (const own of this.objects.values()) {
      const object = world.object(own.alias);
      if (object === undefined) found.push(`${own.alias} is not in sight, the server has it`);
      else found.push(...differencesOf(object, own));
    }
    const aliases = new Set([...this.objects.values()].map(({ alias }) => alias));
    for (const { alias } of world.objects())
      if (!aliases.has(alias)) found.push(`${alias} is in sight, the server has it not`);
    return found;
  }
}

/**
 * @param {import("../src/replica/object.js").WorldObject} object
 * @param {TrueObject} own
 */
function differencesOf(object, own) {
  /** @type {string[]} */
  const found = [];
  const { facts } = object;
  const compare = (/** @type {string} */ what, /** @type {any} */ is, /** @type {any} */ should) => {
    if (JSON.stringify(is) !== JSON.stringify(should)) {
      found.push(
        `${own.alias} (${own.id}): ${what} is ${JSON.stringify(is)}, should be ${JSON.stringify(should)}`,
      );
    }
  };
  compare("class", object.class.number, own.class);
  compare("profile", facts.profile, own.profile);
  compare("audience", facts.audience, own.audience);
  compare("parent", facts.parent, own.parent);
  if (own.origin !== null) compare("origin", [...facts.origin.metres], own.origin);
  // Of something whose place is not told, a jump is not told either.
  const hasJumped = own.jumped !== null && own.jumped > object.entered;
  if (object.shape.position !== null && (hasJumped || object.jumped >= 0))
    compare("jump", object.jumped, own.jumped);
  found.push(...wordDifferences(object.words, own));
  for (const [field, content] of Object.entries(own.contents)) {
    compare(`content of field ${field}`, toHex(object.content(Number(field))), content);
  }
  for (const [field, content] of Object.entries(own.reliable)) {
    // What was never set is not told: nothing, or an array of no elements.
    const isTold = object.contents[Number(field)] !== undefined;
    const told =
      isTold || (content !== "" && content !== "00") ? toHex(object.content(Number(field))) : content;
    compare(`reliable content of field ${field}`, told, content);
  }
  return found;
}

/**
 * @param {Int32Array} words
 * @param {TrueObject} own
 */
export function wordDifferences(words, own) {
  if (words.length !== own.words.length)
    return [`${own.alias} has ${words.length} words, not ${own.words.length}`];
  return own.words.flatMap((word, index) =>
    word === null || words[index] === word
      ? []
      : [`${own.alias} (${own.id}): word ${index} is ${words[index]}, should be ${word}`],
  );
}

/**
 * What a world takes in, noted as it comes and compared with the truth at the end: every state of every object, and every value of
 * every property that is delivered reliably.
 */

import assert from "node:assert/strict";
import { reaches } from "../src/wire/schema.js";
import { wordDifferences } from "./truth.js";
import { toHex } from "./vectors.js";

/** How old a state is that a server builds on, at most, in ticks. */
const BASELINE_AGE_MAX = 32;

/** @typedef {import("../src/replica/world.js").World} World */
/** @typedef {import("./truth.js").Truth} Truth */

/**
 * A state that arrived: of what, at which tick, and what was held then.
 * @typedef {object} Sighting
 * @property {number} alias
 * @property {number} tick
 * @property {number} class
 * @property {string} audience
 * @property {number} profile
 * @property {Int32Array} words
 * @property {(Uint8Array | undefined)[] | null} contents if it was the newest
 */

/** See the module. */
export class Sightings {
  /** @type {Sighting[]} */
  #states = [];
  /** @type {{ alias: number, field: number, content: string }[]} */
  #properties = [];
  /** What was refused without an excuse, and the ticks of all that was refused. @type {string[]} */
  #refused = [];
  /** @type {number[]} */
  #refusedTicks = [];
  #world;
  #isStream;

  /**
   * Watches a world from now on.
   * @param {World} world
   * @param {boolean} isStream whether nothing is late
   */
  constructor(world, isStream) {
    this.#world = world;
    this.#isStream = isStream;
    const { handleSnapshot, pollProperty } = world;
    world.handleSnapshot = (payload) => {
      const newest = world.newest;
      const isWhole = handleSnapshot.call(world, payload);
      if (!isWhole) this.#noteRefusal(newest);
      for (const { object, kind, tick } of world.changes) if (kind !== "left") this.#note(object, tick);
      return isWhole;
    };
    world.pollProperty = () => {
      const told = pollProperty.call(world);
      if (told !== null) {
        this.#properties.push({
          alias: told.object.alias,
          field: told.field,
          content: toHex(told.object.content(told.field)),
        });
      }
      return told;
    };
  }

  /**
   * Section 44 lets two things happen: a late snapshot builds on states that went when an object was told anew, and ends there;
   * and until the server has heard of that, it builds on what the rest of that snapshot would have said. On a stream none is late.
   * @param {number} newest before it came
   */
  #noteRefusal(newest) {
    const { error, tick } = this.#world;
    const isLate = tick < newest && !this.#isStream;
    const mayFollow = this.#refusedTicks.some(
      (refused) => refused < tick && tick - refused <= BASELINE_AGE_MAX,
    );
    if (error !== "MissingBaseline" || !(isLate || mayFollow))
      this.#refused.push(`${error} at tick ${tick}, the newest was ${newest}`);
    this.#refusedTicks.push(tick);
  }

  /**
   * @param {import("../src/replica/object.js").WorldObject} object
   * @param {number} tick
   */
  #note(object, tick) {
    const { states, facts } = object;
    const row = states.rowOf(tick);
    // Older than all that is kept.
    if (row < 0) return;
    const at = states.wordsAt(row);
    this.#states.push({
      alias: object.alias,
      tick,
      class: object.class.number,
      audience: facts.audience,
      profile: facts.profile,
      words: states.rows.slice(at, at + states.wordCount),
      contents: object.tick === tick ? object.contents.slice() : null,
    });
  }

  /**
   * Compares all of it; says how many states, words and values that were.
   * @param {Truth} truth
   * @param {{ id: number, field: number, content: string }[]} set what was set of reliable fields, in order
   */
  check(truth, set) {
    assert.equal(this.#refused.join(), "", "every snapshot in its time was read to its end");
    for (const state of this.#states) checkState(state, truth);
    const words = this.#states.reduce((sum, state) => sum + state.words.length, 0);
    return { states: this.#states.length, words, properties: this.#checkProperties(truth, set) };
  }

  /**
   * What is set of a reliable field arrives value by value: of an object in sight all of them up to the last. What only owners are
   * told has gaps when the owner changes.
   * @param {Truth} truth
   * @param {{ id: number, field: number, content: string }[]} set
   */
  #checkProperties(truth, set) {
    let count = 0;
    for (const { id, alias, class: number, reliable } of truth.objects.values()) {
      const fields = this.#world.classes.classes[number].fields.filter(
        ({ index }) => String(index) in reliable,
      );
      for (const { index } of fields.filter((field) => reaches(field, false))) {
        // To be set to what it is changes nothing.
        const values = set
          .filter((each) => each.id === id && each.field === index)
          .map(({ content }) => content)
          .filter((content, at, all) => content !== all[at - 1]);
        const told = this.#properties
          .filter((each) => each.alias === alias && each.field === index)
          .map(({ content }) => content);
        const last = told.length === 0 ? [] : values.slice(-told.length);
        assert.equal(`told ${told}`, `told ${last}`, `field ${index} of ${alias} (${id}), set to ${values}`);
        count += told.length;
      }
    }
    return count;
  }
}

/**
 * @param {Sighting} state
 * @param {Truth} truth
 */
function checkState(state, truth) {
  const { alias, tick, words, contents } = state;
  const own = truth.at(alias, tick);
  assert.ok(own !== null, `${alias} arrived with tick ${tick}, when the player did not see it`);
  assert.deepEqual(wordDifferences(words, own), [], `tick ${tick}`);
  const where = `${alias} at tick ${tick}`;
  assert.deepEqual(
    [state.class, state.audience, state.profile],
    [own.class, own.audience, own.profile],
    where,
  );
  for (const [index, content] of Object.entries(contents === null ? {} : own.contents)) {
    assert.equal(
      toHex(contents?.[Number(index)] ?? new Uint8Array(0)),
      content,
      `content ${index} of ${where}`,
    );
  }
}

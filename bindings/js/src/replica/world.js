/**
 * The objects that a client sees: snapshots go in, and they stand here (sections 38 to 44 of the standard).
 *
 * A snapshot says what left, what entered in full, and for the rest how it differs from states that this
 * client is known to hold. Snapshots come late, twice or not at all. An older one never takes the place of a
 * newer one, but its states are kept all the same, for the server may build on them. What cannot be decoded
 * ends the reading of its snapshot; what came before holds, and the server must be told the tick.
 *
 *     slot ──▶ object: class, owner, origin …
 *                states:  tick 40 │ tick 44 │ tick 48 │ …       the last 32 that arrived
 *                             └─────────┴── baselines of the update in tick 52
 */

import { NO_SLOT, aliasOf, slotOf } from "../wire/alias.js";
import { BitReader } from "../wire/bits.js";
import { ByteReader } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { Codes } from "./codes.js";
import { REGIONS_MAX, REGION_SLOTS, placedDigest, worldHash } from "./digest.js";
import { EntryReader, JUMP_AGE_MAX } from "./entry.js";
import { Baselines, SnapshotHeader } from "./header.js";
import { WorldObject } from "./object.js";
import { PropertyInbox } from "./property.js";
import { before, isNewer, nearest } from "./tick.js";
import { UpdateReader } from "./update.js";

/** Slots that objects can have. */
export const OBJECTS_MAX = 65535;
const EXISTENCE_MAX = 255;
const AGE_MAX = 2 ** 32 - 1;
/** Refusals and mismatches that wait to be told; more say nothing new. */
const WAITING_MAX = 64;
const PROPERTY_HOLD_TICKS = 20;

/**
 * What a snapshot did to an object.
 * @typedef {object} Change
 * @property {WorldObject} object
 * @property {"entered" | "refreshed" | "updated" | "left"} kind refreshed: told anew, and its words mean
 *   something else
 * @property {boolean} isInFull the server says nothing more of it until it knows that this arrived
 * @property {number} tick of the snapshot, or the one in which it left
 * @property {number} jump when it had jumped last by then; −1 if it did not since it came into sight
 */

/**
 * What became of this client's inputs.
 * @typedef {object} Feedback
 * @property {number} tick of the snapshot that said it
 * @property {number} step the newest that the server has simulated
 * @property {number | null} slack how early inputs come, in quarters of a step
 */

/** The objects that a client sees. */
export class World {
  /**
   * @param {object} config
   * @param {import("./class.js").ClassTable} config.classes
   * @param {Codes} [config.codes]
   * @param {number} [config.objectsMax] the most that are held, also after they left; more are refused
   * @param {number} [config.propertyHoldTicks] how long a property waits for its object: the ticks of a
   *   second
   */
  constructor({ classes, codes, objectsMax = OBJECTS_MAX, propertyHoldTicks = PROPERTY_HOLD_TICKS }) {
    if (!(objectsMax >= 1 && objectsMax <= OBJECTS_MAX)) {
      throw new RangeError(`objectsMax = ${objectsMax} is not allowed: use 1 to 65,535`);
    }
    this.classes = classes;
    this.codes = codes ?? Codes.generic();
    this.objectsMax = objectsMax;
    /**
     * By slot: the newest that entered it, also when it has left.
     * @type {(WorldObject | undefined)[]}
     */
    this.slots = [];
    this.held = 0;
    /** How many are in sight. */
    this.size = 0;
    /**
     * The newest leave by slot: an entry that is not newer came too late, whichever object it tells of.
     * @type {(number | undefined)[]}
     */
    this.leaves = [];
    /**
     * The newest tick of which anything arrived; −1 before that.
     */
    this.newest = -1;
    /** @type {Feedback | null} */
    this.feedback = null;
    /**
     * What the last snapshot changed, in the order in which it did; its entries are used again.
     * @type {Change[]}
     */
    this.changes = [];
    /** The tick of the last snapshot; −1 if it had none. */
    this.tick = -1;
    /**
     * Why the last snapshot was not read to its end; null if it was.
     * @type {string | null}
     */
    this.error = null;
    /** What became of snapshots. */
    this.counters = { read: 0, refused: 0 };
    this.properties = new PropertyInbox(propertyHoldTicks);
    this.startTick = -1;
    this.startStep = -1;
    /** @type {number[]} */
    this.refusals = [];
    /** @type {number[]} */
    this.mismatches = [];
    /** @type {Change[]} */
    this.spareChanges = [];
    this.header = new SnapshotHeader();
    this.baselines = new Baselines();
    this.bytes = new ByteReader(new Uint8Array(0));
    this.bits = new BitReader();
    this.entry = new EntryReader();
    this.update = new UpdateReader(this.codes);
  }

  /**
   * The server is at this tick and this step: to be said before the first snapshot. Snapshots carry 16 bits
   * of each, and who is told nothing takes the first for all there is.
   * @param {number} tick
   * @param {number} step
   */
  startNear(tick, step) {
    this.startTick = tick;
    this.startStep = step;
  }

  /**
   * Takes in a snapshot, and says whether it was read to its end. What it says before an error holds.
   * @param {Uint8Array} payload
   */
  handleSnapshot(payload) {
    while (this.changes.length > 0) this.spareChanges.push(/** @type {Change} */ (this.changes.pop()));
    this.tick = -1;
    this.error = null;
    try {
      this.#apply(payload);
      this.counters.read++;
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.error = error.code;
      this.counters.refused++;
      if (this.tick >= 0 && this.refusals.length < WAITING_MAX) this.refusals.push(this.tick);
    }
    if (this.tick >= 0 && (this.newest < 0 || isNewer(this.tick, this.newest))) this.newest = this.tick;
    return this.error === null;
  }

  /** The tick of the next snapshot that the server must be told of; null if there is none. */
  pollRefusal() {
    return this.refusals.shift() ?? null;
  }

  /**
   * The next region in which this client holds something else than the server says; null if there is none.
   */
  pollMismatch() {
    return this.mismatches.shift() ?? null;
  }

  /**
   * Takes in a message of the property channel; throws a WireError if it is none.
   * @param {Uint8Array} message
   */
  handleProperty(message) {
    this.properties.handle(message, Math.max(this.newest, 0));
  }

  /** Applies the next property whose object is in sight, and says which it is; null if there is none. */
  pollProperty() {
    return this.properties.poll(Math.max(this.newest, 0), (slot) => this.slots[slot]);
  }

  /**
   * An object in sight.
   * @param {number} alias
   * @returns {WorldObject | undefined}
   */
  object(alias) {
    const object = this.slots[slotOf(alias)];
    return object !== undefined && object.isInSight && object.alias === alias ? object : undefined;
  }

  /** Everything in sight, by slot. */
  *objects() {
    for (const object of this.slots) if (object !== undefined && object.isInSight) yield object;
  }

  /**
   * The hash of everything in sight as it was at a tick: equal to the server's, if this client sees all of
   * its objects.
   * @param {number} tick
   */
  hashAt(tick) {
    return worldHash(this.objects(), tick);
  }

  /**
   * The step after which an own object was as its newest state says: what a prediction is compared with. Null
   * if it is not this client's own, or the snapshot of the newest feedback said nothing of it.
   * @param {number} alias
   */
  confirmedStep(alias) {
    const object = this.object(alias);
    if (this.feedback === null || object === undefined || !object.isOwned) return null;
    return object.tick === this.feedback.tick ? this.feedback.step : null;
  }

  /** @param {Uint8Array} payload */
  #apply(payload) {
    const { bytes, header } = this;
    const near = this.newest >= 0 ? this.newest : this.startTick;
    const low = bytes.reset(payload).u16();
    const tick = near < 0 ? low : nearest(low, near);
    this.tick = tick;
    header.read(bytes.reset(payload));
    if (header.hasFeedback) this.#noteFeedback(tick);
    if (header.hasLeaves) {
      for (let left = bytes.varintUpTo(EXISTENCE_MAX); left > 0; left--) this.#readLeave(tick);
    }
    if (header.hasEnters) {
      for (let left = bytes.varintUpTo(EXISTENCE_MAX); left > 0; left--) this.#readEnter(tick);
    }
    if (header.hasUpdates) this.#readUpdates(tick, bytes.varintUpTo(OBJECTS_MAX));
    else bytes.finish();
    // A snapshot that newer ones overtook says nothing about the present.
    if (header.hasDigest && (this.newest < 0 || !isNewer(this.newest, tick))) this.#compare();
  }

  /** @param {number} tick */
  #noteFeedback(tick) {
    const { step, slack } = this.header;
    if (this.feedback === null) {
      const whole = this.startStep < 0 ? step : nearest(step, this.startStep);
      this.feedback = { tick, step: whole, slack };
    } else if (isNewer(tick, this.feedback.tick)) {
      this.feedback = { tick, step: nearest(step, this.feedback.step), slack };
    }
  }

  /** @param {number} tick */
  #readLeave(tick) {
    const { bytes } = this;
    const slot = bytes.u16();
    const generation = bytes.u8();
    if (slot === NO_SLOT) throw new WireError("OutOfRange");
    const left = before(tick, bytes.varintUpTo(AGE_MAX));
    this.#reach(slot);
    const last = this.leaves[slot];
    if (last === undefined || isNewer(left, last)) this.leaves[slot] = left;
    const object = this.slots[slot];
    const isMeant = object !== undefined && object.isInSight && object.alias === aliasOf(slot, generation);
    if (isMeant && !isNewer(object.entered, left)) {
      object.isInSight = false;
      this.size--;
      this.#tell(object, "left", false, left);
    }
  }

  /** @param {number} tick */
  #readEnter(tick) {
    const { entry } = this;
    const facts = entry.read(this.bytes, this.classes);
    this.#reach(facts.slot);
    const held = this.slots[facts.slot];
    const left = this.leaves[facts.slot];
    if (left !== undefined && !isNewer(tick, left)) return;
    const isSame = held !== undefined && held.isSame(facts);
    if (held !== undefined && !isNewer(tick, isSame ? held.entered : held.tick)) return;
    const jump = entry.jumpAge < 0 ? -1 : before(tick, entry.jumpAge);
    if (isSame) {
      held.keep(tick, entry.words, jump, entry.contentFields, entry.contents);
      this.#tell(held, "updated", true, tick, jump);
      return;
    }
    if (held === undefined && this.held >= this.objectsMax) throw new WireError("WorldFull");
    const object = new WorldObject(facts, tick);
    object.keep(tick, entry.words, jump, entry.contentFields, entry.contents);
    if (held === undefined) this.held++;
    else object.inherit(held);
    this.slots[facts.slot] = object;
    this.#tellEntry(object, held, tick);
  }

  /**
   * Makes room for a slot. Without holes the lists stay plain arrays, which are looked up faster.
   * @param {number} slot
   */
  #reach(slot) {
    while (this.slots.length <= slot) {
      this.slots.push(undefined);
      this.leaves.push(undefined);
    }
  }

  /**
   * @param {WorldObject} object
   * @param {WorldObject | undefined} held what its slot held before
   * @param {number} tick
   */
  #tellEntry(object, held, tick) {
    const wasInSight = held !== undefined && held.isInSight;
    const isRefreshed = wasInSight && held.alias === object.alias;
    if (wasInSight) {
      held.isInSight = false;
      if (!isRefreshed) this.#tell(held, "left", false, tick);
    } else {
      this.size++;
    }
    this.#tell(object, isRefreshed ? "refreshed" : "entered", true, tick);
  }

  /**
   * @param {number} tick
   * @param {number} count
   */
  #readUpdates(tick, count) {
    const { bits, baselines, update } = this;
    bits.reset(this.bytes.buffer, this.bytes.at, this.bytes.end);
    baselines.reset(this.header);
    let next = 0;
    for (let left = count; left > 0; left--) {
      if (next >= OBJECTS_MAX) throw new WireError("OutOfRange");
      baselines.readGap(this.codes.gap, OBJECTS_MAX - 1 - next, bits);
      const slot = next + baselines.gap;
      next = slot + 1;
      const { age, olderAge, line } = baselines.read(bits);
      const object = this.slots[slot];
      if (object === undefined) throw new WireError("UnknownObject");
      const { states } = object;
      const newerRow = states.rowOf(before(tick, age));
      const olderRow = olderAge === 0 ? newerRow : states.rowOf(before(tick, olderAge));
      if (newerRow < 0 || olderRow < 0) throw new WireError("MissingBaseline");
      const newerAt = states.wordsAt(newerRow);
      update.read(object.shape, states.rows, newerAt, age, states.wordsAt(olderRow), line, bits);
      const jump =
        update.jumpAge >= 0 ? before(tick, update.jumpAge) : rememberedJump(states.jumpOf(newerRow), tick);
      object.keep(tick, update.words, jump, update.contentFields, update.contents);
      if (object.isInSight) this.#tell(object, "updated", false, tick, jump);
    }
    bits.finish();
  }

  /** Compares what is here with what the server says of a region. */
  #compare() {
    const { region, digest } = this.header;
    if (region >= REGIONS_MAX) throw new WireError("OutOfRange");
    let own = 0;
    for (let slot = region * REGION_SLOTS; slot < (region + 1) * REGION_SLOTS; slot++) {
      const object = this.slots[slot];
      if (object !== undefined && object.isInSight) own = (own + placedDigest(object)) | 0;
    }
    const isNews = this.mismatches.length < WAITING_MAX && !this.mismatches.includes(region);
    if (own >>> 0 !== digest && isNews) this.mismatches.push(region);
  }

  /**
   * @param {WorldObject} object
   * @param {Change["kind"]} kind
   * @param {boolean} isInFull
   * @param {number} tick
   * @param {number} [jump]
   */
  #tell(object, kind, isInFull, tick, jump = object.jumped) {
    const change = this.spareChanges.pop() ?? { object, kind, isInFull, tick, jump };
    change.object = object;
    change.kind = kind;
    change.isInFull = isInFull;
    change.tick = tick;
    change.jump = jump;
    this.changes.push(change);
  }
}

/**
 * An update that says nothing of a jump says that there was none since the state that it builds on. One so
 * long ago that it would soon count as newer is forgotten.
 * @param {number} jump
 * @param {number} tick
 */
function rememberedJump(jump, tick) {
  return jump >= 0 && before(tick, jump) <= JUMP_AGE_MAX ? jump : -1;
}

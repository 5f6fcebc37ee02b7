/**
 * Properties that are delivered reliably, on their way into the objects in sight (section 45 of the
 * standard).
 *
 * Their channel and the snapshots are not ordered with each other: a value may be ahead of the entry of its
 * object, or behind its leave. What is ahead waits, for a second at most and within bounds, and the oldest
 * gives way; what is behind is dropped. Values of one object come out in the order in which they went in, one
 * by one, so that the game sees each of them.
 */

import { ByteReader } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { reaches } from "../wire/schema.js";
import { checkContent } from "../wire/value.js";
import { distance } from "./tick.js";

/** @typedef {import("./object.js").WorldObject} WorldObject */

const CONTENT_BYTES_MAX = 65532;
const WAITING_MAX = 256;
const WAITING_BYTES_MAX = 1 << 20;

/**
 * A value on its way.
 * @typedef {object} PropertyMessage
 * @property {number} slot
 * @property {number} generation
 * @property {number} field
 * @property {Uint8Array} content
 */

/**
 * Reads a message of the property channel; its content is a view of it.
 * @param {Uint8Array} message
 * @returns {PropertyMessage}
 */
export function readProperty(message) {
  const reader = new ByteReader(message);
  reader.need(4);
  const [slot, generation, field] = [reader.u16(), reader.u8(), reader.u8()];
  if (reader.left > CONTENT_BYTES_MAX) throw new WireError("TooLong");
  return { slot, generation, field, content: reader.rest() };
}

const looker = new ByteReader(new Uint8Array(0));

/**
 * What is to be done with a message, by what its slot holds or held last. What the class does not allow is
 * refused.
 * @param {PropertyMessage} message
 * @param {WorldObject | undefined} object
 * @returns {"wait" | "stale" | "apply"}
 */
export function judgeProperty({ generation, field, content }, object) {
  if (object === undefined) return "wait";
  const ahead = ((generation - object.generation) << 24) >> 24;
  if (ahead > 0) return "wait";
  if (ahead !== 0 || !object.isInSight) return "stale";
  const place = object.class.fields[field];
  if (place === undefined || !place.isReliable || !reaches(place, true)) throw new WireError("InvalidField");
  checkContent(place, content, looker);
  return reaches(place, object.isOwned) ? "apply" : "stale";
}

/** Messages that wait for their objects. */
export class PropertyInbox {
  /** @param {number} holdTicks how long: the ticks of a second */
  constructor(holdTicks) {
    this.holdTicks = holdTicks;
    /** @type {{ message: PropertyMessage, arrived: number }[]} */
    this.waiting = [];
    this.waitingBytes = 0;
    /** What became of messages. */
    this.counters = { applied: 0, stale: 0, expired: 0, overflowed: 0, refused: 0 };
  }

  /**
   * Takes in a message.
   * @param {Uint8Array} bytes
   * @param {number} tick the newest of which anything arrived
   */
  handle(bytes, tick) {
    const message = readProperty(bytes);
    message.content = message.content.slice();
    while (
      this.waiting.length >= WAITING_MAX ||
      this.waitingBytes + message.content.length > WAITING_BYTES_MAX
    ) {
      this.#take(0);
      this.counters.overflowed++;
    }
    this.waiting.push({ message, arrived: tick });
    this.waitingBytes += message.content.length;
  }

  /**
   * Applies the next message whose object is there.
   * @param {number} tick the newest of which anything arrived
   * @param {(slot: number) => WorldObject | undefined} objectIn what a slot holds or held last
   * @returns {{ object: WorldObject, field: number } | null} whose value is another now
   */
  poll(tick, objectIn) {
    for (let at = 0; at < this.waiting.length;) {
      const { message, arrived } = this.waiting[at];
      const object = objectIn(message.slot);
      const verdict = this.#judge(message, object);
      if (verdict === "wait" && distance(tick, arrived) <= this.holdTicks) {
        at++;
        continue;
      }
      this.#take(at);
      if (verdict === "wait") this.counters.expired++;
      else if (verdict === "stale") this.counters.stale++;
      else if (verdict === "refuse") this.counters.refused++;
      else if (object !== undefined) {
        this.counters.applied++;
        object.contents[message.field] = message.content;
        return { object, field: message.field };
      }
    }
    return null;
  }

  /**
   * @param {PropertyMessage} message
   * @param {WorldObject | undefined} object
   */
  #judge(message, object) {
    try {
      return judgeProperty(message, object);
    } catch (error) {
      if (error instanceof WireError) return "refuse";
      throw error;
    }
  }

  /** @param {number} at */
  #take(at) {
    const [{ message }] = this.waiting.splice(at, 1);
    this.waitingBytes -= message.content.length;
  }
}

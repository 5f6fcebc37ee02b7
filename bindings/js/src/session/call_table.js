/**
 * Which calls there are, and which number stands for which name (section "the table of calls").
 *
 * Games know calls by name, and the wire has room for 16 bits. Ids are indices in the list sorted by name;
 * both sides compare a hash of their lists first. If it differs, the server sends its list, as hashes of
 * names in the order of its ids, and the client translates. What the server's list says of a call holds.
 */

import { ByteReader, encodeUtf8 } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { fnv1a64 } from "../wire/hash.js";
import { nameOf } from "../wire/name.js";
import { NetloomError } from "./error.js";
import { ARGS_BYTES_MAX } from "./msgpack.js";

const NAME_BYTES_MAX = 64;
const NAMES_MAX = 4_096;
const PAGE_BYTES_MAX = 1_024;
const ENTRY_BYTES = 11;
const CALLERS = /** @type {const} */ (["server", "clients", "both"]);
const DELIVERIES = /** @type {const} */ (["ordered", "unordered", "unreliable"]);

/**
 * What a call may be. Everything has a default; both sides may differ, and what the server says holds.
 * @typedef {object} CallOptions
 * @property {"server" | "clients" | "both"} [callers] who may call; both
 * @property {"ordered" | "unordered" | "unreliable"} [delivery] how it travels; ordered
 * @property {boolean} [atViewTime] whether it is about what the client sees rather than about now
 * @property {boolean} [isForwarded] whether a client may ask for it to be passed on to other players
 * @property {number} [bytesMax] bytes of arguments, 1 to 16,384; 1,024
 */

/**
 * @typedef {object} CallRow
 * @property {string} name
 * @property {bigint} hash
 * @property {SharedOptions} options
 */

/** @typedef {Required<CallOptions>} SharedOptions */

/** The calls that this side knows, by id. */
export class CallTable {
  /** @param {{ [name: string]: CallOptions | null }} calls */
  constructor(calls) {
    /** @type {CallRow[]} */
    this.rows = Object.entries(calls).map(([name, options]) => rowOfCall(name, options ?? {}));
    if (this.rows.length > NAMES_MAX)
      throw new NetloomError("setting", `there are at most ${NAMES_MAX} calls`);
    this.rows.sort((one, other) => compareBytes(encodeUtf8(one.name), encodeUtf8(other.name)));
    /** @type {Map<string, number>} */
    this.ids = new Map(this.rows.map((row, id) => [row.name, id]));
    /** @type {Map<bigint, number>} */
    this.idsByHash = new Map();
    for (const [id, row] of this.rows.entries()) {
      const other = this.idsByHash.get(row.hash);
      if (other !== undefined) {
        const names = `"${this.rows[other].name}" and "${row.name}"`;
        throw new NetloomError("setting", `the calls ${names} have the same hash: rename one of them`);
      }
      this.idsByHash.set(row.hash, id);
    }
  }

  /** The hash that both sides compare. */
  hash() {
    const bytes = [];
    for (const { name, options } of this.rows) {
      const encoded = encodeUtf8(name);
      bytes.push(
        encoded.length,
        ...encoded,
        optionsByte(options),
        options.bytesMax & 0xff,
        options.bytesMax >>> 8,
      );
    }
    return fnv1a64(Uint8Array.from(bytes));
  }
}

/**
 * @param {string} name
 * @param {CallOptions} options
 * @returns {CallRow}
 */
function rowOfCall(name, options) {
  const bytes = encodeUtf8(name).length;
  if (bytes < 1 || bytes > NAME_BYTES_MAX) {
    throw new NetloomError(
      "setting",
      `the name of the call "${name}" has ${bytes} bytes, allowed are 1 to 64`,
    );
  }
  const {
    callers = "both",
    delivery = "ordered",
    atViewTime = false,
    isForwarded = false,
    bytesMax = 1_024,
  } = options;
  if (!CALLERS.includes(callers)) {
    throw new NetloomError(
      "setting",
      `callers of "${name}" is "${callers}": use one of ${CALLERS.join(", ")}`,
    );
  }
  if (!DELIVERIES.includes(delivery)) {
    throw new NetloomError(
      "setting",
      `delivery of "${name}" is "${delivery}": use one of ${DELIVERIES.join(", ")}`,
    );
  }
  if (!Number.isInteger(bytesMax) || bytesMax < 1 || bytesMax > ARGS_BYTES_MAX) {
    throw new NetloomError(
      "setting",
      `bytesMax of "${name}" is ${bytesMax}, allowed are 1 to ${ARGS_BYTES_MAX}`,
    );
  }
  return { name, hash: nameOf(name), options: { callers, delivery, atViewTime, isForwarded, bytesMax } };
}

/**
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 */
function compareBytes(one, other) {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at++) if (one[at] !== other[at]) return one[at] - other[at];
  return one.length - other.length;
}

/** @param {SharedOptions} options */
function optionsByte(options) {
  const { callers, delivery, atViewTime, isForwarded } = options;
  const flags = (atViewTime ? 1 << 4 : 0) | (isForwarded ? 1 << 5 : 0);
  return CALLERS.indexOf(callers) | (DELIVERIES.indexOf(delivery) << 2) | flags;
}

/**
 * @param {number} byte
 * @param {number} bytesMax
 * @returns {SharedOptions}
 */
function optionsOf(byte, bytesMax) {
  const callers = CALLERS[byte & 3];
  const delivery = DELIVERIES[(byte >> 2) & 3];
  const isWithin = bytesMax >= 1 && bytesMax <= ARGS_BYTES_MAX && byte < 0x40;
  if (callers === undefined || delivery === undefined || !isWithin) throw new WireError("OutOfRange");
  return { callers, delivery, atViewTime: (byte & 0x10) !== 0, isForwarded: (byte & 0x20) !== 0, bytesMax };
}

/** A server's list, as far as it has arrived. It grows with what arrives, not with what is announced. */
export class CallList {
  /** @type {{ hash: bigint, options: SharedOptions }[]} */
  entries = [];
  /**
   * How many the whole list has; null before the first page.
   * @type {number | null}
   */
  announced = null;

  /**
   * Takes the next page, and says whether it was the last. A page that is refused changes nothing.
   * @param {Uint8Array} page
   */
  handlePage(page) {
    const reader = new ByteReader(page);
    const announced = reader.u16();
    if (page.length > PAGE_BYTES_MAX || announced > NAMES_MAX) throw new WireError("TooLong");
    if (this.announced !== null && this.announced !== announced) throw new WireError("OutOfRange");
    if (reader.u16() !== this.entries.length) throw new WireError("OutOfOrder");
    const left = announced - this.entries.length;
    if (reader.left > left * ENTRY_BYTES) throw new WireError("TrailingData");
    if (left > 0 && reader.left === 0) throw new WireError("UnexpectedEnd");
    const added = [];
    while (reader.left > 0) {
      const hash = reader.u64();
      const byte = reader.u8();
      added.push({ hash, options: optionsOf(byte, reader.u16()) });
    }
    this.entries.push(...added);
    this.announced = announced;
    return this.entries.length === announced;
  }
}

/** This client's ids and the server's, side by side. */
export class CallMap {
  /**
   * @param {CallTable} table
   * @param {readonly { hash: bigint, options: SharedOptions }[]} entries the server's calls, by its ids
   */
  constructor(table, entries) {
    this.table = table;
    /** @type {Map<number, { id: number, options: SharedOptions }>} by our id */
    this.theirs = new Map();
    /** @type {Map<number, number>} by the server's id */
    this.ours = new Map();
    for (const [theirId, entry] of entries.entries()) {
      const ourId = table.idsByHash.get(entry.hash);
      if (ourId === undefined) continue;
      if (this.theirs.has(ourId)) throw new WireError("OutOfRange", "the server's list has a name twice");
      this.theirs.set(ourId, { id: theirId, options: entry.options });
      this.ours.set(theirId, ourId);
    }
  }

  /**
   * For a server with the same table.
   * @param {CallTable} table
   */
  static same(table) {
    return new CallMap(table, table.rows);
  }

  /** The names that the server does not have. */
  missing() {
    return this.table.rows.filter((_, id) => !this.theirs.has(id)).map((row) => row.name);
  }

  /**
   * Our row for one of the server's ids; undefined for a call that only the server knows.
   * @param {number} theirId
   * @returns {CallRow | undefined}
   */
  incoming(theirId) {
    const ourId = this.ours.get(theirId);
    return ourId === undefined ? undefined : this.table.rows[ourId];
  }

  /**
   * The server's id and options of a call that this client may make.
   * @param {string} name
   * @param {boolean} isForOthers
   */
  outgoing(name, isForOthers) {
    const ourId = this.table.ids.get(name);
    if (ourId === undefined)
      throw new NetloomError("call", `no call named "${name}" is in this client's protocol`);
    const theirs = this.theirs.get(ourId);
    if (theirs === undefined) throw new NetloomError("call", `the server has no call named "${name}"`);
    if (theirs.options.callers === "server")
      throw new NetloomError("call", `only the server may call "${name}"`);
    if (isForOthers && !theirs.options.isForwarded) {
      throw new NetloomError(
        "call",
        `"${name}" may be called on the server only: see isForwarded of its options`,
      );
    }
    return theirs;
  }
}

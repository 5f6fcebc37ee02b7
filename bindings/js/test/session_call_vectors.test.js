/**
 * The golden vectors of Part IV about games, packed snapshots and calls, as section 61 of the standard
 * describes them: what a server sends is read and compared, what a client sends is written as well.
 *
 * Discovery (`session_question`, `session_answer`) is no part of this SDK, because browsers cannot broadcast:
 * its vectors are not read.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readServerCall, writeCallHead } from "../src/session/call_frame.js";
import { CallList, CallMap, CallTable } from "../src/session/call_table.js";
import { field } from "../src/session/fields.js";
import { SNAPSHOT_BYTES_MAX, unpack } from "../src/session/lz4.js";
import { MESSAGE_BYTES_MAX } from "../src/session/messages.js";
import { ARGS_BYTES_MAX, ObjectRef, readArgs, writeArgs } from "../src/session/msgpack.js";
import { Protocol, defineProtocol } from "../src/session/protocol.js";
import { ByteWriter } from "../src/wire/bytes.js";
import { nameOf } from "../src/wire/name.js";
import { fromHex, toHex, vectors } from "./vectors.js";

const CALLERS = /** @type {const} */ (["server", "clients", "both"]);
const DELIVERIES = /** @type {const} */ (["ordered", "unordered", "unreliable"]);

/**
 * Reads the cases of a file, but those that only a server meets.
 * @param {string} file
 * @param {(given: any, bytes: Uint8Array, vector: any) => any} read
 * @param {(vector: any) => boolean} [isForServers]
 */
function check(file, read, isForServers = () => false) {
  for (const vector of vectors(file)) {
    if (isForServers(vector)) continue;
    const { name, hex, given, value, error } = vector;
    test(`${file}: ${name}`, () => {
      const seen = () => read(given, fromHex(hex), vector);
      if (error) assert.throws(seen, { name: "WireError", code: error });
      else assert.deepEqual(seen(), value);
    });
  }
}

/** @param {(out: ByteWriter) => void} fill */
function filled(fill) {
  const out = new ByteWriter(MESSAGE_BYTES_MAX);
  fill(out);
  return toHex(out.written());
}

/** @param {number | null} alias */
function jsonObject(alias) {
  return alias === null ? null : { slot: alias & 0xffff, generation: alias >>> 16 };
}

/** @param {{ slot: number, generation: number } | null} object */
function aliasOf(object) {
  return object === null ? null : object.slot + 0x1_0000 * object.generation;
}

// Games: the classes that the vectors have only the hash of are these, each with one field.
const CLASSES = [[], ["tank"], ["tank", "shell"]];

check("session_game", ({ game, version, classes_hash }) => {
  const protocols = CLASSES.map((names) => {
    const objects = Object.fromEntries(names.map((name) => [name, { health: field.f32() }]));
    return defineProtocol(game, { version, objects });
  });
  const protocol = protocols.find(({ classes }) => String(classes.hash) === classes_hash);
  assert(protocol, "one of the lists of classes has the hash");
  return {
    protocol_id: String(protocol.id),
    schema_hash: String(protocol.schemaHash),
    version_in_hash: Protocol.versionIn(protocol.schemaHash),
  };
});

check("session_packed", (_given, bytes) => {
  return { snapshot: toHex(unpack(bytes, new Uint8Array(SNAPSHOT_BYTES_MAX))) };
});

/** @param {import("../src/session/call_table.js").SharedOptions} options */
function jsonOptions({ callers, delivery, atViewTime, isForwarded, bytesMax }) {
  return {
    callers: CALLERS.indexOf(callers),
    delivery: DELIVERIES.indexOf(delivery),
    at_view_time: atViewTime,
    forwarded: isForwarded,
    bytes_max: bytesMax,
  };
}

/** @param {any} given */
function optionsOf({ callers, delivery, at_view_time, forwarded, bytes_max }) {
  return {
    callers: CALLERS[callers],
    delivery: DELIVERIES[delivery],
    atViewTime: at_view_time,
    isForwarded: forwarded,
    bytesMax: bytes_max,
  };
}

check("session_page", ({ before }, bytes) => {
  const list = new CallList();
  for (const page of before) assert.equal(list.handlePage(fromHex(page)), false);
  const known = [...list.entries];
  try {
    const last = list.handlePage(bytes);
    const added = list.entries.slice(known.length);
    const entries = added.map(({ hash, options }) => ({ hash: String(hash), ...jsonOptions(options) }));
    return { count: list.announced, first: known.length, entries, last };
  } catch (error) {
    assert.deepEqual(list.entries, known, "a refused page changes nothing");
    throw error;
  }
});

// Only servers write pages: a client reads them, and finds its own table in them.
check("session_table", ({ calls }, _bytes, { value: { pages } }) => {
  const table = new CallTable(
    Object.fromEntries(calls.map((/** @type {any} */ call) => [call.name, optionsOf(call)])),
  );
  const list = new CallList();
  const ends = pages.map((/** @type {string} */ page) => list.handlePage(fromHex(page)));
  assert.equal(ends.indexOf(true), pages.length - 1);
  assert.deepEqual(
    list.entries,
    table.rows.map(({ hash, options }) => ({ hash, options })),
  );
  const map = new CallMap(table, list.entries);
  assert.deepEqual(map.missing(), []);
  for (const [id, row] of table.rows.entries()) assert.equal(map.incoming(id), row);
  return { hash: String(table.hash()), names: table.rows.map(({ name }) => name), pages };
});

// Frames: a client reads those of servers, and writes its own. The group is that of this name.
const GROUP = "red";
const TARGETS = /** @type {const} */ (["server", "all", "others", "owner", "", "", "interested"]);

/**
 * @param {any} value
 * @returns {import("../src/session/call_frame.js").Target}
 */
function targetOf({ target, player, group }) {
  if (player !== null) return { player };
  if (group !== null) {
    assert.equal(String(nameOf(GROUP)), group);
    return { group: GROUP };
  }
  const name = TARGETS[target];
  assert(name, "a target without a number of its own");
  return name;
}

check(
  "session_frame",
  ({ from }, bytes, { hex, value }) => {
    if (from === "server") {
      const { id, caller, alias, tick, args } = readServerCall(bytes);
      return { id, caller, object: jsonObject(alias), tick, arguments: toHex(args) };
    }
    const { id, object, tick } = value;
    const written = filled((out) => {
      writeCallHead(out, { id, target: targetOf(value), alias: aliasOf(object), tick });
      out.bytes(fromHex(value.arguments));
    });
    assert.equal(written, hex);
    return value;
  },
  // What a client must not send is refused by servers, which alone read the frames of clients.
  ({ given, error }) => given.from === "client" && error !== undefined,
);

test("session_frame: what servers refuse of a client's target is not written", () => {
  const call = { id: 1, alias: null, tick: null };
  for (const target of /** @type {const} */ (["owner", "interested"])) {
    assert.throws(() => filled((out) => writeCallHead(out, { ...call, target })), { code: "no-object" });
  }
  assert.equal(
    filled((out) => writeCallHead(out, { ...call, target: { player: 0 } })),
    "010000",
    "player 0 is the server",
  );
});

/**
 * An argument as this SDK has it: all numbers are of one type, and of keys that come twice the last holds.
 * @param {any} shown
 * @returns {any}
 */
function argumentOf(shown) {
  const [[kind, value]] = Object.entries(shown);
  if (kind === "int") return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(value);
  if (kind === "f32") return Buffer.from(value, "hex").readFloatBE();
  if (kind === "f64") return Buffer.from(value, "hex").readDoubleBE();
  if (kind === "bytes") return fromHex(value);
  if (kind === "object") return new ObjectRef(aliasOf(value));
  if (kind === "list") return value.map(argumentOf);
  if (kind !== "map") return value;
  const map = Object.create(null);
  for (const [key, inner] of value) map[key] = argumentOf(inner);
  return map;
}

/**
 * Whether arguments have a float of 32 bits or a key twice, which this SDK reads but does not write.
 * @param {any} shown
 * @returns {boolean}
 */
function isOnlyRead(shown) {
  const [[kind, value]] = Object.entries(shown);
  if (kind === "list") return value.some(isOnlyRead);
  if (kind !== "map") return kind === "f32";
  const keys = new Set(value.map((/** @type {any} */ pair) => pair[0]));
  return keys.size < value.length || value.some((/** @type {any} */ pair) => isOnlyRead(pair[1]));
}

/**
 * Whether the case is there for its forms of values, of which this SDK writes the shortest.
 * @param {string} name
 */
const hasLongForms = (name) => /in each form|in its longest form/.test(name);

check("session_arguments", (_given, bytes, { name, hex, value }) => {
  const read = readArgs(bytes);
  const { arguments: shown } = value;
  const args = shown.map(argumentOf);
  assert.deepEqual(read, args);

  const out = new ByteWriter(ARGS_BYTES_MAX);
  writeArgs(out, args);
  if (shown.some(isOnlyRead)) assert.notEqual(toHex(out.written()), hex);
  else if (hasLongForms(name)) assert(out.written().length < bytes.length);
  else assert.equal(toHex(out.written()), hex);
  assert.deepEqual(readArgs(out.written()), args);
  return value;
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteWriter } from "../src/wire/bytes.js";
import { WireError } from "../src/wire/error.js";
import { nameOf } from "../src/wire/name.js";
import { readServerCall, writeCallHead } from "../src/session/call_frame.js";
import { CallList, CallMap, CallTable } from "../src/session/call_table.js";
import { CallInbox, WaitingCalls } from "../src/session/call_waiting.js";
import { NetloomError } from "../src/session/error.js";

/**
 * @param {number} count
 * @param {number} first
 * @param {[name: string, options: number, limit: number][]} entries
 */
function page(count, first, entries) {
  const out = new ByteWriter(2_048);
  out.u16(count);
  out.u16(first);
  for (const [name, options, limit] of entries) {
    out.u64(nameOf(name));
    out.u8(options);
    out.u16(limit);
  }
  return out.written().slice();
}

test("ids follow the bytes of names, and the hash follows options and limits", () => {
  const table = new CallTable({ wave: {}, chat: {}, Äpfel: {}, Zoo: {} });
  assert.deepEqual(
    table.rows.map((row) => row.name),
    ["Zoo", "chat", "wave", "Äpfel"],
  );
  const base = new CallTable({ chat: {} }).hash();
  assert.equal(base, new CallTable({ chat: { callers: "both", bytesMax: 1_024 } }).hash());
  for (const options of [
    { callers: /** @type {const} */ ("server") },
    { delivery: /** @type {const} */ ("unreliable") },
    { atViewTime: true },
    { isForwarded: true },
    { bytesMax: 5 },
  ]) {
    assert.notEqual(base, new CallTable({ chat: options }).hash());
  }
  assert.equal(new CallTable({}).hash(), 0xcbf29ce484222325n, "nothing hashes to the beginning of the hash");
  assert.throws(() => new CallTable({ "": {} }), NetloomError);
  assert.throws(() => new CallTable({ chat: { bytesMax: 16_385 } }), /bytesMax of "chat"/);
  assert.throws(
    () => new CallTable({ chat: { callers: /** @type {any} */ ("me") } }),
    /use one of server, clients, both/,
  );
});

test("a client translates between its names and the server's list", () => {
  const table = new CallTable({ chat: {}, fire: {}, wave: {} });
  const list = new CallList();
  assert.equal(
    list.handlePage(
      page(3, 0, [
        ["chat", 0x02, 10],
        ["drop", 0x02, 10],
      ]),
    ),
    false,
  );
  assert.equal(list.handlePage(page(3, 2, [["fire", 0x1a, 20]])), true);
  const map = new CallMap(table, list.entries);
  assert.deepEqual(map.missing(), ["wave"]);
  assert.deepEqual(map.outgoing("fire", false), {
    id: 2,
    options: { callers: "both", delivery: "unreliable", atViewTime: true, isForwarded: false, bytesMax: 20 },
  });
  assert.equal(map.incoming(2)?.name, "fire");
  assert.equal(map.incoming(1), undefined, "only the server knows it");
  assert.throws(() => map.outgoing("wave", false), /the server has no call named "wave"/);
  assert.throws(() => map.outgoing("dance", false), /no call named "dance"/);
  assert.throws(() => map.outgoing("chat", true), /on the server only/);
  assert.equal(CallMap.same(table).outgoing("wave", false).id, 2);
});

test("a page that is refused changes nothing", () => {
  const list = new CallList();
  list.handlePage(page(2, 0, [["chat", 2, 10]]));
  const refused = [
    page(3, 1, [["fire", 2, 10]]),
    page(2, 0, [["fire", 2, 10]]),
    page(2, 1, [
      ["fire", 2, 10],
      ["drop", 2, 10],
    ]),
    page(2, 1, []),
    page(2, 1, [["fire", 0x40, 10]]),
    page(2, 1, [["fire", 3, 10]]),
    page(2, 1, [["fire", 2, 0]]),
    page(2, 1, [["fire", 2, 16_385]]),
    page(5_000, 1, []),
    page(2, 1, [["fire", 2, 10]]).subarray(0, 10),
    new Uint8Array(1_025),
  ];
  for (const [at, bytes] of refused.entries()) {
    assert.throws(() => list.handlePage(bytes), WireError, `page ${at}`);
    assert.equal(list.entries.length, 1);
  }
  assert.equal(list.handlePage(page(2, 1, [["chat", 2, 10]])), true);
  assert.throws(() => new CallMap(new CallTable({ chat: {} }), list.entries), WireError, "a name twice");
  assert.equal(new CallList().handlePage(page(0, 0, [])), true, "a server without calls");
});

test("frames have the bytes of the standard", () => {
  /** @param {Parameters<typeof writeCallHead>[1]} call */
  const head = (call) => {
    const out = new ByteWriter(64);
    writeCallHead(out, call);
    return [...out.written()];
  };
  const base = { id: 0x0102, alias: null, tick: null };
  assert.deepEqual(head({ ...base, target: "server" }), [2, 1, 0]);
  assert.deepEqual(head({ ...base, target: { player: 0 } }), [2, 1, 0], "player 0 is the server");
  assert.deepEqual(head({ ...base, target: { player: 5 }, tick: 9 }), [2, 1, 0x14, 5, 0, 0, 0, 9, 0, 0, 0]);
  assert.deepEqual(head({ ...base, target: "owner", alias: 0x03_0201 }), [2, 1, 0x0b, 1, 2, 3]);
  assert.equal(head({ ...base, target: { group: "NoMe" } }).length, 11);
  assert.throws(() => head({ ...base, target: "owner" }), /needs the object/);
  assert.throws(
    () => head({ ...base, target: /** @type {any} */ ("everyone") }),
    /there is no target "everyone"/,
  );
  const read = readServerCall(Uint8Array.of(2, 1, 0x18, 7, 0, 0, 0, 1, 2, 3, 9, 0, 0, 0, 0x90));
  assert.deepEqual(read, { id: 0x0102, caller: 7, alias: 0x03_0201, tick: 9, args: Uint8Array.of(0x90) });
  for (const bytes of [
    [2, 1],
    [2, 1, 1, 0, 0, 0, 0],
    [2, 1, 0x20, 0, 0, 0, 0],
    [2, 1, 8, 7, 0, 0, 0, 1],
  ]) {
    assert.throws(() => readServerCall(Uint8Array.from(bytes)), WireError);
  }
});

/**
 * @param {number} id
 * @param {number} alias
 * @param {number} [bytes]
 */
const about = (id, alias, bytes = 1) => ({ id, caller: 0, alias, tick: null, args: new Uint8Array(bytes) });

test("calls about one object keep their order, and wait a second at most", () => {
  const waiting = new WaitingCalls();
  const released = /** @type {number[]} */ ([]);
  const unknown = /** @type {number[]} */ ([]);
  const give = (/** @type {number[]} */ to) => (/** @type {{ id: number }} */ call) => void to.push(call.id);
  waiting.hold(0, about(1, 10), give(unknown));
  waiting.hold(10, about(2, 20), give(unknown));
  waiting.hold(20, about(3, 10), give(unknown));
  waiting.release(10, give(released));
  assert.deepEqual(released, [1, 3]);
  assert.equal(waiting.nextTimeout(), 1_000_010);
  waiting.handleTimeout(1_000_009, give(unknown));
  assert.deepEqual(unknown, []);
  waiting.handleTimeout(1_000_010, give(unknown));
  assert.deepEqual([unknown, waiting.length, waiting.nextTimeout()], [[2], 0, Infinity]);
});

test("what waits is bounded in number and bytes, and the oldest goes first", () => {
  const waiting = new WaitingCalls();
  let unknown = 0;
  for (let id = 0; id < 300; id++) waiting.hold(id, about(id, 1), (call) => assert.equal(call.id, unknown++));
  assert.deepEqual([waiting.length, unknown], [256, 44]);
  waiting.hold(300, about(300, 1, 16_384), () => unknown++);
  for (let id = 301; id < 305; id++) waiting.hold(id, about(id, 1, 16_384), () => unknown++);
  assert.equal(waiting.length, 4, "64 KiB of arguments");
  const inbox = new CallInbox();
  let kept = 0;
  while (inbox.push(new Uint8Array(1_024))) kept++;
  assert.equal(kept, 1_024, "a MiB of frames");
  assert.equal(inbox.take().length, 1_024);
  assert.ok(inbox.push(new Uint8Array(1_024)), "there is room again");
});

// Where a client gets its code tables from.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { codesFor } from "../src/api/tables.js";
import { endingOf } from "../src/session/ending.js";
import { ConnectionError } from "../src/proto/reason.js";
import { Codes } from "../src/replica/codes.js";
import { genericCodeBytes } from "../src/replica/generic_codes.js";
import { fromHex, vectors } from "./vectors.js";

const GENERIC = Codes.generic();
const trainedBytes = fromHex(vectors("replica_codes")[1].hex);
const trained = new Codes(trainedBytes);

/** What the server answers, by path. @type {Map<string, Uint8Array>} */
const files = new Map([
  ["/trained.table", trainedBytes],
  ["/generic.table", genericCodeBytes()],
  ["/page.table", new TextEncoder().encode("<!doctype html>")],
  ["/endless.table", new Uint8Array(70_000)],
]);
let asked = 0;
const server = createServer((request, response) => {
  asked++;
  const file = files.get(request.url ?? "");
  response.writeHead(file === undefined ? 404 : 200);
  response.end(file);
});

before(() => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined))));
after(() => server.close());

/** @param {string} path */
function at(path) {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return new URL(path, `http://127.0.0.1:${port}/`);
}

test("without a word from anybody the tables are the generic ones", async () => {
  assert.equal(await codesFor(null, null), GENERIC);
  assert.equal(await codesFor(null, { id: GENERIC.id, url: at("/missing") }), GENERIC);
  assert.equal(await codesFor("generic", null), GENERIC);
});

test("a game brings tables as bytes, as an address, or by name", async () => {
  assert.equal((await codesFor(trainedBytes, null)).id, trained.id);
  assert.equal((await codesFor(at("/trained.table"), null)).id, trained.id);
  assert.equal((await codesFor(String(at("/trained.table")), null)).id, trained.id);
  for (const name of ["rigid", "shooter"]) assert.equal((await codesFor(name, null)).name, name);
  await assert.rejects(codesFor("no-such", null), { code: "setting", message: /"no-such".*generic/ });
});

test("the server's tables are fetched once, and are those that it said", async () => {
  const served = { id: trained.id, url: at("/trained.table") };
  await codesFor(null, served);
  const before = asked;
  assert.equal((await codesFor(null, served)).name, "sparse-2_b");
  assert.equal(asked, before, "they are known by now");
  const wrong = { id: trained.id, url: at("/generic.table") };
  await assert.rejects(codesFor(null, wrong), { code: "unreachable", message: /not the table/ });
});

test("what is no table is refused with its reason", async () => {
  const damaged = trainedBytes.slice();
  // The id, behind the name and the layout: whatever the tables are, it is not theirs any more.
  damaged[6 + damaged[5] + 4] ^= 1;
  await assert.rejects(codesFor(damaged, null), { code: "setting", reason: "Id" });
  await assert.rejects(codesFor(at("/page.table"), null), { code: "setting", reason: "Magic" });
  await assert.rejects(codesFor(at("/missing.table"), null), { code: "unreachable", message: /404/ });
  await assert.rejects(codesFor(at("/endless.table"), null), { code: "unreachable", message: /too long/ });
});

test("who has other tables is told which ones the server has", () => {
  const reject = { reason: /** @type {const} */ ("Tables"), detail: BigInt(0x00ab12cd) };
  const ending = endingOf(new ConnectionError("Rejected", reject));
  assert.equal(ending.code, "protocol");
  assert.match(ending.message, /different code tables.*00ab12cd/);
  assert.deepEqual(ending.details, { tableId: 0x00ab12cd });
});

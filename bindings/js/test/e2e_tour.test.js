/** A client against the real server with something of everything, over each transport that node has. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { NetloomError, connect, defineProtocol, field } from "../src/node/index.js";
import { eventually, heard } from "./expect.js";
import { addressOf, startTour } from "./servers.js";
import { tour } from "./tour.js";

/** @typedef {import("./servers.js").Running} Running */
/** @typedef {import("../src/index.js").Client} Client */

/** What a ball must look like, all of which follows from the step of its last change. @param {any} ball */
function checkBall(ball) {
  const values = ball.values();
  assert.equal("secret" in values, false, "what only the server has is not told");
  const step = Number(values.seed >> 32n);
  if (step === 0) return false;
  const { number } = values;
  assert.equal(Number(values.seed & 0xffff_ffffn), number);
  const angle = Math.fround(Math.fround(step + 7 * number) / 60);
  assert.ok(Math.abs(values.spin - Math.sin(angle)) <= 0.006, `spin ${values.spin}, angle ${angle}`);
  assert.equal(values.charge, (Math.floor(step / 30) % 201) - 100);
  assert.equal(values.colour, ["red", "green", "blue"][Math.floor(step / 30) % 3]);
  assert.ok(Math.abs(values.heat - angle * 1.1) < 1e-3);
  assert.equal(values.is_lit, Math.floor(step / 30) % 2 === 1);
  assert.equal(values.label, `ball ${number} at ${step}`);
  assert.deepEqual(
    values.marks,
    Array.from({ length: Math.floor(step / 30) % 9 }, (_, mark) => mark * 11),
  );
  assert.deepEqual(values.size, new Array(3).fill(1 + (number % 4) * 0.25));
  assert.ok(Math.abs(Math.hypot(...values.turned) - 1) < 1e-3);
  assert.ok(Math.abs(Math.hypot(...values.speed) - 1) < 0.02);
  assert.ok(
    Math.abs(Math.hypot(values.at[0] / Math.max(number, 1e-9), values.at[1] / 50) - 1) < 0.02 || number === 0,
  );
  return true;
}

/**
 * @param {"udp" | "ws"} scheme
 * @param {"off" | "required"} encryption
 */
function suite(scheme, encryption) {
  describe(`over ${scheme}, encryption ${encryption}`, () => {
    /** @type {Running} */
    let server;
    /** @type {Client} */
    let ada;

    before(async () => {
      const flags = encryption === "required" ? ["--encrypted"] : [];
      server = await startTour([...flags, `${scheme}://127.0.0.1:0`]);
      ada = await connect(addressOf(server, scheme), { protocol: tour, name: "Ada", encryption });
    });
    after(async () => {
      await ada.close();
      await server.stop();
    });

    test("both sides hash what they declare to the same", () => {
      const hex = (/** @type {bigint} */ hash) => hash.toString(16).padStart(16, "0");
      assert.equal(hex(tour.id), server.about.protocol);
      assert.equal(hex(tour.schemaHash), server.about.schema);
      assert.equal(hex(tour.calls.hash()), server.about.calls);
    });

    test("what happens right after the seat is given is heard", async () => {
      const greeted = await heard(ada, "call", ({ name }) => name === "greet");
      assert.deepEqual([greeted.args, greeted.player], [["welcome"], null]);
    });

    test("200 objects are here, and every kind of field is as the server has it", async () => {
      await eventually(() => ada.progress === 1, "the world is here");
      assert.equal([...ada.objects("Ball")].length, 200);
      assert.equal(ada.own()?.get("diary"), "Ada came here", "reliable properties come beside snapshots");
      await eventually(() => [...ada.objects("Ball")].every(checkBall), "every ball has changed once");
      assert.equal(ada.stats().snapshotsRefused, 0);
      assert.equal(ada.stats().nonsense, 0);
    });

    test("a call about an object that is not there yet waits for it", async () => {
      const { object } = await ada.request("hatch", [], { answer: "hatched" });
      assert.equal(object?.get("number"), 200);
    });

    test("calls go both ways, with objects among their arguments", async () => {
      assert.deepEqual((await ada.request("add", [2, 40], { answer: "sum" })).args, [42]);
      assert.deepEqual((await ada.request("add", [-(2 ** 40), 1], { answer: "sum" })).args, [1 - 2 ** 40]);
      const ball = [...ada.objects("Ball")][7];
      const pointed = await ada.request("point", [ball], { answer: "pointed" });
      assert.equal(pointed.args[0].alias, ball.alias);
      assert.equal(pointed.object, ball);
      assert.notEqual(pointed.tick, null, "it belongs to a moment of the view");
      const seen = await ada.request("look", [], { answer: "seen" });
      const newest = ada.world?.newest ?? 0;
      assert.ok(
        seen.args[0] <= newest && newest - seen.args[0] < 40,
        `saw ${seen.args[0]}, newest is ${newest}`,
      );
    });

    test("a call that is refused says why, and a wrong one is not sent", async () => {
      await assert.rejects(ada.request("grumble", [], { answer: "sum" }), {
        code: "call-refused",
        reason: "by-game",
        message: "not today",
      });
      await assert.rejects(ada.request("add", ["x"], { answer: "sum" }), {
        code: "call-refused",
        reason: "bad-arguments",
      });
      assert.throws(() => ada.call("greet"), { code: "call" });
      assert.throws(() => ada.call("add", [1, 2], { target: "others" }), { code: "call" });
      assert.throws(() => ada.call("wave", ["x".repeat(65)]), { code: "arguments" });
      assert.throws(() => ada.call("unheard of"), { code: "call" });
    });

    test("players see each other, talk, and call each other through the server", async () => {
      const joined = heard(ada, "join", ({ name }) => name === "Bo <b>");
      const bo = await connect(addressOf(server, scheme), { protocol: tour, name: "Bo <b>", encryption });
      const { player } = await joined;
      assert.equal(player, bo.player);
      await eventually(() => bo.players.get(ada.player ?? 0)?.name === "Ada", "Bo knows Ada");
      const line = heard(bo, "chat");
      ada.chat("hello, wörld");
      assert.deepEqual(await line, { player: ada.player, name: "Ada", toTeam: false, text: "hello, wörld" });
      await eventually(() => [...bo.objects("Walker")].length === 2, "both walk");
      const hers = [...bo.objects("Walker")].find((walker) => !walker.isOwn);
      assert.equal(hers?.get("steps"), undefined, "what only the owner is told is not told to others");
      let waved = heard(bo, "call", ({ name }) => name === "wave");
      ada.call("wave", ["from afar"], { target: { player: bo.player ?? 0 } });
      assert.deepEqual([(await waved).args, (await waved).player], [["from afar"], ada.player]);
      waved = heard(ada, "call", ({ name }) => name === "wave");
      bo.call("wave", [1], { target: "owner", object: hers });
      assert.equal((await waved).object, ada.own());
      const gone = heard(ada, "part");
      await bo.close();
      assert.deepEqual(await gone, { player, name: "Bo <b>" });
    });

    test("what players may write is written, and what they may claim is theirs", async () => {
      const own = /** @type {import("../src/index.js").NetObject} */ (ada.own());
      own.set("motto", "carpe diem");
      await eventually(() => own.get("motto") === "carpe diem", "the motto is there");
      assert.throws(() => own.set("motto", 5), { code: "setting" });
      assert.throws(() => own.set("shoes", 5), { code: "setting" });
      ada.call("write", ["x".repeat(400)]);
      await eventually(() => own.get("diary") === "x".repeat(400), "a long text arrives");
      const [ball] = ada.objects("Ball");
      const claimed = heard(ada, "claimed");
      ada.claim(ball);
      assert.deepEqual(await claimed, { object: ball, isGranted: true });
    });

    test("what the player does has its effect on the server, and what cannot be is refused", async () => {
      const own = /** @type {import("../src/index.js").NetObject} */ (ada.own());
      ada.setInput({ way: 1 });
      await eventually(() => own.get("at")[0] > 1 && own.get("steps") > 8, "she walked to the right");
      const rejected = heard(ada, "rejected");
      ada.setInput({ way: 9 });
      assert.deepEqual([(await rejected).reason, (await rejected).code], ["by-game", 2]);
      ada.setInput({ way: 0 });
    });

    test("a server with another version, and one without a seat, say so", async () => {
      const address = addressOf(server, scheme);
      const other = defineProtocol("tour", { version: 9, objects: { Ball: { at: field.position() } } });
      await assert.rejects(
        connect(address, { protocol: other, encryption }),
        (/** @type {NetloomError} */ error) => {
          assert.equal(error.code, "protocol");
          assert.equal(error.details.gameVersion, 3);
          assert.match(error.message, /the server has version 3 of the game/);
          return true;
        },
      );
      await assert.rejects(connect(address, { protocol: tour, name: "nobody", encryption }), {
        code: "refused",
        reason: "denied",
      });
      await assert.rejects(connect(address, { protocol: tour, room: "attic", encryption }), {
        code: "refused",
        reason: "no-such-room",
      });
    });

    test("a client with other calls learns the server's", async () => {
      const kinds = Object.fromEntries(tour.kinds.map((kind) => [kind.name, kind.declaration]));
      const other = defineProtocol("tour", {
        version: 3,
        objects: kinds,
        calls: { sum: {}, add: {}, dance: {} },
        input: { way: field.u8() },
      });
      const bo = await connect(addressOf(server, scheme), { protocol: other, name: "Bo", encryption });
      assert.deepEqual(await heard(bo, "calls"), { missing: ["dance"] });
      assert.deepEqual((await bo.request("add", [1, 2], { answer: "sum" })).args, [3]);
      await bo.close();
    });

    test("a lobby works, and a room is found by its code", async () => {
      const options = { protocol: tour, encryption, room: "match" };
      const [host, guest] = [
        await connect(addressOf(server, scheme), { ...options, name: "Host" }),
        await connect(addressOf(server, scheme), { ...options, name: "Guest" }),
      ];
      await eventually(() => host.lobby.state?.members.length === 2, "both are in the lobby");
      assert.equal(host.lobby.state?.host, host.player);
      guest.lobby.set("map", "lake");
      assert.equal((await heard(guest, "lobby-event", ({ type }) => type === "refused")).reason, "not-host");
      host.lobby.set("map", "lake");
      await eventually(() => guest.lobby.state?.settings.get("map") === "lake", "the map is chosen");
      const line = heard(guest, "chat");
      host.lobby.chat("ready?");
      assert.deepEqual([(await line).text, (await line).player], ["ready?", host.player]);
      const started = heard(guest, "lobby-event", ({ type }) => type === "started");
      host.lobby.ready();
      guest.lobby.ready();
      assert.equal((await started).player, guest.player);
      await eventually(() => host.lobby.state?.phase === "playing", "the game is on");
      await Promise.all([host.close(), guest.close()]);
      const byCode = await connect(addressOf(server, scheme), {
        protocol: tour,
        encryption,
        room: "mead ow23",
      });
      assert.equal(byCode.room, "meadow");
      await byCode.close();
    });

    test("whoever is removed is told why", async () => {
      const bo = await connect(addressOf(server, scheme), { protocol: tour, name: "Bo", encryption });
      bo.call("kick", ["no dogs"]);
      const error = await bo.closed;
      assert.deepEqual([error.code, bo.state], ["kicked", "disconnected"]);
      assert.match(error.message, /no dogs/);
      assert.throws(() => bo.chat("but"), { code: "no-seat" });
      assert.equal([...bo.objects()].length, 0);
    });

    test("a server that stops says so", async () => {
      const own = await startTour([
        ...(encryption === "required" ? ["--encrypted"] : []),
        `${scheme}://127.0.0.1:0`,
      ]);
      const bo = await connect(addressOf(own, scheme), { protocol: tour, name: "Bo", encryption });
      own.say("stop");
      const error = await bo.closed;
      assert.equal(error.code, "shutdown");
      assert.match(error.message, /closing time/);
      await own.stop();
    });
  });
}

suite("udp", "off");
suite("udp", "required");
suite("ws", "off");

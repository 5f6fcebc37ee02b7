// A whole conversation with the real server, over every transport that node has.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openUdp } from "../src/node/udp.js";
import { openNodeWebSocket } from "../src/node/websocket.js";
import { openWebSocket } from "../src/transport/websocket.js";
import { Conditioner } from "../src/transport/conditioner.js";
import { ConnectionError } from "../src/proto/reason.js";
import { ByteReader, ByteWriter, encodeUtf8 } from "../src/wire/bytes.js";
import { fnv1a64 } from "../src/wire/hash.js";
import { Driven, dropAll, whileAwake } from "./drive.js";
import { needsServer, serverProgram, startServer } from "./server.js";

const CONTROL = 0;
const ORDERED = 1;
const UNRELIABLE = 3;
const WELCOME = 64;
const SNAPSHOT = 66;
const SAID = 77;

/** @type {Awaited<ReturnType<typeof startServer>>} */
let server;
/** @type {Awaited<ReturnType<typeof startServer>>} */
let plainServer;
/** What the server's game is, learnt from its refusals. */
const game = { protocolId: fnv1a64(encodeUtf8("netloom session 1 cubes")), schemaHash: 0n, tableId: 0 };

before(async () => {
  if (!serverProgram) return;
  server = await startServer({ NETLOOM_ROOM_PROFILE: "lobby4" }); // a room with a lobby, where there is chat
  plainServer = await startServer({ NETLOOM_CONNECTION_ENCRYPTION: "off" });
});
after(async () => {
  dropAll();
  await server?.stop();
  await plainServer?.stop();
});

const transports = {
  UDP: (/** @type {typeof server} */ of) => openUdp("127.0.0.1", of.udpPort),
  WebSocket: (/** @type {typeof server} */ of) => openNodeWebSocket(of.webSocketUrl),
  // As a browser has it; node 20 needs --experimental-websocket, which `npm test` gives.
  ...(globalThis.WebSocket && {
    "WebSocket of the runtime": (/** @type {typeof server} */ of) => openWebSocket(of.webSocketUrl),
  }),
};

/**
 * Connects and joins.
 * @param {import("../src/transport/transport.js").Transport} transport
 * @param {string} name
 * @param {object} settings
 */
async function join(transport, name, settings) {
  const driven = new Driven(transport, { ...game, ...settings });
  const connected = await driven.event("connected");
  driven.connection.send(CONTROL, hello(name));
  driven.pump();
  const welcome = await driven.event(
    "message",
    ({ channel, data }) => channel === CONTROL && data[0] === WELCOME,
  );
  return { driven, connected, welcome: welcome.data };
}

/** @param {string} name */
function hello(name) {
  const writer = new ByteWriter(200);
  writer.u8(1);
  writer.str(name);
  writer.str("");
  writer.bool(false);
  writer.u64(0n);
  writer.blob(new Uint8Array(0));
  return writer.written();
}

test(
  "the server's refusals say what it is",
  needsServer,
  whileAwake(async () => {
    for (const [field, reason] of /** @type {const} */ ([
      ["schemaHash", "Schema"],
      ["tableId", "Tables"],
    ])) {
      const driven = new Driven(await transports.UDP(server), game);
      const error = await driven.event("connected").then(
        () => null,
        (/** @type {unknown} */ refused) => refused,
      );
      driven.drop();
      assert(error instanceof ConnectionError);
      assert.equal(error.code, "Rejected");
      assert.equal(error.reject?.reason, reason);
      if (field === "schemaHash") game.schemaHash = error.reject.detail;
      else game.tableId = Number(error.reject.detail);
    }
  }),
);

for (const [name, open] of Object.entries(transports)) {
  for (const security of /** @type {const} */ (["required", "off"])) {
    test(
      `${name}, security ${security}: connects, talks and says goodbye`,
      needsServer,
      whileAwake(async () => {
        const { driven, connected } = await join(await open(server), "talks", { security });
        const { driven: listener } = await join(await open(server), "listens", { security });
        assert.equal(connected.isSealed, security === "required");
        assert.equal(connected.resumeToken.length, 32);
        // Viewing: from here on there are snapshots.
        driven.connection.send(CONTROL, Uint8Array.of(9, 100, 0));
        // A text that needs three fragments each way, and arrives as it went.
        const text = "🧵".repeat(500);
        const chat = new ByteWriter(3000);
        chat.u8(10);
        chat.bool(false);
        chat.str(text);
        driven.connection.send(ORDERED, chat.written());
        driven.pump();
        const said = await listener.event(
          "message",
          ({ channel, data }) => channel === ORDERED && data[0] === SAID,
        );
        const reader = new ByteReader(said.data, 1);
        assert(reader.u32() > 0);
        assert.equal(reader.bool(), false);
        assert.equal(reader.str(2000), text);
        const snapshots = () =>
          driven.events.filter(
            (event) => event.type === "message" && event.channel === UNRELIABLE && event.data[0] === SNAPSHOT,
          ).length;
        await driven.event("message", () => snapshots() >= 20);
        const stats = driven.connection.stats();
        assert(stats.rtt > 0 && stats.rtt < 5e5, `${stats.rtt} us over loopback`);
        assert(stats.packetsReceived >= 20 && stats.bytesReceived > 1000);
        assert.equal(stats.pendingBytes, 0, "everything reliable was acknowledged");
        assert.deepEqual(
          Object.entries(driven.connection.rejections).filter(([, count]) => count > 0),
          [],
        );
        for (const each of [driven, listener]) {
          each.close();
          assert.equal((await each.event("ended")).error.code, "Requested");
          each.drop();
        }
      }),
    );
  }
}

for (const [name, open] of Object.entries(transports)) {
  test(
    `${name} over a bad line: what is reliable arrives, and the line is measured`,
    needsServer,
    whileAwake(async () => {
      const line = { latency: 20e3, jitter: 5e3, loss: 0.1, duplicate: 0.05 };
      const conditioner = new Conditioner(await open(server), { outgoing: line, incoming: line, seed: 3 });
      const { driven } = await join(conditioner, "far away", {});
      const { connection } = driven;
      for (let delayMs = 100; delayMs < 200; delayMs++) {
        connection.send(CONTROL, Uint8Array.of(9, delayMs, 0)); // Viewing: from here on there are snapshots
        driven.pump();
        const received = connection.stats().packetsReceived;
        await driven.until(() => connection.stats().packetsReceived > received);
      }
      await driven.until(() => connection.pendingBytes(CONTROL) === 0);
      const stats = connection.stats();
      assert(stats.rtt > 35e3, `${stats.rtt} us over a line of 20 ms each way`);
      assert.equal(stats.packetsLost > 0, !conditioner.reliable, `${stats.packetsLost} packets lost`);
      assert.equal(connection.rejections.replayed > 0, !conditioner.reliable, "duplicates are noticed");
      driven.close();
      assert.equal((await driven.event("ended")).error.code, "Requested");
      driven.drop();
    }),
  );
}

test(
  "a server without sealing refuses a client that requires it, in words",
  needsServer,
  whileAwake(async () => {
    const driven = new Driven(await transports.UDP(plainServer), { ...game, security: "required" });
    await assert.rejects(driven.event("connected"), {
      name: "ConnectionError",
      code: "Rejected",
      message: /encryption/,
    });
    driven.drop();
  }),
);

test(
  "a connection that is lost is resumed with its token, once",
  needsServer,
  whileAwake(async () => {
    const first = await join(await transports.UDP(server), "resumes", {});
    const { resumeToken } = first.connected;
    first.driven.drop();

    const { driven: second, welcome } = await join(await transports.UDP(server), "resumes", { resumeToken });
    assert.equal(welcome[1] & 1, 1, "the Welcome says that the seat was resumed");

    const third = new Driven(await transports.UDP(server), { ...game, resumeToken });
    await assert.rejects(third.event("connected"), { name: "ConnectionError", message: /connect anew/ });
    second.close();
    await second.event("ended");
    second.drop();
    third.drop();
  }),
);

test("nobody there: the attempts end with a timeout that says what to check", async () => {
  const quick = { connectTimeout: 100e3, connectRetries: 1, handshakeResend: 20e3 };
  const driven = new Driven(await openUdp("127.0.0.1", 9), quick);
  await assert.rejects(driven.event("connected"), { code: "ConnectTimeout", message: /check the address/ });
  driven.drop();
});

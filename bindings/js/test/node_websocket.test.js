// The WebSocket client for node, against servers that keep to the protocol and servers that do not.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { openNodeWebSocket } from "../src/node/websocket.js";
import { toHex } from "./vectors.js";

/**
 * A server that upgrades and hands its socket over.
 * @param {Record<string, string>} [headers] that replace its own
 */
async function listen(headers = {}) {
  const server = createServer();
  /** @type {Promise<import("node:stream").Duplex>} */
  const socket = new Promise((resolve) => {
    server.on("upgrade", (request, stream) => {
      const salted = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const answer = {
        Upgrade: "websocket",
        Connection: "Upgrade",
        "Sec-WebSocket-Protocol": "netloom.1",
        "Sec-WebSocket-Accept": createHash("sha1").update(salted).digest("base64"),
        ...headers,
      };
      const lines = Object.entries(answer).map(([name, value]) => `${name}: ${value}`);
      stream.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      resolve(stream);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = () => {
    server.close();
    void socket.then((stream) => stream.destroy());
  };
  return { url: `ws://127.0.0.1:${address.port}/netloom`, socket, close };
}
/** Frames that a client sent, unmasked. @param {Uint8Array} bytes */
function readFrames(bytes) {
  const frames = [];
  for (let at = 0; at < bytes.length;) {
    const opcode = bytes[at] & 0x0f;
    assert.equal(bytes[at] & 0xf0, 0x80);
    assert(bytes[at + 1] & 0x80, "a client's frames are masked");
    let length = bytes[at + 1] & 0x7f;
    at += 2;
    if (length === 126) {
      length = (bytes[at] << 8) | bytes[at + 1];
      at += 2;
    }
    const mask = bytes.subarray(at, at + 4);
    at += 4;
    frames.push({
      opcode,
      payload: bytes.slice(at, at + length).map((byte, index) => byte ^ mask[index & 3]),
    });
    at += length;
  }
  return frames;
}

/**
 * @param {import("node:stream").Duplex} socket
 * @param {() => boolean} isEnough
 * @param {{ bytes: Uint8Array }} into
 */
async function collect(socket, isEnough, into) {
  while (!isEnough()) {
    const [piece] = await once(socket, "data");
    into.bytes = new Uint8Array([...into.bytes, ...piece]);
  }
}

test(
  "datagrams pass both ways, whole, in parts and in pieces; pings are answered",
  { timeout: 20_000 },
  async () => {
    const { url, socket: accepted, close } = await listen();
    const transport = await openNodeWebSocket(url);
    const socket = await accepted;
    const received = { bytes: new Uint8Array(0) };
    transport.send(Uint8Array.of(1, 2, 3));
    transport.send(new Uint8Array(1200).fill(7));
    await collect(socket, () => received.bytes.length >= 6 + 3 + 8 + 1200, received);
    const [short, long] = readFrames(received.bytes);
    assert.equal(toHex(short.payload), "010203");
    assert.deepEqual([long.opcode, long.payload.length, long.payload[1199]], [2, 1200, 7]);

    /** @type {string[]} */
    const datagrams = [];
    const arrived = new Promise((/** @type {(value: void) => void} */ resolve) => {
      transport.onDatagram = (bytes) => {
        datagrams.push(toHex(bytes));
        if (datagrams.length === 4) resolve();
      };
    });
    const stream = Uint8Array.of(
      0x82,
      2,
      0xaa,
      0xbb, // whole
      0x82,
      0, // empty
      0x02,
      1,
      0x11,
      0x89,
      1,
      0x55,
      0x80,
      2,
      0x22,
      0x33, // in parts, with a ping between them
      0x82,
      126,
      0,
      126,
      ...new Uint8Array(126).fill(9),
    );
    for (const byte of stream) socket.write(Uint8Array.of(byte));
    await arrived;
    assert.deepEqual(datagrams, ["aabb", "", "112233", "09".repeat(126)]);
    received.bytes = new Uint8Array(0);
    transport.close();
    await collect(socket, () => received.bytes.length >= 7 + 8, received);
    assert.deepEqual(
      readFrames(received.bytes).map(({ opcode, payload }) => [opcode, toHex(payload)]),
      [
        [10, "55"],
        [8, "03e8"],
      ],
    );
    close();
  },
);

for (const [what, bytes, code] of /** @type {[string, number[], number][]} */ ([
  ["text", [0x81, 1, 65], 1003],
  ["a masked frame", [0x82, 0x81, 1, 2, 3, 4, 5], 1002],
  ["reserved bits", [0xc2, 0], 1002],
  ["a reserved opcode", [0x83, 0], 1002],
  ["a continuation of nothing", [0x80, 0], 1002],
  ["a message inside another", [0x02, 0, 0x82, 0], 1002],
  ["a ping in parts", [0x09, 0], 1002],
  ["a long ping", [0x89, 126, 0, 126], 1002],
  ["a length not in its least form", [0x82, 126, 0, 5], 1002],
  ["a message above a datagram", [0x82, 126, 0x04, 0xb1], 1009],
  ["a message of gigabytes", [0x82, 127], 1009],
  ["parts that are together too long", [0x02, 126, 0x04, 0xb0, ...new Uint8Array(1200), 0x80, 1], 1009],
  ["a close frame of one byte", [0x88, 1], 1002],
])) {
  test(`a server that sends ${what} is told ${code}`, { timeout: 20_000 }, async () => {
    const { url, socket: accepted, close } = await listen();
    const transport = await openNodeWebSocket(url);
    const closed = new Promise((resolve) => (transport.onClose = resolve));
    const socket = await accepted;
    const received = { bytes: new Uint8Array(0) };
    socket.write(Uint8Array.from(bytes));
    await collect(socket, () => received.bytes.length >= 8, received);
    const [{ opcode, payload }] = readFrames(received.bytes);
    assert.deepEqual([opcode, (payload[0] << 8) | payload[1]], [8, code]);
    assert.equal(typeof (await closed), "string");
    close();
  });
}

test("a server's close is answered with its code, and its reason is told", { timeout: 20_000 }, async () => {
  const { url, socket: accepted, close } = await listen();
  const transport = await openNodeWebSocket(url);
  const closed = new Promise((resolve) => (transport.onClose = resolve));
  (await accepted).write(Uint8Array.of(0x88, 5, 0x03, 0xf0, 98, 121, 101));
  assert.equal(await closed, "bye");
  close();
});

test("what is no Netloom server is refused in words", { timeout: 20_000 }, async () => {
  const { url, close } = await listen({ "Sec-WebSocket-Protocol": "chat" });
  await assert.rejects(openNodeWebSocket(url), /not as a Netloom server/);
  close();
  await assert.rejects(openNodeWebSocket("ws://127.0.0.1:9/netloom"), /ECONNREFUSED/);
});

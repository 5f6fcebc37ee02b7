// The golden vectors of Part II that are about a connection: what it drops, delivers and says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { channel, CHANNEL_KINDS, completeConfig, SECURITIES } from "../src/proto/config.js";
import { Connection } from "../src/proto/connection.js";
import { SealKey } from "../src/proto/crypto/chacha20poly1305.js";
import { FrameKind, FrameTable } from "../src/proto/frames.js";
import { checksumOf, protocolBytes } from "../src/proto/handshake.js";
import { Inbox } from "../src/proto/inbox.js";
import { Link } from "../src/proto/link.js";
import { PacketType } from "../src/proto/packet.js";
import { fromHex, toHex, vectors } from "./vectors.js";

/**
 * A receiver as the vectors have it, and the messages that it delivers.
 * @param {any} given
 */
function makeReceiver(given) {
  const config = completeConfig({
    channels: given.channel_kinds.map((/** @type {any} */ kind) => channel(kind)),
  });
  const inbox = new Inbox(1024, 1 << 20);
  const sessionId = protocolBytes(BigInt(given.session_id));
  const alias = Uint8Array.of(given.alias & 0xff, given.alias >> 8);
  const openKey = given.key ? new SealKey(fromHex(given.key)) : null;
  const session = { sessionId, name: sessionId, alias, openKey, sealKey: openKey };
  const link = new Link(config, session, inbox, checksumOf(BigInt(given.protocol_id)), 0);
  link.isGreetingDue = false;
  return { link, inbox };
}

for (const { name, hex, given, error } of vectors("proto_rejects")) {
  const datagram = fromHex(hex);
  const type = datagram[0] & 0x0f;
  const isRequest = datagram.length > 0 && (type === PacketType.Connect || type === PacketType.Response);
  // Only a server listens, waits for a client's first packet, and hears from other addresses than the one it
  // talks to.
  const isOfServer =
    (isRequest && given.receiver.listens && error !== "too_long") ||
    error === "wrong_address" ||
    name === "a PathChallenge before the client's first packet";
  if (isOfServer) continue;
  test(`reject: ${name}`, () => {
    const isOfLink =
      datagram.length > 0 &&
      datagram.length <= 1200 &&
      type >= PacketType.Data &&
      type <= PacketType.Quiet;
    if (!isOfLink) {
      const connection = new Connection({ security: "off" });
      if (error !== "unsolicited") connection.poll(0);
      connection.handle(datagram, 0);
      assert.equal(
        connection.rejections[/** @type {import("../src/proto/reason.js").Rejection} */ (error)],
        1,
      );
      return;
    }
    const { link } = makeReceiver(given.receiver);
    for (let number = 0; number < given.receiver.exchanged; number++) {
      const peer = makeReceiver(given.receiver).link;
      for (const side of [peer, link]) side.isGreetingDue = true;
      const greeting = peer.poll(0);
      assert(greeting);
      assert.equal(link.handle(greeting, 0), null);
      assert(link.poll(0));
    }
    assert.equal(link.handle(datagram, 0), error);
  });
}

for (const { name, given, steps } of vectors("proto_sessions")) {
  test(`session: ${name}`, () => {
    const { link, inbox } = makeReceiver(given);
    for (const [index, { hex, messages, error }] of steps.entries()) {
      assert.equal(link.handle(fromHex(hex), 0), error ?? null, `step ${index}`);
      const delivered = [];
      for (let event = inbox.poll(); event; event = inbox.poll()) {
        if (event.type === "message") delivered.push({ channel: event.channel, data: toHex(event.data) });
      }
      if (messages) assert.deepEqual(delivered, messages, `step ${index}`);
    }
  });
}

for (const { name, given, value, datagrams } of vectors("proto_conversation")) {
  test(`conversation: ${name}`, () => {
    const connect = fromHex(datagrams[0].hex);
    const nonce = connect.subarray(16, 32);
    const connection = new Connection({
      protocolId: BigInt(given.protocol_id),
      mtu: connect.length,
      fillRandom: (bytes) => bytes.set(bytes.length === 16 ? nonce : fromHex(given.client_secret)),
    });
    assert.equal(SECURITIES[connect[15]], "required");
    /** @type {any[]} */
    const events = [];
    let isFirst = true;
    for (const { from, hex, ms, type, payload } of datagrams) {
      const now = 1000 * ms;
      if (from === "server") connection.handle(fromHex(hex), now);
      for (const event of connection.events()) {
        const isMessage = event.type === "message";
        events.push({
          channel: isMessage ? event.channel : null,
          data: isMessage ? toHex(event.data) : null,
          event: { connected: "connected", message: "message", ended: "disconnected", outcome: "" }[
            event.type
          ],
          ms,
          to: "client",
        });
      }
      if (from !== "client") continue;
      if (type === "Disconnect" && payload.startsWith("00")) connection.close("Requested", now);
      if (type === "Data") sendFrames(connection, fromHex(payload));
      const packet = connection.poll(now);
      assert(packet, `a ${type} at ${ms} ms`);
      // A sender is not held to the file; what depends on the handshake alone must be the same, though.
      if (type === "Connect" || type === "Response" || isFirst) assert.equal(toHex(packet), hex);
      isFirst = isFirst && type !== "KeepAlive";
    }
    assert.deepEqual(
      events,
      value.events.filter((/** @type {any} */ event) => event.to === "client"),
    );
    assert.equal(String(connection.fingerprint), value.fingerprint);
    assert(Object.values(connection.rejections).every((count) => count === 0));
  });
}

/**
 * Sends again what somebody else's packet carried.
 * @param {Connection} connection
 * @param {Uint8Array} payload
 */
function sendFrames(connection, payload) {
  const table = new FrameTable(CHANNEL_KINDS);
  table.readPayload(payload, 0, payload.length);
  for (let row = 0; row < table.count; row++) {
    if (table.kind[row] === FrameKind.Message)
      connection.send(table.channel[row], payload.slice(table.start[row], table.end[row]));
  }
}

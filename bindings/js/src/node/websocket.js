/**
 * A WebSocket client for versions of node that have none of their own (RFC 6455, section 12.3 of the
 * standard).
 *
 * It speaks the part that the standard allows: binary messages of at most one datagram, no extensions.
 * Whatever a server may not send closes the connection with the code that says why.
 */

import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { DATAGRAM_BYTES_MAX } from "../proto/limits.js";
import { SUBPROTOCOL } from "../transport/websocket.js";

const ACCEPT_SALT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const CONTINUATION = 0;
const BINARY = 2;
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const CONTROL_BYTES_MAX = 125;
/** Whoever has said goodbye waits this long for the other side to close. */
const GOODBYE_MS = 2000;
/** Pings that are answered in one piece of input; a server has no reason to send more. */
const PONGS_MAX = 8;

/** What a server sent must close the connection. */
class Violation extends Error {
  /** @param {number} code @param {string} reason */
  constructor(code, reason) {
    super(reason);
    this.code = code;
  }
}

/**
 * A WebSocket over a socket of node.
 * @implements {Transport}
 * @typedef {import("../transport/transport.js").Transport} Transport
 */
export class NodeWebSocketTransport {
  /**
   * @param {import("node:stream").Duplex & { setNoDelay?: (on: boolean) => void }} socket after the upgrade
   * @param {Uint8Array} head what came with the upgrade
   * @param {boolean} isSecure
   */
  constructor(socket, head, isSecure) {
    this.socket = socket;
    this.mtu = DATAGRAM_BYTES_MAX;
    this.reliable = true;
    this.ordered = true;
    this.secure = isSecure;
    /** @type {((bytes: Uint8Array) => void) | null} */
    this.onDatagram = null;
    /** @type {((reason: string) => void) | null} */
    this.onClose = null;
    this.isOpen = true;
    this.parser = new FrameParser();
    socket.setNoDelay?.(true);
    socket.on("data", (piece) => this.#read(piece));
    socket.on("error", (error) => this.#closed(error.message));
    socket.on("close", () => this.#closed("the stream ended"));
    // What came with the upgrade waits until somebody can have said where datagrams go.
    if (head.length > 0) queueMicrotask(() => this.#read(head));
  }

  get isCongested() {
    return this.socket.writableLength > 0;
  }

  /** @param {Uint8Array} bytes */
  send(bytes) {
    if (this.isOpen) this.#write(BINARY, bytes);
  }

  close() {
    this.onClose = null;
    this.#finish(1000, "");
  }

  /** @param {Uint8Array} piece */
  #read(piece) {
    if (!this.isOpen) return;
    try {
      let pongs = 0;
      this.parser.push(piece, (opcode, payload) => {
        if (!this.isOpen) return;
        if (opcode === BINARY) this.onDatagram?.(payload);
        else if (opcode === PING && pongs++ < PONGS_MAX) this.#write(PONG, payload);
        else if (opcode === CLOSE) this.#answerClose(payload);
      });
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#finish(error.code, error.message);
      this.#closed(error.message);
    }
  }

  /** @param {Uint8Array} payload */
  #answerClose(payload) {
    const code = payload.length >= 2 ? (payload[0] << 8) | payload[1] : 1000;
    const reason = new TextDecoder().decode(payload.subarray(2));
    this.#finish(mayBeSent(code) ? code : 1002, "");
    this.#closed(reason || `the WebSocket closed with code ${code}`);
  }

  /** @param {number} code @param {string} reason */
  #finish(code, reason) {
    if (!this.isOpen) return;
    this.#write(CLOSE, Buffer.concat([Uint8Array.of(code >> 8, code & 0xff), Buffer.from(reason)]));
    this.isOpen = false;
    this.socket.end();
    setTimeout(() => this.socket.destroy(), GOODBYE_MS).unref();
  }

  /** @param {number} opcode @param {Uint8Array} payload */
  #write(opcode, payload) {
    const isShort = payload.length < 126;
    const start = isShort ? 6 : 8;
    const frame = new Uint8Array(start + payload.length);
    frame[0] = 0x80 | opcode;
    frame[1] = 0x80 | (isShort ? payload.length : 126);
    if (!isShort) {
      frame[2] = payload.length >> 8;
      frame[3] = payload.length;
    }
    const mask = randomBytes(4);
    frame.set(mask, start - 4);
    for (let index = 0; index < payload.length; index++)
      frame[start + index] = payload[index] ^ mask[index & 3];
    this.socket.write(frame);
  }

  /** @param {string} reason */
  #closed(reason) {
    this.isOpen = false;
    this.socket.destroy();
    const { onClose } = this;
    this.onClose = null;
    onClose?.(reason);
  }
}

/** Whether a close frame may carry this code. @param {number} code */
function mayBeSent(code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

/** Takes a server's stream in pieces and gives its messages out; holds one frame and one message at most. */
class FrameParser {
  constructor() {
    this.header = new Uint8Array(4);
    this.headerBytes = 0;
    this.payload = new Uint8Array(0);
    this.filled = -1;
    /** @type {Uint8Array | null} a message that comes in parts */
    this.message = null;
  }

  /** @param {Uint8Array} piece @param {(opcode: number, payload: Uint8Array) => void} deliver */
  push(piece, deliver) {
    let at = 0;
    while (at < piece.length || this.filled === this.payload.length) {
      if (this.filled < 0) {
        this.header[this.headerBytes++] = piece[at++];
        this.#readHeader();
        continue;
      }
      const taken = Math.min(this.payload.length - this.filled, piece.length - at);
      this.payload.set(piece.subarray(at, at + taken), this.filled);
      this.filled += taken;
      at += taken;
      if (this.filled === this.payload.length) this.#finishFrame(deliver);
    }
  }

  /** Refuses as soon as the header shows what is wrong. */
  #readHeader() {
    const [first, second] = this.header;
    const opcode = first & 0x0f;
    const isControl = opcode >= CLOSE;
    if (this.headerBytes === 1) {
      if (first & 0x70) throw new Violation(1002, "reserved bits");
      if (opcode === TEXT) throw new Violation(1003, "binary messages only");
      if (![CONTINUATION, BINARY, CLOSE, PING, PONG].includes(opcode))
        throw new Violation(1002, "a reserved opcode");
      if (isControl && first < 0x80) throw new Violation(1002, "a control frame in parts");
      if (opcode === CONTINUATION && this.message === null)
        throw new Violation(1002, "a continuation of nothing");
      if (opcode === BINARY && this.message !== null) throw new Violation(1002, "a message inside another");
      return;
    }
    if (second & 0x80) throw new Violation(1002, "a masked frame from a server");
    if (isControl && second > CONTROL_BYTES_MAX) throw new Violation(1002, "a long control frame");
    if (second === 127) throw new Violation(1009, "a message too long");
    if (second === 126 && this.headerBytes < 4) return;
    const length = second === 126 ? (this.header[2] << 8) | this.header[3] : second;
    if (second === 126 && length < 126) throw new Violation(1002, "a length not in its least form");
    if (!isControl && length + (this.message?.length ?? 0) > DATAGRAM_BYTES_MAX)
      throw new Violation(1009, "a message too long");
    if (opcode === CLOSE && length === 1) throw new Violation(1002, "a close frame of one byte");
    this.payload = new Uint8Array(length);
    this.filled = 0;
  }

  /** @param {(opcode: number, payload: Uint8Array) => void} deliver */
  #finishFrame(deliver) {
    const [first] = this.header;
    const opcode = first & 0x0f;
    const { payload } = this;
    this.headerBytes = 0;
    this.filled = -1;
    if (opcode >= CLOSE) return deliver(opcode, payload);
    const message = this.message ? new Uint8Array([...this.message, ...payload]) : payload;
    this.message = first & 0x80 ? null : message;
    if (this.message === null) deliver(BINARY, message);
  }
}

/**
 * Opens a WebSocket to a server, such as `ws://127.0.0.1:7777/netloom`.
 * @param {string} url
 * @param {{ signal?: AbortSignal }} [options] a signal that gives up
 * @returns {Promise<NodeWebSocketTransport>}
 */
export function openNodeWebSocket(url, { signal } = {}) {
  const { protocol, href } = new URL(url);
  const isSecure = protocol === "wss:";
  const key = randomBytes(16).toString("base64");
  const accept = createHash("sha1")
    .update(key + ACCEPT_SALT)
    .digest("base64");
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(href.replace(/^ws/, "http"), {
      signal,
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Protocol": SUBPROTOCOL,
      },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      response.resume();
      reject(
        new Error(
          `no WebSocket at ${url}: the server answered ${response.statusCode} ${response.statusMessage}`,
        ),
      );
    });
    request.on("upgrade", ({ headers }, socket, head) => {
      const isAgreed =
        headers["sec-websocket-accept"] === accept &&
        headers["sec-websocket-protocol"] === SUBPROTOCOL &&
        headers["sec-websocket-extensions"] === undefined;
      if (isAgreed) return resolve(new NodeWebSocketTransport(socket, head, isSecure));
      socket.destroy();
      reject(new Error(`${url} answers WebSockets, but not as a Netloom server does`));
    });
    request.end();
  });
}

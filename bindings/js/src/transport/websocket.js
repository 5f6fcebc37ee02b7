/**
 * Datagrams as binary messages of a WebSocket (section 12.3): where neither WebTransport nor UDP gets
 * through.
 *
 * A stream never loses anything; it only gets late. So nothing is queued here: whoever sends asks
 * `isCongested` first, and holds back what a newer packet would replace.
 */

import { DATAGRAM_BYTES_MAX } from "../proto/limits.js";

/** The subprotocol that both sides name. */
export const SUBPROTOCOL = "netloom.1";
/** The path that a server listens at. */
export const WEBSOCKET_PATH = "/netloom";

/**
 * A WebSocket, as browsers and recent versions of node have it.
 * @implements {Transport}
 * @typedef {import("./transport.js").Transport} Transport
 */
export class WebSocketTransport {
  /** @param {WebSocket} socket that is open */
  constructor(socket) {
    this.socket = socket;
    this.mtu = DATAGRAM_BYTES_MAX;
    this.reliable = true;
    this.ordered = true;
    this.secure = socket.url.startsWith("wss:");
    /** @type {((bytes: Uint8Array) => void) | null} */
    this.onDatagram = null;
    /** @type {((reason: string) => void) | null} */
    this.onClose = null;
    socket.onmessage = ({ data }) => {
      // Text has no meaning here; a server that sends it is not one of ours.
      if (data instanceof ArrayBuffer) this.onDatagram?.(new Uint8Array(data));
      else socket.close(1003, "binary messages only");
    };
    socket.onclose = ({ code, reason }) => this.#closed(reason || `the WebSocket closed with code ${code}`);
  }

  get isCongested() {
    return this.socket.bufferedAmount > 0;
  }

  /** @param {Uint8Array} bytes */
  send(bytes) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(/** @type {any} */ (bytes));
  }

  close() {
    this.onClose = null;
    this.socket.close(1000);
  }

  /** @param {string} reason */
  #closed(reason) {
    const { onClose } = this;
    this.onClose = null;
    onClose?.(reason);
  }
}

/**
 * Opens a WebSocket to a server, such as `ws://127.0.0.1:7777/netloom`.
 * @param {string} url
 * @param {{ signal?: AbortSignal }} [options] a signal that gives up
 * @returns {Promise<WebSocketTransport>}
 */
export function openWebSocket(url, { signal } = {}) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    const giveUp = () => {
      socket.close();
      reject(new Error(`the WebSocket to ${url} was given up`));
    };
    if (signal?.aborted) return giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
    const done = () => signal?.removeEventListener("abort", giveUp);
    socket.onopen = () => {
      done();
      resolve(new WebSocketTransport(socket));
    };
    socket.onclose = socket.onerror = () => {
      done();
      reject(
        new Error(`no WebSocket to ${url}: check the address, and that the server allows this page's origin`),
      );
    };
  });
}

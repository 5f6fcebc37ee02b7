/** Datagrams over UDP, in node. Sealing is the connection's own matter: set its security to "required". */

import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import { lookup } from "node:dns/promises";
import { DATAGRAM_BYTES_MAX } from "../proto/limits.js";

/** Longer datagrams cannot be ours; anything is dropped that is longer than what the connection reads. */
const RECEIVE_BUFFER_BYTES = 1 << 20;

/**
 * A UDP socket that talks to one server and hears nobody else.
 * @implements {Transport}
 * @typedef {import("../transport/transport.js").Transport} Transport
 */
export class UdpTransport {
  /** @param {import("node:dgram").Socket} socket that is connected */
  constructor(socket) {
    this.socket = socket;
    this.mtu = DATAGRAM_BYTES_MAX;
    this.reliable = false;
    this.ordered = false;
    this.secure = false;
    this.isCongested = false;
    /** @type {((bytes: Uint8Array) => void) | null} */
    this.onDatagram = null;
    /** @type {((reason: string) => void) | null} */
    this.onClose = null;
    socket.on("message", (bytes) => this.onDatagram?.(bytes));
    // An ICMP refusal is no proof of anything: the connection's own timeouts decide.
    socket.on("error", () => {});
  }

  /** @param {Uint8Array} bytes */
  send(bytes) {
    // The socket may read them after this call returns.
    this.socket.send(bytes.slice());
  }

  close() {
    this.onDatagram = this.onClose = null;
    this.socket.close();
  }
}

/**
 * Opens a socket to a server.
 * @param {string} host
 * @param {number} port
 * @returns {Promise<UdpTransport>}
 */
export async function openUdp(host, port) {
  const { address } = await lookup(host);
  const socket = createSocket({
    type: isIPv6(address) ? "udp6" : "udp4",
    recvBufferSize: RECEIVE_BUFFER_BYTES,
  });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.connect(port, address, () => {
      socket.removeListener("error", reject);
      resolve(new UdpTransport(socket));
    });
  });
}

/**
 * Opening a way to a server: the best transport that both sides have, or the next one if that does not work
 * here.
 *
 * Which transports there are depends on where this runs. The browser's are known here; those of node are
 * added by `netloom/node`.
 */

import { Connection } from "../proto/connection.js";
import { NetloomError } from "../session/error.js";
import { hasWebTransport, openWebTransport } from "../transport/webtransport.js";
import { openWebSocket } from "../transport/websocket.js";

/** @typedef {import("../transport/transport.js").Transport} Transport */

/** @typedef {(route: any) => Promise<Transport>} Opener */

/** @type {Map<string, { isHere: () => boolean, open: Opener }>} */
const openers = new Map([
  ["webtransport", { isHere: hasWebTransport, open: (route) => openWebTransport(route.url, route) }],
  [
    "websocket",
    { isHere: () => typeof globalThis.WebSocket === "function", open: (route) => openWebSocket(route.url) },
  ],
]);

/**
 * Adds a transport, or replaces one.
 * @param {string} name
 * @param {Opener} open
 */
export function registerTransport(name, open) {
  openers.set(name, { isHere: () => true, open });
}

/**
 * Opens the first transport that can be opened, of those that are wanted.
 * @param {string | URL} address of the server
 * @param {readonly import("./server_info.js").Route[]} routes to it
 * @param {readonly string[] | null} wanted names of transports; null for all
 * @param {ReadonlySet<string>} avoided names of transports that were tried in vain
 * @returns {Promise<{ name: string, transport: Transport }>}
 */
export async function dial(address, routes, wanted, avoided) {
  const usable = routes.filter(({ transport }) => {
    return (
      openers.get(transport)?.isHere() &&
      (wanted === null || wanted.includes(transport)) &&
      !avoided.has(transport)
    );
  });
  if (usable.length === 0) {
    const offered = routes.map(({ transport }) => transport).join(", ");
    const words = `${address} can be reached by ${offered}, of which none can be used here`;
    throw new NetloomError("unreachable", avoided.size > 0 ? "no transport leads to the server" : words);
  }
  const failures = [];
  for (const route of usable) {
    try {
      const { open } = /** @type {{ open: Opener }} */ (openers.get(route.transport));
      return { name: route.transport, transport: await open(route) };
    } catch (error) {
      failures.push(`${route.transport}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new NetloomError(
    "unreachable",
    `${address} cannot be reached (${failures.join("; ")}): is the server running?`,
  );
}

/**
 * The connection of a game over an open transport.
 * @param {Transport} transport
 * @param {import("../session/protocol.js").Protocol} protocol
 * @param {import("../replica/codes.js").Codes} codes
 * @param {{ encryption: "off" | "optional" | "required", resumeToken: Uint8Array | null }} options
 */
export function connectOver(transport, protocol, codes, { encryption, resumeToken }) {
  const settings = {
    ...protocol.connectionSettings(codes),
    security: encryption,
    mtu: transport.mtu,
    resumeToken,
    // A server that does not answer in one attempt is not there, or another transport leads to it.
    connectRetries: 0,
  };
  return new Connection(settings);
}

/**
 * Where a server is, from the address that a player has: the one of the page, or what somebody sent.
 *
 * A server says at /.well-known/netloom.json over which transports it can be reached and, for WebTransport
 * with a certificate of its own making, the hashes of the certificates that are good. Those change within two
 * weeks, so the document is asked for at every connection and never kept.
 */

import { NetloomError } from "../session/error.js";

const WELL_KNOWN = "/.well-known/netloom.json";
const DOCUMENT_BYTES_MAX = 64 * 1024;
const FETCH_MS_MAX = 5_000;
const HASHES_MAX = 16;

/**
 * One way to a server.
 * @typedef {{ transport: "webtransport", url: string, certificateHashes: Uint8Array[] }
 *   | { transport: "websocket", url: string }
 *   | { transport: "udp", host: string, port: number }} Route
 */

/**
 * What is known of a server before there is a connection.
 * @typedef {object} ServerInfo
 * @property {Route[]} routes the ways to it, the best first
 * @property {import("./tables.js").ServedTable | null} table the code tables that it says it has
 */

/**
 * Finds out about a server.
 * @param {string | URL} address
 * @param {{ name: string, version: number }} game that is to be played there
 * @returns {Promise<ServerInfo>}
 */
export async function findServer(address, game) {
  const url = parse(address);
  switch (url.protocol) {
    case "ws:":
    case "wss:":
      return { routes: [{ transport: "websocket", url: url.href }], table: null };
    case "udp:":
      if (url.port === "") throw new NetloomError("address", `${address} has no port: write udp://host:7777`);
      return {
        routes: [{ transport: "udp", host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port) }],
        table: null,
      };
    case "http:":
    case "https:":
      return fetchDocument(url).then((document) => {
        checkGame(document?.game, game, url);
        return { routes: routesOf(document, url), table: tableOf(document, url) };
      });
    default:
      throw new NetloomError(
        "address",
        `${address} is no address of a server: use https://, ws://, wss:// or udp://`,
      );
  }
}

/** @param {string | URL} address */
function parse(address) {
  try {
    return new URL(address, globalThis.location?.href);
  } catch (error) {
    throw new NetloomError("address", `${address} is no address`, { cause: error });
  }
}

/**
 * @param {URL} base
 * @returns {Promise<any>}
 */
async function fetchDocument(base) {
  const url = new URL(WELL_KNOWN, base.href);
  try {
    const signal = AbortSignal.timeout(FETCH_MS_MAX);
    const response = await fetch(url, { cache: "no-store", credentials: "omit", signal });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    const text = await response.text();
    if (text.length > DOCUMENT_BYTES_MAX) throw new Error("it is too long");
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new NetloomError(
      "unreachable",
      `${url} cannot be read: ${why}. Is the server running, with its web side?`,
      {
        cause: error,
      },
    );
  }
}

/**
 * @param {any} document
 * @param {URL} base
 * @returns {Route[]}
 */
export function routesOf(document, base) {
  /** @type {Route[]} */
  const routes = [];
  const { webtransport, websocket } = document ?? {};
  if (typeof webtransport?.url === "string") {
    const hashes = Array.isArray(webtransport.certificateHashes) ? webtransport.certificateHashes : [];
    const certificateHashes = hashes.slice(0, HASHES_MAX).map(fromBase64);
    routes.push({
      transport: "webtransport",
      url: new URL(webtransport.url, base.href).href,
      certificateHashes,
    });
  }
  if (typeof websocket?.url === "string") {
    routes.push({ transport: "websocket", url: new URL(websocket.url, base.href).href });
  }
  if (routes.length === 0) {
    throw new NetloomError("unreachable", `${base.href} offers neither WebTransport nor WebSocket`);
  }
  return routes;
}

/**
 * The tables that a server has, which lie beside the document: nothing is asked of other sites.
 * @param {any} document
 * @param {URL} base
 * @returns {import("./tables.js").ServedTable | null}
 */
export function tableOf(document, base) {
  const { id, url } = document?.table ?? {};
  if (!Number.isInteger(id) || typeof url !== "string") return null;
  const place = new URL(url, base.href);
  if (place.origin !== base.origin) {
    throw new NetloomError("unreachable", `${base.href} has its code tables at another site, ${place}`);
  }
  return { id, url: place };
}

/**
 * A server of another game would not even answer; where it says which one it has, so do we.
 * @param {any} served
 * @param {{ name: string, version: number }} game
 * @param {URL} base
 */
function checkGame(served, game, base) {
  if (typeof served?.name !== "string") return;
  const isSame = served.name === game.name && served.version === game.version;
  if (isSame) return;
  const [theirs, ours] = [served, game].map(({ name, version }) => `"${name}" version ${version}`);
  throw new NetloomError("protocol", `${base.href} serves ${theirs}, and this client plays ${ours}`, {
    details: { game: served.name, gameVersion: served.version },
  });
}

/** @param {unknown} text */
function fromBase64(text) {
  try {
    return Uint8Array.from(atob(String(text)), (character) => character.charCodeAt(0));
  } catch (error) {
    throw new NetloomError("unreachable", "the server's certificate hashes cannot be read", { cause: error });
  }
}

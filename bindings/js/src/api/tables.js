/**
 * Which code tables a client uses: those that the game brings, or those that the server says it has.
 *
 * Both sides must have the same. A server with a web side tells which ones those are and serves them, so that a
 * page has nothing to set up; the file is checked like everything that comes from a network. Without a web side
 * the game says it, or both sides have the generic ones.
 */

import { Codes } from "../replica/codes.js";
import { NetloomError } from "../session/error.js";
import { WireError } from "../wire/error.js";

const TABLE_BYTES_MAX = 64 * 1024;
const FETCH_MS_MAX = 5_000;

/**
 * The tables that come with Netloom, by name: loaded when they are asked for.
 * @type {{ [name: string]: () => Promise<Codes> }}
 */
const SHIPPED = {
  generic: async () => Codes.generic(),
  rigid: async () => new Codes((await import("../tables/rigid.js")).bytes()),
  shooter: async () => new Codes((await import("../tables/shooter.js")).bytes()),
};

/** By address: a client that comes back has them already. @type {Map<string, Codes>} */
const fetched = new Map();

/**
 * Tables that a server has.
 * @typedef {{ id: number, url: URL }} ServedTable
 */

/**
 * A file of code tables, where it is, or the name of one that comes with Netloom.
 * @typedef {Uint8Array | URL | string} TableOption
 */

/**
 * @param {TableOption | null} wanted what the game says; null for what the server has
 * @param {ServedTable | null} served
 * @returns {Promise<Codes>}
 */
export async function codesFor(wanted, served) {
  if (wanted instanceof Uint8Array) return parse(wanted, "options.table");
  if (wanted !== null) {
    const text = String(wanted);
    if (Object.hasOwn(SHIPPED, text)) return SHIPPED[text]();
    if (!/[./:]/.test(text)) {
      const names = Object.keys(SHIPPED).join(", ");
      throw new NetloomError(
        "setting",
        `there is no table "${text}": use ${names}, an address, or the bytes of a file`,
      );
    }
    return load(new URL(text, globalThis.location?.href));
  }
  if (served === null || served.id === Codes.generic().id) return Codes.generic();
  const codes = await load(served.url);
  if (codes.id !== served.id) {
    fetched.delete(served.url.href);
    throw new NetloomError("unreachable", `${served.url} is not the table that the server says it has`);
  }
  return codes;
}

/** @param {URL} url */
async function load(url) {
  const known = fetched.get(url.href);
  if (known !== undefined) return known;
  let bytes;
  try {
    const signal = AbortSignal.timeout(FETCH_MS_MAX);
    const response = await fetch(url, { credentials: "omit", signal });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length > TABLE_BYTES_MAX) throw new Error("it is too long");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new NetloomError("unreachable", `the code tables at ${url} cannot be read: ${why}`, {
      cause: error,
    });
  }
  const codes = parse(bytes, String(url));
  fetched.set(url.href, codes);
  return codes;
}

/**
 * @param {Uint8Array} bytes
 * @param {string} from
 */
function parse(bytes, from) {
  try {
    return new Codes(bytes);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new NetloomError("setting", `${from} holds no code tables: ${error.message}`, {
      cause: error,
      reason: error.code,
    });
  }
}

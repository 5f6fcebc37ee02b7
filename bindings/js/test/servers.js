/**
 * Real servers for tests: each is started for one test file, speaks on loopback only, and ends with its
 * input.
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { serverProgram, startServer } from "./server.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TARGET = process.env.CARGO_TARGET_DIR ?? `${ROOT}target`;

/**
 * The first of some builds of a program that is there; undefined if none is.
 * @param {string} name its path below the folder of a profile
 */
export function built(name) {
  return ["release", "debug"]
    .map((profile) => `${TARGET}/${profile}/${name}`)
    .find((path) => existsSync(path));
}

/** The server with something of everything: `cargo build -p netloom --example tour`. */
export const TOUR = process.env.NETLOOM_TOUR ?? built("examples/tour");
/** The `netloom` command. */
export const NETLOOM = serverProgram;

/**
 * A server that runs.
 * @typedef {object} Running
 * @property {any} about what it said of itself
 * @property {string[]} addresses
 * @property {(line: string) => void} say
 * @property {() => Promise<void>} stop
 */

/**
 * Starts the server with something of everything. One line of JSON says where it is.
 * @param {string[]} args
 * @returns {Promise<Running>}
 */
export async function startTour(args) {
  if (TOUR === undefined) throw new Error("build the server first: cargo build -p netloom --example tour");
  const server = spawn(TOUR, args, { stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(server, "exit");
  const lines = createInterface({ input: server.stdout });
  const [line] = await Promise.race([
    once(lines, "line"),
    ended.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
  ]);
  const about = JSON.parse(line);
  return {
    about,
    addresses: about.addresses,
    say: (text) => void server.stdin.write(`${text}\n`),
    async stop() {
      server.stdin.end();
      await ended;
    },
  };
}

/**
 * Starts `netloom serve` with the cubes on free ports.
 * @returns {Promise<Running>}
 */
export async function startServe() {
  if (NETLOOM === undefined) throw new Error("build the server first: cargo build --release -p netloom-cli");
  const { udpPort, webSocketUrl, stop } = await startServer();
  const addresses = [`udp://127.0.0.1:${udpPort}`, webSocketUrl.replace("/netloom", "")];
  return { about: {}, addresses, say: () => {}, stop };
}

/**
 * The address of a transport, with the path that WebSockets have.
 * @param {Running} server
 * @param {"udp" | "ws"} scheme
 */
export function addressOf(server, scheme) {
  const address = server.addresses.find((each) => each.startsWith(`${scheme}:`));
  if (address === undefined) throw new Error(`the server does not listen by ${scheme}`);
  return scheme === "ws" ? `${address}/netloom` : address;
}

/** A real server for tests, on free ports of the loopback interface. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TARGET = process.env.CARGO_TARGET_DIR ?? `${ROOT}target`;
const built = ["release", "debug"]
  .map((profile) => `${TARGET}/${profile}/netloom`)
  .find((path) => existsSync(path));
const PROGRAM = process.env.NETLOOM_BIN ?? built;

/**
 * @typedef {object} Served
 * @property {string} page where the page is, without a path
 * @property {string} metrics where the figures are
 * @property {string} dashboard where the dashboard is
 * @property {string} address where players come over UDP
 * @property {() => Promise<string>} figures what they are
 * @property {string} classic where the classic protocol is spoken, if it is
 * @property {string[]} args to start another one at the same place
 * @property {(signal?: NodeJS.Signals) => Promise<void>} stop
 */

/**
 * Starts a server and settles when it listens.
 * @param {object} [options]
 * @param {string} [options.game]
 * @param {string[]} [options.args] where it listens
 * @param {string[]} [options.more] what else it is to do
 * @param {Record<string, string>} [options.settings] as NETLOOM_ROOM_THINGS
 * @returns {Promise<Served>}
 */
export async function serve({ game = "cubes", args = anywhere(), more = [], settings = {} } = {}) {
  if (PROGRAM === undefined) throw new Error("build the server first: cargo build -p netloom-cli");
  const server = spawn(PROGRAM, ["serve", "--game", game, ...args, ...more, "--log", "off"], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(server, "exit");
  const said = { page: "", webtransport: "", metrics: "", dashboard: "", address: "" };
  let classic = "";
  const lines = createInterface({ input: server.stdout });
  const listens = new Promise((resolve) => {
    lines.on("line", (line) => {
      said.page ||= /listening +ws:\/\/(\S+)/.exec(line)?.[1] ?? "";
      said.webtransport ||= /listening +https:\/\/(\S+)/.exec(line)?.[1] ?? "";
      classic ||= /classic +(\S+:\d+)/.exec(line)?.[1] ?? "";
      said.metrics ||= /metrics +(http:\/\/[^/]+)/.exec(line)?.[1] ?? "";
      said.dashboard ||= /dashboard +(http:\/\/\S+)/.exec(line)?.[1] ?? "";
      said.address ||= /listening +udp:\/\/(\S+)/.exec(line)?.[1] ?? "";
      if (!Object.values(said).includes("")) resolve(undefined);
    });
  });
  await Promise.race([
    listens,
    ended.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
  ]);
  return {
    page: `http://${said.page}`,
    metrics: said.metrics,
    dashboard: said.dashboard,
    address: said.address,
    classic,
    figures: async () => (await fetch(`${said.metrics}/metrics`)).text(),
    args: places(said.page, said.webtransport, said.metrics.replace("http://", "")),
    async stop(signal = "SIGTERM") {
      server.kill(signal);
      await ended;
    },
  };
}

/**
 * Players who wander about until they are stopped.
 * @param {Served} server
 * @param {number} count
 * @param {string} [game]
 * @returns {{ stop: () => Promise<void> }}
 */
export function sendBots({ address }, count, game = "cubes") {
  if (PROGRAM === undefined) throw new Error("build the server first: cargo build -p netloom-cli");
  const args = ["bots", address, "--game", game, "--count", String(count), "--duration", "600", "--json"];
  const bots = spawn(PROGRAM, args, { stdio: "ignore" });
  const ended = once(bots, "exit");
  return {
    async stop() {
      bots.kill("SIGKILL");
      await ended;
    },
  };
}

function anywhere() {
  return places("127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0");
}

/**
 * @param {string} http
 * @param {string} webtransport
 * @param {string} metrics
 */
function places(http, webtransport, metrics) {
  return [
    "--bind",
    "udp://127.0.0.1:0",
    "--http",
    http,
    "--webtransport",
    webtransport,
    "--metrics",
    metrics,
  ];
}

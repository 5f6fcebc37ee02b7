// The real server, for tests that talk to it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const candidates = [
  process.env.NETLOOM_BIN,
  ...["release", "debug"].map((profile) =>
    fileURLToPath(new URL(`../../../target/${profile}/netloom`, import.meta.url)),
  ),
];

/** Where the server's program is; undefined if it was not built. */
export const serverProgram = candidates.find((path) => path !== undefined && existsSync(path));

/** What a test says when it cannot run. */
export const needsServer = {
  skip: serverProgram ? false : "no server: cargo build --release -p netloom-cli, or set NETLOOM_BIN",
  timeout: 120_000,
};

/**
 * Starts a server on ports of its own and waits until it listens.
 * @param {Record<string, string>} [environment] settings, as NETLOOM_CONNECTION_ENCRYPTION
 * @returns {Promise<{ udpPort: number, webSocketUrl: string, stop: () => Promise<void> }>}
 */
export function startServer(environment = {}) {
  const server = spawn(
    /** @type {string} */ (serverProgram),
    [
      "serve", "--game", "cubes", "--bind", "udp://127.0.0.1:0", "--bind", "ws://127.0.0.1:0", "--http", "",
      "--no-webtransport", "--metrics", "", "--log", "off",
    ],
    { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] },
  );
  const stop = () =>
    new Promise((/** @type {(value: void) => void} */ resolve) => {
      if (server.exitCode !== null) return resolve();
      server.once("exit", () => resolve());
      server.kill("SIGTERM");
    });
  return new Promise((resolve, reject) => {
    let output = "";
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
    server.stdout.on("data", (piece) => {
      output += piece;
      const udp = /udp:\/\/127\.0\.0\.1:(\d+)/.exec(output);
      const webSocket = /ws:\/\/127\.0\.0\.1:(\d+)/.exec(output);
      if (!udp || !webSocket) return;
      resolve({ udpPort: Number(udp[1]), webSocketUrl: `ws://127.0.0.1:${webSocket[1]}/netloom`, stop });
    });
  });
}

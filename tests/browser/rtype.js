/** R-TYPE for tests: a server of it, what really happened there, and a player of the classic protocol. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "./browser.js";
import { serve } from "./server.js";

/** @typedef {import("./server.js").Served} Served */
/**
 * @typedef {{ id: number, class: string, owner: number | null, seat?: number, x: number, y: number }} Witness
 */
/** A step as it was: places in units, times in milliseconds of the server. */
/** @typedef {{ step: number, ms: number, objects: Witness[] }} TruthStep */
/** @typedef {Served & { truth: () => TruthStep[] }} RtypeServed */

const LEVELS = fileURLToPath(new URL("./levels/", import.meta.url));
const CLASSIC_CLIENT = fileURLToPath(
  new URL("../../games/rtype/python/classic_client.py", import.meta.url),
);

/**
 * Starts a server of R-TYPE that writes down what happens.
 * @param {object} [options]
 * @param {string} [options.levels] a folder in tests/browser/levels, instead of the levels of the game
 * @param {string[]} [options.args] where it listens
 * @param {string[]} [options.more] what else it is to do
 * @param {Record<string, string>} [options.settings] as NETLOOM_ROOM_THINGS
 * @returns {Promise<RtypeServed>}
 */
export async function serveRtype({ levels, args, more = [], settings } = {}) {
  const folder = mkdtempSync(`${tmpdir()}/netloom-rtype-`);
  const file = `${folder}/truth.jsonl`;
  const read = levels === undefined ? [] : ["--levels", `${LEVELS}${levels}`];
  const server = await serve({
    game: "rtype",
    args,
    more: ["--truth", file, "--classic", "127.0.0.1:0", ...read, ...more],
    settings,
  });
  return {
    ...server,
    truth: () => readTruth(file),
    async stop(signal) {
      await server.stop(signal);
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * What happened so far; the last second may not be written yet.
 * @param {string} file
 * @returns {TruthStep[]}
 */
function readTruth(file) {
  // What follows the last end of a line is still being written.
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** Somebody who plays over the classic protocol, in a process of their own. */
export class ClassicPlayer {
  /** What the player saw, in order. @type {({ event: string } & Record<string, any>)[]} */
  lines = [];
  #process;
  #ended;

  /** @param {Served} server */
  constructor(server) {
    const [host, port] = server.classic.split(":");
    this.#process = spawn("python3", [CLASSIC_CLIENT, host, port, "--json"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#ended = once(this.#process, "close");
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.lines.push(JSON.parse(line)));
  }

  /** What the player saw of a kind, in order. @param {string} event */
  all(event) {
    return this.lines.filter((line) => line.event === event);
  }

  /**
   * Waits until the player has seen something.
   * @param {string} event
   * @param {(line: Record<string, any>) => boolean} [isIt]
   */
  async saw(event, isIt = () => true) {
    const found = () => this.all(event).find(isIt);
    await eventually(
      async () => this.lines.slice(-8),
      () => found() !== undefined,
      `a classic player sees "${event}"`,
    );
    return /** @type {Record<string, any>} */ (found());
  }

  /** Sends a signal: stopped ones say nothing, and nobody knows why. @param {NodeJS.Signals} signal */
  signal(signal) {
    this.#process.kill(signal);
  }

  /** Leaves, and waits until that is done. @param {NodeJS.Signals} [signal] */
  async stop(signal = "SIGINT") {
    this.#process.kill(signal);
    await this.#ended;
  }
}

/** The servers with random games: one program for all, a line of JSON for each thing that is true on one of them. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { built } from "./servers.js";

/** `cargo build -p netloom --example random_sessions` */
const PROGRAM = process.env.NETLOOM_RANDOM_SESSIONS ?? built("examples/random_sessions");

/** @typedef {(what: string, details: any) => void} Listener */

/** See the module. */
export class RandomServers {
  #program;
  #ended;
  /** @type {Map<number, Listener>} */
  #listeners = new Map();

  constructor() {
    if (PROGRAM === undefined)
      throw new Error("build the servers first: cargo build -p netloom --example random_sessions");
    this.#program = spawn(PROGRAM, [], { stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = once(this.#program, "exit");
    createInterface({ input: this.#program.stdout }).on("line", (line) => {
      const { seed, what, details } = JSON.parse(line);
      this.#listeners.get(seed)?.(what, details);
    });
  }

  /**
   * Opens the server of a seed, and says what is true there from then on.
   * @param {number} seed
   * @param {Listener} listener
   */
  open(seed, listener) {
    this.#listeners.set(seed, listener);
    this.#program.stdin.write(`open ${seed}\n`);
  }

  /** @param {number} seed */
  close(seed) {
    this.#listeners.delete(seed);
    this.#program.stdin.write(`close ${seed}\n`);
  }

  /** Ends them all. */
  async stop() {
    this.#program.stdin.end();
    const [code] = await this.#ended;
    if (code !== 0) throw new Error(`the servers ended with ${code}`);
  }
}

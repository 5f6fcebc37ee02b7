/**
 * The figures of the server, by the second.
 *
 * The server keeps five minutes of what charts are made of, and numbers its samples. So the past is asked
 * for once, and again whenever samples were missed: the tab was asleep, the server was away, or it is
 * another one.
 */

/**
 * @typedef {object} Room
 * @property {number} room
 * @property {string} name
 * @property {number} players
 * @property {number} objects
 * @property {number} steps_per_second
 * @property {number} snapshots_per_second
 * @property {number} snapshot_bytes_per_second
 * @property {number} calls_per_second
 * @property {number} skipped_steps_per_second
 * @property {number} skipped_steps_total
 * @property {number} rejected_inputs_total
 * @property {number} refused_calls_total
 * @property {number} undelivered_messages_total
 * @property {number} arena_overflows_total
 */

/**
 * @typedef {object} Peer
 * @property {number} player
 * @property {string} name
 * @property {number} room
 * @property {string} transport
 * @property {number} ping_ms
 * @property {number} jitter_ms
 * @property {number} packet_loss_percent
 * @property {number} send_rate_hertz
 * @property {number} budget_bytes_per_second
 * @property {number} sent_bytes_per_second
 * @property {number} received_bytes_per_second
 * @property {number} pending_bytes
 * @property {number} queue_events
 * @property {number} held_objects
 * @property {number} seen_objects
 */

/**
 * @typedef {object} ObjectClass
 * @property {string} class
 * @property {number} objects
 * @property {number} updates_per_second
 * @property {number} entries_per_second
 * @property {number} values_per_second
 * @property {number} bytes_per_second
 * @property {number} bytes_total
 */

/** @typedef {{ kind: string, reason: string, total: number, per_second: number }} Reject */

/**
 * @typedef {object} Ticks
 * @property {number[]} bucket_ends_ms
 * @property {number[]} counts
 * @property {number} count
 * @property {number} mean_ms
 * @property {number} p50_ms
 * @property {number} p99_ms
 * @property {number} longest_ms
 * @property {number} longest_ever_ms
 */

/**
 * @typedef {object} Data
 * @property {number} version
 * @property {number} sample
 * @property {string} game
 * @property {string} netloom
 * @property {number} uptime_seconds
 * @property {string} health
 * @property {Record<string, number> | null} server
 * @property {Ticks} ticks
 * @property {Room[]} rooms
 * @property {Peer[]} peers
 * @property {ObjectClass[]} classes
 * @property {Reject[]} rejects
 */

/** @typedef {{ sample: number, interval_seconds: number, figures: Record<string, number[]> }} Past */

const INTERVAL_MS = 1_000;
const PATIENCE_MS = 4_000;
/** Samples that are kept: as many as the server keeps. */
const SAMPLES_MAX = 300;
const VERSION = 1;

/** See the module. */
export class Feed {
  /** What charts are made of, the oldest first. @type {Record<string, number[]>} */
  figures = {};
  #sample = 0;
  #uptimeSeconds = 0;
  #isPaused = false;
  #onData;
  #onProblem;

  /**
   * @param {(data: Data) => void} onData
   * @param {(problem: string) => void} onProblem
   */
  constructor(onData, onProblem) {
    this.#onData = onData;
    this.#onProblem = onProblem;
  }

  /** Goes on for as long as the page is open. */
  async run() {
    for (;;) {
      const began = performance.now();
      if (!this.#isPaused && document.visibilityState === "visible") await this.#turn();
      const left = INTERVAL_MS - (performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, Math.max(left, INTERVAL_MS / 4)));
    }
  }

  /** @param {boolean} isPaused */
  setPaused(isPaused) {
    this.#isPaused = isPaused;
  }

  async #turn() {
    try {
      const data = /** @type {Data} */ (await ask("data.json"));
      if (data.version !== VERSION) throw new Error("The server has another version: load the page again");
      const isOther = data.uptime_seconds < this.#uptimeSeconds;
      // Of a server that has just begun there is no sample to miss, but which figures there are is not known yet.
      const isFirst = Object.keys(this.figures).length === 0;
      if (isFirst || isOther || data.sample > this.#sample + 1) await this.#recall();
      else if (data.sample > this.#sample && data.server !== null) this.#remember(data.server);
      this.#sample = Math.max(this.#sample, data.sample);
      this.#uptimeSeconds = data.uptime_seconds;
      this.#onData(data);
    } catch (error) {
      this.#onProblem(error instanceof Error ? error.message : String(error));
    }
  }

  async #recall() {
    const past = /** @type {Past} */ (await ask("history.json"));
    this.figures = past.figures;
    this.#sample = past.sample;
  }

  /** @param {Record<string, number>} server */
  #remember(server) {
    for (const [name, values] of Object.entries(this.figures)) {
      values.push(server[name]);
      if (values.length > SAMPLES_MAX) values.shift();
    }
  }
}

/** @param {string} name @returns {Promise<unknown>} */
async function ask(name) {
  let response;
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    response = await fetch(`/dashboard/${name}`, { signal, cache: "no-store" });
  } catch {
    throw new Error("The server does not answer");
  }
  if (!response.ok) throw new Error(`The server answers with ${response.status}`);
  return response.json();
}

/**
 * Has a player removed, and says what came of it.
 * @param {number} player
 * @param {string} reason
 * @returns {Promise<{ isKicked: boolean, problem: string }>}
 */
export async function kick(player, reason) {
  try {
    const response = await fetch("/dashboard/kick", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Netloom-Dashboard": "1" },
      body: JSON.stringify({ player, reason }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await response.text();
    const isJson = response.headers.get("Content-Type") === "application/json";
    const said = isJson ? JSON.parse(text) : { problem: text };
    return { isKicked: said.kicked === true, problem: said.problem ?? "" };
  } catch {
    return { isKicked: false, problem: "the server does not answer" };
  }
}

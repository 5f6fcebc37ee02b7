/**
 * One random session against a real server, over a bad line: all that arrives is compared with what is true there, to the bit.
 *
 *   server                                       this client
 *   busy: objects come, move, change, go         plays, calls and writes at random, and notes every state that arrives
 *   still: the truth changes no more             waits until its world is the same, then writes and calls once more
 *
 * Everything random follows from the seed, the line's luck as well.
 */

import assert from "node:assert/strict";
import { connect } from "../src/node/index.js";
import { eventually } from "./expect.js";
import { Random } from "./random.js";
import { protocolOf } from "./random_protocol.js";
import { Sightings } from "./sightings.js";
import { Truth } from "./truth.js";
import { big, isTyped, randomArgument, randomProperty, single, singleHex } from "./typed.js";
import { toHex } from "./vectors.js";

/** Both ways. */
const LINE = { latencyMs: 20, jitterMs: 15, lossPercent: 10, duplicatePercent: 3, reorderPercent: 5 };
const ACT_MS = 40;
/** Many sessions share the machine: a wait ends at once when it can, and late enough that only what never comes fails. */
const WAIT_MS = 30_000;
/** Ticks of dwelling, and of looking around, at most. */
const LINGER_TICKS = 30;
const WRITES_AT_REST = 12;
const CALLS_AT_REST = 6;

/** @typedef {{ name: string, args: any[], typed: any[], alias: number | null }} SentCall */
/** @typedef {{ alias: number, field: number, value: any }} SentWrite */

/** See the module. */
export class RandomSession {
  /** How much was compared, by what it was. */
  compared = {
    states: 0,
    words: 0,
    objects: 0,
    callsDown: 0,
    callsUp: 0,
    inputs: 0,
    writes: 0,
    properties: 0,
  };
  #seed;
  #servers;
  #random;
  #truth = new Truth();
  /** What the server said, by what it is. @type {{ [what: string]: any[] }} */
  #said = { open: [], call: [], set: [], input: [], write: [], called: [], still: [], error: [] };
  /** @type {import("../src/index.js").Client} */
  #client = /** @type {any} */ (null);
  /** @type {Sightings} */
  #sightings = /** @type {any} */ (null);
  /** @type {any[]} */
  #heard = [];
  /** @type {any[]} */
  #callsRefused = [];
  /** @type {SentCall[]} */
  #calls = [];
  /** @type {SentWrite[]} */
  #writes = [];
  /** @type {SentWrite[]} */
  #writesAtRest = [];
  /** @type {Error | null} */
  #ended = null;
  /** By step; when the server's clock breaks, the count of steps starts anew. @type {Map<number, string[]>} */
  #inputs = new Map();

  /**
   * @param {number} seed
   * @param {import("./random_servers.js").RandomServers} servers
   */
  constructor(seed, servers) {
    this.#seed = seed;
    this.#servers = servers;
    this.#random = new Random(seed);
  }

  /** Plays it from the beginning to the end; throws at the first thing that is not as it should be. */
  async run() {
    this.#servers.open(this.#seed, (what, details) => {
      if (what === "tick") this.#truth.handleTick(details);
      else this.#said[what]?.push(details);
    });
    try {
      await eventually(() => this.#said.open.length > 0, "the server is open", WAIT_MS);
      await this.#connect();
      await this.#play();
      await this.#rest();
      this.#check();
    } finally {
      await this.#client?.close();
      this.#servers.close(this.#seed);
    }
    return this.compared;
  }

  get #about() {
    return this.#said.open[0];
  }

  get #world() {
    if (this.#ended !== null) throw this.#ended;
    return /** @type {import("../src/replica/world.js").World} */ (this.#client.world);
  }

  async #connect() {
    const { address, scheme, encryption, declaration } = this.#about;
    const protocol = protocolOf(declaration);
    const hex = (/** @type {bigint} */ hash) => hash.toString(16).padStart(16, "0");
    assert.equal(hex(protocol.id), declaration.protocolId, "the protocol's id");
    assert.equal(hex(protocol.schemaHash), declaration.schemaHash, "the hash of the objects");
    assert.equal(hex(protocol.calls.hash()), declaration.callsHash, "the hash of the calls");
    this.#client = await connect(scheme === "ws" ? `${address}/netloom` : address, {
      protocol,
      encryption,
      input: (/** @type {number} */ step) => this.#act(step),
      lab: { ...LINE, seed: this.#seed },
    });
    this.#client.on("call", (call) => this.#heard.push(call));
    this.#client.on("call-refused", (refused) => this.#callsRefused.push(refused));
    this.#client.closed.then((error) => {
      this.#ended = error;
    });
    this.#sightings = new Sightings(this.#world, scheme === "ws");
  }

  /** What the player does in a step. @param {number} step */
  #act(step) {
    const random = this.#random;
    const act = {
      jump: random.chance(0.5),
      way: random.below(3) - 1,
      aim: (random.below(721) - 360) / 2,
      power: single(random),
      mark: big(random),
    };
    const known = [step, act.jump, act.way + 1, act.aim * 2 + 360, singleHex(act.power), String(act.mark)];
    this.#inputs.set(step, [...(this.#inputs.get(step) ?? []), JSON.stringify(known)]);
    return act;
  }

  async #play() {
    const timer = setInterval(() => {
      if (!this.#client.canCall || this.#client.state !== "connected") return;
      this.#call(null);
      this.#write();
    }, ACT_MS);
    try {
      await eventually(() => this.#said.still.length > 0, "the server is still", WAIT_MS);
    } finally {
      clearInterval(timer);
    }
  }

  /** The world comes to be the server's, and once more after the last writes. */
  async #rest() {
    await this.#agree("at rest");
    const before = this.#writes.length;
    for (let count = 0; count < WRITES_AT_REST; count++) this.#write();
    this.#writesAtRest = this.#writes.slice(before);
    const objects = [...this.#client.objects()].filter(({ isInSight }) => isInSight);
    for (let count = 0; count < CALLS_AT_REST; count++)
      this.#call(objects[this.#random.below(objects.length)] ?? null);
    const { up, down } = this.#about.declaration;
    const isReliable = (/** @type {any} */ { name }) => name !== up.unreliable && name !== down.unreliable;
    const last = JSON.stringify(this.#writesAtRest);
    const isThere = () =>
      this.#heard.filter(isReliable).length >= this.#said.call.filter(isReliable).length &&
      this.#said.called.filter(isReliable).length >= this.#calls.filter(isReliable).length &&
      JSON.stringify(this.#lastWritesThere()) === last;
    try {
      await eventually(isThere, "every reliable call and every write at rest has arrived", WAIT_MS);
    } catch (error) {
      throw new Error(this.#counts(isReliable), { cause: error });
    }
    await this.#agree("after the last writes");
  }

  /** What the server was asked last. */
  #lastWritesThere() {
    const count = this.#writesAtRest.length;
    return count === 0 ? [] : this.#said.write.slice(-count);
  }

  /** @param {(call: any) => boolean} isReliable */
  #counts(isReliable) {
    const count = (/** @type {any[]} */ calls) => calls.filter(isReliable).length;
    return (
      `heard ${count(this.#heard)} of ${count(this.#said.call)} calls, the server ${count(this.#said.called)} of ` +
      `${count(this.#calls)}, refused ${JSON.stringify(this.#callsRefused)}; ` +
      `writes ${JSON.stringify(this.#writesAtRest)}, arrived ${JSON.stringify(this.#lastWritesThere())}`
    );
  }

  /** @param {string} when */
  async #agree(when) {
    const since = this.#truth.tick;
    // One more tick, so that what was written is in the truth; under a grid as many as something out of reach may stay in sight.
    const ticks = this.#about.policy === "grid" ? LINGER_TICKS : 1;
    const isStill = () => this.#truth.tick > Math.max(since + 1, this.#truth.changedAt + ticks);
    try {
      await eventually(() => isStill() && this.#truth.differences(this.#world).length === 0, when, WAIT_MS);
    } catch {
      const found = this.#truth.differences(this.#world);
      const ticksSeen = `tick ${this.#world.newest} of ${this.#truth.tick}, ${JSON.stringify(this.#client.stats())}`;
      assert.fail(`${when}, ${ticksSeen}:\n  ${found.slice(0, 12).join("\n  ")}`);
    }
  }

  /** Calls something. @param {import("../src/index.js").NetObject | null} object */
  #call(object) {
    const random = this.#random;
    const { up } = this.#about.declaration;
    const name = [up.ordered, up.unordered, up.unreliable][random.below(3)];
    const objects = [...this.#client.objects()].slice(0, 3);
    const given = Array.from({ length: random.below(4) }, () => randomArgument(random, 2, objects));
    if (name === up.ordered && random.chance(0.25)) {
      const value = random.bytes(8_000);
      given.push({ value, typed: { bytes: toHex(value) } });
    }
    const number = this.#calls.length;
    const args = [number, ...given.map(({ value }) => value)];
    const typed = [{ int: String(number) }, ...given.map((each) => each.typed)];
    if (name === up.unreliable && JSON.stringify(typed).length > 900) return;
    this.#client.call(name, args, { object });
    this.#calls.push({ name, args, typed, alias: object?.alias ?? null });
  }

  /** Writes a field that this player may write, if there is one. */
  #write() {
    const random = this.#random;
    const { classes } = this.#about.declaration;
    const objects = [...this.#client.objects()].filter(({ isInSight }) => isInSight);
    const object = objects[random.below(objects.length)];
    if (object === undefined) return;
    const known = this.#world.object(object.alias);
    if (known === undefined) return;
    const may = classes[known.class.number].fields.filter(
      (/** @type {any} */ { writers }) => writers === "any" || (writers === "owner" && known.isOwned),
    );
    const chosen = may[random.below(may.length)];
    const property = chosen === undefined ? null : randomProperty(random, chosen);
    if (property === null) return;
    object.set(chosen.name, property.value);
    this.#writes.push({
      alias: object.alias,
      field: known.class.schema.indexOf(chosen.name),
      value: property.typed,
    });
  }

  #check() {
    assert.deepEqual([this.#said.error, this.#callsRefused], [[], []]);
    assert.equal(this.#client.stats().nonsense, 0);
    Object.assign(this.compared, this.#sightings.check(this.#truth, this.#said.set));
    for (const { words } of this.#truth.objects.values()) this.compared.words += words.length;
    this.compared.objects = this.#truth.objects.size;
    this.#checkCallsDown();
    this.#checkCallsUp();
    this.#checkInputs();
    this.#checkWrites();
  }

  #checkCallsDown() {
    const { down, calls } = this.#about.declaration;
    const made = new Map(this.#said.call.map((call) => [call.number, call]));
    const isObject = (/** @type {number | null} */ alias, /** @type {number} */ id) =>
      alias === null ? true : this.#truth.isKnownBy(id, alias);
    /** @type {number[]} */
    const inOrder = [];
    for (const { name, args, object, player } of this.#heard) {
      const call = made.get(args[0]);
      assert.ok(call !== undefined, `a call that was never made, or arrived twice: ${name} ${args[0]}`);
      made.delete(args[0]);
      assert.deepEqual([name, player], [call.name, null]);
      assert.ok(
        isTyped(args, { list: call.args }, isObject),
        `the arguments of call ${args[0]}: ${JSON.stringify(call.args)}`,
      );
      if (object !== null)
        assert.ok(this.#truth.isKnownBy(call.object, object.alias), `the object of call ${args[0]}`);
      const isTimed = calls.find((/** @type {any} */ each) => each.name === name).options.atViewTime;
      const hasObjects = call.object !== null || JSON.stringify(call.args).includes('"object":');
      if (name === down.ordered && !hasObjects && !isTimed) inOrder.push(args[0]);
    }
    const lost = [...made.values()].filter(({ name }) => name !== down.unreliable);
    assert.deepEqual(
      lost.map(({ number }) => number),
      [],
      "calls that must arrive and did not",
    );
    assert.deepEqual(
      inOrder,
      [...inOrder].sort((one, other) => one - other),
      "ordered calls are in order",
    );
    this.compared.callsDown = this.#heard.length;
  }

  #checkCallsUp() {
    const { up } = this.#about.declaration;
    const sent = new Map(this.#calls.map((call, number) => [number, call]));
    /** @type {number[]} */
    const inOrder = [];
    for (const { name, args, object } of this.#said.called) {
      const number = Number(args[0].int);
      const call = sent.get(number);
      assert.ok(call !== undefined, `the server got a call that was never made, or got it twice: ${number}`);
      sent.delete(number);
      assert.deepEqual(
        { name, args, object },
        { name: call.name, args: call.typed, object: call.alias },
        `call ${number}`,
      );
      if (name === up.ordered) inOrder.push(number);
    }
    const lost = [...sent.entries()].filter(([, { name }]) => name !== up.unreliable);
    assert.deepEqual(
      lost.map(([number]) => number),
      [],
      "calls that must arrive at the server and did not",
    );
    assert.deepEqual(
      inOrder,
      [...inOrder].sort((one, other) => one - other),
      "ordered calls arrive in order",
    );
    this.compared.callsUp = this.#said.called.length;
  }

  #checkInputs() {
    for (const input of this.#said.input) {
      const made = this.#inputs.get(input[0]) ?? [];
      assert.ok(
        made.includes(JSON.stringify(input)),
        `the input of step ${input[0]} is ${JSON.stringify(input)}, made was ${made}`,
      );
    }
    this.compared.inputs = this.#said.input.length;
  }

  /** While objects come and go a write may come too late; those at rest were waited for. All that arrive do so in order. */
  #checkWrites() {
    let next = 0;
    for (const write of this.#said.write) {
      const found = this.#writes.findIndex(
        (sent, at) => at >= next && JSON.stringify(sent) === JSON.stringify(write),
      );
      assert.ok(
        found >= 0,
        `the server got a write that was not made, or out of order: ${JSON.stringify(write)}`,
      );
      next = found + 1;
    }
    this.compared.writes = this.#said.write.length;
  }
}

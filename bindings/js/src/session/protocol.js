/**
 * What client and server of a game must have in common: its name and version, its kinds of objects, its
 * calls, and what an input consists of. Both declare the same, and the handshake compares: a server of
 * another game does not even answer; one with other objects or another version refuses, and says which
 * version it has.
 */

import { CHANNEL_KINDS, channel } from "../proto/config.js";
import { ClassTable } from "../replica/class.js";
import { Codes } from "../replica/codes.js";
import { BitWriter } from "../wire/bits.js";
import { ByteWriter, encodeUtf8 } from "../wire/bytes.js";
import { fnv1a64 } from "../wire/hash.js";
import { Schema } from "../wire/schema.js";
import { CallTable } from "./call_table.js";
import { NetloomError } from "./error.js";
import { FieldType } from "./fields.js";
import { CHANNEL } from "./messages.js";

/** With the version of the session's own messages: an older Netloom is another protocol. */
const SALT = "netloom session 1 ";
const GAME_NAME_BYTES_MAX = 64;
const INPUT_BITS_MAX = 520;
/** A property of the longest kind, and the byte that says what it is. */
const ORDERED_BYTES_MAX = 4 + 65_532 + 1;
/** A frame's messages leave at once, not in the rhythm of the pacing. */
const BURST_US = 100_000;

/** @typedef {{ [name: string]: FieldType }} Fields */

/**
 * A kind of object: its fields, or those with a profile ("standard", "high", "world" or "none").
 * @typedef {Fields | { fields: Fields, profile?: string }} KindDeclaration
 */

/**
 * What a player does in a step: fields that are numbers; or a form of the game's own.
 * @typedef {Fields | InputForm} InputDeclaration
 */

/**
 * @typedef {object} InputForm
 * @property {number} bitsMax the most bits of one, up to 520
 * @property {(input: any, writer: BitWriter) => void} write
 */

/**
 * @typedef {object} ProtocolDeclaration
 * @property {number} [version] of the game; 1
 * @property {{ [name: string]: KindDeclaration }} [objects] in the order in which the server has them
 * @property {{ [name: string]: import("./call_table.js").CallOptions | null }} [calls]
 * @property {InputDeclaration} [input]
 */

/** A kind of object, declared. */
export class ObjectKind {
  /**
   * @param {string} name
   * @param {KindDeclaration} declaration
   */
  constructor(name, declaration) {
    const isPlain = !("fields" in declaration) || declaration.fields instanceof FieldType;
    const { fields, profile = "standard" } = isPlain
      ? { fields: /** @type {Fields} */ (declaration) }
      : /** @type {{ fields: Fields, profile?: string }} */ (declaration);
    const declared = Object.entries(fields).map(([fieldName, type]) => {
      if (!(type instanceof FieldType)) {
        throw new NetloomError(
          "setting",
          `${name}.${fieldName} must be one of field.…(), not ${String(type)}`,
        );
      }
      return { name: fieldName, type: type.withProfile(profile) };
    });
    // Hottest first, else as declared: sorting keeps the order of equals.
    declared.sort((one, other) => other.type.hotness - one.type.hotness);
    this.name = name;
    this.profile = profile;
    this.declaration = declaration;
    /** By the numbers of the fields. */
    this.types = declared.map(({ type }) => type);
    /** How many coordinates the game sees of a place. */
    this.positionParts = this.types.find(({ definition }) => definition.kind === "position")?.parts ?? 3;
    this.schema = checked(
      () =>
        new Schema(
          name,
          declared.map(({ name: fieldName, type }) => ({
            ...type.definition,
            name: fieldName,
            flags: type.flags,
            delivery: type.isReliable ? /** @type {const} */ ("reliable") : /** @type {const} */ ("latest"),
          })),
        ),
    );
  }
}

/** See the module; made by `defineProtocol`. */
export class Protocol {
  /**
   * @param {string} name
   * @param {ProtocolDeclaration} declaration
   */
  constructor(name, { version = 1, objects = {}, calls = {}, input }) {
    const bytes = encodeUtf8(name).length;
    if (bytes < 1 || bytes > GAME_NAME_BYTES_MAX) {
      throw new NetloomError(
        "setting",
        `a game's name has 1 to ${GAME_NAME_BYTES_MAX} bytes, "${name}" does not`,
      );
    }
    if (!Number.isInteger(version) || version < 0 || version > 0xffff) {
      throw new NetloomError("setting", `a version is 0 to 65,535, not ${version}`);
    }
    this.name = name;
    this.version = version;
    this.kinds = Object.entries(objects).map(([kind, declaration]) => new ObjectKind(kind, declaration));
    this.classes = checked(() => new ClassTable(this.kinds.map((kind) => kind.schema)));
    this.calls = new CallTable(calls);
    this.input = inputForm(input);
    /** The number that datagrams of this game carry. */
    this.id = fnv1a64(encodeUtf8(SALT + name));
    /** The number that the handshake compares. */
    this.schemaHash = (BigInt(version) << 48n) | (fnv1a64(eightBytes(this.classes.hash)) >> 16n);
  }

  /**
   * What a connection of this game is made from, apart from its transport.
   * @param {Codes} [codes] the code tables
   */
  connectionSettings(codes = Codes.generic()) {
    const channels = CHANNEL_KINDS.map((kind) => channel(kind));
    channels[CHANNEL.ordered] = channel("ordered", { messageBytesMax: ORDERED_BYTES_MAX });
    return {
      protocolId: this.id,
      schemaHash: this.schemaHash,
      tableId: codes.id,
      channels,
      rate: /** @type {any} */ ({ burst: BURST_US }),
    };
  }

  /**
   * The version in a schema hash, of whichever side.
   * @param {bigint} schemaHash
   */
  static versionIn(schemaHash) {
    return Number(schemaHash >> 48n);
  }
}

/**
 * Declares what client and server have in common.
 * @param {string} name of the game
 * @param {ProtocolDeclaration} [declaration]
 */
export function defineProtocol(name, declaration = {}) {
  return new Protocol(name, declaration);
}

/** @param {bigint} value */
function eightBytes(value) {
  const writer = new ByteWriter(8);
  writer.u64(value);
  return writer.written();
}

/**
 * @param {InputDeclaration | undefined} declaration
 * @returns {InputForm}
 */
function inputForm(declaration = {}) {
  const form =
    typeof declaration.write === "function"
      ? /** @type {InputForm} */ (declaration)
      : formOf(/** @type {Fields} */ (declaration));
  if (!Number.isInteger(form.bitsMax) || form.bitsMax < 0 || form.bitsMax > INPUT_BITS_MAX) {
    throw new NetloomError("setting", `an input has at most ${INPUT_BITS_MAX} bits, not ${form.bitsMax}`);
  }
  return form;
}

/**
 * @param {Fields} fields
 * @returns {InputForm}
 */
function formOf(fields) {
  const entries = Object.entries(fields);
  let bitsMax = 0;
  for (const [name, type] of entries) {
    const bits = type instanceof FieldType ? type.bits : null;
    if (bits === null) {
      throw new NetloomError(
        "setting",
        `input.${name} must be a number of fixed width, such as field.int(-1, 1)`,
      );
    }
    bitsMax += bits;
  }
  return {
    bitsMax,
    write(input, writer) {
      for (const [name, type] of entries) type.writeBits(writer, input[name]);
    },
  };
}

/**
 * Declarations are the game's own: what cannot be is an error of this SDK's class, like every other.
 * @template T
 * @param {() => T} make
 * @returns {T}
 */
function checked(make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NetloomError("setting", error.message, { cause: error });
  }
}

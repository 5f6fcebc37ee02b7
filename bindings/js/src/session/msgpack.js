/**
 * Arguments of calls: one MessagePack array (section "arguments" of the standard).
 *
 * They come from another player, through a server that did not look inside. So they are bounded before
 * anything is made of them: in bytes, in depth, and in the number of values, and no length is believed that
 * the bytes do not bear out.
 */

import { ByteReader, decodeUtf8, encodeUtf8 } from "../wire/bytes.js";
import { WireError } from "../wire/error.js";
import { NetloomError } from "./error.js";

/** The longest arguments of a call, in bytes. */
export const ARGS_BYTES_MAX = 16_384;
const DEPTH_MAX = 16;
const VALUES_MAX = 4_096;
const EXT_OBJECT = 1;
const NO_OBJECT = 0xffff_ffff;

/**
 * An object among the arguments of a call, by its alias. `alias` is null for one that the receiver cannot
 * see.
 */
export class ObjectRef {
  /** @param {number | null} alias slot + 65,536 × generation */
  constructor(alias) {
    this.alias = alias;
  }
}

/**
 * What can be an argument. Numbers that are whole travel as integers, up to 2^53, others as 64-bit floats.
 * @typedef {null | undefined | boolean | number | bigint | string | Uint8Array | ObjectRef | { alias: number
 *   } | ReadonlyArray<any> | { readonly [key: string]: any }} Argument
 */

/**
 * Writes arguments.
 * @param {import("../wire/bytes.js").ByteWriter} writer
 * @param {ReadonlyArray<Argument>} args
 */
export function writeArgs(writer, args) {
  new ArgsWriter(writer).array(args, 1);
}

class ArgsWriter {
  /** @param {import("../wire/bytes.js").ByteWriter} writer */
  constructor(writer) {
    this.writer = writer;
    this.start = writer.at;
    this.values = 0;
    this.view = new DataView(new ArrayBuffer(8));
  }

  /**
   * @param {any} value
   * @param {number} depth
   */
  value(value, depth) {
    this.count();
    if (value === null || value === undefined) this.byte(0xc0);
    else if (value === false) this.byte(0xc2);
    else if (value === true) this.byte(0xc3);
    else if (typeof value === "number") this.number(value);
    else if (typeof value === "bigint") this.integer(value);
    else if (typeof value === "string") this.text(value);
    else if (value instanceof Uint8Array) this.binary(value);
    else if (Array.isArray(value)) this.array(value, depth + 1, false);
    else if (value instanceof ObjectRef || (typeof value === "object" && typeof value.alias === "number")) {
      this.object(value);
    } else if (typeof value === "object") this.map(value, depth + 1);
    else
      throw unsendable(
        `a ${typeof value} cannot be sent: use null, booleans, numbers, text, bytes, lists and maps`,
      );
  }

  count() {
    if (++this.values > VALUES_MAX) throw unsendable(`arguments have at most ${VALUES_MAX} values`);
  }

  /**
   * @param {ReadonlyArray<any>} list
   * @param {number} depth
   * @param {boolean} [counts] the outermost array is a value as well
   */
  array(list, depth, counts = true) {
    if (counts) this.count();
    this.nest(depth);
    this.head(list.length, 0x90, 15, 0, 0xdc);
    for (const value of list) this.value(value, depth);
  }

  /**
   * @param {{ [key: string]: any }} map
   * @param {number} depth
   */
  map(map, depth) {
    this.nest(depth);
    const entries = map instanceof Map ? [...map.entries()] : Object.entries(map);
    this.head(entries.length, 0x80, 15, 0, 0xde);
    for (const [key, value] of entries) {
      if (typeof key !== "string") throw unsendable("the keys of a map are text");
      this.count();
      this.text(key);
      this.value(value, depth);
    }
  }

  /** @param {number} depth */
  nest(depth) {
    if (depth > DEPTH_MAX) throw unsendable(`arguments are nested at most ${DEPTH_MAX} deep`);
  }

  /** @param {number} value */
  number(value) {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) this.integer(value);
    else {
      this.view.setFloat64(0, value);
      this.viewed(0xcb, 8);
    }
  }

  /**
   * In the shortest form.
   * @param {number | bigint} value
   */
  integer(value) {
    const { view } = this;
    if (value >= 1n << 64n || value < -(1n << 63n)) throw unsendable("an integer has at most 64 bits");
    if (value >= -32 && value < 0x80) this.byte(Number(value) & 0xff);
    else if (value >= 0) {
      view.setBigUint64(0, BigInt(value));
      if (value < 0x100) this.viewed(0xcc, 1, 7);
      else if (value < 0x1_0000) this.viewed(0xcd, 2, 6);
      else if (value < 0x1_0000_0000) this.viewed(0xce, 4, 4);
      else this.viewed(0xcf, 8);
    } else {
      view.setBigInt64(0, BigInt(value));
      if (value >= -0x80) this.viewed(0xd0, 1, 7);
      else if (value >= -0x8000) this.viewed(0xd1, 2, 6);
      else if (value >= -0x8000_0000) this.viewed(0xd2, 4, 4);
      else this.viewed(0xd3, 8);
    }
  }

  /** @param {string} text */
  text(text) {
    const bytes = encodeUtf8(text);
    this.head(bytes.length, 0xa0, 31, 0xd9, 0xda);
    this.bytes(bytes);
  }

  /** @param {Uint8Array} bytes */
  binary(bytes) {
    this.head(bytes.length, 0, -1, 0xc4, 0xc5);
    this.bytes(bytes);
  }

  /** @param {any} object */
  object(object) {
    this.byte(0xd6);
    this.byte(EXT_OBJECT);
    this.room(4);
    this.writer.u32(object.alias ?? NO_OBJECT);
  }

  /**
   * A length: within the first byte, in 8 bits where that form exists, or in 16; 16,384 bytes need no more.
   * @param {number} length
   * @param {number} fixed
   * @param {number} fixedMax
   * @param {number} short 0 where there is no such form
   * @param {number} long
   */
  head(length, fixed, fixedMax, short, long) {
    if (length <= fixedMax) this.byte(fixed | length);
    else if (short !== 0 && length < 0x100) {
      this.byte(short);
      this.byte(length);
    } else if (length <= ARGS_BYTES_MAX) {
      this.view.setUint16(0, length);
      this.viewed(long, 2);
    } else throw tooLong();
  }

  /** @param {number} count */
  room(count) {
    if (this.writer.at - this.start + count > ARGS_BYTES_MAX) throw tooLong();
  }

  /** @param {number} value */
  byte(value) {
    this.room(1);
    this.writer.u8(value);
  }

  /** @param {Uint8Array} bytes */
  bytes(bytes) {
    this.room(bytes.length);
    this.writer.bytes(bytes);
  }

  /**
   * @param {number} tag
   * @param {number} length
   * @param {number} [start]
   */
  viewed(tag, length, start = 0) {
    this.byte(tag);
    this.bytes(new Uint8Array(this.view.buffer, start, length));
  }
}

/** @param {string} words */
function unsendable(words) {
  return new NetloomError("arguments", words);
}

function tooLong() {
  return unsendable(`the arguments take more than ${ARGS_BYTES_MAX} bytes: send less in one call`);
}

/**
 * Reads arguments. Integers beyond 2^53 are BigInts, maps are objects without a prototype, objects are
 * `ObjectRef`s.
 * @param {Uint8Array} bytes
 * @returns {any[]}
 */
export function readArgs(bytes) {
  if (bytes.length > ARGS_BYTES_MAX) throw new WireError("TooLong");
  const reader = new ArgsReader(bytes);
  const args = reader.value(0, false);
  reader.reader.finish();
  if (!Array.isArray(args)) throw new WireError("NotAList");
  return args;
}

/** @param {number} tag */
const isList = (tag) => (tag & 0xf0) === 0x90 || tag === 0xdc || tag === 0xdd;
/** @param {number} tag */
const isMap = (tag) => (tag & 0xf0) === 0x80 || tag === 0xde || tag === 0xdf;

class ArgsReader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.reader = new ByteReader(bytes);
    this.data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.values = 0;
  }

  /**
   * The next value. Reasons for refusal come in the order of the standard.
   * @param {number} depth of what is around
   * @param {boolean} isKey
   * @returns {any}
   */
  value(depth, isKey) {
    const tag = this.reader.u8();
    const found = this.token(tag);
    if (++this.values > VALUES_MAX) throw new WireError("TooManyElements");
    if (isKey && typeof found !== "string") throw new WireError("KeyIsNoText");
    if (isList(tag)) return this.array(found, depth + 1);
    return isMap(tag) ? this.map(found, depth + 1) : found;
  }

  /**
   * What follows a tag: a value, of lists and maps only how many are inside.
   * @param {number} tag
   * @returns {any}
   */
  token(tag) {
    if (tag < 0x80) return tag;
    if (tag >= 0xe0) return tag - 0x100;
    if (tag < 0xa0) return tag & 0x0f;
    if (tag < 0xc0) return this.text(tag & 0x1f);
    const { reader, data } = this;
    switch (tag) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return reader.bytes(reader.u8()).slice();
      case 0xc5:
        return reader.bytes(data.getUint16(reader.skip(2))).slice();
      case 0xc6:
        return reader.bytes(data.getUint32(reader.skip(4))).slice();
      case 0xca:
        return data.getFloat32(reader.skip(4));
      case 0xcb:
        return data.getFloat64(reader.skip(8));
      case 0xcc:
        return reader.u8();
      case 0xcd:
        return data.getUint16(reader.skip(2));
      case 0xce:
        return data.getUint32(reader.skip(4));
      case 0xcf:
        return whole(data.getBigUint64(reader.skip(8)));
      case 0xd0:
        return reader.i8();
      case 0xd1:
        return data.getInt16(reader.skip(2));
      case 0xd2:
        return data.getInt32(reader.skip(4));
      case 0xd3:
        return whole(data.getBigInt64(reader.skip(8)));
      case 0xd6:
        return this.object();
      case 0xd9:
        return this.text(reader.u8());
      case 0xda:
        return this.text(data.getUint16(reader.skip(2)));
      case 0xdb:
        return this.text(data.getUint32(reader.skip(4)));
      case 0xdc:
      case 0xde:
        return data.getUint16(reader.skip(2));
      case 0xdd:
      case 0xdf:
        return data.getUint32(reader.skip(4));
      default:
        throw new WireError("UnknownType");
    }
  }

  /**
   * @param {number} length
   * @param {number} depth
   */
  array(length, depth) {
    this.nest(length, depth);
    const list = [];
    for (let index = 0; index < length; index++) list.push(this.value(depth, false));
    return list;
  }

  /**
   * @param {number} length
   * @param {number} depth
   */
  map(length, depth) {
    this.nest(2 * length, depth);
    // Without a prototype no key is special, "__proto__" included.
    const map = Object.create(null);
    for (let index = 0; index < length; index++) {
      const key = this.value(depth, true);
      map[key] = this.value(depth, false);
    }
    return map;
  }

  /**
   * Each value takes a byte at least, so a length that is larger than what is left is a lie.
   * @param {number} values
   * @param {number} depth
   */
  nest(values, depth) {
    if (values > this.reader.left) throw new WireError("UnexpectedEnd");
    if (depth > DEPTH_MAX) throw new WireError("TooDeep");
  }

  /** @param {number} length */
  text(length) {
    return decodeUtf8(this.reader.bytes(length));
  }

  object() {
    if (this.reader.u8() !== EXT_OBJECT) throw new WireError("UnknownType");
    const alias = this.reader.u32();
    if (alias >= 0x100_0000 && alias !== NO_OBJECT) throw new WireError("InvalidObject");
    return new ObjectRef(alias === NO_OBJECT ? null : alias);
  }
}

/** @param {bigint} value */
function whole(value) {
  const isSafe = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
  return isSafe ? Number(value) : value;
}

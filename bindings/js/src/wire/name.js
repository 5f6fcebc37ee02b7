/**
 * Names: strings that cross the wire as a 64-bit hash (section 5.2).
 *
 * Both ends know almost all names, so the wire carries the hash and the receiver looks the text up. Two texts
 * with one hash are an error of whoever registers the second, found at startup; a hash without a text is an
 * ordinary event.
 */

import { decodeUtf8, encodeUtf8 } from "./bytes.js";
import { WireError } from "./error.js";
import { fnv1a64 } from "./hash.js";

/** The longest text of a name, in bytes of UTF-8. */
export const NAME_BYTES_MAX = 255;

/**
 * The name of a text.
 * @param {string} text
 * @returns {bigint}
 */
export function nameOf(text) {
  return fnv1a64(encodeUtf8(text));
}

/**
 * Reads a name in the hashed form, or with its text, which is then null if the sender did not know it.
 * @param {import("./bytes.js").ByteReader} reader
 * @param {boolean} [withText]
 * @returns {{ hash: bigint, text: string | null }}
 */
export function readName(reader, withText = false) {
  const hash = reader.u64();
  if (!withText) return { hash, text: null };
  const bytes = reader.blob(NAME_BYTES_MAX);
  if (bytes.length === 0) return { hash, text: null };
  const text = decodeUtf8(bytes);
  if (fnv1a64(bytes) !== hash) throw new WireError("NameMismatch");
  return { hash, text };
}

/** The names that one side knows, at most as many as it was made for. */
export class NameRegistry {
  /** @param {number} capacity */
  constructor(capacity) {
    this.capacity = capacity;
    /** @type {Map<bigint, string>} */
    this.texts = new Map();
  }

  /**
   * Registers a text and gives its name. The same text again changes nothing; one that collides is an Error.
   * @param {string} text
   * @returns {bigint}
   */
  register(text) {
    const bytes = encodeUtf8(text);
    if (bytes.length < 1 || bytes.length > NAME_BYTES_MAX) {
      throw new RangeError(`a name has 1 to ${NAME_BYTES_MAX} bytes, this has ${bytes.length}`);
    }
    const hash = fnv1a64(bytes);
    const registered = this.texts.get(hash);
    if (registered === text) return hash;
    if (registered !== undefined) {
      throw new Error(`"${text}" and "${registered}" have the same hash: rename one of them`);
    }
    if (this.texts.size >= this.capacity)
      throw new RangeError(`the registry holds ${this.capacity} names, its limit`);
    this.texts.set(hash, text);
    return hash;
  }

  /**
   * The text of a name. One that is not known is refused (`UnknownName`).
   * @param {bigint} hash
   */
  resolve(hash) {
    const text = this.texts.get(hash);
    if (text === undefined) throw new WireError("UnknownName", hash.toString(16).padStart(16, "0"));
    return text;
  }
}

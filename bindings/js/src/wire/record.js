/**
 * The full record of an object (section 8 of the standard): everything that its mask names, without any
 * baseline.
 */

import { WireError } from "./error.js";
import { NONE, PROFILES, hasWords, readTriple } from "./quantize.js";
import { readRotation } from "./value.js";

const POSITION = 1;
const ROTATION = 2;
const SCALE = 4;
const PROPERTIES = 8;
const VELOCITY = 16;
const TELEPORT = 32;
const SCALE_RAW = 64;
const POSITION_RAW = 128;
const PROPERTIES_BYTES_MAX = 1024;

/** A record as it was read; words mean something only if their `has` is true. One is used again and again. */
export class Record {
  constructor() {
    this.slot = 0;
    this.generation = 0;
    this.profile = 0;
    this.originVersion = 0;
    this.sequence = 0;
    this.isTeleport = false;
    this.hasPosition = false;
    this.hasRotation = false;
    this.hasScale = false;
    this.hasVelocity = false;
    this.position = new Int32Array(4);
    this.rotation = new Int32Array(4);
    this.scale = new Int32Array(4);
    this.velocity = new Int32Array(4);
    /**
     * A property block, as a view of the input.
     * @type {Uint8Array | null}
     */
    this.properties = null;
  }

  /**
   * Reads one from the front of the reader.
   * @param {import("./bytes.js").ByteReader} reader
   */
  read(reader) {
    reader.need(6);
    this.slot = reader.u16();
    this.generation = reader.u8();
    const mask = reader.u8();
    const bits = reader.u8();
    this.profile = bits & 3;
    this.originVersion = bits >>> 2;
    this.sequence = reader.u8();
    const profile = PROFILES[this.profile];
    checkFlags(mask, this.profile, this.originVersion);
    this.isTeleport = (mask & TELEPORT) !== 0;
    this.hasPosition = (mask & POSITION) !== 0;
    this.hasRotation = (mask & ROTATION) !== 0;
    this.hasScale = (mask & SCALE) !== 0;
    this.hasVelocity = (mask & VELOCITY) !== 0;
    const isNone = !hasWords(profile.position);
    if (this.hasPosition) {
      readTriple(profile.position, isNone || (mask & POSITION_RAW) !== 0, reader, this.position, 0);
    }
    if (this.hasRotation) readRotation(profile.rotation, reader, this.rotation, 0);
    if (this.hasScale) readTriple(profile.scale, isNone || (mask & SCALE_RAW) !== 0, reader, this.scale, 0);
    this.properties = (mask & PROPERTIES) !== 0 ? reader.blob(PROPERTIES_BYTES_MAX) : null;
    if (this.hasVelocity) readTriple(profile.velocity, isNone, reader, this.velocity, 0);
  }
}

/**
 * @param {number} mask
 * @param {number} profile
 * @param {number} originVersion
 */
function checkFlags(mask, profile, originVersion) {
  const isWrong =
    ((mask & (TELEPORT | POSITION_RAW)) !== 0 && (mask & POSITION) === 0) ||
    ((mask & SCALE_RAW) !== 0 && (mask & SCALE) === 0) ||
    (profile === NONE && (mask & (SCALE_RAW | POSITION_RAW)) !== 0) ||
    (!PROFILES[profile].usesOrigin && originVersion !== 0);
  if (isWrong) throw new WireError("InvalidFlags");
}

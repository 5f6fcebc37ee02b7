/**
 * SHA-256 (FIPS 180-4), HMAC (RFC 2104) and HKDF (RFC 5869): from a shared secret to the keys of a session.
 */

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;

const roundConstants = new Int32Array(64);
const initialState = new Int32Array(8);
fillConstants();

/** Fractional parts of square and cube roots of the first primes, as the standard defines them. */
function fillConstants() {
  // Doubles hold 53 bits of which at most five are the whole part of a root: 32 bits of fraction are exact.
  const fraction = (/** @type {number} */ root) => ((root - Math.floor(root)) * 4294967296) | 0;
  let count = 0;
  for (let candidate = 2; count < 64; candidate++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) isPrime &&= candidate % divisor !== 0;
    if (!isPrime) continue;
    if (count < 8) initialState[count] = fraction(Math.sqrt(candidate));
    roundConstants[count++] = fraction(Math.cbrt(candidate));
  }
}

/**
 * @param {...Uint8Array} parts hashed as if they were one
 * @returns {Uint8Array} 32 bytes
 */
export function sha256(...parts) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const padded = new Uint8Array(Math.ceil((length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  let at = 0;
  for (const part of parts) {
    padded.set(part, at);
    at += part.length;
  }
  padded[at] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(length / 0x20000000));
  view.setUint32(padded.length - 4, length << 3);
  const state = initialState.slice();
  for (let block = 0; block < padded.length; block += BLOCK_BYTES) compress(state, view, block);
  const hash = new DataView(new ArrayBuffer(HASH_BYTES));
  state.forEach((word, index) => hash.setInt32(4 * index, word));
  return new Uint8Array(hash.buffer);
}

const schedule = new Int32Array(64);

/** @param {number} word @param {number} count */
function rotateRight(word, count) {
  return (word >>> count) | (word << (32 - count));
}

/**
 * @param {Int32Array} state
 * @param {DataView} view
 * @param {number} start
 */
function compress(state, view, start) {
  for (let t = 0; t < 16; t++) schedule[t] = view.getInt32(start + 4 * t);
  for (let t = 16; t < 64; t++) {
    const x = schedule[t - 15];
    const y = schedule[t - 2];
    const sigma0 = rotateRight(x, 7) ^ rotateRight(x, 18) ^ (x >>> 3);
    const sigma1 = rotateRight(y, 17) ^ rotateRight(y, 19) ^ (y >>> 10);
    schedule[t] = sigma1 + schedule[t - 7] + sigma0 + schedule[t - 16];
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t++) {
    const sum1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const sum0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    const first = (h + sum1 + ((e & f) ^ (~e & g)) + roundConstants[t] + schedule[t]) | 0;
    const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  const words = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < 8; index++) state[index] += words[index];
}

/**
 * @param {Uint8Array} key
 * @param {...Uint8Array} parts
 * @returns {Uint8Array} 32 bytes
 */
export function hmacSha256(key, ...parts) {
  const padded = new Uint8Array(BLOCK_BYTES);
  padded.set(key.length > BLOCK_BYTES ? sha256(key) : key);
  const inner = sha256(
    padded.map((byte) => byte ^ 0x36),
    ...parts,
  );
  return sha256(
    padded.map((byte) => byte ^ 0x5c),
    inner,
  );
}

/**
 * Extract, then expand.
 * @param {Uint8Array} salt
 * @param {Uint8Array} secret
 * @param {Uint8Array} info
 * @param {number} length in bytes
 * @returns {Uint8Array}
 */
export function hkdfSha256(salt, secret, info, length) {
  const extracted = hmacSha256(salt, secret);
  const out = new Uint8Array(Math.ceil(length / HASH_BYTES) * HASH_BYTES);
  /** @type {Uint8Array} */
  let block = new Uint8Array(0);
  for (let index = 0; index * HASH_BYTES < length; index++) {
    block = hmacSha256(extracted, block, info, Uint8Array.of(index + 1));
    out.set(block, index * HASH_BYTES);
  }
  return out.subarray(0, length);
}

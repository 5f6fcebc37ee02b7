/**
 * X25519 (RFC 7748): two sides agree on a secret that nobody who listens can compute.
 *
 * Numbers modulo p = 2^255 − 19 are sixteen limbs of 16 bits in doubles. A product of two limbs has 32 bits,
 * a sum of 16 of them, each up to 39 times (the limbs above 2^256 come back as 38), stays far below 2^53, so
 * carries may wait until a product is complete. No step depends on the bits of the secret: the ladder swaps
 * by arithmetic.
 */

const LIMBS = 16;
const LIMB = 65536;

/** Bytes of keys, secrets and shared secrets. */
export const X25519_BYTES = 32;

const BASE_POINT = new Uint8Array(X25519_BYTES);
BASE_POINT[0] = 9;

/**
 * The public key of a secret one.
 * @param {Uint8Array} secret
 */
export function x25519PublicKey(secret) {
  return x25519(secret, BASE_POINT);
}

/**
 * The shared secret. It is all zeros if the other's key is one of the few that give everybody the same.
 * @param {Uint8Array} secret
 * @param {Uint8Array} publicKey
 * @returns {Uint8Array} 32 bytes
 */
export function x25519(secret, publicKey) {
  const scalar = secret.slice();
  scalar[0] &= 248;
  scalar[31] = (scalar[31] & 127) | 64;

  const u = unpack(publicKey);
  const [x2, z2, x3, z3] = [field(1), field(0), u.slice(), field(1)];
  const [a, b, c, d, e, t] = [field(0), field(0), field(0), field(0), field(0), field(0)];
  const a24 = field(121665);
  let swapped = 0;
  for (let position = 254; position >= 0; position--) {
    const bit = (scalar[position >> 3] >> (position & 7)) & 1;
    swap(swapped ^ bit, x2, x3);
    swap(swapped ^ bit, z2, z3);
    swapped = bit;
    add(a, x2, z2);
    subtract(b, x2, z2);
    add(c, x3, z3);
    subtract(d, x3, z3);
    multiply(d, d, a); // (x3 − z3)(x2 + z2)
    multiply(c, c, b); // (x3 + z3)(x2 − z2)
    multiply(a, a, a); // (x2 + z2)²
    multiply(b, b, b); // (x2 − z2)²
    add(x3, d, c);
    multiply(x3, x3, x3);
    subtract(z3, d, c);
    multiply(z3, z3, z3);
    multiply(z3, z3, u);
    multiply(x2, a, b);
    subtract(e, a, b);
    multiply(t, e, a24);
    add(t, t, a);
    multiply(z2, e, t);
  }
  swap(swapped, x2, x3);
  swap(swapped, z2, z3);
  invert(t, z2);
  multiply(t, t, x2);
  return pack(t);
}

/** @param {number} value */
function field(value) {
  const limbs = new Float64Array(LIMBS);
  limbs[0] = value % LIMB;
  limbs[1] = Math.floor(value / LIMB);
  return limbs;
}

/** @param {Uint8Array} bytes */
function unpack(bytes) {
  const limbs = new Float64Array(LIMBS);
  for (let index = 0; index < LIMBS; index++) limbs[index] = bytes[2 * index] + 256 * bytes[2 * index + 1];
  limbs[15] %= 32768;
  return limbs;
}

/** @param {Float64Array} limbs @returns {Uint8Array} the one form below p */
function pack(limbs) {
  const value = limbs.slice();
  carry(value);
  carry(value);
  carry(value);
  const reduced = new Float64Array(LIMBS);
  // Below 2^256 it is less than three times p: what does not borrow when p is subtracted is the smaller form.
  for (let time = 0; time < 2; time++) {
    let borrow = 0;
    for (let index = 0; index < LIMBS; index++) {
      const ofPrime = index === 0 ? 0xffed : index === 15 ? 0x7fff : 0xffff;
      const difference = value[index] - ofPrime - borrow;
      borrow = difference < 0 ? 1 : 0;
      reduced[index] = difference + borrow * LIMB;
    }
    swap(1 - borrow, value, reduced);
  }
  const bytes = new Uint8Array(X25519_BYTES);
  for (let index = 0; index < LIMBS; index++) {
    bytes[2 * index] = value[index] & 0xff;
    bytes[2 * index + 1] = value[index] >>> 8;
  }
  return bytes;
}

/** @param {number} bit @param {Float64Array} p @param {Float64Array} q */
function swap(bit, p, q) {
  for (let index = 0; index < LIMBS; index++) {
    const moved = bit * (p[index] - q[index]);
    p[index] -= moved;
    q[index] += moved;
  }
}

/** @param {Float64Array} out @param {Float64Array} p @param {Float64Array} q */
function add(out, p, q) {
  for (let index = 0; index < LIMBS; index++) out[index] = p[index] + q[index];
}

/** @param {Float64Array} out @param {Float64Array} p @param {Float64Array} q */
function subtract(out, p, q) {
  for (let index = 0; index < LIMBS; index++) out[index] = p[index] - q[index];
}

const product = new Float64Array(2 * LIMBS);

/** @param {Float64Array} out @param {Float64Array} p @param {Float64Array} q */
function multiply(out, p, q) {
  product.fill(0);
  for (let i = 0; i < LIMBS; i++) {
    const factor = p[i];
    for (let j = 0; j < LIMBS; j++) product[i + j] += factor * q[j];
  }
  for (let index = 0; index < LIMBS; index++) out[index] = product[index] + 38 * product[index + LIMBS];
  carry(out);
  carry(out);
}

/** Brings limbs back to 16 bits, but for what the last one gives to the first. @param {Float64Array} limbs */
function carry(limbs) {
  let carried = 0;
  for (let index = 0; index < LIMBS; index++) {
    const limb = limbs[index] + carried;
    carried = Math.floor(limb / LIMB);
    limbs[index] = limb - carried * LIMB;
  }
  limbs[0] += 38 * carried;
}

/**
 * By Fermat: to the power p − 2, whose bits are all ones but 2 and 4.
 * @param {Float64Array} out
 * @param {Float64Array} z
 */
function invert(out, z) {
  const power = z.slice();
  for (let bit = 253; bit >= 0; bit--) {
    multiply(power, power, power);
    if (bit !== 2 && bit !== 4) multiply(power, power, z);
  }
  out.set(power);
}

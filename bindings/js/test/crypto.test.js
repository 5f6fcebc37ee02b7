import assert from "node:assert/strict";
import * as reference from "node:crypto";
import { test } from "node:test";
import { SealKey, TAG_BYTES } from "../src/proto/crypto/chacha20poly1305.js";
import { hkdfSha256, hmacSha256, sha256 } from "../src/proto/crypto/sha256.js";
import { x25519, x25519PublicKey } from "../src/proto/crypto/x25519.js";
import { crc32c } from "../src/wire/crc32c.js";
import { encodeUtf8 } from "../src/wire/bytes.js";
import { fromHex, toHex } from "./vectors.js";
import { Random } from "./random.js";

test("CRC32C of the standard's example, at once and in pieces", () => {
  const bytes = encodeUtf8("123456789");
  assert.equal(crc32c(bytes), 0xe3069283);
  assert.equal(crc32c(bytes, 4, 9, crc32c(bytes, 0, 4)), 0xe3069283);
});

test("SHA-256 and HMAC agree with another implementation at every length around the blocks", () => {
  const random = new Random(1);
  for (const length of [0, 1, 31, 55, 56, 63, 64, 65, 119, 120, 128, 1000]) {
    const bytes = random.bytes(length);
    const key = random.bytes(length);
    assert.equal(toHex(sha256(bytes)), reference.createHash("sha256").update(bytes).digest("hex"));
    assert.equal(
      toHex(hmacSha256(key, bytes)),
      reference.createHmac("sha256", key).update(bytes).digest("hex"),
    );
  }
});

test("HKDF: RFC 5869, test case 1", () => {
  const out = hkdfSha256(
    fromHex("000102030405060708090a0b0c"),
    fromHex("0b".repeat(22)),
    fromHex("f0f1f2f3f4f5f6f7f8f9"),
    42,
  );
  assert.equal(
    toHex(out),
    "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
  );
});

test("X25519: RFC 7748, section 6.1", () => {
  const bob = fromHex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
  const alicePublic = fromHex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  assert.equal(
    toHex(x25519PublicKey(bob)),
    "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
  );
  const shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
  assert.equal(toHex(x25519(bob, alicePublic)), shared);
});

test("X25519: RFC 7748, a thousand iterations", () => {
  /** @type {Uint8Array} */
  let scalar = fromHex("0900000000000000000000000000000000000000000000000000000000000000");
  let point = scalar;
  for (let iteration = 1; iteration <= 1000; iteration++) {
    [scalar, point] = [x25519(scalar, point), scalar];
    if (iteration === 1)
      assert.equal(toHex(scalar), "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
  }
  assert.equal(toHex(scalar), "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
});

test("X25519 agrees with another implementation, and with points of every form", () => {
  const random = new Random(2);
  const derOfSecret = fromHex("302e020100300506032b656e04220420");
  const derOfPublic = fromHex("302a300506032b656e032100");
  for (let round = 0; round < 20; round++) {
    const secret = random.bytes(32);
    const point = round === 0 ? new Uint8Array(32).fill(255) : random.bytes(32);
    const expected = reference.diffieHellman({
      privateKey: reference.createPrivateKey({
        key: Buffer.concat([derOfSecret, secret]),
        format: "der",
        type: "pkcs8",
      }),
      publicKey: reference.createPublicKey({
        key: Buffer.concat([derOfPublic, point]),
        format: "der",
        type: "spki",
      }),
    });
    assert.equal(toHex(x25519(secret, point)), expected.toString("hex"), `seed 2, round ${round}`);
  }
});

test("a point of small order gives zeros", () => {
  assert.equal(toHex(x25519(new Random(3).bytes(32), new Uint8Array(32))), "00".repeat(32));
});

test("sealing agrees with another implementation at every length, and opening undoes it", () => {
  const random = new Random(4);
  const out = new Uint8Array(1200);
  for (let length = 0; length <= 400; length++) {
    const [key, header, payload] = [random.bytes(32), random.bytes(random.below(30)), random.bytes(length)];
    const number = [0, 1, 65535, 4294967296, 2 ** 53 - 1, -1][length % 6];
    const nonce = new DataView(new ArrayBuffer(12));
    nonce.setBigUint64(4, BigInt.asUintN(64, BigInt(number)), true);
    const cipher = reference.createCipheriv("chacha20-poly1305", key, new Uint8Array(nonce.buffer), {
      authTagLength: 16,
    });
    cipher.setAAD(header, { plaintextLength: length });
    const expected = Buffer.concat([header, cipher.update(payload), cipher.final(), cipher.getAuthTag()]);

    const sealed = new Uint8Array(header.length + length + TAG_BYTES);
    sealed.set(header);
    sealed.set(payload, header.length);
    const seal = new SealKey(key);
    assert.equal(seal.seal(number, sealed, header.length, header.length + length), sealed.length);
    assert.equal(toHex(sealed), expected.toString("hex"), `seed 4, length ${length}`);
    assert.equal(seal.open(number, sealed, header.length, out), length);
    assert.equal(toHex(out.subarray(0, length)), toHex(payload));
  }
});

test("Poly1305 at its edges: sums of p, p − 1 and 2^128 reduce as another implementation does", () => {
  // All-ones ciphertext meets the largest limbs; the key stream is what it is, so many keys are tried.
  const random = new Random(5);
  const out = new Uint8Array(1200);
  for (let round = 0; round < 300; round++) {
    const key = random.bytes(32);
    const sealed = new Uint8Array(16 * (1 + (round % 8)) + TAG_BYTES).fill(255);
    const seal = new SealKey(key);
    assert.equal(seal.open(7, sealed, 0, out), -1);
    const length = sealed.length - TAG_BYTES;
    const decipher = reference.createDecipheriv(
      "chacha20-poly1305",
      key,
      fromHex("000000000700000000000000"),
      { authTagLength: 16 },
    );
    // What decrypts to is what encrypts from: seal that, and the ciphertext is all ones again.
    const plain = new Uint8Array(decipher.update(sealed.subarray(0, length)));
    const again = new Uint8Array(length + TAG_BYTES);
    again.set(plain);
    seal.seal(7, again, 0, length);
    assert.equal(toHex(again.subarray(0, length)), "ff".repeat(length));
    decipher.setAuthTag(again.subarray(length));
    assert.doesNotThrow(() => decipher.final(), `seed 5, round ${round}`);
  }
});

test("a flipped bit anywhere, another number or another key does not open", () => {
  const random = new Random(6);
  const key = random.bytes(32);
  const packet = random.bytes(60 + TAG_BYTES);
  const seal = new SealKey(key);
  const out = new Uint8Array(1200);
  seal.seal(9, packet, 10, 60);
  assert.equal(seal.open(9, packet, 10, out), 50);
  for (let bit = 0; bit < packet.length * 8; bit++) {
    packet[bit >> 3] ^= 1 << (bit & 7);
    assert.equal(seal.open(9, packet, 10, out), -1);
    packet[bit >> 3] ^= 1 << (bit & 7);
  }
  assert.equal(seal.open(10, packet, 10, out), -1);
  assert.equal(new SealKey(random.bytes(32)).open(9, packet, 10, out), -1);
  assert.equal(seal.open(9, packet.subarray(0, 20), 10, out), -1);
});

// Reads golden vectors, and what their files have in common (section 14 of the standard).
import { readFileSync } from "node:fs";

/**
 * The cases of one file under conformance/vectors.
 * @param {string} file
 * @returns {any[]}
 */
export function vectors(file) {
  const url = new URL(`../../../conformance/vectors/${file}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")).cases;
}

/** @param {string} hex */
export function fromHex(hex) {
  return new Uint8Array(Buffer.from(hex, "hex"));
}

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
  return Buffer.from(bytes).toString("hex");
}

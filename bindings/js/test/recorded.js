// Recorded sessions and the classes of their objects.
import { readFileSync } from "node:fs";
import { ClassTable } from "../src/replica/class.js";
import { schemaOf } from "./schemas.js";
import { vectors } from "./vectors.js";

/** @returns {{ name: string, steps: [string, string | null, number, number, string][] }[]} */
export function recordedSessions() {
  return JSON.parse(readFileSync(new URL("recorded.json", import.meta.url), "utf8")).sessions;
}

/** The classes of the golden vectors. */
export function recordedClasses() {
  const cases = vectors("replica_classes");
  const { given } = cases.find(({ name }) => name === "the classes of all other files");
  return new ClassTable(given.classes.map(schemaOf));
}

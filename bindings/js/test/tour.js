/**
 * The declaration of the game of `cargo run -p netloom --example tour`, and of the default game of `netloom
 * serve`.
 */

import { defineProtocol, field } from "../src/index.js";

export const tour = defineProtocol("tour", {
  version: 3,
  objects: {
    Ball: {
      at: field.position(),
      turned: field.rotation(),
      speed: field.velocity(),
      size: field.scale(),
      spin: field.range(-1, 1, 0.01),
      charge: field.int(-100, 100),
      colour: field.choice("red", "green", "blue"),
      heat: field.f32(),
      is_lit: field.bool(),
      seed: field.u64(),
      number: field.u16(),
      label: field.text(32),
      marks: field.array(8, field.int(0, 99)),
      secret: field.u64().serverOnly(),
    },
    Walker: {
      at: field.position(2),
      steps: field.u16().owner(),
      motto: field.text(24).anyClientWrites(),
      diary: field.text(500).reliable(),
    },
  },
  calls: {
    add: { callers: "clients" },
    point: { callers: "clients" },
    hatch: { callers: "clients" },
    look: { callers: "clients", atViewTime: true },
    write: { callers: "clients" },
    kick: { callers: "clients" },
    grumble: { callers: "clients" },
    greet: { callers: "server" },
    hatched: { callers: "server" },
    sum: { callers: "server" },
    pointed: { callers: "server", atViewTime: true },
    seen: { callers: "server", delivery: "unordered" },
    wave: { isForwarded: true, delivery: "unreliable", bytesMax: 64 },
  },
  input: { way: field.u8() },
});

export const cubes = defineProtocol("cubes", {
  objects: {
    Cube: {
      at: field.position(2),
      turned: field.rotation(),
      size: field.range(0.5, 3, 0.125),
      colour: field.choice("red", "green", "blue", "yellow"),
      number: field.u16(),
    },
    Walker: {
      at: field.position(2),
      colour: field.choice("red", "green", "blue", "yellow"),
      rest: field.u8(),
      number: field.u16(),
    },
  },
  calls: { world_hash: { callers: "clients", bytesMax: 16 }, world_hashes: { callers: "server" } },
  input: { right: field.int(-1, 1), up: field.int(-1, 1), dash: field.bool() },
});

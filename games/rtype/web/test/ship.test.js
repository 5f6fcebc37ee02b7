/** Ships: what a page predicts is what a game does. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { xorshift } from "../rules/math.js";
import {
  AMMO_BACK,
  COOLDOWN_STEPS,
  DOWN_OUT,
  DOWN_STEPS,
  REFILL_STEPS,
  SAFE_STEPS,
  newPilotage,
  startOf,
  stepShip,
} from "../rules/ship.js";
import { Button, Weapon } from "../rules/kinds.js";
import { NOSE } from "../rules/constants.js";
import { emptyLevel, gameOf, levelsOfTheGame, shipOf } from "./games.js";

/**
 * The files that a file needs, itself included.
 * @param {URL} file
 * @param {Set<string>} found
 */
function needs(file, found = new Set()) {
  if (found.has(file.href)) return found;
  found.add(file.href);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/^(?:import|export|\}) .*from "(.+)";$/gm)) {
    needs(new URL(path, file), found);
  }
  return found;
}

test("whoever predicts loads the ship and three small files, no more", () => {
  const names = [...needs(new URL("../rules/ship.js", import.meta.url))].map((href) => href.split("/").pop());
  assert.deepEqual(names.sort(), ["constants.js", "kinds.js", "ship.js", "weapons.js"]);
});

test("a ship alone flies and fires as it does in a game", () => {
  const levels = emptyLevel();
  for (const weapon of Object.values(Weapon)) {
    for (let weaponLevel = 1; weaponLevel <= 3; weaponLevel++) {
      const upgrades = { weapon, weaponLevel, thrusters: weapon, drone: weaponLevel === 2 };
      const state = gameOf(levels, 2);
      Object.assign(shipOf(state, 2).pilotage, upgrades);
      const alone = { ...shipOf(state, 2).pilotage };
      let random = 77;
      for (let step = 0; step < 500; step++) {
        random = xorshift(random);
        const pressed = random & 0x3f;
        const { shots, beam } = stepShip(alone, pressed);
        state.advance(levels, [0, 0, pressed, 0]);
        assert.deepEqual(shipOf(state, 2).pilotage, alone);
        const fired = state.shots.slice(state.shots.length - shots.length);
        assert.deepEqual(
          fired.map(({ kind, x, y, vx, vy, damage, life }) => ({ kind, x, y, vx, vy, damage, life })),
          shots,
        );
        const expected = shots.map(({ kind, x, y }, index) => {
          return { type: "ShotFired", id: fired[index].id, kind, seat: 2, index, x, y };
        });
        const beams = beam ? [{ type: "Beam", seat: 2, x: alone.x + NOSE, y: alone.y }] : [];
        const events = state.events.filter(({ type }) => type !== "LevelBegan");
        assert.deepEqual(events, [...expected, ...beams]);
      }
    }
  }
});

test("between hits and gifts, a ship in the thick of a game is what its player predicts", () => {
  const levels = levelsOfTheGame();
  const given = ["ShipHit", "ShipDown", "ShipBack", "PowerTaken", "WeaponTaken"];
  const state = gameOf(levels, 0, 1);
  let random = 5;
  let compared = 0;
  for (let step = 0; step < 3_000; step++) {
    random = xorshift(random);
    const pressed = random & 0x3f;
    const predicted = { ...shipOf(state, 1).pilotage };
    stepShip(predicted, pressed);
    state.advance(levels, [0, pressed, 0, 0]);
    const isGiven = state.events.some(
      (event) => given.includes(event.type) && "seat" in event && event.seat === 1,
    );
    if (isGiven) continue;
    assert.deepEqual(shipOf(state, 1).pilotage, predicted);
    compared += 1;
  }
  assert.ok(compared > 2_900);
});

test("a held button fires every twelfth step while there is ammo, then as it is made", () => {
  const ship = newPilotage(0);
  /** @type {number[]} */
  const firedAt = [];
  for (let step = 0; step < 2_000; step++) {
    if (stepShip(ship, Button.SHOOT).shots.length > 0) firedAt.push(step);
  }
  const between = firedAt.slice(1).map((step, index) => step - firedAt[index]);
  assert.ok(between.slice(0, 90).every((steps) => steps === COOLDOWN_STEPS));
  assert.ok(between.slice(-10).every((steps) => steps === REFILL_STEPS));
});

test("a held beam fires every ninetieth step", () => {
  const ship = newPilotage(0);
  const firedAt = [];
  for (let step = 0; step < 360; step++) if (stepShip(ship, Button.BEAM).beam) firedAt.push(step);
  assert.deepEqual(firedAt, [89, 179, 269, 359]);
});

test("a ship that is down comes back to its start and is safe; one that is out stays out", () => {
  const ship = { ...newPilotage(3), x: 900, y: 50, down: DOWN_STEPS, safe: 0, ammo: 0 };
  for (let step = 1; step < DOWN_STEPS; step++) {
    assert.deepEqual(stepShip(ship, Button.SHOOT | Button.RIGHT), { shots: [], beam: false });
  }
  assert.deepEqual([ship.x, ship.y, ship.down], [900, 50, 1]);
  stepShip(ship, 0);
  const { x, y } = startOf(3);
  assert.deepEqual([ship.x, ship.y, ship.down, ship.safe, ship.ammo], [x, y, 0, SAFE_STEPS, AMMO_BACK]);

  const out = { ...newPilotage(1), down: DOWN_OUT };
  const before = { ...out };
  for (let step = 0; step < 1_000; step++) stepShip(out, 0x3f);
  assert.deepEqual(out, before);
});

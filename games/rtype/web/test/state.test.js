/** A game as those who run one rely on it: seats, beams, offers, limits. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Button,
  DEBRIS_MAX,
  ENEMIES_MAX,
  ENEMY_SHOTS_MAX,
  EnemyKind,
  Levels,
  NOSE,
  NO_SEAT,
  OFFER_STEPS,
  Phase,
  Power,
  Refused,
  State,
  Weapon,
  WIDTH,
  beamCrosses,
  bot,
} from "../rules/index.js";
import { emptyLevel, gameOf, levelOf, levelsOfTheGame, shipOf } from "./games.js";

const IDLE = [0, 0, 0, 0];

test("seats are filled once, cleared, and there are four", () => {
  const state = new State(emptyLevel(), 1, 1);
  state.addShip(1);
  const ship = shipOf(state, 1);
  state.addShip(1);
  assert.equal(state.ships[1], ship);
  state.removeShip(1);
  state.removeShip(4);
  state.addShip(4);
  state.addShip(-1);
  assert.deepEqual(state.ships, [null, null, null, null]);
});

test("a beam hits what is on its line up to the debris, and who says so takes the health", () => {
  const state = gameOf(emptyLevel(), 0);
  const { pilotage } = shipOf(state, 0);
  const near = state.addEnemy(EnemyKind.Turret, 700, pilotage.y);
  const beside = state.addEnemy(EnemyKind.Turret, 700, pilotage.y + 31);
  const behind = state.addEnemy(EnemyKind.Carrier, 1200, pilotage.y);
  assert.ok(near !== null && beside !== null && behind !== null);
  assert.equal(state.beamEnd(pilotage.x + NOSE, pilotage.y), WIDTH);
  assert.deepEqual(state.beamTargets(0), [near.id, behind.id]);
  state.addDebris(900, pilotage.y, -2, 0, 5);
  assert.equal(state.beamEnd(pilotage.x + NOSE, pilotage.y), 900 - 45);
  assert.deepEqual(state.beamTargets(0), [near.id]);
  assert.deepEqual(state.beamTargets(3), []);
  assert.ok(beamCrosses(0, WIDTH, beside.y - 30, beside.kind, beside.x, beside.y));

  assert.equal(state.strike(0, near.id), true);
  assert.equal(state.strike(0, near.id), false, "it is gone");
  assert.equal(shipOf(state, 0).score, 300);
  assert.deepEqual(
    state.enemies.map(({ id }) => id),
    [beside.id, behind.id],
  );
});

test("choices are taken once, and only what was offered", () => {
  const levels = emptyLevel();
  const state = gameOf(levels, 2);
  const ship = shipOf(state, 2);
  state.addCapsule(ship.pilotage.x, ship.pilotage.y);
  const [{ power }] = state.capsules;
  state.advance(levels, IDLE);
  const offered = ship.offers.power;
  assert.ok(offered !== null);
  assert.equal(offered.choices[0], power);
  assert.deepEqual([...offered.choices].sort(), Object.values(Power));
  const hash = state.hash();
  assert.equal(state.choosePower(0, offered.id, 0), Refused.NoShip);
  assert.equal(state.choosePower(9, offered.id, 0), Refused.NoShip);
  assert.equal(state.choosePower(2, offered.id + 1, 0), Refused.NoSuchOffer);
  assert.equal(state.choosePower(2, offered.id, 3), Refused.NoSuchChoice);
  assert.equal(state.chooseWeapon(2, offered.id, 0), Refused.NoSuchOffer);
  assert.equal(state.hash(), hash, "a refusal changes nothing");
  assert.equal(state.choosePower(2, offered.id, offered.choices.indexOf(Power.Drone)), null);
  assert.equal(ship.pilotage.drone, true);
  assert.equal(state.choosePower(2, offered.id, 0), Refused.NoSuchOffer);
});

test("an offer without an answer takes its first choice", () => {
  const levels = emptyLevel();
  const state = gameOf(levels, 0);
  const ship = shipOf(state, 0);
  // Worth enough for a first weapon offer.
  for (let count = 0; count < 3; count++) {
    const enemy = state.addEnemy(EnemyKind.Carrier, 1500, 100);
    assert.ok(enemy !== null);
    enemy.carries = false;
    while (state.strike(0, enemy.id));
  }
  const offered = ship.offers.weapon;
  assert.ok(offered !== null);
  assert.equal(offered.choices[0], Weapon.Cannon);
  for (let step = 0; step < OFFER_STEPS; step++) {
    assert.equal(ship.offers.weapon, offered);
    state.advance(levels, IDLE);
  }
  assert.equal(ship.offers.weapon, null);
  assert.equal(ship.pilotage.weaponLevel, 2);
});

test("offers that nobody answers wait, nine at most", () => {
  const state = gameOf(emptyLevel(), 0);
  for (let count = 0; count < 100; count++) {
    const enemy = state.addEnemy(EnemyKind.Leviathan, 1500, 100);
    assert.ok(enemy !== null);
    while (state.strike(0, enemy.id));
  }
  const { offers, score } = shipOf(state, 0);
  assert.equal(score, 1_000_000);
  // The 27th is at 2,500 times 27 times 28 / 2.
  assert.deepEqual([offers.marks, offers.owed], [27, 9]);
});

test("what is over a limit does not come", () => {
  const group = { kind: "turret", count: 64, formation: "column", speed: 1, fire_every_steps: 1 };
  const waves = [{ at_seconds: 0, spawns: [group, group] }];
  const level = { name: "Crowd", seconds: 30, debris_every_steps: 1, waves };
  const levels = new Levels([Levels.parse("crowd.json", JSON.stringify(level))]);
  const state = gameOf(levels, 0, 1, 2, 3);
  const most = { enemies: 0, debris: 0, shots: 0 };
  for (let step = 0; step < 900; step++) {
    state.advance(levels, [Button.SHOOT, Button.SHOOT, Button.SHOOT, Button.SHOOT]);
    most.enemies = Math.max(most.enemies, state.enemies.length);
    most.debris = Math.max(most.debris, state.debris.length);
    most.shots = Math.max(most.shots, state.shots.filter(({ seat }) => seat === NO_SEAT).length);
  }
  assert.deepEqual(most, { enemies: ENEMIES_MAX, debris: DEBRIS_MAX, shots: ENEMY_SHOTS_MAX });
});

test("who is hit loses ships one by one, and the game is lost without any", () => {
  const levels = levelOf(
    { at_seconds: 0, spawns: [{ kind: "drone", count: 64, every_steps: 60, y: 180 }] },
    { at_seconds: 599, spawns: [{ kind: "drone" }] },
  );
  const state = gameOf(levels, 0);
  /** @type {string[]} */
  const events = [];
  while (state.phase === Phase.Waves && state.step < 6_000) {
    state.advance(levels, IDLE);
    for (const { type } of state.events) if (/^Ship(Down|Back)|^Game/.test(type)) events.push(type);
  }
  assert.deepEqual(events, ["ShipDown", "ShipBack", "ShipDown", "ShipBack", "ShipDown", "GameLost"]);
  assert.equal(shipOf(state, 0).isOut(), true);
});

test("bots fight through the waves of a level, without a network", () => {
  const levels = levelsOfTheGame();
  const state = new State(levels, 1, 3);
  const seats = [0, 1, 2, 3];
  for (const seat of seats) state.addShip(seat);
  const seen = new Set();
  while (state.phase === Phase.Waves && state.step < 60 * 180) {
    state.advance(
      levels,
      seats.map((seat) => bot.buttons(state, seat)),
    );
    for (const event of [...state.events]) {
      seen.add(event.type);
      if (event.type !== "Beam") continue;
      for (const enemy of state.beamTargets(event.seat)) state.strike(event.seat, enemy);
    }
    for (const seat of seats) bot.choose(state, seat);
  }
  assert.notEqual(state.phase, Phase.Waves);
  for (const type of ["LevelBegan", "WaveBegan", "ShotFired", "Beam", "EnemyKilled", "CapsuleTaken"]) {
    assert.ok(seen.has(type), type);
  }
});

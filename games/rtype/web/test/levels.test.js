/** Level files: good ones, and what is said about bad ones. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { EnemyKind, LEVELS_MAX, LevelError, Levels } from "../rules/index.js";
import { levelsOfTheGame, vectors } from "./games.js";

const { good, cases } = vectors("levels.json");

test("a good file is what it says, and what it does not say is as usual", () => {
  const level = Levels.parse("good.json", good);
  assert.deepEqual([level.name, level.seconds, level.boss], ["Good", 30, EnemyKind.Warden]);
  assert.deepEqual([level.debrisEverySteps, level.endless, level.waves.length], [100, false, 2]);
  const [first] = level.waves[0].spawns;
  const members = [0, 1, 2, 3, 4];
  assert.deepEqual(
    members.map((member) => first.stepOf(member)),
    [20, 10, 0, 10, 20],
  );
  assert.deepEqual(
    members.map((member) => first.yOf(member, 0)),
    [220, 310, 400, 490, 580],
  );
  const [turret] = level.waves[1].spawns;
  assert.deepEqual(
    { ...turret },
    {
      kind: EnemyKind.Turret,
      count: 1,
      afterSteps: 0,
      everySteps: 20,
      formation: "line",
      x: 1660,
      y: 450,
      spread: 80,
      speed: 0,
      fireEverySteps: 0,
      capsule: false,
    },
  );
});

test("what is wrong is told with file and field, in the words of the server", () => {
  assert.ok(cases.length >= 40);
  for (const { part, replacement, said } of cases) {
    const level = good.replace(part ?? good, () => replacement);
    assert.notEqual(level, good);
    assert.throws(
      () => Levels.parse("bad.json", level),
      (error) => {
        assert.ok(error instanceof LevelError);
        assert.equal(error.what, said);
        assert.equal(error.message, `bad.json: ${said}`);
        return true;
      },
    );
  }
});

test("what is no JSON, or no text, is refused by the name of the file", () => {
  for (const text of ["", good.slice(0, 60), "[".repeat(100_000), `${good}}`]) {
    assert.throws(() => Levels.parse("cut.json", text), { name: "LevelError", file: "cut.json" });
  }
  for (const name of ["\u0007", "\u0085", "half of a character \ud800", "x".repeat(41)]) {
    const level = good.replace('"Good"', () => JSON.stringify(name));
    assert.throws(() => Levels.parse("name.json", level), /^LevelError: name\.json: .*`name`/);
  }
  assert.ok(Levels.parse("name.json", good.replace("Good", "🚀".repeat(40))));
});

test("levels have an order, an end, and an endless one only for who asks for it", () => {
  const levels = levelsOfTheGame();
  assert.ok(levels.length >= 4);
  assert.ok(levels.get(levels.length).endless);
  assert.equal(levels.after(1), 2);
  assert.equal(levels.after(levels.length - 1), null);
  assert.equal(levels.after(levels.length), null);
  assert.equal(levels.get(77), levels.get(levels.length));
  assert.equal(levels.get(0), levels.get(1));
  assert.throws(() => new Levels([]), RangeError);
  assert.equal(new Levels(Array(40).fill(levels.get(1))).length, LEVELS_MAX);
});

/** The field with everybody on it, as it is shown or as the server last said. */

import { BOSS_LOOKS, HEARTS } from "/rtype/draw/bosses.js";
import { LOOKS } from "/rtype/draw/enemies.js";
import { GHOST } from "/rtype/draw/palette.js";
import { drawShip, traceShip } from "/rtype/draw/ships.js";
import { circle, light, solid, stamp, stampTurned } from "/rtype/draw/sprites.js";
import { capsuleSprite, rockScale, rockSprite, shotSprite } from "/rtype/draw/things.js";
import { MOOD_CALLS, MOOD_GATHERS, MOOD_WORST } from "/rtype/rules/boss.js";
import { HEIGHT, NO_SEAT, WIDTH } from "/rtype/rules/constants.js";
import { MOOD_RUSH, MOOD_WARNING } from "/rtype/rules/enemy.js";
import { EnemyKind, ShotKind } from "/rtype/rules/kinds.js";

/** @typedef {import("/rtype/cast.js").Cast} Cast */
/** @typedef {import("/rtype/cast.js").EnemyActor} EnemyActor */
/** @typedef {import("/rtype/draw/sprites.js").Sprites} Sprites */

const HIT_MS = 75;
const FLASH = "rgba(255,255,255,0.8)";
/** For what is large and hit all the time, and for those who want less of it. */
const SOFT_FLASH = "rgba(255,255,255,0.25)";
const STEPS_PER_MS = 0.06;
/** What the server said is worth an outline if it is so far from what is shown, in units. */
const GHOST_UNITS = 3;
/** How much of a lean is taken over in a frame. */
const LEAN_EASE = 0.18;

/**
 * Draws what is in the field.
 * @param {CanvasRenderingContext2D} context in units
 * @param {Sprites} sprites
 * @param {Cast} cast
 * @param {{ isTruth: boolean, isStill: boolean }} how
 */
export function drawCast(context, sprites, cast, { isTruth, isStill }) {
  const step = cast.nowMs * STEPS_PER_MS;
  /** @param {import("/rtype/cast.js").Actor} actor */
  const isShown = (actor) => !isTruth || actor.isTold;
  for (const rock of cast.debris) {
    if (!isShown(rock)) continue;
    const [x, y] = placeOf(rock, isTruth);
    const { image, halfWidth, halfHeight } = rockSprite(sprites, rock.id);
    const scale = rockScale(rock.size);
    const sprite = { image, halfWidth: halfWidth * scale, halfHeight: halfHeight * scale };
    stampTurned(
      context,
      sprite,
      x,
      y,
      isStill ? rock.id : rock.id + step * 0.006 * (rock.id % 2 === 0 ? 1 : -1),
    );
  }
  for (const capsule of cast.capsules) {
    if (!isShown(capsule)) continue;
    const [x, y] = placeOf(capsule, isTruth);
    const bob = isStill || isTruth ? 0 : 3 * Math.sin(step / 14);
    stamp(context, capsuleSprite(sprites, capsule.power), x, y + bob);
  }
  for (const enemy of cast.enemies) {
    if (!isShown(enemy)) continue;
    const [x, y] = placeOf(enemy, isTruth);
    drawEnemy(context, sprites, enemy, x, y, step, cast.nowMs, isStill);
  }
  for (const ship of cast.ships) {
    if (ship.down > 0 || !isShown(ship)) continue;
    const [x, y] = placeOf(ship, isTruth);
    const thrust = Math.max(-1, Math.min(1, (ship.x - ship.lastX) / 6));
    ship.thrust += (thrust - ship.thrust) * LEAN_EASE;
    drawShip(context, sprites, ship, x, y, { step, isStill });
  }
  for (const shot of cast.shots) {
    if (!isShown(shot)) continue;
    const [x, y] = placeOf(shot, isTruth);
    const sprite = shotSprite(sprites, shot.kind, shot.seat);
    const [dx, dy] = [shot.x - shot.lastX, shot.y - shot.lastY];
    if (shot.seat !== NO_SEAT && shot.kind !== ShotKind.Lance && dx !== 0) shot.angle = Math.atan2(dy, dx);
    if (shot.angle === 0) stamp(context, sprite, x, y);
    else stampTurned(context, sprite, x, y, shot.angle);
  }
}

/**
 * @param {import("/rtype/cast.js").Actor} actor
 * @param {boolean} isTruth
 */
function placeOf(actor, isTruth) {
  return isTruth ? [actor.truthX, actor.truthY] : [actor.x, actor.y];
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Sprites} sprites
 * @param {EnemyActor} enemy
 * @param {number} x
 * @param {number} y
 * @param {number} step
 * @param {number} nowMs
 * @param {boolean} isStill
 */
function drawEnemy(context, sprites, enemy, x, y, step, nowMs, isStill) {
  const look = LOOKS.get(enemy.kind) ?? BOSS_LOOKS.get(enemy.kind);
  if (look === undefined) return;
  const { halfWidth, halfHeight, paint } = look;
  const name = `enemy ${enemy.kind}`;
  const isBoss = BOSS_LOOKS.has(enemy.kind);
  const isHit = nowMs - enemy.hitMs < HIT_MS;
  const sprite = isHit
    ? sprites.flat(name, halfWidth, halfHeight, paint, isBoss || isStill ? SOFT_FLASH : FLASH)
    : sprites.get(name, halfWidth, halfHeight, paint);
  if (isBoss) drawThreat(context, sprites, enemy, x, y, step);
  else if (warns(enemy.kind) && enemy.mood === MOOD_WARNING)
    drawWarning(context, x, y, Math.min(halfWidth, halfHeight), step, isStill);
  if (enemy.kind === EnemyKind.Dasher && enemy.mood === MOOD_RUSH) drawRush(context, sprites, x, y);
  const lean = Math.max(-0.4, Math.min(0.4, (enemy.lastY - enemy.y) * 0.06));
  enemy.tilt += ((leans(enemy.kind) ? lean : 0) - enemy.tilt) * LEAN_EASE;
  if (Math.abs(enemy.tilt) < 0.01) stamp(context, sprite, x, y);
  else stampTurned(context, sprite, x, y, enemy.tilt);
}

/** @param {number} kind */
const warns = (kind) => kind === EnemyKind.Turret || kind === EnemyKind.Dasher;

/** @param {number} kind */
const leans = (kind) => kind === EnemyKind.Weaver || kind === EnemyKind.Hunter;

/**
 * About to fire or to rush: a ring that closes in.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {number} step
 * @param {boolean} isStill
 */
function drawWarning(context, x, y, radius, step, isStill) {
  const pulse = isStill ? 0.5 : (step / 24) % 1;
  context.beginPath();
  context.arc(x, y, radius * (1.7 - 0.7 * pulse), 0, 2 * Math.PI);
  context.lineWidth = 4;
  context.strokeStyle = `rgba(255,80,60,${0.35 + 0.5 * pulse})`;
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Sprites} sprites
 * @param {number} x
 * @param {number} y
 */
function drawRush(context, sprites, x, y) {
  const sprite = sprites.get("rush", 90, 16, (paint) => {
    const gradient = paint.createLinearGradient(-90, 0, 90, 0);
    gradient.addColorStop(0, "rgba(45,240,212,0.9)");
    gradient.addColorStop(1, "rgba(45,240,212,0)");
    paint.fillStyle = gradient;
    paint.fillRect(-90, -12, 180, 24);
  });
  context.globalCompositeOperation = "lighter";
  stamp(context, sprite, x + 110, y);
  context.globalCompositeOperation = "source-over";
}

/**
 * A boss that gathers or does its worst: its heart glows.
 * @param {CanvasRenderingContext2D} context
 * @param {Sprites} sprites
 * @param {EnemyActor} boss
 * @param {number} x
 * @param {number} y
 * @param {number} step
 */
function drawThreat(context, sprites, boss, x, y, step) {
  const isWorst = boss.mood === MOOD_WORST;
  if (!isWorst && boss.mood !== MOOD_GATHERS && boss.mood !== MOOD_CALLS) return;
  const colour = boss.mood === MOOD_CALLS ? "120,200,255" : "255,70,60";
  const sprite = sprites.get(`threat ${colour}`, 240, 240, (paint) => {
    solid(
      paint,
      circle(0, 0, 240),
      light(paint, 0, 0, 240, [`rgba(${colour},0.95)`, `rgba(${colour},0.35)`, `rgba(${colour},0)`]),
    );
  });
  const size = (isWorst ? 1 : 0.75) + 0.12 * Math.sin(step / 5);
  context.globalCompositeOperation = "lighter";
  stamp(
    context,
    { ...sprite, halfWidth: 240 * size, halfHeight: 240 * size },
    x + (HEARTS.get(boss.kind) ?? 0),
    y,
  );
  context.globalCompositeOperation = "source-over";
}

/**
 * Outlines of where the server last said that things are.
 * @param {CanvasRenderingContext2D} context in units
 * @param {Cast} cast
 */
export function drawGhosts(context, cast) {
  context.strokeStyle = GHOST;
  context.lineWidth = 2;
  context.setLineDash([7, 5]);
  /** @param {import("/rtype/cast.js").Actor} actor */
  const isElsewhere = ({ x, y, truthX, truthY, isTold }) =>
    isTold && Math.hypot(x - truthX, y - truthY) > GHOST_UNITS;
  for (const ship of cast.ships) {
    if (ship.down === 0 && isElsewhere(ship)) traceShip(context, ship.truthX, ship.truthY);
  }
  for (const enemy of cast.enemies) {
    const look = LOOKS.get(enemy.kind) ?? BOSS_LOOKS.get(enemy.kind);
    if (look === undefined || !isElsewhere(enemy)) continue;
    context.translate(enemy.truthX, enemy.truthY);
    context.stroke(look.outline);
    context.translate(-enemy.truthX, -enemy.truthY);
  }
  context.setLineDash([]);
  context.globalAlpha = 0.8;
  for (const shot of cast.shots) {
    if (!isElsewhere(shot)) continue;
    context.beginPath();
    context.arc(shot.truthX, shot.truthY, 7, 0, 2 * Math.PI);
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** Beyond the field is nothing. @param {CanvasRenderingContext2D} context in units */
export function clipField(context) {
  context.beginPath();
  context.rect(0, 0, WIDTH, HEIGHT);
  context.clip();
}

/** What happened in a step, for whoever shows or tells it. Only types: an event is a plain object. */

/**
 * Something that happened. Places are in units, seats from 0 on.
 *
 * - `ShotFired`: a shot is there. Its index counts those of the same ship in the same step, as `stepShip`
 *   does; `seat` is `NO_SEAT` for those of enemies.
 * - `Beam`: a beam was fired, from the nose of a ship. What it hits is for `State.strike` to say.
 * - `EnemyKilled`: an enemy is gone, by a ship's doing.
 * - `ShipHit`: a shield took a hit, or nothing was lost because the level is endless.
 * - `ShipDown`: a ship is down. With no lives left it is out until the next level.
 * - `ShipBack`: a ship is back at its start.
 * - `CapsuleSpawned`: an enemy left a capsule.
 * - `CapsuleTaken`: a ship took a capsule: an offer follows.
 * - `PowerOffered`, `WeaponOffered`: a ship may choose.
 * - `PowerTaken`, `WeaponTaken`: a ship has it now, at that level.
 * - `LevelBegan`, `WaveBegan`, `BossSpawned`, `LevelCleared`: what they say.
 * - `GameLost`: nobody is left.
 * - `GameWon`: the last level is done.
 *
 * @typedef {(
 *   | { type: "ShotFired", id: number, kind: number, seat: number, index: number, x: number, y: number }
 *   | { type: "Beam", seat: number, x: number, y: number }
 *   | { type: "EnemyKilled", id: number, kind: number, x: number, y: number, by: number }
 *   | { type: "ShipHit", seat: number }
 *   | { type: "ShipDown", seat: number, x: number, y: number, lives: number }
 *   | { type: "ShipBack", seat: number }
 *   | { type: "CapsuleSpawned", id: number, x: number, y: number, power: number }
 *   | { type: "CapsuleTaken", id: number, seat: number }
 *   | { type: "PowerOffered", seat: number, offer: number, powers: readonly number[] }
 *   | { type: "PowerTaken", seat: number, power: number, level: number }
 *   | { type: "WeaponOffered", seat: number, offer: number, weapons: readonly number[] }
 *   | { type: "WeaponTaken", seat: number, weapon: number, level: number }
 *   | { type: "LevelBegan", level: number }
 *   | { type: "WaveBegan", wave: number }
 *   | { type: "BossSpawned", id: number, kind: number }
 *   | { type: "LevelCleared", level: number }
 *   | { type: "GameLost" }
 *   | { type: "GameWon" }
 * )} Event
 */

export {};

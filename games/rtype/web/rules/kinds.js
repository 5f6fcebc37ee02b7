/**
 * The words of the game: what there is, and what can be pressed.
 *
 * Each has a number, from 0 on in the order given here, as on the wire and in the hash of a state. The names
 * are those that a client declares its choices with: `field.choice(...Object.keys(Weapon))`.
 */

/** What a ship fires. */
export const Weapon = Object.freeze({
  /** Straight ahead, one after the other. */
  Cannon: 0,
  /** A fan. */
  Spread: 1,
  /** Few that go through what they hit. */
  Lance: 2,
  /** Slow ones that turn towards their targets. */
  Seeker: 3,
});

/** What an enemy is. */
export const EnemyKind = Object.freeze({
  /** Straight ahead. */
  Drone: 0,
  /** Up and down on its way. */
  Weaver: 1,
  /** Comes for the nearest ship. */
  Hunter: 2,
  /** Slow; aims and fires. */
  Turret: 3,
  /** Waits, then rushes. */
  Dasher: 4,
  /** Large; lets drones out. */
  Carrier: 5,
  /** The first boss. */
  Warden: 6,
  /** The second boss. */
  Leviathan: 7,
});

/** What a shot is. */
export const ShotKind = Object.freeze({
  /** Of the cannon and the spread. */
  Bolt: 0,
  /** Of the lance. */
  Lance: 1,
  /** Of the seeker. */
  Seeker: 2,
  /** An enemy's. */
  Pellet: 3,
  /** A boss's. */
  Orb: 4,
});

/** What can be had from a capsule. */
export const Power = Object.freeze({
  /** Faster. */
  Thrusters: 0,
  /** Takes hits. */
  Shield: 1,
  /** A companion that fires, too. */
  Drone: 2,
});

/** What the game is about to do. */
export const Phase = Object.freeze({
  /** A level's waves. */
  Waves: 0,
  /** A boss is here. */
  Boss: 1,
  /** The level is done, the next one is near. */
  Cleared: 2,
  /** Nobody is left. */
  Lost: 3,
  /** The last level is done. */
  Won: 4,
});

/** What can be pressed: bits of a mask. The first five are those of the classic protocol. */
export const Button = Object.freeze({
  UP: 0x01,
  DOWN: 0x02,
  LEFT: 0x04,
  RIGHT: 0x08,
  SHOOT: 0x10,
  BEAM: 0x20,
});
/** How many buttons there are. */
export const BUTTONS = 6;

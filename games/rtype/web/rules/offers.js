/**
 * Offers: what a ship may choose, and what a choice does.
 *
 * A choice takes as long as a player takes, and comes over a network: it may be late, twice, or made up. So
 * an offer has a number that never comes again in a game, a ship has at most one of each kind at a time, and
 * a choice names the offer it means. Whatever does not fit is refused and changes nothing. Who does not
 * answer gets the first choice.
 */

import { SEATS } from "./constants.js";
import { Phase, Power, Weapon } from "./kinds.js";
import { AMMO_MAX, SCORE_MAX, SHIELD_HITS, SHIELD_MAX, THRUSTERS_MAX } from "./ship.js";
import { WEAPON_LEVEL_MAX } from "./weapons.js";

/** @typedef {import("./state.js").State} State */

/** Steps until an offer without an answer takes its first choice. */
export const OFFER_STEPS = 900;
/** Powers of an offer. */
export const POWERS = 3;
/** Weapons of an offer. */
export const WEAPONS = 2;
/** Weapon offers that wait for the present one, at most. */
const OWED_MAX = 9;
/** Points for a power that a ship has all of already. */
const POINTS_FOR_MORE = 500;
/** Shots that come with a power. */
const AMMO_OF_CAPSULE = 25;
/** Points of the first weapon offer. The n-th is at n (n + 1) / 2 times as many. */
const WEAPON_MARK = 2500;
const OFFER_ID_MAX = 0xffff;

const ALL_WEAPONS = Object.keys(Weapon).length;

/**
 * Something to choose from.
 * @typedef {object} Offer
 * @property {number} id its number
 * @property {readonly number[]} choices what can be chosen, by its place in here
 * @property {number} left steps until it takes the first
 */

/**
 * What a ship may choose.
 * @typedef {object} Offers
 * @property {Offer | null} power of a capsule
 * @property {Offer | null} weapon of the end of a level, or of its points
 * @property {number} owed weapon offers that come when the present one is answered
 * @property {number} marks weapon offers that it had for its points
 */

/** Why a choice was not taken. */
export const Refused = Object.freeze({
  /** There is no ship in that seat. */
  NoShip: "there is no ship in this seat",
  /** Answered, run out, or never made. */
  NoSuchOffer: "this offer is not open: answer the newest one, once",
  /** Beyond what was offered. */
  NoSuchChoice: "this choice was not offered: choose by its place in the offer, from 0 on",
});

/**
 * Takes one of the powers that a ship was offered, by its place in the offer. Returns null, or why not.
 * @param {State} state
 * @param {number} seat
 * @param {number} offer
 * @param {number} choice
 */
export function choosePower(state, seat, offer, choice) {
  return choose("power", givePower, state, seat, offer, choice);
}

/**
 * Takes one of the weapons that a ship was offered, by its place in the offer. Returns null, or why not.
 * @param {State} state
 * @param {number} seat
 * @param {number} offer
 * @param {number} choice
 */
export function chooseWeapon(state, seat, offer, choice) {
  return choose("weapon", giveWeapon, state, seat, offer, choice);
}

/**
 * @param {"power" | "weapon"} kind
 * @param {(state: State, seat: number, chosen: number) => void} give
 * @param {State} state
 * @param {number} seat
 * @param {number} offer
 * @param {number} choice
 */
function choose(kind, give, state, seat, offer, choice) {
  const ship = state.ships[seat] ?? null;
  if (ship === null) return Refused.NoShip;
  const open = ship.offers[kind];
  if (open === null || open.id !== offer) return Refused.NoSuchOffer;
  const chosen = open.choices[choice];
  if (chosen === undefined) return Refused.NoSuchChoice;
  ship.offers[kind] = null;
  give(state, seat, chosen);
  return null;
}

/** @param {State} state @param {number} seat @param {number} power */
function givePower(state, seat, power) {
  const ship = state.ships[seat];
  if (ship === null) return;
  const { pilotage } = ship;
  pilotage.ammo = Math.min(pilotage.ammo + AMMO_OF_CAPSULE, AMMO_MAX);
  let had;
  let level;
  if (power === Power.Thrusters) {
    had = pilotage.thrusters;
    level = pilotage.thrusters = Math.min(had + 1, THRUSTERS_MAX);
  } else if (power === Power.Shield) {
    had = ship.shield;
    level = ship.shield = Math.min(had + SHIELD_HITS, SHIELD_MAX);
  } else {
    had = Number(pilotage.drone);
    level = 1;
    pilotage.drone = true;
  }
  state.events.push({ type: "PowerTaken", seat, power, level });
  if (had === level) addScore(state, seat, POINTS_FOR_MORE);
}

/** @param {State} state @param {number} seat @param {number} weapon */
function giveWeapon(state, seat, weapon) {
  const ship = state.ships[seat];
  if (ship === null) return;
  const { pilotage, offers } = ship;
  if (pilotage.weapon === weapon) {
    pilotage.weaponLevel = Math.min(pilotage.weaponLevel + 1, WEAPON_LEVEL_MAX);
  }
  pilotage.weapon = weapon;
  state.events.push({ type: "WeaponTaken", seat, weapon, level: pilotage.weaponLevel });
  if (offers.owed > 0) {
    offers.owed -= 1;
    offerWeapon(state, seat);
  }
}

/**
 * Offers the three powers, that of the capsule first.
 * @param {State} state
 * @param {number} seat
 * @param {number} first
 */
export function offerPower(state, seat, first) {
  const id = newOffer(state);
  const ship = state.ships[seat];
  if (ship === null) return;
  const powers = [first, (first + 1) % POWERS, (first + 2) % POWERS];
  ship.offers.power = { id, choices: powers, left: OFFER_STEPS };
  state.events.push({ type: "PowerOffered", seat, offer: id, powers });
}

/**
 * Offers two weapons: what the ship has, to be raised, and another; or two others when it cannot be raised.
 * While one is open, it waits.
 * @param {State} state
 * @param {number} seat
 */
export function offerWeapon(state, seat) {
  const ship = state.ships[seat];
  if (ship === null) return;
  if (ship.offers.weapon !== null) {
    ship.offers.owed = Math.min(ship.offers.owed + 1, OWED_MAX);
    return;
  }
  const { weapon, weaponLevel } = ship.pilotage;
  const other = 1 + state.random(ALL_WEAPONS - 1);
  const second = (weapon + other) % ALL_WEAPONS;
  const first = weaponLevel < WEAPON_LEVEL_MAX ? weapon : (weapon + 1 + (other % 3)) % ALL_WEAPONS;
  const id = newOffer(state);
  const weapons = [first, second];
  ship.offers.weapon = { id, choices: weapons, left: OFFER_STEPS };
  state.events.push({ type: "WeaponOffered", seat, offer: id, weapons });
}

/**
 * Gives points, and a weapon offer for each mark that they pass. What the score was at the end stays so.
 * @param {State} state
 * @param {number} seat
 * @param {number} points
 */
export function addScore(state, seat, points) {
  const ship = state.ships[seat] ?? null;
  const isOver = state.phase === Phase.Won || state.phase === Phase.Lost;
  if (ship === null || isOver) return;
  ship.score = Math.min(ship.score + points, SCORE_MAX);
  let next = ship.offers.marks + 1;
  while (ship.score >= (WEAPON_MARK * next * (next + 1)) >> 1) {
    ship.offers.marks = next;
    offerWeapon(state, seat);
    next += 1;
  }
}

/**
 * One step of every open offer.
 * @param {State} state
 */
export function stepOffers(state) {
  for (let seat = 0; seat < SEATS; seat++) {
    const ship = state.ships[seat];
    if (ship === null) continue;
    const { offers } = ship;
    const power = passTime(offers.power);
    const weapon = passTime(offers.weapon);
    // Both are closed before either is given: what is given may open another.
    if (power !== null) offers.power = null;
    if (weapon !== null) offers.weapon = null;
    if (power !== null) givePower(state, seat, power.choices[0]);
    if (weapon !== null) giveWeapon(state, seat, weapon.choices[0]);
  }
}

/**
 * One step of an offer. Returns it when its time is over.
 * @param {Offer | null} offer
 */
function passTime(offer) {
  if (offer === null) return null;
  offer.left -= 1;
  return offer.left <= 0 ? offer : null;
}

/** @param {State} state */
function newOffer(state) {
  state.nextOffer = state.nextOffer === OFFER_ID_MAX ? 1 : state.nextOffer + 1;
  return state.nextOffer;
}

//! The rules of R-TYPE: what happens in a step.
//!
//! A page that predicts, an attract mode without a network and the server must come to the same result, or players
//! see corrections. So the rules are whole numbers of 32 bits only, with one source of chance inside the state and
//! every list in a fixed order: no clock, no float, no hashing map. The same rules in JavaScript are in `web/rules`;
//! both are held to the same recorded hashes.
//!
//! The field is [`WIDTH`] by [`HEIGHT`] units, x to the right and y downwards, and a second has
//! [`STEPS_PER_SECOND`] steps.
//!
//! ```text
//!   a step:  the level sends what is due ─▶ shots fly ─▶ enemies move and fire ─▶ capsules and debris drift
//!            ─▶ ships fly and fire ─▶ what touches, touches ─▶ offers run out ─▶ boss, next level, end
//! ```
//!
//! What comes into being in a step is there at its end, and moves from the next one on. A beam is only announced
//! ([`Event::Beam`]): whoever runs the game says what it hit ([`State::strike`]), by what its player saw or by what is.

mod boss;
pub mod bot;
mod collide;
mod enemy;
mod event;
mod hash;
mod kinds;
mod levels;
pub mod log;
mod math;
mod offers;
mod ship;
mod shot;
mod stage;
mod weapons;

pub use boss::{MOOD_ARRIVES, MOOD_CALLS, MOOD_GATHERS, MOOD_RETURNS, MOOD_STEADY, MOOD_WORST};
pub use collide::{beam_crosses, beam_stops};
pub use enemy::{Enemy, MOOD_CALM, MOOD_RUSH, MOOD_WARNING, Traits, is_boss, traits};
pub use event::Event;
pub use kinds::{EnemyKind, Phase, Power, ShotKind, Weapon, buttons};
pub use levels::{Formation, LEVELS_MAX, Level, LevelError, Levels, SPAWNS_MAX, Spawn, WAVES_MAX, Wave};
pub use offers::{OFFER_STEPS, Offer, Offers, POWERS, Refused, WEAPONS};
pub use ship::*;
pub use shot::{CAPSULE_HALF, Capsule, Debris, Shot};
pub use stage::CLEARED_STEPS;
pub use weapons::{BEAM_DAMAGE, COMPANION, Launch, VOLLEY_MAX, WEAPON_LEVEL_MAX};

/// Units from the left edge of the field to the right one.
pub const WIDTH: i32 = 1_600;
/// Units from the upper edge of the field to the lower one.
pub const HEIGHT: i32 = 900;
/// Ships at most.
pub const SEATS: usize = 4;
/// Steps of a second.
pub const STEPS_PER_SECOND: u32 = 60;
/// The seat of shots that enemies fired.
pub const NO_SEAT: u8 = SEATS as u8;
/// What the beam takes of a ship's energy, and all that a ship has at most.
pub const BEAM_ENERGY: u8 = 90;
/// How far from the field anything is at most.
pub const MARGIN: i32 = 200;

/// Enemies at a time. What would be more does not come.
pub const ENEMIES_MAX: usize = 64;
/// Shots of enemies at a time: a boss fills the field with far fewer.
pub const ENEMY_SHOTS_MAX: usize = 96;
/// Shots of a ship at a time: as many as it can have in the air with the widest volley, so that none is ever missing that its player
/// has seen leave.
pub const SHIP_SHOTS_MAX: usize = 96;
/// Capsules at a time.
pub const CAPSULES_MAX: usize = 8;
/// Debris at a time.
pub const DEBRIS_MAX: usize = 40;

/// A game between two steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Steps since it began.
    pub step: u32,
    /// The level, from 1 on.
    pub level: u8,
    /// The wave of the level, from 1 on; 0 before the first.
    pub wave: u8,
    /// What is going on.
    pub phase: Phase,
    /// The ships, by seat.
    pub ships: [Option<Ship>; SEATS],
    /// The enemies, the older before the younger.
    pub enemies: Vec<Enemy>,
    /// The shots, the older before the younger.
    pub shots: Vec<Shot>,
    /// The capsules, the older before the younger.
    pub capsules: Vec<Capsule>,
    /// The debris, the older before the younger.
    pub debris: Vec<Debris>,
    /// What happened since the last step began.
    pub events: Vec<Event>,
    phase_steps: i32,
    level_steps: i32,
    endless: bool,
    rng: u32,
    next_id: u32,
    next_offer: u16,
}

impl State {
    /// A game without ships that is about to begin at a level (the last one, if there are fewer). The same seed, the same game.
    pub fn new(levels: &Levels, level: u8, seed: u32) -> State {
        let level = level.clamp(1, levels.len());
        State {
            step: 0,
            level,
            wave: 0,
            phase: Phase::Waves,
            ships: [None; SEATS],
            enemies: Vec::new(),
            shots: Vec::new(),
            capsules: Vec::new(),
            debris: Vec::new(),
            events: Vec::new(),
            phase_steps: 0,
            level_steps: 0,
            endless: levels.get(level).endless,
            rng: math::seeded(seed),
            next_id: 0,
            next_offer: 0,
        }
    }

    /// Puts a new ship into a seat that has none. There are [`SEATS`] seats.
    pub fn add_ship(&mut self, seat: usize) {
        if let Some(place @ None) = self.ships.get_mut(seat) {
            *place = Some(Ship::new(seat as u8));
        }
    }

    /// Takes the ship of a seat out of the game. What it fired flies on.
    pub fn remove_ship(&mut self, seat: usize) {
        if let Some(place) = self.ships.get_mut(seat) {
            *place = None;
        }
    }

    /// Whole seconds since the level began.
    pub fn level_seconds(&self) -> u32 {
        self.level_steps as u32 / STEPS_PER_SECOND
    }

    /// One step, with what each seat presses: a mask of [`buttons`].
    pub fn step(&mut self, levels: &Levels, pressed: &[u8; SEATS]) {
        self.events.clear();
        self.step = self.step.wrapping_add(1);
        self.step_level(levels);
        self.step_shots();
        self.step_enemies();
        self.leave_field();
        self.step_drift();
        self.step_ships(pressed);
        self.collide();
        self.step_offers();
        self.step_phase(levels);
    }

    fn step_ships(&mut self, pressed: &[u8; SEATS]) {
        for (seat, &pressed) in pressed.iter().enumerate() {
            let Some(ship) = &mut self.ships[seat] else { continue };
            let was_down = ship.pilotage.down > 0;
            let fired = step_ship(&mut ship.pilotage, pressed);
            let (flies, x, y) = (ship.flies(), ship.pilotage.x + NOSE, ship.pilotage.y);
            if was_down && flies {
                self.events.push(Event::ShipBack { seat });
            }
            for (index, launch) in fired.shots().iter().enumerate() {
                self.add_shot(launch, seat as u8, index);
            }
            if fired.beam {
                self.events.push(Event::Beam { seat, x, y });
            }
        }
    }

    /// Enemies that have passed, or got lost, are gone.
    fn leave_field(&mut self) {
        self.enemies.retain(|enemy| {
            enemy.x >= -MARGIN
                && enemy.x <= WIDTH + MARGIN
                && enemy.y >= -MARGIN
                && enemy.y <= HEIGHT + MARGIN
        });
    }

    fn add_enemy(&mut self, kind: EnemyKind, x: i32, y: i32) -> Option<&mut Enemy> {
        if self.enemies.len() >= ENEMIES_MAX {
            return None;
        }
        let of = traits(kind);
        let id = self.new_id();
        self.enemies.push(Enemy {
            id,
            kind,
            x,
            y,
            vx: -of.speed,
            vy: 0,
            health: of.health,
            health_max: of.health,
            mood: MOOD_CALM,
            timer: 0,
            fire_every: of.fire_every,
            fire_in: of.fire_every / 2,
            count: 0,
            carries: kind == EnemyKind::Carrier,
        });
        self.enemies.last_mut()
    }

    fn add_shot(&mut self, launch: &Launch, seat: u8, index: usize) {
        let count_max = if seat == NO_SEAT { ENEMY_SHOTS_MAX } else { SHIP_SHOTS_MAX };
        if self.shots.iter().filter(|shot| shot.seat == seat).count() >= count_max {
            return;
        }
        let Launch { kind, x, y, vx, vy, damage, life } = *launch;
        let id = self.new_id();
        self.shots.push(Shot { id, kind, seat, x, y, vx, vy, damage, life, struck: 0 });
        self.events.push(Event::ShotFired { id, kind, seat, index, x, y });
    }

    fn add_enemy_shot(&mut self, kind: ShotKind, x: i32, y: i32, vx: i32, vy: i32) {
        let life = shot::ENEMY_SHOT_LIFE_STEPS;
        self.add_shot(&Launch { kind, x, y, vx, vy, damage: 0, life }, NO_SEAT, 0);
    }

    fn add_capsule(&mut self, x: i32, y: i32) {
        if self.capsules.len() >= CAPSULES_MAX {
            return;
        }
        let power = offers::ALL_POWERS[self.random(POWERS as u32) as usize];
        let id = self.new_id();
        let (x, y) = (x.clamp(0, WIDTH - CAPSULE_HALF), y.clamp(CAPSULE_HALF, HEIGHT - CAPSULE_HALF));
        self.capsules.push(Capsule { id, x, y, vx: -2, power });
        self.events.push(Event::CapsuleSpawned { id, x, y, power });
    }

    fn add_debris(&mut self, debris: Debris) {
        if self.debris.len() < DEBRIS_MAX {
            let id = self.new_id();
            self.debris.push(Debris { id, ..debris });
        }
    }

    fn new_id(&mut self) -> u32 {
        self.next_id = self.next_id.wrapping_add(1);
        self.next_id
    }

    /// A number without a pattern below a limit.
    fn random(&mut self, limit: u32) -> u32 {
        self.rng = math::xorshift(self.rng);
        self.rng % limit
    }
}

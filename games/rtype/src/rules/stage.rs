//! How a game goes: levels, waves, the boss, the end.
//!
//! ```text
//!   Waves ──▶ Boss ──▶ Cleared ──▶ Waves of the next level, or Won
//!     └──────────┴──▶ Lost, as soon as every ship is out
//! ```

use super::enemy::is_boss;
use super::event::Event;
use super::kinds::{EnemyKind, Phase};
use super::levels::{Level, Levels, SPAWN_X};
use super::ship::AMMO_START;
use super::shot::Debris;
use super::{HEIGHT, SEATS, STEPS_PER_SECOND, State, WIDTH};

/// Steps between the end of a level and the next.
pub const CLEARED_STEPS: i32 = 300;
/// Steps after which a level whose waves are over goes on though there are enemies left.
const STRAGGLER_STEPS: i32 = 1_200;
/// Points for the end of a level, for each ship that is not out, times the level.
const CLEARED_POINTS: i32 = 1_000;

impl State {
    /// What the level sends in this step.
    pub(super) fn step_level(&mut self, levels: &Levels) {
        if self.phase == Phase::Cleared {
            self.phase_steps += 1;
            if self.phase_steps >= CLEARED_STEPS {
                self.leave_level(levels);
            }
        }
        if self.phase != Phase::Waves && self.phase != Phase::Boss {
            return;
        }
        let level = levels.get(self.level);
        if self.level_steps == 0 {
            self.events.push(Event::LevelBegan { level: self.level });
        }
        if level.debris_every_steps > 0 && self.level_steps % level.debris_every_steps == 0 {
            self.send_debris();
        }
        if self.phase == Phase::Waves {
            self.send_waves(level);
        }
        // Bounded, since an endless level may go on for days.
        self.level_steps = (self.level_steps + 1) & 0x00ff_ffff;
    }

    fn send_waves(&mut self, level: &Level) {
        let now = if level.endless { self.level_steps % level.steps() } else { self.level_steps };
        for (index, wave) in level.waves.iter().enumerate() {
            let since = now - wave.at_seconds * STEPS_PER_SECOND as i32;
            if since < 0 {
                return;
            }
            if since == 0 {
                self.wave = (index + 1) as u8;
                self.events.push(Event::WaveBegan { wave: self.wave });
            }
            for spawn in &wave.spawns {
                for member in 0..spawn.count {
                    if spawn.step_of(member) != since {
                        continue;
                    }
                    let random = self.random(0x10000);
                    let Some(enemy) = self.add_enemy(spawn.kind, spawn.x, spawn.y_of(member, random)) else {
                        continue;
                    };
                    if spawn.speed > 0 {
                        enemy.vx = -spawn.speed;
                    }
                    if spawn.fire_every_steps > 0 {
                        enemy.fire_every = spawn.fire_every_steps;
                        enemy.fire_in = spawn.fire_every_steps / 2;
                    }
                    if spawn.capsule && member == spawn.count - 1 {
                        enemy.carries = true;
                    }
                }
            }
        }
    }

    fn send_debris(&mut self) {
        let y = self.random(HEIGHT as u32) as i32;
        let vx = -2 - self.random(3) as i32;
        let vy = self.random(3) as i32 - 1;
        let size = 3 + self.random(4) as i32;
        self.add_debris(Debris { id: 0, x: WIDTH + 10 * size, y, vx, vy, size });
    }

    /// Whether it is time for what comes next.
    pub(super) fn step_phase(&mut self, levels: &Levels) {
        if self.phase != Phase::Waves && self.phase != Phase::Boss {
            return;
        }
        if self.everyone_is_out() {
            self.turn_to(Phase::Lost);
            self.events.push(Event::GameLost);
            return;
        }
        let level = levels.get(self.level);
        if self.phase == Phase::Boss {
            if !self.enemies.iter().any(|enemy| is_boss(enemy.kind)) {
                self.clear_level(levels);
            }
        } else if !level.endless && self.level_steps > level.steps() {
            let late = self.level_steps > level.steps() + STRAGGLER_STEPS;
            if self.enemies.is_empty() || late {
                match level.boss {
                    Some(kind) => self.send_boss(kind, level.boss_health),
                    None => self.clear_level(levels),
                }
            }
        }
    }

    fn send_boss(&mut self, kind: EnemyKind, health: i32) {
        self.turn_to(Phase::Boss);
        let ships = self.ships.iter().flatten().count() as i32;
        // The enemies that are late make room: it is the one that must come.
        self.enemies.clear();
        if let Some(boss) = self.add_enemy(kind, SPAWN_X + 130, HEIGHT / 2) {
            let health = if health > 0 { health } else { boss.health };
            boss.health = health * (2 * ships.max(1) + 1) / 3;
            boss.health_max = boss.health;
            let id = boss.id;
            self.events.push(Event::BossSpawned { id, kind });
        }
    }

    fn clear_level(&mut self, levels: &Levels) {
        self.enemies.clear();
        self.shots.retain(|shot| !State::is_enemys(shot));
        self.events.push(Event::LevelCleared { level: self.level });
        for seat in 0..SEATS {
            if self.ships[seat].as_ref().is_some_and(|ship| !ship.is_out()) {
                self.add_score(seat, CLEARED_POINTS * i32::from(self.level));
            }
        }
        if levels.after(self.level).is_none() {
            self.turn_to(Phase::Won);
            self.events.push(Event::GameWon);
            return;
        }
        self.turn_to(Phase::Cleared);
        for seat in 0..SEATS {
            self.offer_weapon(seat);
        }
    }

    fn leave_level(&mut self, levels: &Levels) {
        let Some(next) = levels.after(self.level) else { return };
        self.level = next;
        self.wave = 0;
        self.level_steps = 0;
        self.endless = levels.get(next).endless;
        self.turn_to(Phase::Waves);
        for seat in 0..SEATS {
            let Some(ship) = &mut self.ships[seat] else { continue };
            ship.pilotage.ammo = ship.pilotage.ammo.max(AMMO_START);
            if ship.is_out() {
                ship.lives = 1;
                ship.pilotage.come_back();
                self.events.push(Event::ShipBack { seat });
            }
        }
    }

    fn turn_to(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_steps = 0;
    }

    fn everyone_is_out(&self) -> bool {
        let mut anyone = false;
        for ship in self.ships.iter().flatten() {
            anyone = true;
            if !ship.is_out() {
                return false;
            }
        }
        anyone
    }
}

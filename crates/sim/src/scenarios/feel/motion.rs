//! Everybody else: objects that move in ways that show what interpolation makes of them.
//!
//! | kind | what it does | what it tries |
//! |---|---|---|
//! | patrol | to and fro on a line | sharp turns |
//! | circle | round and round, its velocity is known | curves, the cubic |
//! | stop and go | moves, rests, moves | silence that means rest |
//! | blinker | patrols, and is somewhere else at times | jumps |

use super::walk::distance;
use crate::rng::Rng;

/// How far a patrol, a blinker or one that stops and goes is from the middle of its zone, at most.
pub const ZONE_METRES: f64 = 6.0;
/// How far a blinker jumps.
pub const BLINK_METRES: f64 = 40.0;

/// How an object moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// To and fro.
    Patrol,
    /// On a circle of this radius.
    Circle {
        /// In metres.
        radius: f64,
    },
    /// In any direction, and not always.
    StopAndGo,
    /// To and fro, and between two homes at once.
    Blinker,
}

/// One object in motion, and where it ever was.
#[derive(Debug)]
pub struct Mover {
    /// How it moves.
    pub kind: Kind,
    /// How fast, in metres a second, when it does.
    pub speed: f64,
    home: [f64; 3],
    is_away: bool,
    place: [f64; 3],
    velocity: [f64; 3],
    /// Steps until it does something else.
    until_change: u32,
    until_blink: u32,
    rng: Rng,
    /// By step since the first.
    track: Vec<[f64; 3]>,
    /// The steps since the first at which it jumped.
    jumps: Vec<usize>,
}

impl Mover {
    /// One that begins at its home.
    pub fn new(kind: Kind, speed: f64, home: [f64; 3], rng: Rng) -> Mover {
        let place = match kind {
            Kind::Circle { radius } => [home[0] + radius, home[1], home[2]],
            _ => home,
        };
        let velocity = match kind {
            Kind::Patrol | Kind::Blinker => [speed, 0.0, 0.0],
            Kind::Circle { .. } => [0.0, speed, 0.0],
            Kind::StopAndGo => [0.0; 3],
        };
        Mover {
            kind,
            speed,
            home,
            is_away: false,
            place,
            velocity,
            until_change: 30,
            until_blink: 150,
            rng,
            track: vec![place],
            jumps: Vec::new(),
        }
    }

    /// Where it is.
    pub fn place(&self) -> [f64; 3] {
        self.place
    }

    /// Its velocity in metres a second.
    pub fn velocity(&self) -> [f64; 3] {
        self.velocity
    }

    /// Moves it by a step; whether it jumped. It jumps only in steps of which a snapshot tells.
    pub fn step(&mut self, seconds: f64, is_told: bool) -> bool {
        let number = self.track.len();
        match self.kind {
            Kind::Circle { radius } => {
                let angle = self.speed / radius * seconds * number as f64;
                let (sine, cosine) = angle.sin_cos();
                self.place = [self.home[0] + radius * cosine, self.home[1] + radius * sine, self.home[2]];
                self.velocity = [-self.speed * sine, self.speed * cosine, 0.0];
            }
            Kind::Patrol | Kind::StopAndGo | Kind::Blinker => self.walk(seconds),
        }
        self.until_blink = self.until_blink.saturating_sub(1);
        let jumps = self.kind == Kind::Blinker && is_told && self.until_blink == 0;
        if jumps {
            self.until_blink = 60 + self.rng.below(180) as u32;
            self.is_away = !self.is_away;
            self.place[0] += if self.is_away { BLINK_METRES } else { -BLINK_METRES };
            self.jumps.push(number);
        }
        self.track.push(self.place);
        jumps
    }

    fn walk(&mut self, seconds: f64) {
        let middle = self.zone(self.is_away);
        self.until_change = self.until_change.saturating_sub(1);
        let next: [f64; 3] = std::array::from_fn(|axis| self.place[axis] + self.velocity[axis] * seconds);
        let leaves = distance(next, middle) > ZONE_METRES.max(distance(self.place, middle));
        if self.until_change == 0 || leaves {
            self.until_change = 25 + self.rng.below(90) as u32;
            self.turn(middle, leaves);
        }
        for axis in 0..3 {
            self.place[axis] += self.velocity[axis] * seconds;
        }
    }

    fn turn(&mut self, middle: [f64; 3], leaves: bool) {
        if self.kind != Kind::StopAndGo {
            self.velocity[0] =
                if leaves { self.speed.copysign(middle[0] - self.place[0]) } else { -self.velocity[0] };
            return;
        }
        if self.velocity != [0.0; 3] {
            self.velocity = [0.0; 3];
            return;
        }
        let away = distance(self.place, middle);
        let angle = std::f64::consts::TAU * self.rng.unit();
        self.velocity = if away > ZONE_METRES / 2.0 {
            std::array::from_fn(|axis| (middle[axis] - self.place[axis]) / away * self.speed)
        } else {
            [self.speed * angle.cos(), self.speed * angle.sin(), 0.0]
        };
    }

    fn zone(&self, is_away: bool) -> [f64; 3] {
        [self.home[0] + if is_away { BLINK_METRES } else { 0.0 }, self.home[1], self.home[2]]
    }

    /// Where it was so many steps after the first, between them on the straight way, and before a jump where it was
    /// before.
    pub fn at(&self, steps: f64) -> [f64; 3] {
        // Times are whole microseconds: a step must not be missed by one of them.
        let (last, steps) = (self.track.len() - 1, steps + 1e-3);
        let before = (steps.max(0.0) as usize).min(last);
        let after = (before + 1).min(last);
        let part = if self.jumps.contains(&after) { 0.0 } else { (steps - before as f64).clamp(0.0, 1.0) };
        let (from, to) = (self.track[before], self.track[after]);
        std::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * part)
    }

    /// In which of its two zones a place is, with so much room around; `None` if it is in neither.
    pub fn zone_of(&self, place: [f64; 3], margin: f64) -> Option<bool> {
        let is_in = |is_away| distance(self.zone(is_away), place) <= ZONE_METRES + margin;
        [false, true].into_iter().find(|is_away| is_in(*is_away))
    }

    /// The steps since the first at which it jumped.
    pub fn jumps(&self) -> impl Iterator<Item = usize> {
        self.jumps.iter().copied()
    }

    /// Whether it jumped within these steps since the first, the first of them not counted.
    pub fn jumped_within(&self, after: f64, until: f64) -> bool {
        self.jumps.iter().any(|jump| after < *jump as f64 && *jump as f64 <= until)
    }
}

//! Who walks there: the targets, and the step that shooters share with the server.
//!
//! Targets do what makes players hard to hit: they strafe and turn back at once, walk in curves, and jump. All are as fast as
//! shooters of the genre are, so a view that is judged 20 ms beside what was shown is judged a hand's breadth beside.

use netloom_replica::Class;
use netloom_replica::input::Input;
use netloom_replica::server::rewind::{HitModel, HitPart, PartId, RewindError, Shape};
use netloom_replica::step::{Describe, Fields, Step};
use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{BitReader, BitWriter, Profile, ReadError, Schema};

use super::STEPS_PER_SECOND;
use crate::rng::Rng;
use crate::runner::Failure;

/// Half the width of anybody.
pub const RADIUS_METRES: f64 = 0.35;
/// Where one aims: the middle of the body.
pub const MIDDLE_METRES: f64 = 0.9;
/// Where one looks from.
pub const EYE_METRES: f64 = 1.6;
/// How fast shooters walk.
pub const WALK_METRES_PER_SECOND: f32 = 5.0;
/// The field that says who an object is.
pub const IDENTITY_FIELD: usize = 3;

const SECONDS: f64 = 1.0 / STEPS_PER_SECOND as f64;
const GRAVITY: f64 = 9.81;
const JUMP_METRES_PER_SECOND: f64 = 4.5;
const PUSH_METRES_PER_SECOND2: f64 = 40.0;
/// Targets turn back when they are so far from the middle.
const FIELD_METRES: f64 = 9.0;
/// The steps of an angle on the wire: a full turn has so many.
const TURN: f64 = 65_536.0;

/// The one class of objects.
pub fn classes() -> Result<Vec<Class>, Failure> {
    let public = SyncFlags::PUBLIC_SYNC;
    let schema = Schema::builder("walker")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
        .field("velocity", FieldKind::Velocity(Profile::Standard), public, 253)
        .field("identity", FieldKind::U64, public, 5)
        .build();
    let class = schema.map_err(Failure::setup).map(Class::new)?;
    Ok(vec![class.map_err(Failure::setup)?])
}

/// What can be hit of anybody: one upright capsule.
pub fn hit_model() -> Result<HitModel, RewindError> {
    let (low, high) = (RADIUS_METRES, 2.0 * MIDDLE_METRES - RADIUS_METRES);
    let body = Shape::capsule([0.0, 0.0, low], [0.0, 0.0, high], RADIUS_METRES)?;
    Ok(HitModel::new(&[HitPart { part: PartId(0), shape: body }])?.with_eye([0.0, 0.0, EYE_METRES])?)
}

/// How a target moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gait {
    Strafing,
    Turning,
    Jumping,
}

/// A target.
#[derive(Clone, Debug)]
pub struct Target {
    gait: Gait,
    rng: Rng,
    /// In metres.
    pub position: [f64; 3],
    /// In metres per second.
    pub velocity: [f64; 3],
    heading: f64,
    turning: f64,
    /// Steps until it changes its mind.
    change_steps: u64,
    wish: f64,
}

impl Target {
    /// The target of this number, somewhere in the field.
    pub fn new(number: usize, mut rng: Rng) -> Target {
        let gait = [Gait::Strafing, Gait::Turning, Gait::Jumping][number % 3];
        let position = [(number as f64 - 2.5) * 2.5, (rng.unit() - 0.5) * FIELD_METRES, 0.0];
        Target {
            gait,
            position,
            velocity: [0.0; 3],
            heading: rng.unit() * std::f64::consts::TAU,
            turning: 0.0,
            change_steps: 0,
            wish: if rng.chance(0.5) { 1.0 } else { -1.0 },
            rng,
        }
    }

    /// Which way it is turned.
    pub fn rotation(&self) -> [f32; 4] {
        let half = self.heading / 2.0;
        [0.0, 0.0, half.sin() as f32, half.cos() as f32]
    }

    /// One step of the server.
    pub fn step(&mut self) {
        if self.change_steps == 0 {
            self.change_steps = self.rng.between(30, 90);
            self.wish = -self.wish;
            self.turning = self.wish * (1.0 + 1.5 * self.rng.unit());
            if self.gait == Gait::Jumping {
                self.velocity[2] = JUMP_METRES_PER_SECOND;
            }
        }
        self.change_steps -= 1;
        match self.gait {
            Gait::Strafing | Gait::Jumping => self.strafe(),
            Gait::Turning => self.curve(),
        }
        self.velocity[2] -= GRAVITY * SECONDS;
        for axis in 0..3 {
            self.position[axis] += self.velocity[axis] * SECONDS;
        }
        if self.position[2] <= 0.0 {
            (self.position[2], self.velocity[2]) = (0.0, 0.0);
        }
    }

    fn strafe(&mut self) {
        if self.position[1] * self.wish > FIELD_METRES {
            self.wish = -self.wish;
        }
        let wanted = self.wish * 6.0;
        let most = PUSH_METRES_PER_SECOND2 * SECONDS;
        self.velocity[1] += (wanted - self.velocity[1]).clamp(-most, most);
    }

    fn curve(&mut self) {
        let [x, y, _] = self.position;
        // Outside of the field it turns towards the middle, the shorter way.
        let inward = y.atan2(x) + std::f64::consts::PI - self.heading;
        if x.hypot(y) > FIELD_METRES {
            self.turning = 3.0 * inward.sin().signum();
        }
        self.heading += self.turning * SECONDS;
        (self.velocity[0], self.velocity[1]) = (5.0 * self.heading.cos(), 5.0 * self.heading.sin());
    }
}

/// What a shooter does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buttons {
    /// Sideways: −1, 0 or 1.
    pub walk: i8,
    /// Where it shoots, if it does: angles in 65,536ths of a turn, to the left and upwards.
    pub shot: Option<(u16, u16)>,
}

impl Buttons {
    /// Nothing.
    pub const NEUTRAL: Buttons = Buttons { walk: 0, shot: None };
}

impl Input for Buttons {
    const BITS_MAX: u32 = 35;

    fn write(&self, writer: &mut BitWriter<'_>) {
        writer.write_bits((self.walk + 1).clamp(0, 2) as u64, 2);
        writer.write_bool(self.shot.is_some());
        if let Some((yaw, pitch)) = self.shot {
            writer.write_bits(yaw.into(), 16);
            writer.write_bits(pitch.into(), 16);
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Buttons, ReadError> {
        let walk = reader.read_bits(2)? as i8 - 1;
        if walk > 1 {
            return Err(ReadError::OutOfRange);
        }
        let shot = match reader.read_bool()? {
            true => Some((reader.read_bits(16)? as u16, reader.read_bits(16)? as u16)),
            false => None,
        };
        Ok(Buttons { walk, shot })
    }

    fn repeated(&self) -> Buttons {
        Buttons { shot: None, ..*self }
    }
}

/// The angles of a direction.
pub fn angles_of(direction: [f64; 3]) -> (u16, u16) {
    let [x, y, z] = direction;
    let parts = |angle: f64| (angle / std::f64::consts::TAU * TURN).round() as i64 as u16;
    (parts(y.atan2(x)), parts(z.atan2(x.hypot(y))))
}

/// The direction of angles.
pub fn direction_of((yaw, pitch): (u16, u16)) -> [f64; 3] {
    let [yaw, pitch] = [yaw, pitch].map(|parts| f64::from(parts) / TURN * std::f64::consts::TAU);
    [pitch.cos() * yaw.cos(), pitch.cos() * yaw.sin(), pitch.sin()]
}

/// How shooters walk, on both sides.
#[derive(Clone, Copy, Debug)]
pub struct Walk;

impl Step for Walk {
    type State = [f32; 3];
    type Input = Buttons;

    fn step(&self, position: &mut [f32; 3], buttons: &Buttons) {
        position[1] += f32::from(buttons.walk) * WALK_METRES_PER_SECOND / STEPS_PER_SECOND as f32;
    }
}

impl Describe for Walk {
    fn describe(&self, position: &[f32; 3], fields: &mut Fields) {
        fields.position("position", Profile::Standard, *position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_keep_a_direction_to_a_few_millimetres_at_25_metres() {
        for direction in [[1.0, 0.0, 0.0], [0.8, -0.6, 0.05], [-0.3, 0.95, -0.1], [0.99, 0.1, 0.2f64]] {
            let length = direction.iter().map(|part| part * part).sum::<f64>().sqrt();
            let back = direction_of(angles_of(direction));
            let off = (0..3).map(|axis| (back[axis] - direction[axis] / length).powi(2)).sum::<f64>().sqrt();
            assert!(off * 25.0 < 0.003, "{direction:?} is off by {off}");
        }
    }

    #[test]
    fn buttons_survive_the_wire_and_a_walk_that_is_none_is_refused() {
        for buttons in [Buttons::NEUTRAL, Buttons { walk: -1, shot: Some((65_535, 17)) }] {
            let mut bytes = [0; 8];
            let mut writer = BitWriter::new(&mut bytes);
            buttons.write(&mut writer);
            assert!(writer.finish().is_ok());
            assert_eq!(Buttons::read(&mut BitReader::new(&bytes)), Ok(buttons));
        }
        assert!(Buttons::read(&mut BitReader::new(&[0xff; 8])).is_err());
    }

    #[test]
    fn targets_stay_near_the_field_and_keep_moving() {
        for number in 0..6 {
            let mut target = Target::new(number, Rng::new(7).fork_index(number as u64));
            let mut way = 0.0;
            for _ in 0..6_000 {
                let before = target.position;
                target.step();
                way += (target.position[0] - before[0]).hypot(target.position[1] - before[1]);
                assert!(target.position.iter().all(|axis| axis.abs() < 20.0), "{target:?}");
            }
            assert!(way / 100.0 > 4.0, "{} metres a second", way / 100.0);
        }
    }
}

//! Walkers that never rest: the world of the replication benchmarks.
//!
//! Figures of different programs can be compared only if their worlds are the same. This one is the walk that the
//! comparison programs for other libraries use, number for number, from the same seed:
//!
//! ```text
//!   start   x, z in ±500 m, y in ±50 m, upright; an axis of its own for each walker
//!   step    60 a second: each coordinate moves by up to ±10 cm, and the walker turns by 2 to 6 degrees about its axis
//! ```
//!
//! Every coordinate of every walker moves at every step and independently of the last: nothing can be predicted from
//! its velocity, which makes positions the worst case for a codec that predicts. Rotations go on turning the same way.

use netloom_replica::world::{ObjectIndex, Spawn, World};
use netloom_replica::{Class, ClassId};
use netloom_wire::{ObjectId, Profile, SectorOrigin};

use super::{moving, moving_as, sector};
use crate::{SceneError, Source};

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The game's steps in one send tick: 60 Hz and 20 Hz.
pub const STEPS_PER_TICK: usize = 3;
const TICKS_PER_SECOND: u32 = 20;
/// Walkers of the usual scene.
pub const WALKERS: usize = 200;

/// Half the edge of the square that walkers start in, as the comparison programs have it.
pub const EXTENT_METRES: f32 = 500.0;
const HEIGHT_METRES: f32 = 50.0;

/// How far a coordinate moves in one step at most.
const STRIDE_METRES: f32 = 0.1;

/// Turn of one step: this angle, give or take the other.
const TURN_RADIANS: f32 = 0.07;
const TURN_SPREAD_RADIANS: f32 = 0.035;

/// Walkers by number.
#[derive(Clone, Debug)]
pub struct Walk {
    positions: Vec<[f32; 3]>,
    rotations: Vec<[f32; 4]>,
    axes: Vec<[f32; 3]>,
    random: u64,
}

impl Walk {
    /// Walkers in a square of twice `extent_metres`, x and z: those of the comparison programs.
    pub fn new(count: usize, extent_metres: f32) -> Walk {
        Walk::with_seed(count, extent_metres, 0)
    }

    /// Others for each seed; 0 are those of the comparison programs.
    pub fn with_seed(count: usize, extent_metres: f32, seed: u64) -> Walk {
        let random = SEED.wrapping_add(seed.wrapping_mul(0xBF58_476D_1CE4_E5B9)).max(1);
        let mut walk = Walk { positions: Vec::new(), rotations: Vec::new(), axes: Vec::new(), random };
        for _ in 0..count {
            let scales = [extent_metres, HEIGHT_METRES, extent_metres];
            let start = scales.map(|scale| walk.unit() * scale);
            walk.positions.push(start);
            walk.rotations.push([0.0, 0.0, 0.0, 1.0]);
            let tilted = [walk.unit(), walk.unit(), walk.unit() + 1.5];
            walk.axes.push(normalized(tilted));
        }
        walk
    }

    /// Where everybody is, in metres, y up.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// How everybody is turned: unit quaternions x y z w.
    pub fn rotations(&self) -> &[[f32; 4]] {
        &self.rotations
    }

    /// One sixtieth of a second for the first `count` walkers; the others rest.
    pub fn step(&mut self, count: usize) {
        for walker in 0..count.min(self.positions.len()) {
            for axis in 0..3 {
                self.positions[walker][axis] += self.unit() * STRIDE_METRES;
            }
            let (sine, cosine) = (0.5 * (TURN_RADIANS + TURN_SPREAD_RADIANS * self.unit())).sin_cos();
            let [x, y, z] = self.axes[walker].map(|component| component * sine);
            self.rotations[walker] = normalized(turned(self.rotations[walker], [x, y, z, cosine]));
        }
    }

    /// The next random number in [-1, 1): xorshift64, its top 24 bits.
    fn unit(&mut self) -> f32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

/// `rotation` after `turn`, both x y z w. The order of the terms decides the last bit and must stay.
fn turned(rotation: [f32; 4], turn: [f32; 4]) -> [f32; 4] {
    let [ax, ay, az, aw] = rotation;
    let [bx, by, bz, bw] = turn;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn normalized<const N: usize>(vector: [f32; N]) -> [f32; N] {
    let length = vector.iter().map(|component| component * component).sum::<f32>().sqrt();
    vector.map(|component| component / length)
}

/// Position and rotation, both STANDARD: 1 cm and 10 bits a component.
pub fn class() -> Class {
    moving("walker", |builder| builder)
}

/// The walk as a scene: 200 walkers, each with a sector origin near its start.
#[derive(Clone, Debug)]
pub struct WalkScene {
    classes: Vec<Class>,
    is_exact: bool,
    walk: Walk,
    objects: Vec<ObjectIndex>,
}

impl WalkScene {
    /// The walk of a seed; 0 is that of the comparison programs.
    pub fn new(seed: u64) -> WalkScene {
        WalkScene::with_walkers(seed, WALKERS)
    }

    /// So many walkers.
    pub fn with_walkers(seed: u64, count: usize) -> WalkScene {
        let walk = Walk::with_seed(count, EXTENT_METRES, seed);
        WalkScene { classes: vec![class()], is_exact: false, walk, objects: Vec::new() }
    }

    /// The same walk in whole singles, as the comparison programs send it: without quantization and sectors.
    pub fn exact(seed: u64) -> WalkScene {
        let classes = vec![moving_as(Profile::None, "walker", |builder| builder)];
        WalkScene { classes, is_exact: true, ..WalkScene::new(seed) }
    }
}

impl Source for WalkScene {
    fn name(&self) -> &str {
        "walk"
    }

    fn classes(&self) -> &[Class] {
        &self.classes
    }

    fn ticks_per_second(&self) -> u32 {
        TICKS_PER_SECOND
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        (0..STEPS_PER_TICK).for_each(|_| self.walk.step(usize::MAX));
        for (walker, position) in self.walk.positions.iter().enumerate() {
            let position = position.map(f64::from);
            if self.objects.len() == walker {
                let near = if self.is_exact { [0.0; 3] } else { sector(position) };
                let origin = SectorOrigin::default().moved_to(near).unwrap_or_default();
                let spawn = Spawn { origin, ..Spawn::new(ObjectId(walker as u64 + 1), ClassId(0)) };
                self.objects.push(world.spawn(spawn)?);
            }
            world.set_position(self.objects[walker], position)?;
            world.set_rotation(self.objects[walker], self.walk.rotations[walker])?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the comparison programs' generator with 200 walkers, printed at the start and after 60 steps.
    #[test]
    fn the_walk_is_that_of_the_comparison_programs() {
        let mut walk = Walk::new(200, EXTENT_METRES);
        assert_eq!(walk.positions()[0], [359.79407, -10.56987, -19.412159]);
        assert_eq!(walk.positions()[199], [-285.52866, 21.838314, 288.54822]);
        (0..60).for_each(|_| walk.step(200));
        assert_eq!(walk.positions()[0], [359.88782, -9.787473, -18.898605]);
        assert_eq!(walk.positions()[199], [-285.67365, 21.575214, 288.6287]);
        let expected = [
            (0, [-0.28117162, -0.29336366, 0.7593932, -0.508136]),
            (199, [-0.30236596, 0.24376573, 0.81527317, -0.4295145]),
        ];
        for (walker, rotation) in expected {
            let found = walk.rotations()[walker];
            // Sines may differ in the last bit between platforms.
            let is_close = (0..4).all(|axis: usize| (found[axis] - rotation[axis] as f32).abs() < 1e-5);
            assert!(is_close, "walker {walker}: {found:?}, expected {rotation:?}");
        }
    }

    #[test]
    fn only_the_first_walkers_move() {
        let before = Walk::new(10, EXTENT_METRES);
        let mut after = before.clone();
        after.step(4);
        assert!((0..4).all(|walker| after.positions()[walker] != before.positions()[walker]));
        assert_eq!(after.positions()[4..], before.positions()[4..]);
        assert_eq!(after.rotations()[4..], before.rotations()[4..]);
    }
}

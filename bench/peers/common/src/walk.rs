//! The world: walkers that never rest.
//!
//! Every coordinate of every walker moves at every tick, and independently of the last tick, so that nothing can be
//! predicted from a velocity and nothing can be left out because it rests. That is the worst case of replication by
//! differences, and the fair one for libraries that send whole states. `netloom_scene::generate::walk` is the same walk, number
//! for number; this one stands alone so that the harness owes nothing to a contender.

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
/// Half the edges of the space that walkers start in: x, y and z.
const EXTENT_METRES: [f32; 3] = [500.0, 50.0, 500.0];
/// How far a coordinate moves in a tick at most.
const STRIDE_METRES: f32 = 0.1;
/// Turn of a tick about the walker's own axis: this angle, give or take the other.
const TURN_RADIANS: f32 = 0.07;
const TURN_SPREAD_RADIANS: f32 = 0.035;

/// Walkers by number.
#[derive(Clone, Debug)]
pub struct Walk {
    /// In metres, y up.
    pub positions: Vec<[f32; 3]>,
    /// Unit quaternions: x, y, z, w.
    pub rotations: Vec<[f32; 4]>,
    /// Steps so far.
    pub tick: u64,
    axes: Vec<[f32; 3]>,
    random: u64,
}

impl Walk {
    /// So many walkers, at their starts.
    pub fn new(count: usize) -> Walk {
        let mut walk = Walk { positions: vec![], rotations: vec![], tick: 0, axes: vec![], random: SEED };
        for _ in 0..count {
            let start = EXTENT_METRES.map(|extent| walk.unit() * extent);
            walk.positions.push(start);
            walk.rotations.push([0.0, 0.0, 0.0, 1.0]);
            let tilted = [walk.unit(), walk.unit(), walk.unit() + 1.5];
            walk.axes.push(normalized(tilted));
        }
        walk
    }

    /// One tick.
    pub fn step(&mut self) {
        self.tick += 1;
        for walker in 0..self.positions.len() {
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

/// `rotation` after `turn`. The order of the terms decides the last bit and must stay.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The same values are in the tests of `netloom_scene::generate::walk`.
    #[test]
    fn the_walk_is_that_of_the_scenes() {
        let mut walk = Walk::new(200);
        assert_eq!(walk.positions[0], [359.79407, -10.56987, -19.412159]);
        assert_eq!(walk.positions[199], [-285.52866, 21.838314, 288.54822]);
        (0..60).for_each(|_| walk.step());
        assert_eq!(walk.positions[0], [359.88782, -9.787473, -18.898605]);
        assert_eq!(walk.positions[199], [-285.67365, 21.575214, 288.6287]);
    }

    #[test]
    fn every_value_of_every_walker_changes_at_every_step() {
        let before = Walk::new(50);
        let mut after = before.clone();
        after.step();
        for walker in 0..50 {
            assert!((0..3).all(|axis| after.positions[walker][axis] != before.positions[walker][axis]));
            assert_ne!(after.rotations[walker], before.rotations[walker]);
        }
    }
}

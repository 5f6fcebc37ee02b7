//! Randomness that a seed reproduces.
//!
//! A simulation is only useful if the seed of a failure brings the failure back, and only pleasant if a small change to
//! the simulator does not turn every known seed into a different run. A single stream of numbers gives the first and
//! not the second: one more draw anywhere shifts every later one.
//!
//! So a generator can be *forked* by a label or an index. A fork depends on the seed and the label alone, never on how
//! many numbers were drawn before it:
//!
//! ```text
//! seed ──fork("link a>b")──fork_index(7)── the fate of the seventh datagram on that link
//!   └────fork("traffic")── what the application sends
//! ```
//!
//! The generator is xoshiro256**, its state filled by SplitMix64. It is fast and well distributed, and no secret
//! may come from it.

/// A seeded generator.
#[derive(Clone, Debug)]
pub struct Rng {
    origin: u64,
    state: [u64; 4],
}

impl Rng {
    /// A generator whose every number follows from `seed`.
    pub fn new(seed: u64) -> Rng {
        let mut counter = seed;
        let state = [(); 4].map(|()| split_mix(&mut counter));
        Rng { origin: seed, state }
    }

    /// A generator of its own for the purpose named `label`, whatever was drawn from `self` so far.
    pub fn fork(&self, label: &str) -> Rng {
        let mut key = self.origin;
        for &byte in label.as_bytes() {
            key = mix(key ^ u64::from(byte));
        }
        Rng::new(mix(key ^ label.len() as u64))
    }

    /// A generator of its own for the item numbered `index`, whatever was drawn from `self` so far.
    pub fn fork_index(&self, index: u64) -> Rng {
        Rng::new(mix(self.origin ^ mix(index)))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let result = self.state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = self.state[1] << 17;
        self.state[2] ^= self.state[0];
        self.state[3] ^= self.state[1];
        self.state[1] ^= self.state[2];
        self.state[0] ^= self.state[3];
        self.state[2] ^= shifted;
        self.state[3] = self.state[3].rotate_left(45);
        result
    }

    /// A number in `0..bound`; zero if `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of a 128-bit product: its bias is below 2^-40 for every bound used here.
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included; `low` if `high` is smaller.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// A number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Fills `out`, for the 32-byte seeds that endpoints take.
    pub fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mix(*counter)
}

/// SplitMix64's finalizer: every input bit reaches every output bit.
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            [rng.next_u64(), rng.next_u64(), rng.next_u64()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn a_fork_ignores_what_was_drawn_before_it() {
        let fresh = Rng::new(1);
        let mut used = Rng::new(1);
        used.next_u64();
        assert_eq!(fresh.fork("a").next_u64(), used.fork("a").next_u64());
        assert_eq!(fresh.fork_index(3).next_u64(), used.fork_index(3).next_u64());
        assert_ne!(fresh.fork("a").next_u64(), fresh.fork("b").next_u64());
        assert_ne!(fresh.fork_index(0).next_u64(), fresh.fork_index(1).next_u64());
        assert_ne!(fresh.fork_index(0).next_u64(), fresh.clone().next_u64());
    }

    #[test]
    fn draws_stay_in_range_and_reach_both_ends() {
        let mut rng = Rng::new(3);
        let mut seen = [0u32; 5];
        for _ in 0..1_000 {
            seen[rng.between(10, 14) as usize - 10] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.between(9, 2), 9);
    }

    #[test]
    fn chance_keeps_its_probability() {
        let mut rng = Rng::new(4);
        let hits = (0..100_000).filter(|_| rng.chance(0.25)).count();
        assert!((24_000..26_000).contains(&hits), "{hits}");
        assert!((0..1_000).all(|_| !rng.chance(0.0) && rng.chance(1.0)));
    }

    #[test]
    fn fill_covers_lengths_that_are_no_multiple_of_eight() {
        let mut out = [0u8; 13];
        Rng::new(5).fill(&mut out);
        assert!(out[8..].iter().any(|&byte| byte != 0));
    }
}

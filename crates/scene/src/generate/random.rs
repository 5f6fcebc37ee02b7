//! The same numbers from the same seed, everywhere.

/// A stream of random numbers: xorshift64*.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed; neighbouring seeds have nothing in common.
    pub fn new(seed: u64) -> Random {
        // The finalizer of splitmix64 scatters the seed; zero is the one state that xorshift never leaves.
        let mut state = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Random((state ^ (state >> 31)).max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// In [0, 1): a multiple of 2^-32, so exact.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 32) as f64 / 4_294_967_296.0
    }

    /// In [-1, 1).
    pub fn unit(&mut self) -> f64 {
        2.0 * self.share() - 1.0
    }

    /// In [from, to).
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.share()
    }

    /// One of 0 to `count` - 1.
    pub fn below(&mut self, count: usize) -> usize {
        (self.share() * count as f64) as usize
    }

    /// True so often.
    pub fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// Each component in [-1, 1).
    pub fn triple(&mut self) -> [f64; 3] {
        [self.unit(), self.unit(), self.unit()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_others() {
        let numbers = |seed| -> Vec<f64> {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.unit()).collect()
        };
        assert_eq!(numbers(7), numbers(7));
        assert!(numbers(7).iter().zip(numbers(8)).all(|(a, b)| *a != b));
        assert!(numbers(0).iter().all(|number| (-1.0..1.0).contains(number)));
        let mean: f64 = (0..50).flat_map(numbers).sum::<f64>() / 5_000.0;
        assert!(mean.abs() < 0.05, "{mean}");
    }
}

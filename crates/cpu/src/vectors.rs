//! Runs a loop with the widest vectors that the processor has.
//!
//! A program is built for the oldest processor that it may meet, so a compiler turns loops into vectors of 16 bytes, though nearly
//! all have had 32 for ten years. [`widest`] builds a loop twice and chooses when it runs. Nothing else differs: floats are
//! multiplied, then added, as ever, so that every processor gets the same bits.

/// A loop.
pub trait Work {
    /// What comes of it.
    type Output;

    /// Does it. Only what is compiled into it profits: this and the functions that it calls must be `#[inline(always)]`, or so
    /// small that they are inlined anyway.
    fn run(self) -> Self::Output;
}

/// Does `work`, built for the vectors of this processor.
///
/// ```
/// use netloom_cpu::{Work, widest};
///
/// struct Add<'a>(&'a mut [u32], u32);
///
/// impl Work for Add<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run(self) {
///         self.0.iter_mut().for_each(|number| *number += self.1);
///     }
/// }
///
/// let mut numbers = [1; 64];
/// widest(Add(&mut numbers, 6));
/// assert_eq!(numbers, [7; 64]);
/// ```
#[inline]
pub fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has what the function is built with.
        return unsafe { with_avx2(work) };
    }
    work.run()
}

/// For processors with vectors of 32 bytes, and with shifts that need no particular register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Mix([f32; 16], f32);

    impl Work for Mix {
        type Output = [f32; 16];

        #[inline(always)]
        fn run(self) -> [f32; 16] {
            self.0.map(|number| (number * self.1 + 1.0).sqrt() / 3.0)
        }
    }

    #[test]
    fn wide_vectors_give_the_bits_of_narrow_ones() {
        let numbers = std::array::from_fn(|at| at as f32 * 0.37);
        let bits = |given: [f32; 16]| given.map(f32::to_bits);
        assert_eq!(bits(widest(Mix(numbers, 0.1))), bits(Mix(numbers, 0.1).run()));
    }
}

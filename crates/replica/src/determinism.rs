//! Whether a step function is one that can be predicted.
//!
//! Prediction rests on a promise that no compiler checks: the same state and the same input give the same next state, and a
//! state that was kept and put back is as good as the one it was copied from. A clock, a random number, a hash order or a
//! cache beside the state breaks it, and what comes of that looks like bad luck with the network. So a game runs its step
//! through this, in a test, with the inputs of a recorded game:
//!
//! ```text
//!   first run     s0 ─▶ s1 ─▶ s2 ─▶ s3 …                         a digest of each
//!   second run    s0 ─▶ s1 ─▶ s2 ─▶ s3 …                         from a copy of s0: the same digests?
//!   restored      s0 ─▶ (copy, step, throw away) ─▶ put back ─▶ step ─▶ s1 …    and again in every step
//! ```
//!
//! Only what [`Describe`] lists is compared, to the last bit. What is not listed shows as soon as it moves what is.

use crate::step::{Describe, Fields};

/// What was done differently where two runs parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// The same from the beginning once more.
    Second,
    /// The state was kept, the step run, the state put back and the step run again.
    Restored,
}

/// Where two runs of a step function parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the step is not deterministic: step {step} came out with another {field} in the {run:?} run")]
pub struct Divergence {
    /// The first step, from 0 on, after which the two differ.
    pub step: usize,
    /// The first field in which they do.
    pub field: &'static str,
    /// Which of the runs it was.
    pub run: Run,
}

/// Runs a step function over some inputs in three ways and compares the digests of all states. Returns that of the last
/// state, which must also be the same on every machine that plays together.
///
/// ```
/// # use netloom_replica::step::{Describe, Fields, Step};
/// use netloom_replica::determinism::check_determinism;
///
/// # struct Count;
/// # impl Step for Count {
/// #     type State = i64;
/// #     type Input = i64;
/// #     fn step(&self, state: &mut i64, input: &i64) { *state += input; }
/// # }
/// # impl Describe for Count {
/// #     fn describe(&self, state: &i64, fields: &mut Fields) { fields.whole("count", *state); }
/// # }
/// let recorded = [1, 2, 3];
/// check_determinism(&Count, &0, &recorded)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_determinism<S: Describe>(
    step: &S,
    initial: &S::State,
    inputs: &[S::Input],
) -> Result<u64, Divergence> {
    let (mut first, mut second, mut restored) = (initial.clone(), initial.clone(), initial.clone());
    let (mut expected, mut found) = (Fields::new(), Fields::new());
    let mut digest = 0;
    for (number, input) in inputs.iter().enumerate() {
        step.step(&mut first, input);
        expected.clear();
        step.describe(&first, &mut expected);
        digest = expected.digest();

        step.step(&mut second, input);
        let kept = restored.clone();
        step.step(&mut restored, input);
        restored = kept;
        step.step(&mut restored, input);

        for (state, run) in [(&second, Run::Second), (&restored, Run::Restored)] {
            found.clear();
            step.describe(state, &mut found);
            if found.digest() != digest {
                return Err(Divergence { step: number, field: first_difference(&expected, &found), run });
            }
        }
    }
    Ok(digest)
}

fn first_difference(expected: &Fields, found: &Fields) -> &'static str {
    let mut pairs = expected.iter().zip(found.iter());
    let differing = pairs.find(|((_, expected), (_, found))| !expected.is_identical(found));
    differing.map_or("number of fields", |((name, _), _)| name)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::step::Step;

    #[derive(Clone)]
    struct Ball {
        height: f32,
        bounces: u16,
    }

    /// A step with the fault that is asked for.
    #[derive(Default)]
    struct Bounce {
        /// Something beside the state that steps read and change.
        hidden: Cell<u32>,
        noise_every: Option<u32>,
        counts_calls: bool,
    }

    impl Step for Bounce {
        type State = Ball;
        type Input = f32;

        fn step(&self, ball: &mut Ball, push: &f32) {
            self.hidden.set(self.hidden.get() + 1);
            ball.height += push;
            if self.noise_every.is_some_and(|every| self.hidden.get().is_multiple_of(every)) {
                ball.height = f32::from_bits(ball.height.to_bits() + 1);
            }
            if ball.height < 0.0 {
                ball.height = -ball.height;
                ball.bounces += if self.counts_calls { self.hidden.get() as u16 } else { 1 };
            }
        }
    }

    impl Describe for Bounce {
        fn describe(&self, ball: &Ball, fields: &mut Fields) {
            fields.number("height", 0.01, ball.height);
            fields.whole("bounces", ball.bounces);
        }
    }

    const START: Ball = Ball { height: 1.0, bounces: 0 };

    #[test]
    fn an_honest_step_passes_with_the_same_digest_every_time() {
        let inputs: Vec<f32> = (0..500).map(|number| ((number * 37 % 19) as f32 - 9.0) * 0.1).collect();
        let digest = check_determinism(&Bounce::default(), &START, &inputs).unwrap();
        assert_eq!(check_determinism(&Bounce::default(), &START, &inputs), Ok(digest));
        assert_ne!(check_determinism(&Bounce::default(), &START, &inputs[1..]), Ok(digest));
    }

    #[test]
    fn one_bit_of_noise_is_found_in_its_step_and_field() {
        // Four calls a step: the 25th is the first call of the seventh.
        let noisy = Bounce { noise_every: Some(25), ..Bounce::default() };
        let found = check_determinism(&noisy, &START, &[0.1; 20]);
        assert_eq!(found, Err(Divergence { step: 6, field: "height", run: Run::Second }));
    }

    #[test]
    fn a_cache_beside_the_state_is_found_by_putting_states_back() {
        let counting = Bounce { counts_calls: true, ..Bounce::default() };
        let found = check_determinism(&counting, &START, &[0.1, -2.0]).unwrap_err();
        assert_eq!((found.step, found.field), (1, "bounces"));
        assert!(found.to_string().contains("bounces"), "{found}");
    }
}

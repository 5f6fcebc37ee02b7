//! How often a hand can press.
//!
//! Holding a button is honest, whatever comes of it: no ammunition, too early, both directions at once. Letting go and pressing again
//! thirty times a second is a program. What fires is paid for by the press, from an account that fills with the server's time.

use netloom::prelude::*;
use netloom::session::validate::{ActionRate, RateRule, Reason};

use crate::rules::buttons;

/// Presses of what fires: nobody keeps this up by hand.
const PRESSES: RateRule = RateRule { per_second: 15, burst: 15 };

/// What of a mask fires.
const FIRING: u8 = buttons::SHOOT | buttons::BEAM;

/// The trigger of a seat.
#[derive(Debug, Default)]
pub struct Trigger {
    /// What fires and was held in the step before.
    held: u8,
    /// `None` before the first press.
    presses: Option<ActionRate>,
}

impl Trigger {
    /// Takes what is pressed in a step that is made now. Refused presses count as held: letting go is what makes the next.
    pub fn handle(&mut self, pressed: u8, now: Micros) -> Result<(), Reason> {
        let begun = pressed & FIRING & !self.held;
        self.held = pressed & FIRING;
        if begun == 0 {
            return Ok(());
        }
        if self.presses.is_none() {
            self.presses = ActionRate::new(PRESSES, now).ok();
        }
        self.presses.as_mut().map_or(Ok(()), |presses| presses.take(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Micros = Micros(16_667);

    /// Steps of a minute that are refused.
    fn refused(mask: impl Fn(u64) -> u8) -> usize {
        let mut trigger = Trigger::default();
        let at = |step: u64| Micros(step * STEP.0);
        (0..3_600).filter(|step| trigger.handle(mask(*step), at(*step)) == Err(Reason::TooOften)).count()
    }

    #[test]
    fn whoever_holds_or_taps_is_honest() {
        assert_eq!(refused(|_| FIRING | buttons::UP), 0);
        assert_eq!(refused(|step| if step % 5 < 2 { buttons::SHOOT } else { 0 }), 0, "twelve a second");
        assert_eq!(refused(|step| if step % 2 == 0 { buttons::LEFT } else { 0 }), 0, "flying is free");
    }

    #[test]
    fn who_presses_every_other_step_is_refused_half_of_the_time() {
        let of_shots = refused(|step| if step % 2 == 0 { buttons::SHOOT } else { 0 });
        assert!((800..=900).contains(&of_shots), "{of_shots} of 1,800");
        assert!(refused(|step| if step % 2 == 0 { buttons::SHOOT } else { buttons::BEAM }) > 2_500);
    }
}

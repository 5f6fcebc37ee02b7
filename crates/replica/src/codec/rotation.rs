//! A rotation, predicted by turning on.
//!
//! The words of a rotation are three components of a unit quaternion, the largest one dropped. No component of an even
//! turn moves evenly: the quaternion goes round a circle, so that the line through two of them leaves it. What is
//! predicted is therefore the line, bent towards the centre by as much as the baselines are apart:
//!
//! ```text
//!     ● older                     rise = newer − older                     r = newer age / (older age − newer age)
//!       ╲                         bend = |rise|² / |newer|²
//!         ● newer
//!         │ ╲                     predicted = newer + r·rise − bend·(r(r+1)/2 · newer + r(r²−1)/6 · rise)
//!         ○   · line
//!     predicted                   r = 1:    = newer + rise − bend · newer
//! ```
//!
//! The rise of the dropped component counts too; it follows from the others, whose squares and its own add up to one:
//!
//! ```text
//!   rest  = unit − newer·newer             unit = 2 · half²; at least unit / 4
//!   slope = (newer·rise · 2^10) / rest     cut towards zero
//!   chord = rise·rise + ⌊newer·rise · slope / 2^10⌋, at most 4 · unit
//!   bend  = ⌊chord · (2^45 / unit) / 2^29⌋            in units of 2^-16
//! ```
//!
//! Without the bend something that turns by 4° a frame takes four bits more per update.
//!
//! A turning object mostly keeps its axis and changes its speed, so that all three steps are off in proportion: along
//! the *tangent*, the direction in which the prediction moves on. The step with the largest share of it leads and is
//! coded first. Its difference corrects the prediction of the other two, and what remains there is rounding:
//!
//! ```text
//!           ╱ tangent             tangent = 3 · (predicted − newer) − r·rise
//!     ○────●          ○ predicted    ● actual
//!      ╲   │           the lead says how far along the tangent it went, the others follow:
//!       ╲  │ lead      predicted += difference of the lead × tangent / tangent of the lead
//! ```
//!
//! All of this takes place in the components that the newer baseline kept. Where the older one or the present dropped
//! another, they are restored from the others first (see `Frame`).
//!
//! Quotients are rounded to nearest, ties away from zero, where nothing else is said; ⌊⌋ is towards minus infinity. No
//! intermediate of words that are rotations exceeds 2^52. Of a word only the low 16 bits count, so that words that are
//! no rotation predict something, too, the same on both sides.

use netloom_wire::quantize::{RotationWidth, WordRange};
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::line::{Line, divide_rounding, size, subtract};
use super::run::Run;
use super::symbol::Turn;
use super::track::{Source, Track};

/// One, as a bend.
const ONE: i64 = 1 << 16;

/// The components that remain when each one is dropped.
const REMAINING: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

/// The leading one of three steps, then the others.
const ORDERS: [[usize; 3]; 3] = [[0, 1, 2], [1, 0, 2], [2, 0, 1]];

/// Three steps.
type Steps = [i64; 3];

/// How finely steps are quantized, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The largest step.
    half: i32,
    /// The sum of squared steps that stands for one.
    squared: i64,
    /// 2^45 divided by that.
    reciprocal: i64,
}

impl Unit {
    pub const fn new(half: i16) -> Unit {
        let squared = 2 * half as i64 * half as i64;
        Unit { half: half as i32, squared, reciprocal: (1 << 45) / squared }
    }

    #[inline]
    pub fn of(width: RotationWidth) -> Unit {
        const TEN: Unit = Unit::new(RotationWidth::Ten.half());
        const FIFTEEN: Unit = Unit::new(RotationWidth::Fifteen.half());
        match width {
            RotationWidth::Ten => TEN,
            RotationWidth::Fifteen => FIFTEEN,
        }
    }
}

/// What the receiver knows: the newer rotation, and the older one if there is a line through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    newer: [i32; 4],
    older: Option<([i32; 4], Line)>,
    unit: Unit,
}

/// What is expected, in the components that the newer baseline kept, and which way it moves on.
#[derive(Clone, Copy, Debug)]
struct Arc {
    predicted: Steps,
    tangent: Steps,
    motion: u64,
}

impl Known {
    #[inline]
    pub fn new(newer: [i32; 4], older: Option<([i32; 4], Line)>, unit: Unit) -> Known {
        Known { newer, older, unit }
    }

    /// Whether `words` are a rotation of this width.
    #[inline]
    pub fn contains(&self, words: [i32; 4]) -> bool {
        let [dropped, a, b, c] = words;
        let half = self.unit.half;
        let inside = |step: i32| (-half..=half).contains(&step);
        let square = |step: i32| step.wrapping_mul(step);
        (dropped & !3 == 0)
            & (inside(a) & inside(b) & inside(c))
            & (square(a).wrapping_add(square(b)).wrapping_add(square(c)) <= 2 * half * half)
    }

    /// The bits of a rotation in full: the dropped component and three steps.
    #[inline]
    pub fn absolute_bits(&self) -> u32 {
        2 + 3 * self.range().bit_width()
    }

    /// How `words`, which must be contained, are said best, and the bits that follow the symbol.
    #[inline]
    pub fn write<R: Run>(&self, codes: &Codes, words: [i32; 4]) -> (Turn, R) {
        if words == self.newer {
            return (Turn::Same, R::default());
        }
        let newer = steps_of(self.newer);
        let arc = self.older.map(|(older, line)| self.arc(newer, older, line));
        match dropped_by(words) == dropped_by(self.newer) {
            true => self.write_from(codes, words, newer, arc),
            false => self.write_dropping(codes, words, newer, arc),
        }
    }

    #[inline(never)]
    fn write_dropping<R: Run>(
        &self,
        codes: &Codes,
        words: [i32; 4],
        newer: Steps,
        arc: Option<Arc>,
    ) -> (Turn, R) {
        let to = dropped_by(words);
        let newer = self.frame(newer, [0; 3]).steps(to).0;
        let arc = arc.map(|arc| self.reframed(arc, to));
        let (turn, steps): (Turn, LongRun) = self.write_from(codes, words, newer, arc);
        let mut run = R::default();
        run.put(to as u64, 2);
        run.put(steps.bits as u64, steps.length.min(64));
        run.put((steps.bits >> 64) as u64, steps.length.saturating_sub(64));
        let turn = match turn {
            Turn::FromNewer => Turn::FromNewerDropping,
            _ => Turn::FromLineDropping,
        };
        (turn, run)
    }
}

//! A rotation, predicted by turning on.
//!
//! The words of a rotation are three components of a unit quaternion; which three changes as the object turns, and no
//! component moves evenly. So the prediction is made on the whole quaternion, in steps: the dropped component is
//! restored as the root of what the others leave, and the arc through both baselines is continued.
//!
//! ```text
//!          older ●─── θ ───● newer                       r = newer age / (older age − newer age)
//!                           ╲  r·θ
//!                             ○ predicted  =  (sin (1+r)θ · newer − sin rθ · older) / sin θ
//!
//!   with c = 1 − cos θ, up to terms in c², and exactly if r = 1:
//!                                          =  (1+r)·(1 − r(r+2)·c/3) · newer  −  r·(1 − (r²−1)·c/3) · older
//! ```
//!
//! Weights are integers in units of 2^-18; a straight line instead of the arc costs about four bits more per update
//! of something that turns by 4° a frame. The largest component of the prediction is the one expected to be dropped;
//! the sender names another one if it is. Then the prediction, negated if that component is negative, is compared
//! with the words step by step.
//!
//! A turning object mostly keeps its axis and changes its speed, so that all three steps are off in proportion: along
//! the *tangent*, the direction in which the predicted rotation moves on. The component with the largest share of it
//! leads and is coded first. Its difference corrects the prediction of the other two, and what remains there is
//! rounding:
//!
//! ```text
//!           ╱ tangent
//!     ○────●          ○ predicted    ● actual
//!      ╲   │           the lead says how far along the tangent it went, the others follow:
//!       ╲  │ lead      predicted += difference of the lead × tangent / tangent of the lead
//! ```
//!
//! Every quotient is rounded to nearest, ties to even; no intermediate exceeds 2^51. Components are kept in the order
//! of the newer baseline's words: its dropped one, then the others.

use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::lanes::{Lanes, clamp, integer, round, size, subtract, sum, zip};
use super::line::Line;
use super::run::Run;
use super::symbol::Turn;
use super::track::{Source, Track};

/// One, as a weight.
const ONE: f64 = 262_144.0;

/// The components that remain when each one is dropped.
const REMAINING: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

/// The leading lane of three, then the others.
const ORDERS: [[usize; 3]; 3] = [[1, 2, 3], [2, 1, 3], [3, 1, 2]];

/// What the receiver knows: the newer rotation, and the older one if there is an arc through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    newer: [i32; 4],
    line: Option<([i32; 4], Line)>,
    half: f64,
}

/// The arc through both baselines.
#[derive(Clone, Copy, Debug)]
struct Arc {
    predicted: Lanes,
    tangent: Lanes,
    /// The component that is expected to be dropped.
    dropped: usize,
    motion: u64,
}

/// What is expected of three steps, in lanes 1 to 3, and which way they move on.
#[derive(Clone, Copy, Debug)]
struct Steps {
    predicted: Lanes,
    tangent: Lanes,
}

impl Known {
    #[inline]
    pub fn new(newer: [i32; 4], older: Option<([i32; 4], Line)>, half: i16) -> Known {
        Known { newer, line: older, half: f64::from(half) }
    }

    /// Whether `words` are a rotation of this width.
    #[inline]
    pub fn contains(&self, words: [i32; 4]) -> bool {
        let [dropped, a, b, c] = words;
        let half = self.half as i32;
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
        let mut run = R::default();
        if words == self.newer {
            return (Turn::Same, run);
        }
        let dropped = words[0] as usize & 3;
        let newer = self.quaternion(self.newer);
        let mut expected = self.frame();
        let mut steps = self.steps(newer, [0.0; 4], dropped);
        let mut track = Track { source: Source::Newer, motion: None, range: self.range() };
        if let Some((older, line)) = self.line {
            let arc = self.arc(newer, older, line);
            let by_arc = self.steps(arc.predicted, arc.tangent, dropped);
            let distance = by_arc.distance(words);
            if distance == 0.0 && dropped == arc.dropped {
                return (Turn::Predicted, run);
            }
            track.motion = Some(arc.motion);
            if distance <= steps.distance(words) {
                (track.source, expected, steps) = (Source::Line, arc.dropped, by_arc);
            }
        }
        let as_expected = dropped == expected;
        if !as_expected {
            run.put(dropped as u64, 2);
        }
        let order = steps.order();
        track.write(codes, order.map(|lane| words[lane & 3]), steps.differences(words, order), &mut run);
        let turn = match (track.source, as_expected) {
            (Source::Newer, true) => Turn::FromNewer,
            (Source::Newer, false) => Turn::FromNewerDropping,
            (Source::Line, true) => Turn::FromLine,
            (Source::Line, false) => Turn::FromLineDropping,
        };
        (turn, run)
    }

    /// The rotation that was said as `turn`.
    #[inline]
    pub fn read(&self, turn: Turn, codes: &Codes, reader: &mut BitReader<'_>) -> Result<[i32; 4], ReadError> {
        let source = match turn {
            Turn::Same => return Ok(self.newer),
            Turn::Absolute => return Err(ReadError::InvalidCode),
            Turn::FromNewer | Turn::FromNewerDropping => Source::Newer,
            Turn::Predicted | Turn::FromLine | Turn::FromLineDropping => Source::Line,
        };
        let newer = self.quaternion(self.newer);
        let arc = self.line.map(|(older, line)| self.arc(newer, older, line));
        let (predicted, tangent, expected) = match (source, &arc) {
            (Source::Newer, _) => (newer, [0.0; 4], self.frame()),
            (Source::Line, Some(arc)) => (arc.predicted, arc.tangent, arc.dropped),
            (Source::Line, None) => return Err(ReadError::InvalidCode),
        };
        let dropped = match turn {
            Turn::FromNewerDropping | Turn::FromLineDropping => reader.read_bits(2)? as usize,
            _ => expected,
        };
        let steps = self.steps(predicted, tangent, dropped);
        let mut words = [dropped as i32, 0, 0, 0];
        if turn == Turn::Predicted {
            for (word, step) in words.iter_mut().zip(steps.predicted).skip(1) {
                *word = integer(step) as i32;
            }
        } else {
            let order = steps.order();
            let track = Track { source, motion: arc.map(|arc| arc.motion), range: self.range() };
            let predict = |axis: usize, led: i64| integer(steps.corrected(order[axis], order[0], led as f64));
            let read = track.read(codes, predict, reader)?;
            for (lane, word) in order.into_iter().zip(read) {
                words[lane & 3] = word;
            }
        }
        if self.contains(words) { Ok(words) } else { Err(ReadError::InvalidRotation) }
    }

    /// The sum of squared steps that stands for one.
    #[inline]
    fn unit_squared(&self) -> f64 {
        2.0 * self.half * self.half
    }

    #[inline]
    fn range(&self) -> WordRange {
        WordRange::symmetric(self.half as i32)
    }

    /// The component that lane 0 holds: the one that the newer baseline dropped.
    #[inline]
    fn frame(&self) -> usize {
        self.newer[0] as usize & 3
    }

    /// The whole quaternion of words, the dropped component first. Of a word only the low 16 bits count, so that words
    /// that are no rotation give some quaternion, the same on both sides.
    #[inline]
    fn quaternion(&self, words: [i32; 4]) -> Lanes {
        let [_, a, b, c] = words.map(|word| f64::from(word as i16));
        let rest = self.unit_squared() - (a * a + b * b + c * c);
        [round(if rest > 0.0 { rest.sqrt() } else { 0.0 }), a, b, c]
    }

    #[inline]
    fn arc(&self, newer: Lanes, older_words: [i32; 4], line: Line) -> Arc {
        let older = reframed(self.quaternion(older_words), older_words[0] as usize & 3, self.frame());
        // A quaternion and its negative are the same rotation: take the nearer one.
        let dot = sum(zip(newer, older, |a, b| a * b));
        let older = if dot < 0.0 { older.map(|step| -step) } else { older };
        let unit = self.unit_squared();
        let bend = round(clamp(unit - dot.abs(), 0.0, unit) * ONE / unit);
        let (newer_weight, older_weight, cosine) = weights(bend, line);
        let mut predicted =
            zip(newer, older, |newer, older| round((newer_weight * newer - older_weight * older) / ONE));
        if !line.is_even() {
            // Far ahead of close baselines an arc means nothing, and products must stay exact.
            predicted = predicted.map(|step| clamp(step, -2.0 * self.half, 2.0 * self.half));
        }
        Arc {
            predicted,
            tangent: zip(predicted, newer, |predicted, newer| cosine * predicted - ONE * newer),
            dropped: component(self.frame(), largest(predicted)),
            motion: line.motion(size(subtract(newer, older))),
        }
    }

    /// A prediction as words, if `dropped` is the component that is dropped.
    #[inline]
    fn steps(&self, predicted: Lanes, tangent: Lanes, dropped: usize) -> Steps {
        let predicted = reframed(predicted, self.frame(), dropped);
        let tangent = reframed(tangent, self.frame(), dropped);
        if predicted[0] < 0.0 {
            return Steps { predicted: predicted.map(|step| -step), tangent: tangent.map(|step| -step) };
        }
        Steps { predicted, tangent }
    }
}

impl Steps {
    /// How far off the steps of `words` are, over all.
    #[inline]
    fn distance(&self, words: [i32; 4]) -> f64 {
        let off = |lane: usize| (f64::from(words[lane]) - self.predicted[lane]).abs();
        off(1) + off(2) + off(3)
    }

    /// The lane with the largest share of the tangent first; of equal ones the first.
    #[inline]
    fn order(&self) -> [usize; 3] {
        let [_, a, b, c] = self.tangent.map(f64::abs);
        let not_first = usize::from((b > a) | (c > a));
        ORDERS[not_first + (not_first & usize::from(c > b))]
    }

    /// The prediction of `lane` once the lead turned out to be off by `led`.
    #[inline]
    fn corrected(&self, lane: usize, lead: usize, led: f64) -> f64 {
        let along = self.tangent[lead & 3];
        let along = if along == 0.0 { 1.0 } else { along };
        self.predicted[lane & 3] + round(led * self.tangent[lane & 3] / along)
    }

    /// How far off `words` are, the lead first.
    #[inline]
    fn differences(&self, words: [i32; 4], [lead, second, third]: [usize; 3]) -> [i64; 3] {
        let led = f64::from(words[lead & 3]) - self.predicted[lead & 3];
        let follow = |lane: usize| f64::from(words[lane & 3]) - self.corrected(lane, lead, led);
        [integer(led), integer(follow(second)), integer(follow(third))]
    }
}

/// The lane of the largest component. Mostly it is the one that the newer baseline dropped.
#[inline]
fn largest(quaternion: Lanes) -> usize {
    let [first, a, b, c] = quaternion.map(f64::abs);
    match (first >= a) & (first >= b) & (first >= c) {
        true => 0,
        false => ORDERS[usize::from((b > a) | (c > a)) + usize::from((c > a) & (c > b))][0],
    }
}

/// What newer and older weigh in the prediction, and cos rθ.
#[inline]
fn weights(bend: f64, line: Line) -> (f64, f64, f64) {
    if line.is_even() {
        return (2.0 * (ONE - bend), ONE, ONE - bend);
    }
    let Line { ahead, behind } = line;
    let squared = behind * behind;
    let at_most_one = |weight: f64| if weight > ONE { ONE } else { weight };
    let newer_bend = at_most_one(round(ahead * (ahead + 2.0 * behind) * bend / (3.0 * squared)));
    let older_bend = at_most_one(round((ahead * ahead - squared) * bend / (3.0 * squared)));
    let cosine = ONE - at_most_one(round(ahead * ahead * bend / squared));
    (
        round((ahead + behind) * (ONE - newer_bend) / behind),
        round(ahead * (ONE - older_bend) / behind),
        cosine,
    )
}

/// The component in a lane of a quaternion whose first is `frame`.
#[inline]
fn component(frame: usize, lane: usize) -> usize {
    match lane {
        0 => frame,
        _ => REMAINING[frame & 3][(lane - 1) % 3],
    }
}

/// The same quaternion with another component first. Mostly it is the same one.
#[inline]
fn reframed(quaternion: Lanes, from: usize, to: usize) -> Lanes {
    if from == to { quaternion } else { reordered(quaternion, from, to) }
}

fn reordered(quaternion: Lanes, from: usize, to: usize) -> Lanes {
    let mut components = [0.0; 4];
    for (lane, &value) in quaternion.iter().enumerate() {
        components[component(from, lane) & 3] = value;
    }
    core::array::from_fn(|lane| components[component(to, lane) & 3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_wire::quantize::{QuantizeCounters, Rotation, RotationWidth};

    /// The words of a turn about z.
    fn turned(degrees: f64) -> [i32; 4] {
        let (sine, cosine) = (degrees / 2.0).to_radians().sin_cos();
        let quaternion = [0.0, 0.0, sine as f32, cosine as f32];
        let rotation =
            Rotation::quantize(quaternion, RotationWidth::Fifteen, &mut QuantizeCounters::default());
        let Rotation::SmallestThree { largest, steps: [a, b, c] } = rotation else {
            unreachable!("quantized")
        };
        [i32::from(largest), i32::from(a), i32::from(b), i32::from(c)]
    }

    /// How many steps the arc through two ages is off, at most over a full turn of 6° a tick.
    fn off_by(newer_age: u32, older_age: u32) -> f64 {
        let degrees_ago = |now: u32, age: u32| turned(f64::from(now) - 6.0 * f64::from(age));
        let distance = |now: u32| {
            let line = Line::between(newer_age, older_age).unwrap();
            let older = Some((degrees_ago(now, older_age), line));
            let known = Known::new(degrees_ago(now, newer_age), older, RotationWidth::Fifteen.half());
            let (older, line) = known.line.unwrap();
            let arc = known.arc(known.quaternion(known.newer), older, line);
            let current = degrees_ago(now, 0);
            known.steps(arc.predicted, arc.tangent, current[0] as usize).distance(current)
        };
        (0..360).map(distance).fold(0.0, f64::max)
    }

    #[test]
    fn an_even_turn_is_predicted_to_the_step_also_where_another_component_is_dropped() {
        assert!(off_by(2, 4) <= 6.0, "{} steps", off_by(2, 4));
    }

    #[test]
    fn an_even_turn_is_predicted_from_uneven_ages() {
        for ages in [(1, 4), (2, 3), (3, 5), (4, 8)] {
            let steps = off_by(ages.0, ages.1);
            assert!(steps <= 60.0, "{steps} of 32,767 steps at ages {ages:?}");
        }
    }

    #[test]
    fn a_change_of_speed_about_the_same_axis_is_said_by_the_lead_alone() {
        let line = Line::between(2, 4).unwrap();
        let known = Known::new(turned(30.0), Some((turned(20.0), line)), RotationWidth::Fifteen.half());
        let arc = known.arc(known.quaternion(known.newer), turned(20.0), line);
        let current = turned(43.0);
        let steps = known.steps(arc.predicted, arc.tangent, current[0] as usize);
        let [lead, second, third] = steps.differences(current, steps.order());
        assert!(lead.abs() > 500, "three degrees are many steps: {lead}");
        assert!(second.abs() <= 2 && third.abs() <= 2, "{second}, {third}");
    }
}

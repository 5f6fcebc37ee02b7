//! Singles to the last bit.
//!
//! A field that is not quantized holds floats of 32 bits, and a receiver gets exactly those. Their bits look random, but
//! are not: what moves a little changes the low bits of its coordinates, as long as they are counted in the order of
//! the numbers. The *ordinal* of a single is its rank among all singles, so that neighbours differ by one, also across
//! powers of two and across zero:
//!
//! ```text
//!   bits       … BF800001  BF800000 … 80000001  80000000 │ 00000000  00000001 … 3F800000 …
//!   single     …   −1−ε       −1    …    −ε        −0    │     0         ε    …    1     …
//!   ordinal    …                          −2        −1   │     0         1    …
//! ```
//!
//! Ordinals are integers, so that what is predicted from them is the same everywhere, and every pattern of bits has one.
//! What is sent is the difference of each ordinal from the predicted one, modulo 2^32.
//!
//! Coordinates that belong together differ by about as much, but each counts in steps of its own: those of a coordinate near 500
//! are a thousand times those of one near 0.5. So all differences have the same number of bits, plus, for each, by how much its
//! exponent is below the largest one. That number is expected to be as before, for the object goes about as far as it did:
//!
//! ```text
//!   3 bits: 0        not all differ: a bit for each that says whether it does, and if any do, these 3 bits again;
//!                    of a single that is alone, it is as predicted
//!           1 to 6   so many bits more than expected, less 4
//!           7        5 bits: their number less one
//!   the differences that are not zero, in two's complement
//! ```
//!
//! Bits of its own for every difference, each expected from the one before, were tried: what they save they cost.

use netloom_wire::{BitReader, ReadError};

use super::chain::folded;
use super::line::Line;
use super::run::Run;

/// What is said of the bits of differences, in three bits.
const CLASS_BITS: u32 = 3;
/// Some are none.
const SOME: i32 = 0;
/// As many as expected.
const AS_EXPECTED: i32 = 4;
/// Any other number.
const ANY: i32 = 7;
/// Bits of that number.
const ANY_BITS: u32 = 5;
/// The least and the most that are expected, so that every class is a number from one to 32.
const EXPECTED_MIN: i32 = 4;
const EXPECTED_MAX: i32 = 30;
/// What is expected where nothing is known.
pub(super) const UNKNOWN: i32 = 16;
/// How many bits less than the way between the baselines a difference from the line is expected to have.
const LINE_GAIN: i32 = 3;

/// The rank of the single with these bits, or the bits of the single with this rank.
#[inline(always)]
pub(super) fn ordinal(word: i32) -> i32 {
    word ^ ((word >> 31) & i32::MAX)
}

#[inline(always)]
fn exponent(word: i32) -> i32 {
    word >> 23 & 255
}

/// Whether these are the bits of a number.
#[inline(always)]
pub(super) fn is_finite(word: i32) -> bool {
    exponent(word) != 255
}

/// The bits of a difference; one that is zero has none.
#[inline(always)]
pub(super) fn width(difference: i32) -> i32 {
    let fold = folded(difference);
    // The exponent of a float is the place of the first bit, unless it was rounded up, for which too few ones follow here.
    let bits = ((((fold & !(fold >> 1)) as f32).to_bits() >> 23) as i32 - 126).max(0);
    if difference == 0 { 0 } else { bits + 1 }
}

/// Singles that the receiver knows, and by how much the exponent of each is below the largest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base<const N: usize> {
    words: [i32; N],
    shifts: [i32; N],
}

impl<const N: usize> Base<N> {
    #[inline(always)]
    pub fn new(words: [i32; N]) -> Base<N> {
        let mut most = 0;
        for word in words {
            most = exponent(word).max(most);
        }
        Base { words, shifts: words.map(|word| most - exponent(word)) }
    }

    /// The bits of differences, as the class says them: those of a single with the largest exponent.
    #[inline(always)]
    fn bits(&self, differences: [i32; N]) -> i32 {
        let mut most = 1;
        for (difference, shift) in differences.into_iter().zip(self.shifts) {
            most = (width(difference) - shift).max(most);
        }
        most
    }

    /// The bits of a difference that is not zero.
    #[inline(always)]
    fn count(&self, place: usize, bits: i32) -> u32 {
        (bits + self.shifts[place]).min(32) as u32
    }

    /// The bits of all differences together.
    #[inline(always)]
    fn cost(&self, differences: [i32; N]) -> u32 {
        let bits = self.bits(differences);
        let mut sum = 0;
        for (place, difference) in differences.into_iter().enumerate() {
            sum += if difference == 0 { 0 } else { self.count(place, bits) };
        }
        sum
    }

    /// What is expected of differences of an object that came here from `older`.
    #[inline(always)]
    pub fn expected(&self, older: [i32; N], is_line: bool) -> i32 {
        self.bits(subtract(self.words, older)) - if is_line { LINE_GAIN } else { 0 }
    }
}

/// What differences take: what comes before the first of them, and the bits of each. No step of it depends on a condition, so that many
/// can be computed [side by side](super::singles).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes<const N: usize> {
    pub head: i32,
    pub head_bits: i32,
    pub bits: [i32; N],
}

impl<const N: usize> Sizes<N> {
    #[inline(always)]
    pub fn new(differences: [i32; N], base: &Base<N>, expected: i32) -> Sizes<N> {
        const CLASS: i32 = CLASS_BITS as i32;
        let mut mask = 0;
        for (place, difference) in differences.into_iter().enumerate() {
            mask |= i32::from(difference != 0) << place;
        }
        let (is_all, is_none) = (mask == (1 << N) - 1, mask == 0);
        let (some, some_bits) = if N > 1 { (mask << CLASS, CLASS + N as i32) } else { (SOME, CLASS) };
        let (before, before_bits) = if is_all { (0, 0) } else { (some, some_bits) };
        let bits = base.bits(differences);
        let class = bits - expected.clamp(EXPECTED_MIN, EXPECTED_MAX) + AS_EXPECTED;
        let any = (ANY | (bits - 1) << CLASS, CLASS + ANY_BITS as i32);
        let (class, class_bits) = if (class > SOME) & (class < ANY) { (class, CLASS) } else { any };
        let (class, class_bits) = if is_none { (0, 0) } else { (class, class_bits) };
        Sizes {
            head: before | class << before_bits,
            head_bits: before_bits + class_bits,
            bits: core::array::from_fn(|place| {
                if differences[place] == 0 { 0 } else { base.count(place, bits) as i32 }
            }),
        }
    }

    /// All bits.
    #[inline(always)]
    pub fn sum(&self) -> i32 {
        let mut sum = self.head_bits;
        for bits in self.bits {
            sum += bits;
        }
        sum
    }

    /// Puts the differences.
    #[inline(always)]
    pub fn write(&self, differences: [i32; N], run: &mut impl Run) {
        let (mut head, mut length) = (self.head as u64, self.head_bits as u32);
        for (difference, bits) in differences.into_iter().zip(self.bits) {
            let low = u64::from(difference as u32) & ((1 << bits) - 1);
            run.put(head | low << length, length + bits as u32);
            (head, length) = (0, 0);
        }
    }
}

/// Puts differences from what is predicted of some singles.
#[inline(always)]
pub(super) fn put<const N: usize>(differences: [i32; N], base: &Base<N>, expected: i32, run: &mut impl Run) {
    Sizes::new(differences, base, expected).write(differences, run);
}

/// Reads what [`put`] wrote.
#[inline(always)]
pub(super) fn take<const N: usize>(
    base: &Base<N>,
    expected: i32,
    reader: &mut BitReader<'_>,
) -> Result<[i32; N], ReadError> {
    let mut class = reader.read_bits(CLASS_BITS)? as i32;
    let mut mask = (1 << N) - 1;
    if class == SOME {
        mask = if N > 1 { reader.read_bits(N as u32)? } else { 0 };
        if mask == 0 {
            return Ok([0; N]);
        }
        class = reader.read_bits(CLASS_BITS)? as i32;
    }
    let bits = match class {
        SOME => return Err(ReadError::InvalidCode),
        ANY => reader.read_bits(ANY_BITS)? as i32 + 1,
        class => expected.clamp(EXPECTED_MIN, EXPECTED_MAX) + class - AS_EXPECTED,
    };
    let mut differences = [0; N];
    for (place, difference) in differences.iter_mut().enumerate() {
        if mask >> place & 1 != 0 {
            *difference = reader.read_signed(base.count(place, bits))? as i32;
        }
    }
    Ok(differences)
}

/// Puts singles as differences from those of the only baseline.
pub(super) fn put_alone<const N: usize>(words: [i32; N], newer: [i32; N], run: &mut impl Run) {
    put(subtract(words, newer), &Base::new(newer), UNKNOWN, run);
}

/// Reads what [`put_alone`] wrote; refuses what is not finite.
pub(super) fn take_alone<const N: usize>(
    newer: [i32; N],
    reader: &mut BitReader<'_>,
) -> Result<[i32; N], ReadError> {
    add(newer, [0; N], take(&Base::new(newer), UNKNOWN, reader)?)
}

/// The differences of ordinals.
#[inline(always)]
fn subtract<const N: usize>(words: [i32; N], newer: [i32; N]) -> [i32; N] {
    core::array::from_fn(|place| ordinal(words[place]).wrapping_sub(ordinal(newer[place])))
}

/// The singles with these ordinals; refuses what is not finite.
#[inline(always)]
fn add<const N: usize>(
    newer: [i32; N],
    steps: [i32; N],
    differences: [i32; N],
) -> Result<[i32; N], ReadError> {
    let words: [i32; N] = core::array::from_fn(|place| {
        ordinal(ordinal(newer[place]).wrapping_add(steps[place]).wrapping_add(differences[place]))
    });
    if words.into_iter().all(is_finite) { Ok(words) } else { Err(ReadError::NonFinite) }
}

/// What the receiver knows of a position: the newer one, and the older one if there is a line through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub newer: &'a [i32; 4],
    pub older: Option<(&'a [i32; 4], &'a Line)>,
}

/// Longer differences of a position are not worth it: in full it takes 96 bits, and the form a symbol.
pub(super) const POSITION_BITS_MAX: u32 = 96 + 8;

/// How a position is said where there is a line: the differences, whether they are from that, and what they are measured by.
#[inline(always)]
pub(super) fn said(
    words: [i32; 3],
    newer: [i32; 3],
    older: [i32; 3],
    line: &Line,
) -> ([i32; 3], bool, Base<3>) {
    let (by_newer, steps) = (subtract(words, newer), steps(newer, older, line));
    let by_line: [i32; 3] = core::array::from_fn(|axis| by_newer[axis].wrapping_sub(steps[axis]));
    let base = Base::new(newer);
    let is_line = base.cost(by_line) < base.cost(by_newer);
    let differences = core::array::from_fn(|axis| if is_line { by_line[axis] } else { by_newer[axis] });
    (differences, is_line, base)
}

impl Known<'_> {
    /// A position, whose coordinates must be finite. With a line its first bit says whether the differences are from that.
    #[inline(always)]
    pub fn write<R: Run>(&self, words: &[i32; 4]) -> R {
        let mut run = R::default();
        let (words, newer) = (three(words), three(self.newer));
        let Some((older, line)) = self.older else {
            put_alone(words, newer, &mut run);
            return run;
        };
        let older = three(older);
        let (differences, is_line, base) = said(words, newer, older, line);
        run.put(u64::from(is_line), 1);
        put(differences, &base, base.expected(older, is_line), &mut run);
        run
    }

    /// Reads what [`write`](Known::write) wrote.
    #[inline(always)]
    pub fn read(&self, reader: &mut BitReader<'_>) -> Result<[i32; 4], ReadError> {
        let newer = three(self.newer);
        let [x, y, z] = match self.older {
            None => take_alone(newer, reader)?,
            Some((older, line)) => {
                let older = three(older);
                let is_line = reader.read_bool()?;
                let base = Base::new(newer);
                let differences = take(&base, base.expected(older, is_line), reader)?;
                let steps = if is_line { steps(newer, older, line) } else { [0; 3] };
                add(newer, steps, differences)?
            }
        };
        Ok([x, y, z, 1])
    }
}

#[inline(always)]
fn three(&[x, y, z, _]: &[i32; 4]) -> [i32; 3] {
    [x, y, z]
}

/// From the newer ordinals to where the line through both ends.
#[inline(always)]
fn steps(newer: [i32; 3], older: [i32; 3], line: &Line) -> [i32; 3] {
    subtract(newer, older).map(|rise| line.step(rise))
}

#[cfg(test)]
mod tests;

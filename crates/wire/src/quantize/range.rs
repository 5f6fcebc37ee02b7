//! Ranges that a schema chooses for itself.

use super::{QuantizeCounters, round_half_away, to_value, to_word};
use crate::bits::bits_for;

/// The finest step that a custom range may have is one millionth.
pub const PER_UNIT_MAX: u32 = 1_000_000;

/// The words that a value may take, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WordRange {
    min: i32,
    max: i32,
}

impl WordRange {
    /// Every word.
    pub const ALL: WordRange = WordRange { min: i32::MIN, max: i32::MAX };

    /// The words of `min..=max`.
    pub const fn new(min: i32, max: i32) -> Result<WordRange, RangeError> {
        if min > max {
            Err(RangeError::Empty { min: min as i64, max: max as i64 })
        } else {
            Ok(WordRange { min, max })
        }
    }

    /// The words of `-limit..=limit`; a negative limit counts as its magnitude.
    pub const fn symmetric(limit: i32) -> WordRange {
        let limit = limit.saturating_abs();
        WordRange { min: -limit, max: limit }
    }

    /// The smallest word.
    pub const fn min(self) -> i32 {
        self.min
    }

    /// The largest word.
    pub const fn max(self) -> i32 {
        self.max
    }

    /// The distance between the two ends: the largest offset that is coded.
    pub const fn span(self) -> u32 {
        self.max.wrapping_sub(self.min) as u32
    }

    /// The bits of an offset from the smallest word; zero if there is only one word.
    pub const fn bit_width(self) -> u32 {
        bits_for(self.span() as u64)
    }

    /// Whether `word` lies in the range.
    pub const fn contains(self, word: i32) -> bool {
        self.min <= word && word <= self.max
    }

    /// The word of the range that is nearest to `value`.
    pub const fn clamp(self, value: i64) -> i32 {
        if value < self.min as i64 {
            self.min
        } else if value > self.max as i64 {
            self.max
        } else {
            value as i32
        }
    }
}

/// A float field's own range and step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantizedRange {
    words: WordRange,
    per_unit: u32,
}

impl QuantizedRange {
    /// Values from `min` to `max` in steps of `1/per_unit`. The ends are rounded to whole steps.
    pub fn new(min: f64, max: f64, per_unit: u32) -> Result<QuantizedRange, RangeError> {
        if per_unit == 0 || per_unit > PER_UNIT_MAX {
            return Err(RangeError::PerUnit { per_unit });
        }
        let word = |field: &'static str, value: f64| {
            let word = round_half_away(value * f64::from(per_unit));
            match i32::try_from(word) {
                Ok(word) if value.is_finite() => Ok(word),
                _ => Err(RangeError::Unrepresentable { field, value: value.to_string(), per_unit }),
            }
        };
        let words = WordRange::new(word("min", min)?, word("max", max)?)?;
        Ok(QuantizedRange { words, per_unit })
    }

    /// The words of the range.
    pub const fn words(self) -> WordRange {
        self.words
    }

    /// Steps per unit.
    pub const fn per_unit(self) -> u32 {
        self.per_unit
    }

    /// The word nearest to `value`; beyond the ends it saturates, which is counted.
    pub fn quantize(self, value: f32, counters: &mut QuantizeCounters) -> i32 {
        to_word(f64::from(value), f64::from(self.per_unit), self.words.min, self.words.max, counters)
    }

    /// The value of a word.
    pub fn dequantize(self, word: i32) -> f32 {
        to_value(word, f64::from(self.per_unit))
    }
}

/// Why a range cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// The ends are swapped.
    #[error("min is {min} and max is {max}: min must not exceed max")]
    Empty {
        /// The lower end asked for.
        min: i64,
        /// The upper end asked for.
        max: i64,
    },
    /// The step is zero or too fine.
    #[error("per_unit is {per_unit}, allowed are 1 to {PER_UNIT_MAX}")]
    PerUnit {
        /// The steps per unit asked for.
        per_unit: u32,
    },
    /// An end is not finite, or has more steps than a 32-bit word.
    #[error("{field} is {value}: at {per_unit} steps per unit it does not fit a 32-bit word")]
    Unrepresentable {
        /// Which end.
        field: &'static str,
        /// Its value.
        value: String,
        /// The steps per unit asked for.
        per_unit: u32,
    },
}

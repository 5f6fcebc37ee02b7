//! What is said about a setting of this crate that cannot work: the same as in the layers below.

pub use netloom_replica::setting::SettingError;

/// Refuses `value` unless it lies within `range`, which NaN never does.
pub(crate) fn check<T: PartialOrd + ToString>(
    field: &'static str,
    value: T,
    range: std::ops::RangeInclusive<T>,
    allowed: &'static str,
) -> Result<(), SettingError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(SettingError { field, value: value.to_string(), allowed })
}

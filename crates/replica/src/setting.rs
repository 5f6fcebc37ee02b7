//! What is said about a setting that cannot work, on the server and on the client.

/// A setting outside its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{field} = {value} is not allowed: use {allowed}")]
pub struct SettingError {
    /// The field, as written in the configuration.
    pub field: &'static str,
    /// The value that was given.
    pub value: String,
    /// What would be accepted.
    pub allowed: &'static str,
}

impl SettingError {
    /// Refuses `value` unless it lies within `range`, which NaN never does.
    pub fn check<T: PartialOrd + ToString>(
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
}

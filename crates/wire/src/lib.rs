//! Netloom's wire encodings.
#![forbid(unsafe_code)]

pub mod time;
pub mod varint;

pub use time::Micros;

//! `#[derive(Replicated)]`: a plain struct becomes a kind of object.
#![forbid(unsafe_code)]

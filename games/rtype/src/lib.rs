//! R-TYPE: one to four ships against what the level sends, over Netloom.
//!
//! ```text
//!   rules       what happens in a step, in integers: no network, no clock, the same in Rust and in JavaScript
//!   protocol    what clients see of it, and what they can ask for
//!   classic     the same game over the classic protocol, for clients that know nothing of Netloom
//! ```
#![forbid(unsafe_code)]

pub mod classic;
pub mod protocol;
pub mod rules;

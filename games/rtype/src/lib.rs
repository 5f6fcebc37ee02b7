//! R-TYPE: one to four ships against what the level sends, over Netloom.
//!
//! ```text
//!   rules        what happens in a step, in integers: no network, no clock, the same in Rust and in JavaScript
//!   protocol     what clients see of it, and what they can ask for
//!   prediction   the own ship, ahead of the server
//!   game         the rules in a room: seats, lobby, bots, beams judged by what was seen
//!   broadcast    what of it clients hear, part by part
//!   classic      the same game over the classic protocol, for clients that know nothing of Netloom
//! ```
#![forbid(unsafe_code)]

pub mod broadcast;
pub mod classic;
pub mod game;
pub mod prediction;
pub mod protocol;
pub mod rules;

pub use game::Rtype;

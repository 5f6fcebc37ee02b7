//! Players and rooms, without I/O.
//!
//! A connection carries messages and a replica carries worlds; neither knows of the other. A session puts them together
//! into what a game is written against: players who join rooms, a world in each room that steps at a fixed rate and is
//! told to those who may see it, inputs on their way there, and calls in both directions.
#![forbid(unsafe_code)]

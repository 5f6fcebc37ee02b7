//! Faults of the first designs: each test runs the design to the letter until it fails, and this crate beside it, which
//! holds.

mod adaptation;
mod cheating;
mod gathering;

//! Netloom sim.
#![forbid(unsafe_code)]
pub mod network;
pub mod rng;

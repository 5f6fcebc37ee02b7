//! Netloom sim.
#![forbid(unsafe_code)]
pub mod check;
pub mod fault;
pub mod network;
pub mod report;
pub mod rng;
pub mod runner;

//! Everything that can go wrong between two machines, on purpose and reproducibly.
//!
//! A multiplayer stack is judged by its worst night, and the worst night cannot be waited for. This crate makes it, from
//! a seed, a thousand times a minute:
//!
//! | module | what it is |
//! |---|---|
//! | [`rng`] | randomness that a seed reproduces |
//! | [`network`] | loss, delay, duplication, corruption, bottlenecks, partitions and NATs in virtual time |
//! | [`fault`] | what goes wrong when |
//! | [`check`] | what must hold all the same |
//! | [`world`] | endpoints on the network, driven and watched |
//! | [`scenarios`] | the stories that every build must survive |
//! | [`runner`] | many seeds on all cores, and the command that replays a failure |
//! | [`report`] | what was measured |
//!
//! ```
//! use netloom_sim::{report::Report, scenarios};
//!
//! let scenario = scenarios::find("clean").expect("a scenario of this name");
//! let mut report = Report::new();
//! scenario.run(42, &mut report).expect("every promise holds");
//! assert!(report.value("handshake").is_some());
//! ```
#![forbid(unsafe_code)]

pub mod check;
pub mod fault;
pub mod network;
pub mod report;
pub mod runner;
pub mod scenarios;
pub mod world;

pub use netloom_transport::rng;

//! The stories that every build must survive.
//!
//! A scenario fixes the kind of night, the seed fixes the night. Add one by writing its file and naming it in [`ALL`].

mod attack;
mod crowd;
pub mod fairness;
pub mod feel;
mod liar;
mod pair;
mod rate;
pub mod replication;
mod restart;
mod session;
mod wrap;

pub use pair::{Pair, Plan};

use crate::runner::Scenario;

/// Every scenario, in the order of the command line's list.
pub const ALL: &[&dyn Scenario] = &[
    &session::CLEAN,
    &session::LOSSY,
    &session::PLAIN,
    &session::BURSTY,
    &session::JUMPY,
    &rate::Bottleneck,
    &rate::Distant,
    &crowd::Crowd,
    &restart::Restart,
    &attack::Attack,
    &liar::Liar,
    &wrap::Wrap,
    &replication::Replication,
    &fairness::Fairness,
    &feel::Feel,
];

/// The scenario of this name.
pub fn find(name: &str) -> Option<&'static dyn Scenario> {
    ALL.iter().copied().find(|scenario| scenario.name() == name)
}

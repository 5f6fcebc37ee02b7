//! What first: which of the changed objects go into a snapshot that cannot hold them all.
//!
//! A peer's budget is a few hundred bytes a tick, and more has changed than fits. Sending the nearest first starves
//! the rest for ever. So every object that waits gains credit at each tick, near and important ones faster, and the
//! highest accounts are paid first; what is sent starts again at zero, what is not keeps its account:
//!
//! ```text
//!  account
//!    │        /|      /|      /|        gain 3: sent every 2nd tick
//!    │      /  |    /  |    /  |
//!    │    /  _-|--/----|--/----|-_-     gain 1: sent every 6th
//!    │  /_-─   |/      |/      |/
//!    └──────────────────────────────▶ ticks
//! ```
//!
//! **Nobody starves.** Let g be the ratio of the largest gain to the smallest, which [`Weights`] bounds by its ceiling
//! and floor; N the objects that wait; m those that a snapshot surely holds beside the reserve. After g × ⌈N/m⌉ ticks
//! an object's account is higher than any other can become within ⌈N/m⌉ ticks from zero. Whoever is still ahead is sent
//! within those and does not come back in time. So every object is sent within **(g + 1) × ⌈N/m⌉** ticks.
//!
//! An object whose base priority is 0 gains nothing and is never sent. That is the only way to be left out.
//!
//! [`Waiting`] is the table of what waits for one peer, [`Weights`] says how fast it gains, [`Accounts`] keeps the
//! accounts of one peer and picks, [`Cadence`] and [`Phases`] hold objects back to fixed rates where a game prefers those.

mod accounts;
mod cadence;
#[cfg(test)]
mod tests;
mod waiting;
mod weights;

pub use accounts::{Accounts, Picking};
pub use cadence::{Cadence, Phases, Tier, Tiers};
pub use waiting::{Sight, Waiting};
pub use weights::{DistanceCurve, DistanceWeight, HalfAt, PLAYER_WEIGHT, ViewCone, WeightConfig, Weights};

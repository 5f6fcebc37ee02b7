//! What a server takes from a client: the checks that every game needs, and the account of who fails them.
//!
//! # The problem
//!
//! A client can be made to send anything. The usual checks fail because they believe some of it: a speed check that
//! multiplies the speed with the client's own dt allows 550 m in one step to whoever claims a dt of 100 s; one that
//! compares `speed · dt` with `1.2 · speed · dt` passes always; an interval between actions by the client's timestamps
//! measures what the client writes into them; and seconds in a float stop telling frames apart after some weeks.
//!
//! # The mechanism
//!
//! Everything here is paid for from accounts that fill with the *server's* time, in integers, and hold only so much:
//!
//! ```text
//!   server's time ──▶ account, capped ──▶ costs:  TimeBudget    the time that a command claims to take
//!                                                 Movement      the way, at the greatest speed
//!                                                 ActionRate    one
//! ```
//!
//! More commands, larger commands, commands held back and sent at once: none of them spends more than has passed and the
//! cap. What an honest player loses to the network (a pause, then all at once) is what the cap is for.
//!
//! | check | what it holds against |
//! |---|---|
//! | [`TimeBudget`] | running faster than time, by more commands or by longer ones |
//! | [`Movement`] | being somewhere without having been on the way |
//! | [`ActionRate`] | more of anything than a player can do |
//! | [`Cooldowns`] | an action again before its time, in ticks |
//! | [`check_mask`] | bits that no button has |
//! | [`Suspicion`] | doing so again and again: weighs, forgets, warns, and says when it is enough |
//!
//! [`Validator`] has one of each for a player. What depends on the game (ammunition, costs, walls) the game checks, and
//! reports with [`Validator::reject`], so that it counts and is answered like the rest.
//!
//! A refused command is answered with [`Rejected`]: its step, and why. Steps simulated by a server that takes one input
//! for each (`netloom_replica::server::input_queue`) need no time budget; it is for commands that carry a time of their own.

mod account;
mod cooldown;
mod movement;
mod rate;
mod reason;
mod suspicion;
mod time;
mod validator;

pub use cooldown::{ACTIONS_MAX, ActionId, Cooldowns};
pub use movement::{Movement, MovementRule};
pub use rate::{ActionRate, RateRule};
pub use reason::{REASON_TEXT_BYTES_MAX, REJECTED_BYTES_MAX, Reason, Rejected, RejectedMessage};
pub use suspicion::{RECENT_MAX, Suspicion, SuspicionRule, Verdict, Violation};
pub use time::{TimeBudget, TimeRule};
pub use validator::{Validator, ValidatorConfig};

/// Refuses a mask that has other bits than the allowed ones.
///
/// ```
/// use netloom_session::validate::{Reason, check_mask};
///
/// const BUTTONS: u32 = 0x1f;
/// assert_eq!(check_mask(0x11, BUTTONS), Ok(()));
/// assert_eq!(check_mask(0x31, BUTTONS), Err(Reason::Mask));
/// ```
pub fn check_mask(mask: u32, allowed: u32) -> Result<(), Reason> {
    if mask & !allowed == 0 { Ok(()) } else { Err(Reason::Mask) }
}

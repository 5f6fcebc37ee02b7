//! What a player must feel, whatever the network does.
//!
//! | promise | where |
//! |---|---|
//! | nothing jumps, nothing sweeps, nothing runs away, all is right when the network is | [`others`] |
//! | the own character reacts at once, is corrected only for a reason, and then smoothly | [`own`] |
//! | the time that is shown goes on at its pace; inputs come as early as they should; events come once | [`time`] |

mod others;
mod own;
mod time;

pub use others::OthersCheck;
pub use own::OwnCheck;
pub use time::{EventCheck, SlackCheck, ViewTimeCheck};

use netloom_wire::Micros;

use super::host::Host;
use super::player::{Frame, Player};
use crate::check::Violation;

/// A frame that takes longer is a pause.
const PAUSE: Micros = Micros::from_millis(150);

/// All checks.
#[derive(Debug)]
pub struct Checks {
    /// Of everybody else.
    pub others: OthersCheck,
    /// Of the own character.
    pub own: OwnCheck,
    /// Of the time that is shown.
    pub view_time: ViewTimeCheck,
    /// Of inputs.
    pub slack: SlackCheck,
    /// Of events.
    pub events: EventCheck,
}

impl Checks {
    /// Before anything.
    pub fn new(host: &Host, ticks_per_second: u32) -> Checks {
        Checks {
            others: OthersCheck::new(host.movers.len(), ticks_per_second),
            own: OwnCheck::default(),
            view_time: ViewTimeCheck::default(),
            slack: SlackCheck::default(),
            events: EventCheck::default(),
        }
    }

    /// Something happened after which time is needed to settle.
    pub fn disturb(&mut self, now: Micros) {
        self.slack.disturb(now);
    }

    /// From now on everything must be exactly right.
    pub fn set_calm(&mut self, is_calm: bool) {
        self.others.is_calm = is_calm;
        self.own.is_calm = is_calm;
    }

    /// After a step of the server.
    pub fn check_step(&mut self, host: &Host) -> Result<(), Violation> {
        self.own.check_step(host)
    }

    /// After a frame of the client.
    pub fn check_frame(
        &mut self,
        now: Micros,
        frame: &Frame,
        player: &Player,
        host: &Host,
    ) -> Result<(), Violation> {
        if frame.elapsed > PAUSE || frame.resync.is_some() {
            self.disturb(now);
        }
        self.view_time.check_frame(frame)?;
        self.others.check_frame(frame, host)?;
        self.own.check_frame(frame, player, host)?;
        self.events.check_frame(frame)?;
        self.slack.check_frame(now, player, host)
    }
}

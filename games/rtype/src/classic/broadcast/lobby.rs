//! Who is there, and who is ready.

use super::{Repeat, Sink};
use crate::classic::codec::{LobbyStatus, ToClient};

/// Says how the lobby is, in the game, too: whoever missed the end of a game hears of it here.
#[derive(Clone, Debug, Default)]
pub struct LobbyBroadcaster {
    status: Repeat<LobbyStatus>,
}

impl LobbyBroadcaster {
    /// Says how the lobby is.
    pub fn broadcast_status(&mut self, frame: u64, status: Option<LobbyStatus>, sink: &mut dyn Sink) {
        if let Some(status) = self.status.poll(frame, status) {
            sink.send(ToClient::LobbyStatus(status));
        }
    }

    /// The client asks.
    pub fn handle_asked(&mut self) {
        self.status.hurry();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Heard;
    use super::*;
    use crate::classic::codec::LobbyPhase;

    #[test]
    fn everybody_hears_at_once_that_somebody_is_ready() {
        let (mut broadcaster, mut heard) = (LobbyBroadcaster::default(), Heard::default());
        let one = LobbyStatus {
            players: 2,
            ready: 0,
            capacity: 4,
            minimum: 2,
            phase: LobbyPhase::Waiting,
            your_id: 1,
            your_ready: false,
        };
        let two = LobbyStatus { ready: 1, ..one };
        broadcaster.broadcast_status(0, None, &mut heard);
        broadcaster.broadcast_status(1, Some(one), &mut heard);
        broadcaster.broadcast_status(2, Some(one), &mut heard);
        broadcaster.broadcast_status(3, Some(two), &mut heard);
        broadcaster.handle_asked();
        broadcaster.broadcast_status(4, Some(two), &mut heard);
        assert_eq!(heard.messages, [one, two, two].map(ToClient::LobbyStatus));
    }
}

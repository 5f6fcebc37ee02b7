//! That the game runs, how it goes, and that it is over.

use super::{Repeat, Sink};
use crate::classic::codec::{GameInfo, GameOver, GameStart, ToClient};

/// Says that the game runs until the client steers, how its ship is in every frame, and the end until the lobby is back.
#[derive(Clone, Debug, Default)]
pub struct GameBroadcaster {
    start: Repeat<GameStart>,
    over: Repeat<GameOver>,
}

impl GameBroadcaster {
    /// Says that the game runs.
    pub fn broadcast_start(&mut self, frame: u64, start: Option<GameStart>, sink: &mut dyn Sink) {
        if let Some(start) = self.start.poll(frame, start) {
            sink.send(ToClient::GameStart(start));
        }
    }

    /// Says how the ship is.
    pub fn broadcast_game_info(&mut self, info: Option<GameInfo>, sink: &mut dyn Sink) {
        if let Some(info) = info {
            sink.send(ToClient::GameInfo(info));
        }
    }

    /// Says that it is over.
    pub fn broadcast_game_over(&mut self, frame: u64, over: Option<GameOver>, sink: &mut dyn Sink) {
        if let Some(over) = self.over.poll(frame, over) {
            sink.send(ToClient::GameOver(over));
        }
    }

    /// The client steers, so it knows that the game runs.
    pub fn handle_input(&mut self) {
        self.start.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Heard;
    use super::*;

    #[test]
    fn the_start_is_repeated_until_the_client_steers_and_said_anew_in_the_next_game() {
        let (mut broadcaster, mut heard) = (GameBroadcaster::default(), Heard::default());
        let start = GameStart { your_id: 3 };
        // An input of the game before confirms nothing.
        broadcaster.handle_input();
        (0..31).for_each(|frame| broadcaster.broadcast_start(frame, Some(start), &mut heard));
        assert_eq!(heard.messages.len(), 3);
        broadcaster.handle_input();
        (31..200).for_each(|frame| broadcaster.broadcast_start(frame, Some(start), &mut heard));
        assert_eq!(heard.messages.len(), 3);
        broadcaster.broadcast_start(200, None, &mut heard);
        broadcaster.broadcast_start(201, Some(start), &mut heard);
        assert_eq!(heard.messages, [ToClient::GameStart(start); 4]);
    }

    #[test]
    fn the_end_is_repeated_until_it_is_past() {
        let (mut broadcaster, mut heard) = (GameBroadcaster::default(), Heard::default());
        let over = GameOver { won: true, score: 1_200, level: 3 };
        (0..60).for_each(|frame| broadcaster.broadcast_game_over(frame, Some(over), &mut heard));
        (60..120).for_each(|frame| broadcaster.broadcast_game_over(frame, None, &mut heard));
        assert_eq!(heard.messages, [ToClient::GameOver(over); 4]);
    }
}

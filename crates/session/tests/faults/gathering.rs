//! When a game begins.

use netloom_replica::world::OwnerId;
use netloom_session::lobby::{Lobby, LobbyCommand, LobbyConfig, LobbyEvent, Phase, Recipient};
use netloom_wire::Micros;

const NOW: Micros = Micros::ZERO;

fn lobby_of_ready(players: u32) -> Lobby {
    let mut lobby = Lobby::new(LobbyConfig::default()).unwrap();
    for player in 0..players {
        lobby.join(OwnerId(player), "somebody", NOW).unwrap();
    }
    for player in 0..players {
        lobby.handle(OwnerId(player), LobbyCommand::Ready(true), NOW).unwrap();
    }
    lobby
}

/// X-R14: "all ready" of four seats, or of whoever is there.
#[test]
fn all_ready_never_begins_with_two_of_four_or_begins_with_one_and_ours_needs_two() {
    let of_all_seats = |ready: u32, _present: u32| ready == 4;
    let of_the_present = |ready: u32, present: u32| ready == present;
    assert!(!of_all_seats(2, 2), "two who want to play wait for ever");
    assert!(of_the_present(1, 1), "one who was faster plays alone");

    assert_eq!(lobby_of_ready(1).state().phase, Phase::Waiting);
    assert_eq!(lobby_of_ready(2).state().phase, Phase::Playing);
}

/// X-R11: a start that is said once and lost leaves its receiver in the lobby. Here it is an event for a reliable channel,
/// and the state says the same.
#[test]
fn a_start_is_told_to_each_by_itself_and_shows_in_the_state() {
    let mut lobby = lobby_of_ready(3);
    let told: Vec<(Recipient, LobbyEvent)> = std::iter::from_fn(|| lobby.poll_event()).collect();
    assert_eq!(told.len(), 3, "not before the third was ready");
    for (player, (to, event)) in told.into_iter().enumerate() {
        let your_id = OwnerId(player as u32);
        assert_eq!((to, event), (Recipient::Player(your_id), LobbyEvent::Started { your_id }));
    }
    assert_eq!(lobby.poll_state(NOW).unwrap().phase, Phase::Playing);
}

mod bytes;
mod flow;
mod manners;
mod model;

use netloom_replica::world::OwnerId;
use netloom_wire::Micros;

use super::*;

const NOW: Micros = Micros::from_secs(1_000);

/// A lobby, with players 0, 1, 2, … in it.
fn lobby_of(players: u32, config: LobbyConfig) -> Lobby {
    let mut lobby = Lobby::new(config).unwrap();
    for player in 0..players {
        lobby.join(OwnerId(player), &format!("player {player}"), NOW).unwrap();
    }
    lobby
}

/// The same, in a game of which everybody has been told.
fn game_of(players: u32, config: LobbyConfig) -> Lobby {
    let mut lobby = lobby_of(players, config);
    lobby.start(NOW).unwrap();
    lobby.update(NOW + Micros::from_secs(600));
    assert_eq!(lobby.state().phase, Phase::Playing);
    events(&mut lobby);
    lobby
}

fn ready(lobby: &mut Lobby, player: u32) {
    lobby.handle(OwnerId(player), LobbyCommand::Ready(true), NOW).unwrap();
}

fn events(lobby: &mut Lobby) -> Vec<(Recipient, LobbyEvent)> {
    std::iter::from_fn(|| lobby.poll_event()).collect()
}

fn started(players: &[u32]) -> Vec<(Recipient, LobbyEvent)> {
    let to = |id: &u32| (Recipient::Player(OwnerId(*id)), LobbyEvent::Started { your_id: OwnerId(*id) });
    players.iter().map(to).collect()
}

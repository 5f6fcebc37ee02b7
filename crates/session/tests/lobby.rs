//! Players meet in the lobby of a room before they play.

mod common;

use common::{Cubes, Keys, Net, Walker};
use netloom_session::client::{ClientEvent, Ending};
use netloom_session::config::{ClientConfig, Profile, RoomConfig, ServerConfig};
use netloom_session::lobby::{LobbyCommand, LobbyEvent, LobbyRefused, Phase};
use netloom_wire::Micros;

fn meeting() -> Net {
    let room = RoomConfig::for_profile("main", Profile::Lobby4);
    Net::new(ServerConfig::default(), room, Cubes::new(3))
}

fn phase(net: &Net, client: usize) -> Option<Phase> {
    net.clients[client].client.lobby_state().map(|state| state.phase)
}

#[test]
fn the_game_begins_when_all_are_ready_and_not_before() {
    let mut net = meeting();
    let [anna, bert] = ["Anna", "Bert"].map(|name| net.join(name));
    net.welcome(anna);
    net.welcome(bert);
    net.until("a lobby", |net| phase(net, bert).is_some());
    for client in [anna, bert] {
        net.clients[client].keys = Keys { x: 1, y: 0 };
    }
    net.run(Micros::from_secs(1));
    let place =
        |net: &Net| net.clients[anna].client.all::<Walker>().map(|(_, walker)| walker.at[0]).sum::<f32>();
    assert_eq!(place(&net), 0.0, "nobody moves in the lobby");
    net.clients[anna].client.lobby(LobbyCommand::Ready(true)).unwrap();
    net.run(Micros::from_secs(1));
    assert_eq!(phase(&net, anna), Some(Phase::Waiting), "Bert is not ready");
    net.clients[bert].client.lobby(LobbyCommand::Ready(true)).unwrap();
    for client in [anna, bert] {
        let your_id = net.clients[client].client.player().unwrap();
        net.until_event(client, "a start with the own id", |event| {
            *event == ClientEvent::Lobby(LobbyEvent::Started { your_id })
        });
    }
    net.run(Micros::from_secs(1));
    assert!(place(&net) > 2.0, "they walk: {}", place(&net));
    net.clients[anna].client.lobby(LobbyCommand::Restart).unwrap();
    net.until_event(bert, "the end of the game", |event| *event == ClientEvent::Lobby(LobbyEvent::Stopped));
    net.run(Micros::from_millis(200));
    let before = place(&net);
    net.run(Micros::from_secs(1));
    assert_eq!(place(&net), before, "everybody stands again");
}

#[test]
fn who_comes_late_watches_and_the_host_may_kick() {
    let mut net = meeting();
    let [anna, bert] = ["Anna", "Bert"].map(|name| net.join(name));
    net.welcome(anna);
    net.welcome(bert);
    for client in [anna, bert] {
        net.clients[client].client.lobby(LobbyCommand::Ready(true)).unwrap();
    }
    net.until("a game", |net| phase(net, anna) == Some(Phase::Playing));
    let carl = net.join("Anna");
    net.welcome(carl);
    net.until("a lobby", |net| phase(net, carl).is_some());
    let id = net.clients[carl].client.player().unwrap();
    let player = net.server.room(net.room).unwrap().player(id).unwrap();
    assert!(player.is_spectator);
    assert_eq!(player.name, "Anna (2)", "nobody pretends to be Anna");
    net.clients[bert].client.lobby(LobbyCommand::Kick { player: id, reason: "no" }).unwrap();
    net.until_event(bert, "a refusal", |event| {
        *event == ClientEvent::Lobby(LobbyEvent::Refused(LobbyRefused::NotHost))
    });
    net.clients[anna].client.lobby(LobbyCommand::Kick { player: id, reason: "no" }).unwrap();
    net.until_event(carl, "an end", |event| *event == ClientEvent::Ended(Ending::Kicked("no".to_owned())));
    assert!(!net.clients[bert].has(|event| matches!(event, ClientEvent::Ended(_))));
}

#[test]
fn who_watched_and_takes_a_seat_plays() {
    let mut net = meeting();
    let anna = net.join_with(ClientConfig {
        name: "Anna".to_owned(),
        is_spectator: true,
        ..ClientConfig::default()
    });
    let bert = net.join("Bert");
    net.welcome(anna);
    net.welcome(bert);
    net.clients[anna].client.lobby(LobbyCommand::Spectate(false)).unwrap();
    for client in [anna, bert] {
        net.clients[client].client.lobby(LobbyCommand::Ready(true)).unwrap();
    }
    net.until("a game", |net| phase(net, anna) == Some(Phase::Playing));
    net.clients[anna].keys = Keys { x: 1, y: 0 };
    net.run(Micros::from_secs(1));
    let walked = net.clients[bert].client.all::<Walker>().map(|(_, walker)| walker.at[0]).fold(0.0, f32::max);
    assert!(walked > 1.0, "she walks: {walked}");
}

#[test]
fn chat_in_a_lobby_is_cleaned_and_limited() {
    let mut net = meeting();
    let [anna, bert] = ["Anna", "Bert"].map(|name| net.join(name));
    net.welcome(anna);
    net.welcome(bert);
    for number in 0..20 {
        net.clients[anna].client.chat(false, &format!("\u{202e}line {number}\n")).unwrap();
    }
    net.run(Micros::from_secs(2));
    let lines: Vec<&String> = net.clients[bert]
        .events
        .iter()
        .filter_map(|event| if let ClientEvent::Said { text, .. } = event { Some(text) } else { None })
        .collect();
    assert!((3..=8).contains(&lines.len()), "a few lines at once: {lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("line ")), "{lines:?}");
}

#[test]
fn a_player_who_comes_back_finds_the_lobby_as_it_is() {
    let mut config = ServerConfig::default();
    config.connection.peer_timeout = Micros::from_secs(3);
    let mut net = Net::new(config, RoomConfig::for_profile("main", Profile::Lobby4), Cubes::new(1));
    let mut own = ClientConfig { name: "Anna".to_owned(), ..ClientConfig::default() };
    own.connection.peer_timeout = Micros::from_secs(3);
    let anna = net.join_with(own);
    net.welcome(anna);
    net.clients[anna].client.lobby(LobbyCommand::Ready(true)).unwrap();
    net.run(Micros::from_secs(1));
    net.clients[anna].is_plugged = false;
    net.run(Micros::from_secs(5));
    net.clients[anna].is_plugged = true;
    net.until_event(anna, "the old seat", |event| {
        matches!(event, ClientEvent::Welcomed { is_resumed: true, .. })
    });
    net.until("the lobby", |net| {
        net.clients[anna].client.lobby_state().is_some_and(|state| state.ready_count() == 1)
    });
}

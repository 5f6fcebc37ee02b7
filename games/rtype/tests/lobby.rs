//! Who plays, from the lobby to the end and back.

mod common;

use common::{Field, empty_level, level, levels};
use netloom::session::lobby::{LobbyCommand, Phase, Role};
use netloom::transport::link::LinkConfig;
use netloom_rtype::game::{BOTS, LEVEL, Setup};
use netloom_rtype::protocol::{BOT, Ship, Stage, asks, buttons, tells};

fn phase(field: &Field, player: usize) -> Option<Phase> {
    field.players[player].client.lobby_state().map(|lobby| lobby.phase)
}

#[test]
fn two_players_join_are_ready_and_both_are_in_the_game() {
    let mut field = Field::new(levels(), Setup { players_min: 2, ..Setup::default() });
    field.join("Ada");
    field.until("Ada is here", |field| phase(field, 0) == Some(Phase::Waiting));
    field.players[0].ready();
    field.run(3);
    assert_eq!(phase(&field, 0), Some(Phase::Waiting), "one is not enough");
    field.join("Bob");
    field.until("Bob is here", |field| phase(field, 1) == Some(Phase::Waiting));
    field.players[1].ready();
    field.until("both are in the game", |field| {
        (0..2).all(|player| phase(field, player) == Some(Phase::Playing))
    });
    field.until("each sees both ships", |field| {
        field.players.iter().all(|player| player.all::<Ship>().len() == 2 && player.ship().is_some())
    });
    let seats: Vec<u8> = field.players.iter().map(|player| player.ship().unwrap().seat).collect();
    assert_eq!(seats, [0, 1]);
    field.until("each hears of the level", |field| {
        field.players.iter().all(|player| player.called(tells::LEVEL_INFO).is_some())
    });
    let (number, seconds, name): (u8, u16, String) =
        field.players[1].called(tells::LEVEL_INFO).unwrap().args().unwrap();
    assert_eq!((number, seconds, name), (1, 0, levels().get(1).name.clone()));
}

#[test]
fn the_host_chooses_level_and_bots_and_one_player_and_three_bots_play_a_level() {
    let mut field = Field::new(levels(), Setup::default());
    field.join("Ada");
    field.until("Ada is here", |field| phase(field, 0) == Some(Phase::Waiting));
    for (key, value) in [(BOTS, "3"), (LEVEL, "1"), (LEVEL, "200"), ("gravity", "9")] {
        field.players[0].client.lobby(LobbyCommand::Set { key, value }).unwrap();
    }
    field.players[0].ready();
    field.until("there are four ships", |field| field.players[0].all::<Ship>().len() == 4);
    let pilots: Vec<u16> = field.players[0].all::<Ship>().iter().map(|ship| ship.pilot).collect();
    assert_eq!(pilots.iter().filter(|pilot| **pilot == BOT).count(), 3);
    // The player stays where it is; the bots do the work.
    field.until("the bots have points", |field| {
        field.players[0].all::<Ship>().iter().filter(|ship| ship.pilot == BOT).any(|ship| ship.score > 0)
    });
    field.until("the level is done, or lost", |field| {
        let stage = field.players[0].all::<Stage>();
        stage.iter().any(|stage| stage.level == 2) || field.players[0].called(tells::GAME_OVER).is_some()
    });
}

#[test]
fn who_comes_late_gets_a_seat_at_once_and_a_ship_with_the_next_wave() {
    let mut field = Field::new(levels(), Setup::default());
    field.play(&["Ada"]);
    field.until("the first wave is here", |field| {
        field.players[0].all::<Stage>().iter().any(|stage| stage.wave >= 1)
    });
    field.join("Bob");
    field.until("Bob has a seat", |field| {
        let lobby = field.players[1].client.lobby_state();
        lobby.is_some_and(|lobby| {
            lobby.members.iter().filter(|member| member.role == Role::Player).count() == 2
        })
    });
    field.until("everybody reads it", |field| {
        field.players[0].notices.iter().any(|text| text.contains("Bob takes seat 2"))
    });
    assert!(field.players[1].called(tells::LEVEL_INFO).is_some(), "who comes late hears where the game is");
    let wave = field.players[0].all::<Stage>()[0].wave;
    field.until("Bob has a ship", |field| field.players[1].ship().is_some());
    assert!(field.players[1].all::<Stage>()[0].wave > wave, "not before the next wave");
    assert_eq!(field.players[1].ship().unwrap().seat, 1);
}

#[test]
fn a_bot_makes_room_for_who_comes_late() {
    let mut field = Field::new(levels(), Setup { bots: 3, ..Setup::default() });
    field.play(&["Ada"]);
    field.join("Bob");
    field.until("Bob has a ship", |field| field.players.get(1).is_some_and(|player| player.ship().is_some()));
    field.until("Ada sees it", |field| {
        field.players[0].all::<Ship>().iter().filter(|ship| ship.pilot == BOT).count() == 2
    });
    assert_eq!(field.players[0].all::<Ship>().len(), 4);
}

#[test]
fn who_only_watches_has_no_ship_and_the_game_begins_without() {
    let mut field = Field::new(empty_level(), Setup::default());
    field.join("Ada");
    field.join_over("Zoe", LinkConfig::default(), true);
    field.until("both are here", |field| (0..2).all(|player| phase(field, player) == Some(Phase::Waiting)));
    field.players[0].ready();
    field.until("Zoe sees the ship of Ada", |field| field.players[1].all::<Ship>().len() == 1);
    field.players[1].buttons = buttons::RIGHT | buttons::SHOOT;
    field.run(2);
    assert!(field.players[1].ship().is_none());
    field.players[1].client.call(asks::CHOOSE_POWER, &(1, 0)).unwrap();
    field.until("it is refused", |field| {
        field.players[1].refusals.iter().any(|text| text.contains("no ship"))
    });
}

#[test]
fn who_leaves_takes_the_ship_along_and_the_seat_is_free_again() {
    let mut field = Field::new(empty_level(), Setup::default());
    field.play(&["Ada", "Bob"]);
    let now = field.now;
    field.players[0].client.disconnect(now);
    field.until("one ship is left", |field| field.players[1].all::<Ship>().len() == 1);
    assert_eq!(field.players[1].ship().unwrap().seat, 1);
}

#[test]
fn who_is_away_is_not_hit_and_finds_the_ship_where_it_was() {
    let mut field = Field::new(levels(), Setup { level: 4, ..Setup::default() });
    field.play(&["Ada", "Bob"]);
    field.players[0].is_plugged = false;
    field.until("the connection is lost", |field| {
        field.players[1].notices.iter().any(|text| text.contains("Ada has lost the connection"))
    });
    let ship =
        |field: &Field| field.players[1].all::<Ship>().into_iter().find(|ship| ship.seat == 0).unwrap();
    let before = ship(&field);
    field.run(10);
    let after = ship(&field);
    assert_eq!(
        (after.at, after.lives, after.shield, after.down),
        (before.at, before.lives, before.shield, 0)
    );
    assert!(after.safe > 0);
    field.players[0].is_plugged = true;
    field.until("Ada is back", |field| field.players[1].notices.iter().any(|text| text == "Ada is back"));
    field.players[0].buttons = buttons::RIGHT;
    field.until("the ship flies again", |field| ship(field).at[0] > after.at[0]);
    assert_eq!(field.players[0].count(tells::LEVEL_INFO), 2, "it is told again where the game is");
}

#[test]
fn a_lost_game_is_shown_and_then_everybody_is_in_the_lobby_for_another() {
    // A wall of drones, and nobody who shoots.
    let wall = r#"{ "name": "Wall", "seconds": 300, "waves": [ { "at_seconds": 0, "spawns": [
        { "kind": "drone", "count": 60, "every_steps": 40, "y": 180, "speed": 8 },
        { "kind": "drone", "count": 60, "every_steps": 40, "y": 180, "speed": 8, "after_steps": 2400 } ] } ] }"#;
    let mut field = Field::new(level(wall), Setup::default());
    field.play(&["Ada"]);
    field.until("it is over", |field| field.players[0].called(tells::GAME_OVER).is_some());
    let (won, _score, number): (bool, u32, u8) =
        field.players[0].called(tells::GAME_OVER).unwrap().args().unwrap();
    assert_eq!((won, number), (false, 1));
    field.run(5);
    assert_eq!(phase(&field, 0), Some(Phase::Playing), "the end is shown for a while");
    field.until("back in the lobby", |field| phase(field, 0) == Some(Phase::Waiting));
    field.until("nothing is left of it", |field| {
        field.players[0].client.objects().is_some_and(|objects| objects.is_empty())
    });
    field.players[0].ready();
    field.until("another game", |field| field.players[0].ship().is_some_and(|ship| ship.lives == 3));
    assert_eq!(field.players[0].all::<Stage>().len(), 1);
}

//! The classic protocol over real sockets, with the real game behind it.

mod classic_hall;

use std::net::UdpSocket;
use std::time::Duration;

use netloom_rtype::classic::DeskConfig;
use netloom_rtype::classic::broadcast::kind;
use netloom_rtype::classic::codec::{
    BossKind, Choice, ErrorCode, GamePhase, LobbyPhase, PlayerInput, PowerType, ToServer, WeaponType, opcode,
};
use netloom_rtype::game::Setup;
use netloom_rtype::protocol::buttons;

use classic_hall::{Hall, deadline, empty_level, levels, together};

#[test]
fn a_join_makes_the_client_count_one_and_a_goodbye_none() {
    let hall = Hall::open(empty_level(), Setup::default(), DeskConfig::default());
    let mut player = hall.join();
    deadline("it is counted", || hall.service.client_count() == 1);
    player.disconnect();
    assert!(!player.is_connected());
    deadline("it is gone", || hall.service.client_count() == 0);
}

#[test]
fn joining_is_answered_by_the_lobby() {
    let hall = Hall::open(empty_level(), Setup::default(), DeskConfig::default());
    let mut player = hall.join();
    player.until("the lobby is told", |seen| seen.lobby.is_some());
    let lobby = player.seen.lobby.unwrap();
    assert_eq!((lobby.players, lobby.ready, lobby.capacity, lobby.minimum), (1, 0, 4, 1));
    assert_eq!((lobby.phase, lobby.your_ready), (LobbyPhase::Waiting, false));
    player.client.send_ping().unwrap();
    player.until("the ping comes back", |seen| seen.count(opcode::PING) > 0);
}

#[test]
fn two_join_both_are_ready_and_both_are_in_the_game() {
    let setup = Setup { players_min: 2, ..Setup::default() };
    let hall = Hall::open(empty_level(), setup, DeskConfig::default());
    let mut players = [hall.join(), hall.join()];
    players[0].say(ToServer::Ready);
    players[0].until("one is ready", |seen| seen.lobby.is_some_and(|lobby| lobby.ready == 1));
    players[1].say(ToServer::Ready);
    for player in &mut players {
        player.until("the game begins", |seen| seen.start.is_some());
        player.until("both ships are seen", |seen| seen.of_kind(kind::PLAYER).len() == 2);
        let own = player.seen.start.unwrap().your_id;
        assert!(player.seen.of_kind(kind::PLAYER).contains(&own), "one's own is among them");
    }
    assert_ne!(players[0].seen.start, players[1].seen.start, "each is told its own id");
}

#[test]
fn a_classic_player_and_a_player_of_netloom_share_a_game() {
    let setup = Setup { players_min: 2, ..Setup::default() };
    let hall = Hall::open(empty_level(), setup, DeskConfig::default());
    let (mut native, mut classic) = (hall.join_native("ada"), hall.join());
    together(&mut native, &mut classic, "both are in the lobby", |native, _| native.lobby_players() == 2);
    native.ready();
    classic.say(ToServer::Ready);
    together(&mut native, &mut classic, "both ships are seen by both", |native, seen| {
        native.ships() == 2 && seen.start.is_some() && seen.of_kind(kind::PLAYER).len() == 2
    });
    let (own, other) = (classic.seen.start.unwrap().your_id, u32::from(native.id()));

    let start = native.ship(own as u16).unwrap().at;
    classic.input = PlayerInput::UP.with(PlayerInput::RIGHT).with(PlayerInput::SHOOT);
    together(&mut native, &mut classic, "the classic ship flies up and to the right", |_, seen| {
        seen.entity(own).is_some_and(|own| own.vx > 0.0 && own.vy < 0.0)
    });
    together(&mut native, &mut classic, "its shots are seen, and cost", |_, seen| {
        !seen.of_kind(kind::SHOT).is_empty() && seen.info.is_some_and(|info| info.ammo < 60)
    });
    together(&mut native, &mut classic, "the other sees it fly, too", |native, _| {
        native.ship(own as u16).is_some_and(|ship| ship.at[0] > start[0] && ship.at[1] < start[1])
    });

    let before = classic.seen.entity(other).unwrap();
    native.buttons = buttons::DOWN;
    together(&mut native, &mut classic, "the classic player sees the other fly", |_, seen| {
        seen.entity(other).is_some_and(|ship| ship.y > before.y + 50.0 && ship.vy > 0.0)
    });
}

/// A capsule in front of the first seat, a weapon after the level, a boss in the next one, and the end.
const WHOLE_GAME: [&str; 2] = [
    r#"{ "name": "First", "seconds": 4, "waves": [ { "at_seconds": 0, "spawns": [
        { "kind": "drone", "count": 3, "every_steps": 30, "x": 900, "y": 450, "speed": 1, "capsule": true } ] } ] }"#,
    r#"{ "name": "Second", "seconds": 1, "boss": "warden", "waves": [ { "at_seconds": 0, "spawns": [
        { "kind": "drone", "count": 1 } ] } ] }"#,
];

#[test]
fn a_whole_game_is_told_power_ups_weapons_levels_the_boss_and_the_end() {
    let hall = Hall::open(levels(&WHOLE_GAME), Setup::default(), DeskConfig::default());
    let mut player = hall.join();
    player.until("the lobby is told", |seen| seen.lobby.is_some());
    player.say(ToServer::Ready);
    player.until("the game begins", |seen| seen.start.is_some() && seen.info.is_some());
    let id = player.seen.start.unwrap().your_id;
    player.until("the level is told", |seen| seen.level.is_some_and(|level| level.level == 1));

    player.hunt(id, "a capsule is left and announced", |seen| seen.capsule.is_some());
    let capsule = player.seen.capsule.unwrap();
    assert!((1..=3).contains(&capsule.kind));
    player.hunt(id, "an offer comes with it", |seen| seen.powers.is_some_and(|powers| powers.offer != 0));
    let powers = player.seen.powers.unwrap();
    player.say(ToServer::ChoosePower(Choice { offer: powers.offer, choice: 9 }));
    player.until("a choice that is none is refused", |seen| {
        seen.errors
            .iter()
            .any(|error| (error.code, error.opcode) == (ErrorCode::Refused, opcode::POWERUP_CHOICE))
    });
    let choice = powers.choices.iter().position(|power| *power == PowerType::Shield).unwrap() as u8;
    player.say(ToServer::ChoosePower(Choice { offer: powers.offer, choice }));
    player.until("the shield is told", |seen| {
        seen.powers.is_some_and(|powers| powers.taken == PowerType::Shield && powers.offer == 0)
    });
    player.until("and worn", |seen| seen.info.is_some_and(|info| info.shield > 0));

    player.hunt(id, "the level is done and a weapon offered", |seen| seen.weapons.is_some());
    let weapons = player.seen.weapons.unwrap();
    assert_eq!(weapons.choices[2], WeaponType::None, "there are two to choose from");
    player.say(ToServer::ChooseWeapon(Choice { offer: weapons.offer, choice: 1 }));
    player.until("the weapon is confirmed", |seen| {
        seen.armed.is_some_and(|armed| armed.offer == weapons.offer)
    });
    assert_eq!(player.seen.armed.unwrap().weapon, weapons.choices[1]);
    player.until("and carried", |seen| seen.info.is_some_and(|info| info.weapon == weapons.choices[1]));

    player.input = PlayerInput::default();
    player.until("the next level is told", |seen| seen.level.is_some_and(|level| level.level == 2));
    player.until("the boss is announced", |seen| seen.boss.is_some_and(|boss| boss.kind == BossKind::Warden));
    let boss = player.seen.boss.unwrap().id;
    player.until("and seen", |seen| seen.entity(boss).is_some_and(|boss| boss.kind == kind::BOSS));
    assert_eq!(player.seen.info.unwrap().phase, GamePhase::Boss);
    player.input = PlayerInput::RIGHT;
    player.until("the end is told", |seen| seen.over.is_some());
    assert!(!player.seen.over.unwrap().won);
    player.until("the lobby is back", |seen| {
        seen.lobby.is_some_and(|lobby| lobby.phase == LobbyPhase::Waiting && !lobby.your_ready)
    });
}

#[test]
fn the_bare_bytes_of_the_format_play_where_loopback_is_trusted() {
    let config = DeskConfig { trusts_loopback: true, ..DeskConfig::default() };
    let hall = Hall::open(empty_level(), Setup::default(), config);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(hall.service.address()).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let until = |what, say: &[u8], wanted: u8, is_it: fn(&[u8]) -> bool| {
        deadline(what, || {
            socket.send(say).unwrap();
            let mut buffer = [0; 1_500];
            let heard = socket.recv(&mut buffer).map(|length| buffer[..length].to_vec()).unwrap_or_default();
            heard.first() == Some(&wanted) && is_it(&heard)
        });
    };
    until("the lobby answers", &[0x01, 0, 0], opcode::LOBBY_STATUS, |_| true);
    until("the game begins", &[0x03, 0, 0], opcode::GAME_START, |_| true);
    // The first entity is the only ship, and the last of its velocity is at 23 bytes.
    until("the ship flies", &[0x10, 0x01, 0x00, 0x19], opcode::ENTITY_POSITIONS, |heard| {
        heard.get(23..27).is_some_and(|vy| f32::from_le_bytes(vy.try_into().unwrap()) < 0.0)
    });
}

#[test]
fn without_that_trust_the_bare_join_gets_three_bytes_and_nothing_after_them() {
    let hall = Hall::open(empty_level(), Setup::default(), DeskConfig::default());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(hall.service.address()).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut buffer = [0; 1_500];
    deadline("an answer comes", || {
        socket.send(&[0x01, 0, 0]).unwrap();
        socket.recv(&mut buffer).is_ok_and(|length| buffer[..length] == [0x05, 0, 0])
    });
    for _ in 0..5 {
        socket.send(&[0x03, 0, 0]).unwrap();
        socket.send(&[0x10, 1, 0, 0x19]).unwrap();
    }
    while let Ok(length) = socket.recv(&mut buffer) {
        assert_eq!(buffer[..length], [0x05, 0, 0]);
    }
    assert_eq!(hall.service.client_count(), 0);
}

#[test]
fn a_fifth_player_watches() {
    let hall = Hall::open(empty_level(), Setup { players_min: 4, ..Setup::default() }, DeskConfig::default());
    let mut players = [hall.join(), hall.join(), hall.join(), hall.join()];
    players[0].until("all have seats", |seen| seen.lobby.is_some_and(|lobby| lobby.players == 4));
    let mut fifth = hall.join();
    fifth.say(ToServer::Ready);
    fifth.until("the lobby is told", |seen| seen.lobby.is_some_and(|lobby| lobby.players == 4));
    players.iter().for_each(|player| player.say(ToServer::Ready));
    fifth.until("four ships fly", |seen| seen.of_kind(kind::PLAYER).len() == 4);
    assert!(fifth.seen.start.is_none() && fifth.seen.info.is_none(), "none of them is its own");
}

#[test]
fn players_are_told_when_the_server_stops() {
    let hall = Hall::open(empty_level(), Setup::default(), DeskConfig::default());
    let mut player = hall.join();
    player.until("the lobby is told", |seen| seen.lobby.is_some());
    let Hall { server, service, .. } = hall;
    server.stop("that was it").unwrap();
    player.until("the end is told", |seen| seen.errors.iter().any(|error| error.code == ErrorCode::Ended));
    deadline("there is no session any more", || !player.client.is_connected());
    assert_eq!(player.client.ended(), Some(ErrorCode::Ended));
    service.stop();
}

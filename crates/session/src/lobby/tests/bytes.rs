//! Everything of a lobby as bytes.

use netloom_replica::world::TeamId;
use netloom_wire::ReadError;
use proptest::prelude::*;

use super::*;

fn written(write: impl FnOnce(&mut [u8]) -> Result<usize, netloom_wire::WriteError>) -> Vec<u8> {
    let mut buffer = vec![0; LOBBY_STATE_BYTES_MAX];
    let length = write(&mut buffer).unwrap();
    buffer.truncate(length);
    buffer
}

/// Whatever reads must write back to the same bytes, for each kind of message.
fn check_canonical(bytes: &[u8]) {
    if let Ok(command) = LobbyCommand::read(bytes) {
        assert_eq!(written(|buffer| command.write(buffer)), bytes);
    }
    if let Ok(event) = LobbyEvent::read(bytes) {
        assert_eq!(written(|buffer| event.write(buffer)), bytes);
    }
    if let Ok(state) = LobbyState::read(bytes) {
        assert_eq!(written(|buffer| state.write(buffer)), bytes);
    }
}

fn commands() -> [LobbyCommand<'static>; 11] {
    [
        LobbyCommand::Ready(true),
        LobbyCommand::Team(TeamId(3)),
        LobbyCommand::Spectate(false),
        LobbyCommand::Rename("Anna"),
        LobbyCommand::Set { key: "map", value: "moon" },
        LobbyCommand::Start,
        LobbyCommand::Cancel,
        LobbyCommand::Restart,
        LobbyCommand::Kick { player: OwnerId(7), reason: "away" },
        LobbyCommand::Chat("hello"),
        LobbyCommand::TeamChat("left"),
    ]
}

fn some_events() -> [LobbyEvent; 6] {
    let chat = |from, team| LobbyEvent::Chat { from, team, text: "hello".into() };
    [
        LobbyEvent::Started { your_id: OwnerId(0x0102_0304) },
        LobbyEvent::Stopped,
        LobbyEvent::Kicked { player: OwnerId(7), reason: "away".into() },
        chat(Some(OwnerId(1)), Some(TeamId(2))),
        chat(None, None),
        LobbyEvent::Refused(LobbyRefused::NotHost),
    ]
}

fn state() -> LobbyState {
    let setting = SettingRule { key: "map".into(), value: "moon".into(), allowed: vec![] };
    let config = LobbyConfig { teams: 2, settings: vec![setting], ..LobbyConfig::default() };
    let mut lobby = lobby_of(5, LobbyConfig { countdown: Micros::from_secs(5), ..config });
    ready(&mut lobby, 2);
    lobby.start(NOW).unwrap();
    lobby.state().clone()
}

#[test]
fn every_message_returns_as_it_was() {
    for command in commands() {
        let bytes = written(|buffer| command.write(buffer));
        assert_eq!(LobbyCommand::read(&bytes), Ok(command));
    }
    for event in some_events() {
        let bytes = written(|buffer| event.write(buffer));
        assert_eq!(LobbyEvent::read(&bytes), Ok(event));
    }
    let bytes = written(|buffer| state().write(buffer));
    assert_eq!(LobbyState::read(&bytes), Ok(state()));
    assert_eq!(bytes.len(), 103, "five players, a setting and a countdown");
}

#[test]
fn bytes_are_those_of_the_standard() {
    let command = LobbyCommand::Kick { player: OwnerId(7), reason: "away" };
    assert_eq!(written(|buffer| command.write(buffer)), b"\x08\x07\0\0\0\x04away");
    let [started, .., chat, _] = some_events();
    assert_eq!(written(|buffer| started.write(buffer)), [0, 4, 3, 2, 1]);
    assert_eq!(written(|buffer| chat.write(buffer)), b"\x03\x01\x05hello");
    let bytes = written(|buffer| lobby_of(1, LobbyConfig::default()).state().write(buffer));
    assert_eq!(bytes, b"\0\x01\0\0\0\0\x04\x02\0\x04\0\x01\0\0\0\0\0\x08player 0");
}

#[test]
fn a_message_cut_anywhere_or_extended_is_refused() {
    for command in commands() {
        let mut bytes = written(|buffer| command.write(buffer));
        assert!((0..bytes.len()).all(|length| LobbyCommand::read(&bytes[..length]).is_err()));
        bytes.push(0);
        assert_eq!(LobbyCommand::read(&bytes), Err(ReadError::TrailingData));
    }
    for event in some_events() {
        let mut bytes = written(|buffer| event.write(buffer));
        assert!((0..bytes.len()).all(|length| LobbyEvent::read(&bytes[..length]).is_err()));
        bytes.push(0);
        assert_eq!(LobbyEvent::read(&bytes), Err(ReadError::TrailingData));
    }
    let mut bytes = written(|buffer| state().write(buffer));
    assert!((0..bytes.len()).all(|length| LobbyState::read(&bytes[..length]).is_err()));
    bytes.push(0);
    assert_eq!(LobbyState::read(&bytes), Err(ReadError::TrailingData));
}

#[test]
fn unknown_kinds_codes_bits_and_teams_are_refused() {
    assert_eq!(LobbyCommand::read(&[11]), Err(ReadError::OutOfRange));
    assert_eq!(LobbyCommand::read(&[0, 2]), Err(ReadError::InvalidBool));
    assert_eq!(LobbyEvent::read(&[5]), Err(ReadError::OutOfRange));
    assert_eq!(LobbyEvent::read(&[4, 0]), Err(ReadError::OutOfRange));
    assert_eq!(LobbyEvent::read(&[3, 4, 0]), Err(ReadError::ReservedBits));
    assert_eq!(LobbyState::read(&[3]), Err(ReadError::OutOfRange));
    assert_eq!(LobbyState::read(&[0, 0, 65]), Err(ReadError::TooLong));
    let member = |flags, rest: &[u8]| [&[0, 0, 4, 2, 1, 4, 0, 1, 9, 0, 0, 0, flags], rest].concat();
    assert!(LobbyState::read(&member(4, &[0, 0, 1, b'x'])).is_ok());
    assert_eq!(LobbyState::read(&member(4, &[1, 0, 1, b'x'])), Err(ReadError::OutOfRange), "one team");
    assert_eq!(LobbyState::read(&member(8, &[1, b'x'])), Err(ReadError::ReservedBits));
}

#[test]
fn the_largest_of_each_fits_its_limit() {
    let text = "🦊".repeat(500);
    let command = LobbyCommand::Kick { player: OwnerId(u32::MAX), reason: &text };
    assert_eq!(written(|buffer| command.write(buffer)).len(), LOBBY_COMMAND_BYTES_MAX);
    let event = LobbyEvent::Chat { from: Some(OwnerId(1)), team: Some(TeamId(1)), text };
    assert_eq!(written(|buffer| event.write(buffer)).len(), LOBBY_EVENT_BYTES_MAX);
    let member = Member {
        player: OwnerId(1),
        name: "🦊".repeat(32),
        role: Role::Player,
        team: Some(TeamId(1)),
        is_ready: true,
    };
    let state = LobbyState {
        phase: Phase::Countdown { left: Micros::from_secs(600) },
        host: Some(OwnerId(1)),
        players_max: PLAYERS_MAX,
        players_min: PLAYERS_MAX,
        teams: TEAMS_MAX,
        spectators_max: SPECTATORS_MAX,
        settings: vec![("k".repeat(32), "v".repeat(64)); SETTINGS_MAX],
        members: vec![member; PLAYERS_MAX + SPECTATORS_MAX],
    };
    assert_eq!(written(|buffer| state.write(buffer)).len(), LOBBY_STATE_BYTES_MAX);
}

proptest! {
    #[test]
    fn what_reads_writes_back_to_the_same_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check_canonical(&bytes);
    }

    #[test]
    fn and_so_does_what_was_damaged(
        which in 0usize..18, changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = match which {
            0..11 => written(|buffer| commands()[which].write(buffer)),
            11..17 => written(|buffer| some_events()[which - 11].write(buffer)),
            _ => written(|buffer| state().write(buffer)),
        };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        check_canonical(&bytes);
    }
}

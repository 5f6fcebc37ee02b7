//! Players who say anything to a lobby, and clients that hear anything from one.

use netloom_replica::world::OwnerId;
use netloom_session::lobby::{
    EVENTS_WAITING_MAX, LOBBY_COMMAND_BYTES_MAX, LOBBY_EVENT_BYTES_MAX, LOBBY_STATE_BYTES_MAX, LateJoin,
    Lobby, LobbyCommand, LobbyConfig, LobbyEvent, LobbyState, Phase, Role, SettingRule, StartRule,
};
use netloom_session::validate::{REJECTED_BYTES_MAX, RejectedMessage};
use netloom_wire::{MessageBuffer, Micros};

use crate::input::Input;

/// Operations per input.
const OPERATIONS_MAX: usize = 400;
const PLAYERS: u8 = 10;
const PLAYERS_MAX: usize = 4;
const PLAYERS_MIN: usize = 2;
const SPECTATORS_MAX: usize = 3;
/// What a restart or a start can add to a queue that was not full.
const EVENTS_AT_ONCE: usize = PLAYERS_MAX + SPECTATORS_MAX + 2;

/// Takes in commands between joins, leaves and ticks; reads events, states and rejections.
pub fn session_lobby(data: &[u8]) {
    check_canonical(data);
    let mut input = Input::new(data);
    let mut lobby = Lobby::new(config(&mut input)).expect("settings within their ranges");
    let mut now = Micros(1_000_000);
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        let operation = input.u8();
        let player = OwnerId((operation % PLAYERS).into());
        match input.u8() % 8 {
            0 | 1 => {
                let length = usize::from(input.u8());
                let name = String::from_utf8_lossy(input.bytes(length));
                let _ = lobby.join(player, &name, now);
            }
            2 => {
                let _ = lobby.leave(player, now);
            }
            3 => {
                now += Micros(input.u32().into());
                lobby.update(now);
            }
            4 => {
                drain(&mut lobby);
                lobby.poll_state(now);
            }
            _ => {
                let length = usize::from(input.u8());
                if let Ok(command) = LobbyCommand::read(input.bytes(length)) {
                    let _ = lobby.handle(player, command, now);
                }
            }
        }
        check(&lobby);
    }
    drain(&mut lobby);
}

fn config(input: &mut Input<'_>) -> LobbyConfig {
    let any = SettingRule { key: "title".to_owned(), ..SettingRule::default() };
    LobbyConfig {
        players_max: PLAYERS_MAX,
        players_min: PLAYERS_MIN,
        spectators_max: SPECTATORS_MAX,
        teams: input.choice(3),
        start: input.pick([StartRule::AllReady, StartRule::Host]),
        late_join: input.pick([LateJoin::Spectate, LateJoin::Play, LateJoin::Refuse]),
        countdown: Micros(u64::from(input.u16()) * 100),
        settings: vec![any],
        ..LobbyConfig::default()
    }
}

/// Whatever reads says the same when it is written again.
fn check_canonical(data: &[u8]) {
    let mut buffer = vec![0; LOBBY_STATE_BYTES_MAX];
    if let Ok(command) = LobbyCommand::read(data) {
        let length = command.write(&mut buffer[..LOBBY_COMMAND_BYTES_MAX]).expect("it was read");
        assert_eq!(&buffer[..length], data);
    }
    if let Ok(event) = LobbyEvent::read(data) {
        let length = event.write(&mut buffer[..LOBBY_EVENT_BYTES_MAX]).expect("it was read");
        assert_eq!(&buffer[..length], data);
    }
    if let Ok(state) = LobbyState::read(data) {
        let length = state.write(&mut buffer).expect("it was read");
        assert_eq!(&buffer[..length], data);
    }
    if let Ok(message) = RejectedMessage::read(data) {
        let mut out = MessageBuffer::new(REJECTED_BYTES_MAX);
        message.write(&mut out);
        assert_eq!(out.finish().expect("it was read"), data);
    }
}

/// Seats, names, the host and the start are right, and what everybody is told can be written and read.
fn check(lobby: &Lobby) {
    let state = lobby.state();
    let players = state.players().count();
    assert!(players <= PLAYERS_MAX && state.members.len() - players <= SPECTATORS_MAX);
    assert_eq!(state.host.is_some(), players > 0);
    if let Some(host) = state.host {
        assert_eq!(state.member(host).map(|member| member.role), Some(Role::Player));
    }
    for (place, member) in state.members.iter().enumerate() {
        assert!(!member.name.is_empty() && !member.name.contains(char::is_control));
        let others = &state.members[..place];
        assert!(others.iter().all(|other| other.name != member.name && other.player != member.player));
    }
    if matches!(state.phase, Phase::Countdown { .. }) {
        assert!(players >= PLAYERS_MIN);
    }
    let mut buffer = vec![0; LOBBY_STATE_BYTES_MAX];
    let length = state.write(&mut buffer).expect("a state fits its limit");
    let read = LobbyState::read(&buffer[..length]).expect("what a lobby says can be read");
    assert_eq!(read.members, state.members);
}

/// What a lobby has to tell can be written and read, and is not more than it may be.
fn drain(lobby: &mut Lobby) {
    let (mut told, mut buffer) = (0, [0; LOBBY_EVENT_BYTES_MAX]);
    while let Some((_, event)) = lobby.poll_event() {
        let length = event.write(&mut buffer).expect("an event fits its limit");
        assert_eq!(LobbyEvent::read(&buffer[..length]), Ok(event));
        told += 1;
    }
    assert!(told <= EVENTS_WAITING_MAX + EVENTS_AT_ONCE);
}

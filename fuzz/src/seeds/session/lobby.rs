//! Seeds for the lobby of sessions.

use netloom_replica::world::{OwnerId, TeamId};
use netloom_session::lobby::{
    LOBBY_STATE_BYTES_MAX, Lobby, LobbyCommand, LobbyConfig, LobbyEvent, LobbyRefused, SettingRule,
};
use netloom_session::validate::{REJECTED_BYTES_MAX, Reason, Rejected, RejectedMessage};
use netloom_wire::{MessageBuffer, Micros, Tick, WriteError};

use super::super::{Seed, seed};

pub fn seeds() -> Vec<Seed> {
    let [first, second] = [OwnerId(0), OwnerId(1)];
    let chat = LobbyEvent::Chat { from: Some(first), team: Some(TeamId(1)), text: "left".to_owned() };
    let kicked = LobbyEvent::Kicked { player: second, reason: "away".to_owned() };
    let rejected = Rejected { step: Tick(7), reason: Reason::Game(3) };
    let mut rejected_bytes = MessageBuffer::new(REJECTED_BYTES_MAX);
    RejectedMessage::new(rejected, "no ammunition").write(&mut rejected_bytes);
    let rejected_bytes = rejected_bytes.as_bytes().to_vec();
    let message = |name, write: &dyn Fn(&mut [u8]) -> Result<usize, WriteError>| {
        seed("session_lobby", name, &[&written(write)])
    };
    vec![
        message("set", &|buffer| LobbyCommand::Set { key: "map", value: "moon" }.write(buffer)),
        message("kick", &|buffer| LobbyCommand::Kick { player: second, reason: "away" }.write(buffer)),
        message("chat", &|buffer| chat.write(buffer)),
        message("kicked", &|buffer| kicked.write(buffer)),
        message("refused", &|buffer| LobbyEvent::Refused(LobbyRefused::NotHost).write(buffer)),
        seed("session_lobby", "rejected", &[&rejected_bytes]),
        message("state", &|buffer| lobby().state().write(buffer)),
        seed("session_lobby", "game", &[&game()]),
    ]
}

fn written(write: &dyn Fn(&mut [u8]) -> Result<usize, WriteError>) -> Vec<u8> {
    let mut buffer = vec![0; LOBBY_STATE_BYTES_MAX];
    let length = write(&mut buffer).expect("it fits");
    buffer.truncate(length);
    buffer
}

fn lobby() -> Lobby {
    let map = SettingRule { key: "map".to_owned(), value: "moon".to_owned(), allowed: Vec::new() };
    let config = LobbyConfig { teams: 2, settings: vec![map], ..LobbyConfig::default() };
    let mut lobby = Lobby::new(config).expect("settings within their ranges");
    for (player, name) in ["Anna", "Bert", "Zoë"].into_iter().enumerate() {
        lobby.join(OwnerId(player as u32), name, Micros::ZERO).expect("a free seat");
    }
    lobby
}

/// Two join, are ready, play, talk, and go back.
fn game() -> Vec<u8> {
    let settings = [2, 0, 0, 0, 0];
    let join = |player: u8, name: &str| [&[player, 0, name.len() as u8], name.as_bytes()].concat();
    let command = |player: u8, command: LobbyCommand<'_>| {
        let bytes = written(&|buffer| command.write(buffer));
        [&[player, 5, bytes.len() as u8], bytes.as_slice()].concat()
    };
    let tick = [0, 3, 0x40, 0x42, 0x0f, 0, 0, 4];
    [
        settings.to_vec(),
        join(0, "Anna"),
        join(1, "Anna"),
        command(0, LobbyCommand::Ready(true)),
        command(1, LobbyCommand::Ready(true)),
        tick.to_vec(),
        command(1, LobbyCommand::TeamChat("left")),
        join(2, "late"),
        command(0, LobbyCommand::Restart),
        tick.to_vec(),
        command(0, LobbyCommand::Kick { player: OwnerId(1), reason: "away" }),
        command(0, LobbyCommand::Set { key: "title", value: "again" }),
    ]
    .concat()
}

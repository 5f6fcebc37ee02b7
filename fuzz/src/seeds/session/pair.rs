//! Seeds for sessions: what honest players and servers say.

use netloom_session::channel::{CONTROL, ORDERED};
use netloom_session::message::{MESSAGE_BYTES_MAX, NoticeKind, ToClient, ToServer};
use netloom_wire::{Alias, MessageBuffer, Tick};

use super::super::{Seed, seed};

pub fn seeds() -> Vec<Seed> {
    vec![
        seed("session_pair", "server", &[&[0, 0], &to_server()]),
        seed("session_pair", "lobby", &[&[0, 1], &to_server()]),
        seed("session_pair", "client", &[&[1], &to_client()]),
    ]
}

/// Ticks in which a connection is made, and nothing can be said.
fn silence(ticks: usize) -> Vec<u8> {
    vec![0; 2 * ticks]
}

fn spoken(channel: u8, bytes: &[u8]) -> Vec<u8> {
    [&[channel, bytes.len() as u8], bytes].concat()
}

fn to_server() -> Vec<u8> {
    let object = Alias { slot: 0, generation: 0 };
    let mut out = MessageBuffer::new(MESSAGE_BYTES_MAX);
    let mut said = silence(4);
    for (channel, message) in [
        (CONTROL, ToServer::Viewing(100)),
        (4, ToServer::Input(&[9, 0, 1, 3, 4])),
        (CONTROL, ToServer::Unread(Tick(1))),
        (CONTROL, ToServer::Mismatch(0)),
        (CONTROL, ToServer::Claim { object, is_wanted: true }),
        (CONTROL, ToServer::Write { object, field: 1, value: &[2, b'h', b'i'] }),
        (CONTROL, ToServer::Lobby(&[0, 1])),
        (ORDERED, ToServer::Chat { to_team: false, text: "hello" }),
    ] {
        said.extend(spoken(channel, message.write(&mut out)));
    }
    said
}

fn to_client() -> Vec<u8> {
    let mut out = MessageBuffer::new(MESSAGE_BYTES_MAX);
    let mut said = silence(2);
    // The welcome: player, tick, step, rates, objects.
    said.extend([7, 0, 0, 0, 40, 0, 0, 0, 120, 0, 0, 0, 0, 0, 1, 0]);
    for (channel, message) in [
        (3, ToClient::Snapshot(&[41, 0, 0])),
        (CONTROL, ToClient::Joined { player: 3, is_spectator: false, name: "Anna" }),
        (CONTROL, ToClient::Left { player: 3 }),
        (ORDERED, ToClient::Said { player: 0, to_team: false, text: "hello" }),
        (CONTROL, ToClient::Notice { kind: NoticeKind::Kicked, text: "no" }),
    ] {
        said.extend(spoken(channel, message.write(&mut out)));
    }
    said
}

use proptest::prelude::*;

use netloom_wire::{Alias, MessageBuffer, ReadError, Tick};

use super::*;
use crate::validate::{Reason, Rejected, RejectedMessage};

fn to_server() -> Vec<ToServer<'static>> {
    let object = Alias { slot: 300, generation: 7 };
    vec![
        ToServer::Hello(Hello {
            name: "Zoë",
            room: "main",
            is_spectator: true,
            calls_hash: 9,
            ticket: &[1, 2, 3],
        }),
        ToServer::Input(&[1, 2]),
        ToServer::Unread(Tick(65_000)),
        ToServer::Mismatch(12),
        ToServer::Call(&[5]),
        ToServer::Lobby(&[6]),
        ToServer::Claim { object, is_wanted: true },
        ToServer::Write { object, field: 3, value: &[9, 9] },
        ToServer::Viewing(150),
        ToServer::Chat { to_team: true, text: "left" },
    ]
}

fn to_client() -> Vec<ToClient<'static>> {
    let object = Alias { slot: 300, generation: 7 };
    let rejected = Rejected { step: Tick(70_000), reason: Reason::Cooldown };
    let mut messages = vec![
        ToClient::Welcome(Welcome {
            player: 7,
            is_resumed: true,
            has_same_calls: false,
            is_spectator: true,
            tick: Tick(80_000),
            step: Tick(240_000),
            steps_per_second: 60,
            sends_per_second: 20,
            objects: 2_000,
            room: "main",
        }),
        ToClient::Snapshot(&[1, 2]),
        ToClient::Property(&[3]),
        ToClient::Joined { player: 3, is_spectator: false, name: "Anna" },
        ToClient::Left { player: 3 },
        ToClient::Call(&[4]),
        ToClient::CallRefused { id: 3, reason: CallRefusal::ALL[1], text: "no" },
        ToClient::Lobby(LobbyNews::Event, &[5]),
        ToClient::Claimed { object, is_granted: true },
        ToClient::Rejected(RejectedMessage::new(rejected, "")),
        ToClient::Names(&[6]),
        ToClient::Said { player: 0, to_team: false, text: "hello" },
    ];
    messages.extend(Refusal::ALL.iter().map(|reason| ToClient::Refused { reason: *reason, text: "why" }));
    messages.extend(NoticeKind::ALL.iter().map(|kind| ToClient::Notice { kind: *kind, text: "what" }));
    messages
}

#[test]
fn every_message_comes_back_as_it_was() {
    let mut buffer = MessageBuffer::new(MESSAGE_BYTES_MAX);
    for message in to_server() {
        let bytes = message.write(&mut buffer).to_vec();
        assert_eq!(ToServer::read(&bytes), Ok(message));
    }
    for message in to_client() {
        let bytes = message.write(&mut buffer).to_vec();
        assert_eq!(ToClient::read(&bytes), Ok(message));
    }
}

#[test]
fn a_message_for_the_other_side_is_none() {
    let mut buffer = MessageBuffer::new(MESSAGE_BYTES_MAX);
    for message in to_client() {
        let bytes = message.write(&mut buffer);
        assert_eq!(ToServer::read(bytes), Err(MessageError::UnknownKind(bytes[0])));
    }
    assert_eq!(ToServer::read(&[]), Err(MessageError::Malformed(ReadError::UnexpectedEnd)));
    let error = ToClient::read(&[kind::LEFT, 1, 0, 0, 0, 9]);
    assert_eq!(error, Err(MessageError::Malformed(ReadError::TrailingData)));
    let flags = ToClient::read(&[kind::WELCOME, 8]);
    assert_eq!(flags, Err(MessageError::Malformed(ReadError::ReservedBits)));
}

proptest! {
    #[test]
    fn what_reads_writes_back_to_the_same_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64), first in 0u8..100) {
        let bytes = [&[first], &bytes[..]].concat();
        let mut buffer = MessageBuffer::new(MESSAGE_BYTES_MAX);
        if let Ok(message) = ToServer::read(&bytes) {
            prop_assert_eq!(message.write(&mut buffer), &bytes[..]);
        }
        if let Ok(message) = ToClient::read(&bytes) {
            prop_assert_eq!(message.write(&mut buffer), &bytes[..]);
        }
    }
}

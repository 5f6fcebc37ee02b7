//! Every message by its type, refused commands and packed snapshots.

use netloom_session::message::{
    CallRefusal, Hello, LobbyNews, MESSAGE_BYTES_MAX, MessageError, NoticeKind, Refusal, ToClient, ToServer,
    Welcome,
};
use netloom_session::packed::{PACKED_BYTES_MAX, SNAPSHOT_BYTES_MAX, pack, unpack};
use netloom_session::validate::{Reason, Rejected, RejectedMessage};
use netloom_wire::{Alias, MessageBuffer, ReadError, Tick};
use serde_json::{Value, json};

use super::{outcome, sorted_cases};
use crate::wire_vectors::{file, hex};

const OBJECT: Alias = Alias { slot: 300, generation: 7 };

fn alias(object: Alias) -> Value {
    json!({ "slot": object.slot, "generation": object.generation })
}

/// The reason by which the standard refuses messages that no version of it has.
fn read_error(error: MessageError) -> ReadError {
    match error {
        MessageError::UnknownKind(_) => ReadError::OutOfRange,
        MessageError::Malformed(error) => error,
    }
}

fn server_reads(name: &str, bytes: &[u8]) -> Value {
    let found = ToServer::read(bytes).map(|message| shown_to_server(&message)).map_err(read_error);
    outcome(name, Value::Null, bytes, found)
}

fn shown_to_server(message: &ToServer<'_>) -> Value {
    match *message {
        ToServer::Hello(Hello { name, room, is_spectator, calls_hash, ticket }) => json!({
            "message": "Hello", "name": name, "room": room, "spectator": is_spectator,
            "calls_hash": calls_hash.to_string(), "ticket": hex(ticket),
        }),
        ToServer::Input(rest) => json!({ "message": "Input", "rest": hex(rest) }),
        ToServer::Unread(tick) => json!({ "message": "Unread", "tick": tick.0 }),
        ToServer::Mismatch(region) => json!({ "message": "Mismatch", "region": region }),
        ToServer::Call(rest) => json!({ "message": "Call", "rest": hex(rest) }),
        ToServer::Lobby(rest) => json!({ "message": "Lobby", "rest": hex(rest) }),
        ToServer::Claim { object, is_wanted } => {
            json!({ "message": "Claim", "object": alias(object), "wanted": is_wanted })
        }
        ToServer::Write { object, field, value } => {
            json!({ "message": "Write", "object": alias(object), "field": field, "rest": hex(value) })
        }
        ToServer::Viewing(ms) => json!({ "message": "Viewing", "ms": ms }),
        ToServer::Chat { to_team, text } => json!({ "message": "Chat", "to_team": to_team, "text": text }),
    }
}

pub fn to_server() -> Value {
    let hello =
        Hello { name: "Zoë", room: "main", is_spectator: true, calls_hash: u64::MAX, ticket: &[1, 2] };
    let bare = Hello { name: "A", ..Hello::default() };
    let long = "x".repeat(2_000);
    let good = [
        ("Hello", ToServer::Hello(hello)),
        ("Hello to the room that the server chooses", ToServer::Hello(bare)),
        ("Input", ToServer::Input(&[4, 0, 1, 7])),
        ("Unread", ToServer::Unread(Tick(65_000))),
        ("Mismatch", ToServer::Mismatch(12)),
        ("Call", ToServer::Call(&[1, 0, 0, 0x90])),
        ("Lobby", ToServer::Lobby(&[0, 1])),
        ("Claim", ToServer::Claim { object: OBJECT, is_wanted: true }),
        ("Claim that gives back", ToServer::Claim { object: OBJECT, is_wanted: false }),
        ("Write", ToServer::Write { object: OBJECT, field: 3, value: &[9, 9] }),
        ("Viewing", ToServer::Viewing(150)),
        ("Chat", ToServer::Chat { to_team: false, text: "hello 🦊" }),
        ("Chat to the team, the longest line", ToServer::Chat { to_team: true, text: &long }),
    ];
    let mut buffer = MessageBuffer::new(MESSAGE_BYTES_MAX);
    let good = good.iter().map(|(name, message)| server_reads(name, message.write(&mut buffer))).collect();
    let name_65 = [&[1, 65][..], &[b'x'; 65], &[0; 12]].concat();
    let ticket_1025 = [&[1, 1, b'x', 0, 0][..], &[0; 8], &[0x81, 0x08], &[0; 1_025]].concat();
    let chat_2001 = [&[10, 0, 0xd1, 0x0f][..], &[b'x'; 2_001]].concat();
    let bad: [(&str, &[u8]); 14] = [
        ("nothing", &[]),
        ("type 0", &[0]),
        ("an unknown type", &[11, 1, 2]),
        ("a message of the other direction", &[69, 1, 0, 0, 0]),
        ("Hello with a name of 65 bytes", &name_65),
        ("Hello with a name that is not UTF-8", &[1, 1, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("Hello with a boolean of 2", &[1, 1, b'x', 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("Hello with a ticket of 1,025 bytes", &ticket_1025),
        ("Hello that is cut off", &[1, 1, b'x', 0, 0, 0, 0]),
        ("Unread with a byte after it", &[3, 1, 0, 0]),
        ("Claim that is cut off", &[7, 1, 0]),
        ("Write without a field", &[8, 1, 0, 0]),
        ("Viewing with a byte after it", &[9, 150, 0, 1]),
        ("Chat of 2,001 bytes", &chat_2001),
    ];
    let bad = bad.iter().map(|(name, bytes)| server_reads(name, bytes)).collect();
    file("Messages to the server.", sorted_cases(good, bad))
}

fn client_reads(name: &str, bytes: &[u8]) -> Value {
    let found = ToClient::read(bytes).map(|message| shown_to_client(&message)).map_err(read_error);
    outcome(name, Value::Null, bytes, found)
}

fn shown_to_client(message: &ToClient<'_>) -> Value {
    match *message {
        ToClient::Welcome(ref welcome) => shown_welcome(welcome),
        ToClient::Refused { reason, text } => {
            json!({ "message": "Refused", "reason": reason.code(), "text": text })
        }
        ToClient::Snapshot(rest) => json!({ "message": "Snapshot", "rest": hex(rest) }),
        ToClient::Packed(rest) => json!({ "message": "Packed", "rest": hex(rest) }),
        ToClient::Property(rest) => json!({ "message": "Property", "rest": hex(rest) }),
        ToClient::Joined { player, is_spectator, name } => {
            json!({ "message": "Joined", "player": player, "spectator": is_spectator, "name": name })
        }
        ToClient::Left { player } => json!({ "message": "Left", "player": player }),
        ToClient::Call(rest) => json!({ "message": "Call", "rest": hex(rest) }),
        ToClient::CallRefused { id, reason, text } => {
            json!({ "message": "CallRefused", "call": id, "reason": reason.code(), "text": text })
        }
        ToClient::Lobby(news, rest) => {
            json!({ "message": "Lobby", "news": news.code(), "rest": hex(rest) })
        }
        ToClient::Claimed { object, is_granted } => {
            json!({ "message": "Claimed", "object": alias(object), "granted": is_granted })
        }
        ToClient::Rejected(message) => with_message("Rejected", shown_rejected(&message)),
        ToClient::Names(rest) => json!({ "message": "Names", "rest": hex(rest) }),
        ToClient::Notice { kind, text } => json!({ "message": "Notice", "kind": kind.code(), "text": text }),
        ToClient::Said { player, to_team, text } => {
            json!({ "message": "Said", "player": player, "to_team": to_team, "text": text })
        }
    }
}

fn shown_welcome(welcome: &Welcome<'_>) -> Value {
    json!({
        "message": "Welcome",
        "resumed": welcome.is_resumed,
        "same_calls": welcome.has_same_calls,
        "spectator": welcome.is_spectator,
        "player": welcome.player,
        "tick": welcome.tick.0,
        "step": welcome.step.0,
        "steps_per_second": welcome.steps_per_second,
        "sends_per_second": welcome.sends_per_second,
        "objects": welcome.objects,
        "room": welcome.room,
    })
}

fn with_message(message: &str, mut value: Value) -> Value {
    value["message"] = message.into();
    value
}

fn shown_rejected(message: &RejectedMessage<'_>) -> Value {
    let Rejected { step, reason } = message.rejected;
    json!({ "step": step.0, "code": reason.code(), "text": message.text })
}

/// One of each message that a client takes, and Welcome with and without its flags.
fn messages_to_client() -> Vec<(&'static str, ToClient<'static>)> {
    let bare = Welcome {
        player: 1,
        is_resumed: false,
        has_same_calls: false,
        is_spectator: false,
        tick: Tick(0),
        step: Tick(0),
        steps_per_second: 60,
        sends_per_second: 20,
        objects: 0,
        room: "",
    };
    let full = Welcome {
        player: 7,
        is_resumed: true,
        has_same_calls: true,
        is_spectator: true,
        tick: Tick(80_000),
        step: Tick(u32::MAX),
        objects: 2_000,
        room: "main",
        ..bare
    };
    let cooldown = Rejected { step: Tick(70_000), reason: Reason::Cooldown };
    vec![
        ("Welcome", ToClient::Welcome(bare)),
        ("Welcome with every flag", ToClient::Welcome(full)),
        (
            "Welcome to a table of calls that is the same",
            ToClient::Welcome(Welcome { has_same_calls: true, ..bare }),
        ),
        ("Snapshot", ToClient::Snapshot(&[1, 2, 3])),
        ("Packed", ToClient::Packed(&[1, 0, 0x10, 7])),
        ("Property", ToClient::Property(&[44, 1, 7, 2, 9])),
        ("Joined", ToClient::Joined { player: 3, is_spectator: false, name: "Anna" }),
        ("Joined to watch", ToClient::Joined { player: 4, is_spectator: true, name: "李小龍" }),
        ("Left", ToClient::Left { player: 3 }),
        ("Call", ToClient::Call(&[1, 0, 0, 0, 0, 0, 0, 0x90])),
        ("Lobby, its state", ToClient::Lobby(LobbyNews::State, &[0, 0, 4, 2, 0, 0, 0, 0])),
        ("Lobby, an event", ToClient::Lobby(LobbyNews::Event, &[1])),
        ("Claimed", ToClient::Claimed { object: OBJECT, is_granted: true }),
        ("Rejected", ToClient::Rejected(RejectedMessage::new(cooldown, ""))),
        ("Names", ToClient::Names(&[0, 0, 0, 0])),
        ("Said", ToClient::Said { player: 3, to_team: true, text: "left" }),
        ("Said by the server", ToClient::Said { player: 0, to_team: false, text: "hello" }),
    ]
}

pub fn to_client() -> Value {
    let mut buffer = MessageBuffer::new(MESSAGE_BYTES_MAX);
    let mut write = |name: &str, message: &ToClient<'_>| client_reads(name, message.write(&mut buffer));
    let mut good: Vec<Value> =
        messages_to_client().iter().map(|(name, message)| write(name, message)).collect();
    for reason in Refusal::ALL {
        let message = ToClient::Refused { reason: *reason, text: "why" };
        good.push(write(&format!("Refused, code {}", reason.code()), &message));
    }
    for kind in NoticeKind::ALL {
        let message = ToClient::Notice { kind: *kind, text: "what" };
        good.push(write(&format!("Notice, kind {}", kind.code()), &message));
    }
    for reason in CallRefusal::ALL {
        let message = ToClient::CallRefused { id: 300, reason: *reason, text: "" };
        good.push(write(&format!("CallRefused, reason {}", reason.code()), &message));
    }
    let reason_257 = [&[65, 5, 0x81, 0x02][..], &[b'x'; 257]].concat();
    let bad: [(&str, &[u8]); 14] = [
        ("nothing", &[]),
        ("a message of the other direction", &[9, 1, 0]),
        ("an unknown type", &[79, 0]),
        ("Welcome with an unknown flag", &[64, 8]),
        ("Welcome that is cut off", &[64, 0, 1, 0, 0, 0]),
        ("Refused with code 0", &[65, 0, 0]),
        ("Refused with code 9", &[65, 9, 0]),
        ("Refused with a text of 257 bytes", &reason_257),
        ("Joined without a name", &[68, 1, 0, 0, 0, 0]),
        ("Left with a byte after it", &[69, 1, 0, 0, 0, 9]),
        ("CallRefused with reason 11", &[71, 1, 0, 11, 0]),
        ("Lobby that is neither state nor event", &[72, 2]),
        ("Notice of kind 6", &[76, 6, 0]),
        ("Said with a boolean of 2", &[77, 0, 0, 0, 0, 2, 0]),
    ];
    let bad = bad.iter().map(|(name, bytes)| client_reads(name, bytes)).collect();
    file("Messages to the client.", sorted_cases(good, bad))
}

pub fn rejected() -> Value {
    let reads = |name: &str, bytes: &[u8]| {
        let found = RejectedMessage::read(bytes).map(|message| shown_rejected(&message));
        outcome(name, Value::Null, bytes, found)
    };
    let mut buffer = MessageBuffer::new(MESSAGE_BYTES_MAX);
    let reasons = Reason::ALL.into_iter().chain([Reason::Game(0), Reason::Game(127)]);
    let good = reasons.map(|reason| {
        buffer.clear();
        let rejected = Rejected { step: Tick(70_000), reason };
        RejectedMessage::new(rejected, "the gate is shut").write(&mut buffer);
        reads(&format!("code {}", reason.code()), buffer.as_bytes())
    });
    let good = good.collect();
    let text_121 = [&[1, 0, 0, 0, 128, 121][..], &[b'x'; 121]].concat();
    let bad: [(&str, &[u8]); 6] = [
        ("a code that is not used", &[1, 0, 0, 0, 8, 0]),
        ("the highest code that is not used", &[1, 0, 0, 0, 127, 0]),
        ("a text with a code that is not the game's", &[1, 0, 0, 0, 4, 1, b'x']),
        ("a text of 121 bytes", &text_121),
        ("cut off", &[1, 0, 0, 0, 4]),
        ("a byte after it", &[1, 0, 0, 0, 4, 0, 0]),
    ];
    let bad = bad.iter().map(|(name, bytes)| reads(name, bytes)).collect();
    file("Refused commands: the rest of message 74.", sorted_cases(good, bad))
}

pub fn packed() -> Value {
    let reads = |name: &str, bytes: &[u8]| {
        let mut out = [0; SNAPSHOT_BYTES_MAX];
        let found = unpack(bytes, &mut out).map(|snapshot| json!({ "snapshot": hex(snapshot) }));
        outcome(name, Value::Null, bytes, found)
    };
    let mut out = [0; PACKED_BYTES_MAX];
    let records: Vec<u8> = (0..600u32).map(|at| if at % 11 == 0 { at as u8 } else { 7 }).collect();
    let counted: Vec<u8> = (0..=255u8).chain(0..=255).collect();
    let mut packs = |name: &str, snapshot: &[u8]| {
        let message = pack(snapshot, &mut out).expect("this gets shorter");
        reads(name, &message[1..])
    };
    let good = vec![
        packs("records that resemble each other", &records),
        packs("one byte over and over", &[5; 1_200]),
        packs("what repeats from far back", &counted),
        reads("a block of literals only", &[3, 0, 0x30, 1, 2, 3]),
        reads("a copy that overlaps itself", &[14, 0, 0x26, 1, 2, 2, 0, 0x20, 3, 4]),
    ];
    let mut many_literals = vec![0xb1, 0x04, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xae];
    many_literals.resize(8 + 1_200, 1);
    many_literals.push(1);
    let bad: [(&str, &[u8]); 11] = [
        ("no length", &[1]),
        ("no block", &[1, 0]),
        ("a length of 0", &[0, 0, 0]),
        ("a length of 1,201", &many_literals),
        ("a block that gives less than its length", &[4, 0, 0x30, 1, 2, 3]),
        ("a block that gives more than its length", &[2, 0, 0x30, 1, 2, 3]),
        ("literals that are cut off", &[3, 0, 0x30, 1, 2]),
        ("a copy from before the beginning", &[8, 0, 0x10, 1, 2, 0, 0x30, 1, 2, 3]),
        ("a copy from nowhere", &[8, 0, 0x10, 1, 0, 0, 0x30, 1, 2, 3]),
        ("a copy without its offset", &[8, 0, 0x10, 1, 1]),
        ("a length that goes on for ever", &[200, 0, 0xf0, 0xff, 0xff]),
    ];
    let bad = bad.iter().map(|(name, bytes)| reads(name, bytes)).collect();
    file("Packed snapshots: what follows the type in message 78.", sorted_cases(good, bad))
}

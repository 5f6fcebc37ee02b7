//! Which game a server has, and how it is found on the local network.

use netloom_replica::world::ClassTable;
use netloom_session::Protocol;
use netloom_session::discovery::{Answer, DISCOVERY_BYTES, Query};
use netloom_wire::Schema;
use netloom_wire::schema::{FieldKind, SyncFlags};
use serde_json::{Value, json};

use super::{outcome, sorted_cases};
use crate::wire_vectors::{case, file};

pub fn games() -> Value {
    let schema = |name: &str| {
        let builder = Schema::builder(name).field("health", FieldKind::F32, SyncFlags::PUBLIC_SYNC, 1);
        builder.build().expect("a valid class")
    };
    let game = |name: &str, game: &str, version: u16, classes: &[&str]| {
        let mut builder = Protocol::builder(game).version(version);
        for class in classes {
            builder = builder.class(schema(class));
        }
        let protocol = builder.build().expect("a valid game");
        let table = ClassTable::new(protocol.classes().to_vec()).expect("valid classes");
        let given = json!({ "game": game, "version": version, "classes_hash": table.hash().to_string() });
        let value = json!({
            "protocol_id": protocol.id().to_string(),
            "schema_hash": protocol.schema_hash().to_string(),
            "version_in_hash": Protocol::version_in(protocol.schema_hash()),
        });
        case(name, given, &[], value)
    };
    let cases = vec![
        game("a game of two classes", "tanks", 3, &["tank", "shell"]),
        game("a game of one class", "tanks", 1, &["tank"]),
        game("a game without classes, its highest version", "Zoë's game", u16::MAX, &[]),
        game("the longest name", &"x".repeat(64), 1, &["tank"]),
    ];
    file("Protocol id and schema hash. given.classes_hash: the hash of the list of classes.", cases)
}

const QUERY: Query = Query { protocol: 0x0123_4567_89ab_cdef, nonce: u64::MAX };

fn shown_query(query: Query) -> Value {
    json!({ "protocol": query.protocol.to_string(), "nonce": query.nonce.to_string() })
}

pub fn questions() -> Value {
    let reads = |name: &str, bytes: &[u8]| {
        let value = Query::read(bytes).map_or(Value::Null, shown_query);
        case(name, Value::Null, bytes, value)
    };
    let question = QUERY.write();
    let changed = |at: usize, byte: u8| {
        let mut changed = question;
        changed[at] = byte;
        changed
    };
    let mut answer = [0; DISCOVERY_BYTES];
    sample().write(&mut answer);
    let cases = vec![
        reads("a question", &question),
        reads("a byte less", &question[..DISCOVERY_BYTES - 1]),
        reads("a byte more", &[&question[..], &[0]].concat()),
        reads("another version", &changed(4, 2)),
        reads("something in place of the zeros", &changed(DISCOVERY_BYTES - 1, 1)),
        reads("an answer of the same length", &answer),
    ];
    assert!(cases.iter().skip(1).all(|case| case["value"].is_null()), "only the first is a question");
    file("Questions on the local network; null for what is none and gets no answer.", cases)
}

fn sample() -> Answer<'static> {
    Answer {
        query: QUERY,
        version: 3,
        port: 7_777,
        scheme: 2,
        players: 2,
        seats: 300,
        name: "Zoë's machine",
        room: "main",
        code: "BCDFGH",
    }
}

pub fn answers() -> Value {
    let reads = |name: &str, bytes: &[u8]| {
        let found = Answer::read(bytes).map(|answer| {
            let mut shown = shown_query(answer.query);
            shown["version"] = answer.version.into();
            shown["port"] = answer.port.into();
            shown["transport"] = answer.scheme.into();
            shown["players"] = answer.players.into();
            shown["seats"] = answer.seats.into();
            shown["name"] = answer.name.into();
            shown["room"] = answer.room.into();
            shown["code"] = answer.code.into();
            shown
        });
        outcome(name, Value::Null, bytes, found)
    };
    let mut out = [0; DISCOVERY_BYTES];
    let length = sample().write(&mut out);
    let answer = out[..length].to_vec();
    let longest = "x".repeat(64);
    let long = Answer { name: &longest, room: &longest, code: &longest, ..sample() };
    let length = long.write(&mut out);
    let good = vec![reads("an answer", &answer), reads("the longest answer", &out[..length])];
    let changed = |at: usize, byte: u8| {
        let mut changed = answer.clone();
        changed[at] = byte;
        changed
    };
    let bad = vec![
        reads("a question", &QUERY.write()),
        reads("another version", &changed(4, 2)),
        reads("a name of 65 bytes", &changed(30, 65)),
        reads("a name that is not UTF-8", &changed(31, 0xff)),
        reads("cut off", &answer[..answer.len() - 1]),
        reads("a byte after it", &[&answer[..], &[0]].concat()),
    ];
    file("Answers on the local network.", sorted_cases(good, bad))
}

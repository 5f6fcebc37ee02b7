//! Golden vectors of `netloom-session`: the messages between a server and its players, and what is inside them.
//!
//! Messages are bytes whose first one says what they are, so most files are a list of them with their fields. What a
//! message carries in its rest (a command of the lobby, a call, a page of a table, arguments) has a file of its own.
//!
//! The form is that of the other vectors. Every case is decoded again while it is generated.

mod arguments;
mod calls;
mod lobby;
mod local;
mod messages;

use netloom_wire::ReadError;
use serde_json::Value;

use crate::VectorFile;
use crate::wire_vectors::{case, reason, refused_as};

/// The vector files of this layer.
pub fn vectors() -> Vec<VectorFile> {
    vec![
        ("session_answer", local::answers()),
        ("session_arguments", arguments::arguments()),
        ("session_frame", calls::frames()),
        ("session_game", local::games()),
        ("session_lobby_command", lobby::commands()),
        ("session_lobby_event", lobby::events()),
        ("session_lobby_state", lobby::states()),
        ("session_packed", messages::packed()),
        ("session_page", calls::pages()),
        ("session_question", local::questions()),
        ("session_rejected", messages::rejected()),
        ("session_table", calls::tables()),
        ("session_to_client", messages::to_client()),
        ("session_to_server", messages::to_server()),
    ]
}

/// A case with what a reader made of the bytes.
fn outcome(name: &str, given: Value, bytes: &[u8], found: Result<Value, ReadError>) -> Value {
    match found {
        Ok(value) => case(name, given, bytes, value),
        Err(error) => refused_as(name, given, bytes, reason(error)),
    }
}

/// The cases that decode, then those that must be refused; a case in the wrong list is a mistake of the list.
fn sorted_cases(good: Vec<Value>, bad: Vec<Value>) -> Vec<Value> {
    for (cases, entry) in [(&good, "value"), (&bad, "error")] {
        for case in cases {
            assert!(case.get(entry).is_some(), "a case without {entry}: {case}");
        }
    }
    [good, bad].concat()
}

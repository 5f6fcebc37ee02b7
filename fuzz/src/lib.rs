//! What the network may do to Netloom, as functions of bytes.
//!
//! A parser that survives the inputs its author thought of is not yet a parser for the internet. Each function here takes
//! arbitrary bytes, feeds them to one part of Netloom and panics when a promise is broken; a coverage-guided fuzzer
//! looks for bytes that make it panic.
//!
//! | target | what the bytes are | what must hold |
//! |---|---|---|
//! | [`wire_primitives`] | operations on the bit and byte codecs | agrees with a naive model; a failed read moves nothing |
//! | [`wire_record`] | full records | what decodes encodes back to the same bytes |
//! | [`wire_schema`] | a schema and property blocks in both forms | the same |
//! | [`wire_entropy`] | code tables and coded symbols | the same |
//! | [`wire_delta`] | runs, masks and residuals | the value survives a round trip, predictions stay in range |
//! | [`wire_stream`] | a framed stream in pieces, classic datagrams | pieces do not matter, memory is bounded |
//! | [`websocket_frames`] | a WebSocket's frames in pieces, the requests and responses before them | pieces do not matter, memory is bounded, who is let in is answered as asked |
//! | [`proto_header`] | a packet header | what parses writes back to the same bytes |
//! | [`proto_frames`] | a payload or a block | the same |
//! | [`proto_handshake`] | the five handshake packets | the same |
//! | [`endpoint_datagram`] | datagrams to a server and a client in any state of the handshake | limits and amplification |
//! | [`endpoint_session`] | packets of an established peer that has gone mad | limits on memory, events and work |
//! | [`connection_pair`] | what a network, two users and a clock do to a connection | the promises of the channels |
//! | [`replica_entry`] | a full entry of an object | what is read is complete and says the same when it is written again |
//! | [`replica_codec`] | an update of an object against any baselines | the same |
//! | [`replica_tables`] | a file of code tables, and bits that are read with any tables | what is read says the same when it is written again; whatever bits end in a state or an error |
//! | [`replica_input`] | messages with inputs, between the steps of a server | every step one input, the first that came; no more than time has steps |
//! | [`replica_property`] | messages of the property channel, between the snapshots of a game | order, bounds, nothing is lost uncounted |
//! | [`replica_snapshot`] | a game's snapshots, repeated, late, damaged or made up | what a client holds stays readable and its events tell of it |
//! | [`replica_pair`] | what a game, a network and its clients do to a server | budgets; in the end every client holds what it may see |
//! | [`session_lobby`] | what players say to a lobby, and messages of one | seats, names, host and start are right; what reads writes back |
//! | [`session_packed`] | a packed snapshot, or one to pack | agrees with a naive model of the format; what is packed comes back |
//! | [`session_pair`] | whatever somebody who was let in says to a server, and a server to a client | nothing panics, grows or ends the room |
//! | [`rpc_frame`] | calls to a server and to a client, arguments, the list of a server's calls | limits and rates; no call is lost or comes twice; what reads writes back |
//! | [`rtype_level`] | the text of a level's file | what is taken can be played; what is not is told with its line |
//! | [`rtype_rules`] | what players press, choose and claim to have hit | bounds and limits; the same again leads to the same state |
//! | [`classic_datagram`] | the port of the classic protocol: strangers, players, and those in others' names | strangers get a challenge not longer than their own datagram and nothing else; what reads writes back |
//! | [`scene_file`] | a file of a recorded scene, records of one, a file of cubes | what plays is recorded and played again to the same world; bounds |
//!
//! The bodies are ordinary functions, so that the seed corpora and any input that was found run on stable Rust:
//!
//! ```text
//! cargo +nightly fuzz run wire_record              fuzz
//! cargo test                                       every file of corpus/ through its target
//! cargo run --bin wire_record -- FILE...           one input again, with a debugger if need be
//! cargo run --example seeds                        write the seed corpora anew
//! ```
#![forbid(unsafe_code)]

mod classic;
mod input;
mod proto;
mod replica;
mod rtype;
mod scene;
pub mod seeds;
mod session;
mod transport;
mod wire;

pub use classic::classic_datagram;
pub use proto::{
    connection_pair, endpoint_datagram, endpoint_session, proto_frames, proto_handshake, proto_header,
};
pub use replica::{
    replica_codec, replica_entry, replica_input, replica_pair, replica_property, replica_snapshot,
    replica_tables,
};
pub use rtype::{rtype_level, rtype_rules};
pub use scene::scene_file;
pub use session::{rpc_frame, session_lobby, session_packed, session_pair};
pub use transport::websocket_frames;
pub use wire::{wire_delta, wire_entropy, wire_primitives, wire_record, wire_schema, wire_stream};

/// A function that arbitrary bytes must not make panic.
pub type Body = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: [(&str, Body); 28] = [
    ("wire_primitives", wire_primitives),
    ("wire_record", wire_record),
    ("wire_schema", wire_schema),
    ("wire_entropy", wire_entropy),
    ("wire_delta", wire_delta),
    ("wire_stream", wire_stream),
    ("websocket_frames", websocket_frames),
    ("proto_header", proto_header),
    ("proto_frames", proto_frames),
    ("proto_handshake", proto_handshake),
    ("endpoint_datagram", endpoint_datagram),
    ("endpoint_session", endpoint_session),
    ("connection_pair", connection_pair),
    ("replica_entry", replica_entry),
    ("replica_codec", replica_codec),
    ("replica_tables", replica_tables),
    ("replica_input", replica_input),
    ("replica_property", replica_property),
    ("replica_snapshot", replica_snapshot),
    ("replica_pair", replica_pair),
    ("session_lobby", session_lobby),
    ("session_packed", session_packed),
    ("session_pair", session_pair),
    ("rpc_frame", rpc_frame),
    ("rtype_level", rtype_level),
    ("rtype_rules", rtype_rules),
    ("classic_datagram", classic_datagram),
    ("scene_file", scene_file),
];

/// Runs the files that are named on the command line through a target.
pub fn replay(body: Body) -> std::io::Result<()> {
    for path in std::env::args_os().skip(1) {
        body(&std::fs::read(path)?);
    }
    Ok(())
}

/// The program of a target: a fuzzer under `cargo fuzz`, otherwise one that replays files.
#[macro_export]
macro_rules! fuzz_target {
    ($body:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::$body(data));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            $crate::replay($crate::$body)
        }
    };
}

//! What Netloom says about itself, in a form that a machine can check.
//!
//! Three promises are easy to make and easy to break without noticing: that the bytes on the wire are the documented
//! ones, that every requirement is either built or openly not built yet, and that the layers only know the layers
//! below them. Each has a module here that turns the promise into a list of problems, and a test that expects the
//! list to be empty:
//!
//! | promise | module | test |
//! |---|---|---|
//! | the bytes are the documented ones | [`wire_vectors`], [`proto_vectors`], [`replica_vectors`], [`session_vectors`], [`classic_vectors`], [`vectors`] | `tests/vectors.rs` |
//! | no requirement is forgotten | [`ledger`], [`evidence`] | `tests/requirements.rs` |
//! | arrows between crates point downwards | [`layering`], [`source_rules`] | `tests/layering.rs` |
//!
//! The golden vectors in `conformance/vectors/` are written by `cargo run -p netloom-conformance` and are meant for
//! readers that share no code with this workspace: one lives in `conformance/reader`.

#![forbid(unsafe_code)]

pub mod classic_vectors;
pub mod evidence;
pub mod layering;
pub mod ledger;
pub mod proto_vectors;
pub mod recorded_scenes;
pub mod replica_vectors;
pub mod session_vectors;
pub mod source_rules;
pub mod tree;
pub mod vectors;
pub mod wire_vectors;

/// A golden-vector file before it is written: its name without `.json`, and its contents.
pub type VectorFile = (&'static str, serde_json::Value);

/// Every golden-vector file of every layer, in the order of their names.
pub fn all_vectors() -> Vec<VectorFile> {
    let mut files = wire_vectors::vectors();
    files.extend(proto_vectors::vectors());
    files.extend(replica_vectors::vectors());
    files.extend(session_vectors::vectors());
    files.extend(classic_vectors::vectors());
    files.sort_by_key(|(stem, _)| *stem);
    files
}

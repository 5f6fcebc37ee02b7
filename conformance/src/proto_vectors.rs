//! Golden vectors of netloom-proto: datagrams, and what a receiver makes of them.
//!
//! An implementation written from `docs/STANDARD.md` alone needs more than bytes to compare: keys are derived from
//! secrets that never travel, numbers are cut and put together again, and a refused datagram looks like nothing at
//! all. So these files come in two sorts:
//!
//! | sort | files | made by |
//! |---|---|---|
//! | layout | codes, layout, headers, packets, frames, keys, handshake | the public writers, with fixed secrets |
//! | behaviour | numbers, acks, rejects, sessions, conversation | a real endpoint that is fed datagram by datagram |
//!
//! The form is that of the other vectors: `given` is what the reader knows, `hex` the bytes, and `value` what they
//! mean or `error` why they are refused. Each case names in `needs` the algorithms that a reader must have to check
//! it; each is short enough to be written from its RFC with a standard library alone.

mod acks;
mod codes;
mod conversation;
mod frames;
mod handshake;
mod keys;
mod numbers;
mod packets;
mod peer;
mod rejects;
mod sessions;

use crate::VectorFile;
use serde_json::{Value, json};

/// CRC32C, as in RFC 3720 appendix B.4.
const CRC32C: &str = "crc32c";
/// ChaCha20-Poly1305 of RFC 8439.
const CHACHA20_POLY1305: &str = "chacha20-poly1305";
/// X25519 of RFC 7748.
const X25519: &str = "x25519";
/// HKDF with SHA-256 of RFC 5869.
const HKDF_SHA256: &str = "hkdf-sha256";

/// The protocol id of every vector that has no other.
const PROTOCOL_ID: u64 = 0x6d6f_6f6c_7465_6e21;

/// The vector files of this layer.
pub fn vectors() -> Vec<VectorFile> {
    vec![
        ("proto_acks", acks::file()),
        ("proto_codes", codes::file()),
        ("proto_conversation", conversation::file()),
        ("proto_frames", frames::file()),
        ("proto_handshake", handshake::file()),
        ("proto_headers", packets::headers()),
        ("proto_keys", keys::file()),
        ("proto_layout", codes::layout()),
        ("proto_numbers", numbers::file()),
        ("proto_packets", packets::file()),
        ("proto_rejects", rejects::file()),
        ("proto_sessions", sessions::file()),
    ]
}

fn file(about: &str, cases: Vec<Value>) -> Value {
    json!({ "about": about, "cases": cases })
}

/// A case whose bytes mean `value`.
fn case(name: &str, needs: &[&str], given: Value, bytes: &[u8], value: Value) -> Value {
    json!({ "name": name, "needs": needs, "given": given, "hex": hex(bytes), "value": value })
}

/// A case whose bytes are refused with the rejection of this name.
fn refused(name: &str, needs: &[&str], given: Value, bytes: &[u8], error: &str) -> Value {
    json!({ "name": name, "needs": needs, "given": given, "hex": hex(bytes), "error": error })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes that count up from `first`, so that a reader who mixes two fields up sees it.
fn counting<const N: usize>(first: u8) -> [u8; N] {
    std::array::from_fn(|index| first.wrapping_add(index as u8))
}

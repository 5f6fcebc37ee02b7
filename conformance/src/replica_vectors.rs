//! Golden vectors of netloom-replica: snapshots, and what a client makes of them.
//!
//! An update is a few bits that mean nothing without the states they build on, so most cases give those, as words. What
//! a client does with snapshots that come late, twice or not at all is shown by sessions: a real server speaks, and the
//! file says what a client holds after each snapshot that arrived.
//!
//! The form is that of the other vectors. Every case is decoded again while it is generated.

mod entries;
mod frames;
mod inputs;
pub mod scene;
mod sessions;
mod updates;

use crate::VectorFile;

/// The vector files of this layer.
pub fn vectors() -> Vec<VectorFile> {
    vec![
        ("replica_classes", entries::classes_of_all_files()),
        ("replica_codes", frames::codes()),
        ("replica_digest", sessions::digests()),
        ("replica_entry", entries::entries()),
        ("replica_gap", frames::gaps()),
        ("replica_header", frames::headers()),
        ("replica_input", inputs::inputs()),
        ("replica_property", frames::properties()),
        ("replica_session", sessions::sessions()),
        ("replica_update", updates::updates()),
    ]
}

//! Every bound of replication that is not configuration, with its reason.

/// Versions of an object that both sides keep: at 20 updates a second, 1.6 s, well beyond any playable round trip.
pub const VERSIONS_KEPT: usize = 32;

/// Words of one object. Larger objects are several objects.
pub const WORDS_MAX: usize = 96;

/// Contents of one object that ride in snapshots: texts, bytes and arrays. Beside every other field that [`WORDS_MAX`]
/// allows, an entry with so much still fits a record, and an update with so much a snapshot.
pub const LATEST_CONTENT_BYTES_MAX: usize = 512;

/// Kinds of objects: the class on the wire is one byte.
pub const CLASSES_MAX: usize = 256;

/// Objects of one world.
pub const OBJECTS_MAX: usize = 1 << 20;

/// Objects that one peer can see at once: the alias slot on the wire is 16 bits.
pub const VISIBLE_MAX: usize = 65_535;

/// The age of a baseline in send ticks: one byte on the wire.
pub const BASELINE_AGE_MAX: u32 = 255;

/// Enters, and leaves, in one snapshot.
pub const EXISTENCE_PER_SNAPSHOT_MAX: usize = 255;

/// Snapshots whose fate is not known yet, per peer. Older ones count as lost.
pub const SNAPSHOTS_IN_FLIGHT_MAX: usize = 256;

/// Beyond so many, nothing enters or leaves until some of them are known to have arrived or not.
pub const EXISTENCE_IN_FLIGHT_MAX: usize = SNAPSHOTS_IN_FLIGHT_MAX / 2;

//! What can go wrong with a scene.

use netloom_replica::class::ClassError;
use netloom_replica::world::WorldError;
use netloom_wire::ReadError;
use netloom_wire::schema::SchemaError;

/// Why a scene cannot be read, written or played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The system refused to read or write.
    #[error("at byte {offset}: {source}")]
    Io {
        /// Bytes of the file before that.
        offset: u64,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error(
        "this is no scene: it does not begin with the mark of one (a .scene is made by `netloom serve --record-scene`)"
    )]
    NotAScene,
    /// The file is of a later version.
    #[error("the scene has version {version}, this program reads {known}: use a newer one")]
    Version {
        /// The version of the file.
        version: u8,
        /// The version that is known here.
        known: u8,
    },
    /// The file does not hold what it should.
    #[error("the scene is damaged at byte {offset}: {what}")]
    Damaged {
        /// Where the block or the header begins that cannot be read.
        offset: u64,
        /// What is wrong with it.
        what: Damage,
    },
    /// A recording does not consist of whole frames.
    #[error("at byte {offset} of the recording: {what}")]
    Frame {
        /// Bytes, unpacked, before the frame.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A world does not take what the scene plays.
    #[error("the world does not take the scene: {0} (always play it into the same world)")]
    World(#[from] WorldError),
    /// A world has other classes than the scene.
    #[error("the world has other classes than the scene: make it with `Source::world`")]
    OtherClasses,
    /// The classes of a scene are impossible.
    #[error("the classes of the scene: {0}")]
    Class(#[from] ClassError),
    /// A setting of a scene is out of its range.
    #[error("{field} is {value}, allowed are {allowed}")]
    OutOfRange {
        /// Which.
        field: &'static str,
        /// What it was.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
}

/// What is wrong with a part of a scene file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// A value cannot be read.
    #[error("{0}")]
    Value(#[from] ReadError),
    /// A class has an impossible schema.
    #[error("a class: {0}")]
    Schema(#[from] SchemaError),
    /// The classes are impossible together.
    #[error("{0}")]
    Class(#[from] ClassError),
    /// The bytes of a block are others than were written.
    #[error("its checksum does not match")]
    Checksum,
    /// A block claims to be larger than blocks are.
    #[error("a block of {bytes} bytes, at most {bytes_max} are allowed")]
    BlockLength {
        /// What it claims.
        bytes: u64,
        /// What is allowed.
        bytes_max: u64,
    },
    /// A block does not unpack to what it says.
    #[error("it does not unpack")]
    Packing,
    /// A record is of no kind that is known.
    #[error("a record of unknown kind {0}")]
    UnknownRecord(u8),
    /// A record names an object that is not there, or spawns one that is.
    #[error("a record about object {0}, which is not there, or is there already")]
    Object(u64),
    /// A world refuses what a record says.
    #[error("a record that no world takes: {0}")]
    Refused(WorldError),
    /// The header ends before it should.
    #[error("the file ends within its header")]
    HeaderEnds,
    /// A tick that takes several blocks is not there to its end.
    #[error("the file ends within a tick")]
    TickEnds,
}

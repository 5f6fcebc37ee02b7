//! Channels: how messages wait to be sent, and how they are put back in order.
//!
//! | kind | sending side | receiving side |
//! |---|---|---|
//! | priority, ordered | [`ReliableSender`]: kept until acknowledged | [`ReliableReceiver`]: waits for gaps |
//! | unordered | the same | the same, but delivers past gaps |
//! | unreliable | [`UnreliableSender`]: sent once | [`UnreliableReceiver`]: delivered as it comes |
//! | sequenced | the same; a newer message replaces an unsent one | drops what is older than the newest |
//!
//! Messages longer than a fragment are split. Fragments of reliable channels are numbered like messages of their own
//! and travel, get lost and are resent independently; those of unreliable channels share one number.

mod bytes;
mod reliable_receiver;
mod reliable_sender;
mod unreliable;

pub(crate) use reliable_receiver::ReliableReceiver;
pub(crate) use reliable_sender::{Frames as ReliableFrames, ReliableSender, Undeliverable};
pub(crate) use unreliable::{UnreliableReceiver, UnreliableSender};

use crate::config::{ChannelConfig, ChannelKind};
use crate::limits::{FRAGMENT_BYTES, PENDING_PART_BYTES_MIN, RELIABLE_WINDOW};
use crate::pool::BufferPool;
use crate::validate::Rejection;

/// Why a message was not taken for sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// No such peer, or not connected.
    #[error("the peer is not connected")]
    NotConnected,
    /// The channel is not configured.
    #[error("channel {0} does not exist: see Config::channels")]
    NoSuchChannel(u8),
    /// The message is larger than the channel allows.
    #[error("the message has {bytes} bytes, the channel allows {max}: raise message_bytes_max or split it")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// What is allowed.
        max: usize,
    },
    /// Too much is waiting already.
    #[error(
        "{pending} bytes wait on this channel: the peer cannot keep up, try again later or raise pending_bytes_max"
    )]
    Full {
        /// How much is waiting.
        pending: usize,
    },
    /// Tags are for messages that may be lost, and whose fate is that of one packet.
    #[error("channel {0} is reliable: only unreliable messages can be tagged")]
    TagOnReliable(u8),
    /// A tagged message must travel in one packet, so that its fate is one packet's.
    #[error("a tagged message of {bytes} bytes does not fit one packet: {max} do")]
    TagOnFragments {
        /// Its length.
        bytes: usize,
        /// What fits.
        max: usize,
    },
}

/// By what the sender of an unreliable message knows it again when its outcome is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub(crate) number: u64,
    pub(crate) can_wait: bool,
}

impl Tag {
    /// Of a message whose outcome is not urgent. In a packet with nothing else in it the other side need not acknowledge it
    /// before it acknowledges another, or a quarter of a second has passed. What is lost is heard of as soon as ever.
    pub fn that_can_wait(number: u64) -> Tag {
        Tag { number, can_wait: true }
    }
}

impl From<u64> for Tag {
    fn from(number: u64) -> Tag {
        Tag { number, can_wait: false }
    }
}

/// The sending half of a channel. What sending a snapshot needs of an unreliable one is in its first line of memory.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) enum Sender {
    Reliable(ReliableSender),
    Unreliable(UnreliableSender),
}

impl Sender {
    pub fn new(config: &ChannelConfig) -> Sender {
        match config.kind.is_reliable() {
            true => Sender::Reliable(ReliableSender::default()),
            false => Sender::Unreliable(UnreliableSender::new(config.kind == ChannelKind::Sequenced)),
        }
    }

    pub fn pending_bytes(&self) -> usize {
        match self {
            Sender::Reliable(sender) => sender.pending_bytes(),
            Sender::Unreliable(sender) => sender.pending_bytes(),
        }
    }

    pub fn release(&mut self, pool: &mut BufferPool) {
        match self {
            Sender::Reliable(sender) => sender.release(),
            Sender::Unreliable(sender) => sender.release(pool),
        }
    }
}

/// The receiving half of a channel.
#[derive(Debug)]
pub(crate) enum Receiver {
    Reliable(ReliableReceiver),
    Unreliable(UnreliableReceiver),
}

impl Receiver {
    pub fn new(config: &ChannelConfig) -> Receiver {
        match config.kind.is_reliable() {
            true => {
                Receiver::Reliable(ReliableReceiver::new(config.kind.is_ordered(), config.message_bytes_max))
            }
            false => Receiver::Unreliable(UnreliableReceiver::new(
                config.kind == ChannelKind::Sequenced,
                config.message_bytes_max,
            )),
        }
    }

    pub fn waiting_bytes(&self) -> usize {
        match self {
            Receiver::Reliable(receiver) => receiver.waiting_bytes(),
            Receiver::Unreliable(receiver) => receiver.waiting_bytes(),
        }
    }

    pub fn release(&mut self, pool: &mut BufferPool) {
        match self {
            Receiver::Reliable(receiver) => receiver.release(pool),
            Receiver::Unreliable(receiver) => receiver.release(pool),
        }
    }
}

/// Where complete messages go.
pub(crate) trait Deliver {
    /// How many more messages fit.
    fn room(&self) -> usize;
    /// Takes one. Called at most [`room`](Self::room) times.
    fn deliver(&mut self, message: Vec<u8>);
}

/// Checks a message against the limits of its channel.
///
/// `pending` is what waits already: bytes, and messages or fragments. Their number is limited too, because a message of
/// no bytes takes memory as well.
pub(crate) fn check_message(
    config: &ChannelConfig,
    bytes: usize,
    (pending, parts): (usize, usize),
) -> Result<(), SendError> {
    if bytes > config.message_bytes_max {
        return Err(SendError::TooLarge { bytes, max: config.message_bytes_max });
    }
    #[cfg(netloom_mutations)]
    if crate::mutation::is(crate::mutation::Mutation::LimitIgnored) {
        return Ok(());
    }
    let parts_max = config.pending_bytes_max / PENDING_PART_BYTES_MIN + RELIABLE_WINDOW;
    if pending + bytes > config.pending_bytes_max || parts >= parts_max {
        return Err(SendError::Full { pending });
    }
    Ok(())
}

/// The parts of a message that does not fit one packet: index and count, and the bytes.
pub(crate) fn fragments(message: &[u8]) -> impl Iterator<Item = ((u16, u16), &[u8])> {
    let count = message.len().div_ceil(FRAGMENT_BYTES) as u16;
    (0..count).zip(message.chunks(FRAGMENT_BYTES)).map(move |(index, data)| ((index, count), data))
}

/// What a receiver did with a message.
pub(crate) type Received = Result<(), Rejection>;

#[cfg(test)]
pub(crate) mod testing {
    use super::Deliver;

    /// Collects what is delivered.
    #[derive(Debug)]
    pub struct Inbox {
        pub messages: Vec<Vec<u8>>,
        pub capacity: usize,
    }

    impl Default for Inbox {
        fn default() -> Inbox {
            Inbox { messages: vec![], capacity: 10_000 }
        }
    }

    impl Deliver for Inbox {
        fn room(&self) -> usize {
            self.capacity - self.messages.len()
        }

        fn deliver(&mut self, message: Vec<u8>) {
            self.messages.push(message);
        }
    }
}

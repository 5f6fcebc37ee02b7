//! The receiving side: messages go in as they arrive, and come out when the object that they are for is there.
//!
//! The reliable channel and the snapshots are not ordered with each other. A message may be ahead of the entry of its
//! object, or behind its leave:
//!
//! | in the slot is | the message waits | the message is stale |
//! |---|---|---|
//! | nothing yet | always | |
//! | an object, or one that left, of generation g | if its generation is newer than g | if it is older than g, or the object left |
//!
//! What waits, waits for a second at most and within bounds; the oldest gives way. Messages of one object come out in
//! the order in which they went in.

use std::collections::VecDeque;

use netloom_wire::schema::Audience;
use netloom_wire::{Alias, ReadError, Sequence8, Tick};

use super::PropertyMessage;
use crate::class::Class;

/// Messages that wait, and the bytes of their contents: a burst of entries at a join, or a few of the longest.
const WAITING_MAX: usize = 256;
const WAITING_BYTES_MAX: usize = 1 << 20;

/// Buffers that are kept for further messages, and the longest of them.
const SPARE_MAX: usize = 16;
const SPARE_BYTES_MAX: usize = 2_048;

/// What a client has in a slot.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// No object has been there.
    Empty,
    /// The last object that was there is out of sight.
    Left {
        /// The generation of its alias.
        generation: u8,
    },
    /// An object.
    Here {
        /// The generation of its alias.
        generation: u8,
        /// Its class.
        class: &'a Class,
        /// What the client is to it.
        audience: Audience,
    },
}

/// Whoever keeps the objects of a client.
pub trait PropertyTarget {
    /// What is in a slot.
    fn place(&self, slot: u16) -> Place<'_>;

    /// Keeps the content of a field of the object in a slot; it was checked.
    fn set_property(&mut self, slot: u16, field: usize, content: &[u8]);
}

/// A property that has another value now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppliedProperty {
    /// The object.
    pub alias: Alias,
    /// The index of the field.
    pub field: usize,
}

/// What became of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxCounters {
    /// Applied.
    pub applied: u64,
    /// For an object or an audience that was no more.
    pub stale: u64,
    /// Their object did not come in time.
    pub expired: u64,
    /// Gave way to newer ones.
    pub overflowed: u64,
    /// Said something that the class of their object does not allow.
    pub refused: u64,
}

#[derive(Debug)]
struct Waiting {
    alias: Alias,
    field: u8,
    content: Vec<u8>,
    arrived: Tick,
}

/// What is to be done with a message.
enum Verdict {
    Apply,
    Wait,
    Stale,
    Refuse(ReadError),
}

/// Messages on their way to their objects. See the [module](super).
#[derive(Debug)]
pub struct PropertyInbox {
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    spare: Vec<Vec<u8>>,
    hold_ticks: i32,
    counters: InboxCounters,
}

impl PropertyInbox {
    /// An inbox in which messages wait for their objects for so many ticks: those of a second.
    pub fn new(hold_ticks: u32) -> PropertyInbox {
        PropertyInbox {
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            spare: Vec::new(),
            hold_ticks: i32::try_from(hold_ticks).unwrap_or(i32::MAX),
            counters: InboxCounters::default(),
        }
    }

    /// What became of messages.
    pub fn counters(&self) -> InboxCounters {
        self.counters
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes in a message, which [`poll_property`](PropertyInbox::poll_property) applies.
    pub fn handle_property(&mut self, message: &[u8], now: Tick) -> Result<(), ReadError> {
        let PropertyMessage { alias, field, content } = PropertyMessage::read(message)?;
        while self.waiting.len() >= WAITING_MAX || self.waiting_bytes + content.len() > WAITING_BYTES_MAX {
            let Some(oldest) = self.take(0) else { break };
            self.give_back(oldest.content);
            self.counters.overflowed += 1;
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.extend_from_slice(content);
        self.waiting_bytes += kept.len();
        self.waiting.push_back(Waiting { alias, field, content: kept, arrived: now });
        Ok(())
    }

    /// Applies the next message whose object is there, and says what it changed; `None` if there is none. One by one,
    /// so that the game sees every value. An error is of one message, which is gone.
    pub fn poll_property(
        &mut self,
        now: Tick,
        target: &mut impl PropertyTarget,
    ) -> Result<Option<AppliedProperty>, ReadError> {
        let mut index = 0;
        while let Some(message) = self.waiting.get(index) {
            let verdict = judge(message, target.place(message.alias.slot));
            let is_late = now.distance(message.arrived) > self.hold_ticks;
            match (&verdict, is_late) {
                (Verdict::Wait, false) => {
                    index += 1;
                    continue;
                }
                (Verdict::Wait, true) => self.counters.expired += 1,
                (Verdict::Stale, _) => self.counters.stale += 1,
                (Verdict::Refuse(_), _) => self.counters.refused += 1,
                (Verdict::Apply, _) => self.counters.applied += 1,
            }
            let Some(Waiting { alias, field, content, .. }) = self.take(index) else { break };
            let applied = AppliedProperty { alias, field: usize::from(field) };
            if matches!(verdict, Verdict::Apply) {
                target.set_property(alias.slot, applied.field, &content);
            }
            self.give_back(content);
            match verdict {
                Verdict::Apply => return Ok(Some(applied)),
                Verdict::Refuse(error) => return Err(error),
                Verdict::Wait | Verdict::Stale => {}
            }
        }
        Ok(None)
    }

    fn take(&mut self, index: usize) -> Option<Waiting> {
        let taken = self.waiting.remove(index)?;
        self.waiting_bytes -= taken.content.len();
        Some(taken)
    }

    fn give_back(&mut self, mut content: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && content.capacity() <= SPARE_BYTES_MAX {
            content.clear();
            self.spare.push(content);
        }
    }
}

fn judge(message: &Waiting, place: Place<'_>) -> Verdict {
    let is_newer = |generation: u8| Sequence8(message.alias.generation).is_newer_than(Sequence8(generation));
    match place {
        Place::Empty => Verdict::Wait,
        Place::Left { generation } | Place::Here { generation, .. } if is_newer(generation) => Verdict::Wait,
        Place::Here { generation, class, audience } if generation == message.alias.generation => {
            check(message, class, audience)
        }
        Place::Left { .. } | Place::Here { .. } => Verdict::Stale,
    }
}

/// Whether the class allows what the message says. The owner sees every field that anybody does.
fn check(message: &Waiting, class: &Class, audience: Audience) -> Verdict {
    let index = usize::from(message.field);
    let may_see = |audience| index < 64 && class.reliable(audience) >> index & 1 != 0;
    let Some(field) = class.fields().get(index).filter(|_| may_see(Audience::Owner)) else {
        return Verdict::Refuse(ReadError::InvalidField);
    };
    match field.kind.read_content(&message.content) {
        Err(error) => Verdict::Refuse(error),
        Ok(_) if may_see(audience) => Verdict::Apply,
        // Sent while the client was still something else to the object.
        Ok(_) => Verdict::Stale,
    }
}

//! How far one peer has come in the log, and what it still has to be told of objects that entered its sight.

use netloom_wire::Alias;

use super::{PropertyLog, PropertyMessage, default_content};
use crate::world::{ObjectIndex, World};

/// What became of a peer's properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PropertyCounters {
    /// Messages written.
    pub messages: u64,
    /// How often the peer fell so far behind that values were skipped.
    pub resyncs: u64,
}

/// An object that the peer is known to have.
#[derive(Clone, Copy, Debug)]
struct Known {
    object: ObjectIndex,
    alias: Alias,
    /// The reliable fields that the peer may see.
    fields: u64,
    /// Those of them whose present value has to be sent, unless a change with at least this number is.
    pending: u64,
    pending_since: u64,
    /// Those of which the peer has never had a value, so that it takes them for empty.
    untold: u64,
}

/// The sending side of one peer. See the [module](super).
#[derive(Debug)]
pub struct PropertyPeer {
    /// By the slot of the object in the world.
    known: Vec<Known>,
    /// The number of the change to look at next.
    next: u64,
    /// Pending fields of all objects, and the object to look for them at next.
    pending: usize,
    pending_next: usize,
    counters: PropertyCounters,
}

impl PropertyPeer {
    /// A peer that has no object yet.
    pub fn new(log: &PropertyLog) -> PropertyPeer {
        PropertyPeer {
            known: Vec::new(),
            next: log.end(),
            pending: 0,
            pending_next: 0,
            counters: PropertyCounters::default(),
        }
    }

    /// What became of its properties.
    pub fn counters(&self) -> PropertyCounters {
        self.counters
    }

    /// The peer is known to have an object, of which it may see these reliable fields
    /// ([`Class::reliable`](crate::Class::reliable)). Said again under the same alias, the fields are those that it may
    /// see from now on.
    pub fn enter(&mut self, log: &PropertyLog, alias: Alias, object: ObjectIndex, fields: u64) {
        let place = self.known.binary_search_by_key(&object.slot(), |known| known.object.slot());
        if let Ok(place) = place
            && self.known[place].alias == alias
            && self.known[place].object == object
        {
            self.restrict(object.slot(), fields);
            let known = &mut self.known[place];
            let added = fields & !known.fields;
            if added != 0 {
                known.pending_since = log.end();
                known.pending |= added;
                known.fields = fields;
                self.pending += added.count_ones() as usize;
            }
            return;
        }
        if place.is_ok() {
            self.leave(object.slot());
        }
        if fields != 0 {
            let pending_since = log.end();
            let known = Known { object, alias, fields, pending: fields, pending_since, untold: fields };
            self.known.insert(place.unwrap_or_else(|place| place), known);
            self.pending += fields.count_ones() as usize;
        }
    }

    /// Of the object in this slot of the world the peer may see no other reliable fields than these, from now on.
    pub fn restrict(&mut self, slot: usize, fields: u64) {
        if let Ok(place) = self.known.binary_search_by_key(&slot, |known| known.object.slot()) {
            let known = &mut self.known[place];
            self.pending -= (known.pending & !fields).count_ones() as usize;
            known.pending &= fields;
            known.untold &= fields;
            known.fields &= fields;
        }
    }

    /// The object in this slot of the world is out of the peer's sight: nothing of it is sent any more.
    pub fn leave(&mut self, slot: usize) {
        if let Ok(place) = self.known.binary_search_by_key(&slot, |known| known.object.slot()) {
            let left = self.known.remove(place);
            self.pending -= left.pending.count_ones() as usize;
        }
    }

    /// The next message for the peer: its length in `out`. `None` if there is nothing to tell it, or if the message
    /// does not fit; a buffer of [`PROPERTY_MESSAGE_BYTES_MAX`](super::PROPERTY_MESSAGE_BYTES_MAX) holds any.
    pub fn poll_property(&mut self, world: &World, out: &mut [u8]) -> Option<usize> {
        let log = world.property_log();
        if self.known.is_empty() {
            self.next = log.end();
            return None;
        }
        if self.next < log.first() {
            self.resync(log);
        }
        while let Some(change) = log.get(self.next) {
            let Some(known) = self.news(change.object, change.field) else {
                self.next += 1;
                continue;
            };
            let (alias, field, content) = (known.alias, change.field as u8, change.content);
            let length = PropertyMessage { alias, field, content }.write(out)?;
            let bit = 1 << field;
            let was_pending = known.pending & bit != 0;
            known.pending &= !bit;
            known.untold &= !bit;
            self.pending -= usize::from(was_pending);
            self.next += 1;
            self.counters.messages += 1;
            return Some(length);
        }
        self.poll_pending(world, out)
    }

    /// The log has forgotten changes that the peer had not come to: it gets all values as they are.
    fn resync(&mut self, log: &PropertyLog) {
        self.next = log.end();
        self.counters.resyncs += 1;
        for known in &mut self.known {
            known.pending = known.fields;
            known.pending_since = log.end();
        }
        self.pending = self.known.iter().map(|known| known.pending.count_ones() as usize).sum();
    }

    /// The object of the next change, if the peer sees this field of it and had it in sight by then.
    fn news(&mut self, object: ObjectIndex, field: usize) -> Option<&mut Known> {
        let place = self.known.binary_search_by_key(&object.slot(), |known| known.object.slot()).ok()?;
        let known = self.known.get_mut(place).filter(|known| known.object == object)?;
        let is_seen = known.fields >> field & 1 != 0;
        let is_pending = known.pending >> field & 1 != 0;
        (is_seen && (!is_pending || self.next >= known.pending_since)).then_some(known)
    }

    fn poll_pending(&mut self, world: &World, out: &mut [u8]) -> Option<usize> {
        while self.pending > 0 {
            if self.pending_next >= self.known.len() {
                self.pending_next = 0;
            }
            let known = self.known.get_mut(self.pending_next)?;
            if known.pending == 0 {
                self.pending_next += 1;
                continue;
            }
            let field = known.pending.trailing_zeros();
            let bit = 1 << field;
            let content = content_to_tell(world, known.object, field as usize, known.untold & bit != 0);
            let length = match content {
                Some(content) => {
                    Some(PropertyMessage { alias: known.alias, field: field as u8, content }.write(out)?)
                }
                None => None,
            };
            known.pending &= !bit;
            self.pending -= 1;
            if length.is_some() {
                known.untold &= !bit;
                self.counters.messages += 1;
                return length;
            }
        }
        None
    }
}

/// The content of a field; `None` if the object is gone, or if the peer takes it for what it is anyway.
fn content_to_tell(world: &World, object: ObjectIndex, field: usize, is_untold: bool) -> Option<&[u8]> {
    let object = world.object(object)?;
    let kind = object.class().fields().get(field)?.kind;
    let content = object.content(field);
    (!is_untold || content != default_content(kind)).then_some(content)
}

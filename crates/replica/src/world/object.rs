//! Everything about one object.

use netloom_wire::schema::{Audience, FieldKind, Value, Writer};
use netloom_wire::{ObjectId, Profile, QuantizeCounters, SectorOrigin, Tick};

use super::history::History;
use super::{ObjectIndex, OwnerId, Settings, TeamId, World, flag};
use crate::class::{Class, ClassId};
use crate::entry::value_of;

/// A look at one object of a world.
///
/// Words, version, frame, position and speed are those of the newest commit. Everything else is as it was set last.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    world: &'a World,
    slot: usize,
    class: &'a Class,
}

impl<'a> Object<'a> {
    /// The slot must hold an object.
    #[inline]
    pub(super) fn new(world: &'a World, slot: usize) -> Object<'a> {
        Object { world, slot, class: world.class_of(slot) }
    }

    /// Where it is found.
    #[inline]
    pub fn index(&self) -> ObjectIndex {
        self.world.index_of(self.slot)
    }

    /// Its identity.
    pub fn id(&self) -> ObjectId {
        self.settings().id
    }

    /// Its class, in its profile.
    #[inline]
    pub fn class(&self) -> &'a Class {
        self.class
    }

    /// The number of its class.
    pub fn class_id(&self) -> ClassId {
        self.world.slots[self.slot].kind.class
    }

    /// Whose it is.
    pub fn owner(&self) -> Option<OwnerId> {
        self.settings().owner
    }

    /// The team that it belongs to.
    pub fn team(&self) -> Option<TeamId> {
        self.settings().team
    }

    /// What somebody is to this object, as a receiver.
    pub fn audience(&self, owner: OwnerId, team: Option<TeamId>) -> Audience {
        if self.owner() == Some(owner) {
            Audience::Owner
        } else if team.is_some() && self.team() == team {
            Audience::Team
        } else {
            Audience::Public
        }
    }

    /// What a client is to this object, as a writer.
    pub fn writer(&self, client: OwnerId) -> Writer {
        if self.owner() == Some(client) { Writer::Owner } else { Writer::OtherClient }
    }

    /// How its position and rotation are quantized.
    pub fn profile(&self) -> Profile {
        self.world.slots[self.slot].kind.profile
    }

    /// What its position is relative to on the wire, unless it is attached.
    pub fn origin(&self) -> SectorOrigin {
        self.settings().origin
    }

    /// What it is attached to.
    pub fn parent(&self) -> Option<ObjectIndex> {
        self.world.family.parent(self.slot).map(|parent| self.world.index_of(parent))
    }

    /// What it is attached to, what that is attached to, and so on.
    pub fn ancestors(&self) -> impl Iterator<Item = ObjectIndex> + 'a {
        let world = self.world;
        world.family.ancestors(self.slot).map(|ancestor| world.index_of(ancestor))
    }

    /// How important it is compared with others; 0 is never sent.
    pub fn priority(&self) -> f32 {
        self.world.priorities[self.slot]
    }

    /// How far away it is seen, in metres.
    pub fn relevance_radius(&self) -> f32 {
        self.world.relevance_radii[self.slot]
    }

    /// A factor of the priority for its kind of object.
    pub fn kind_weight(&self) -> f32 {
        self.world.kind_weights[self.slot]
    }

    /// The value of a field as it was set last; `None` if there is no such field.
    pub fn get(&self, field: usize) -> Option<Value<'a>> {
        let own = self.class.fields().get(field)?;
        let (world, slot) = (self.world, self.slot);
        let (flags, profile, counters) =
            (world.slots[slot].flags, self.profile(), &mut QuantizeCounters::default());
        let transform = &world.transforms[slot];
        Some(match own.kind {
            FieldKind::Position(_) if flags & flag::MOVED != 0 => {
                Value::Triple(profile.quantize_local(transform.position, transform.zero, counters))
            }
            FieldKind::Rotation(_) if flags & flag::TURNED != 0 => {
                Value::Rotation(profile.quantize_rotation(transform.rotation, counters))
            }
            _ => value_of(own, world.histories.draft(slot), profile, self.content(field)),
        })
    }

    /// The content of a text, byte or array field; empty for other fields.
    pub fn content(&self, field: usize) -> &'a [u8] {
        let shape = self.world.shape_of(self.slot);
        match shape.contents.get(field) {
            Some(&Some(number)) => &self.world.contents[self.slot][usize::from(number)],
            _ => &[],
        }
    }

    /// Where it is in the world.
    #[inline]
    pub fn position(&self) -> [f32; 3] {
        self.world.motions[self.slot].position
    }

    /// How fast it moves, in metres per second: by its velocity field, or by its last change if it has none.
    #[inline]
    pub fn speed(&self) -> f32 {
        self.world.motions[self.slot].speed
    }

    /// The tick of the newest version.
    #[inline]
    pub fn version(&self) -> Tick {
        self.world.slots[self.slot].version
    }

    /// Counts the changes of what the words mean. It never repeats for a slot, whichever object it holds.
    #[inline]
    pub fn frame(&self) -> u32 {
        self.world.slots[self.slot].frame
    }

    /// The words of the newest version; none before the first commit.
    #[inline]
    pub fn words(&self) -> &'a [i32] {
        let history = self.history();
        if history.is_empty() { &[] } else { history.row(history.newest_row()) }
    }

    /// The words that were in force at `tick`; `None` if they are forgotten, of an earlier frame, or from before the
    /// object was there.
    #[inline]
    pub fn words_at(&self, tick: Tick) -> Option<&'a [i32]> {
        let history = self.history();
        history.row_at(tick).map(|row| history.row(row))
    }

    /// All versions.
    #[inline]
    pub fn history(&self) -> History<'a> {
        self.world.histories.history(self.slot)
    }

    /// When it jumped last, if that was after `tick`: a receiver must not move it smoothly from there to here.
    pub fn jumped_since(&self, tick: Tick) -> Option<Tick> {
        self.settings().jumped.filter(|jumped| jumped.is_newer_than(tick))
    }

    #[inline]
    fn settings(&self) -> &'a Settings {
        &self.world.settings[self.slot]
    }
}

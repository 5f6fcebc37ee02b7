//! What the game, and through it a client, can change about an object.
//!
//! Values become words at once, so that a value that does not fit is noticed where it is given. Positions and rotations always
//! fit, and a game sets them at every step while only every third or so is told of: they are kept as they are, and become words
//! when they are committed. Nothing of it all is seen by peers before that, fields that are delivered reliably excepted.

use netloom_wire::schema::{Audience, FieldKind, Value, Writer};
use netloom_wire::{Profile, QuantizeCounters, SectorOrigin};

use super::error::{ValueError, WorldError, WriteRefused};
use super::family::ATTACH_DEPTH_MAX;
use super::transform::finite;
use super::value::{self, store_triple};
use super::{Object, ObjectIndex, OwnerId, Slot, TeamId, World, checked_priority, checked_radius, flag};
use crate::class::FieldWords;
use crate::entry::value_of;
use crate::limits::LATEST_CONTENT_BYTES_MAX;
use crate::property::default_content;

impl World {
    /// Moves an object: in the world, or relative to its parent if it is attached.
    ///
    /// A place beyond the reach of the profile is sent as singles, which is counted; rebase the object before that.
    pub fn set_position(&mut self, index: ObjectIndex, position: [f64; 3]) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        if self.slots[slot].flags & flag::HAS_POSITION == 0 {
            return Err(self.no_field(slot, "position"));
        }
        self.transforms[slot].position = position;
        self.mark(slot, flag::MOVED);
        if !position.iter().all(|axis| axis.is_finite()) {
            self.settle(slot);
            self.transforms[slot].position = finite(position);
        }
        Ok(())
    }

    /// Turns an object: in the world, or relative to its parent if it is attached. The quaternion is x y z w.
    pub fn set_rotation(&mut self, index: ObjectIndex, quaternion: [f32; 4]) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        if self.slots[slot].flags & flag::HAS_ROTATION == 0 {
            return Err(self.no_field(slot, "rotation"));
        }
        self.transforms[slot].rotation = quaternion;
        self.mark(slot, flag::TURNED);
        Ok(())
    }

    /// Sets the first scale field of an object.
    pub fn set_scale(&mut self, index: ObjectIndex, scale: [f32; 3]) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        let part = self.shape_of(slot).scale.ok_or_else(|| self.no_field(slot, "scale"))?;
        let words = part.profile.quantize_scale(scale, &mut self.quantize_counters);
        store_triple(words, &mut self.histories.draft_mut(slot)[part.first_word..]);
        self.touch_slot(slot);
        Ok(())
    }

    /// Sets the first velocity field of an object, in metres per second.
    pub fn set_velocity(&mut self, index: ObjectIndex, velocity: [f32; 3]) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        let part = self.shape_of(slot).velocity.ok_or_else(|| self.no_field(slot, "velocity"))?;
        let words = part.profile.quantize_velocity(velocity, &mut self.quantize_counters);
        store_triple(words, &mut self.histories.draft_mut(slot)[part.first_word..]);
        self.touch_slot(slot);
        Ok(())
    }

    /// Sets a field. A quantized field takes its word or a float; a place or rotation takes words of the object's
    /// profile, relative to its origin. A field that is delivered reliably is on its way at once: it does not wait for a
    /// commit, and each value that it is set to arrives.
    pub fn set(&mut self, index: ObjectIndex, field: usize, value: Value<'_>) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        let own = self.class_of(slot).fields().get(field).copied();
        let own = own.ok_or_else(|| self.no_field(slot, "field of this number"))?;
        self.write(slot, field, own, value).map_err(|source| WorldError::Value { field, source })
    }

    /// The value of a field as it was set last; `None` if object or field do not exist.
    pub fn get(&self, index: ObjectIndex, field: usize) -> Option<Value<'_>> {
        self.object(index)?.get(field)
    }

    /// A client asks to change a field. The flags of the field decide whether it may ask, the kind of the field what it
    /// may ask for, and `check` has the last word: it sees the object as it is and the new value. What was refused
    /// changes nothing; every outcome is counted.
    pub fn client_write(
        &mut self,
        index: ObjectIndex,
        field: usize,
        value: Value<'_>,
        writer: Writer,
        check: impl FnOnce(Object<'_>, Value<'_>) -> bool,
    ) -> Result<(), WriteRefused> {
        let result = self.try_client_write(index, field, value, writer, check);
        self.write_counters.count(&result);
        result
    }

    /// Attaches an object to another, or to nothing. It stays where it is in the world; from now on its position and
    /// rotation are relative to its parent's. Scale and velocity keep their values.
    pub fn attach(&mut self, index: ObjectIndex, parent: Option<ObjectIndex>) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        let Some(parent) = parent else {
            self.move_to_parent(slot, None);
            return Ok(());
        };
        let parent_slot = self.slot_of(parent)?;
        if parent_slot == slot || self.family.ancestors(parent_slot).any(|ancestor| ancestor == slot) {
            return Err(WorldError::Circle { child: index, parent });
        }
        let depth = self.family.ancestors(parent_slot).count() + 1 + self.family.height(slot);
        if depth > ATTACH_DEPTH_MAX {
            return Err(WorldError::TooDeep { depth });
        }
        self.move_to_parent(slot, Some(parent_slot));
        Ok(())
    }

    /// Gives an object to somebody.
    pub fn set_owner(&mut self, index: ObjectIndex, owner: Option<OwnerId>) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        if self.settings[slot].owner != owner {
            self.settings[slot].owner = owner;
            self.mark(slot, flag::REASSIGNED);
        }
        Ok(())
    }

    /// Puts an object into a team.
    pub fn set_team(&mut self, index: ObjectIndex, team: Option<TeamId>) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        if self.settings[slot].team != team {
            self.settings[slot].team = team;
            self.mark(slot, flag::REASSIGNED);
        }
        Ok(())
    }

    /// Quantizes an object's position and rotation in another way. Its frame moves.
    pub fn set_profile(&mut self, index: ObjectIndex, profile: Profile) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        if self.slots[slot].kind.profile != profile {
            self.slots[slot].kind.profile = profile;
            self.reframe(slot);
        }
        Ok(())
    }

    /// Measures an object's position from another origin, the [next](SectorOrigin::moved_to) after its present one. The
    /// object stays where it is; its frame moves if its words are relative to the origin at all.
    pub fn rebase(&mut self, index: ObjectIndex, origin: SectorOrigin) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        let present = self.settings[slot].origin;
        if present == origin {
            return Ok(());
        }
        let (found, expected) = (origin.version().get(), present.version().next().get());
        if found != expected {
            return Err(WorldError::OriginVersion { found, expected });
        }
        self.settings[slot].origin = origin;
        if self.slots[slot].kind.profile.uses_origin() && self.family.parent(slot).is_none() {
            self.reframe(slot);
        }
        Ok(())
    }

    /// Says that what is written before the next commit is a jump: receivers must not move the object there smoothly.
    pub fn teleport(&mut self, index: ObjectIndex) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        self.mark(slot, flag::TELEPORTED);
        Ok(())
    }

    /// Makes the next commit store a version of an object even if no word differs.
    pub fn touch(&mut self, index: ObjectIndex) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        self.mark(slot, flag::FORCED);
        Ok(())
    }

    /// Makes an object more or less important; 0 is never sent. Takes effect with the next commit.
    pub fn set_priority(&mut self, index: ObjectIndex, priority: f32) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        let priority = checked_priority(priority)?;
        self.silent -= usize::from(self.priorities[slot] == 0.0);
        self.silent += usize::from(priority == 0.0);
        self.priorities[slot] = priority;
        self.retuned_next.push(index);
        Ok(())
    }

    /// Sets how far away an object is seen, in metres; infinite is everywhere. Takes effect with the next commit.
    pub fn set_relevance_radius(&mut self, index: ObjectIndex, radius: f32) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        self.relevance_radii[slot] = checked_radius(radius)?;
        self.retuned_next.push(index);
        Ok(())
    }

    /// Changes the parent and keeps the place in the world.
    pub(super) fn move_to_parent(&mut self, slot: usize, parent: Option<usize>) {
        if self.family.parent(slot) == parent {
            return;
        }
        let world = self.world_place(slot);
        self.attach_to(slot, parent);
        let place = parent.map_or(world, |parent| self.world_place(parent).inward(world));
        // A class without the field cannot carry it: peers would not know it either.
        let class = self.classes.class_of(self.slots[slot].kind);
        let transform = &mut self.transforms[slot];
        if class.position().is_some() {
            transform.position = place.position;
        }
        if class.rotation().is_some() {
            transform.rotation = place.rotation.map(|component| component as f32);
        }
        self.reframe(slot);
    }

    fn try_client_write(
        &mut self,
        index: ObjectIndex,
        field: usize,
        value: Value<'_>,
        writer: Writer,
        check: impl FnOnce(Object<'_>, Value<'_>) -> bool,
    ) -> Result<(), WriteRefused> {
        let slot = self.slot_of(index).map_err(|_| WriteRefused::Gone)?;
        let class = self.class_of(slot);
        let flags = class.schema().field(field).ok_or(WriteRefused::NoField)?.flags();
        let own = *class.fields().get(field).ok_or(WriteRefused::NoField)?;
        let is_allowed = flags.may_write(writer);
        #[cfg(netloom_mutations)]
        let is_allowed = is_allowed || crate::mutation::is(crate::mutation::Mutation::WriteUnchecked);
        if !is_allowed {
            return Err(WriteRefused::Forbidden);
        }
        if content_of(own.kind, value)?.is_none() {
            value::store(own.kind, value, &mut [0; 4], &mut QuantizeCounters::default())?;
        }
        let object = self.object(index).ok_or(WriteRefused::Gone)?;
        if !check(object, value) {
            return Err(WriteRefused::Rejected);
        }
        Ok(self.write(slot, field, own, value)?)
    }

    fn write(
        &mut self,
        slot: usize,
        field: usize,
        own: FieldWords,
        value: Value<'_>,
    ) -> Result<(), ValueError> {
        if let Some(content) = content_of(own.kind, value)? {
            let is_another = self.write_content(slot, field, own.kind, content);
            #[cfg(netloom_mutations)]
            let is_another = is_another && !crate::mutation::is(crate::mutation::Mutation::ContentUnnoticed);
            if is_another {
                self.pass_on_content(slot, field, own, content);
            }
            return Ok(());
        }
        let words = &mut self.histories.draft_mut(slot)[own.first..own.first + own.count];
        value::store(own.kind, value, words, &mut self.quantize_counters)?;
        self.read_back(slot, &own);
        self.touch_slot(slot);
        Ok(())
    }

    /// Whether the content is another than before.
    fn write_content(&mut self, slot: usize, field: usize, kind: FieldKind, content: &[u8]) -> bool {
        let Some(&Some(number)) = self.shape_of(slot).contents.get(field) else { return false };
        let own = &mut self.contents[slot][usize::from(number)];
        if own == content {
            return false;
        }
        own.clear();
        // At once as large as it may become, so that later writes never allocate; but nothing is set aside for the
        // longest that a reliable field could ever hold.
        own.reserve_exact(kind.content_bytes_max().unwrap_or(0).min(LATEST_CONTENT_BYTES_MAX));
        own.extend_from_slice(content);
        true
    }

    /// A content changed: its number moves, or if it has none because it is delivered reliably, it is logged.
    fn pass_on_content(&mut self, slot: usize, field: usize, own: FieldWords, content: &[u8]) {
        if own.count > 0 {
            let number = &mut self.histories.draft_mut(slot)[own.first];
            *number = number.wrapping_add(1);
            self.touch_slot(slot);
        } else if self.class_of(slot).reliable(Audience::Owner) >> field & 1 != 0 {
            let index = self.index_of(slot);
            self.property_log.push(index, field, content);
        }
    }

    /// Gives a new object contents of its own, none of which its slot held before.
    pub(super) fn open_contents(&mut self, slot: usize) {
        let kind = self.slots[slot].kind;
        let (class, shape) = (self.classes.class_of(kind), self.classes.shape_of(kind));
        let contents = &mut self.contents[slot];
        contents.iter_mut().for_each(Vec::clear);
        contents.resize_with(shape.content_count, Vec::new);
        for (field, number) in class.fields().iter().zip(&shape.contents) {
            if let Some(number) = number {
                contents[usize::from(*number)].extend_from_slice(default_content(field.kind));
            }
        }
    }

    /// A place or rotation that was set as words becomes the one that everything else is computed from.
    fn read_back(&mut self, slot: usize, own: &FieldWords) {
        let profile = self.slots[slot].kind.profile;
        match (own.kind, value_of(own, self.histories.draft(slot), profile, &[])) {
            (FieldKind::Position(_), Value::Triple(words)) => {
                let transform = &mut self.transforms[slot];
                transform.position = profile.position_from(words, transform.zero);
                self.slots[slot].flags &= !flag::MOVED;
            }
            (FieldKind::Rotation(_), Value::Rotation(rotation)) => {
                self.transforms[slot].rotation = profile.dequantize_rotation(rotation);
                self.slots[slot].flags &= !flag::TURNED;
            }
            _ => {}
        }
    }

    /// The words of the transform are made anew, and mean something else than before.
    fn reframe(&mut self, slot: usize) {
        let is_attached = self.family.parent(slot).is_some();
        let zero = self.slots[slot].kind.profile.zero(&self.settings[slot].origin);
        self.transforms[slot].zero = if is_attached { [0.0; 3] } else { zero };
        self.mark(slot, flag::REFRAMED | flag::MOVED | flag::TURNED);
        self.settle(slot);
    }

    /// Words for the position and the rotation that the game set last.
    pub(super) fn settle(&mut self, slot: usize) {
        let World { slots, classes, transforms, histories, quantize_counters, .. } = self;
        let Slot { flags, kind, .. } = slots[slot];
        let words = histories.draft_mut(slot);
        transforms[slot].quantize(flags, classes.class_of(kind), kind.profile, words, quantize_counters);
        slots[slot].flags &= !(flag::MOVED | flag::TURNED);
    }

    /// Changes the parent, and nothing else.
    pub(super) fn attach_to(&mut self, slot: usize, parent: Option<usize>) {
        let before = self.family.parent(slot);
        self.family.attach(slot, parent);
        for relative in [Some(slot), before, parent].into_iter().flatten() {
            match self.family.is_alone(relative) {
                true => self.slots[relative].flags &= !flag::IN_FAMILY,
                false => self.slots[relative].flags |= flag::IN_FAMILY,
            }
        }
    }

    /// The next commit looks at a slot, for the reason of a flag.
    #[inline]
    pub(super) fn mark(&mut self, slot: usize, flag: u16) {
        let flags = &mut self.slots[slot].flags;
        let before = *flags;
        *flags |= flag | flag::TOUCHED;
        if before & flag::TOUCHED == 0 {
            self.touched.push(slot as u32);
        }
    }

    fn no_field(&self, slot: usize, field: &'static str) -> WorldError {
        WorldError::NoField { class: self.slots[slot].kind.class.0, field }
    }
}

/// The content of a value for a field of variable length; `None` for other fields.
fn content_of(kind: FieldKind, value: Value<'_>) -> Result<Option<&[u8]>, ValueError> {
    match (kind, value) {
        (FieldKind::Text { bytes_max }, Value::Text(text)) if text.len() > usize::from(bytes_max) => {
            Err(ValueError::TooLong { bytes: text.len(), bytes_max })
        }
        (FieldKind::Bytes { bytes_max }, Value::Bytes(bytes)) if bytes.len() > usize::from(bytes_max) => {
            Err(ValueError::TooLong { bytes: bytes.len(), bytes_max })
        }
        (FieldKind::Array { element, .. }, Value::Array(array)) if array.element() != element => {
            Err(ValueError::WrongKind)
        }
        (FieldKind::Array { count_max, .. }, Value::Array(array)) if array.len() > usize::from(count_max) => {
            Err(ValueError::TooMany { count: array.len(), count_max })
        }
        (FieldKind::Text { .. }, Value::Text(_))
        | (FieldKind::Bytes { .. }, Value::Bytes(_))
        | (FieldKind::Array { .. }, Value::Array(_)) => Ok(value.content()),
        (FieldKind::Text { .. } | FieldKind::Bytes { .. } | FieldKind::Array { .. }, _) => {
            Err(ValueError::WrongKind)
        }
        _ => Ok(None),
    }
}

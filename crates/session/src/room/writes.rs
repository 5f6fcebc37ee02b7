//! Fields that clients may write.

use netloom_replica::world::{ObjectIndex, WriteRefused};
use netloom_wire::schema::Value;
use netloom_wire::{Alias, ByteReader};

use super::Room;
use crate::game::PlayerId;

/// A field that a client wants to set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldWrite<'a> {
    pub object: ObjectIndex,
    pub field: usize,
    pub value: Value<'a>,
}

impl Room {
    /// What a client wants to write, if it names something that it sees and the flags of the field let it. A client may be
    /// late with its wish, so an object that is gone is nothing to blame it for; what cannot be read is.
    pub(crate) fn read_write<'a>(
        &self,
        player: PlayerId,
        alias: Alias,
        field: u8,
        bytes: &'a [u8],
    ) -> Result<Option<FieldWrite<'a>>, ()> {
        let Some(object) = self.object_called(player, alias) else { return Ok(None) };
        let Some(seen) = self.world().object(object) else { return Ok(None) };
        let own = seen.class().schema().field(field.into()).ok_or(())?;
        if !own.flags().may_write(seen.writer(player)) {
            return Ok(None);
        }
        let mut reader = ByteReader::new(bytes);
        let value = own.kind().read(&mut reader).map_err(|_| ())?;
        reader.finish().map_err(|_| ())?;
        Ok(Some(FieldWrite { object, field: field.into(), value }))
    }

    /// Sets a field for a client, if the game agreed.
    pub(crate) fn write_for(
        &mut self,
        player: PlayerId,
        set: &FieldWrite<'_>,
        is_agreed: bool,
    ) -> Result<(), WriteRefused> {
        let writer = self.world().object(set.object).map(|object| object.writer(player));
        let writer = writer.ok_or(WriteRefused::Gone)?;
        self.world_mut().client_write(set.object, set.field, set.value, writer, |_, _| is_agreed)
    }
}

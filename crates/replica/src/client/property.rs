//! Properties that are delivered reliably, on their way into the objects in sight.

use netloom_wire::{ReadError, Tick};

use super::{ClientObject, ReplicaClient};
use crate::class::ClassId;
use crate::property::{AppliedProperty, InboxCounters, Place, PropertyInbox, PropertyTarget};
use crate::world::ClassTable;

impl ReplicaClient {
    /// The same client, in which properties wait for their objects for so many send ticks: those of a second.
    #[must_use]
    pub fn with_property_hold(self, ticks: u32) -> ReplicaClient {
        ReplicaClient { properties: PropertyInbox::new(ticks), ..self }
    }

    /// Takes in a message of the property channel; [`poll_property`](ReplicaClient::poll_property) applies it.
    pub fn handle_property(&mut self, message: &[u8]) -> Result<(), ReadError> {
        self.properties.handle_property(message, self.now())
    }

    /// Applies the next property whose object is in sight, and says which it is: its value stands in the object until
    /// the next call. An error is of one message, which is gone.
    pub fn poll_property(&mut self) -> Result<Option<AppliedProperty>, ReadError> {
        let now = self.now();
        let mut objects = Objects { objects: &mut self.objects, classes: &self.classes };
        self.properties.poll_property(now, &mut objects)
    }

    /// What became of the messages of the property channel.
    pub fn property_counters(&self) -> InboxCounters {
        self.properties.counters()
    }

    fn now(&self) -> Tick {
        self.newest.unwrap_or_default()
    }
}

struct Objects<'c> {
    objects: &'c mut [Option<Box<ClientObject>>],
    classes: &'c ClassTable,
}

impl PropertyTarget for Objects<'_> {
    fn place(&self, slot: u16) -> Place<'_> {
        let Some(Some(object)) = self.objects.get(usize::from(slot)) else { return Place::Empty };
        let generation = object.alias().generation;
        let class = self.classes.class(ClassId(object.class()), object.profile());
        match class.filter(|_| object.is_in_sight()) {
            Some(class) => Place::Here { generation, class, audience: object.audience() },
            None => Place::Left { generation },
        }
    }

    fn set_property(&mut self, slot: u16, field: usize, content: &[u8]) {
        if let Some(Some(object)) = self.objects.get_mut(usize::from(slot)) {
            object.set_content(field, content);
        }
    }
}

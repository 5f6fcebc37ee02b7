//! What anybody who looks at a client may expect.

use std::collections::BTreeMap;

use netloom_replica::Class;
use netloom_replica::client::{ClientEvent, ReplicaClient};
use netloom_replica::limits::VISIBLE_MAX;
use netloom_wire::schema::{FieldKind, Value};
use netloom_wire::{ByteReader, ByteWriter, NameRegistry};

/// Every field of `visible` holds a value of its kind: one that can be written, and is read as the same.
pub fn check_values<'c>(class: &Class, visible: u64, value: impl Fn(usize) -> Option<Value<'c>>) {
    for (index, field) in class.fields().iter().enumerate() {
        let value = value(index).unwrap_or_else(|| panic!("field {index} of {class:?} has no value"));
        match value.content() {
            None if visible >> index & 1 != 0 => check_value(field.kind, value),
            None => {}
            Some(content) => assert_eq!(field.kind.read_content(content), Ok(value)),
        }
    }
}

fn check_value(kind: FieldKind, value: Value<'_>) {
    let mut buffer = [0; 64];
    let mut writer = ByteWriter::new(&mut buffer);
    kind.write(value, &NameRegistry::new(0), &mut writer);
    let length = writer.finish().unwrap_or_else(|error| panic!("{kind:?} holds {value:?}: {error}"));
    assert_eq!(kind.read(&mut ByteReader::new(&buffer[..length])), Ok(value), "{kind:?}");
}

/// Follows the events of a client, and looks at all that it holds.
#[derive(Default)]
pub struct Witness {
    /// The generation of what is in each slot, by the events.
    in_sight: BTreeMap<u16, u8>,
}

impl Witness {
    /// Whether the client still keeps its promises.
    pub fn check(&mut self, client: &mut ReplicaClient) {
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Entered(alias) => {
                    let before = self.in_sight.insert(alias.slot, alias.generation);
                    assert_eq!(before, None, "what enters was not there");
                }
                ClientEvent::Refreshed(alias) => {
                    assert_eq!(
                        self.in_sight.get(&alias.slot),
                        Some(&alias.generation),
                        "told anew: was there"
                    );
                }
                ClientEvent::Left(alias) => {
                    let before = self.in_sight.remove(&alias.slot);
                    assert_eq!(before, Some(alias.generation), "what leaves was there");
                }
            }
        }
        assert!(client.len() <= VISIBLE_MAX);
        assert_eq!(client.len(), self.in_sight.len());
        let held = client.iter().map(|object| (object.alias().slot, object.alias().generation));
        assert!(held.eq(self.in_sight.iter().map(|(slot, generation)| (*slot, *generation))));
        for object in client.iter() {
            let class = client.class(object).expect("an object in sight has a class");
            let visible = class.visible(object.audience());
            check_values(class, visible, |field| object.value(class, field));
            let jumped_later = object.jumped().is_some_and(|jumped| jumped.is_newer_than(object.tick()));
            assert!(!jumped_later, "a state knows of no later jump");
        }
    }
}

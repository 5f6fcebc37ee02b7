//! The classes of all cases, and how they and their objects are written down.

use netloom_replica::codec::Blobs;
use netloom_replica::world::{ClassTable, Object};
use netloom_replica::{Class, ClassId};
use netloom_wire::schema::{Audience, Delivery, ElementKind, Field, FieldKind, SyncFlags};
use netloom_wire::{Profile, Schema};
use serde_json::{Map, Value, json};

use crate::wire_vectors::hex;
use crate::wire_vectors::objects::fields;

/// A ship with a field of every kind, a crate that is only somewhere, a board without transform, a turret that turns, and
/// a drone that does both.
pub fn classes() -> Vec<Class> {
    let (public, owner) = (SyncFlags::PUBLIC_SYNC, SyncFlags::OWNER_SYNC);
    let digits = ElementKind::int(0, 6).expect("a range");
    let ship = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
        .field("velocity", FieldKind::Velocity(Profile::Standard), public, 253)
        .field("scale", FieldKind::Scale(Profile::Standard), public, 252)
        .field("health", FieldKind::int(5, 105).expect("a range"), public, 100)
        .field("heat", FieldKind::quantized(-1.0, 1.0, 1_000).expect("a range"), public, 90)
        .field("ammo", FieldKind::int(-2_000_000_000, 2_000_000_000).expect("a range"), owner, 50)
        .field("armed", FieldKind::Bool, public, 40)
        .field("ratio", FieldKind::F32, public, 30)
        .field("tag", FieldKind::Name, public, 20)
        .field("serial", FieldKind::U64, public, 15)
        .field("title", FieldKind::Text { bytes_max: 20 }, public, 10)
        .field("badge", FieldKind::Bytes { bytes_max: 9 }, public, 9)
        .field("cells", FieldKind::Array { element: digits, count_max: 40 }, public, 8)
        .field("drag", FieldKind::Velocity(Profile::None), public, 7)
        .field("secret", FieldKind::int(0, 9).expect("a range"), SyncFlags::NO_SYNC, 1);
    let crate_ = Schema::builder("crate").field("position", FieldKind::Position(Profile::High), public, 255);
    let orders = FieldKind::Array { element: digits, count_max: 300 };
    let board = Schema::builder("board")
        .with(Field::new("said", FieldKind::Text { bytes_max: 100 }, public, 9).delivered(Delivery::Reliable))
        .with(Field::new("orders", orders, owner, 8).delivered(Delivery::Reliable))
        .field("level", FieldKind::int(0, 100).expect("a range"), public, 7)
        .field("note", FieldKind::Text { bytes_max: 16 }, public, 6);
    let turret = Schema::builder("turret")
        .field("rotation", FieldKind::Rotation(Profile::High), public, 255)
        .field("hot", FieldKind::Bool, owner, 15);
    let drone = Schema::builder("drone")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254);
    [ship, crate_, board, turret, drone]
        .map(|builder| Class::new(builder.build().expect("a schema")).expect("a class"))
        .into()
}

/// The classes by number and profile.
pub fn table() -> ClassTable {
    ClassTable::new(classes()).expect("five classes")
}

/// A class of the table.
pub fn class(table: &ClassTable, number: u8, profile: Profile) -> &Class {
    table.class(ClassId(number), profile).expect("one of five")
}

/// A class as a reader is given it.
pub fn described_class(class: &Class) -> Value {
    json!({ "name": class.schema().name(), "fields": fields(class.schema()) })
}

/// An audience by its name.
pub fn audience_name(audience: Audience) -> &'static str {
    match audience {
        Audience::Owner => "owner",
        Audience::Team => "team",
        Audience::Public => "public",
    }
}

/// Contents by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(pub Vec<(usize, Vec<u8>)>);

impl Contents {
    /// Adds that of a field.
    pub fn push(&mut self, field: usize, content: &[u8]) {
        self.0.push((field, content.to_vec()));
    }

    /// As a reader is to find them.
    pub fn described(&self) -> Value {
        let pairs = self.0.iter().map(|(field, content)| (field.to_string(), json!(hex(content))));
        Value::Object(pairs.collect::<Map<String, Value>>())
    }
}

impl Blobs for Contents {
    fn blob(&self, field: usize) -> &[u8] {
        self.0.iter().find(|(own, _)| *own == field).map_or(&[], |(_, content)| content)
    }
}

/// The contents of an object of a world, where an encoder looks for them.
pub struct WorldContents<'a>(pub Object<'a>);

impl Blobs for WorldContents<'_> {
    fn blob(&self, field: usize) -> &[u8] {
        self.0.content(field)
    }
}

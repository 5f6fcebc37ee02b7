//! The kinds of objects: between them every kind of field, every audience and every right to write.

use netloom_replica::Class;
use netloom_replica::world::ClassTable;
use netloom_wire::schema::{ElementKind, FieldKind, SyncFlags};
use netloom_wire::{Profile, Schema};

use crate::runner::Failure;

/// The field that says who an object is: whatever arrives under an alias must be the object that the alias was given to.
pub const IDENTITY: &str = "identity";

/// The largest text.
pub const TEXT_BYTES_MAX: u16 = 20;

/// The largest entry of these classes, for budgets that can hold one: every field, a parent and an origin.
pub const ENTRY_BYTES_MAX: usize = 200;

/// The classes, as both sides have them.
pub fn table() -> Result<ClassTable, Failure> {
    ClassTable::new(classes()?).map_err(|error| Failure::Setup(error.to_string()))
}

/// The classes as a list.
pub fn classes() -> Result<Vec<Class>, Failure> {
    schemas()
        .into_iter()
        .map(|fields| {
            let schema = fields.build().map_err(|error| Failure::Setup(error.to_string()))?;
            Class::new(schema).map_err(|error| Failure::Setup(error.to_string()))
        })
        .collect()
}

fn schemas() -> [netloom_wire::schema::SchemaBuilder; 4] {
    let public = SyncFlags::PUBLIC_SYNC;
    let owner = SyncFlags::OWNER_SYNC;
    let text = FieldKind::Text { bytes_max: TEXT_BYTES_MAX };
    let rank = ElementKind::int(0, 15).unwrap_or(ElementKind::Bool);
    let int = |max| FieldKind::int(0, max).unwrap_or(FieldKind::Bool);
    let ship = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
        .field("velocity", FieldKind::Velocity(Profile::Standard), public, 250)
        .field("health", int(100), public, 100)
        .field("ammo", int(999), owner.with(SyncFlags::MODIFIABLE_BY_CLIENT), 50)
        .field("secret", int(9), SyncFlags::NO_SYNC, 10)
        .field(IDENTITY, FieldKind::U64, public, 5)
        .field("name", text, public.with(SyncFlags::MODIFIABLE_BY_CLIENT), 4)
        .field("orders", text, owner, 3);
    let cargo = Schema::builder("cargo")
        .field("position", FieldKind::Position(Profile::High), public, 255)
        .field("charge", FieldKind::quantized(-1.0, 1.0, 100).unwrap_or(FieldKind::F32), public, 90)
        .field("open", FieldKind::Bool, public.with(SyncFlags::MODIFIABLE_BY_ANY_CLIENT), 20)
        .field(IDENTITY, FieldKind::U64, public, 5)
        .field("code", FieldKind::U64, owner, 4);
    let score = Schema::builder("score")
        .field("points", int(1_000_000), public, 100)
        .field("map", FieldKind::Name, public, 30)
        .field(IDENTITY, FieldKind::U64, public, 5)
        .field("picture", FieldKind::Bytes { bytes_max: 24 }, public, 2)
        .field("ranks", FieldKind::Array { element: rank, count_max: 8 }, public, 1);
    let turret = Schema::builder("turret")
        .field("position", FieldKind::Position(Profile::World), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::World), public, 254)
        .field("scale", FieldKind::Scale(Profile::Standard), public, 60)
        .field("heat", FieldKind::F32, owner, 40)
        .field(IDENTITY, FieldKind::U64, public, 5);
    [ship, cargo, score, turret]
}

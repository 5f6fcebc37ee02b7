//! Kinds of objects that have one field of every kind between them, for every audience and in both deliveries.

use std::sync::LazyLock;

use netloom_replica::Class;
use netloom_replica::codec::Codes;
use netloom_replica::world::ClassTable;
use netloom_wire::schema::{Delivery, ElementKind, Field, FieldKind, SyncFlags};
use netloom_wire::{Profile, Schema};

/// How many there are.
pub const CLASSES: usize = 4;

/// The fields of the first class, by index.
pub mod ship {
    pub const HEALTH: usize = 4;
    pub const AMMO: usize = 6;
    pub const NAME: usize = 11;
    pub const CELLS: usize = 12;
}

/// Those of the third.
pub mod board {
    pub const SAID: usize = 0;
    pub const ORDERS: usize = 1;
}

/// Every class has a public field of this name that holds the object's id.
pub const ID: &str = "id";

static CLASS_TABLE: LazyLock<ClassTable> =
    LazyLock::new(|| ClassTable::new(classes()).expect("four small classes"));

/// Making the tables takes longer than most inputs; copying them does not.
static GENERIC_CODES: LazyLock<Codes> = LazyLock::new(Codes::generic);

/// The codes of all targets.
pub fn codes() -> &'static Codes {
    &GENERIC_CODES
}

/// The table of all classes.
pub fn table() -> &'static ClassTable {
    &CLASS_TABLE
}

/// The classes, in order: a ship with everything, a crate that is only somewhere, a board without a transform, and a
/// turret that only turns.
pub fn classes() -> Vec<Class> {
    let (public, owner) = (SyncFlags::PUBLIC_SYNC, SyncFlags::OWNER_SYNC);
    let digits = ElementKind::int(0, 6).expect("a range");
    let int = |min, max| FieldKind::int(min, max).expect("a range");
    let ship = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
        .field("velocity", FieldKind::Velocity(Profile::Standard), public, 253)
        .field("scale", FieldKind::Scale(Profile::Standard), public, 252)
        // Zero is none of its values.
        .field("health", int(5, 105), public, 100)
        .field("heat", FieldKind::quantized(-1.0, 1.0, 1_000).expect("a range"), public, 90)
        .field("ammo", int(-1_000_000_000, 1_000_000_000), owner, 50)
        .field("on", FieldKind::Bool, owner, 40)
        .field("ratio", FieldKind::F32, public, 30)
        .field("tag", FieldKind::Name, public, 20)
        .field(ID, FieldKind::U64, public, 15)
        .field("name", FieldKind::Text { bytes_max: 20 }, public, 10)
        .field("cells", FieldKind::Array { element: digits, count_max: 40 }, public, 9)
        .field("secret", int(0, 9), SyncFlags::NO_SYNC, 1);
    let crate_ = Schema::builder("crate")
        .field("position", FieldKind::Position(Profile::High), public, 255)
        .field(ID, FieldKind::U64, public, 15);
    let orders = FieldKind::Array { element: ElementKind::U64, count_max: 200 };
    let board = Schema::builder("board")
        .with(Field::new("said", FieldKind::Text { bytes_max: 100 }, public, 9).delivered(Delivery::Reliable))
        .with(Field::new("orders", orders, owner, 8).delivered(Delivery::Reliable))
        .field("note", FieldKind::Bytes { bytes_max: 16 }, public, 7)
        .field(ID, FieldKind::U64, public, 1);
    let turret = Schema::builder("turret")
        .field("rotation", FieldKind::Rotation(Profile::None), public, 255)
        .field(ID, FieldKind::U64, public, 15);
    [ship, crate_, board, turret]
        .map(|builder| Class::new(builder.build().expect("a schema")).expect("a class"))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_replica::ClassId;

    #[test]
    fn the_named_fields_are_where_they_are_said_to_be() {
        let named = |class: u8, field: usize| {
            let class = table().class(ClassId(class), Profile::Standard).unwrap();
            class.schema().field(field).unwrap().name()
        };
        assert_eq!(table().len(), CLASSES);
        assert_eq!([ship::HEALTH, ship::AMMO].map(|field| named(0, field)), ["health", "ammo"]);
        assert_eq!([ship::NAME, ship::CELLS].map(|field| named(0, field)), ["name", "cells"]);
        assert_eq!([board::SAID, board::ORDERS].map(|field| named(2, field)), ["said", "orders"]);
    }
}

//! Forms: what a field of a struct is on the wire.
//!
//! The same Rust type can be sent in several ways, and several types in the same way: three singles are a place, a
//! velocity or a scale, and a range of integers fits eight types. So the derive makes of the attributes of a field a
//! *form*, a constant that knows its kind, and the form does the rest for every type that it fits. A form that cannot
//! exist (a range that ends before it begins, a step of zero) panics while it is made; being a constant, that is when
//! the struct is compiled.

mod content;
mod number;
mod place;
mod plain;

pub use content::{Array, Bytes, Text, array_bytes};
pub use number::{Angle, Steps, Whole};
pub use place::{Place, Rotation, Scale, Velocity};
pub use plain::{PlainField, PlainForm, choice_from, choice_kind, choice_value, element_bits};

use netloom_replica::Class;
use netloom_replica::client::ClientObject;
use netloom_replica::step::{FIELDS_MAX, Fields};
use netloom_replica::world::{Object, ObjectIndex, ValueError, World, WorldError};
use netloom_wire::schema::{ElementKind, FieldKind, SyncFlags, Value};
use netloom_wire::{Profile, SectorOrigin};

/// How values of type `T` are sent as one field.
#[diagnostic::on_unimplemented(
    message = "a field of type `{T}` cannot be sent as its attributes say",
    label = "`{T}` does not fit the attributes",
    note = "range: integers, or with step: f32 and f64; text: String; bytes: Vec<u8>; array: Vec of numbers or names",
    note = "position, velocity, scale: [f32; 3], [f64; 3], [f32; 2] or [f64; 2]; rotation: [f32; 4] or [f64; 4]",
    note = "without any: bool, u8, i8, u16, i16, u64, f32, Name, and enums with #[derive(Choice)]",
    note = "for a type of your own or of a maths library, name one of these with `via`, into and from which it converts"
)]
pub trait Form<T> {
    /// What the schema says of it.
    fn kind(&self) -> FieldKind;

    /// Writes a value as the field of this number.
    fn write(
        &self,
        value: &T,
        world: &mut World,
        object: ObjectIndex,
        field: usize,
    ) -> Result<(), WorldError>;

    /// The value of the field of this number; `None` if that field is something else.
    fn read(&self, source: &Source<'_>, field: usize) -> Option<T>;

    /// Lists a value as the wire carries it.
    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields);
}

/// How values of type `T` are sent as elements of an array.
#[diagnostic::on_unimplemented(
    message = "an array of `{T}` cannot be sent as its attributes say",
    label = "`{T}` does not fit the attributes",
    note = "elements are integers with a range, floats with a range and a step, or what needs no attribute"
)]
pub trait ElementForm<T> {
    /// What the schema says of an element.
    fn element(&self) -> ElementKind;

    /// An element as a value; the error says what is wrong with it.
    fn element_value(&self, value: &T) -> Result<Value<'static>, ValueError>;

    /// The element of a value; `None` if it is of another kind.
    fn element_from(&self, value: Value<'_>) -> Option<T>;

    /// Whether equal elements may be a step apart after the wire, so that they are compared one by one.
    fn step(&self) -> Option<f64>;
}

/// Where a value is read from: an object of the server, or what a client holds of it.
#[derive(Clone, Copy)]
pub struct Source<'a>(Side<'a>);

#[derive(Clone, Copy)]
enum Side<'a> {
    Server(Object<'a>),
    Client(&'a ClientObject, &'a Class),
}

impl<'a> Source<'a> {
    /// An object of the server, of which every field is there.
    pub fn world(object: Object<'a>) -> Source<'a> {
        Source(Side::Server(object))
    }

    /// An object of a client; `None` if it is not of this class.
    pub fn client(object: &'a ClientObject, class: &'a Class) -> Option<Source<'a>> {
        let fits = object.words().len() == class.word_count();
        fits.then_some(Source(Side::Client(object, class)))
    }

    /// Whether fields with these flags are there.
    pub fn has(&self, flags: SyncFlags) -> bool {
        match self.0 {
            Side::Server(_) => true,
            Side::Client(object, _) => flags.reaches(object.audience()),
        }
    }

    /// The value of a field.
    pub fn value(&self, field: usize) -> Option<Value<'a>> {
        match self.0 {
            Side::Server(object) => object.get(field),
            Side::Client(object, class) => object.value(class, field),
        }
    }

    /// How position and rotation are quantized.
    pub fn profile(&self) -> Profile {
        match self.0 {
            Side::Server(object) => object.profile(),
            Side::Client(object, _) => object.profile(),
        }
    }

    /// What the position is relative to: nothing but the parent if there is one.
    pub fn origin(&self) -> SectorOrigin {
        let (is_attached, origin) = match self.0 {
            Side::Server(object) => (object.parent().is_some(), object.origin()),
            Side::Client(object, _) => (object.parent().is_some(), object.origin()),
        };
        if is_attached { SectorOrigin::default() } else { origin }
    }
}

/// The error of a value that cannot be made into one of the field's.
fn refused(field: usize, source: ValueError) -> WorldError {
    WorldError::Value { field, source }
}

/// The priority of a struct's attributes.
pub const fn priority(priority: f64) -> f32 {
    let single = priority as f32;
    assert!(single >= 0.0 && single.is_finite(), "a priority is finite and not negative");
    single
}

/// The relevance radius of a struct's attributes.
pub const fn radius(metres: f64) -> f32 {
    assert!(
        metres >= 0.0,
        "a radius is not negative; leave it out for objects that are seen from everywhere"
    );
    metres as f32
}

/// The kind weight of a struct's attributes.
pub const fn weight(weight: f64) -> f32 {
    let single = weight as f32;
    assert!(single > 0.0 && single.is_finite(), "a weight is finite and above 0");
    single
}

/// Refuses to predict a struct of which only a part could be compared.
pub const fn check_listed(listed: usize) {
    assert!(
        listed <= FIELDS_MAX,
        "a struct with `predict` has more values than the 32 that prediction compares"
    );
}

//! `#[derive(Replicated)]`: a plain struct becomes a kind of object.
//!
//! The attributes of a field say how it is sent and to whom. They are read (`attributes`), joined with the type of the field
//! to its form (`form`), collected to a table of which each field knows its number (`model`), and written out
//! (`expand`): a constant for each field, and functions that hand each field to its constant. What the constants do is in
//! `netloom_session::replicated`; games use the derives by the names that it gives them.
#![forbid(unsafe_code)]

mod attributes;
mod choice;
mod expand;
mod form;
mod model;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Makes a struct a kind of object: implements `Replicated` for it.
///
/// ```
/// use netloom_session::replicated::{Choice, Replicated};
/// use netloom_wire::{Name, Profile};
///
/// const HEALTH_MAX: u16 = 500;
///
/// #[derive(Choice, Clone, Copy)]
/// # #[replicated(crate = netloom_session)]
/// enum Gear { Neutral, Forward, Back }
///
/// #[derive(Replicated)]
/// #[replicated(name = "tank", profile = "high", priority = 2.0, radius = 400.0, weight = 2.0, predict)]
/// # #[replicated(crate = netloom_session)]
/// struct Tank {
///     #[replicated(position)]
///     at: [f64; 3],
///     #[replicated(rotation)]
///     hull: [f32; 4],
///     #[replicated(range = -1.0..=1.0, step = 0.01, hot = 220)]
///     throttle: f32,
///     #[replicated(range = 0..=HEALTH_MAX)]
///     health: u16,
///     gear: Gear,
///     paint: Name,
///     #[replicated(text = 32)]
///     title: String,
///     #[replicated(array = 8, range = 0..=99, owner)]
///     shells: Vec<u8>,
///     #[replicated(text = 500, reliable, owner)]
///     radio: String,
///     #[replicated(server_only)]
///     seed: u64,
///     #[replicated(skip)]
///     sounds: Vec<String>,
/// }
///
/// // Hottest first.
/// assert_eq!(Tank::FIELDS[..4], ["at", "hull", "throttle", "health"]);
/// assert_eq!(Tank::schema()?.hash(), Tank::class()?.schema().hash());
/// assert_eq!(Tank::spawn_defaults().profile, Profile::High);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The struct
///
/// It has named fields and no generics. Numbers may be constants. Several attributes may stand in one `#[replicated(…)]` or in
/// several.
///
/// | attribute | without it | meaning |
/// |---|---|---|
/// | `name = "tank"` | the name of the struct | what the class is called; 1 to 64 bytes |
/// | `profile = "high"` | `"standard"` | how position, rotation, scale and velocity are quantized, see below |
/// | `priority = 2.0` | 1 | how important its objects are compared with others; 0 is never sent |
/// | `radius = 80.0` | everywhere | how far away they are seen, in metres |
/// | `weight = 2.0` | 1 | a factor of the priority for this kind of object |
/// | `predict` | not predicted | the client that owns an object predicts it; at most 32 values are compared |
/// | `crate = path` | `::netloom` | where to find Netloom if it has another name |
///
/// | profile | position | rotation | velocity |
/// |---|---|---|---|
/// | `"standard"` | 1 cm within 327 m of its origin | 0.28° | 1 cm/s to 327 m/s |
/// | `"high"` | 0.1 mm within 214 km of its origin | 0.009° | 0.1 mm/s |
/// | `"world"` | 1 m within 32 km of zero | 0.28° | 1 cm/s to 327 m/s |
/// | `"none"` | as it is, in singles | as it is | as it is |
///
/// # How a field is sent
///
/// | attribute | type | meaning |
/// |---|---|---|
/// | none | `bool` | one bit |
/// | none | `u8`, `i8`, `u16`, `i16` | the whole range of the type |
/// | none | `f32` | as it is; must be finite |
/// | none | `u64` | 64 opaque bits |
/// | none | an enum with [`macro@Choice`] | as few bits as the choices need |
/// | none, or `name` | `Name` | a hashed string, 64 bits |
/// | `range = 0..=100` | integers up to 64 bits | as few bits as the range needs; the range lies within that of an `i32`. A value outside it is refused |
/// | `range = -1.0..=1.0, step = 0.01` | `f32`, `f64` | the nearest step, half a step off at most. A step is one over a whole number. A value outside the range becomes its end, NaN becomes 0, and the world counts both |
/// | `angle`, with the above | `f32`, `f64` | prediction takes a whole turn (2π) for no difference |
/// | `position` | `[f32; 3]`, `[f64; 3]`, `[f32; 2]`, `[f64; 2]` | where it is, in metres: in the world, or relative to its parent. Of two coordinates the third is 0 |
/// | `rotation` | `[f32; 4]`, `[f64; 4]` | a unit quaternion x y z w; q and −q are the same |
/// | `velocity` | as of `position` | metres per second; saturates |
/// | `scale` | as of `position` | steps of 1/32 below 8, else as it is. Of two coordinates the third is 1 |
/// | `text = 32` | `String` | at most so many bytes of UTF-8: 1 to 1,000, `reliable` to 65,532 |
/// | `bytes = 64` | `Vec<u8>` | at most so many bytes, as of a text |
/// | `array = 16` | `Vec` of what needs no attribute | at most so many, packed by the bit |
/// | `array = 16, range = …` | `Vec` of integers, or with `step` of floats | the same; a float outside the range becomes its end, NaN is refused |
/// | `via = [f32; 3]` | any that converts | with any of the above: sent as the type named, made from a clone of the field with `From`, and back. For types of a maths library, or newtypes |
/// | `skip` | any with `Default` | not part of the object; reads as its default |
///
/// There is at most one field of each of `position`, `rotation`, `scale` and `velocity`.
///
/// # Who sees it, who may write it, and how it travels
///
/// | attribute | sync flag | meaning |
/// |---|---|---|
/// | `public`, or none | `PUBLIC_SYNC` | whoever sees the object receives it |
/// | `owner` | `OWNER_SYNC` | only the owner of the object receives it |
/// | `server_only` | `NO_SYNC` | it never leaves the server |
/// | `client_writes` | `MODIFIABLE_BY_CLIENT` | the owner may ask to change it |
/// | `any_client_writes` | `MODIFIABLE_BY_ANY_CLIENT` | whoever sees it may ask to change it |
/// | `reliable` | | of a text, bytes or an array: every value arrives, in order, beside the snapshots. Without it the newest value rides in snapshots |
/// | `hot = 200` | | how often it changes compared with others, 0 to 255, written out: hotter fields come first and make shorter updates. Without it: position 255, rotation 254, velocity 253, numbers 100, scale 20, texts, bytes and arrays 10 |
///
/// The flag `SYNCED` follows from the audience. A client that is not sent a field reads its `Default`.
#[proc_macro_derive(Replicated, attributes(replicated))]
pub fn derive_replicated(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    model::Struct::of(&input)
        .map_or_else(Error::into_compile_error, |model| expand::replicated(&model))
        .into()
}

/// Makes an enum without data a choice: implements `Choice` for it, so that it can be a field of a replicated struct, or an
/// element of an array in one, without any attribute. It must be `Copy`.
///
/// The variants are numbered in the order in which they are declared, whatever their discriminants. One more or less changes
/// the schema, which the handshake notices; another order does not, so both sides must be built from the same one.
///
/// ```
/// use netloom_session::replicated::Choice;
///
/// #[derive(Choice, Clone, Copy, Debug, PartialEq)]
/// # #[replicated(crate = netloom_session)]
/// enum Gear { Neutral, Forward, Back }
///
/// assert_eq!((Gear::COUNT, Gear::Back.index()), (3, 2));
/// assert_eq!(Gear::from_index(1), Some(Gear::Forward));
/// assert_eq!(Gear::from_index(3), None);
/// ```
///
/// | attribute | without it | meaning |
/// |---|---|---|
/// | `#[replicated(crate = path)]` | `::netloom` | where to find Netloom if it has another name |
#[proc_macro_derive(Choice, attributes(replicated))]
pub fn derive_choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    choice::choice(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// What only the compiler can refuse: types behind an alias, and numbers that are constants. The first compiles; each of the
/// others differs from it in one field.
///
/// ```
/// use netloom_session::replicated::Replicated;
///
/// const LARGEST: i64 = 100;
/// type Percent = u8;
/// type Words = String;
///
/// #[derive(Replicated)]
/// #[replicated(crate = netloom_session)]
/// struct Thing {
///     #[replicated(range = 0..=LARGEST)]
///     charge: Percent,
///     #[replicated(text = 10)]
///     label: Words,
/// }
/// ```
///
/// A text that is declared as a number:
///
/// ```compile_fail,E0277
/// use netloom_session::replicated::Replicated;
///
/// const LARGEST: i64 = 100;
/// type Percent = u8;
/// type Words = String;
///
/// #[derive(Replicated)]
/// #[replicated(crate = netloom_session)]
/// struct Thing {
///     #[replicated(range = 0..=LARGEST)]
///     charge: Percent,
///     #[replicated(range = 0..=LARGEST)]
///     label: Words,
/// }
/// ```
///
/// A type that needs an attribute and has none:
///
/// ```compile_fail,E0277
/// use netloom_session::replicated::Replicated;
///
/// const LARGEST: i64 = 100;
/// type Percent = u8;
/// type Words = String;
///
/// #[derive(Replicated)]
/// #[replicated(crate = netloom_session)]
/// struct Thing {
///     #[replicated(range = 0..=LARGEST)]
///     charge: Percent,
///     label: Words,
/// }
/// ```
///
/// A range that the type does not have:
///
/// ```compile_fail,E0080
/// use netloom_session::replicated::Replicated;
///
/// const LARGEST: i64 = 300;
/// type Percent = u8;
/// type Words = String;
///
/// #[derive(Replicated)]
/// #[replicated(crate = netloom_session)]
/// struct Thing {
///     #[replicated(range = 0..=LARGEST)]
///     charge: Percent,
///     #[replicated(text = 10)]
///     label: Words,
/// }
/// ```
///
/// A text too long for a snapshot:
///
/// ```compile_fail,E0080
/// use netloom_session::replicated::Replicated;
///
/// const LARGEST: i64 = 100;
/// type Percent = u8;
/// type Words = String;
///
/// #[derive(Replicated)]
/// #[replicated(crate = netloom_session)]
/// struct Thing {
///     #[replicated(range = 0..=LARGEST)]
///     charge: Percent,
///     #[replicated(text = 1_001)]
///     label: Words,
/// }
/// ```
#[cfg(doctest)]
mod what_the_compiler_refuses {}

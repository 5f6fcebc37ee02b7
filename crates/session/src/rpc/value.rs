//! Arguments as MessagePack, read where they lie.
//!
//! Scripts pass lists of whatever they have, so arguments describe themselves. MessagePack does that in every language,
//! but its lengths are promises of the sender: five bytes can claim four billion elements, and a thousand bytes can nest
//! a thousand lists. So nothing is built from such bytes. [`check`] walks them once with a stack of fixed size; after that
//! [`Value`] is a view into them, and a list gives its elements one by one. Reading allocates nothing, whatever comes.
//!
//! ```text
//!  93        05    a3 'f' 'o' 'x'    d6 01 2c 01 00 00
//!  list of 3  5         "fox"         object, slot 300, generation 0
//! ```
//!
//! Extension type 1 is an object: four bytes, `slot | generation << 16` little-endian, or all ones for one that the
//! receiver cannot see. It has a fixed size so that a server can put each recipient's own alias in place
//! ([`translate_objects`]).

pub(super) mod token;
mod writer;

#[cfg(test)]
mod tests;

use netloom_wire::Alias;

pub use writer::ValueWriter;

use token::{Shape, Token};

/// How deep lists and maps may nest; the list of arguments itself counts as one.
pub const DEPTH_MAX: usize = 16;
/// Values of one list of arguments, with everything inside: what a handler may be made to walk through.
pub const ELEMENTS_MAX: usize = 4_096;
/// The extension type of an object.
pub const OBJECT_EXTENSION: i8 = 1;

/// Why bytes are no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The bytes end before the value does, or a length says more than there is.
    #[error("the value is longer than its bytes")]
    UnexpectedEnd,
    /// Bytes follow the value.
    #[error("the bytes continue after the value")]
    TrailingData,
    /// Lists and maps nest too deep.
    #[error("lists and maps nest deeper than {DEPTH_MAX}")]
    TooDeep,
    /// There are too many values.
    #[error("there are more than {ELEMENTS_MAX} values")]
    TooManyElements,
    /// A text or the whole is too long.
    #[error("the value is longer than {} bytes", super::ARGS_BYTES_MAX)]
    TooLong,
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    InvalidUtf8,
    /// The key of a map is no text.
    #[error("a key of a map is no text")]
    KeyIsNoText,
    /// A byte that begins no value, or an extension other than an object.
    #[error("a value has a type that is not used here")]
    UnknownType,
    /// An object is neither an alias nor nobody.
    #[error("an object is no alias")]
    InvalidObject,
}

/// One value, where it lies in the bytes.
///
/// Integers are [`Value::Int`] if they fit, whatever form they were sent in. Floats may be infinite or not a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing: `None`, `null`.
    Nil,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above [`i64::MAX`].
    UInt(u64),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// A text.
    Text(&'a str),
    /// Raw bytes.
    Bytes(&'a [u8]),
    /// A list.
    List(Items<'a>),
    /// A map from texts.
    Map(Entries<'a>),
    /// An object as the receiver knows it; `None` is one that it cannot see.
    Object(Option<Alias>),
}

impl<'a> Value<'a> {
    /// The one value that `bytes` are, [checked](check).
    pub fn read(bytes: &'a [u8]) -> Result<Value<'a>, ValueError> {
        check(bytes)?;
        Items { bytes, left: 1 }.next().ok_or(ValueError::UnexpectedEnd)
    }
}

/// The elements of a list, in order.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    /// Exactly the elements that are left: checked when the whole was.
    bytes: &'a [u8],
    left: usize,
}

impl<'a> Items<'a> {
    /// The elements of the list that checked bytes are.
    pub(super) fn of_list(bytes: &'a [u8]) -> Items<'a> {
        match Token::read(bytes) {
            Ok((Token::List(count), content)) => Items { bytes: content, left: count },
            _ => Items { bytes: &[], left: 0 },
        }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (token, rest) = Token::read(self.bytes).ok()?;
        let content = rest;
        self.bytes = match token {
            Token::List(count) => skip(rest, count),
            Token::Map(count) => skip(rest, 2 * count),
            _ => rest,
        };
        let content = content.get(..content.len() - self.bytes.len()).unwrap_or_default();
        Some(match token {
            Token::Nil => Value::Nil,
            Token::Bool(value) => Value::Bool(value),
            Token::Int(value) => Value::Int(value),
            Token::UInt(value) => Value::UInt(value),
            Token::F32(value) => Value::F32(value),
            Token::F64(value) => Value::F64(value),
            Token::Text(text) => Value::Text(text),
            Token::Bytes(bytes) => Value::Bytes(bytes),
            Token::Object(object) => Value::Object(object),
            Token::List(count) => Value::List(Items { bytes: content, left: count }),
            Token::Map(count) => Value::Map(Entries(Items { bytes: content, left: 2 * count })),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Items<'_> {}

impl PartialEq for Items<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.clone().eq(other.clone())
    }
}

/// The entries of a map, in the order in which they were sent. Nobody promises that a key comes only once.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<'a>(Items<'a>);

impl<'a> Entries<'a> {
    /// The value of the first entry with this key, by looking through all of them.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.clone().find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, Value<'a>);

    fn next(&mut self) -> Option<(&'a str, Value<'a>)> {
        match self.0.next()? {
            Value::Text(key) => Some((key, self.0.next()?)),
            _ => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.left / 2, Some(self.0.left / 2))
    }
}

impl ExactSizeIterator for Entries<'_> {}

/// What follows the next `values` values of checked bytes.
fn skip(mut bytes: &[u8], values: usize) -> &[u8] {
    let mut left = values;
    while left > 0 {
        let Ok((token, rest)) = Token::read(bytes) else {
            return &[];
        };
        left = left - 1 + token.inner_values();
        bytes = rest;
    }
    bytes
}

/// Checks that `bytes` are exactly one value within all limits, without allocating.
pub fn check(bytes: &[u8]) -> Result<(), ValueError> {
    let mut rest = bytes;
    let mut shape = Shape::begin(bytes)?;
    while !shape.is_complete() {
        let (token, after) = Token::read(rest)?;
        shape.accept(&token, after)?;
        rest = after;
    }
    if rest.is_empty() { Ok(()) } else { Err(ValueError::TrailingData) }
}

/// Replaces every object in `bytes` by what `alias_of` gives for it, `None` for one that the receiver cannot see, and
/// says how many there were. Objects that the sender could not see stay so.
pub fn translate_objects(
    bytes: &mut [u8],
    mut alias_of: impl FnMut(Alias) -> Option<Alias>,
) -> Result<usize, ValueError> {
    check(bytes)?;
    let mut objects = 0;
    let mut position = 0;
    while let Some((token, rest_bytes)) =
        bytes.get(position..).and_then(|rest| Token::read(rest).ok()).map(|(token, rest)| (token, rest.len()))
    {
        let object = match token {
            Token::Object(object) => Some(object),
            _ => None,
        };
        position = bytes.len() - rest_bytes;
        if let Some(object) = object {
            objects += 1;
            let translated = token::object_bytes(object.and_then(&mut alias_of));
            let start = position.saturating_sub(translated.len());
            if let Some(place) = bytes.get_mut(start..position) {
                place.copy_from_slice(&translated);
            }
        }
    }
    Ok(objects)
}

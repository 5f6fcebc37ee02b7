//! Names: strings that cross the wire as a 64-bit hash.
//!
//! Property values, message names and asset names repeat endlessly, and both ends know almost all of them. So the wire
//! carries [`Name`], the FNV-1a 64 hash of the UTF-8 bytes, and the receiver looks the text up. Two questions follow.
//! What if two texts share a hash? Registering the second is a hard error on the side that owns the texts, so it is
//! found at startup, never in a running game. What if the receiver does not know the hash? Both ends build their
//! registries independently, so that is an ordinary event: reading yields
//! [`ReadError::UnknownName`](crate::ReadError::UnknownName) with the raw hash, which the application can report.
//!
//! For debugging, a connection can agree to send the text along ([`NameMode::WithText`]): hash first, then the text,
//! which the receiver verifies.

use core::fmt;
use std::collections::BTreeMap;

use crate::hash::fnv1a_64;

/// The longest text of a name, in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 255;

/// The hash of a name's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub u64);

impl Name {
    /// The name of `text`, usable in constants.
    pub const fn of(text: &str) -> Name {
        Name(fnv1a_64(text.as_bytes()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// How names appear in a message. Both ends must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameMode {
    /// The 64-bit hash alone.
    #[default]
    Hashed,
    /// The hash and its text: larger, readable in a capture, and verified.
    WithText,
}

/// Something that knows the text of names.
pub trait Resolve {
    /// The text of `name`, if it is known.
    fn resolve(&self, name: Name) -> Option<&str>;
}

/// Why a text was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("a name must not be empty")]
    Empty,
    /// The text is too long.
    #[error("a name of {length} bytes is longer than {NAME_BYTES_MAX}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// Another text has the same hash: rename one of the two.
    #[error("\"{text}\" and \"{registered}\" have the same hash {name}: rename one of them")]
    Collision {
        /// The hash of both.
        name: Name,
        /// The text that was registered first.
        registered: String,
        /// The text that was refused.
        text: String,
    },
    /// The registry is full.
    #[error("the registry already holds {capacity} names, its limit")]
    Full {
        /// The limit.
        capacity: usize,
    },
}

/// The names that one side knows, at most as many as it was created for.
#[derive(Clone, Debug)]
pub struct NameRegistry {
    texts: BTreeMap<Name, Box<str>>,
    capacity: usize,
}

impl NameRegistry {
    /// An empty registry for at most `capacity` names.
    pub fn new(capacity: usize) -> NameRegistry {
        NameRegistry { texts: BTreeMap::new(), capacity }
    }

    /// Registers `text`. Registering the same text again is no error and changes nothing.
    pub fn register(&mut self, text: &str) -> Result<Name, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > NAME_BYTES_MAX {
            return Err(NameError::TooLong { length: text.len() });
        }
        let name = Name::of(text);
        match self.texts.get(&name) {
            Some(registered) if **registered == *text => return Ok(name),
            Some(registered) => {
                return Err(NameError::Collision {
                    name,
                    registered: registered.to_string(),
                    text: text.to_owned(),
                });
            }
            None if self.texts.len() >= self.capacity => {
                return Err(NameError::Full { capacity: self.capacity });
            }
            None => {}
        }
        self.texts.insert(name, text.into());
        Ok(name)
    }

    /// How many names are registered.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether no name is registered.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// All names with their texts, in the order of their hashes.
    pub fn iter(&self) -> impl Iterator<Item = (Name, &str)> {
        self.texts.iter().map(|(&name, text)| (name, &**text))
    }
}

impl Resolve for NameRegistry {
    fn resolve(&self, name: Name) -> Option<&str> {
        self.texts.get(&name).map(|text| &**text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registered_name_resolves_and_a_stranger_does_not() {
        let mut registry = NameRegistry::new(4);
        assert!(registry.is_empty());
        let sword = registry.register("sword").unwrap();
        assert_eq!(sword, const { Name::of("sword") });
        assert_eq!(registry.register("sword"), Ok(sword));
        assert_eq!(registry.len(), 1);
        assert_eq!(registry.resolve(sword), Some("sword"));
        assert_eq!(registry.resolve(Name::of("shield")), None);
        assert_eq!(registry.iter().collect::<Vec<_>>(), [(sword, "sword")]);
    }

    #[test]
    fn two_texts_with_one_hash_cannot_both_be_registered() {
        let (first, second) = ("8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ");
        assert_eq!(Name::of(first), Name::of(second), "a known collision of FNV-1a 64");
        let mut registry = NameRegistry::new(4);
        registry.register(first).unwrap();
        assert!(matches!(registry.register(second), Err(NameError::Collision { .. })));
        assert_eq!(registry.resolve(Name::of(second)), Some(first));
    }

    #[test]
    fn empty_long_and_surplus_names_are_refused() {
        let mut registry = NameRegistry::new(1);
        assert_eq!(registry.register(""), Err(NameError::Empty));
        assert_eq!(registry.register(&"x".repeat(256)), Err(NameError::TooLong { length: 256 }));
        registry.register(&"x".repeat(255)).unwrap();
        assert_eq!(registry.register("y"), Err(NameError::Full { capacity: 1 }));
    }
}

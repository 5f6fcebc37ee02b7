//! Fields of a level's file, each read with its bounds: what does not fit is reported with the name of the field and what would fit,
//! at the line where it is.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Formation, SPAWNS_MAX, Spawn, WAVES_MAX, Wave};
use crate::rules::kinds::EnemyKind;

/// Whole numbers: the field and what it may be.
pub(super) mod whole {
    use serde::Deserializer;

    macro_rules! fields {
        ($($field:ident: $min:literal..=$max:literal;)*) => {
            $(pub fn $field<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
                from.deserialize_i64(super::Whole { field: stringify!($field), min: $min, max: $max })
            })*
        };
    }

    fields! {
        count: 1..=64;
        after_steps: 0..=6000;
        every_steps: 1..=600;
        x: 800..=1700;
        y: 60..=840;
        spread: -800..=800;
        speed: 0..=12;
        fire_every_steps: 0..=600;
        at_seconds: 0..=600;
        seconds: 1..=600;
        debris_every_steps: 0..=6000;
        boss_health: 0..=20000;
    }
}

/// What is or is not.
pub(super) mod flag {
    use serde::Deserializer;

    pub fn capsule<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
        from.deserialize_bool(super::Flag { field: "capsule" })
    }

    pub fn endless<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
        from.deserialize_bool(super::Flag { field: "endless" })
    }
}

const ENEMIES: [(&str, EnemyKind); 6] = [
    ("drone", EnemyKind::Drone),
    ("weaver", EnemyKind::Weaver),
    ("hunter", EnemyKind::Hunter),
    ("turret", EnemyKind::Turret),
    ("dasher", EnemyKind::Dasher),
    ("carrier", EnemyKind::Carrier),
];

const BOSSES: [(&str, Option<EnemyKind>); 3] =
    [("warden", Some(EnemyKind::Warden)), ("leviathan", Some(EnemyKind::Leviathan)), ("none", None)];

const FORMATIONS: [(&str, Formation); 5] = [
    ("line", Formation::Line),
    ("stairs", Formation::Stairs),
    ("column", Formation::Column),
    ("wedge", Formation::Wedge),
    ("scatter", Formation::Scatter),
];

pub(super) fn kind<'de, D: Deserializer<'de>>(from: D) -> Result<EnemyKind, D::Error> {
    from.deserialize_str(OneOf { field: "kind", names: &ENEMIES })
}

pub(super) fn boss<'de, D: Deserializer<'de>>(from: D) -> Result<Option<EnemyKind>, D::Error> {
    from.deserialize_str(OneOf { field: "boss", names: &BOSSES })
}

pub(super) fn formation<'de, D: Deserializer<'de>>(from: D) -> Result<Formation, D::Error> {
    from.deserialize_str(OneOf { field: "formation", names: &FORMATIONS })
}

pub(super) fn level_name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    from.deserialize_str(Text { field: "name", characters_max: 40 })
}

pub(super) fn waves<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Wave>, D::Error> {
    from.deserialize_seq(List {
        field: "waves",
        count_max: WAVES_MAX,
        element: Element { what: "a wave, with `at_seconds` and `spawns`", of: PhantomData },
    })
}

pub(super) fn spawns<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Spawn>, D::Error> {
    from.deserialize_seq(List {
        field: "spawns",
        count_max: SPAWNS_MAX,
        element: Element { what: "a spawn, with at least `kind`", of: PhantomData },
    })
}

/// What an error says, without the place that is told beside it.
pub(super) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map(str::to_owned).unwrap_or(text)
}

struct Whole {
    field: &'static str,
    min: i32,
    max: i32,
}

impl Visitor<'_> for Whole {
    type Value = i32;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "`{}` to be a whole number from {} to {}", self.field, self.min, self.max)
    }

    fn visit_i64<E: de::Error>(self, n: i64) -> Result<i32, E> {
        match i32::try_from(n) {
            Ok(n) if (self.min..=self.max).contains(&n) => Ok(n),
            _ => Err(E::invalid_value(de::Unexpected::Signed(n), &self)),
        }
    }

    fn visit_u64<E: de::Error>(self, n: u64) -> Result<i32, E> {
        match i64::try_from(n) {
            Ok(n) => self.visit_i64(n),
            Err(_) => Err(E::invalid_value(de::Unexpected::Unsigned(n), &self)),
        }
    }
}

struct Flag {
    field: &'static str,
}

impl Visitor<'_> for Flag {
    type Value = bool;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "`{}` to be true or false", self.field)
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<bool, E> {
        Ok(flag)
    }
}

struct OneOf<T: 'static> {
    field: &'static str,
    names: &'static [(&'static str, T)],
}

impl<T: Copy> Visitor<'_> for OneOf<T> {
    type Value = T;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "`{}` to be one of", self.field)?;
        self.names.iter().try_for_each(|(name, _)| write!(to, " {name}"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        let found = self.names.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

struct Text {
    field: &'static str,
    characters_max: usize,
}

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "`{}` to be a text of 1 to {} characters", self.field, self.characters_max)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        if (1..=self.characters_max).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
            Ok(text.to_owned())
        } else {
            Err(E::invalid_value(de::Unexpected::Str(text), &self))
        }
    }
}

struct List<T> {
    field: &'static str,
    count_max: usize,
    element: Element<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "`{}` to be a list of 1 to {}", self.field, self.count_max)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = from.next_element_seed(self.element)? {
            if list.len() == self.count_max {
                return Err(de::Error::invalid_length(list.len() + 1, &self));
            }
            list.push(element);
        }
        if list.is_empty() { Err(de::Error::invalid_length(0, &self)) } else { Ok(list) }
    }
}

/// An element with its fields named: a list of values without names is read by no other implementation, nor by people.
struct Element<T> {
    what: &'static str,
    of: PhantomData<T>,
}

impl<T> Clone for Element<T> {
    fn clone(&self) -> Element<T> {
        *self
    }
}

impl<T> Copy for Element<T> {}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Element<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Element<T> {
    type Value = T;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.what)
    }

    fn visit_map<A: MapAccess<'de>>(self, from: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(from))
    }
}

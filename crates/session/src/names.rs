//! Names that nobody else in a room has.

use crate::text::{NAME_CHARS_MAX, clean_name};

/// What somebody gets whose name another one has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateNames {
    /// A number behind it.
    #[default]
    Number,
    /// Nothing.
    Refuse,
}

/// Why a name cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRefused {
    Empty,
    TooLong,
    Taken,
}

/// The name under which somebody who typed `typed` joins `others`.
pub(crate) fn unique_name<'a>(
    typed: &str,
    others: impl Iterator<Item = &'a str> + Clone,
    duplicates: DuplicateNames,
) -> Result<String, NameRefused> {
    let name = clean_name(typed);
    if name.is_empty() {
        return Err(NameRefused::Empty);
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(NameRefused::TooLong);
    }
    let is_taken = |name: &str| others.clone().any(|other| is_same(other, name));
    if !is_taken(&name) {
        return Ok(name);
    }
    if duplicates == DuplicateNames::Refuse {
        return Err(NameRefused::Taken);
    }
    // Of as many numbers as there are others, and one more, one is free.
    let numbers = 2..others.clone().count() + 3;
    let free = numbers.map(|number| numbered(&name, number)).find(|name| !is_taken(name));
    free.ok_or(NameRefused::Taken)
}

/// `Anna` and `anna` are the same to whoever reads them.
fn is_same(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

fn numbered(name: &str, number: usize) -> String {
    let suffix = format!(" ({number})");
    let room = NAME_CHARS_MAX - suffix.chars().count();
    let mut numbered: String = name.chars().take(room).collect();
    numbered.truncate(numbered.trim_end().len());
    numbered.push_str(&suffix);
    numbered
}

//! Names that nobody else in the lobby has.

use super::config::DuplicateNames;
use super::refused::LobbyRefused;
use super::state::Member;
use super::text::{NAME_CHARS_MAX, clean_name};

/// The name under which somebody who typed `typed` joins `others`.
pub(super) fn unique_name<'a>(
    typed: &str,
    others: impl Iterator<Item = &'a Member> + Clone,
    duplicates: DuplicateNames,
) -> Result<String, LobbyRefused> {
    let name = clean_name(typed);
    if name.is_empty() {
        return Err(LobbyRefused::NameEmpty);
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(LobbyRefused::NameTooLong);
    }
    let is_taken = |name: &str| others.clone().any(|other| is_same(&other.name, name));
    if !is_taken(&name) {
        return Ok(name);
    }
    if duplicates == DuplicateNames::Refuse {
        return Err(LobbyRefused::NameTaken);
    }
    // Of as many numbers as there are others, and one more, one is free.
    let numbers = 2..others.clone().count() + 3;
    let free = numbers.map(|number| numbered(&name, number)).find(|name| !is_taken(name));
    free.ok_or(LobbyRefused::NameTaken)
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

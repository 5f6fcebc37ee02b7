//! Named groups of players: those whom a call is for.
//!
//! A group is made by its first member and gone with its last. On the wire it is the hash of its name, so two names with one
//! hash cannot both be groups; that is refused where the second is made. The group [`NO_ME`] is always there and has no
//! list: it is everybody but the caller.

use std::collections::BTreeMap;

use netloom_wire::Name;

use super::Room;
use crate::game::PlayerId;

/// The group of everybody but the caller.
pub const NO_ME: &str = "NoMe";
/// The longest name of a group, in bytes.
pub const GROUP_NAME_BYTES_MAX: usize = 64;
/// Groups of one room.
pub const GROUPS_MAX: usize = 4_096;

/// Why somebody is not in a group now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// The name cannot be.
    #[error(
        "a group's name has 1 to {GROUP_NAME_BYTES_MAX} bytes and is not \"{NO_ME}\", {0:?} cannot be one"
    )]
    Name(String),
    /// Another group has a name with the same hash.
    #[error("the groups {name:?} and {other:?} have the same hash: rename one of them")]
    Collision {
        /// The name that was refused.
        name: String,
        /// The group that is there.
        other: String,
    },
    /// There is no such player.
    #[error("player {} is not in this room", .0.0)]
    NoSuchPlayer(PlayerId),
    /// There are too many groups.
    #[error("the room has {GROUPS_MAX} groups already, its limit")]
    Full,
}

/// The groups of a room.
#[derive(Debug, Default)]
pub(crate) struct Groups(BTreeMap<Name, Group>);

#[derive(Debug)]
struct Group {
    name: Box<str>,
    /// Sorted.
    members: Vec<PlayerId>,
}

impl Groups {
    /// Nobody, if there is no such group.
    pub fn members(&self, group: Name) -> &[PlayerId] {
        self.0.get(&group).map_or(&[], |group| &group.members)
    }

    fn join(&mut self, player: PlayerId, name: &str) -> Result<(), GroupError> {
        if !(1..=GROUP_NAME_BYTES_MAX).contains(&name.len()) || name == NO_ME {
            return Err(GroupError::Name(name.chars().take(GROUP_NAME_BYTES_MAX).collect()));
        }
        let is_full = self.0.len() == GROUPS_MAX;
        let hash = Name::of(name);
        if let Some(other) = self.0.get(&hash).filter(|group| &*group.name != name) {
            return Err(GroupError::Collision { name: name.to_owned(), other: other.name.to_string() });
        }
        if is_full && !self.0.contains_key(&hash) {
            return Err(GroupError::Full);
        }
        let group = self.0.entry(hash).or_insert_with(|| Group { name: name.into(), members: Vec::new() });
        if let Err(place) = group.members.binary_search(&player) {
            group.members.insert(place, player);
        }
        Ok(())
    }

    fn leave(&mut self, player: PlayerId, name: &str) -> bool {
        let hash = Name::of(name);
        let Some(group) = self.0.get_mut(&hash).filter(|group| &*group.name == name) else { return false };
        let Ok(place) = group.members.binary_search(&player) else { return false };
        group.members.remove(place);
        if group.members.is_empty() {
            self.0.remove(&hash);
        }
        true
    }

    /// Takes a player out of all groups.
    pub fn forget(&mut self, player: PlayerId) {
        self.0.retain(|_, group| {
            group.members.retain(|member| *member != player);
            !group.members.is_empty()
        });
    }
}

impl Room {
    /// Puts a player into a group, which is made if it is not there. Who leaves the room leaves its groups.
    pub fn join_group(&mut self, player: PlayerId, group: &str) -> Result<(), GroupError> {
        if !self.seats.contains_key(&player) {
            return Err(GroupError::NoSuchPlayer(player));
        }
        self.groups.join(player, group)
    }

    /// Takes a player out of a group, and says whether they were in it.
    pub fn leave_group(&mut self, player: PlayerId, group: &str) -> bool {
        self.groups.leave(player, group)
    }

    /// The groups and who is in them.
    pub fn groups(&self) -> impl Iterator<Item = (&str, &[PlayerId])> {
        self.groups.0.values().map(|group| (&*group.name, &*group.members))
    }

    /// Who is in a group; nobody if there is no such group.
    pub fn group(&self, group: &str) -> &[PlayerId] {
        self.groups.members(Name::of(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_lives_from_its_first_member_to_its_last() {
        let mut groups = Groups::default();
        let [one, two] = [PlayerId(1), PlayerId(2)];
        for player in [two, one, two] {
            groups.join(player, "red").unwrap();
        }
        assert_eq!(groups.members(Name::of("red")), [one, two], "sorted, and once each");
        assert!(groups.leave(one, "red"));
        assert!(!groups.leave(one, "red"), "not in it any more");
        assert!(!groups.leave(one, "blue"), "never was");
        groups.forget(two);
        assert!(groups.0.is_empty());
    }

    #[test]
    fn names_that_cannot_be_and_too_many_groups_are_refused() {
        let mut groups = Groups::default();
        for name in ["", NO_ME, &"x".repeat(65)] {
            assert!(matches!(groups.join(PlayerId(1), name), Err(GroupError::Name(_))), "{name:?}");
        }
        for number in 0..GROUPS_MAX {
            groups.join(PlayerId(1), &number.to_string()).unwrap();
        }
        assert_eq!(groups.join(PlayerId(1), "one more"), Err(GroupError::Full));
        groups.join(PlayerId(2), "7").unwrap();
    }

    #[test]
    fn two_names_with_one_hash_are_not_both_groups() {
        let mut groups = Groups::default();
        let taken = Group { name: "other".into(), members: vec![PlayerId(1)] };
        groups.0.insert(Name::of("red"), taken);
        let error = groups.join(PlayerId(2), "red").unwrap_err();
        assert_eq!(error, GroupError::Collision { name: "red".to_owned(), other: "other".to_owned() });
        assert!(!groups.leave(PlayerId(1), "red"), "that is not its name");
    }
}

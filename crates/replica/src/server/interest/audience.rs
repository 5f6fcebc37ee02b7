//! Who may know that an object exists.
//!
//! Distance decides what a viewer can use; the audience decides what it may know. An object that is hidden from a
//! viewer appears in none of its lists at any distance, so nothing that is built from those lists can give it away.

/// Who may see an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VisibleTo {
    /// Every viewer.
    #[default]
    Everyone,
    /// The viewers of one team, and the object's owner.
    Team(u16),
    /// The viewers that are in any of these groups, a bit each, and the object's owner.
    Groups(u64),
    /// No viewer, not even its owner.
    Nobody,
}

/// Where a viewer belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// Its team.
    pub team: Option<u16>,
    /// Its groups, a bit each.
    pub groups: u64,
}

impl VisibleTo {
    /// Whether a viewer that does not own the object may see it.
    #[inline]
    pub fn admits(self, viewer: Membership) -> bool {
        match self {
            VisibleTo::Everyone => true,
            VisibleTo::Team(team) => viewer.team == Some(team),
            VisibleTo::Groups(groups) => viewer.groups & groups != 0,
            VisibleTo::Nobody => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_audience_admits_its_own_and_nobody_else() {
        let red = Membership { team: Some(1), groups: 0b01 };
        let blue = Membership { team: Some(2), groups: 0b10 };
        let nowhere = Membership::default();
        let table = [
            (VisibleTo::Everyone, [true, true, true]),
            (VisibleTo::Team(1), [true, false, false]),
            (VisibleTo::Team(0), [false, false, false]),
            (VisibleTo::Groups(0b10), [false, true, false]),
            (VisibleTo::Groups(0b11), [true, true, false]),
            (VisibleTo::Groups(0), [false, false, false]),
            (VisibleTo::Nobody, [false, false, false]),
        ];
        for (audience, expected) in table {
            assert_eq!([red, blue, nowhere].map(|viewer| audience.admits(viewer)), expected, "{audience:?}");
        }
    }
}

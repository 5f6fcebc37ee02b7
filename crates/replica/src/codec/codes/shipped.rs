//! The tables that come with Netloom.
//!
//! The generic one is for whoever has none of his own, so it is made from a mixture in which no game is special; each of
//! the others is for one kind of motion. `docs/TABLES.md` has the commands that made them.

use std::sync::LazyLock;

use super::Codes;

static GENERIC: LazyLock<Codes> = LazyLock::new(|| {
    Codes::parse(include_bytes!("../../../tables/generic.table"))
        .expect("as a test proves of all that are shipped")
});

/// The names of the tables that come with Netloom, and their files.
pub const SHIPPED: &[(&str, &[u8])] = &[
    ("generic", include_bytes!("../../../tables/generic.table")),
    ("rigid", include_bytes!("../../../tables/rigid.table")),
    ("shooter", include_bytes!("../../../tables/shooter.table")),
];

impl Codes {
    /// The tables that every implementation holds.
    pub fn generic() -> Codes {
        GENERIC.clone()
    }

    /// The tables with this name of those that come with Netloom, see [`SHIPPED`].
    pub fn shipped(name: &str) -> Option<Codes> {
        let &(_, bytes) = SHIPPED.iter().find(|(shipped, _)| *shipped == name)?;
        Codes::parse(bytes).ok()
    }
}

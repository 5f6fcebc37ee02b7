//! Code tables by what a flag or a setting says: a file, or the name of one that comes with Netloom.

use std::fs::File;
use std::io::Read;

use netloom::prelude::Protocol;
use netloom::replica::codec::{Codes, SHIPPED, TABLE_BYTES_MAX};

use crate::config::Config;

/// The tables of a name or of a file.
pub fn find(wanted: &str) -> Result<Codes, String> {
    if let Some(codes) = Codes::shipped(wanted) {
        return Ok(codes);
    }
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let unreadable = |error: std::io::Error| {
        format!(
            "{wanted} cannot be read: {error}. Name a file that `netloom train` wrote, or one of: {}",
            names.join(", ")
        )
    };
    let mut bytes = Vec::new();
    // A byte more than any table has, so that what is longer is seen to be.
    let limit = TABLE_BYTES_MAX as u64 + 1;
    File::open(wanted).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(unreadable)?;
    Codes::parse(&bytes).map_err(|error| format!("{wanted}: {error}"))
}

impl Config {
    /// What client and server have in common, with the tables that the settings ask for.
    pub fn protocol(&self, game: Protocol) -> Result<Protocol, String> {
        match &*self.replication.table {
            "" => Ok(game),
            wanted => Ok(game.with_codes(find(wanted)?)),
        }
    }

    /// The settings with tables from a flag.
    pub fn with_table(mut self, table: Option<&str>) -> Config {
        if let Some(table) = table {
            table.clone_into(&mut self.replication.table);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_found_by_name_or_file_and_what_is_none_says_what_to_do() {
        assert_eq!(find("generic"), Ok(Codes::generic()));
        let missing = find("no/such.table").unwrap_err();
        assert!(missing.contains("netloom train") && missing.contains("generic"), "{missing}");
        let none = find(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap_err();
        assert!(none.contains("Cargo.toml: this is no file of code tables"), "{none}");
    }
}

use proptest::prelude::*;

use super::*;

#[test]
fn a_set_returns_from_its_file() {
    let codes = Codes::generic();
    let bytes = codes.serialize();
    assert!(bytes.len() <= TABLE_BYTES_MAX && TABLE_BYTES_MAX <= 64 << 10);
    let parsed = Codes::parse(&bytes).unwrap();
    assert_eq!((parsed.id(), parsed.name(), parsed.lengths()), (codes.id(), codes.name(), codes.lengths()));
    assert_eq!(parsed.serialize(), bytes);
}

#[test]
fn every_shipped_table_is_whole_and_called_what_it_is() {
    for &(name, bytes) in SHIPPED {
        let codes = Codes::parse(bytes).unwrap();
        assert_eq!(codes.name(), name);
        assert_eq!(codes.serialize(), bytes);
        assert_eq!(Codes::shipped(name), Some(codes));
    }
    assert_eq!(Codes::shipped("generic"), Some(Codes::generic()));
    assert_eq!(Codes::shipped("no such table"), None);
}

#[test]
fn a_name_is_no_part_of_the_id_and_is_checked() {
    let codes = Codes::generic();
    let renamed = Codes::from_lengths("other-name_2", codes.lengths()).unwrap();
    assert_eq!((renamed.id(), &renamed), (codes.id(), &codes));
    for name in ["", "Upper", "with space", "a/b", "é", &"x".repeat(NAME_BYTES_MAX + 1)] {
        assert_eq!(Codes::from_lengths(name, codes.lengths()).unwrap_err(), TableError::Name, "{name:?}");
    }
}

/// The file of the generic set with other bytes at a place, and the id that belongs to it.
fn patched(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = Codes::generic().serialize();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    let lengths = LENGTHS_AT;
    let id = file::id_of_packed(&file[lengths..]);
    file[lengths - 4..lengths].copy_from_slice(&id.to_le_bytes());
    file
}

/// Where the lengths begin in the file of a set that is called "generic".
const LENGTHS_AT: usize = 14 + 7;

#[test]
fn every_kind_of_damage_has_its_error() {
    let good = Codes::generic().serialize();
    let refused = |bytes: &[u8]| Codes::parse(bytes).unwrap_err();
    assert_eq!(refused(b""), TableError::Magic);
    assert_eq!(refused(b"<!doctype html>"), TableError::Magic);
    assert_eq!(refused(&patched(4, &[2])), TableError::Version { version: 2 });
    assert_eq!(refused(&patched(6, b"G")), TableError::Name);
    assert_eq!(refused(&patched(13, &[0])), TableError::Layout);
    assert!(matches!(refused(&good[..good.len() - 1]), TableError::Length { .. }));
    assert!(matches!(refused(&[&good[..], &[0]].concat()), TableError::Length { .. }));
    for end in 4..good.len() {
        assert!(matches!(refused(&good[..end]), TableError::Length { .. } | TableError::Name), "{end}");
    }
    let mut damaged = good.clone();
    damaged[LENGTHS_AT + 99] ^= 1;
    assert!(matches!(refused(&damaged), TableError::Id { .. }));
    let first = |bits, group| TableError::CodeLength { group, table: 0, symbol: 0, bits };
    assert_eq!(refused(&patched(LENGTHS_AT, &[0x30])), first(0, "residual"));
    assert_eq!(refused(&patched(LENGTHS_AT, &[0x3d])), first(13, "residual"));
    assert_eq!(refused(&patched(LENGTHS_AT, &[0x11])), TableError::Kraft { group: "residual", table: 0 });
    assert_eq!(refused(&patched(LENGTHS_AT, &[0x44])), TableError::Kraft { group: "residual", table: 0 });
}

#[test]
fn a_code_that_is_too_long_for_its_group_is_refused_even_if_the_wire_has_such() {
    for (group, table, place) in tables().filter(|(group, ..)| group.bits_max < CODE_BITS_MAX) {
        let mut lengths = Codes::generic().lengths().to_vec();
        lengths[place] = group.bits_max as u8 + 1;
        let refused = Codes::from_lengths("x", &lengths).unwrap_err();
        let bits = group.bits_max as u8 + 1;
        assert_eq!(refused, TableError::CodeLength { group: group.name, table, symbol: 0, bits });
    }
    assert!(matches!(Codes::from_lengths("x", &[1, 1]), Err(TableError::Length { .. })));
}

proptest! {
    /// With the right header, so that what is behind it is read.
    #[test]
    fn any_lengths_make_codes_or_an_error(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let mut file = Codes::generic().serialize();
        for (at, byte) in changes {
            let at = LENGTHS_AT + at.index(file.len() - LENGTHS_AT);
            file[at] = byte;
        }
        let file = patched(LENGTHS_AT, &file[LENGTHS_AT..]);
        if let Ok(codes) = Codes::parse(&file) {
            prop_assert_eq!(codes.serialize(), file);
        }
    }
}

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

/// Where the lengths begin in the file of a set that is called "generic".
const LENGTHS_AT: usize = 14 + 7;

/// The file of the generic set with other bytes at a place.
fn patched(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = Codes::generic().serialize();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

/// A file with these lengths, whatever they are, and the id that belongs to them.
fn file_of(lengths: &[u8]) -> Vec<u8> {
    let header = &Codes::generic().serialize()[..LENGTHS_AT - 4];
    [header, &file::id_of(lengths).to_le_bytes(), &file::packed(lengths)].concat()
}

#[test]
fn every_kind_of_damage_has_its_error() {
    let good = Codes::generic().serialize();
    let refused = |bytes: &[u8]| Codes::parse(bytes).unwrap_err();
    assert_eq!(refused(b""), TableError::Magic);
    assert_eq!(refused(b"<!doctype html>"), TableError::Magic);
    assert_eq!(refused(&patched(4, &[2])), TableError::Version { version: 2 });
    assert_eq!(refused(&patched(6, b"G")), TableError::Name);
    assert_eq!(refused(&patched(13, &[good[13] ^ 1])), TableError::Layout);
    for end in 4..good.len() {
        assert_eq!(refused(&good[..end]), TableError::Length { length: end });
    }
    assert!(matches!(refused(&[&good[..], &[0]].concat()), TableError::Length { .. }));
    assert!(matches!(refused(&patched(LENGTHS_AT - 4, &[good[LENGTHS_AT - 4] ^ 1])), TableError::Id { .. }));
    let with_first = |bits: &[u8]| {
        let mut lengths = Codes::generic().lengths().to_vec();
        lengths[..bits.len()].copy_from_slice(bits);
        refused(&file_of(&lengths))
    };
    let first = |bits| TableError::CodeLength { group: "residual", table: 0, symbol: 0, bits };
    assert_eq!((with_first(&[0]), with_first(&[13])), (first(0), first(13)));
    let kraft = TableError::Kraft { group: "residual", table: 0 };
    assert_eq!((with_first(&[1, 1]), with_first(&[4, 4])), (kraft, kraft), "too many and too few");
}

#[test]
fn what_is_left_of_the_last_byte_is_zero() {
    let good = Codes::generic().serialize();
    // In two parts, so that half a byte is left.
    let codes = Codes::generic();
    let parts = (0..CODES).map(|at| codes.lengths().split_at(at));
    let mut said = parts.map(|(one, other)| [file::halves(one), file::halves(other)].concat());
    let halves = said.find(|halves| halves.len() % 2 == 1).unwrap();
    let file = |last: u8| {
        let halves = [&halves[..], &[last]].concat();
        let packed = halves.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect::<Vec<u8>>();
        [&good[..LENGTHS_AT], &packed].concat()
    };
    assert_eq!(Codes::parse(&file(0)).unwrap(), Codes::generic());
    assert_eq!(Codes::parse(&file(1)).unwrap_err(), TableError::Padding);
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
    // A set is made in each of them.
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any bytes behind the right header: repeats of any number, too many, too few.
    #[test]
    fn any_bytes_make_codes_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), end in any::<prop::sample::Index>(),
    ) {
        let mut file = Codes::generic().serialize();
        for (at, byte) in changes {
            let at = LENGTHS_AT + at.index(file.len() - LENGTHS_AT);
            file[at] = byte;
        }
        let _codes = Codes::parse(&file[..end.index(file.len() + 1)]);
        if let Ok(codes) = Codes::parse(&file) {
            prop_assert_eq!(codes.id(), Codes::generic().id());
        }
    }

    /// With the id that belongs to them.
    #[test]
    fn any_lengths_make_codes_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..16), 0..4),
    ) {
        let mut lengths = Codes::generic().lengths().to_vec();
        for (at, length) in changes {
            lengths[at.index(CODES)] = length;
        }
        // Zero is the mark of repeats and cannot stand in a file, but for the first.
        if lengths.contains(&0) {
            prop_assert!(Codes::from_lengths("generic", &lengths).is_err());
            return Ok(());
        }
        match Codes::parse(&file_of(&lengths)) {
            Ok(codes) => prop_assert_eq!(codes.lengths(), &lengths[..]),
            Err(error) => prop_assert_eq!(Codes::from_lengths("generic", &lengths).unwrap_err(), error),
        }
    }
}

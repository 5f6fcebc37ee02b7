//! What surrounds objects: code tables, the start of a snapshot, gaps, and messages of the property channel.

use netloom_replica::codec::{Blend, Codes, GROUPS, TableError, Tally, gap_code, read_gap};
use netloom_replica::property::{Place, PropertyInbox, PropertyMessage, PropertyTarget};
use netloom_replica::snapshot::{Slack, read_header};
use netloom_replica::{Class, ClassId};
use netloom_wire::hash::Fnv32;
use netloom_wire::schema::Audience;
use netloom_wire::{Alias, BitReader, BitWriter, Profile, ReadError, Tick};
use serde_json::{Value, json};

use super::scene::{audience_name, table};
use crate::wire_vectors::{case, file, hex, reason, refused, refused_as};

/// The class with fields that are delivered reliably.
const BOARD: u8 = 2;

pub fn codes() -> Value {
    let generic = Codes::generic();
    let mut tally = Tally::new(&generic);
    (0..9_999).for_each(|number| tally.gap(number % 40, number % 8 > 0));
    let trained = tally.train("sparse-2_b", &Blend::default()).expect("a good name");
    let described = |codes: &Codes| {
        let groups = GROUPS.iter().map(|group| (group.name.to_owned(), json!(group.codes())));
        let lengths: serde_json::Map<String, Value> = groups.collect();
        json!({ "id": codes.id(), "name": codes.name(), "lengths": lengths })
    };
    let valid = |name, codes: &Codes| case(name, Value::Null, &codes.serialize(), described(codes));
    let mut cases = vec![valid("the generic set", &generic), valid("a trained set", &trained)];
    cases.extend(damaged_codes(&generic).into_iter().map(|(name, bytes)| {
        let error = Codes::parse(&bytes).expect_err("a damaged file");
        refused_as(name, Value::Null, &bytes, table_reason(error))
    }));
    file("Files of code tables. lengths: how many codes each group has.", cases)
}

/// The file of a set that is called "generic", spoilt in every way that has a reason of its own.
fn damaged_codes(generic: &Codes) -> Vec<(&'static str, Vec<u8>)> {
    let good = &generic.serialize()[..];
    let (name_at, layout_at, id_at, lengths_at) = (6, 13, 17, 21);
    let patched = |at: usize, bytes: &[u8]| {
        let mut bad = good.to_vec();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        bad
    };
    // Other lengths, with the id that belongs to them; a file need not use repeats.
    let coded = |at: usize, bits: &[u8], left_over: u8| {
        let mut lengths = generic.lengths().to_vec();
        lengths[at..at + bits.len()].copy_from_slice(bits);
        let id = Fnv32::new().with(&good[layout_at..id_at]).with(&lengths).value();
        let packed = lengths.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&left_over) << 4);
        [&good[..id_at], &id.to_le_bytes(), &packed.collect::<Vec<u8>>()].concat()
    };
    // The first code of the last group, whose codes are shorter than those of the first.
    let codes = generic.lengths().len();
    let last = codes - GROUPS.last().map_or(0, |group| group.codes());
    let mut cases = vec![
        ("empty", Vec::new()),
        ("something else", b"<!doctype html>".to_vec()),
        ("nothing but the first bytes", good[..4].to_vec()),
        ("another version", patched(4, &[2])),
        ("a name that is longer than the file", good[..name_at + 3].to_vec()),
        ("a name with other letters", patched(name_at, b"G")),
        ("no name", [&good[..5], &[0], &good[layout_at..]].concat()),
        ("other groups", patched(layout_at, &[good[layout_at] ^ 1])),
        ("cut off in the id", good[..id_at + 1].to_vec()),
        ("cut off", good[..good.len() - 1].to_vec()),
        ("too long", [good, &[0]].concat()),
        ("nothing but repeats", [&good[..lengths_at], &[0x01], &vec![0xf0; codes]].concat()),
        ("another id", patched(id_at, &[good[id_at] ^ 1])),
        ("a code of no bits", coded(0, &[0], 0)),
        ("a code of 13 bits", coded(0, &[13], 0)),
        ("a code that is too long for its group", coded(last, &[12], 0)),
        ("an over-full code", coded(0, &[1, 1], 0)),
        ("an incomplete code", coded(0, &[4, 4], 0)),
    ];
    if codes % 2 == 1 {
        cases.push(("half a byte that is not zero at the end", coded(0, &[], 1)));
    }
    cases
}

fn table_reason(error: TableError) -> &'static str {
    match error {
        TableError::Magic => "Magic",
        TableError::Version { .. } => "Version",
        TableError::Name => "Name",
        TableError::Layout => "Layout",
        TableError::Length { .. } => "Length",
        TableError::Id { .. } => "Id",
        TableError::Padding => "Padding",
        TableError::CodeLength { .. } => "CodeLength",
        TableError::Kraft { .. } => "Kraft",
    }
}

pub fn gaps() -> Value {
    let codes = Codes::generic();
    let bits_of = |gap: u32, is_common: bool| {
        let mut bytes = [0; 8];
        let mut writer = BitWriter::new(&mut bytes);
        let (bits, length) = gap_code(&codes, gap, is_common);
        writer.append_bits(bits, length);
        let length = writer.finish().expect("room for a gap");
        bytes[..length].to_vec()
    };
    let read = |bytes: &[u8], max: u32| {
        let mut reader = BitReader::new(bytes);
        let gap = read_gap(&codes, &mut reader, max)?;
        reader.finish().map(|()| gap)
    };
    let max = 65_534;
    let mut cases = Vec::new();
    for gap in [0, 1, 2, 3, 6, 7, 62, 63, 1_000, 30_000, max] {
        for is_common in [true, false] {
            let bytes = bits_of(gap, is_common);
            assert_eq!(read(&bytes, max), Ok((gap, is_common)));
            let name =
                format!("a gap of {gap} to {} baselines", if is_common { "the common" } else { "other" });
            cases.push(case(
                &name,
                json!({ "max": max }),
                &bytes,
                json!({ "gap": gap, "common": is_common }),
            ));
        }
    }
    let bits = |gap: u32| bits_of(gap, true);
    for (name, bytes, max) in [
        ("beyond the last slot", bits(101), 100),
        ("cut off", vec![], max),
        ("cut off in the middle", vec![0xff], max),
    ] {
        cases.push(refused(name, json!({ "max": max }), &bytes, read(&bytes, max)));
    }
    file("The distance to the next object of a snapshot. given.max: the slots that are left.", cases)
}

pub fn headers() -> Value {
    let good: [(&str, &[u8]); 12] = [
        ("nothing but a tick", &[0x34, 0x12, 0]),
        ("one common baseline", &[1, 0, 1, 4]),
        ("two common baselines", &[0xff, 0xff, 3, 4, 8]),
        ("the oldest baselines", &[0, 0, 3, 254, 255]),
        ("a digest", &[9, 0, 32, 3, 0, 0x78, 0x56, 0x34, 0x12]),
        ("feedback", &[9, 0, 64, 0x34, 0x12, 6]),
        ("feedback on inputs that come too late", &[9, 0, 64, 0xff, 0xff, 0x81]),
        ("feedback without inputs", &[9, 0, 64, 0, 0, 0x80]),
        ("feedback before a digest", &[9, 0, 97, 3, 5, 0, 127, 1, 0, 4, 3, 2, 1]),
        ("everything, and what follows", &[9, 0, 127, 1, 2, 7, 0, 0xff, 0xff, 3, 1, 2, 3, 4, 0, 0, 0]),
        ("a leave", &[7, 0, 4, 1, 5, 0, 2, 3]),
        ("a region that does not exist is none of the header's business", &[7, 0, 32, 0, 4, 0, 0, 0, 0]),
    ];
    let mut cases: Vec<Value> = good
        .into_iter()
        .map(|(name, bytes)| {
            let (header, reader) = read_header(bytes).expect("a valid header");
            let digest = header.digest.map(|(region, digest)| json!({ "region": region, "digest": digest }));
            let ages = header.ages.map(|(newer, older)| json!([newer, older]));
            let tick = u16::from_le_bytes([bytes[0], bytes[1]]);
            let feedback = header
                .feedback
                .map(|(step, slack)| json!({ "step": step, "slack": slack.map(Slack::quarters) }));
            let value = json!({
                "tick": tick, "ages": ages, "feedback": feedback, "digest": digest, "rest": hex(reader.rest()),
            });
            case(name, Value::Null, bytes, value)
        })
        .collect();
    let bad: [(&str, &[u8]); 8] = [
        ("no flags", &[1, 0]),
        ("flag 7", &[1, 0, 128]),
        ("feedback that is cut off", &[1, 0, 64, 1, 0]),
        ("a second age alone", &[1, 0, 2, 4]),
        ("an age of zero", &[1, 0, 1, 0]),
        ("an older age that is not older", &[1, 0, 3, 4, 4]),
        ("an age that is cut off", &[1, 0, 3, 4]),
        ("a digest that is cut off", &[1, 0, 32, 0, 0, 1, 2, 3]),
    ];
    cases.extend(bad.map(|(name, bytes)| refused(name, Value::Null, bytes, read_header(bytes))));
    file("The start of a snapshot, up to the first part that has a count.", cases)
}

/// A slot with an object, or without.
struct Slot<'a> {
    held: Option<(u8, Audience)>,
    class: &'a Class,
    content: Option<Vec<u8>>,
}

impl PropertyTarget for Slot<'_> {
    fn place(&self, _slot: u16) -> Place<'_> {
        match self.held {
            Some((generation, audience)) => Place::Here { generation, class: self.class, audience },
            None => Place::Empty,
        }
    }

    fn set_property(&mut self, _slot: u16, _field: usize, content: &[u8]) {
        self.content = Some(content.to_vec());
    }
}

/// What becomes of a message: whether it is applied.
fn apply(message: &[u8], slot: &mut Slot<'_>) -> Result<bool, ReadError> {
    let mut inbox = PropertyInbox::new(20);
    inbox.handle_property(message, Tick(0))?;
    inbox.poll_property(Tick(0), slot).map(|applied| applied.is_some())
}

pub fn properties() -> Value {
    let classes = table();
    let class = classes.class(ClassId(BOARD), Profile::Standard).expect("the board");
    let text = [7, 1, 3, 0, b'o', b'n', b'e'];
    let owner = Some((3, Audience::Owner));
    let public = Some((3, Audience::Public));
    let cases = [
        ("a text", &text[..], owner),
        ("an empty text", &text[..4], public),
        ("an array", &[7, 1, 3, 1, 3, 0x88, 0x01], owner),
        ("an array for the owner alone, to somebody else", &[7, 1, 3, 1, 3, 0x88, 0x01], public),
        ("before its object", &text, None),
        ("before its object, which has another in its slot", &text, Some((2, Audience::Owner))),
        ("of half a round of generations before", &text, Some((131, Audience::Owner))),
        ("of an object that is gone", &text, Some((4, Audience::Owner))),
        ("cut off", &text[..3], owner),
        ("a text that is none", &[7, 1, 3, 0, 0xff], owner),
        ("a text that is too long", &[&text[..4], &[b'x'; 101]].concat(), owner),
        ("an array with an element above its range", &[7, 1, 3, 1, 1, 7], owner),
        ("an array that goes on", &[7, 1, 3, 1, 1, 1, 0], owner),
        ("a field that rides in snapshots", &[7, 1, 3, 2, 0], owner),
        ("a field that does not exist", &[7, 1, 3, 4, 0], owner),
        ("the last field that could be", &[7, 1, 3, 255, 0], owner),
    ];
    let described = |(name, message, held): (&str, &[u8], Option<(u8, Audience)>)| {
        let given = json!({
            "class": BOARD,
            "generation": held.map(|(generation, _)| generation),
            "audience": audience_name(held.map_or(Audience::Public, |(_, audience)| audience)),
        });
        let mut slot = Slot { held, class, content: None };
        match apply(message, &mut slot) {
            Err(error) => refused_as(name, given, message, reason(error)),
            Ok(applied) => {
                let PropertyMessage { alias: Alias { slot: number, generation }, field, content } =
                    PropertyMessage::read(message).expect("it was applied, waits or is stale");
                assert!(!applied || slot.content.as_deref() == Some(content));
                let value = json!({
                    "slot": number, "generation": generation, "field": field, "content": hex(content),
                    "applied": applied,
                });
                case(name, given, message, value)
            }
        }
    };
    file(
        "Messages of the property channel. given.generation: of the object in its slot, null if there never was one.",
        cases.into_iter().map(described).collect(),
    )
}

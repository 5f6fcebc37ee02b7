//! Seeds for the encodings.

use netloom_wire::classic::{EntityPosition, PlayerInput, PowerupSpawned, encode_entity_positions};
use netloom_wire::delta::mask::write_mask;
use netloom_wire::delta::residual::write_residual;
use netloom_wire::delta::run::write_run;
use netloom_wire::entropy::{CodeTable, TableSet};
use netloom_wire::message::FrameWriter;
use netloom_wire::quantize::WordRange;
use netloom_wire::record::RECORD_BYTES_MAX;
use netloom_wire::{
    Alias, BitWriter, ByteSink, MessageBuffer, Name, NameMode, NameRegistry, Profile, QuantizeCounters,
    Record, SectorOrigin,
};

use super::{Seed, seed};

pub fn seeds() -> Vec<Seed> {
    let mut seeds = primitives();
    seeds.extend(records());
    seeds.extend(schemas());
    seeds.extend(entropy());
    seeds.extend(deltas());
    seeds.extend(streams());
    seeds
}

fn primitives() -> Vec<Seed> {
    let target = "wire_primitives";
    let mut names = NameRegistry::new(1);
    let name = names.register("health").expect("a first name");
    let mut bytes = MessageBuffer::new(1 << 10).with_names(NameMode::WithText);
    bytes.write_u8(1);
    bytes.write_u16(2);
    bytes.write_u32(3);
    bytes.write_f32(1.5);
    bytes.write_bool(true);
    bytes.write_varint(300);
    bytes.write_blob(b"blob", 28);
    bytes.write_str("text", 29);
    bytes.write_name(name, &names);
    let operations = [0, 1, 2, 8, 9, 10, 28, 29, 14];
    let mut varints = MessageBuffer::new(1 << 10);
    [0, 127, 128, 300, 1 << 40, u64::MAX].into_iter().for_each(|value| varints.write_varint(value));
    vec![
        seed(
            target,
            "bit_reads",
            &[
                &[0, 16],
                &[0x35; 16],
                &[3, 0, 5, 0, 64, 1, 30, 3, 9, 2, 4, 4, 0, 100, 0, 0, 0, 0, 0, 0, 0, 6, 0],
            ],
        ),
        seed(
            target,
            "bit_writes",
            &[
                &[1, 20],
                &[3, 5, 0, 0, 0, 0, 0, 0, 0],
                &[64, 1, 2, 3, 4, 5, 6, 7, 8],
                &[17, 255, 255, 255, 0, 0, 0, 0, 0],
            ],
        ),
        seed(target, "byte_reads", &[&[2, 1, operations.len() as u8], &operations, bytes.as_bytes()]),
        seed(target, "varints", &[&[3], varints.as_bytes()]),
    ]
}

fn record(profile: Profile, properties: Option<&[u8]>) -> Vec<u8> {
    let (origin, mut counters) = (SectorOrigin::default(), QuantizeCounters::default());
    let record = Record {
        alias: Alias { slot: 300, generation: 2 },
        profile,
        teleport: profile == Profile::High,
        position: Some(profile.quantize_position([1.5, -20.25, 300.0], &origin, &mut counters)),
        rotation: Some(profile.quantize_rotation([0.5, 0.5, -0.5, 0.5], &mut counters)),
        scale: Some(profile.quantize_scale([1.0, 2.0, 0.0], &mut counters)),
        velocity: Some(profile.quantize_velocity([0.0, -9.81, 3.0], &mut counters)),
        properties,
        ..Record::default()
    };
    let mut out = [0; RECORD_BYTES_MAX];
    let length = record.encode(&mut out).expect("a valid record");
    out[..length].to_vec()
}

fn records() -> Vec<Seed> {
    let target = "wire_record";
    let standard = record(Profile::Standard, None);
    let high = record(Profile::High, Some(b"properties"));
    let world = record(Profile::World, None);
    let none = record(Profile::None, Some(b""));
    vec![
        seed(target, "standard", &[&standard]),
        seed(target, "high_with_properties", &[&high]),
        seed(target, "world", &[&world]),
        seed(target, "none", &[&none]),
        seed(target, "several", &[&standard, &world, &none, &high]),
    ]
}

/// A form, four fields (a bool, an integer of 0 to 100, a STANDARD position and a text), and their values.
fn schemas() -> Vec<Seed> {
    let target = "wire_schema";
    let fields: &[&[u8]] = &[&[3], &[0, 9], &[1, 0, 0, 0, 0, 100, 0, 0, 0, 8], &[5, 0, 7], &[10, 16, 0, 6]];
    let mut block = MessageBuffer::new(1 << 10);
    block.write_bytes(&[4, 0, 1, 1, 77, 2, 0]);
    [1i16, -2, 300].into_iter().for_each(|word| block.write_i16(word));
    block.write_bytes(&[3]);
    block.write_str("text", 16);
    let fields = fields.concat();
    let name = Name::of("health").0.to_le_bytes();
    vec![
        seed(target, "block", &[&[0], &fields, block.as_bytes()]),
        seed(target, "bits", &[&[2], &fields, &[0x2b; 24]]),
        seed(target, "name_with_text", &[&[1, 0], &[9, 1], &[1, 0], &name, &[6], b"health"]),
        // Two arrays, of at most 20 bools and of at most 300 digits.
        seed(
            target,
            "arrays",
            &[
                &[0, 1],
                &[12, 0, 20, 0, 9],
                &[12, 1, 0, 0, 0, 0, 9, 0, 0, 0, 44, 1, 8],
                &[2, 0, 10, 0xa5, 0x03, 1, 3, 0x97, 0x05],
            ],
        ),
        seed(
            target,
            "rotations_and_scales",
            &[&[0, 1], &[6, 0, 2], &[7, 0, 1], &[2, 0, 3, 0, 0, 0, 0], &[1, 0, 32, 32, 32]],
        ),
    ]
}

fn entropy() -> Vec<Seed> {
    let target = "wire_entropy";
    let skewed = CodeTable::from_counts(&[1, 2, 4, 8, 16, 32]).expect("six counts");
    let lengths: Vec<u8> = skewed.lengths().collect();
    let count = (lengths.len() as u16).to_le_bytes();
    vec![
        seed(target, "generic_set", &[&[0], &TableSet::generic().serialize()]),
        seed(target, "lengths", &[&[1], &count, &lengths, b"any bits at all"]),
        seed(target, "counts", &[&[2, 2], &[9; 9], &[8; 9], &[7; 9], &[6; 9], b"any bits at all"]),
    ]
}

fn deltas() -> Vec<Seed> {
    let target = "wire_delta";
    let tables = TableSet::generic();
    let mut coded = [0; 64];
    let mut writer = BitWriter::new(&mut coded);
    write_run(5, &tables.run, &mut writer);
    write_mask(0b101, 12, &tables.mask, &mut writer);
    write_residual(103, 100, WordRange::symmetric(1_000), &tables.residual, &mut writer);
    write_run(0, &tables.run, &mut writer);
    write_mask(0xfff, 12, &tables.mask, &mut writer);
    write_residual(-900, 100, WordRange::symmetric(1_000), &tables.residual, &mut writer);
    let length = writer.finish().expect("room for a few fields");
    let words = |words: &[i32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    // A run of at most 100; a mask of 12 fields; a residual of ±1000 whose two baselines predict 100.
    let run = [&[0][..], &words(&[100])].concat();
    let residual = [&[2][..], &words(&[-1_000, 1_000, 90, 1, 80, 2])].concat();
    let script = [run, vec![1, 12], residual].concat();
    let coded = [&[length as u8][..], &coded[..length]].concat();
    vec![
        seed(target, "generic_tables", &[&[0], &coded, &script, &script]),
        seed(target, "shipped_tables", &[&[1], &tables.serialize(), &coded, &script, &script]),
    ]
}

fn streams() -> Vec<Seed> {
    let target = "wire_stream";
    let mut frames = FrameWriter::new(64, 1 << 10).expect("limits within range");
    for (id, text) in [(1, "hello"), (2, ""), (700, "the third message")] {
        frames.start_message(id).write_bytes(text.as_bytes());
        frames.end_message().expect("a short message");
    }
    let mut out = [0; 1200];
    let classic = |name, length: usize, out: &[u8]| seed(target, name, &[&[1], &out[..length]]);
    let input = PlayerInput::UP.with(PlayerInput::SHOOT).encode(&mut out);
    let input = classic("classic_input", input.expect("room"), &out);
    let powerup = PowerupSpawned { id: 7, x: 10.0, y: 20.0, kind: PowerupSpawned::SHIELD };
    let powerup = classic("classic_powerup", powerup.encode(&mut out).expect("room"), &out);
    let entity =
        EntityPosition { id: 9, x: 1.0, vx: -3.5, kind: EntityPosition::ENEMY, ..EntityPosition::default() };
    let entities = encode_entity_positions(&[entity; 3], &mut out).expect("room");
    let entities = classic("classic_entities", entities, &out);
    vec![
        seed(target, "frames_in_pieces", &[&[0, 63, 2], frames.as_bytes()]),
        seed(target, "frame_over_the_limit", &[&[0, 3, 200], frames.as_bytes()]),
        input,
        powerup,
        entities,
        seed(target, "mask", &[&[2, 1, 0, 0, 0, 6], &[0x55; 120]]),
    ]
}

//! Varints, bits, bytes, names, counters, quantized numbers.

use super::{case, double, file, refused, single, singles, written};
use netloom_wire::quantize::{OriginVersion, QuantizedRange, Rotation, RotationWidth, SectorOrigin, Words3};
use netloom_wire::{
    Alias, BitReader, BitWriter, ByteReader, ByteSink, ByteWriter, Name, NameMode, NameRegistry,
    PacketNumber, Profile, ReadError, hash, varint,
};
use serde_json::{Value, json};

pub fn vectors() -> Vec<crate::VectorFile> {
    vec![
        ("wire_varint", varints()),
        ("wire_bits", bits()),
        ("wire_bytes", bytes()),
        ("wire_name", names()),
        ("wire_hash", hashes()),
        ("wire_packet_number", packet_numbers()),
        ("wire_alias", aliases()),
        ("wire_quantized", quantized()),
        ("wire_rotation", rotations()),
        ("wire_origin", origins()),
    ]
}

fn varints() -> Value {
    let mut cases: Vec<Value> = [0, 1, 127, 128, 300, 16_383, 16_384, u64::from(u32::MAX), 1 << 53, u64::MAX]
        .into_iter()
        .map(|value| {
            let bytes = written(|out| Ok(varint::write(value, out).expect("the buffer is large")));
            assert_eq!(varint::read(&bytes), Some((value, bytes.len())));
            case(&value.to_string(), Value::Null, &bytes, json!({ "value": value.to_string() }))
        })
        .collect();
    for (name, bytes) in [
        ("empty", &[][..]),
        ("cut off", &[0x80]),
        ("zero in two bytes", &[0x80, 0x00]),
        ("one in two bytes", &[0x81, 0x00]),
        ("65 bits", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]),
        ("eleven bytes", &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
    ] {
        cases.push(refused(name, Value::Null, bytes, ByteReader::new(bytes).read_varint()));
    }
    file("Unsigned LEB128. value: the integer.", cases)
}

/// One read of a bit stream: its kind, its parameters and the value.
enum BitRead {
    Bits(u32, u64),
    Signed(u32, i64),
    Ranged(u64, u64),
    RangedSigned(i64, i64, i64),
    Align,
}

fn bit_case(name: &str, reads: &[BitRead]) -> Value {
    let bytes = written(|out| {
        let mut writer = BitWriter::new(out);
        for read in reads {
            match *read {
                BitRead::Bits(count, value) => writer.write_bits(value, count),
                BitRead::Signed(count, value) => writer.write_signed(value, count),
                BitRead::Ranged(max, value) => writer.write_ranged(value, max),
                BitRead::RangedSigned(min, max, value) => writer.write_ranged_signed(value, min, max),
                BitRead::Align => writer.align(),
            }
        }
        writer.finish()
    });
    let describe = |read: &BitRead| match *read {
        BitRead::Bits(count, value) => (json!({ "bits": count }), json!(value.to_string())),
        BitRead::Signed(count, value) => (json!({ "signed": count }), json!(value.to_string())),
        BitRead::Ranged(max, value) => (json!({ "max": max.to_string() }), json!(value.to_string())),
        BitRead::RangedSigned(min, max, value) => {
            (json!({ "min": min.to_string(), "max": max.to_string() }), json!(value.to_string()))
        }
        BitRead::Align => (json!({ "align": true }), Value::Null),
    };
    let (reads, values): (Vec<Value>, Vec<Value>) = reads.iter().map(describe).unzip();
    case(name, json!({ "reads": reads }), &bytes, json!({ "values": values }))
}

fn bits() -> Value {
    let mut cases = vec![
        bit_case("three small values", &[BitRead::Bits(3, 5), BitRead::Bits(2, 3), BitRead::Bits(9, 0x1ff)]),
        bit_case(
            "nothing, then everything",
            &[BitRead::Bits(0, 0), BitRead::Bits(64, u64::MAX), BitRead::Bits(1, 0)],
        ),
        bit_case("across eight bytes", &[BitRead::Bits(5, 17), BitRead::Bits(64, 0x0123_4567_89ab_cdef)]),
        bit_case(
            "signed",
            &[BitRead::Signed(8, -128), BitRead::Signed(3, -1), BitRead::Signed(64, i64::MIN)],
        ),
        bit_case("ranged", &[BitRead::Ranged(100, 100), BitRead::Ranged(0, 0), BitRead::Ranged(u64::MAX, 9)]),
        bit_case("ranged signed", &[BitRead::RangedSigned(-3, 3, -3), BitRead::RangedSigned(-3, 3, 3)]),
        bit_case("aligned", &[BitRead::Bits(3, 7), BitRead::Align, BitRead::Bits(8, 0xa5), BitRead::Align]),
    ];
    let given = |read: Value| json!({ "reads": [read] });
    let short = BitReader::new(&[0xff]).read_bits(9);
    cases.push(refused("nine of eight bits", given(json!({ "bits": 9 })), &[0xff], short));
    let above = BitReader::new(&[101]).read_ranged(100);
    cases.push(refused("above the range", given(json!({ "max": "100" })), &[101], above));
    let mut padded = BitReader::new(&[0x81]);
    let padding = padded.read_bits(1).and_then(|_| padded.align());
    let reads = json!({ "reads": [{ "bits": 1 }, { "align": true }] });
    cases.push(refused("padding that is not zero", reads, &[0x81], padding));
    for (name, bytes) in
        [("a byte left over", &[0x05, 0x00][..]), ("five bits left over that are not zero", &[0x0d])]
    {
        let mut reader = BitReader::new(bytes);
        let end = reader.read_bits(3).and_then(|_| reader.finish());
        cases.push(refused(name, given(json!({ "bits": 3 })), bytes, end));
    }
    file(
        "Bits, the first in bit 0 of byte 0. given.reads: what to read in turn. value.values: one for each read.",
        cases,
    )
}

fn bytes() -> Value {
    let reads = json!({ "reads": [
        "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "bool", "varint",
        { "str": 16 }, { "blob": 16 },
    ]});
    let all = written(|out| {
        let mut writer = ByteWriter::new(out);
        writer.write_u8(200);
        writer.write_u16(300);
        writer.write_u32(1000);
        writer.write_u64(u64::MAX - 1);
        writer.write_i8(-1);
        writer.write_i16(-300);
        writer.write_i32(i32::MIN);
        writer.write_i64(-5);
        writer.write_f32(10.5);
        writer.write_f64(-0.1);
        writer.write_bool(true);
        writer.write_varint(300);
        writer.write_str("grüße", 16);
        writer.write_blob(&[0, 255], 16);
        writer.finish()
    });
    let values = json!({ "values": [
        "200", "300", "1000", (u64::MAX - 1).to_string(), "-1", "-300", i32::MIN.to_string(), "-5",
        single(10.5), double(-0.1), true, "300", "grüße", "00ff",
    ]});
    let mut cases = vec![case("one of each", reads, &all, values)];
    let one = |read: Value| json!({ "reads": [read] });
    let mut refuse = |name: &str, read: Value, bytes: &[u8], error: ReadError| {
        cases.push(refused(name, one(read), bytes, Err::<(), _>(error)));
    };
    let failed = |bytes: &'static [u8]| ByteReader::new(bytes);
    refuse("cut off", json!("u32"), &[1, 2, 3], failed(&[1, 2, 3]).read_u32().unwrap_err());
    refuse("a bool of two", json!("bool"), &[2], failed(&[2]).read_bool().unwrap_err());
    refuse(
        "longer than allowed",
        json!({ "str": 3 }),
        b"\x04four",
        failed(b"\x04four").read_str(3).unwrap_err(),
    );
    refuse("longer than the input", json!({ "blob": 9 }), &[5, 1], failed(&[5, 1]).read_blob(9).unwrap_err());
    refuse("no UTF-8", json!({ "str": 3 }), &[1, 0xff], failed(&[1, 0xff]).read_str(3).unwrap_err());
    file(
        "Typed bytes. given.reads: what to read in turn; str and blob have their limit. A blob's value is hex.",
        cases,
    )
}

fn names() -> Value {
    let mut registry = NameRegistry::new(4);
    let sword = registry.register("sword").expect("a valid name");
    let write = |mode: NameMode, name: Name| {
        written(|out| {
            let mut writer = ByteWriter::new(out).with_names(mode);
            writer.write_name(name, &registry);
            writer.finish()
        })
    };
    let given = |mode: &str| json!({ "mode": mode });
    let value = |name: Name, text: Option<&str>| json!({ "hash": name.0.to_string(), "text": text });
    let mut lie = write(NameMode::WithText, sword);
    lie[9] = b'S';
    let lied = ByteReader::new(&lie).with_names(NameMode::WithText).read_name();
    file(
        "Names. given.mode: hashed, or with_text. value.text is null if none was sent.",
        vec![
            case("hashed", given("hashed"), &write(NameMode::Hashed, sword), value(sword, None)),
            case(
                "with text",
                given("with_text"),
                &write(NameMode::WithText, sword),
                value(sword, Some("sword")),
            ),
            case(
                "text unknown to the sender",
                given("with_text"),
                &write(NameMode::WithText, Name(7)),
                value(Name(7), None),
            ),
            refused("text of another name", given("with_text"), &lie, lied),
        ],
    )
}

fn hashes() -> Value {
    let cases = ["", "a", "foobar", "sword", "grüße"].map(|text| {
        let value = json!({
            "fnv1a_64": hash::fnv1a_64(text.as_bytes()).to_string(),
            "fnv1a_32": hash::fnv1a_32(text.as_bytes()),
        });
        case(&format!("\"{text}\""), Value::Null, text.as_bytes(), value)
    });
    file("FNV-1a of the bytes in hex.", cases.to_vec())
}

fn packet_numbers() -> Value {
    let cases = [
        (0, 0),
        (0xffff, 0),
        (0, 0xffff),
        (0xffff, 0x1_0000),
        (0x7fff, 0x1_0000),
        (0x8001, 0x1_0000),
        (0x8002, 0x1_0000),
        (5, 0x2_fff0),
        (0xffff, u64::MAX),
    ];
    let cases = cases.map(|(truncated, largest): (u16, u64)| {
        let full = PacketNumber::from_truncated(truncated, PacketNumber(largest));
        let given = json!({ "largest": largest.to_string() });
        case(
            &format!("{truncated} after {largest}"),
            given,
            &truncated.to_le_bytes(),
            json!({ "value": full.0.to_string() }),
        )
    });
    file("Packet numbers from their low 16 bits. given.largest: the largest number received.", cases.to_vec())
}

fn aliases() -> Value {
    let cases = [(0, 0), (0x1234, 0x56), (u16::MAX, u8::MAX)].map(|(slot, generation)| {
        let alias = Alias { slot, generation };
        let [low, high] = slot.to_le_bytes();
        let value = json!({ "slot": slot, "generation": generation, "script_int": alias.to_script_int() });
        case(&format!("slot {slot} generation {generation}"), Value::Null, &[low, high, generation], value)
    });
    file("Aliases as in a record, and the integer that scripts see.", cases.to_vec())
}

fn quantized() -> Value {
    let mut cases = Vec::new();
    for (profile, words) in [
        (Profile::Standard, [0, 1, -32_767]),
        (Profile::High, [10_000, 123_456_789, -i32::MAX]),
        (Profile::World, [7, -7, 32_767]),
    ] {
        let bytes: Vec<u8> = words.iter().flat_map(|word: &i32| word.to_le_bytes()).collect();
        let triple = Words3::quantized(words);
        for (what, values) in [
            ("position", profile.dequantize_position(triple)),
            ("velocity", profile.dequantize_velocity(triple)),
        ] {
            let given = json!({ "what": what, "profile": profile as u8 });
            cases.push(case(
                &format!("{what}, profile {}", profile as u8),
                given,
                &bytes,
                json!({ "values": singles(&values) }),
            ));
        }
    }
    let scale: Vec<u8> = [1i32, 32, 255].iter().flat_map(|word| word.to_le_bytes()).collect();
    let values = Profile::Standard.dequantize_scale(Words3::quantized([1, 32, 255]));
    cases.push(case(
        "scale",
        json!({ "what": "scale", "profile": 0 }),
        &scale,
        json!({ "values": singles(&values) }),
    ));
    let range = QuantizedRange::new(-10.0, 10.0, 3).expect("a valid range");
    let words = [1, -29, 30];
    let bytes: Vec<u8> = words.iter().flat_map(|word: &i32| word.to_le_bytes()).collect();
    let given = json!({ "what": "custom", "per_unit": 3 });
    cases.push(case(
        "thirds",
        given,
        &bytes,
        json!({ "values": singles(&words.map(|word| range.dequantize(word))) }),
    ));
    file("Words (three i32 in hex) and the floats they stand for.", cases)
}

fn rotations() -> Value {
    let mut cases = Vec::new();
    let half = core::f32::consts::FRAC_1_SQRT_2;
    for (name, quaternion) in [
        ("identity", [0.0, 0.0, 0.0, 1.0]),
        ("quarter turn about z", [0.0, 0.0, half, half]),
        ("largest negative", [0.5, -0.1, 0.2, -0.836_66]),
        ("all equal", [0.5, -0.5, 0.5, -0.5]),
        ("half turn about x", [-1.0, 0.0, 0.0, 0.0]),
    ] {
        for (bits, width) in [(10, RotationWidth::Ten), (15, RotationWidth::Fifteen)] {
            let rotation = Rotation::quantize(quaternion, width, &mut Default::default());
            let packed = rotation.pack(width).expect("quantized rotations pack");
            let bytes = &packed.to_le_bytes()[..if bits == 10 { 4 } else { 6 }];
            assert_eq!(Rotation::unpack(packed, width), Ok(rotation));
            let Rotation::SmallestThree { largest, steps } = rotation else { unreachable!("quantized") };
            let value = json!({
                "largest": largest, "steps": steps, "quaternion": singles(&rotation.dequantize(width)),
            });
            cases.push(case(
                &format!("{name}, {bits} bits"),
                json!({ "component_bits": bits }),
                bytes,
                value,
            ));
        }
    }
    for (name, bits, packed) in [
        ("code 1023", 10, 1023u64 << 2),
        ("longer than one", 10, 0),
        ("reserved bit", 15, 1 << 47),
        ("code 32767", 15, 32_767 << 2),
    ] {
        let width = if bits == 10 { RotationWidth::Ten } else { RotationWidth::Fifteen };
        let bytes = &packed.to_le_bytes()[..if bits == 10 { 4 } else { 6 }];
        cases.push(refused(name, json!({ "component_bits": bits }), bytes, Rotation::unpack(packed, width)));
    }
    file("Smallest-three rotations. value.quaternion: x y z w.", cases)
}

fn origins() -> Value {
    let origin = SectorOrigin::new([1e6, -0.5, 0.0], OriginVersion::new(63)).expect("a valid origin");
    let bytes = written(|out| {
        let mut writer = ByteWriter::new(out);
        origin.write(&mut writer);
        writer.finish()
    });
    let value = json!({ "metres": origin.metres().map(double), "version": 63 });
    let mut cases = vec![case("origin", Value::Null, &bytes, value)];
    let mut refuse = |name: &str, at: usize, patch: &[u8]| {
        let mut bad = bytes.clone();
        bad[at..at + patch.len()].copy_from_slice(patch);
        cases.push(refused(name, Value::Null, &bad, SectorOrigin::read(&mut ByteReader::new(&bad))));
    };
    refuse("version 64", 24, &[64]);
    refuse("not a number", 0, &f64::NAN.to_le_bytes());
    refuse("too far", 8, &1.1e12f64.to_le_bytes());
    refuse("too far and version 64: the version is checked first", 16, &{
        let mut end = 1.1e12f64.to_le_bytes().to_vec();
        end.push(64);
        end
    });
    file("Sector origins.", cases)
}

use super::*;
use crate::quantize::{QuantizeCounters, SectorOrigin};
use proptest::prelude::*;

fn encoded(record: &Record<'_>) -> Vec<u8> {
    let mut out = [0; RECORD_BYTES_MAX];
    let length = record.encode(&mut out).unwrap();
    out[..length].to_vec()
}

fn placed(profile: Profile) -> Record<'static> {
    let mut counters = QuantizeCounters::default();
    Record {
        alias: Alias { slot: 0x0201, generation: 3 },
        profile,
        sequence: Sequence8(7),
        position: Some(profile.quantize_position([1.0, -2.0, 0.01], &SectorOrigin::default(), &mut counters)),
        rotation: Some(profile.quantize_rotation([0.0, 0.0, 0.0, 1.0], &mut counters)),
        ..Record::default()
    }
}

#[test]
fn position_and_rotation_in_the_standard_profile_take_sixteen_bytes() {
    let bytes = encoded(&placed(Profile::Standard));
    let expected = [0x01, 0x02, 3, 0b11, 0, 7, 100, 0, 0x38, 0xff, 1, 0, 0xff, 0xf7, 0xdf, 0x7f];
    assert_eq!(bytes, expected);
}

#[test]
fn quantizing_halves_the_record() {
    let sizes = Profile::ALL.map(|profile| encoded(&placed(profile)).len());
    assert_eq!(sizes, [16, 6 + 12 + 6, 16, 34]);
    assert!(sizes[0] * 2 < sizes[3]);
}

#[test]
fn each_value_has_the_documented_size_in_each_profile() {
    let counters = &mut QuantizeCounters::default();
    // In the order of the wire values: position, rotation, scale.
    for (profile, sizes) in Profile::ALL.into_iter().zip([[6, 4, 3], [12, 6, 3], [6, 4, 3], [12, 16, 12]]) {
        let empty = Record { profile, ..Record::default() };
        let placed = placed(profile);
        let records = [
            Record { position: placed.position, ..empty },
            Record { rotation: placed.rotation, ..empty },
            Record { scale: Some(profile.quantize_scale([1.0, 2.0, 0.5], counters)), ..empty },
        ];
        let (masks, lengths): (Vec<_>, Vec<_>) = records
            .map(|record| encoded(&record))
            .map(|bytes| (bytes[3], bytes.len() - RECORD_HEADER_BYTES))
            .into_iter()
            .unzip();
        assert_eq!(lengths, sizes, "{profile:?}");
        assert_eq!(masks, [0b001, 0b010, 0b100], "{profile:?}");
    }
}

#[test]
fn only_what_the_mask_names_is_sent() {
    let record = Record { rotation: None, position: None, ..placed(Profile::Standard) };
    assert_eq!(encoded(&record).len(), RECORD_HEADER_BYTES);
    let record = Record { properties: Some(&[9, 9]), ..record };
    assert_eq!(encoded(&record)[RECORD_HEADER_BYTES..], [2, 9, 9]);
}

#[test]
fn contradictory_flags_are_refused_by_both_sides() {
    let teleport_nowhere = Record { teleport: true, position: None, ..placed(Profile::Standard) };
    assert_eq!(teleport_nowhere.encode(&mut [0; 64]), Err(WriteError::OutOfRange));
    let useless_version = Record { origin_version: OriginVersion::new(1), ..placed(Profile::World) };
    assert_eq!(useless_version.encode(&mut [0; 64]), Err(WriteError::OutOfRange));

    for (mask, profile) in
        [(TELEPORT, 0), (RAW_SCALE, 0), (RAW_POSITION, 0), (RAW_POSITION | HAS_POSITION, 3), (0, 2 | 1 << 2)]
    {
        let mut bytes = [0; 64];
        bytes[3] = mask;
        bytes[4] = profile;
        assert_eq!(
            Record::decode(&bytes),
            Err(ReadError::InvalidFlags),
            "mask {mask:#x} profile {profile:#x}"
        );
    }
}

#[test]
fn values_that_no_sender_produces_are_refused() {
    let good = encoded(&placed(Profile::Standard));
    let with = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        Record::decode(&bad).err()
    };
    assert_eq!(with(6, &[0x00, 0x80]), Some(ReadError::OutOfRange), "-32768");
    assert_eq!(with(12, &[0xff; 4]), Some(ReadError::OutOfRange), "code 1023");
    assert_eq!(with(12, &[0; 4]), Some(ReadError::InvalidRotation));
    let scale = Record { scale: Some(Words3::quantized([1, 2, 3])), ..Record::default() };
    let mut bytes = encoded(&scale);
    bytes[7] = 0;
    assert_eq!(Record::decode(&bytes).err(), Some(ReadError::OutOfRange), "a scale of zero must be raw");
    let raw = Record { scale: Some(Words3::raw([-1.0, 0.0, 9.0])), ..Record::default() };
    let mut bytes = encoded(&raw);
    assert_eq!(Record::decode(&bytes), Ok((raw, 18)));
    bytes[6..10].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(Record::decode(&bytes).err(), Some(ReadError::NonFinite));
}

#[test]
fn a_value_in_the_form_of_another_profile_is_not_encoded() {
    let fine = Profile::High.quantize_rotation([0.0, 0.6, 0.0, 0.8], &mut QuantizeCounters::default());
    let record = Record { rotation: Some(fine), ..Record::default() };
    assert_eq!(record.encode(&mut [0; 64]), Err(WriteError::OutOfRange));
    let record = Record { velocity: Some(Words3::raw([1.0; 3])), ..Record::default() };
    assert_eq!(record.encode(&mut [0; 64]), Err(WriteError::OutOfRange));
    let record =
        Record { position: Some(Words3::quantized([1; 3])), profile: Profile::None, ..Record::default() };
    assert_eq!(record.encode(&mut [0; 64]), Err(WriteError::OutOfRange));
}

#[test]
fn every_shorter_input_ends_unexpectedly() {
    let record = Record {
        properties: Some(&[1, 2, 3]),
        velocity: Some(Words3::quantized([5; 3])),
        ..placed(Profile::High)
    };
    let bytes = encoded(&record);
    for length in 0..bytes.len() {
        assert_eq!(Record::decode(&bytes[..length]).err(), Some(ReadError::UnexpectedEnd));
        assert_eq!(record.encode(&mut vec![0; length]), Err(WriteError::BufferFull));
    }
}

prop_compose! {
    fn any_record(properties: &'static [u8])(
        slot: u16, generation: u8, sequence: u8, profile_bits in 0u8..4, version in 0u8..64, teleport: bool,
        present in proptest::array::uniform5(any::<bool>()),
        position in proptest::array::uniform3(-500.0f64..500.0),
        quaternion in proptest::array::uniform4(-1.0f32..1.0),
        scale in proptest::array::uniform3(-1.0f32..10.0),
        velocity in proptest::array::uniform3(-500.0f32..500.0),
    ) -> Record<'static> {
        let profile = Profile::from_bits(profile_bits);
        let counters = &mut QuantizeCounters::default();
        let position = profile.quantize_position(position, &SectorOrigin::default(), counters);
        Record {
            alias: Alias { slot, generation },
            profile,
            origin_version: OriginVersion::new(if profile.uses_origin() { version } else { 0 }),
            sequence: Sequence8(sequence),
            teleport: teleport && present[0],
            position: present[0].then_some(position),
            rotation: present[1].then(|| profile.quantize_rotation(quaternion, counters)),
            scale: present[2].then(|| profile.quantize_scale(scale, counters)),
            properties: present[3].then_some(properties),
            velocity: present[4].then(|| profile.quantize_velocity(velocity, counters)),
        }
    }
}

proptest! {
    #[test]
    fn every_record_returns(record in any_record(&[1, 2, 3, 4]), tail: [u8; 4]) {
        let mut bytes = encoded(&record);
        let length = bytes.len();
        bytes.extend(tail);
        prop_assert_eq!(Record::decode(&bytes), Ok((record, length)));
    }

    #[test]
    fn what_decodes_encodes_to_the_same_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok((record, length)) = Record::decode(&bytes) {
            prop_assert_eq!(&encoded(&record)[..], &bytes[..length]);
        }
    }
}

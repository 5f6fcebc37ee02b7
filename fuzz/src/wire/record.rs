//! Full records: one encoding per record, and nothing but finite numbers in it.

use netloom_wire::Record;
use netloom_wire::record::RECORD_BYTES_MAX;

/// Decodes one record after another.
pub fn wire_record(data: &[u8]) {
    let mut rest = data;
    while let Ok((record, length)) = Record::decode(rest) {
        let mut again = [0; RECORD_BYTES_MAX];
        assert_eq!(record.encode(&mut again), Ok(length));
        assert_eq!(&again[..length], &rest[..length]);
        check_values(&record);
        rest = &rest[length..];
    }
}

fn check_values(record: &Record<'_>) {
    let profile = record.profile;
    let triples = [
        record.position.map(|words| profile.dequantize_position(words)),
        record.scale.map(|words| profile.dequantize_scale(words)),
        record.velocity.map(|words| profile.dequantize_velocity(words)),
    ];
    for values in triples.into_iter().flatten() {
        assert!(values.iter().all(|value| value.is_finite()));
    }
    if let Some(rotation) = record.rotation {
        let quaternion = profile.dequantize_rotation(rotation);
        let length_squared: f32 = quaternion.iter().map(|component| component * component).sum();
        assert!((length_squared - 1.0).abs() < 0.02, "{quaternion:?} is no rotation");
    }
}

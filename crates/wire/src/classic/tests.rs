use super::*;
use proptest::prelude::*;

const TWO_ENTITIES: [u8; 49] = [
    0x11, 0x2e, 0x00, 0x02, 0x00, 0x00, 0x00, //
    0x2a, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc9, 0x42, 0x00, 0x00, 0x48, 0x43, 0x00, 0x00, 0xa0, 0x40, 0x00,
    0x00, 0x00, 0x00, 0x01, //
    0x64, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc8, 0x43, 0x00, 0x80, 0x16, 0x43, 0x00, 0x00, 0x40, 0xc0, 0x00,
    0x00, 0x80, 0x3f, 0x02,
];
const SHIELD: [u8; 16] =
    [0x30, 0x0d, 0x00, 0x37, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7a, 0x43, 0x00, 0x00, 0x34, 0x43, 0x02];

fn two_entities() -> [EntityPosition; 2] {
    [
        EntityPosition { id: 42, x: 100.5, y: 200.0, vx: 5.0, vy: 0.0, kind: EntityPosition::PLAYER },
        EntityPosition { id: 100, x: 400.0, y: 150.5, vx: -3.0, vy: 1.0, kind: EntityPosition::ENEMY },
    ]
}

fn entities(datagram: &[u8]) -> Result<Vec<EntityPosition>, ReadError> {
    decode_entity_positions(Packet::decode(datagram)?.payload)?.collect()
}

#[test]
fn joining_is_three_bytes() {
    let mut out = [0; 8];
    let join = Packet { opcode: opcode::JOIN_LOBBY, payload: &[] };
    assert_eq!(join.encode(&mut out), Ok(3));
    assert_eq!(out[..3], [0x01, 0, 0]);
    assert_eq!(Packet::decode(&out[..3]), Ok(join));
}

#[test]
fn up_right_and_shoot_is_19() {
    let input = PlayerInput::UP.with(PlayerInput::RIGHT).with(PlayerInput::SHOOT);
    let mut out = [0; 8];
    assert_eq!(input.encode(&mut out), Ok(4));
    assert_eq!(out[..4], [0x10, 0x01, 0x00, 0x19]);
    let decoded = PlayerInput::decode(Packet::decode(&out[..4]).unwrap().payload);
    assert_eq!(decoded, Ok(input));
    assert!(
        input.contains(PlayerInput::SHOOT)
            && !input.contains(PlayerInput::DOWN)
            && !input.contains(PlayerInput::LEFT)
    );
    assert_eq!(PlayerInput::DOWN.with(PlayerInput::LEFT).bits(), 0x06);
}

#[test]
fn each_button_has_its_own_bit() {
    let buttons =
        [PlayerInput::UP, PlayerInput::DOWN, PlayerInput::LEFT, PlayerInput::RIGHT, PlayerInput::SHOOT];
    assert_eq!(buttons.map(PlayerInput::bits), [0x01, 0x02, 0x04, 0x08, 0x10]);
}

#[test]
fn an_input_shorter_than_four_bytes_is_refused() {
    let input = [0x10, 0x01, 0x00, 0x19];
    assert!(Packet::decode(&input).is_ok_and(|packet| PlayerInput::decode(packet.payload).is_ok()));
    for length in 0..4 {
        assert_eq!(Packet::decode(&input[..length]), Err(ReadError::UnexpectedEnd));
    }
    // Three bytes whose size field is honest are a packet, but no input.
    let empty = Packet::decode(&[0x10, 0x00, 0x00]).unwrap();
    assert_eq!(PlayerInput::decode(empty.payload), Err(ReadError::UnexpectedEnd));
}

#[test]
fn reserved_input_bits_are_refused() {
    for mask in 0..=0xff {
        let decoded = PlayerInput::decode(&[mask]);
        if mask & 0xe0 == 0 {
            assert_eq!(decoded.map(PlayerInput::bits), Ok(mask));
        } else {
            assert_eq!(decoded, Err(ReadError::ReservedBits), "{mask:#x}");
        }
    }
    assert_eq!(PlayerInput::decode(&[0x01, 0x00]), Err(ReadError::TrailingData));
}

#[test]
fn two_entities_have_the_documented_49_bytes() {
    let mut out = [0; 64];
    assert_eq!(encode_entity_positions(&two_entities(), &mut out), Ok(49));
    assert_eq!(out[..49], TWO_ENTITIES);
    assert_eq!(entities(&TWO_ENTITIES), Ok(two_entities().to_vec()));
}

#[test]
fn a_shield_has_the_documented_16_bytes() {
    let shield = PowerupSpawned { id: 55, x: 250.0, y: 180.0, kind: PowerupSpawned::SHIELD };
    let mut out = [0; 16];
    assert_eq!(shield.encode(&mut out), Ok(16));
    assert_eq!(out, SHIELD);
    assert_eq!(PowerupSpawned::decode(&SHIELD[3..]), Ok(shield));
}

#[test]
fn a_size_that_does_not_match_the_datagram_is_refused() {
    assert_eq!(Packet::decode(&TWO_ENTITIES[..48]), Err(ReadError::UnexpectedEnd));
    assert_eq!(Packet::decode(&[&TWO_ENTITIES[..], &[0]].concat()), Err(ReadError::TrailingData));
    let mut miscounted = TWO_ENTITIES;
    miscounted[3] = 3;
    assert_eq!(entities(&miscounted), Err(ReadError::UnexpectedEnd));
    miscounted[3] = 1;
    assert_eq!(entities(&miscounted), Err(ReadError::TrailingData));
    miscounted[6] = 1;
    assert_eq!(entities(&miscounted), Err(ReadError::TooLong));
}

#[test]
fn fifty_six_entities_fit_1200_bytes_and_one_more_is_refused() {
    let crowd = [EntityPosition::default(); 57];
    let mut out = [0; 1300];
    assert_eq!(encode_entity_positions(&crowd[..56], &mut out), Ok(1183));
    assert_eq!(entities(&out[..1183]).map(|list| list.len()), Ok(56));
    assert_eq!(encode_entity_positions(&crowd, &mut out), Err(WriteError::TooLong));
}

#[test]
fn floats_that_are_not_finite_are_refused_by_both_sides() {
    let lost = EntityPosition { x: f32::NAN, ..EntityPosition::default() };
    assert_eq!(encode_entity_positions(&[lost], &mut [0; 64]), Err(WriteError::NonFinite));
    let mut bytes = TWO_ENTITIES;
    bytes[11..15].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(entities(&bytes), Err(ReadError::NonFinite));
}

proptest! {
    #[test]
    fn any_datagram_decodes_or_is_refused_without_panic(datagram in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(packet) = Packet::decode(&datagram) {
            prop_assert_eq!(packet.payload.len() + HEADER_BYTES, datagram.len());
            let _ = PlayerInput::decode(packet.payload);
            let _ = PowerupSpawned::decode(packet.payload);
            let _ = decode_entity_positions(packet.payload).map(Iterator::count);
        }
    }
}

use netloom::wire::ReadError;
use proptest::prelude::*;

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// A message of a client of every kind, without a token, and its bytes.
fn requests() -> Vec<(ToServer, &'static str)> {
    let choice = Choice { offer: 258, choice: 2 };
    let input = PlayerInput::UP.with(PlayerInput::RIGHT).with(PlayerInput::SHOOT);
    let cookie = std::array::from_fn(|place| place as u8);
    vec![
        (ToServer::Join(None), "01 00 00"),
        (
            ToServer::Join(Some(Join::with(cookie))),
            "01 15 00 01 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13",
        ),
        (ToServer::Ready, "03 00 00"),
        (ToServer::Leave, "07 00 00"),
        (ToServer::Input(input), "10 01 00 19"),
        (ToServer::ChoosePower(choice), "31 03 00 02 01 02"),
        (ToServer::ChooseWeapon(choice), "41 03 00 02 01 02"),
        (ToServer::Ping(None), "fe 00 00"),
        (ToServer::Ping(Some(0x0102_0304)), "fe 04 00 04 03 02 01"),
    ]
}

/// A message of the server of every kind, and its bytes.
fn answers() -> Vec<(ToClient, &'static str)> {
    let lobby = LobbyStatus {
        players: 3,
        ready: 2,
        capacity: 4,
        minimum: 1,
        phase: LobbyPhase::Countdown,
        your_id: 7,
        your_ready: true,
    };
    let info = GameInfo {
        score: 1_000,
        lives: 3,
        level: 2,
        wave: 5,
        phase: GamePhase::Boss,
        shield: 1,
        thrusters: 2,
        drone: true,
        weapon: WeaponType::Lance,
        weapon_level: 3,
        ammo: 60,
    };
    let powers = PowerupStatus {
        offer: 9,
        choices: [PowerType::Thrusters, PowerType::Shield, PowerType::Drone],
        taken: PowerType::None,
        level: 0,
    };
    let weapons =
        WeaponOffer { offer: 4, choices: [WeaponType::Spread, WeaponType::Seeker, WeaponType::None] };
    let error = ErrorMessage { code: ErrorCode::UnknownOpcode, opcode: 0x77 };
    vec![
        (ToClient::LobbyStatus(lobby), "02 0a 00 03 02 04 01 01 07 00 00 00 01"),
        (ToClient::GameStart(GameStart { your_id: 7 }), "04 04 00 07 00 00 00"),
        (ToClient::Challenge(None), "05 00 00"),
        (
            ToClient::Challenge(Some([0xab; 20])),
            "05 14 00 ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab",
        ),
        (ToClient::Session(0x0807_0605_0403_0201), "06 08 00 01 02 03 04 05 06 07 08"),
        (ToClient::GameInfo(info), "12 0e 00 e8 03 00 00 03 02 05 01 01 02 01 03 03 3c"),
        (ToClient::LevelInfo(LevelInfo { level: 2, elapsed_ms: 300 }), "20 05 00 02 2c 01 00 00"),
        (ToClient::BossSpawned(BossSpawned { id: 9, kind: BossKind::Leviathan }), "21 05 00 09 00 00 00 02"),
        (ToClient::GameOver(GameOver { won: true, score: 1_000, level: 3 }), "22 06 00 01 e8 03 00 00 03"),
        (
            ToClient::PowerupSpawned(PowerupSpawned { id: 55, x: 250.0, y: 180.0, kind: 2 }),
            "30 0d 00 37 00 00 00 00 00 7a 43 00 00 34 43 02",
        ),
        (ToClient::PowerupStatus(powers), "32 07 00 09 00 01 02 03 00 00"),
        (ToClient::WeaponOffer(weapons), "40 05 00 04 00 02 04 00"),
        (
            ToClient::WeaponConfirm(WeaponConfirm { offer: 4, weapon: WeaponType::Spread, level: 1 }),
            "42 04 00 04 00 02 01",
        ),
        (ToClient::Ping(None), "fe 00 00"),
        (ToClient::Ping(Some(5)), "fe 04 00 05 00 00 00"),
        (ToClient::Error(error), "ff 02 00 01 77"),
    ]
}

#[test]
fn every_message_of_a_client_has_its_bytes_with_a_token_and_without() {
    for (message, hex) in requests() {
        let mut out = [0; 64];
        let request = Request { message, token: None };
        let length = request.encode(&mut out).unwrap();
        assert_eq!(out[..length], bytes(hex), "{message:?}");
        assert_eq!(Request::decode(&out[..length]), Ok(request));
        let signed = message.signed(Some(0x0807_0605_0403_0201));
        let length = signed.encode(&mut out).unwrap();
        assert!(length <= ToServer::BYTES_MAX);
        assert_eq!(Request::decode(&out[..length]), Ok(signed));
        match message {
            ToServer::Join(_) => assert_eq!(signed, request, "a JOIN has a cookie instead"),
            _ => assert_eq!(out[length - 8..length], [1, 2, 3, 4, 5, 6, 7, 8]),
        }
    }
    let signed = ToServer::Input(PlayerInput::UP).signed(Some(1));
    let mut out = [0; 64];
    assert_eq!(signed.encode(&mut out), Ok(12));
    assert_eq!(out[..12], bytes("10 09 00 01 01 00 00 00 00 00 00 00"));
}

#[test]
fn every_message_of_the_server_has_its_bytes() {
    for (message, hex) in answers() {
        let mut out = [0; 64];
        let length = message.encode(&mut out).unwrap();
        assert_eq!(out[..length], bytes(hex), "{message:?}");
        assert!(length <= ToClient::BYTES_MAX);
        assert_eq!(FromServer::decode(&out[..length]), Ok(FromServer::Message(message)));
    }
}

#[test]
fn a_challenge_is_not_longer_than_what_it_answers() {
    let length = |message: &ToClient| message.encode(&mut [0; 64]).unwrap();
    let asked = |join| ToServer::Join(join).signed(None).encode(&mut [0; 64]).unwrap();
    assert!(length(&ToClient::Challenge(Some([0; 20]))) <= asked(Some(Join::FIRST)));
    assert!(length(&ToClient::Challenge(None)) <= asked(None));
}

#[test]
fn a_message_with_a_byte_too_few_or_too_many_is_refused_whatever_its_header_says() {
    let valid_requests = requests().into_iter().map(|(_, hex)| (bytes(hex), true));
    let valid_answers = answers().into_iter().map(|(_, hex)| (bytes(hex), false));
    for (datagram, is_request) in valid_requests.chain(valid_answers) {
        let is_refused = |datagram: &[u8]| match is_request {
            true => Request::decode(datagram).is_err(),
            false => FromServer::decode(datagram).is_err(),
        };
        for length in 0..datagram.len() {
            assert!(is_refused(&datagram[..length]), "{datagram:02x?} of {length} bytes");
        }
        assert!(is_refused(&[&datagram[..], &[0]].concat()));
        // The same with a header that is honest about it.
        for change in [-1, 1] {
            let payload = (datagram.len() as i32 - 3 + change) as u16;
            if (payload as i16) < 0 {
                continue;
            }
            let mut other = datagram.clone();
            other.resize(3 + usize::from(payload), 0);
            other[1..3].copy_from_slice(&payload.to_le_bytes());
            assert!(is_refused(&other), "{other:02x?}");
        }
    }
}

#[test]
fn what_no_client_says_is_told_from_what_is_said_wrongly() {
    assert_eq!(Request::decode(&bytes("77 00 00")), Err(RequestError::UnknownOpcode(0x77)));
    assert_eq!(
        Request::decode(&bytes("11 00 00")),
        Err(RequestError::UnknownOpcode(0x11)),
        "servers say that"
    );
    assert_eq!(Request::decode(&bytes("10 00 00")), Err(RequestError::Size { opcode: 0x10, bytes: 0 }));
    for mask in 0x20..=0xff {
        let refused = RequestError::Payload { opcode: 0x10, error: ReadError::ReservedBits };
        assert_eq!(Request::decode(&[0x10, 1, 0, mask]), Err(refused));
    }
    let no_code = bytes("ff 02 00 63 00");
    assert_eq!(FromServer::decode(&no_code), Err(ReadError::OutOfRange));
    assert_eq!(FromServer::decode(&bytes("22 06 00 02 00 00 00 00 01")), Err(ReadError::InvalidBool));
    assert_eq!(FromServer::decode(&bytes("77 00 00")), Err(ReadError::OutOfRange));
}

#[test]
fn the_documented_entities_read_back_and_a_float_that_is_none_refuses_all_of_them() {
    let hex = "11 2e 00 02 00 00 00 2a 00 00 00 00 00 c9 42 00 00 48 43 00 00 a0 40 00 00 00 00 01 \
               64 00 00 00 00 00 c8 43 00 80 16 43 00 00 40 c0 00 00 80 3f 02";
    let mut datagram = bytes(hex);
    let Ok(FromServer::Entities(entities)) = FromServer::decode(&datagram) else { panic!("they read") };
    let read: Vec<EntityPosition> = entities.iter().collect();
    assert_eq!((read.len(), read[0].x, read[1].y, read[1].kind), (2, 100.5, 150.5, 2));
    datagram[44..48].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(FromServer::decode(&datagram), Err(ReadError::NonFinite));
}

proptest! {
    #[test]
    fn whatever_reads_writes_the_same_bytes(opcode: u8, payload in proptest::collection::vec(any::<u8>(), 0..40)) {
        let size = (payload.len() as u16).to_le_bytes();
        let datagram = [&[opcode, size[0], size[1]][..], &payload].concat();
        let mut out = [0; 64];
        if let Ok(request) = Request::decode(&datagram) {
            let length = request.encode(&mut out).unwrap();
            prop_assert_eq!(&out[..length], &datagram[..]);
        }
        if let Ok(FromServer::Message(message)) = FromServer::decode(&datagram) {
            let length = message.encode(&mut out).unwrap();
            prop_assert_eq!(&out[..length], &datagram[..]);
        }
    }
}

use super::*;
use crate::classic::codec::{DATAGRAM_BYTES_MAX, FromServer};

const HOME: &str = "192.0.2.7:4000";
const VICTIM: &str = "198.51.100.9:53";

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn desk(config: DeskConfig) -> Desk {
    Desk::new(Micros::ZERO, config, &[5; 32]).unwrap()
}

fn datagram(message: ToServer, token: Option<Token>) -> Vec<u8> {
    let mut out = [0; 64];
    let length = message.signed(token).encode(&mut out).unwrap();
    out[..length].to_vec()
}

/// Everything that waits, to whom and what.
fn sent(desk: &mut Desk) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut out = [0; DATAGRAM_BYTES_MAX];
    std::iter::from_fn(|| desk.poll_transmit(&mut out).map(|(to, length)| (to, out[..length].to_vec())))
        .collect()
}

fn told(desk: &mut Desk) -> Vec<ToClient> {
    let read = |(_, bytes): (SocketAddr, Vec<u8>)| match FromServer::decode(&bytes) {
        Ok(FromServer::Message(message)) => message,
        other => panic!("{other:?}"),
    };
    sent(desk).into_iter().map(read).collect()
}

/// Goes through the challenge; the client and its token.
fn join(desk: &mut Desk, now: Micros, from: SocketAddr) -> (ClientId, Token) {
    desk.handle_datagram(now, from, &datagram(ToServer::Join(Some(Join::FIRST)), None));
    let [ToClient::Challenge(Some(cookie))] = told(desk)[..] else { panic!("no challenge") };
    let said = desk.handle_datagram(now, from, &datagram(ToServer::Join(Some(Join::with(cookie))), None));
    let [ToClient::Session(token)] = told(desk)[..] else { panic!("no session") };
    let Some((client, Said::Joined)) = said else { panic!("{said:?}") };
    (client, token)
}

#[test]
fn a_join_makes_the_client_count_one() {
    let mut desk = desk(DeskConfig::default());
    let (client, _) = join(&mut desk, Micros::ZERO, address(HOME));
    assert_eq!(desk.client_count(), 1);
    assert_eq!(desk.address_of(client), Some(address(HOME)));
}

#[test]
fn spoofed_sources_get_nothing_but_a_challenge_that_is_not_longer_than_what_was_sent() {
    let mut desk = desk(DeskConfig::default());
    let every_opcode = (0..=255_u8).flat_map(|opcode| {
        [0_usize, 1, 3, 4, 8, 9, 11, 12, 20, 21, 29].map(|size| {
            let mut datagram = vec![0; 3 + size];
            (datagram[0], datagram[1]) = (opcode, size as u8);
            datagram
        })
    });
    let mut now = Micros::ZERO;
    for datagram in every_opcode {
        now += Micros::from_millis(200);
        assert_eq!(desk.handle_datagram(now, address(VICTIM), &datagram), None);
        let answers = sent(&mut desk);
        assert!(answers.len() <= 1);
        for (to, answer) in answers {
            assert_eq!(to, address(VICTIM));
            assert!(answer.len() <= datagram.len(), "{answer:02x?} answers {datagram:02x?}");
            assert_eq!((datagram[0], answer[0]), (opcode::JOIN_LOBBY, opcode::CHALLENGE));
        }
    }
    assert_eq!((desk.client_count(), desk.counters().challenged), (0, 2));
    for _ in 0..600 {
        now += Micros::from_millis(16);
        desk.broadcast_to_all_clients(&ToClient::Ping(None));
        assert!(sent(&mut desk).is_empty(), "nothing ever follows");
    }
}

#[test]
fn a_cookie_of_another_address_is_worth_nothing() {
    let mut desk = desk(DeskConfig::default());
    desk.handle_datagram(Micros::ZERO, address(HOME), &datagram(ToServer::Join(Some(Join::FIRST)), None));
    let [ToClient::Challenge(Some(cookie))] = told(&mut desk)[..] else { panic!("no challenge") };
    let stolen = datagram(ToServer::Join(Some(Join::with(cookie))), None);
    assert_eq!(desk.handle_datagram(Micros::ZERO, address(VICTIM), &stolen), None);
    assert!(matches!(told(&mut desk)[..], [ToClient::Challenge(Some(_))]));
    let late = Micros::from_secs(16);
    assert_eq!(
        desk.handle_datagram(late, address(HOME), &stolen),
        None,
        "and too late it is worth nothing, too"
    );
    assert_eq!(desk.client_count(), 0);
}

#[test]
fn joining_twice_is_joining_once_with_the_same_token() {
    let mut desk = desk(DeskConfig::default());
    let (client, token) = join(&mut desk, Micros::ZERO, address(HOME));
    desk.handle_datagram(Micros::ZERO, address(HOME), &datagram(ToServer::Join(Some(Join::FIRST)), None));
    let [ToClient::Challenge(Some(cookie))] = told(&mut desk)[..] else { panic!("no challenge") };
    let again = datagram(ToServer::Join(Some(Join::with(cookie))), None);
    for _ in 0..3 {
        let said = desk.handle_datagram(Micros::ZERO, address(HOME), &again);
        assert_eq!(said, Some((client, Said::Asked)));
        assert_eq!(told(&mut desk), [ToClient::Session(token)]);
    }
    assert_eq!((desk.client_count(), desk.counters().joined), (1, 1));
}

#[test]
fn a_flood_of_joins_from_one_address_or_many_is_answered_in_moderation_and_keeps_nobody_out() {
    let mut desk = desk(DeskConfig::default());
    let first = datagram(ToServer::Join(Some(Join::FIRST)), None);
    for _ in 0..100_000 {
        desk.handle_datagram(Micros::ZERO, address(VICTIM), &first);
    }
    assert_eq!(sent(&mut desk).len(), 20);
    for number in 0..500_u32 {
        let from = SocketAddr::from(((0x0a00_0000 + number).to_be_bytes(), 7));
        desk.handle_datagram(Micros::ZERO, from, &first);
    }
    assert!(sent(&mut desk).len() <= 500);
    join(&mut desk, Micros::ZERO, address(HOME));
    assert_eq!(desk.client_count(), 1, "spoofed joins took no seat");
}

#[test]
fn a_spoofer_without_the_token_steers_nothing_ends_nothing_and_keeps_nobody_alive() {
    let mut desk = desk(DeskConfig::default());
    let (_, token) = join(&mut desk, Micros::ZERO, address(HOME));
    let messages = [
        ToServer::Input(PlayerInput::UP),
        ToServer::Ready,
        ToServer::Leave,
        ToServer::Ping(Some(1)),
        ToServer::ChoosePower(Choice { offer: 1, choice: 0 }),
        ToServer::ChooseWeapon(Choice { offer: 1, choice: 0 }),
    ];
    let now = Micros::from_secs(4);
    for token in [None, Some(0), Some(token ^ 1)] {
        for message in messages {
            assert_eq!(desk.handle_datagram(now, address(HOME), &datagram(message, token)), None);
        }
        assert_eq!(desk.handle_datagram(now, address(HOME), &[0x77, 0, 0]), None);
    }
    // The bare JOIN is the one thing that is answered, with three bytes.
    desk.handle_datagram(now, address(HOME), &datagram(ToServer::Join(None), None));
    assert_eq!(told(&mut desk), [ToClient::Challenge(None)]);
    assert_eq!(desk.counters().unsigned, 18);
    assert!(desk.poll_silent(Micros::from_millis(5_001)).is_some(), "four seconds ago was somebody else");
}

#[test]
fn five_seconds_of_silence_end_a_session_and_any_signed_packet_counts() {
    let mut desk = desk(DeskConfig::default());
    let (client, token) = join(&mut desk, Micros::ZERO, address(HOME));
    let sign = token.to_le_bytes();
    let nonsense = [&[0x77, 8, 0][..], &sign].concat();
    let mut now = Micros::ZERO;
    for words in [
        datagram(ToServer::Ping(None), Some(token)),
        datagram(ToServer::Input(PlayerInput::default()), Some(token)),
        datagram(ToServer::Ready, Some(token)),
        nonsense,
    ] {
        now += Micros::from_secs(5);
        assert_eq!(desk.poll_silent(now), None);
        desk.handle_datagram(now, address(HOME), &words);
    }
    assert_eq!(desk.poll_silent(now + Micros::from_secs(5)), None);
    sent(&mut desk);
    assert_eq!(desk.poll_silent(now + Micros(5_000_001)), Some(client));
    assert_eq!(told(&mut desk), [ToClient::Error(ErrorMessage { code: ErrorCode::Silent, opcode: 0 })]);
    assert_eq!(desk.client_count(), 0);
}

#[test]
fn a_hundred_inputs_a_second_pass_and_a_flood_does_not() {
    let mut desk = desk(DeskConfig::default());
    let (_, token) = join(&mut desk, Micros::ZERO, address(HOME));
    let input = datagram(ToServer::Input(PlayerInput::SHOOT), Some(token));
    let mut passed = |every: u64, count: u64, from: Micros| {
        let times = (0..count).map(|number| from + Micros(number * every));
        times.filter(|now| desk.handle_datagram(*now, address(HOME), &input).is_some()).count()
    };
    assert_eq!(passed(10_000, 1_000, Micros::ZERO), 1_000);
    let flood = passed(1_000, 10_000, Micros::from_secs(10));
    assert!((1_000..=1_050).contains(&flood), "{flood} of 10,000 in ten seconds");
}

#[test]
fn malformed_packets_of_every_opcode_are_told_to_clients_alone_and_not_too_often() {
    let mut desk = desk(DeskConfig::default());
    let (_, token) = join(&mut desk, Micros::ZERO, address(HOME));
    let mut now = Micros::ZERO;
    for opcode in 0..=255_u8 {
        now += Micros::from_secs(1);
        // A size that no opcode has, signed.
        let mut wrong = [&[opcode, 45, 0][..], &[0; 37], &token.to_le_bytes()].concat();
        assert_eq!(desk.handle_datagram(now, address(HOME), &wrong), None);
        let is_known = [0x01, 0x03, 0x07, 0x31, 0x41, 0xfe].contains(&opcode);
        let code = if is_known { ErrorCode::Malformed } else { ErrorCode::UnknownOpcode };
        let expected = ToClient::Error(ErrorMessage { code, opcode });
        match opcode {
            opcode::PLAYER_INPUT => assert_eq!(told(&mut desk), [], "inputs are dropped"),
            _ => assert_eq!(told(&mut desk), [expected]),
        }
        wrong[47] ^= 1;
        desk.handle_datagram(now, address(HOME), &wrong);
        desk.handle_datagram(now, address(VICTIM), &wrong);
        assert!(sent(&mut desk).is_empty(), "nobody else is told");
    }
    let unknown = [&[0x77, 8, 0][..], &token.to_le_bytes()].concat();
    for _ in 0..10_000 {
        desk.handle_datagram(now, address(HOME), &unknown);
    }
    assert!(sent(&mut desk).len() <= 5);
}

#[test]
fn reserved_bits_and_short_inputs_are_dropped() {
    let mut desk = desk(DeskConfig::default());
    let (client, token) = join(&mut desk, Micros::ZERO, address(HOME));
    for mask in 0..=255_u8 {
        let now = Micros::from_millis(u64::from(mask) * 20);
        let input = [&[0x10, 9, 0, mask][..], &token.to_le_bytes()].concat();
        let said = desk.handle_datagram(now, address(HOME), &input);
        match mask & 0xe0 {
            0 => assert!(
                matches!(said, Some((from, Said::Input(input))) if from == client && input.bits() == mask)
            ),
            _ => assert_eq!(said, None),
        }
        for length in 0..input.len() {
            assert_eq!(desk.handle_datagram(now, address(HOME), &input[..length]), None);
        }
    }
    assert!(sent(&mut desk).is_empty());
}

#[test]
fn seats_are_limited_and_so_is_each_address() {
    let config = DeskConfig { clients_max: 3, clients_per_network_max: 2, ..DeskConfig::default() };
    let mut desk = desk(config);
    let try_join = |desk: &mut Desk, from: &str| {
        desk.handle_datagram(Micros::ZERO, address(from), &datagram(ToServer::Join(Some(Join::FIRST)), None));
        let [ToClient::Challenge(Some(cookie))] = told(desk)[..] else { panic!("no challenge") };
        let proven = datagram(ToServer::Join(Some(Join::with(cookie))), None);
        desk.handle_datagram(Micros::ZERO, address(from), &proven);
        told(desk)
    };
    let full = ToClient::Error(ErrorMessage { code: ErrorCode::Full, opcode: opcode::JOIN_LOBBY });
    assert!(matches!(try_join(&mut desk, "192.0.2.1:1")[..], [ToClient::Session(_)]));
    assert!(matches!(try_join(&mut desk, "192.0.2.1:2")[..], [ToClient::Session(_)]));
    assert_eq!(try_join(&mut desk, "192.0.2.1:3"), [full]);
    assert!(matches!(try_join(&mut desk, "192.0.2.2:1")[..], [ToClient::Session(_)]));
    assert_eq!(try_join(&mut desk, "192.0.2.3:1"), [full]);
    assert_eq!((desk.client_count(), desk.counters().refused), (3, 2));
}

#[test]
fn the_bare_join_opens_a_session_from_loopback_alone_and_only_if_that_is_trusted() {
    let bare = datagram(ToServer::Join(None), None);
    let mut desk = desk(DeskConfig::default());
    assert_eq!(desk.handle_datagram(Micros::ZERO, address("127.0.0.1:9"), &bare), None);
    assert_eq!(told(&mut desk), [ToClient::Challenge(None)]);
    let mut desk =
        Desk::new(Micros::ZERO, DeskConfig { trusts_loopback: true, ..DeskConfig::default() }, &[5; 32])
            .unwrap();
    for elsewhere in [HOME, "[2001:db8::1]:9", "[::ffff:192.0.2.7]:9"] {
        assert_eq!(desk.handle_datagram(Micros::ZERO, address(elsewhere), &bare), None);
        assert_eq!(told(&mut desk), [ToClient::Challenge(None)]);
    }
    for here in ["127.0.0.1:9", "[::1]:9"] {
        let said = desk.handle_datagram(Micros::ZERO, address(here), &bare);
        let Some((client, Said::Joined)) = said else { panic!("{said:?}") };
        let again = desk.handle_datagram(Micros::ZERO, address(here), &bare);
        assert_eq!(again, Some((client, Said::Asked)));
        let input = desk.handle_datagram(Micros::ZERO, address(here), &[0x10, 1, 0, 0x19]);
        assert!(matches!(input, Some((_, Said::Input(input))) if input.bits() == 0x19));
    }
    assert!(sent(&mut desk).is_empty(), "what follows is the lobby's");
    assert_eq!(desk.client_count(), 2);
}

#[test]
fn another_version_is_told_so_once_the_address_is_proven() {
    let mut desk = desk(DeskConfig::default());
    let first = ToServer::Join(Some(Join { version: 9, ..Join::FIRST }));
    desk.handle_datagram(Micros::ZERO, address(HOME), &datagram(first, None));
    let [ToClient::Challenge(Some(cookie))] = told(&mut desk)[..] else { panic!("no challenge") };
    let proven = ToServer::Join(Some(Join { version: 9, cookie }));
    assert_eq!(desk.handle_datagram(Micros::ZERO, address(HOME), &datagram(proven, None)), None);
    let version = ErrorMessage { code: ErrorCode::Version, opcode: opcode::JOIN_LOBBY };
    assert_eq!(told(&mut desk), [ToClient::Error(version)]);
}

#[test]
fn a_ping_comes_back_with_its_number_and_an_empty_one_empty() {
    let mut desk = desk(DeskConfig::default());
    let (_, token) = join(&mut desk, Micros::ZERO, address(HOME));
    for nonce in [None, Some(0xdead_beef)] {
        desk.handle_datagram(Micros::ZERO, address(HOME), &datagram(ToServer::Ping(nonce), Some(token)));
        assert_eq!(told(&mut desk), [ToClient::Ping(nonce)]);
    }
}

#[test]
fn a_hundred_entities_go_in_two_datagrams_none_longer_than_1200_bytes() {
    let mut desk = desk(DeskConfig::default());
    let (client, _) = join(&mut desk, Micros::ZERO, address(HOME));
    let crowd: Vec<EntityPosition> =
        (0..100).map(|id| EntityPosition { id, ..EntityPosition::default() }).collect();
    desk.send_entities(client, &crowd);
    let datagrams = sent(&mut desk);
    assert_eq!(datagrams.iter().map(|(_, bytes)| bytes.len()).collect::<Vec<_>>(), [1_183, 931]);
    let ids = datagrams.iter().flat_map(|(_, bytes)| match FromServer::decode(bytes) {
        Ok(FromServer::Entities(entities)) => entities.iter().map(|entity| entity.id).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    });
    assert!(ids.eq(0..100));
}

#[test]
fn what_waits_to_be_sent_has_a_limit() {
    let mut desk = desk(DeskConfig::default());
    let (client, _) = join(&mut desk, Micros::ZERO, address(HOME));
    let crowd = [EntityPosition::default(); 56];
    for _ in 0..10_000 {
        desk.send_entities(client, &crowd);
    }
    let waiting = sent(&mut desk).len() as u64;
    assert!((800..1_000).contains(&waiting));
    assert_eq!(desk.counters().unsent, 10_000 - waiting);
}

#[test]
fn numbers_that_cannot_be_are_named() {
    let none = DeskConfig { clients_max: 0, ..DeskConfig::default() };
    assert_eq!(Desk::new(Micros::ZERO, none, &[0; 32]).err(), Some(DeskError::Clients(0)));
    let never = DeskConfig { inputs: RateRule { per_second: 0, burst: 1 }, ..DeskConfig::default() };
    assert!(matches!(Desk::new(Micros::ZERO, never, &[0; 32]).err(), Some(DeskError::Rate(_))));
}

//! Calls that are not made: too large, too often, not allowed, or nonsense of a hostile client.

use std::net::SocketAddr;

use netloom_proto::{Endpoint, Event, PeerId, Security, State};
use netloom_replica::codec::Codes;
use netloom_session::Server;
use netloom_session::channel::{CONTROL, ORDERED, UNRELIABLE, channels};
use netloom_session::client::{ClientError, ClientEvent};
use netloom_session::message::{CallRefusal, Hello, ToClient, ToServer};
use netloom_session::rpc::{ArgsError, CallError, CallFailed, ClientCall, Refusal, RpcId, Target};
use netloom_wire::MessageBuffer;

use super::*;

#[test]
fn a_call_that_cannot_be_is_an_error_where_it_is_made() {
    let (mut net, heard, [alice]) = party_of(["alice"]);
    let long = "x".repeat(16);
    let room = room(&mut net);
    let unknown = room.call(CallTarget::All, "nowhere", None, &()).unwrap_err();
    assert_eq!(unknown.to_string(), "no rpc named \"nowhere\" is registered here");
    let unknown = room.call(CallTarget::All, RpcId(999), None, &()).unwrap_err();
    assert_eq!(unknown, CallFailed::Call(CallError::UnknownName { name: "#999".into() }));
    let not_ours = room.call(CallTarget::All, "add", None, &(1, 2)).unwrap_err();
    assert!(not_ours.to_string().contains("may not make the call"), "{not_ours}");
    let too_large = room.call(CallTarget::All, "tiny", None, &(&long,)).unwrap_err();
    let refusal = Refusal::TooLarge { bytes: 18, bytes_max: 16 };
    assert_eq!(too_large, CallFailed::Call(CallError::Refused { name: "tiny".into(), refusal }));
    assert_eq!(room.call(CallTarget::All, "tiny", None, &1), Err(CallFailed::Args(ArgsError::NotAList)));
    let client = &mut net.clients[alice].client;
    assert!(matches!(client.call("nowhere", &()), Err(ClientError::Call(CallError::UnknownName { .. }))));
    assert!(matches!(client.call("sum", &()), Err(ClientError::Call(CallError::Refused { .. }))));
    assert!(matches!(client.call("tiny", &(&long,)), Err(ClientError::Call(CallError::Refused { .. }))));
    assert!(matches!(client.call("tiny", &1), Err(ClientError::Args(ArgsError::NotAList))));
    net.run(seconds(1));
    assert!(heard.lock().unwrap().is_empty());
}

#[test]
fn more_calls_than_a_tick_can_hold_are_an_error_and_the_others_arrive() {
    let (mut net, _, [alice]) = party_of(["alice"]);
    let in_room = room(&mut net);
    let made = (0..).take_while(|number| in_room.call(CallTarget::All, "ordered", None, &(number,)).is_ok());
    let made = made.count();
    assert!(matches!(
        in_room.call(CallTarget::All, "ordered", None, &()),
        Err(CallFailed::TooMany { calls }) if calls == made
    ));
    net.until("all of them", |net| called(net, alice, "ordered").count() == made);
    assert!(numbers(&net, alice, "ordered").is_sorted());
}

#[test]
fn the_game_refuses_in_its_own_words_and_so_do_wrong_arguments() {
    let (mut net, _, [alice]) = party_of(["alice"]);
    let client = &mut net.clients[alice].client;
    client.call("grumble", &()).unwrap();
    client.call("nothing", &()).unwrap();
    client.call("add", &("one", "two")).unwrap();
    net.run(seconds(1));
    let refused: Vec<(&str, CallRefusal, &str)> = net.clients[alice]
        .events
        .iter()
        .filter_map(|event| match event {
            ClientEvent::CallRefused { name, reason, text } => Some((&**name.as_ref()?, *reason, &**text)),
            _ => None,
        })
        .collect();
    let [grumble, nothing, add] = refused[..] else { panic!("{refused:?}") };
    assert_eq!(grumble, ("grumble", CallRefusal::ByGame, "not today"));
    assert_eq!(nothing, ("nothing", CallRefusal::Unhandled, "the game does not handle this call"));
    assert!(
        add.0 == "add" && add.1 == CallRefusal::BadArguments && add.2.contains("do not match"),
        "{add:?}"
    );
}

#[test]
fn too_many_calls_of_a_name_are_refused_and_the_next_second_is_another() {
    let (mut net, heard, [alice]) = party_of(["alice"]);
    for _ in 0..8 {
        net.clients[alice].client.call("often", &()).unwrap();
    }
    net.run(Micros::from_millis(150));
    let refused = |net: &Net| {
        let too_often = |event: &&ClientEvent| {
            matches!(event, ClientEvent::CallRefused { reason: CallRefusal::TooOften, .. })
        };
        net.clients[alice].events.iter().filter(too_often).count()
    };
    assert_eq!((heard.lock().unwrap().len(), refused(&net)), (5, 3));
    net.run(seconds(1));
    net.clients[alice].client.call("often", &()).unwrap();
    net.run(seconds(1));
    assert_eq!((heard.lock().unwrap().len(), refused(&net)), (6, 3));
    let one = player(&net, alice);
    let counters = room(&mut net).calls_of(one).unwrap();
    assert_eq!((counters.allowed, counters.too_often), (6, 3));
    assert_eq!(net.server.counters().nonsense, 0);
}

/// A client that sends what it likes.
struct Rogue {
    now: Micros,
    server: Server,
    endpoint: Endpoint,
    peer: PeerId,
    room: netloom_session::RoomId,
    heard: Heard,
    received: Vec<Vec<u8>>,
    is_connected: bool,
}

const SERVER: &str = "10.0.0.1:7777";
const ROGUE: &str = "10.0.0.2:4000";

impl Rogue {
    fn new() -> Rogue {
        let game = Party::default();
        let heard = game.heard.clone();
        let mut server = Server::new(ServerConfig::default(), protocol(), [1; 32]).unwrap();
        let room = server.add_room(Micros::ZERO, RoomConfig::new("main"), game).unwrap();
        let config = netloom_proto::Config {
            protocol_id: protocol().id(),
            schema_hash: protocol().schema_hash(),
            table_id: Codes::generic().id(),
            channels: channels(),
            security: Security::Optional,
            ..netloom_proto::Config::default()
        };
        let mut endpoint = Endpoint::new(config, None, [2; 32]).unwrap();
        let peer = endpoint.connect(Micros::ZERO, SERVER.parse().unwrap(), None).unwrap();
        let (now, received) = (Micros::ZERO, Vec::new());
        let mut rogue = Rogue { now, server, endpoint, peer, room, heard, received, is_connected: true };
        rogue.run(50);
        let hello = Hello { name: "rogue", calls_hash: protocol().rpcs().hash(), ..Hello::default() };
        rogue.send(CONTROL, &ToServer::Hello(hello));
        rogue.run(50);
        assert_eq!(rogue.server.player_count(), 1);
        rogue
    }

    fn run(&mut self, steps: usize) {
        let [server, rogue]: [SocketAddr; 2] = [SERVER, ROGUE].map(|address| address.parse().unwrap());
        for _ in 0..steps {
            self.now += Micros::from_millis(5);
            self.endpoint.begin_tick(self.now);
            while let Some((_, event)) = self.endpoint.poll_event() {
                match event {
                    Event::Message { data, .. } => self.received.push(data.to_vec()),
                    Event::Disconnected { .. } => self.is_connected = false,
                    _ => {}
                }
            }
            let mut out = [0; 1_200];
            while let Some(transmit) = self.endpoint.poll_transmit(self.now, &mut out) {
                self.server.handle_datagram(self.now, rogue, &mut out[..transmit.length]);
            }
            self.server.tick(self.now);
            while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
                self.endpoint.handle_datagram(self.now, server, &mut out[..transmit.length]);
            }
        }
    }

    fn send(&mut self, channel: u8, message: &ToServer<'_>) {
        let mut buffer = MessageBuffer::new(32 << 10);
        self.endpoint.send(self.peer, channel, message.write(&mut buffer)).unwrap();
    }

    fn call(&mut self, channel: u8, name: &str, target: Target, args: &[u8]) {
        let id = protocol().rpcs().id(name).unwrap_or(RpcId(999));
        let mut frame = MessageBuffer::new(32 << 10);
        ClientCall { id, target, object: None, tick: None, args }.write(&mut frame);
        self.send(channel, &ToServer::Call(frame.as_bytes()));
    }

    fn refusals(&self) -> Vec<CallRefusal> {
        let reason = |message: &Vec<u8>| match ToClient::read(message) {
            Ok(ToClient::CallRefused { reason, .. }) => Some(reason),
            _ => None,
        };
        self.received.iter().filter_map(reason).collect()
    }
}

#[test]
fn a_hostile_client_is_refused_whatever_an_honest_one_would_not_send() {
    let mut rogue = Rogue::new();
    let large = [&[0xc4, 30][..], &[0; 30]].concat();
    rogue.call(ORDERED, "no such name", Target::Server, &[0x90]);
    rogue.call(ORDERED, "sum", Target::Server, &[0x90]);
    rogue.call(ORDERED, "add", Target::All, &[0x90]);
    rogue.call(ORDERED, "tiny", Target::Server, &large);
    rogue.run(20);
    use CallRefusal::*;
    assert_eq!(rogue.refusals(), [Unknown, NotAllowed, NotForwarded, TooLarge]);
    assert_eq!(rogue.server.counters().nonsense, 4, "an honest client knows better");
    let counters = rogue.server.rooms().next().unwrap().counters();
    let by_reason = CallRefusal::ALL.iter().map(|reason| counters.refused_calls_by_reason[*reason as usize]);
    assert_eq!(by_reason.collect::<Vec<_>>(), [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
    // Not even answered.
    rogue.call(UNRELIABLE, "tiny", Target::Server, &[0x90]);
    rogue.call(CONTROL, "tiny", Target::Server, &[0x90]);
    rogue.call(ORDERED, "tiny", Target::Server, &[0x05]);
    rogue.call(ORDERED, "tiny", Target::Server, &[0xdd, 0xff, 0xff, 0xff, 0xff]);
    rogue.send(ORDERED, &ToServer::Call(&[1, 2]));
    rogue.run(20);
    assert_eq!((rogue.refusals().len(), rogue.server.counters().nonsense), (4, 9));
    assert!(rogue.heard.lock().unwrap().is_empty());
    rogue.call(ORDERED, "tiny", Target::Server, &[0x90]);
    rogue.run(20);
    assert_eq!(rogue.heard.lock().unwrap().len(), 1, "it can do better");
}

#[test]
fn a_flood_is_hardly_answered_and_ends_in_a_disconnect() {
    let mut rogue = Rogue::new();
    for _ in 0..40 {
        if rogue.endpoint.state(rogue.peer) != State::Connected {
            break;
        }
        for _ in 0..10 {
            rogue.call(ORDERED, "often", Target::Server, &[0x90]);
        }
        rogue.run(1);
    }
    rogue.run(200);
    assert!((5..=8).contains(&rogue.heard.lock().unwrap().len()));
    assert!((1..=16).contains(&rogue.refusals().len()), "{}", rogue.refusals().len());
    assert!(!rogue.is_connected);
    assert_eq!(rogue.server.room(rogue.room).unwrap().player_count(), 0);
}

#[test]
fn whoever_calls_a_little_too_often_is_refused_but_kept() {
    let mut rogue = Rogue::new();
    // Nine a second where five are allowed, for ten seconds.
    for _ in 0..90 {
        rogue.call(ORDERED, "often", Target::Server, &[0x90]);
        rogue.run(22);
    }
    assert!(rogue.is_connected);
    assert_eq!(rogue.server.counters().nonsense, 0);
    assert!(rogue.refusals().len() > 20);
}

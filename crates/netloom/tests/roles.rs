//! A server alone, a server with a player of its own, a game without a network, and a server that is found.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use netloom::ClientBuilder;
use netloom::discovery::{discover_at, room_code};
use netloom::prelude::*;

#[derive(Replicated, Clone, Default)]
struct Walker {
    #[replicated(position)]
    at: [f32; 3],
}

#[derive(Default)]
struct Stroll(BTreeMap<PlayerId, (ObjectIndex, Walker)>);

impl Game for Stroll {
    type Input = [u8; 1];

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        let object = room.spawn(&Walker::default(), Some(player)).unwrap();
        self.0.insert(player, (object, Walker::default()));
    }

    fn input(&mut self, room: &mut Room, player: PlayerId, did: &Command<[u8; 1]>) -> Result<(), Rejected> {
        let (object, walker) = self.0.get_mut(&player).ok_or(Rejected::new(1, "not here"))?;
        walker.at[0] += f32::from(did.input[0]) * 0.05;
        room.write(*object, walker).map_err(|_| Rejected::new(2, "gone"))
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        if let Some((object, _)) = self.0.remove(&player) {
            room.despawn(object).unwrap();
        }
    }
}

fn protocol() -> Protocol {
    Protocol::builder("stroll").object::<Walker>().build().unwrap()
}

/// Ticks both until something is so.
fn until(
    server: &mut Server,
    clients: &mut [Client<[u8; 1]>],
    mut is_so: impl FnMut(&[Client<[u8; 1]>]) -> bool,
) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so(clients) {
        assert!(Instant::now() < deadline, "it did not come to pass");
        server.tick().unwrap();
        for client in &mut *clients {
            client.tick().unwrap();
            while let Some(step) = client.poll_step() {
                client.push_input(step, [1]).unwrap();
            }
            client.send().unwrap();
        }
        server.wait(Micros::from_millis(2)).unwrap();
    }
}

fn walked(client: &Client<[u8; 1]>) -> f32 {
    client.all::<Walker>().map(|(_, walker)| walker.at[0]).fold(0.0, f32::max)
}

#[test]
fn a_game_without_a_network_is_a_server_and_a_player_in_one_process() {
    let builder = Server::builder(protocol()).room(RoomConfig::new("park"), Stroll::default());
    let (mut server, client) = builder.bind_with_player(ClientBuilder::default().name("me")).unwrap();
    assert!(server.local_addresses().is_empty(), "nobody else can come");
    until(&mut server, &mut [client], |clients| walked(&clients[0]) > 0.5);
}

#[test]
fn a_host_plays_in_the_server_that_others_connect_to() {
    let builder = Server::builder(protocol()).room(RoomConfig::new("park"), Stroll::default());
    let builder = builder.listen("127.0.0.1:0").listen("tcp://127.0.0.1:0").listen("ws://127.0.0.1:0");
    let (mut server, own) = builder.bind_with_player(ClientBuilder::default().name("host")).unwrap();
    let addresses: Vec<String> = server.local_addresses().iter().map(ToString::to_string).collect();
    let mut clients = vec![own];
    for address in &addresses {
        clients.push(Client::connect(protocol(), address).unwrap());
    }
    until(&mut server, &mut clients, |clients| {
        clients.iter().all(|client| walked(client) > 0.5 && client.others().count() == 3)
    });
    assert_eq!(server.session().player_count(), 4);
}

#[test]
fn a_server_that_wants_to_be_found_is_found_and_others_are_not() {
    let code = room_code().unwrap();
    let room = RoomConfig { code: code.clone(), ..RoomConfig::new("park") };
    let server = Server::builder(protocol()).room(room, Stroll::default()).listen("127.0.0.1:0");
    let server = server.discoverable_at("Anna's machine", "127.0.0.1:0".parse().unwrap()).bind().unwrap();
    let (at, address) = (server.discovery_address().unwrap(), server.local_addresses()[0].clone());
    let server = server.spawn().unwrap();
    let found = discover_at(&protocol(), &[at], Duration::from_millis(500)).unwrap();
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&found.address, found.name.as_str(), &found.code), (&address, "Anna's machine", &code));
    assert_eq!((found.players, found.seats, found.room.as_str()), (0, 16, "park"));
    let other = Protocol::builder("chess").build().unwrap();
    assert_eq!(discover_at(&other, &[at], Duration::from_millis(300)).unwrap(), []);
    server.stop("done").unwrap();
}

#[test]
fn a_server_that_listens_nowhere_and_a_port_in_use_say_what_to_do() {
    let builder = || Server::builder(protocol()).room(RoomConfig::new("park"), Stroll::default());
    let error = builder().bind().err().unwrap().to_string();
    assert!(error.contains(".listen("), "{error}");
    let first = builder().listen("127.0.0.1:0").bind().unwrap();
    let taken = first.local_addresses()[0].to_string();
    let error = builder().listen(&taken).bind().err().unwrap().to_string();
    assert!(error.contains("another program has this port"), "{error}");
    let error = builder().listen("127.0.0.1:port").bind().err().unwrap().to_string();
    assert!(error.contains("no valid port"), "{error}");
    let error = builder().room(RoomConfig::new("park"), Stroll::default()).listen("127.0.0.1:0").bind();
    assert!(error.err().unwrap().to_string().contains("park"), "two rooms of one name");
}

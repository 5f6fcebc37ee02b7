//! The game over transports and clocks that are real, in one process.

mod common;

use std::time::{Duration, Instant};

use common::levels;
use netloom::prelude::*;
use netloom::session::lobby::{LobbyCommand, Phase};
use netloom::transport::{MemoryConfig, MemoryNetwork, Transport};
use netloom_rtype::game::{Rtype, Setup};
use netloom_rtype::protocol::{Act, Ship, buttons, protocol};

const PATIENCE: Duration = Duration::from_secs(60);

/// A frame of every client; whether it is so within a minute.
fn until(clients: &mut [Client<Act>], what: &str, is_so: impl Fn(&Client<Act>) -> bool) {
    let began = Instant::now();
    while !clients.iter().all(&is_so) {
        assert!(began.elapsed() < PATIENCE, "it never came to this: {what}");
        for client in &mut *clients {
            client.tick().unwrap();
            while client.poll_event().is_some() {}
            while let Some(step) = client.poll_step() {
                client.push_input(step, Act { buttons: buttons::RIGHT }).unwrap();
            }
            client.send().unwrap();
        }
        clients[0].wait(Micros::from_millis(4)).unwrap();
    }
}

#[test]
fn two_clients_of_a_server_in_a_thread_are_ready_and_fly() {
    let game = Rtype::new(levels(), Setup { players_min: 2, ..Setup::default() }).unwrap();
    let mut room = RoomConfig::for_profile("field", Profile::Lobby4);
    game.furnish(&mut room);
    let memory = MemoryNetwork::new(MemoryConfig::default()).unwrap();
    let listening = memory.join().unwrap();
    let address = listening.local_address();
    let server =
        Server::builder(protocol()).room(room, game).transport(listening).bind().unwrap().spawn().unwrap();
    let mut clients = ["Ada", "Bob"].map(|name| {
        let builder = Client::<Act>::builder().name(name);
        builder.connect_over::<Act>(protocol(), memory.join().unwrap(), address).unwrap()
    });
    until(&mut clients, "both are in the lobby", |client| client.lobby_state().is_some());
    clients.iter_mut().for_each(|client| client.lobby(LobbyCommand::Ready(true)).unwrap());
    until(&mut clients, "both are in the game", |client| {
        client.lobby_state().is_some_and(|lobby| lobby.phase == Phase::Playing)
    });
    until(&mut clients, "both ships fly", |client| {
        let ships: Vec<Ship> = client.all::<Ship>().map(|(_, ship)| ship).collect();
        ships.len() == 2 && ships.iter().all(|ship| ship.at[0] > 3.0)
    });
    server.stop("enough").unwrap();
}

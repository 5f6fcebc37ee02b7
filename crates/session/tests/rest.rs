//! What clients show of a world that comes to rest while datagrams are lost.

mod common;

use common::{Cube, Keys, Net, protocol};
use netloom_replica::world::ObjectIndex;
use netloom_session::config::{ClientConfig, RoomConfig, ServerConfig};
use netloom_session::{Command, Game, GameError, PlayerId, Rejected, Room};
use netloom_wire::{Alias, Micros};

const OBJECTS: usize = 60;
const CLIENTS: usize = 8;
/// Steps in which everything moves, and in which everything rests.
const MOVING: u64 = 60;
const RESTING: u64 = 90;

/// Everything moves for a second, and rests for one and a half.
#[derive(Default)]
struct StopAndGo {
    cubes: Vec<ObjectIndex>,
}

fn place(number: usize, step: u64) -> [f32; 3] {
    let angle = step as f32 * 0.07 + number as f32;
    [number as f32 + angle.sin() * 3.0, angle.cos() * 3.0, angle.sin()]
}

impl Game for StopAndGo {
    type Input = Keys;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        for number in 0..OBJECTS {
            self.cubes.push(room.spawn(&Cube { at: place(number, 0) }, None)?);
        }
        Ok(())
    }

    fn join(&mut self, _: &mut Room, _: PlayerId) {}

    fn input(&mut self, _: &mut Room, _: PlayerId, _: &Command<Keys>) -> Result<(), Rejected> {
        Ok(())
    }

    fn step(&mut self, room: &mut Room) {
        if room.steps() % (MOVING + RESTING) < MOVING {
            for (number, cube) in self.cubes.iter().enumerate() {
                room.write(*cube, &Cube { at: place(number, room.steps()) }).unwrap();
            }
        }
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}

/// Clients that show anything else than the server has.
fn wrong(net: &Net) -> usize {
    let world = net.server.room(net.room).unwrap().world();
    let differs = |client: usize| {
        let objects = net.clients[client].client.objects().unwrap();
        (0..OBJECTS).any(|number| {
            let alias = Alias { slot: number as u16, generation: 0 };
            objects.object(alias).is_none_or(|object| object.words() != world.at(number).unwrap().words())
        })
    };
    (0..net.clients.len()).filter(|client| differs(*client)).count()
}

fn is_resting(net: &mut Net) -> bool {
    net.server.room(net.room).unwrap().steps() % (MOVING + RESTING) >= MOVING
}

#[test]
fn what_rests_is_shown_where_it_rests_within_a_second() {
    let mut net =
        Net::play(ServerConfig::default(), RoomConfig::new("main"), protocol(), StopAndGo::default());
    net.latency = Micros::from_millis(50);
    for number in 0..CLIENTS {
        let config =
            ClientConfig { name: format!("{number}"), is_spectator: true, ..ClientConfig::default() };
        let client = net.join_with(config);
        net.welcome(client);
    }
    net.run(Micros::from_secs(3));
    net.loss = 0.02;
    let mut late = 0;
    for _ in 0..100 {
        net.until("motion", |net| !is_resting(net));
        net.until("rest", is_resting);
        let deadline = net.now + Micros::from_secs(1);
        while wrong(&net) > 0 && net.now < deadline {
            net.step();
        }
        late += usize::from(wrong(&net) > 0);
    }
    // One of six rests begins with a loss. Only if what tells of that, or what makes it good, is lost as well, it takes longer.
    assert!(late <= 2, "{late} of 100 times");
}

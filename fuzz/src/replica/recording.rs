//! What a real server said to a real client in sixty ticks, for targets that need a client in the middle of a game.

use std::sync::LazyLock;

use netloom_replica::ClassId;
use netloom_replica::client::ReplicaClient;
use netloom_replica::property::PROPERTY_MESSAGE_BYTES_MAX;
use netloom_replica::server::{Heartbeat, PeerConfig, ReplicaServer, ServerConfig};
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{ArrayWriter, ElementKind, Value};
use netloom_wire::{ObjectId, Profile};

use super::classes::ID;
use super::{CLASSES, board, classes, codes, ship, table};

const TICKS: u32 = 60;

/// Acknowledgements take so many ticks.
const ROUND_TICKS: usize = 3;

/// Snapshots and messages of the property channel, in the order in which they were sent.
pub struct Recording {
    pub snapshots: Vec<Vec<u8>>,
    pub properties: Vec<Vec<u8>>,
}

/// The recording; always the same.
pub static RECORDING: LazyLock<Recording> = LazyLock::new(record);

/// A client that was told nothing yet.
pub fn fresh_client() -> ReplicaClient {
    ReplicaClient::new(table().clone(), codes().clone())
}

fn record() -> Recording {
    let world = World::new(classes(), WorldConfig::default()).expect("a small world");
    let config = ServerConfig {
        heartbeat: Heartbeat::Digest { ticks: 4 },
        baseline_ticks: 2,
        ..ServerConfig::default()
    };
    let mut server = ReplicaServer::new(world, codes().clone(), config).expect("a valid configuration");
    let peer = server.add_peer(PeerConfig::new(OwnerId(0)));
    let mut objects: Vec<ObjectIndex> = (0..8).map(|id| spawn(&mut server, id)).collect();
    let mut recording = Recording { snapshots: Vec::new(), properties: Vec::new() };
    let mut out = vec![0; PROPERTY_MESSAGE_BYTES_MAX];
    let mut in_flight = Vec::new();
    for tick in 0..TICKS {
        play(&mut server, &mut objects, tick);
        server.begin_tick().expect("ticks go forward");
        server.select(peer, 900);
        let mut sent = Vec::new();
        while let Some(length) = server.poll_snapshot(peer, recording.snapshots.len() as u64, &mut out[..700])
        {
            sent.push(recording.snapshots.len() as u64);
            recording.snapshots.push(out[..length].to_vec());
        }
        in_flight.push(sent);
        while let Some(length) = server.poll_property(peer, &mut out) {
            recording.properties.push(out[..length].to_vec());
        }
        if in_flight.len() > ROUND_TICKS {
            in_flight.remove(0).into_iter().for_each(|sequence| server.handle_outcome(peer, sequence, true));
        }
    }
    recording
}

fn spawn(server: &mut ReplicaServer, id: u64) -> ObjectIndex {
    let class = ClassId((id % CLASSES as u64) as u8);
    let owner = Some(OwnerId((id / 4) as u32 % 2));
    let world = server.world_mut();
    let index = world.spawn(Spawn { owner, ..Spawn::new(ObjectId(id), class) }).expect("a new id");
    set_id(world, index, id);
    index
}

/// Writes an object's id where clients find it.
pub fn set_id(world: &mut World, index: ObjectIndex, id: u64) {
    let field = world.object(index).and_then(|object| object.class().schema().index_of(ID));
    let field = field.expect("every class has it");
    world.set(index, field, Value::U64(id)).expect("a number");
}

/// Things that fly, turn, jump, are attached, told anew, and come and go.
fn play(server: &mut ReplicaServer, objects: &mut [ObjectIndex], tick: u32) {
    let time = f64::from(tick);
    if tick % 16 == 15 {
        let place = tick as usize / 16;
        server.world_mut().despawn(objects[place]).expect("it is there");
        objects[place] = spawn(server, 100 + place as u64);
    }
    let world = server.world_mut();
    for (place, &index) in objects.iter().enumerate() {
        let class = world.object(index).expect("it is there").class_id().0;
        let away = place as f64 * 10.0;
        if class < 2 && tick < 50 {
            let position = [away + time * 0.3, (time * 0.2).sin() * 4.0, away * time * 0.01];
            world.set_position(index, position).expect("it has a position");
        }
        if class.is_multiple_of(3) && tick < 50 {
            let half = (0.02 * time * (1.0 + away)) as f32;
            world.set_rotation(index, [0.0, half.sin(), 0.0, half.cos()]).expect("it has a rotation");
        }
        if class == 0 && tick % 9 == 4 {
            write_ship(world, index, tick);
        }
        if class == 2 && tick % 5 == 1 {
            write_board(world, index, tick);
        }
    }
    match tick {
        20 => world.set_profile(objects[0], Profile::High).expect("it is there"),
        24 => world.attach(objects[1], Some(objects[4])).expect("no circle"),
        28 => world.teleport(objects[4]).expect("it is there"),
        32 => {
            let origin = Default::default();
            let origin = netloom_wire::SectorOrigin::moved_to(&origin, [500.0, 0.0, -20.0]);
            world.rebase(objects[4], origin.expect("near")).expect("the next version");
        }
        36 => world.attach(objects[1], None).expect("it is there"),
        40 => world.set_owner(objects[4], Some(OwnerId(0))).expect("it is there"),
        44 => world.set_profile(objects[5], Profile::None).expect("it is there"),
        _ => {}
    }
}

fn write_ship(world: &mut World, index: ObjectIndex, tick: u32) {
    let mut buffer = [0; 64];
    let mut cells = ArrayWriter::new(ElementKind::int(0, 6).expect("a range"), 40, &mut buffer);
    cells.extend((0..tick as i32 % 40).map(|cell| Value::Word(cell % 7)));
    let cells = Value::Array(cells.finish().expect("room"));
    let name = format!("ship {tick}");
    let health = Value::Word(100 - tick as i32);
    let values =
        [(ship::HEALTH, health), (ship::AMMO, Value::Word(tick as i32 * 1_000_000)), (ship::CELLS, cells)];
    for (field, value) in values.into_iter().chain([(ship::NAME, Value::Text(&name))]) {
        world.set(index, field, value).expect("a value of its field");
    }
    world.set_velocity(index, [0.3, tick as f32, 0.0]).expect("it has a velocity");
    world.set_scale(index, [1.0, 2.0, tick as f32]).expect("it has a scale");
}

fn write_board(world: &mut World, index: ObjectIndex, tick: u32) {
    let mut buffer = [0; 2_000];
    let mut orders = ArrayWriter::new(ElementKind::U64, 200, &mut buffer);
    orders.extend((0..u64::from(tick) % 6).map(Value::U64));
    let orders = Value::Array(orders.finish().expect("room"));
    let line = format!("line {tick}");
    for (field, value) in [(board::SAID, Value::Text(&line)), (board::ORDERS, orders)] {
        world.set(index, field, value).expect("a value of its field");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::witness::Witness;
    use netloom_replica::snapshot::{Flags, read_header};

    #[test]
    fn a_client_reads_the_recording_to_its_end_and_it_has_every_part() {
        let (mut client, mut witness) = (fresh_client(), Witness::default());
        let mut flags = 0;
        for snapshot in &RECORDING.snapshots {
            flags |= read_header(snapshot).unwrap().0.flags.0;
            client.handle_snapshot(snapshot).unwrap();
            witness.check(&mut client);
            assert_eq!(client.poll_mismatch(), None);
        }
        assert_eq!(
            Flags(flags),
            Flags(63),
            "every part of a snapshot but feedback, which its server does not give"
        );
        assert_eq!(client.len(), 8);
        assert!(RECORDING.properties.len() > 10);
    }
}

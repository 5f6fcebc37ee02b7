//! A recording of a small game, records of every kind, and what is almost a file of cubes.

use netloom_replica::ClassId;
use netloom_replica::world::{OwnerId, Spawn, World, WorldConfig};
use netloom_scene::Recorder;
use netloom_wire::{ObjectId, Tick};

use super::{Seed, seed};
use crate::replica::classes;
use crate::scene::file_of;

pub(super) fn seeds() -> Vec<Seed> {
    let records = records();
    vec![
        seed("scene_file", "game", &[&[0], &game()]),
        seed("scene_file", "stored", &[&[0], &file_of(&records)]),
        seed("scene_file", "records", &[&[1], &records]),
        seed("scene_file", "cubes", &[&[2], &[0; 64]]),
        seed("scene_file", "packed_cubes", &[&[2], b"\xFD7zXZ\0\0\x04"]),
    ]
}

/// Two objects that come, move, jump, are held and go.
fn game() -> Vec<u8> {
    let mut world = World::new(classes::classes(), WorldConfig::default()).expect("a world");
    let [ship, crate_of] = [(1, 0), (2, 1)]
        .map(|(id, class)| world.spawn(Spawn::new(ObjectId(id), ClassId(class))).expect("room"));
    let mut file = Vec::new();
    let mut recorder = Recorder::new(&mut file, "game", 20, &classes::classes()).expect("a header");
    for tick in 1..=8u32 {
        world.set_position(ship, [f64::from(tick), 2.0, -3.0]).expect("a ship has a position");
        world.set_position(crate_of, [0.0, f64::from(tick), 0.0]).expect("so has a crate");
        match tick {
            3 => world.teleport(ship).expect("here"),
            4 => world.attach(crate_of, Some(ship)).expect("no circle"),
            5 => world.set_owner(ship, Some(OwnerId(7))).expect("here"),
            6 => world.despawn(ship).expect("here"),
            _ => {}
        }
        world.commit(Tick(tick)).expect("ticks go forward");
        recorder.tick(&world).expect("memory");
        if tick == 6 {
            break;
        }
    }
    drop(recorder);
    file
}

/// By hand, as the format says: two boards, tied together, tuned, touched and gone.
fn records() -> Vec<u8> {
    let single = f32::to_le_bytes;
    let origin: Vec<u8> = [[256.0, 0.0, -512.0].map(f64::to_le_bytes).concat(), vec![1]].concat();
    let spawn = |slot: u8, id: u8| {
        let settings = [single(1.0), single(f32::INFINITY), single(1.0)].concat();
        [&[1, slot, id, 2, 0, 0][..], &settings].concat()
    };
    [
        spawn(0, 9),
        spawn(2, 8),
        // The second, in the first's place counted back: a parent, an owner and a team, its tuning, a jump, a touch.
        vec![3, 0, 1],
        vec![5, 0, 3, 5, 6, 0],
        [&[6, 0][..], &single(2.0), &single(30.0)].concat(),
        vec![7, 0, 8, 0],
        // Another origin, and one of its contents.
        [&[4, 0, 0][..], &origin].concat(),
        [&[10, 0, 0, 2][..], b"hi"].concat(),
        vec![0],
        vec![2, 1, 0],
    ]
    .concat()
}

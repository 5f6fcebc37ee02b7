//! However many workers share a tick, the snapshots are the same.

use netloom_replica::class::{Class, ClassId};
use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};

const OBJECTS: u64 = 150;
const PEERS: u32 = 11;

fn server() -> ReplicaServer {
    let public = SyncFlags::PUBLIC_SYNC;
    let schema = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("name", FieldKind::Text { bytes_max: 40 }, public, 1)
        .build()
        .unwrap();
    let mut world = World::new(vec![Class::new(schema).unwrap()], WorldConfig::default()).unwrap();
    for id in 0..OBJECTS {
        let mut spawn = Spawn::new(ObjectId(id), ClassId(0));
        spawn.owner = Some(OwnerId(id as u32 % PEERS));
        world.spawn(spawn).unwrap();
    }
    let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
    for owner in 0..PEERS {
        server.add_peer(PeerConfig::new(OwnerId(owner)));
    }
    server
}

/// The snapshots of some ticks, of which each peer hears after a time of its own.
fn snapshots(jobs: usize) -> Vec<(ReplicaPeer, Vec<u8>)> {
    let mut server = server();
    let (mut all, mut waiting) = (Vec::new(), Vec::new());
    for tick in 1..=40u32 {
        for id in 0..OBJECTS {
            let index = server.world().find(ObjectId(id)).unwrap();
            let place = f64::from(tick) * 0.1 * (1.0 + id as f64 / 20.0);
            server.world_mut().set_position(index, [place, -place, 1.0]).unwrap();
            if (id + u64::from(tick)).is_multiple_of(16) {
                let name = format!("{tick} is more than what fits into one word");
                server.world_mut().set(index, 1, Value::Text(&name)).unwrap();
            }
        }
        server.begin_tick().unwrap();
        std::thread::scope(|threads| {
            for mut job in server.select_jobs(jobs) {
                threads.spawn(move || job.peers().for_each(|peer| job.select(peer, 2_000)));
            }
        });
        std::thread::scope(|threads| {
            for job in server.encode_jobs(jobs) {
                threads.spawn(move || job.run());
            }
        });
        let mut sent = std::thread::scope(|threads| {
            let jobs = server.append_jobs(jobs).map(|mut job| {
                threads.spawn(move || {
                    let (mut sent, mut out) = (Vec::new(), [0; 900]);
                    for peer in job.peers() {
                        let mut sequence = u64::from(tick) * 10;
                        while let Some(length) = job.poll_snapshot(peer, sequence, &mut out) {
                            sent.push((peer, sequence, out[..length].to_vec()));
                            sequence += 1;
                        }
                    }
                    sent
                })
            });
            let jobs: Vec<_> = jobs.collect();
            jobs.into_iter().flat_map(|job| job.join().unwrap()).collect::<Vec<_>>()
        });
        for (number, (peer, sequence, bytes)) in sent.drain(..).enumerate() {
            waiting.push((tick + 1 + number as u32 % 5, peer, sequence));
            all.push((peer, bytes));
        }
        waiting.retain(|&(at, peer, sequence)| {
            if at <= tick {
                server.handle_outcome(peer, sequence, !sequence.is_multiple_of(7));
            }
            at > tick
        });
    }
    all
}

#[test]
fn workers_change_nothing_but_the_time_it_takes() {
    let one = snapshots(1);
    assert!(one.len() > 400);
    for jobs in [2, 3, 64] {
        assert!(snapshots(jobs) == one, "{jobs} jobs");
    }
}

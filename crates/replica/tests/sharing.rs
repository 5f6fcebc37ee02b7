//! What a peer is told depends on what became of its own snapshots, never on who else is told the same.

use netloom_replica::class::{Class, ClassId};
use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};
use proptest::prelude::*;

const OBJECTS: u64 = 100;
const TICKS: u32 = 24;
const SNAPSHOT_BYTES_MAX: usize = 1_150;

/// Whether the snapshots of each tick arrive; news of that comes two ticks later.
type Fate = [bool; TICKS as usize];

const ALL_ARRIVE: Fate = [true; TICKS as usize];

fn server(profile: Profile) -> ReplicaServer {
    let public = SyncFlags::PUBLIC_SYNC;
    let schema = Schema::builder("walker")
        .field("position", FieldKind::Position(profile), public, 255)
        .field("rotation", FieldKind::Rotation(profile), public, 255)
        .field("name", FieldKind::Text { bytes_max: 40 }, public, 1)
        .build()
        .unwrap();
    let mut world = World::new(vec![Class::new(schema).unwrap()], WorldConfig::default()).unwrap();
    for id in 0..OBJECTS {
        world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap();
    }
    ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap()
}

/// Most walk, every fifth stands still now and then, and some have names that make their codes long.
fn move_on(world: &mut World, tick: u32) {
    for id in 0..OBJECTS {
        let index = world.find(ObjectId(id)).unwrap();
        if id.is_multiple_of(5) && tick.is_multiple_of(3) {
            continue;
        }
        let place = f64::from(tick) * (0.05 + id as f64 / 300.0);
        world.set_position(index, [place, id as f64, -place]).unwrap();
        let (sine, cosine) = (0.3 * place + id as f64).sin_cos();
        world.set_rotation(index, [0.6 * sine as f32, 0.0, 0.8 * sine as f32, cosine as f32]).unwrap();
        if id % 32 == 7 {
            let name = format!("{tick} is more than what fits into one word");
            world.set(index, 2, Value::Text(&name)).unwrap();
        }
    }
}

/// What each of some peers is told.
fn told(profile: Profile, fates: &[Fate]) -> Vec<Vec<Vec<u8>>> {
    let mut server = server(profile);
    let owners = (0..).map(OwnerId);
    let peers: Vec<ReplicaPeer> =
        owners.take(fates.len()).map(|owner| server.add_peer(PeerConfig::new(owner))).collect();
    let mut told = vec![Vec::new(); fates.len()];
    let mut on_their_way: Vec<(u32, usize, u64)> = Vec::new();
    for tick in 1..=TICKS {
        on_their_way.retain(|&(sent, peer, number)| {
            if sent + 2 <= tick {
                server.handle_outcome(peers[peer], number, fates[peer][sent as usize - 1]);
            }
            sent + 2 > tick
        });
        move_on(server.world_mut(), tick);
        server.begin_tick().unwrap();
        peers.iter().for_each(|&peer| server.select(peer, 3 * SNAPSHOT_BYTES_MAX));
        for (at, &peer) in peers.iter().enumerate() {
            let mut out = [0; SNAPSHOT_BYTES_MAX];
            for number in u64::from(tick) * 10.. {
                let Some(length) = server.poll_snapshot(peer, number, &mut out) else { break };
                told[at].push(out[..length].to_vec());
                on_their_way.push((tick, at, number));
            }
        }
    }
    told
}

#[test]
fn peers_with_the_same_fate_are_told_the_same_bytes() {
    for (profile, datagrams_min) in [(Profile::Standard, TICKS), (Profile::None, TICKS + TICKS / 2)] {
        let told = told(profile, &[ALL_ARRIVE; 5]);
        assert!(told[0].len() >= datagrams_min as usize, "{profile:?}: {}", told[0].len());
        assert!(told.iter().all(|other| *other == told[0]), "{profile:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However many of them are alike for how long.
    #[test]
    fn in_company_a_peer_is_told_what_it_would_be_told_alone(
        losses in prop::collection::vec((0..4usize, 0..TICKS as usize), 0..8), is_exact in any::<bool>(),
    ) {
        let mut fates = [ALL_ARRIVE; 6];
        losses.iter().for_each(|&(peer, tick)| fates[peer][tick] = false);
        let profile = if is_exact { Profile::None } else { Profile::Standard };
        for (told, fate) in told(profile, &fates).into_iter().zip(fates) {
            prop_assert_eq!(&told, &self::told(profile, &[fate])[0]);
        }
    }
}

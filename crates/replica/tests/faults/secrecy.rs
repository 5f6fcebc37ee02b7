//! What a client may not know.

use netloom_replica::server::interest::{GridConfig, Policy, VisibleTo};
use netloom_replica::server::{PeerConfig, ServerConfig};
use netloom_replica::world::{ObjectIndex, OwnerId};

use crate::stage::{Noise, PLENTY, Sent, Stage, walker};

fn grid() -> Policy {
    Policy::Grid(GridConfig { radius_metres: 120.0, ..GridConfig::default() })
}

/// What one peer is sent in 60 ticks of a world in which, between what it sees, others come and go that it may not.
fn snapshots(policy: Policy, hidden: usize) -> Vec<Sent> {
    let mut stage = Stage::new(walker(), ServerConfig { policy, ..ServerConfig::default() });
    stage.join(PeerConfig::new(OwnerId(0)));
    let (mut seen, mut unseen): (Vec<ObjectIndex>, Vec<ObjectIndex>) = (Vec::new(), Vec::new());
    let (mut noise, mut secret) = (Noise(1), Noise(2));
    let mut all = Vec::new();
    for tick in 0..60 {
        if tick % 4 == 0 {
            for _ in 0..hidden {
                let index = stage.spawn_as(|spawn| spawn.relevance_radius = 0.0);
                stage.server.set_visible_to(index, VisibleTo::Team(9));
                unseen.push(index);
            }
            seen.push(stage.spawn_as(|spawn| spawn.relevance_radius = 0.0));
        }
        for index in &seen {
            stage.place(*index, [0; 3].map(|_| noise.within(50.0)));
        }
        for index in &unseen {
            stage.place(*index, [0; 3].map(|_| secret.within(50.0)));
        }
        if tick % 7 == 6 && !unseen.is_empty() {
            let gone = unseen.swap_remove(secret.next() as usize % unseen.len());
            stage.server.world_mut().despawn(gone).unwrap();
        }
        stage.server.begin_tick().unwrap();
        let sent = stage.send(0, PLENTY);
        stage.deliver(0, &sent);
        all.extend(sent);
    }
    assert_eq!(stage.remotes[0].client.len(), seen.len());
    all
}

/// X-C18: with slots of the world on the wire, gaps count what is hidden.
#[test]
fn slots_of_the_world_tell_how_much_is_hidden_and_ours_give_every_byte_the_same() {
    let world_slots = |hidden: u16| (0..5).map(|seen| seen * (hidden + 1)).collect::<Vec<u16>>();
    assert_ne!(world_slots(0), world_slots(3), "one look at the ids, and three are hidden between each two");

    assert_eq!(snapshots(grid(), 0), snapshots(grid(), 3));
}

/// B-IV.1.5, X-C18: everything to everyone against what is near.
#[test]
fn sending_everything_costs_ten_times_what_interest_does() {
    assert_eq!(GridConfig::default().cell_metres, 50.0);
    let bytes = |policy: Policy| {
        let mut stage = Stage::new(walker(), ServerConfig { policy, ..ServerConfig::default() });
        stage.join(PeerConfig::new(OwnerId(0)));
        let mut noise = Noise(4);
        let walkers: Vec<(ObjectIndex, [f64; 3])> = (0..1_000)
            .map(|_| {
                let place = [noise.within(1_000.0), noise.within(1_000.0), 0.0];
                (stage.spawn_as(|spawn| spawn.relevance_radius = 0.0), place)
            })
            .collect();
        (0..60).fold(0, |all, _| {
            for (index, place) in &walkers {
                let step = [0; 3].map(|_| noise.within(0.1));
                stage.place(*index, [place[0] + step[0], place[1] + step[1], step[2]]);
            }
            all + stage.tick(PLENTY)[0]
        })
    };
    let (everything, near) = (bytes(Policy::Everyone), bytes(grid()));
    assert!(near * 10 <= everything, "{near} of {everything} bytes");
    assert!(near > 0);
}

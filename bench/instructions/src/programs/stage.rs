//! A replication server with 16 peers who see the same 200 walkers, and one phase of its tick that counts.

use std::collections::VecDeque;

use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::OwnerId;
use netloom_scene::Source;
use netloom_scene::generate::walk::WalkScene;

use super::counted;

const SEED: u64 = 5;
const PEERS: u32 = 16;
/// Until everything has entered and every peer has its baselines.
const WARM_UP_TICKS: usize = 40;
const TICKS: usize = 20;
/// How many ticks after a snapshot its acknowledgement comes, by peer.
const ACK_TICKS: [usize; 4] = [1, 2, 3, 4];
const BUDGET_BYTES: usize = 16 * 1024;
const SNAPSHOT_BYTES_MAX: usize = 1_150;

/// A part of the tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Select,
    Encode,
    Append,
    Decode,
}

struct Stage {
    source: WalkScene,
    server: ReplicaServer,
    peers: Vec<(ReplicaPeer, u64)>,
    /// By tick from now on: what the server will hear.
    acks: VecDeque<Vec<(ReplicaPeer, u64)>>,
    /// Of the first peer.
    client: ReplicaClient,
    out: Vec<u8>,
    /// What the first peer was sent in the newest tick.
    received: Vec<Vec<u8>>,
}

impl Stage {
    fn new(source: WalkScene) -> Stage {
        let world = source.world().expect("a world for the walkers");
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default())
            .expect("the defaults are good");
        let peers = (0..PEERS).map(|owner| (server.add_peer(PeerConfig::new(OwnerId(owner))), 0)).collect();
        let client = ReplicaClient::new(server.world().classes().clone(), Codes::generic());
        Stage {
            source,
            server,
            peers,
            acks: VecDeque::from(vec![Vec::new(); ACK_TICKS.len() + 1]),
            client,
            out: vec![0; SNAPSHOT_BYTES_MAX],
            received: Vec::new(),
        }
    }

    /// A tick of which one phase may count.
    fn tick(&mut self, phase: Option<Phase>) {
        self.source.play(self.server.world_mut()).expect("walkers that fit the world");
        for (peer, sequence) in self.acks.pop_front().unwrap_or_default() {
            self.server.handle_outcome(peer, sequence, true);
        }
        self.acks.push_back(Vec::new());
        self.server.begin_tick().expect("ticks in order");
        let counts = |this: Phase, work: &mut dyn FnMut()| match phase == Some(this) {
            true => counted(work),
            false => work(),
        };
        let Stage { server, peers, acks, client, out, received, .. } = self;
        counts(Phase::Select, &mut || {
            peers.iter().for_each(|&(peer, _)| server.select(peer, BUDGET_BYTES));
        });
        counts(Phase::Encode, &mut || server.encode());
        received.clear();
        for (number, (peer, sequence)) in peers.iter_mut().enumerate() {
            loop {
                let mut length = None;
                counts(Phase::Append, &mut || length = server.poll_snapshot(*peer, *sequence, out));
                let Some(length) = length else { break };
                acks[ACK_TICKS[number % ACK_TICKS.len()] - 1].push((*peer, *sequence));
                *sequence += 1;
                if number == 0 {
                    received.push(out[..length].to_vec());
                }
            }
        }
        for snapshot in received.iter() {
            counts(Phase::Decode, &mut || {
                client.handle_snapshot(snapshot).expect("what the server wrote can be read");
            });
            while client.poll_event().is_some() {}
        }
    }
}

fn run(source: WalkScene, phase: Phase) {
    let mut stage = Stage::new(source);
    (0..WARM_UP_TICKS).for_each(|_| stage.tick(None));
    (0..TICKS).for_each(|_| stage.tick(Some(phase)));
    assert_eq!(stage.client.len(), stage.server.world().iter().count(), "the client has everything");
}

pub fn select() {
    run(WalkScene::new(SEED), Phase::Select);
}

pub fn encode() {
    run(WalkScene::new(SEED), Phase::Encode);
}

pub fn append() {
    run(WalkScene::new(SEED), Phase::Append);
}

pub fn decode() {
    run(WalkScene::new(SEED), Phase::Decode);
}

pub fn encode_exact() {
    run(WalkScene::exact(SEED), Phase::Encode);
}

pub fn append_exact() {
    run(WalkScene::exact(SEED), Phase::Append);
}

pub fn decode_exact() {
    run(WalkScene::exact(SEED), Phase::Decode);
}

//! One server, its peers, and the network between them: what every figure of the suite is measured on.
//!
//! The game runs at 60 Hz and the server sends at 20 Hz, so a tick here is three steps of the walk and one round of
//! replication. What a driver of the server does is timed, in parts; what the game, the network and the clients do is
//! not:
//!
//! ```text
//!   untimed      timed                                                                       untimed
//!   game writes │ viewers │ acks │ begin_tick │ select × peers │ encode │ append × peers │ losses, acks to come, the log
//!                                  commit and
//!                                  interest
//! ```
//!
//! Clients do not decode between ticks: their states would push the server's out of the processor's cache, which no
//! network of machines does. What arrives is logged, and [`Stage::verdict`] lets clients decode it all in the end.
//!
//! A snapshot that arrives is acknowledged a fixed number of ticks after it was sent, by [`Delay`]; one that is lost is
//! reported [`LOSS_NOTICED_TICKS`] later than that.

use super::sheaf::{Sent, Sheaf, share_out};
use super::tally::Traffic;
use super::times::{Laps, Phase, Samples};
use super::witness::{Truth, Witness};
use crate::error::BenchError;
use netloom_count::allocations;
use netloom_crew::Crew;
use netloom_replica::ClassId;
use netloom_replica::codec::Codes;
use netloom_replica::server::interest::Policy;
use netloom_replica::server::{Heartbeat, PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_scene::generate::sector;
use netloom_scene::generate::walk::{self, STEPS_PER_TICK, Walk};
use netloom_wire::quantize::OriginVersion;
use netloom_wire::{ObjectId, Profile, SectorOrigin};

const TICK_MS: usize = 50;

/// Bytes per peer and tick that no workload here needs in its steady state, and a join spread over a few ticks.
pub const AMPLE_BYTES: usize = 16 * 1024;

/// Ticks until everything has entered and every peer has the baselines that its delay allows.
pub const WARM_UP_TICKS: usize = 100;

/// Ticks of rest until dwell times, repeated entries and the last acknowledgements are over.
const CALM_TICKS: usize = 48;

/// A sender calls a packet lost when those after it are acknowledged and it is not.
const LOSS_NOTICED_TICKS: usize = 3;

/// Ticks that an outcome can lie ahead: above the longest delay and the notice of a loss.
const OUTCOMES_AHEAD: usize = 16;

/// How many ticks after a snapshot its acknowledgement comes.
#[derive(Clone, Copy, Debug)]
pub enum Delay {
    /// The same for all.
    Ticks(usize),
    /// 1 to 4, in turn.
    OneToFour,
    /// Round trips of 20 to 250 ms, mixed, rounded up to ticks: 1 to 5.
    RoundTrips,
}

impl Delay {
    fn ticks(self, peer: usize) -> usize {
        match self {
            Delay::Ticks(ticks) => ticks,
            Delay::OneToFour => 1 + peer % 4,
            // 97 and 231 have no common divisor: every millisecond of the range comes once in 231 peers.
            Delay::RoundTrips => (20 + peer * 97 % 231).div_ceil(TICK_MS),
        }
    }
}

/// What is on the stage.
#[derive(Clone, Debug)]
pub struct Setup {
    /// For errors.
    pub workload: &'static str,
    /// How many objects there are.
    pub objects: usize,
    /// Of them, the first ones, that move at every step.
    pub moving: usize,
    /// Half the edge of the square that they start in.
    pub extent_metres: f32,
    /// How they are quantized.
    pub profile: Profile,
    /// How many look. Where not everyone sees everything, each has a walker of its own and looks from it.
    pub peers: usize,
    /// Who sees what.
    pub policy: Policy,
    /// See [`ServerConfig`].
    pub baseline_ticks: u32,
    /// See [`ServerConfig`].
    pub heartbeat: Heartbeat,
    /// When acknowledgements come.
    pub delay: Delay,
    /// Snapshots that do not arrive.
    pub loss_percent: u64,
    /// Every so manieth peer has a client that decodes what it was sent; 0 for none.
    pub witness_every: usize,
}

struct Peer {
    handle: ReplicaPeer,
    /// Where it looks from; `None` if it sees everything from anywhere.
    walker: Option<usize>,
    delay_ticks: usize,
}

struct Outcome {
    peer: usize,
    sequence: u64,
    acked: bool,
}

/// A server and its peers in the middle of their work.
pub struct Stage {
    setup: Setup,
    walk: Walk,
    server: ReplicaServer,
    objects: Vec<ObjectIndex>,
    peers: Vec<Peer>,
    witnesses: Vec<Witness>,
    budget_bytes: usize,
    ticks: usize,
    /// By tick: what the server will learn then.
    outcomes: Vec<Vec<Outcome>>,
    /// The snapshots of the newest tick, by the thread that wrote them.
    sheaves: Vec<Sheaf>,
    /// Threads that share the phases of a tick; `None` if all of it is done here.
    crew: Option<Crew>,
    random: u64,
    traffic: Traffic,
}

impl Stage {
    /// Everybody in place, nothing sent yet, and no lack of bytes.
    pub fn new(setup: Setup) -> Result<Stage, BenchError> {
        let walk = Walk::new(setup.objects, setup.extent_metres);
        let (world, objects) = world(&setup, &walk)?;
        let config = ServerConfig {
            policy: setup.policy.clone(),
            baseline_ticks: setup.baseline_ticks,
            heartbeat: setup.heartbeat,
            ..ServerConfig::default()
        };
        let mut server = ReplicaServer::new(world, Codes::generic(), config).map_err(refused)?;
        let sees_all = setup.policy == Policy::Everyone;
        let peers: Vec<Peer> = (0..setup.peers)
            .map(|number| {
                let walker = (!sees_all).then_some(number % setup.objects);
                let handle = server.add_peer(peer_config(number, walker, &walk));
                Peer { handle, walker, delay_ticks: setup.delay.ticks(number) }
            })
            .collect();
        let is_witness = |peer: &usize| setup.witness_every > 0 && peer.is_multiple_of(setup.witness_every);
        let witnesses = (0..setup.peers).filter(is_witness).map(Witness::new).collect();
        Ok(Stage {
            walk,
            server,
            objects,
            peers,
            witnesses,
            budget_bytes: AMPLE_BYTES,
            ticks: 0,
            // With room for several snapshots of each peer, so that the stage allocates nothing itself.
            outcomes: (0..OUTCOMES_AHEAD).map(|_| Vec::with_capacity(8 * setup.peers)).collect(),
            sheaves: vec![Sheaf::default()],
            crew: None,
            random: 0x2545_F491_4F6C_DD1D,
            traffic: Traffic::default(),
            setup,
        })
    }

    /// The same after the warm-up, which ends with this budget in force.
    pub fn warmed_up(setup: Setup, budget_bytes: usize) -> Result<Stage, BenchError> {
        let mut stage = Stage::new(setup)?;
        stage.run(WARM_UP_TICKS / 2)?;
        stage.budget_bytes = budget_bytes;
        stage.run(WARM_UP_TICKS / 2)?;
        Ok(stage)
    }

    /// So many ticks, with their times. What was sent in them is in [`Stage::traffic`].
    pub fn run(&mut self, ticks: usize) -> Result<Samples, BenchError> {
        self.forget_traffic();
        let mut samples = Samples::with_capacity(ticks);
        for _ in 0..ticks {
            samples.push(self.tick()?);
        }
        Ok(samples)
    }

    /// One tick.
    pub fn tick(&mut self) -> Result<Laps, BenchError> {
        self.play()?;
        let encodes = self.server.encodes();
        let allocated = allocations();
        let mut laps = Laps::start();
        self.crew.iter().for_each(Crew::wake);
        self.move_viewers();
        laps.end(Phase::Viewers);
        self.hear();
        laps.end(Phase::Acks);
        self.server.begin_tick().map_err(refused)?;
        laps.end(Phase::Begin);
        self.tell(&mut laps);
        self.traffic.allocations += allocations() - allocated;
        self.traffic.encodes += self.server.encodes() - encodes;
        self.traffic.changed += self.server.world().changed().len() as u64;
        self.post()?;
        self.ticks += 1;
        Ok(laps)
    }

    /// What was sent in the newest [`run`](Stage::run).
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Counts from here.
    pub fn forget_traffic(&mut self) {
        self.traffic = Traffic::default();
    }

    /// What both sides must share.
    pub fn classes(&self) -> &ClassTable {
        self.server.world().classes()
    }

    /// The world as the game knows it.
    pub fn walk(&self) -> &Walk {
        &self.walk
    }

    /// The snapshots of the newest tick, each with its peer.
    pub fn sent(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.sheaves.iter().flat_map(Sheaf::iter).map(|(sent, payload)| (sent.peer, payload))
    }

    /// Everybody rests and nothing is lost, until every client must hold what the server has.
    pub fn calm(&mut self) -> Result<(), BenchError> {
        self.setup.moving = 0;
        self.setup.loss_percent = 0;
        self.budget_bytes = AMPLE_BYTES;
        self.run(CALM_TICKS).map(|_| ())
    }

    /// What every client must hold now. [`calm`](Stage::calm) comes before.
    pub fn truth(&self) -> Truth {
        Truth::of(self.server.world(), &self.setup.policy)
    }

    /// Lets the witnesses decode all that they were sent, and compares what they hold in the end with the server.
    /// Returns how many objects each of them sees on average.
    pub fn verdict(mut self) -> Result<f64, BenchError> {
        self.calm()?;
        let counters = self.server.world().quantize_counters();
        let workload = self.setup.workload;
        if counters != Default::default() {
            let what = format!("the world does not fit its quantization: {counters:?}");
            return Err(BenchError::WrongWorkload { workload, what });
        }
        let truth = self.truth();
        let mut seen = 0;
        for witness in &self.witnesses {
            let peer = witness.peer();
            let diverged = |what| BenchError::Diverged { workload, peer, what };
            let client = witness.replay(self.server.world().classes()).map_err(diverged)?;
            let viewer = self.peers[peer].walker.map(|walker| (self.walk.positions()[walker], walker));
            truth.check(&client, viewer).map_err(diverged)?;
            seen += client.len();
        }
        match self.witnesses.len() {
            0 => Err(BenchError::WrongWorkload { workload, what: "nobody decodes what was sent".into() }),
            witnesses => Ok(seen as f64 / witnesses as f64),
        }
    }

    /// The game: moves what moves and tells the world.
    fn play(&mut self) -> Result<(), BenchError> {
        for _ in 0..STEPS_PER_TICK {
            self.walk.step(self.setup.moving);
        }
        let world = self.server.world_mut();
        for (walker, &index) in self.objects[..self.setup.moving].iter().enumerate() {
            let position = self.walk.positions()[walker].map(f64::from);
            world.set_position(index, position).map_err(refused)?;
            world.set_rotation(index, self.walk.rotations()[walker]).map_err(refused)?;
        }
        Ok(())
    }

    fn move_viewers(&mut self) {
        for (number, peer) in self.peers.iter().enumerate() {
            if peer.walker.is_some() {
                self.server.set_peer(peer.handle, peer_config(number, peer.walker, &self.walk));
            }
        }
    }

    fn hear(&mut self) {
        for outcome in self.outcomes[self.ticks % OUTCOMES_AHEAD].drain(..) {
            let peer = self.peers[outcome.peer].handle;
            self.server.handle_outcome(peer, outcome.sequence, outcome.acked);
        }
    }

    /// The phases between the world and the network.
    fn tell(&mut self, laps: &mut Laps) {
        let Stage { server, peers, sheaves, crew, budget_bytes, ticks, .. } = self;
        let Some(crew) = crew else {
            peers.iter().for_each(|peer| server.select(peer.handle, *budget_bytes));
            laps.end(Phase::Select);
            server.encode();
            laps.end(Phase::Encode);
            let poll = |peer, sequence, out: &mut [u8]| server.poll_snapshot(peer, sequence, out);
            sheaves[0].fill(*ticks, peers.iter().map(|peer| peer.handle), poll);
            return laps.end(Phase::Append);
        };
        let count = sheaves.len();
        share_out(crew, server.select_jobs(count), |mut job| {
            job.peers().for_each(|peer| job.select(peer, *budget_bytes));
        });
        laps.end(Phase::Select);
        share_out(crew, server.encode_jobs(count), |job| job.run());
        laps.end(Phase::Encode);
        share_out(crew, server.append_jobs(count).zip(sheaves), |(mut job, sheaf)| {
            sheaf.fill(*ticks, job.peers(), |peer, sequence, out| job.poll_snapshot(peer, sequence, out));
        });
        laps.end(Phase::Append);
        crew.rest();
    }

    /// From now on so many threads share the phases of a tick.
    pub fn set_workers(&mut self, workers: usize) -> Result<(), BenchError> {
        self.crew = (workers > 1).then(|| Crew::start(workers, "bench")).transpose().map_err(refused)?;
        self.sheaves.resize_with(workers.max(1), Sheaf::default);
        Ok(())
    }

    /// The network: decides what arrives, notes when the server will hear of it, and counts.
    fn post(&mut self) -> Result<(), BenchError> {
        self.check_budgets()?;
        let mut sheaves = std::mem::take(&mut self.sheaves);
        for (&Sent { peer, sequence, .. }, payload) in sheaves.iter().flat_map(Sheaf::iter) {
            self.traffic.count(payload, self.server.world().classes()).map_err(refused)?;
            let acked = self.random_percent() >= self.setup.loss_percent;
            let notice = if acked { 0 } else { LOSS_NOTICED_TICKS };
            let due = self.ticks + self.peers[peer].delay_ticks + notice;
            self.outcomes[due % OUTCOMES_AHEAD].push(Outcome { peer, sequence, acked });
            if acked && self.setup.witness_every > 0 && peer.is_multiple_of(self.setup.witness_every) {
                self.witnesses[peer / self.setup.witness_every].log(payload);
            }
        }
        std::mem::swap(&mut self.sheaves, &mut sheaves);
        Ok(())
    }

    /// A server that sends more than it may has no figure.
    fn check_budgets(&self) -> Result<(), BenchError> {
        for sent in self.sheaves.iter().flat_map(|sheaf| sheaf.sent.chunk_by(|a, b| a.peer == b.peer)) {
            let bytes: usize = sent.iter().map(|sent| sent.length).sum();
            if bytes > self.budget_bytes {
                let what =
                    format!("a peer was sent {bytes} bytes in a tick, allowed are {}", self.budget_bytes);
                return Err(BenchError::WrongWorkload { workload: self.setup.workload, what });
            }
        }
        Ok(())
    }

    fn random_percent(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) % 100
    }
}

fn world(setup: &Setup, walkers: &Walk) -> Result<(World, Vec<ObjectIndex>), BenchError> {
    let config = WorldConfig { objects_max: setup.objects, ..WorldConfig::default() };
    let mut world = World::new(vec![walk::class()], config).map_err(refused)?;
    let sees_all = setup.policy == Policy::Everyone;
    let mut objects = Vec::with_capacity(setup.objects);
    for (walker, &position) in walkers.positions().iter().enumerate() {
        let position = position.map(f64::from);
        let owner = (!sees_all && walker < setup.peers).then_some(OwnerId(walker as u32));
        // Clients are not told of an origin that nothing is measured from.
        let origin = match setup.profile.uses_origin() {
            true => SectorOrigin::new(sector(position), OriginVersion::new(0)).map_err(refused)?,
            false => SectorOrigin::default(),
        };
        let spawn = Spawn {
            owner,
            origin,
            relevance_radius: 0.0,
            profile: Some(setup.profile),
            ..Spawn::new(ObjectId(walker as u64), ClassId(0))
        };
        let index = world.spawn(spawn).map_err(refused)?;
        world.set_position(index, position).map_err(refused)?;
        world.set_rotation(index, walkers.rotations()[walker]).map_err(refused)?;
        objects.push(index);
    }
    Ok((world, objects))
}

fn peer_config(number: usize, walker: Option<usize>, walk: &Walk) -> PeerConfig {
    let position = walker.map_or([0.0; 3], |walker| walk.positions()[walker]);
    PeerConfig { position, ..PeerConfig::new(OwnerId(number as u32)) }
}

/// Netloom refused a call.
pub fn refused(what: impl std::fmt::Debug) -> BenchError {
    BenchError::refused("netloom", what)
}

#[cfg(test)]
mod tests {
    use super::super::crowd::sight;
    use super::super::ticks::everyone;
    use super::*;
    use netloom_replica::client::ReplicaClient;

    #[test]
    fn round_trips_of_20_to_250_ms_are_1_to_5_ticks() {
        let mut peers = [0; 6];
        (0..231).for_each(|peer| peers[Delay::RoundTrips.ticks(peer)] += 1);
        assert_eq!(peers, [0, 31, 50, 50, 50, 50]);
    }

    fn crowd(loss_percent: u64) -> Setup {
        let everyone = everyone("crowd", 60, 60, 12);
        Setup { policy: sight(250.0), delay: Delay::RoundTrips, loss_percent, ..everyone }
    }

    #[test]
    fn clients_hold_what_they_must_after_loss_and_want() {
        let mut stage = Stage::warmed_up(crowd(20), 60).expect("a stage");
        stage.run(50).expect("ticks");
        let visible = stage.verdict().expect("clients agree");
        assert!((2.0..59.0).contains(&visible), "{visible}");
    }

    #[test]
    fn a_server_that_sends_more_than_it_may_is_found_out() {
        let mut stage = Stage::warmed_up(crowd(0), 60).expect("within the budget");
        stage.tick().expect("within the budget");
        let most = stage.sent().map(|(_, payload)| payload.len()).max().expect("something is sent");
        stage.budget_bytes = most - 1;
        let what = stage.check_budgets().expect_err("one byte too many").to_string();
        assert!(what.contains(&format!("allowed are {}", most - 1)), "{what}");
    }

    #[test]
    fn a_client_that_missed_something_is_found_out() {
        let mut stage = Stage::warmed_up(everyone("late", 10, 10, 1), AMPLE_BYTES).expect("a stage");
        let late = stage.witnesses[0].replay(stage.classes()).expect("decodes");
        stage.truth().check(&late, None).expect("up to date");
        stage.tick().expect("a tick");
        let what = stage.truth().check(&late, None).expect_err("everything moved");
        assert!(what.contains("which the server has not"), "{what}");
        let empty = ReplicaClient::new(stage.classes().clone(), Codes::generic());
        let what = stage.truth().check(&empty, None).expect_err("holds nothing");
        assert!(what.contains("lacks object"), "{what}");
    }

    #[test]
    fn a_client_that_sees_too_far_is_found_out() {
        let stage = Stage::warmed_up(everyone("far", 10, 0, 1), AMPLE_BYTES).expect("a stage");
        let client = stage.witnesses[0].replay(stage.classes()).expect("decodes");
        let near = Truth::of(stage.server.world(), &sight(1.0));
        let what = near.check(&client, Some((stage.walk.positions()[0], 0))).expect_err("sees all");
        assert!(what.contains("too far"), "{what}");
    }

    #[test]
    fn a_run_that_nobody_decodes_has_no_verdict() {
        let setup = Setup { witness_every: 0, ..everyone("unseen", 10, 10, 1) };
        let verdict = Stage::new(setup).expect("a stage").verdict();
        assert!(matches!(verdict, Err(BenchError::WrongWorkload { .. })), "{verdict:?}");
    }
}

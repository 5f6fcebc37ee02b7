//! A replicating server, its clients and the network between them, a tick at a time.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{OwnerId, TeamId, World, WorldConfig};
use netloom_wire::schema::Writer;
use netloom_wire::{Micros, ObjectId};

use super::classes::{self, IDENTITY};
use super::director::{self, Director, Mood, TEAMS};
use super::ledger::{Ledger, Viewer};
use super::path::{DOWN_HEADER_BYTES, UP_BYTES_MAX, Up, WriteRequest};
use super::remote::Remote;
use crate::check::{Violation, at_most};
use crate::network::{LinkConfig, Network};
use crate::rng::Rng;
use crate::runner::Failure;

/// Time between two ticks: 20 a second.
pub const TICK: Micros = Micros::from_millis(50);

/// The largest snapshot, as connections take it.
const SNAPSHOT_BYTES_MAX: usize = 1_150;

/// Every so manieth value that a client asks for is refused by the game.
const REFUSED_VALUES: u32 = 7;

const SERVER: SocketAddr = address(0);

/// What a run counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Snapshots sent.
    pub snapshots: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Writes that clients asked for and got.
    pub writes_accepted: u64,
}

/// Everything that takes part.
#[derive(Debug)]
pub struct Stage {
    /// The server.
    pub server: ReplicaServer,
    /// What was true when.
    pub ledger: Ledger,
    /// The clients.
    pub remotes: Vec<Remote>,
    /// What was counted.
    pub counts: Counts,
    /// Snapshots that clients refused, and digests that told them of a difference.
    pub refusals: (u64, u64),
    /// How many times longer than by its place in the queue the server lets an object wait.
    pub patience: f64,
    director: Director,
    network: Network,
    rng: Rng,
    joined: u16,
    /// What the server ever called a client.
    peers: BTreeSet<ReplicaPeer>,
    datagram: Vec<u8>,
}

impl Stage {
    /// A world without objects and clients.
    pub fn new(seed: u64, config: ServerConfig, tick: u32) -> Result<Stage, Failure> {
        let world = World::new(classes::classes()?, WorldConfig::default()).map_err(setup)?;
        let policy = config.policy.clone();
        let mut server = ReplicaServer::new(world, Codes::generic(), config).map_err(setup)?;
        for _ in 0..tick {
            server.begin_tick().map_err(setup)?;
        }
        let rng = Rng::new(seed).fork("replication");
        let mut network = Network::new(seed, LinkConfig::default()).map_err(setup)?;
        network.add_node(SERVER);
        Ok(Stage {
            server,
            ledger: Ledger::new(policy),
            remotes: Vec::new(),
            counts: Counts::default(),
            refusals: (0, 0),
            patience: 1.0,
            director: Director::new(rng.fork("director")),
            network,
            rng: rng.fork("stage"),
            joined: 0,
            peers: BTreeSet::new(),
            datagram: Vec::new(),
        })
    }

    /// Virtual time.
    pub fn now(&self) -> Micros {
        Micros(TICK.0 * u64::from(self.server.tick().0))
    }

    /// A client joins, from the next tick on.
    pub fn join(&mut self, link: LinkConfig, budget_bytes: usize) -> Result<(), Failure> {
        self.joined += 1;
        let address = address(self.joined);
        self.network.add_node(address);
        let config = PeerConfig {
            team: Some(TeamId(self.rng.below(TEAMS) as u16)),
            groups: self.rng.below(8),
            position: director::place(&mut self.rng).map(|axis| axis as f32),
            ..PeerConfig::new(OwnerId(u32::from(self.joined) % director::OWNERS as u32))
        };
        let peer = self.server.add_peer(config);
        self.peers.insert(peer);
        let viewer = Viewer::new(self.server.tick().0 + 1, config);
        self.remotes.push(Remote::new(address, peer, viewer, budget_bytes)?);
        self.set_link(address, link)
    }

    /// A client is gone, whatever is still on its way to it.
    pub fn leave(&mut self, place: usize) {
        let remote = self.remotes.swap_remove(place);
        self.count_refusals(&remote);
        self.server.remove_peer(remote.peer);
    }

    /// Replaces the links of every client; `draw` makes one per direction.
    pub fn set_links(&mut self, mut draw: impl FnMut(&mut Rng) -> LinkConfig) -> Result<(), Failure> {
        let addresses: Vec<SocketAddr> = self.remotes.iter().map(|remote| remote.address).collect();
        for address in addresses {
            let (down, up) = (draw(&mut self.rng), draw(&mut self.rng));
            self.network.set_link(SERVER, address, down).map_err(setup)?;
            self.network.set_link(address, SERVER, up).map_err(setup)?;
        }
        Ok(())
    }

    /// Cuts a client off, or ends that.
    pub fn set_cut_off(&mut self, place: usize, is_cut_off: bool) {
        let address = self.remotes[place].address;
        match is_cut_off {
            true => self.network.partition(address, SERVER),
            false => self.network.heal(address, SERVER),
        }
    }

    /// Replaces the settings of a client from the next tick on.
    pub fn set_viewer(&mut self, place: usize, config: PeerConfig) {
        let remote = &mut self.remotes[place];
        remote.viewer.set(self.server.tick().0 + 1, config);
        self.server.set_peer(remote.peer, config);
    }

    /// Shows a client some of the objects from the next tick on, where the game decides what it sees.
    pub fn show(&mut self, place: usize, share: f64) {
        let world = self.server.world();
        let shown: Vec<_> = world.iter().filter(|_| self.rng.chance(share)).collect();
        let identities = shown.iter().map(|object| object.id().0).collect();
        let indices: Vec<_> = shown.iter().map(|object| object.index()).collect();
        let remote = &mut self.remotes[place];
        remote.viewer.show(self.server.tick().0 + 1, identities);
        self.server.set_sight(remote.peer, &indices);
    }

    /// A tick: what arrived is taken in, the world moves on, and everybody hears of it.
    pub fn step(&mut self, mood: &Mood) -> Result<(), Failure> {
        self.receive()?;
        self.director.act(mood, &mut self.server, &mut self.ledger)?;
        let tick = self.server.begin_tick().map_err(setup)?;
        self.ledger.record(self.server.world(), tick.0);
        for place in 0..self.remotes.len() {
            self.send(place)?;
            self.answer(place, mood.wish);
        }
        Ok(())
    }

    /// The end of every object, with the next tick.
    pub fn clear_world(&mut self) -> Result<(), Failure> {
        self.director.clear(self.server.world_mut())
    }

    /// All clients leave; what the server kept of them must be free again.
    pub fn close(&mut self) -> Result<(), Failure> {
        while !self.remotes.is_empty() {
            self.leave(0);
        }
        let next = self.server.add_peer(PeerConfig::new(OwnerId(0)));
        match self.peers.contains(&next) {
            true => Ok(()),
            false => self.violated("places of clients that left are used again", format!("{next:?} is new")),
        }
    }

    /// A failure at this tick.
    pub fn failure(&self, violation: Violation) -> Failure {
        Failure::Violation { at_ms: self.now().0 / 1_000, violation }
    }

    /// A broken promise at this tick.
    pub fn violated<T>(&self, rule: &'static str, detail: impl Into<String>) -> Result<T, Failure> {
        Err(self.failure(Violation::new(rule, detail)))
    }

    fn count_refusals(&mut self, remote: &Remote) {
        self.refusals.0 += remote.refused;
        self.refusals.1 += remote.mismatches;
    }

    fn set_link(&mut self, address: SocketAddr, link: LinkConfig) -> Result<(), Failure> {
        self.network.set_link(SERVER, address, link).map_err(setup)?;
        self.network.set_link(address, SERVER, link).map_err(setup)
    }

    fn receive(&mut self) -> Result<(), Failure> {
        let now = self.now() + TICK;
        let mut datagram = std::mem::take(&mut self.datagram);
        while let Some(delivery) = self.network.poll_delivery(now, &mut datagram) {
            let is_up = delivery.to == SERVER;
            let client = if is_up { delivery.from } else { delivery.to };
            // What was on its way to or from a client that left.
            let Some(place) = self.remotes.iter().position(|remote| remote.address == client) else {
                continue;
            };
            match is_up {
                true => self.handle_up(place, &datagram)?,
                false => {
                    let handled = self.remotes[place].handle_datagram(&datagram, &self.ledger);
                    handled.map_err(|violation| self.failure(violation))?;
                }
            }
        }
        self.datagram = datagram;
        let Stage { server, remotes, .. } = self;
        for remote in remotes {
            let peer = remote.peer;
            remote.sender.expire(now, |sequence| server.handle_outcome(peer, sequence, false));
        }
        Ok(())
    }

    fn handle_up(&mut self, place: usize, datagram: &[u8]) -> Result<(), Failure> {
        let up = Up::read(datagram).map_err(setup)?;
        let Stage { server, remotes, .. } = self;
        let remote = &mut remotes[place];
        let peer = remote.peer;
        remote.sender.handle_ack(&up, |sequence, acked| server.handle_outcome(peer, sequence, acked));
        for &tick in remote.sender.hear_refusals(&up) {
            server.handle_refusal(peer, tick);
        }
        for &region in &up.mismatches {
            server.handle_mismatch(peer, region);
        }
        match up.write {
            Some(write) => self.handle_write(place, write),
            None => Ok(()),
        }
    }

    /// A client asked for another value: it gets it if the flags of the field and the game say so, and only then.
    fn handle_write(&mut self, place: usize, write: WriteRequest) -> Result<(), Failure> {
        let owner = self.remotes[place].viewer.now().owner;
        let world = self.server.world_mut();
        let Some(index) = world.find(ObjectId(write.identity)) else { return Ok(()) };
        let Some(object) = world.object(index) else { return Ok(()) };
        let field = usize::from(write.field);
        let Some((words, schema)) =
            object.class().fields().get(field).zip(object.class().schema().field(field))
        else {
            return Ok(());
        };
        let mut buffer = Vec::new();
        let Some(value) = director::value_of(words, write.value, &mut buffer) else { return Ok(()) };
        let writer = if object.owner() == Some(owner) { Writer::Owner } else { Writer::OtherClient };
        let is_allowed = schema.flags().may_write(writer) && !write.value.is_multiple_of(REFUSED_VALUES);
        let before = format!("{:?}", object.get(field));
        let result = world
            .client_write(index, field, value, writer, |_, _| !write.value.is_multiple_of(REFUSED_VALUES));
        let (wanted, now) = (format!("{:?}", Some(value)), format!("{:?}", world.get(index, field)));
        let is_right = match is_allowed {
            true => result.is_ok() && now == wanted,
            false => result.is_err() && now == before,
        };
        self.counts.writes_accepted += u64::from(result.is_ok());
        match is_right {
            true => Ok(()),
            false => self.violated(
                "a client writes what it may and nothing else",
                format!("field {field} by {writer:?}: {result:?}, {before} became {now}"),
            ),
        }
    }

    fn send(&mut self, place: usize) -> Result<(), Failure> {
        let (now, tick) = (self.now(), self.server.tick().0);
        let Stage { server, remotes, network, counts, .. } = self;
        let Remote { peer, sender, budget_bytes, address, .. } = &mut remotes[place];
        server.select(*peer, *budget_bytes);
        let mut datagram = [0; DOWN_HEADER_BYTES + SNAPSHOT_BYTES_MAX];
        let mut spent = 0;
        while let Some(length) =
            server.poll_snapshot(*peer, sender.next_sequence(), &mut datagram[DOWN_HEADER_BYTES..])
        {
            datagram[..DOWN_HEADER_BYTES].copy_from_slice(&sender.handle_sent(now, tick));
            network.send(now, SERVER, *address, &datagram[..DOWN_HEADER_BYTES + length]);
            spent += length;
            counts.snapshots += 1;
        }
        counts.bytes += spent as u64;
        let limit = *budget_bytes as u64;
        at_most("a tick stays within its bytes", spent as u64, limit)
            .map_err(|violation| self.failure(violation))
    }

    /// The client acknowledges, and now and then asks for something.
    fn answer(&mut self, place: usize, wishes: f64) {
        let now = self.now();
        let remote = &mut self.remotes[place];
        let write = self.rng.chance(wishes).then(|| wish(remote, &mut self.rng)).flatten();
        let mut datagram = [0; UP_BYTES_MAX];
        let length = remote.receiver.write(write, &mut datagram);
        self.network.send(now, remote.address, SERVER, &datagram[..length]);
    }
}

/// What a client would like to change: any field of any object that it sees, whether it may or not.
fn wish(remote: &Remote, rng: &mut Rng) -> Option<WriteRequest> {
    let object = remote.client.iter().nth(rng.below(remote.client.len() as u64) as usize)?;
    let class = remote.client.class(object)?;
    let field = rng.below(class.fields().len() as u64) as usize;
    if class.schema().index_of(IDENTITY) == Some(field) {
        return None;
    }
    let identity = remote.identity(object)?;
    Some(WriteRequest { identity, field: field as u8, value: rng.next_u64() as u32 })
}

const fn address(number: u16) -> SocketAddr {
    let [high, low] = number.to_be_bytes();
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, high, low)), 4_000)
}

/// The scenario asks for something that does not exist.
pub fn setup(error: impl std::fmt::Display) -> Failure {
    Failure::Setup(error.to_string())
}

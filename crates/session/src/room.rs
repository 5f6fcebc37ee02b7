//! A room: a world that steps, and the players in it.
//!
//! A game gets hold of its room in each of its callbacks. Here it finds the world to change, the players, the time, and the
//! means to tell players something.

mod calls;
mod groups;
mod incoming;
mod lobby;
mod look;
mod named;
mod players;
mod seat;
mod spread;
mod tell;
mod writes;

use std::collections::BTreeMap;

use netloom_replica::SettingError;
use netloom_replica::server::rewind::RewindError;
use netloom_replica::server::{ClassTraffic, ReplicaPeer, ReplicaServer, Rewind, RewindConfig};
use netloom_replica::world::{ObjectIndex, Spawn, World, WorldConfig, WorldError};
use netloom_replica::{Class, ClassId};
use netloom_wire::{Micros, ObjectId, Tick};

use crate::channel::CONTROL;
use crate::clock::StepClock;
use crate::config::RoomConfig;
use crate::game::{PlayerId, cut};
use crate::health::Unfit;
use crate::lobby::Lobby;
use crate::message::{CallRefusal, NoticeKind, ToClient};
use crate::outbox::Outbox;
use crate::protocol::Protocol;
use crate::random::Random;
use crate::replicated::Replicated;
use crate::validate::Reason;

pub use calls::CallTarget;
pub(crate) use calls::channel_of;
pub use groups::{GROUP_NAME_BYTES_MAX, GROUPS_MAX, GroupError, NO_ME};
pub(crate) use incoming::Stopped;
pub(crate) use lobby::LobbyTurn;
pub use players::Player;
pub(crate) use seat::Seat;
pub(crate) use tell::Telling;
pub(crate) use writes::FieldWrite;

/// A room of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomId(pub u32);

/// Why a room cannot be.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// A setting that cannot be.
    #[error(transparent)]
    Config(#[from] netloom_proto::ConfigError),
    /// A setting of replication that cannot be.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A setting of the world that cannot be.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A setting of lag compensation that cannot be.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// Another room has the name.
    #[error("there is a room called {0:?} already: choose another name")]
    NameTaken(String),
    /// The game could not begin.
    #[error("the game could not begin: {0}")]
    Game(crate::game::GameError),
}

/// Why there is no new object.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// Clients do not know the kind.
    #[error(
        "the protocol has no class {0:?}: add it with `Protocol::builder(…).object::<…>()`, on both sides"
    )]
    NotInProtocol(&'static str),
    /// The world refuses.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// What happened in a room so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoomCounters {
    /// Inputs that the game refused.
    pub rejected_inputs: u64,
    /// The same by reason, in the order of [`Reason::ALL`]; the last are reasons of the game's own.
    pub rejected_inputs_by_reason: [u64; Reason::ALL.len() + 1],
    /// Snapshots sent.
    pub snapshots: u64,
    /// Bytes of snapshots sent.
    pub snapshot_bytes: u64,
    /// Bytes that packing saved of those, for players who joined: see [`packed`](crate::packed).
    pub packing_saved_bytes: u64,
    /// Messages to players for which there was no room, or nobody to send to.
    pub undelivered: u64,
    /// Ticks in which a code was too long for its memory.
    pub arena_overflows: u64,
    /// Players' calls that reached the game.
    pub calls: u64,
    /// Players' calls that were refused, by the room or by the game.
    pub refused_calls: u64,
    /// The same by reason, in the order of [`CallRefusal::ALL`].
    pub refused_calls_by_reason: [u64; CallRefusal::ALL.len()],
}

/// A room. See the [module](self).
#[derive(Debug)]
pub struct Room {
    id: RoomId,
    config: RoomConfig,
    protocol: Protocol,
    replica: ReplicaServer,
    rewind: Option<Rewind>,
    clock: StepClock,
    /// By player.
    seats: BTreeMap<PlayerId, Seat>,
    /// What became of snapshots since the last ones, at most one for each that was on its way: nobody builds on it before the
    /// next.
    outcomes: Vec<(ReplicaPeer, u64, bool)>,
    spread: spread::Spread,
    /// Whether any class has fields of which every value arrives.
    has_properties: bool,
    next_object: u64,
    random: Random,
    outbox: Outbox,
    calls: calls::Calls,
    groups: groups::Groups,
    lobby: Option<Lobby>,
    /// Whether the game went on when the lobby was looked at last.
    is_playing: bool,
    /// Who is to be removed, and why.
    kicked: Vec<(PlayerId, String)>,
    /// Who cannot be kept, and why.
    unfit: Vec<(PlayerId, Unfit)>,
    /// Why the room is to end.
    ending: Option<String>,
    counters: RoomCounters,
}

impl Room {
    pub(crate) fn new(
        id: RoomId,
        now: Micros,
        config: RoomConfig,
        protocol: Protocol,
    ) -> Result<Room, RoomError> {
        config.check()?;
        let world_config = WorldConfig {
            objects_max: config.objects_max,
            ticks_per_second: config.sends_per_second as f32,
            ..WorldConfig::default()
        };
        let world = World::new(protocol.classes().to_vec(), world_config)?;
        let replica = ReplicaServer::new(world, protocol.codes().clone(), config.replication.clone())?;
        let rewind = config.rewind.map(|rewind| {
            let peers_max = config.players_max.max(rewind.peers_max);
            Rewind::new(RewindConfig { steps_per_second: config.steps_per_second, peers_max, ..rewind })
        });
        let lobby = config.lobby.clone().map(Lobby::new).transpose()?;
        Ok(Room {
            id,
            replica,
            is_playing: lobby.is_none(),
            lobby,
            unfit: Vec::new(),
            rewind: rewind.transpose()?,
            clock: StepClock::new(now, config.steps_per_second, config.catch_up_steps),
            seats: BTreeMap::new(),
            outcomes: Vec::new(),
            spread: spread::Spread::default(),
            has_properties: protocol.classes().iter().any(Class::has_reliable),
            next_object: 1,
            random: Random::new(config.seed),
            outbox: Outbox::default(),
            calls: calls::Calls::default(),
            groups: groups::Groups::default(),
            kicked: Vec::new(),
            ending: None,
            counters: RoomCounters::default(),
            config,
            protocol,
        })
    }

    /// Which room of its server this is.
    pub fn id(&self) -> RoomId {
        self.id
    }

    /// What it was built from.
    pub fn config(&self) -> &RoomConfig {
        &self.config
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// What the clients of the game know.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// The step that is being made, or was made last.
    pub fn step(&self) -> Tick {
        self.clock.step()
    }

    /// Steps since the room began, which do not wrap.
    pub fn steps(&self) -> u64 {
        self.clock.count()
    }

    /// How long a step is, in seconds.
    pub fn step_seconds(&self) -> f32 {
        1.0 / self.config.steps_per_second as f32
    }

    /// When the step was due, by the clock of the server's driver.
    pub fn now(&self) -> Micros {
        self.clock.time()
    }

    /// Randomness that follows from the room's seed.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// The world.
    pub fn world(&self) -> &World {
        self.replica.world()
    }

    /// The world, to change it.
    pub fn world_mut(&mut self) -> &mut World {
        self.replica.world_mut()
    }

    /// The world and who sees what of it: for teams, visibility and sight of the game's own choice.
    pub fn replication(&mut self) -> &mut ReplicaServer {
        &mut self.replica
    }

    /// The past, for judging shots; `None` unless [`RoomConfig::rewind`] asks for it.
    pub fn rewind(&mut self) -> Option<&mut Rewind> {
        self.rewind.as_mut()
    }

    /// A new object with the value of a struct, owned by somebody or nobody.
    pub fn spawn<T: Replicated>(
        &mut self,
        value: &T,
        owner: Option<PlayerId>,
    ) -> Result<ObjectIndex, SpawnError> {
        let class = self.protocol.class_id(T::NAME).ok_or(SpawnError::NotInProtocol(T::NAME))?;
        let object = self.spawn_with(|id| Spawn { owner, ..T::spawn_defaults().spawn(id, class) })?;
        if let Err(error) = value.write(self.world_mut(), object) {
            self.despawn(object)?;
            return Err(error.into());
        }
        Ok(object)
    }

    /// A new object with settings of its own; the identity is the room's choice.
    pub fn spawn_with(&mut self, spawn: impl FnOnce(ObjectId) -> Spawn) -> Result<ObjectIndex, WorldError> {
        let spawned = self.replica.world_mut().spawn(spawn(ObjectId(self.next_object)))?;
        self.next_object += 1;
        Ok(spawned)
    }

    /// Changes an object. What is as it was costs nothing on the wire.
    pub fn write<T: Replicated>(&mut self, object: ObjectIndex, value: &T) -> Result<(), WorldError> {
        value.write(self.world_mut(), object)
    }

    /// The value of an object, rounded as clients have it; `None` if it is gone or of another kind.
    pub fn read<T: Replicated>(&self, object: ObjectIndex) -> Option<T> {
        let class = self.protocol.class_id(T::NAME)?;
        T::read_world(&self.world().object(object).filter(|object| object.class_id() == class)?)
    }

    /// Removes an object.
    pub fn despawn(&mut self, object: ObjectIndex) -> Result<(), WorldError> {
        if let Some(rewind) = &mut self.rewind {
            // What was never tracked cannot be hit.
            let _untracked = rewind.untrack(object);
        }
        self.replica.world_mut().despawn(object)
    }

    /// Something for a player to read.
    pub fn notify(&mut self, player: PlayerId, text: &str) {
        let peer = self.seats.get(&player).and_then(|seat| seat.peer);
        self.outbox.push(peer, CONTROL, &ToClient::Notice { kind: NoticeKind::Info, text: cut(text) });
    }

    /// Something for everybody to read.
    pub fn notify_all(&mut self, text: &str) {
        let peers = self.seats.values().filter_map(|seat| seat.peer);
        self.outbox.push(peers, CONTROL, &ToClient::Notice { kind: NoticeKind::Info, text: cut(text) });
    }

    /// Removes a player after this callback, who is told why.
    pub fn kick(&mut self, player: PlayerId, reason: &str) {
        self.kicked.push((player, cut(reason).to_owned()));
    }

    /// Ends the room after this callback; everybody is told why.
    pub fn end(&mut self, reason: &str) {
        self.ending.get_or_insert_with(|| cut(reason).to_owned());
    }

    pub(crate) fn handle_time(&mut self, now: Micros) {
        self.clock.handle_time(now);
    }

    pub(crate) fn poll_step(&mut self) -> bool {
        self.clock.poll_step().is_some()
    }

    /// When the next step is due.
    pub(crate) fn next_due(&self) -> Micros {
        self.clock.next_due()
    }

    pub(crate) fn take_ending(&mut self) -> Option<String> {
        self.ending.take()
    }

    pub(crate) fn poll_kicked(&mut self) -> Option<(PlayerId, String)> {
        self.kicked.pop()
    }

    pub(crate) fn poll_unfit(&mut self) -> Option<(PlayerId, Unfit)> {
        self.unfit.pop()
    }

    pub(crate) fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// What happened so far.
    pub fn counters(&self) -> RoomCounters {
        self.counters
    }

    /// What was sent about the objects of each class, in the order of [`Protocol::classes`].
    pub fn class_traffic(&self) -> impl Iterator<Item = ClassTraffic> {
        self.class_ids().map(|class| self.replica.class_traffic(class))
    }

    /// How many objects there are of each class, in the same order.
    pub fn populations(&self) -> impl Iterator<Item = usize> {
        self.class_ids().map(|class| self.world().population(class))
    }

    fn class_ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.protocol.classes().len()).map(|class| ClassId(class as u8))
    }

    /// Steps whose time passed without them being made, because the server was not called in time.
    pub fn skipped_steps(&self) -> u64 {
        self.clock.skipped()
    }
}

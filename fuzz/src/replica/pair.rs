//! A server, its clients, and everything that can happen between them.
//!
//! ```text
//!  operations ──▶ game: spawn, move, write, attach, reframe, give away, hide, despawn
//!             ──▶ network, of each client: deliver in any order, lose, repeat, take for lost by mistake
//!             ──▶ clients: join, leave, complain without reason
//!                       then the network calms down: every client ends with what it may see, and nothing else
//! ```

use std::collections::BTreeMap;

use netloom_replica::client::{ClientObject, ReplicaClient};
use netloom_replica::server::interest::{GridConfig, Membership, Policy, VisibleTo};
use netloom_replica::server::{Heartbeat, PeerConfig, ReplicaServer, ServerConfig};
use netloom_replica::world::{Object, ObjectIndex, OwnerId, TeamId, World, WorldConfig};
use netloom_wire::Tick;
use netloom_wire::schema::{FieldKind, Value};

use super::classes::ID;

use super::game::Game;
use super::remote::Remote;
use super::{classes, codes};
use crate::input::Input;

/// Operations per input: beyond that a run gets slow before it gets more interesting.
const OPERATIONS_MAX: usize = 300;

const REMOTES_MAX: usize = 3;

/// Ticks within which every client must have everything once nothing is lost any more.
const CALM_TICKS: usize = 120;

/// Ticks after which it must still be so.
const QUIET_TICKS: usize = 12;

const CALM_BUDGET: usize = 4_096;
const SNAPSHOT_BYTES: usize = 1_150;

struct Pair {
    server: ReplicaServer,
    game: Game,
    /// Whether the game says who sees what.
    is_custom: bool,
    remotes: Vec<Remote>,
    sequence: u64,
    next_owner: u32,
}

/// Runs a list of operations and checks that the clients follow.
pub fn replica_pair(data: &[u8]) {
    run(data);
}

fn run(data: &[u8]) -> Pair {
    let mut input = Input::new(data);
    let mut pair = Pair::new(input.u8());
    pair.join();
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        pair.operate(&mut input);
    }
    pair.calm();
    pair
}

impl Pair {
    fn new(setup: u8) -> Pair {
        let grid = GridConfig { radius_metres: 100_000.0, ..GridConfig::default() };
        let policy =
            [Policy::Everyone, Policy::Grid(grid), Policy::Custom][usize::from(setup & 3) % 3].clone();
        let heartbeat = match setup >> 2 & 3 {
            0 => Heartbeat::Off,
            1 => Heartbeat::Resend { ticks: 5 },
            _ => Heartbeat::Digest { ticks: 3 },
        };
        let baseline_ticks = 1 + u32::from(setup >> 4 & 3);
        let config = ServerConfig { policy, heartbeat, baseline_ticks, ..ServerConfig::default() };
        let world_config = WorldConfig { property_log_bytes: 131_072, ..WorldConfig::default() };
        let world = World::new(classes(), world_config).expect("a small world");
        let server = ReplicaServer::new(world, codes().clone(), config).expect("a valid configuration");
        Pair {
            server,
            game: Game::default(),
            is_custom: setup & 3 == 2,
            remotes: Vec::new(),
            sequence: 0,
            next_owner: 0,
        }
    }

    fn operate(&mut self, input: &mut Input<'_>) {
        let operation = input.u8();
        match operation % 32 {
            0..12 => self.game.operate(operation % 32, &mut self.server, input),
            12..17 => self.on_network(operation % 32, input),
            17 => self.tick(usize::from(input.u8()) * 8, SNAPSHOT_BYTES),
            18 => self.tick(usize::from(input.u16()), usize::from(input.u8()) * 8),
            19..22 => (0..=operation >> 5).for_each(|_| self.calm_tick()),
            22 => (0..usize::from(operation >> 5) * 40).for_each(|_| self.calm_tick()),
            23 => self.with_remote(input, |remote, server, input| {
                remote.take_properties(server, input.choice(8));
                remote.deliver_properties(input.choice(4));
            }),
            24 => self.join(),
            25 => self.leave(input),
            26 => self.with_remote(input, |remote, server, input| {
                remote.config.team = team(input);
                remote.config.owner = OwnerId(input.choice(4) as u32);
                remote.config.groups = input.u8().into();
                server.set_peer(remote.peer, remote.config);
            }),
            27 => self.complain(input),
            28 => {
                let sight = self.game.some_objects(input.u16());
                self.with_remote(input, |remote, server, _| {
                    server.set_sight(remote.peer, &sight);
                    remote.sight = sight;
                });
            }
            _ => self.with_remote(input, |remote, server, _| remote.deliver_all(server)),
        }
    }

    fn with_remote(
        &mut self,
        input: &mut Input<'_>,
        act: impl FnOnce(&mut Remote, &mut ReplicaServer, &mut Input<'_>),
    ) {
        let index = input.choice(self.remotes.len());
        if let Some(remote) = self.remotes.get_mut(index) {
            act(remote, &mut self.server, input);
        }
    }

    fn on_network(&mut self, operation: u8, input: &mut Input<'_>) {
        self.with_remote(input, |remote, server, input| {
            if operation == 16 {
                let index = input.choice(remote.reports_on_their_way());
                if index < remote.reports_on_their_way() {
                    remote.report(server, index);
                }
                return;
            }
            let index = input.choice(remote.snapshots_on_their_way());
            if index >= remote.snapshots_on_their_way() {
                return;
            }
            match operation {
                12 => remote.deliver(index),
                13 => remote.lose(index),
                14 => remote.duplicate(index),
                _ => remote.give_up(index),
            }
        });
    }

    fn tick(&mut self, budget: usize, room: usize) {
        self.server.begin_tick().expect("ticks go forward");
        for remote in &mut self.remotes {
            remote.select(&mut self.server, &mut self.sequence, budget, room);
        }
    }

    fn calm_tick(&mut self) {
        self.tick(CALM_BUDGET, SNAPSHOT_BYTES);
        for remote in &mut self.remotes {
            remote.take_properties(&mut self.server, usize::MAX);
            remote.deliver_all(&mut self.server);
        }
    }

    fn join(&mut self) {
        if self.remotes.len() < REMOTES_MAX {
            let config = PeerConfig::new(OwnerId(self.next_owner % 3));
            self.next_owner += 1;
            self.remotes.push(Remote::new(self.server.add_peer(config), config));
        }
    }

    fn leave(&mut self, input: &mut Input<'_>) {
        let index = input.choice(self.remotes.len());
        if index < self.remotes.len() {
            let remote = self.remotes.remove(index);
            self.server.remove_peer(remote.peer);
        }
    }

    /// What a client that is wrong, or wants to do harm, may say.
    fn complain(&mut self, input: &mut Input<'_>) {
        let now = self.server.tick();
        self.with_remote(input, |remote, server, input| {
            remote.is_honest = false;
            match input.choice(3) {
                0 => server.handle_refusal(remote.peer, Tick(now.0.wrapping_sub(input.u8().into()))),
                1 => server.handle_mismatch(remote.peer, input.u16() % 2_000),
                _ => server.handle_outcome(remote.peer, u64::MAX - u64::from(input.u8()), true),
            }
        });
    }

    /// Nothing is lost any more: in the end every client holds what it may see.
    fn calm(&mut self) {
        let mut quiet = 0;
        let mut difference = None;
        for _ in 0..CALM_TICKS {
            self.calm_tick();
            difference = self.remotes.iter().find_map(|remote| self.difference(remote));
            quiet = if difference.is_none() { quiet + 1 } else { 0 };
            if quiet == QUIET_TICKS {
                return;
            }
        }
        panic!("a client does not follow: {}", difference.unwrap_or_else(|| "it comes and goes".to_owned()));
    }

    /// In what a client differs from what it should hold.
    fn difference(&self, remote: &Remote) -> Option<String> {
        let held = by_id(&remote.client);
        if held.len() != remote.client.len() {
            return Some("it holds an object twice".to_owned());
        }
        let seen = |object: &Object<'_>| self.is_seen(remote, object);
        let expected: BTreeMap<u64, Object<'_>> =
            self.server.world().iter().filter(seen).map(|object| (object.id().0, object)).collect();
        if !held.keys().eq(expected.keys()) {
            let ids = |ids: Vec<&u64>| format!("{ids:?}");
            return Some(format!(
                "it holds {}, not {}",
                ids(held.keys().collect()),
                ids(expected.keys().collect())
            ));
        }
        let parent_of = |parent: ObjectIndex| self.server.world().object(parent).map(|parent| parent.id().0);
        expected.values().zip(held.values()).find_map(|(object, held)| {
            let id = object.id().0;
            let audience = object.audience(remote.config.owner, remote.config.team);
            let place =
                (object.class_id().0, object.profile(), audience, object.parent().and_then(parent_of));
            let parent = held.parent().and_then(|slot| id_in_slot(&remote.client, slot));
            let held_place = (held.class(), held.profile(), held.audience(), parent);
            if place != held_place {
                return Some(format!("object {id}: {held_place:?}, not {place:?}"));
            }
            if object.parent().is_none()
                && object.profile().uses_origin()
                && object.class().position().is_some()
                && object.origin() != held.origin()
            {
                return Some(format!("object {id}: {:?}, not {:?}", held.origin(), object.origin()));
            }
            let fields = object.class().visible(audience) | object.class().reliable(audience);
            (0..object.class().fields().len()).filter(|field| fields >> field & 1 != 0).find_map(|field| {
                let (value, held) = (object.get(field), held.value(object.class(), field));
                (value != held).then(|| format!("object {id}, field {field}: {held:?}, not {value:?}"))
            })
        })
    }

    fn is_seen(&self, remote: &Remote, object: &Object<'_>) -> bool {
        let sees = |index: ObjectIndex| {
            let owner = self.server.world().object(index).and_then(|object| object.owner());
            let is_own = owner == Some(remote.config.owner);
            let visible_to = self.game.visible_to(index);
            let membership =
                Membership { team: remote.config.team.map(|team| team.0), groups: remote.config.groups };
            let may_see = visible_to != VisibleTo::Nobody && (is_own || visible_to.admits(membership));
            may_see && (is_own || !self.is_custom || remote.sight.contains(&index))
        };
        sees(object.index()) && object.ancestors().all(sees)
    }
}

/// A team, or none.
pub(super) fn team(input: &mut Input<'_>) -> Option<TeamId> {
    input.choice(3).checked_sub(1).map(|team| TeamId(team as u16))
}

fn by_id(client: &ReplicaClient) -> BTreeMap<u64, &ClientObject> {
    client.iter().filter_map(|object| Some((id_of(client, object)?, object))).collect()
}

fn id_in_slot(client: &ReplicaClient, slot: u16) -> Option<u64> {
    let object = client.iter().find(|object| object.alias().slot == slot)?;
    id_of(client, object)
}

fn id_of(client: &ReplicaClient, object: &ClientObject) -> Option<u64> {
    let class = client.class(object)?;
    let field = class.schema().index_of(ID).filter(|field| class.fields()[*field].kind == FieldKind::U64)?;
    match object.value(class, field)? {
        Value::U64(id) => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds;

    #[test]
    fn the_seeds_make_objects_enter_change_and_leave_under_every_policy() {
        for name in ["everyone", "grid", "custom", "guests", "liars", "long_rest", "starved"] {
            let mut seeds = seeds::all().into_iter();
            let seed = seeds.find(|seed| (seed.target, seed.name) == ("replica_pair", name));
            let written = run(&seed.expect("a seed of this name").bytes).server.written();
            assert!(written.entries >= 12 && written.updates > 8, "{name}: {written:?}");
            let has_leaves = ["everyone", "grid", "custom", "guests"].contains(&name);
            assert!(written.leaves > 0 || !has_leaves, "{name}: {written:?}");
        }
    }
}

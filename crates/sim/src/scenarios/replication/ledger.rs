//! What was true when: every version of every object, who could see it, and where it was.
//!
//! A client is late by nature. What it holds of an object is right if it is what the server had at the tick of the
//! snapshot that brought it, and allowed if the client was allowed to have it at that tick. So the ledger remembers
//! every tick, which a server cannot afford, and shares nothing with the code under test.

use std::collections::{BTreeMap, BTreeSet};

use netloom_replica::Class;
use netloom_replica::server::PeerConfig;
use netloom_replica::server::interest::{Axes, GridConfig, Membership, Policy, VisibleTo};
use netloom_replica::world::{Object, ObjectIndex, OwnerId, TeamId, World};
use netloom_wire::schema::Audience;
use netloom_wire::{Profile, SectorOrigin};

use super::classes::IDENTITY;

/// Distances are computed in single precision, here and there in another order.
const ROUNDING_METRES: f32 = 0.01;

/// A value and since when it holds.
type Since<T> = Vec<(u32, T)>;

/// An object's state as of a tick.
#[derive(Clone, Debug)]
pub struct Version {
    /// How its transform is quantized.
    pub profile: Profile,
    /// What its position is relative to, unless it is attached.
    pub origin: SectorOrigin,
    /// The identity of what it is attached to.
    pub parent: Option<u64>,
    /// Its words.
    pub words: Vec<i32>,
    /// The contents of its fields; empty for fields without.
    pub contents: Vec<Vec<u8>>,
}

/// Whose an object is and who may see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    owner: Option<OwnerId>,
    team: Option<TeamId>,
    visible_to: VisibleTo,
    radius_metres: f32,
}

/// One object from its first tick to its last.
#[derive(Debug)]
pub struct Life {
    identity: u64,
    /// Its class.
    pub class: u8,
    /// Whether its priority is 0: nobody ever hears of it.
    pub is_mute: bool,
    versions: Since<Version>,
    standings: Since<Standing>,
    places: Since<[f32; 3]>,
    jumps: Vec<u32>,
    gone: Option<u32>,
}

/// Everything that was true.
#[derive(Debug)]
pub struct Ledger {
    policy: Policy,
    lives: BTreeMap<u64, Life>,
    identities: BTreeMap<ObjectIndex, u64>,
    visible_to: BTreeMap<ObjectIndex, VisibleTo>,
    jumping: Vec<ObjectIndex>,
    tick: u32,
}

/// Whether a client should hold an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It must.
    Must,
    /// Both are right: the object is at the border.
    May,
    /// It must not.
    Not,
}

impl Ledger {
    /// An empty ledger of a server with this policy.
    pub fn new(policy: Policy) -> Ledger {
        Ledger {
            policy,
            lives: BTreeMap::new(),
            identities: BTreeMap::new(),
            visible_to: BTreeMap::new(),
            jumping: Vec::new(),
            tick: 0,
        }
    }

    /// The newest tick.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Who may see an object from the next tick on.
    pub fn set_visible_to(&mut self, index: ObjectIndex, visible_to: VisibleTo) {
        self.visible_to.insert(index, visible_to);
    }

    /// What is written to an object before the next tick is a jump.
    pub fn jump(&mut self, index: ObjectIndex) {
        self.jumping.push(index);
    }

    /// Writes down what a commit made true.
    pub fn record(&mut self, world: &World, tick: u32) {
        self.tick = tick;
        for index in world.despawned() {
            self.visible_to.remove(index);
            if let Some(life) = self.identities.remove(index).and_then(|id| self.lives.get_mut(&id)) {
                life.gone = Some(tick);
            }
        }
        for &index in world.spawned() {
            let Some(object) = world.object(index) else { continue };
            self.identities.insert(index, object.id().0);
            self.lives.insert(object.id().0, Life::new(&object));
        }
        let jumping = std::mem::take(&mut self.jumping);
        for &index in world.changed() {
            let Some(object) = world.object(index) else { continue };
            let version = Version::of(&object, world);
            if let Some(life) = self.lives.get_mut(&object.id().0) {
                life.versions.push((tick, version));
                if jumping.contains(&index) {
                    life.jumps.push(tick);
                }
            }
        }
        for object in world.iter() {
            let visible_to = self.visible_to.get(&object.index()).copied().unwrap_or_default();
            let Some(life) = self.lives.get_mut(&object.id().0) else { continue };
            let (owner, team) = (object.owner(), object.team());
            let standing = Standing { owner, team, visible_to, radius_metres: object.relevance_radius() };
            push_if_new(&mut life.standings, tick, standing);
            push_if_new(&mut life.places, tick, object.position());
        }
    }

    /// The object of an identity, whether it still exists or not.
    pub fn life(&self, identity: u64) -> Option<&Life> {
        self.lives.get(&identity)
    }

    /// The objects that exist, by identity.
    pub fn living(&self) -> impl Iterator<Item = (u64, &Life)> {
        self.lives.iter().filter(|(_, life)| life.gone.is_none()).map(|(&identity, life)| (identity, life))
    }

    /// The most objects that existed at any time, counting each for so many ticks after its end.
    pub fn crowd_max(&self, ticks_after: u32) -> usize {
        let ends = |life: &Life| life.gone.map_or(u32::MAX, |gone| gone.saturating_add(ticks_after));
        let begins = |life: &Life| life.versions.first().map_or(0, |(tick, _)| *tick);
        let at_birth = |newborn: &Life| {
            let tick = begins(newborn);
            self.lives.values().filter(|life| begins(life) <= tick && tick <= ends(life)).count()
        };
        self.lives.values().map(at_birth).max().unwrap_or(0)
    }

    /// Whether a client with these settings over time may be told of an object at a tick.
    pub fn may_send(&self, life: &Life, viewer: &Viewer, tick: u32) -> Result<(), &'static str> {
        if life.gone.is_some_and(|gone| gone <= tick) || life.version(tick).is_none() {
            return Err("it does not exist");
        }
        if life.is_mute {
            return Err("its priority is 0");
        }
        if !life.is_permitted(viewer, tick) {
            return Err("it is hidden");
        }
        let config = match &self.policy {
            Policy::Everyone => return Ok(()),
            Policy::Custom if life.is_shown(viewer, tick) => return Ok(()),
            Policy::Custom => return Err("the game does not show it"),
            Policy::Grid(config) => config,
        };
        // What is far may still be seen for as long as it takes to look again, or to have been seen long enough.
        let patience = config.dwell_ticks + config.refresh_ticks;
        let was_near = |ago: u32| {
            let distance = life.distance_beyond(config, viewer, tick.saturating_sub(ago));
            distance.is_some_and(|beyond| beyond <= config.leave_margin_metres + ROUNDING_METRES)
        };
        if (0..=patience).any(was_near) { Ok(()) } else { Err("it is far away") }
    }

    /// Whether a client should hold an object once nothing has changed for long enough.
    pub fn sight(&self, life: &Life, viewer: &Viewer) -> Sight {
        if life.is_mute || life.gone.is_some() || !life.is_permitted(viewer, self.tick) {
            return Sight::Not;
        }
        let config = match &self.policy {
            Policy::Everyone => return Sight::Must,
            Policy::Custom if life.is_shown(viewer, self.tick) => return Sight::Must,
            Policy::Custom => return Sight::Not,
            Policy::Grid(config) => config,
        };
        match life.distance_beyond(config, viewer, self.tick) {
            Some(beyond) if beyond <= -ROUNDING_METRES => Sight::Must,
            Some(beyond) if beyond <= config.leave_margin_metres + ROUNDING_METRES => Sight::May,
            _ => Sight::Not,
        }
    }
}

impl Version {
    fn of(object: &Object<'_>, world: &World) -> Version {
        let parent = object.parent().and_then(|parent| world.object(parent));
        let fields = 0..object.class().fields().len();
        Version {
            profile: object.profile(),
            origin: object.origin(),
            parent: parent.map(|parent| parent.id().0),
            words: object.words().to_vec(),
            contents: fields.map(|field| object.content(field).to_vec()).collect(),
        }
    }
}

impl Life {
    fn new(object: &Object<'_>) -> Life {
        Life {
            identity: object.id().0,
            class: object.class_id().0,
            is_mute: object.priority() <= 0.0,
            versions: Vec::new(),
            standings: Vec::new(),
            places: Vec::new(),
            jumps: Vec::new(),
            gone: None,
        }
    }

    /// What it was at a tick.
    pub fn version(&self, tick: u32) -> Option<&Version> {
        at(&self.versions, tick)
    }

    /// The tick of the first version after a tick.
    pub fn changed_after(&self, tick: u32) -> Option<u32> {
        let place = self.versions.partition_point(|(since, _)| *since <= tick);
        self.versions.get(place).map(|(since, _)| *since)
    }

    /// Whether it jumped after one tick and not after another.
    pub fn jumped_between(&self, after: u32, until: u32) -> bool {
        self.jumps.iter().any(|jump| (after + 1..=until).contains(jump))
    }

    /// What a client is to it at a tick.
    pub fn audience(&self, viewer: &Viewer, tick: u32) -> Option<Audience> {
        let (standing, config) = (at(&self.standings, tick)?, viewer.at(tick)?);
        let is_team = config.team.is_some() && config.team == standing.team;
        Some(match standing.owner == Some(config.owner) {
            true => Audience::Owner,
            false if is_team => Audience::Team,
            false => Audience::Public,
        })
    }

    /// Where it is now.
    pub fn place(&self) -> Option<[f32; 3]> {
        self.places.last().map(|(_, place)| *place)
    }

    fn is_permitted(&self, viewer: &Viewer, tick: u32) -> bool {
        let (Some(standing), Some(config)) = (at(&self.standings, tick), viewer.at(tick)) else {
            return false;
        };
        let membership = Membership { team: config.team.map(|team| team.0), groups: config.groups };
        let is_own = standing.owner == Some(config.owner) && standing.visible_to != VisibleTo::Nobody;
        is_own || standing.visible_to.admits(membership)
    }

    /// Whether the game shows it to a client, or it is that client's own.
    fn is_shown(&self, viewer: &Viewer, tick: u32) -> bool {
        let is_own = || {
            let owner = at(&self.standings, tick).and_then(|standing| standing.owner);
            owner.is_some() && owner == viewer.at(tick).map(|config| config.owner)
        };
        at(&viewer.shown, tick).is_some_and(|shown| shown.contains(&self.identity)) || is_own()
    }

    /// How much farther away it is than where it comes into sight; far below zero if distance does not matter.
    fn distance_beyond(&self, config: &GridConfig, viewer: &Viewer, tick: u32) -> Option<f32> {
        let (standing, place) = (at(&self.standings, tick)?, at(&self.places, tick)?);
        let eye = viewer.at(tick)?;
        if standing.owner == Some(eye.owner) || standing.radius_metres == f32::INFINITY {
            return Some(f32::NEG_INFINITY);
        }
        let radius = if standing.radius_metres > 0.0 { standing.radius_metres } else { config.radius_metres };
        let axes: &[usize] = match config.axes {
            Axes::Xy => &[0, 1],
            Axes::Xz => &[0, 2],
            Axes::Xyz => &[0, 1, 2],
        };
        let squared: f32 = axes.iter().map(|&axis| (place[axis] - eye.position[axis]).powi(2)).sum();
        Some(squared.sqrt() - radius)
    }
}

/// A client's place, team, groups and sight over time.
#[derive(Debug)]
pub struct Viewer {
    configs: Since<PeerConfig>,
    /// What the game shows it, where the game decides.
    shown: Since<BTreeSet<u64>>,
}

impl Viewer {
    /// A client that joins at a tick.
    pub fn new(tick: u32, config: PeerConfig) -> Viewer {
        Viewer { configs: vec![(tick, config)], shown: Vec::new() }
    }

    /// From this tick on it is elsewhere, or of another team.
    pub fn set(&mut self, tick: u32, config: PeerConfig) {
        push_if_new(&mut self.configs, tick, config);
    }

    /// From this tick on the game shows it these objects.
    pub fn show(&mut self, tick: u32, identities: BTreeSet<u64>) {
        push_if_new(&mut self.shown, tick, identities);
    }

    /// The settings at a tick.
    pub fn at(&self, tick: u32) -> Option<&PeerConfig> {
        at(&self.configs, tick)
    }

    /// The newest settings.
    pub fn now(&self) -> PeerConfig {
        self.configs[self.configs.len() - 1].1
    }
}

/// The place of the identity among the words of a class.
pub fn identity_of(class: &Class, words: &[i32]) -> Option<u64> {
    let field = class.fields().get(class.schema().index_of(IDENTITY)?)?;
    let own = words.get(field.first..field.first + 2)?;
    Some(u64::from(own[0] as u32) | u64::from(own[1] as u32) << 32)
}

fn at<T>(list: &Since<T>, tick: u32) -> Option<&T> {
    let place = list.partition_point(|(since, _)| *since <= tick);
    Some(&list.get(place.checked_sub(1)?)?.1)
}

fn push_if_new<T: PartialEq>(list: &mut Since<T>, tick: u32, value: T) {
    match list.last_mut() {
        Some((since, last)) if *since == tick => *last = value,
        Some((_, last)) if *last == value => {}
        _ => list.push((tick, value)),
    }
}

//! Broadcasters: from what the rules say to what clients hear.
//!
//! The rules know nothing of networks, and a room knows nothing of ships. Between them are parts that each tell one thing, know only
//! what they need for it, and can be tried alone:
//!
//! ```text
//!               ┌─ entity     ships, enemies, shots, capsules, debris ─▶ objects
//!               ├─ level      where the game stands                   ─▶ an object; a level begins
//!   rules ──────┼─ game       bosses, beams, the end                  ─▶ calls to all
//!   state,      ├─ power_up   offers of powers, and what was chosen   ─▶ calls to one
//!   events      ├─ weapon     the same of weapons                     ─▶ calls to one
//!               └─ lobby      who comes and goes                      ─▶ notices to all
//! ```
//!
//! What they tell goes into a [`Sink`] (calls and notices) or a [`Scene`] (objects). A room is both.

pub mod entity;
pub mod game;
pub mod level;
pub mod lobby;
pub mod power_up;
pub mod weapon;

use netloom::prelude::*;
use netloom::replica::server::rewind::ModelId;
use netloom::replica::world::WorldError;
use netloom::session::room::SpawnError;
use serde::Serialize;

use crate::game::seats::Seats;

/// Where calls and notices go.
pub trait Sink {
    /// To one player.
    fn tell(&mut self, player: PlayerId, call: &'static str, args: &impl Serialize);
    /// To everybody.
    fn tell_all(&mut self, call: &'static str, args: &impl Serialize);
    /// Something for everybody to read.
    fn notify_all(&mut self, text: &str);
}

/// Tells something to whoever flies the ship of a seat. A bot has nobody to tell.
fn tell_pilot(seat: usize, seats: &Seats, call: &'static str, args: &impl Serialize, sink: &mut impl Sink) {
    if let Some(player) = seats.player(seat) {
        sink.tell(player, call, args);
    }
}

/// Where objects are.
pub trait Scene {
    /// A new one, if there is a place for it.
    fn spawn<T: Replicated>(&mut self, value: &T, owner: Option<PlayerId>)
    -> Result<ObjectIndex, SpawnError>;
    /// One is other than it was.
    fn write<T: Replicated>(&mut self, object: ObjectIndex, value: &T) -> Result<(), WorldError>;
    /// What is written of it now is a jump.
    fn jump(&mut self, object: ObjectIndex) -> Result<(), WorldError>;
    /// One is gone.
    fn despawn(&mut self, object: ObjectIndex) -> Result<(), WorldError>;
    /// Where one is from now on is remembered, for beams.
    fn remember(&mut self, object: ObjectIndex, silhouette: ModelId);
}

impl Sink for Room {
    fn tell(&mut self, player: PlayerId, call: &'static str, args: &impl Serialize) {
        report(call, self.call(CallTarget::Player(player), call, None, args));
    }

    fn tell_all(&mut self, call: &'static str, args: &impl Serialize) {
        report(call, self.call(CallTarget::All, call, None, args));
    }

    fn notify_all(&mut self, text: &str) {
        Room::notify_all(self, text);
    }
}

/// All calls are in the protocol: what fails is that far too much waits to be sent.
fn report(call: &str, called: Result<(), impl std::fmt::Display>) {
    if let Err(error) = called {
        tracing::warn!(call, %error, "a call is not sent");
    }
}

impl Scene for Room {
    fn spawn<T: Replicated>(
        &mut self,
        value: &T,
        owner: Option<PlayerId>,
    ) -> Result<ObjectIndex, SpawnError> {
        Room::spawn(self, value, owner)
    }

    fn write<T: Replicated>(&mut self, object: ObjectIndex, value: &T) -> Result<(), WorldError> {
        Room::write(self, object, value)
    }

    fn jump(&mut self, object: ObjectIndex) -> Result<(), WorldError> {
        self.world_mut().teleport(object)
    }

    fn despawn(&mut self, object: ObjectIndex) -> Result<(), WorldError> {
        Room::despawn(self, object)
    }

    fn remember(&mut self, object: ObjectIndex, silhouette: ModelId) {
        let tracked = self.rewind().map(|rewind| rewind.track(object, silhouette, 1));
        if let Some(Err(error)) = tracked {
            tracing::warn!(%error, "beams pass through an object");
        }
    }
}

#[cfg(test)]
pub(crate) mod fake {
    //! A sink that remembers and a scene without a room, for tests.

    use netloom::prelude::{ObjectIndex, PlayerId, Protocol, Replicated};
    use netloom::replica::server::rewind::ModelId;
    use netloom::replica::world::{Spawn, World, WorldConfig, WorldError};
    use netloom::session::room::SpawnError;
    use netloom::wire::ObjectId;
    use serde::Serialize;
    use serde_json::Value;

    use super::{Scene, Sink};
    use crate::prediction::units;
    use crate::protocol::protocol;

    /// Something that was told.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Heard {
        to: Option<PlayerId>,
        call: &'static str,
        args: Value,
    }

    impl Heard {
        pub fn one(to: PlayerId, call: &'static str, args: &impl Serialize) -> Heard {
            Heard { to: Some(to), call, args: serde_json::to_value(args).unwrap() }
        }

        pub fn all(call: &'static str, args: &impl Serialize) -> Heard {
            Heard { to: None, call, args: serde_json::to_value(args).unwrap() }
        }

        pub fn notice(text: &str) -> Heard {
            Heard { to: None, call: "", args: Value::from(text) }
        }
    }

    /// All that was told, in its order.
    #[derive(Debug, Default)]
    pub struct Told {
        pub heard: Vec<Heard>,
    }

    impl Sink for Told {
        fn tell(&mut self, player: PlayerId, call: &'static str, args: &impl Serialize) {
            self.heard.push(Heard::one(player, call, args));
        }

        fn tell_all(&mut self, call: &'static str, args: &impl Serialize) {
            self.heard.push(Heard::all(call, args));
        }

        fn notify_all(&mut self, text: &str) {
            self.heard.push(Heard::notice(text));
        }
    }

    /// Objects, without anybody who sees them.
    #[derive(Debug)]
    pub struct Objects {
        pub world: World,
        protocol: Protocol,
        spawned: u64,
        /// What jumped, and what beams can hit, in the order of both.
        pub jumped: Vec<ObjectIndex>,
        pub remembered: Vec<ObjectIndex>,
    }

    impl Objects {
        /// For so many at once.
        pub fn new(objects_max: usize) -> Objects {
            let protocol = protocol();
            let config = WorldConfig { objects_max, ..WorldConfig::default() };
            let world = World::new(protocol.classes().to_vec(), config).unwrap();
            Objects { world, protocol, spawned: 0, jumped: Vec::new(), remembered: Vec::new() }
        }

        /// All of a kind.
        pub fn all<T: Replicated>(&self) -> Vec<T> {
            let class = self.protocol.class_id(T::NAME);
            let of_kind = self.world.iter().filter(|object| Some(object.class_id()) == class);
            of_kind.map(|object| T::read_world(&object).unwrap()).collect()
        }

        /// Where all of a kind are, in units, in order.
        pub fn places<T: Replicated>(&self, at: impl Fn(&T) -> [f32; 2]) -> Vec<[i32; 2]> {
            let mut places: Vec<[i32; 2]> = self.all::<T>().iter().map(|object| units(at(object))).collect();
            places.sort();
            places
        }
    }

    impl Scene for Objects {
        fn spawn<T: Replicated>(
            &mut self,
            value: &T,
            owner: Option<PlayerId>,
        ) -> Result<ObjectIndex, SpawnError> {
            let class = self.protocol.class_id(T::NAME).ok_or(SpawnError::NotInProtocol(T::NAME))?;
            self.spawned += 1;
            let spawn = T::spawn_defaults().spawn(ObjectId(self.spawned), class);
            let object = self.world.spawn(Spawn { owner, ..spawn })?;
            value.write(&mut self.world, object)?;
            Ok(object)
        }

        fn write<T: Replicated>(&mut self, object: ObjectIndex, value: &T) -> Result<(), WorldError> {
            // What a field cannot hold would be an error here.
            value.write(&mut self.world, object).unwrap();
            Ok(())
        }

        fn jump(&mut self, object: ObjectIndex) -> Result<(), WorldError> {
            self.jumped.push(object);
            self.world.teleport(object)
        }

        fn despawn(&mut self, object: ObjectIndex) -> Result<(), WorldError> {
            self.world.despawn(object)
        }

        fn remember(&mut self, object: ObjectIndex, _: ModelId) {
            self.remembered.push(object);
        }
    }
}

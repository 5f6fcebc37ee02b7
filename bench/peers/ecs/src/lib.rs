//! The walkers as entities of bevy: two replicated components each, and a number by which a client tells them apart.

#![forbid(unsafe_code)]

use bevy::prelude::*;
use peer_common::{State, Walk};
use serde::{Deserialize, Serialize};

/// Which walker an entity is.
#[derive(Clone, Component, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Number(pub u16);

/// In metres.
#[derive(Clone, Component, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Position(pub [f32; 3]);

/// A quaternion: x, y, z, w.
#[derive(Clone, Component, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Rotation(pub [f32; 4]);

/// Entities of a server, by number of the walker.
pub struct Walkers(Vec<Entity>);

impl Walkers {
    /// An entity for each walker, with `marker` so that the library replicates it.
    pub fn spawn<M: Bundle>(world: &mut World, count: usize, marker: impl Fn() -> M) -> Walkers {
        let walk = Walk::new(count);
        let places = walk.positions.iter().zip(&walk.rotations).enumerate();
        let entities = places.map(|(number, (&position, &rotation))| {
            world.spawn((marker(), Number(number as u16), Position(position), Rotation(rotation))).id()
        });
        Walkers(entities.collect())
    }

    /// The new state, as any game writes it.
    pub fn write(&self, world: &mut World, walk: &Walk) {
        for (number, &entity) in self.0.iter().enumerate() {
            let mut entity = world.entity_mut(entity);
            entity.get_mut::<Position>().expect("a walker").0 = walk.positions[number];
            entity.get_mut::<Rotation>().expect("a walker").0 = walk.rotations[number];
        }
    }
}

/// Updates that a client has applied.
#[derive(Default, Resource)]
struct Updates(u64);

/// Has a client count what it applies.
pub fn count_updates(app: &mut App) {
    app.init_resource::<Updates>();
    app.add_systems(Update, |changed: Query<(), Changed<Position>>, mut updates: ResMut<'_, Updates>| {
        updates.0 += changed.iter().count() as u64;
    });
}

/// What was counted, over all clients.
pub fn updates(clients: &[App]) -> u64 {
    clients.iter().map(|client| client.world().resource::<Updates>().0).sum()
}

/// What a client holds.
pub fn read(client: &App, into: &mut [Option<State>]) {
    let world = client.world();
    // No query can be made before the first entity has come.
    let Some(mut query) = world.try_query::<(&Number, &Position, &Rotation)>() else { return };
    for (number, position, rotation) in query.iter(world) {
        if let Some(state) = into.get_mut(usize::from(number.0)) {
            *state = Some(State { position: position.0, rotation: rotation.0 });
        }
    }
}

//! Everything that flies, as objects.
//!
//! The rules call what there is by numbers, each given once and later ones to what came later; lists of them are in that order. So
//! what came, went and stayed since the last step follows from one walk over two sorted lists:
//!
//! ```text
//!   objects before   3  5  6     9
//!   entities now     3     6  8  9  11        5 is gone, 8 and 11 are new, the others are written
//! ```
//!
//! Nothing is allocated but for what is new beyond all that was there before.

use netloom::prelude::*;
use netloom::replica::client::predict::SpawnKey;
use netloom::replica::server::rewind::ModelId;

use super::Scene;
use crate::game::seats::{Pilot, Seats};
use crate::prediction::metres;
use crate::protocol::{self, BOT, NO_SEAT};
use crate::rules::{Capsule, Debris, Enemy, Event, SEATS, Ship, Shot, State};

/// Units that nothing flies in a step: whoever is farther away has jumped.
const JUMP_UNITS: i32 = 100;

/// The objects of everything that flies.
#[derive(Debug, Default)]
pub struct EntityBroadcaster {
    ships: [Option<Shown<protocol::Ship>>; SEATS],
    enemies: Mirror<protocol::Enemy>,
    shots: Mirror<protocol::Shot>,
    capsules: Mirror<protocol::Capsule>,
    debris: Mirror<protocol::Debris>,
    /// What beams ask the past about; none if the room keeps no past.
    silhouette: Option<ModelId>,
}

/// Something that is shown.
#[derive(Debug)]
struct Shown<T> {
    id: u32,
    object: ObjectIndex,
    value: T,
}

impl EntityBroadcaster {
    /// For a room that remembers where things were by this model.
    pub fn new(silhouette: Option<ModelId>) -> EntityBroadcaster {
        EntityBroadcaster { silhouette, ..EntityBroadcaster::default() }
    }

    /// Shows a state as it is after a step; `step` is what the room calls that step, and the last events are those of it.
    pub fn broadcast(&mut self, state: &State, seats: &Seats, step: Tick, scene: &mut impl Scene) {
        let context = Context { seats, step, events: &state.events };
        for (seat, shown) in self.ships.iter_mut().enumerate() {
            show_ship(seat, state.ships[seat].as_ref(), shown, &context, scene);
        }
        self.enemies.show(&state.enemies, &context, self.silhouette, scene);
        self.debris.show(&state.debris, &context, self.silhouette, scene);
        self.shots.show(&state.shots, &context, None, scene);
        self.capsules.show(&state.capsules, &context, None, scene);
    }

    /// The object of an enemy.
    pub fn enemy(&self, id: u32) -> Option<ObjectIndex> {
        self.enemies.find(id)
    }

    /// The object of a piece of debris.
    pub fn debris(&self, id: u32) -> Option<ObjectIndex> {
        self.debris.find(id)
    }

    /// Nothing flies any more.
    pub fn clear(&mut self, scene: &mut impl Scene) {
        for shown in self.ships.iter_mut().filter_map(Option::take) {
            despawn(shown.object, scene);
        }
        self.enemies.clear(scene);
        self.debris.clear(scene);
        self.shots.clear(scene);
        self.capsules.clear(scene);
    }
}

/// What an object is made of besides what it shows.
struct Context<'a> {
    seats: &'a Seats,
    step: Tick,
    events: &'a [Event],
}

/// What the rules have, as clients see it.
trait Entity {
    type Object: Replicated;

    fn id(&self) -> u32;
    /// As it is shown when it appears, and who owns it.
    fn appear(&self, context: &Context<'_>) -> (Self::Object, Option<PlayerId>);
    /// Brings what is shown up to date.
    fn update(&self, object: &mut Self::Object);
}

/// Objects of one kind, by the numbers that the rules have for them.
#[derive(Debug)]
struct Mirror<T> {
    shown: Vec<Shown<T>>,
    /// Scratch: those of the next step.
    next: Vec<Shown<T>>,
}

impl<T> Default for Mirror<T> {
    fn default() -> Mirror<T> {
        Mirror { shown: Vec::new(), next: Vec::new() }
    }
}

impl<T: Replicated> Mirror<T> {
    fn show<E: Entity<Object = T>>(
        &mut self,
        entities: &[E],
        context: &Context<'_>,
        silhouette: Option<ModelId>,
        scene: &mut impl Scene,
    ) {
        let mut before = self.shown.drain(..).peekable();
        for entity in entities {
            while let Some(gone) = before.next_if(|shown| shown.id < entity.id()) {
                despawn(gone.object, scene);
            }
            let Some(mut shown) = before.next_if(|shown| shown.id == entity.id()) else {
                let (value, owner) = entity.appear(context);
                // In a room that is full, it appears when there is a place.
                if let Ok(object) = scene.spawn(&value, owner) {
                    silhouette.iter().for_each(|model| scene.remember(object, *model));
                    self.next.push(Shown { id: entity.id(), object, value });
                }
                continue;
            };
            entity.update(&mut shown.value);
            write(&shown, scene);
            self.next.push(shown);
        }
        before.for_each(|gone| despawn(gone.object, scene));
        std::mem::swap(&mut self.shown, &mut self.next);
    }

    fn find(&self, id: u32) -> Option<ObjectIndex> {
        let place = self.shown.binary_search_by_key(&id, |shown| shown.id).ok()?;
        self.shown.get(place).map(|shown| shown.object)
    }

    fn clear(&mut self, scene: &mut impl Scene) {
        self.shown.drain(..).for_each(|gone| despawn(gone.object, scene));
    }
}

fn despawn(object: ObjectIndex, scene: &mut impl Scene) {
    // It was spawned here, and nobody else removes it.
    let _despawned = scene.despawn(object);
}

fn write<T: Replicated>(shown: &Shown<T>, scene: &mut impl Scene) {
    // It is there, and its fields hold what the rules have: there is a test.
    let _written = scene.write(shown.object, &shown.value);
}

/// Ships go by seats. One whose pilot is another is another ship.
fn show_ship(
    seat: usize,
    ship: Option<&Ship>,
    shown: &mut Option<Shown<protocol::Ship>>,
    context: &Context<'_>,
    scene: &mut impl Scene,
) {
    let owner = context.seats.player(seat);
    let pilot = match context.seats.pilot(seat) {
        Pilot::Player(player) => player.0 as u16,
        Pilot::Bot | Pilot::Nobody => BOT,
    };
    if let Some(gone) = shown.take_if(|shown| ship.is_none() || shown.value.pilot != pilot) {
        despawn(gone.object, scene);
    }
    let Some(ship) = ship else { return };
    let mut value = protocol::Ship {
        pilot,
        lives: small(ship.lives),
        shield: small(ship.shield),
        score: ship.score.max(0) as u32,
        ..protocol::Ship::default()
    };
    value.set_pilotage(&ship.pilotage);
    match shown {
        Some(shown) => {
            let before = shown.value.pilotage();
            let way = (before.x - ship.pilotage.x).abs().max((before.y - ship.pilotage.y).abs());
            if way > JUMP_UNITS {
                // It is there.
                let _jumped = scene.jump(shown.object);
            }
            shown.value = value;
            write(shown, scene);
        }
        None => {
            let spawned = scene.spawn(&value, owner);
            *shown = spawned.ok().map(|object| Shown { id: seat as u32, object, value });
        }
    }
}

/// Counts of the rules that are sent in a byte.
fn small(count: i32) -> u8 {
    count.clamp(0, 255) as u8
}

impl Entity for Enemy {
    type Object = protocol::Enemy;

    fn id(&self) -> u32 {
        self.id
    }

    fn appear(&self, _: &Context<'_>) -> (protocol::Enemy, Option<PlayerId>) {
        let mut object = protocol::Enemy { kind: self.kind, ..protocol::Enemy::default() };
        self.update(&mut object);
        (object, None)
    }

    fn update(&self, object: &mut protocol::Enemy) {
        object.at = metres(self.x, self.y);
        (object.health, object.mood) = (small(self.percent()), small(self.mood));
    }
}

impl Entity for Shot {
    type Object = protocol::Shot;

    fn id(&self) -> u32 {
        self.id
    }

    fn appear(&self, context: &Context<'_>) -> (protocol::Shot, Option<PlayerId>) {
        let owner = context.seats.player(self.seat.into());
        let index = context.events.iter().find_map(|event| match event {
            Event::ShotFired { id, index, .. } if *id == self.id => Some(*index as u8),
            _ => None,
        });
        let key = owner.zip(index).map(|(player, index)| SpawnKey::new(player, context.step, index));
        let object = protocol::Shot {
            at: metres(self.x, self.y),
            kind: self.kind,
            seat: self.seat.min(NO_SEAT),
            key: key.map_or(0, SpawnKey::to_bits),
        };
        (object, owner)
    }

    fn update(&self, object: &mut protocol::Shot) {
        object.at = metres(self.x, self.y);
    }
}

impl Entity for Capsule {
    type Object = protocol::Capsule;

    fn id(&self) -> u32 {
        self.id
    }

    fn appear(&self, _: &Context<'_>) -> (protocol::Capsule, Option<PlayerId>) {
        (protocol::Capsule { at: metres(self.x, self.y), power: self.power }, None)
    }

    fn update(&self, object: &mut protocol::Capsule) {
        object.at = metres(self.x, self.y);
    }
}

impl Entity for Debris {
    type Object = protocol::Debris;

    fn id(&self) -> u32 {
        self.id
    }

    fn appear(&self, _: &Context<'_>) -> (protocol::Debris, Option<PlayerId>) {
        (protocol::Debris { at: metres(self.x, self.y), size: small(self.size) }, None)
    }

    fn update(&self, object: &mut protocol::Debris) {
        object.at = metres(self.x, self.y);
    }
}

#[cfg(test)]
mod tests {
    use netloom::replica::server::rewind::{HitModel, HitPart, PartId, Rewind, RewindConfig, Shape};
    use netloom::wire::Tick;

    use super::super::fake::Objects;
    use super::*;
    use crate::rules::{Levels, bot};

    const ADA: PlayerId = PlayerId(1);

    fn silhouette() -> ModelId {
        let shape = Shape::sphere([0.0; 3], 0.01).unwrap();
        let model = HitModel::new(&[HitPart { part: PartId(0), shape }]).unwrap();
        Rewind::new(RewindConfig::default()).unwrap().add_model(model).unwrap()
    }

    fn sorted(places: impl Iterator<Item = (i32, i32)>) -> Vec<[i32; 2]> {
        let mut places: Vec<[i32; 2]> = places.map(|(x, y)| [x, y]).collect();
        places.sort();
        places
    }

    fn assert_equal(objects: &Objects, state: &State) {
        let places = objects.places::<protocol::Enemy>(|object| object.at);
        assert_eq!(places, sorted(state.enemies.iter().map(|enemy| (enemy.x, enemy.y))));
        let places = objects.places::<protocol::Shot>(|object| object.at);
        assert_eq!(places, sorted(state.shots.iter().map(|shot| (shot.x, shot.y))));
        let places = objects.places::<protocol::Capsule>(|object| object.at);
        assert_eq!(places, sorted(state.capsules.iter().map(|capsule| (capsule.x, capsule.y))));
        let places = objects.places::<protocol::Debris>(|object| object.at);
        assert_eq!(places, sorted(state.debris.iter().map(|debris| (debris.x, debris.y))));
        let ships: Vec<_> = objects.all::<protocol::Ship>().iter().map(protocol::Ship::pilotage).collect();
        assert_eq!(ships.len(), state.ships.iter().flatten().count());
        assert!(state.ships.iter().flatten().all(|ship| ships.contains(&ship.pilotage)));
    }

    #[test]
    fn objects_are_what_the_rules_have_after_every_step_of_every_level() {
        let levels = Levels::embedded();
        for level in 1..=levels.len() {
            let mut state = State::new(&levels, level, 7);
            (0..SEATS).for_each(|seat| state.add_ship(seat));
            let seats = Seats::deal([ADA].into_iter(), 3);
            let mut entities = EntityBroadcaster::new(Some(silhouette()));
            let mut objects = Objects::new(1_000);
            for step in 0..2_000 {
                let pressed = [0, 1, 2, 3].map(|seat| bot::buttons(&state, seat));
                state.step(&levels, &pressed);
                entities.broadcast(&state, &seats, Tick(step), &mut objects);
                objects.world.commit(Tick(step)).unwrap();
                assert_equal(&objects, &state);
            }
            assert!(objects.remembered.len() > 10, "beams can hit something");
            entities.clear(&mut objects);
            assert!(objects.world.is_empty());
        }
    }

    #[test]
    fn a_ship_of_another_pilot_is_another_object_and_one_that_comes_back_has_jumped() {
        let levels = Levels::embedded();
        let (mut entities, mut objects) = (EntityBroadcaster::new(None), Objects::new(10));
        let mut state = State::new(&levels, 1, 7);
        state.add_ship(0);
        let bots = Seats::deal(std::iter::empty(), 1);
        entities.broadcast(&state, &bots, Tick(1), &mut objects);
        let before = objects.world.iter().next().map(|object| (object.index(), object.owner())).unwrap();
        assert_eq!((before.1, objects.all::<protocol::Ship>()[0].pilot), (None, BOT));

        let seats = Seats::deal([ADA].into_iter(), 0);
        entities.broadcast(&state, &seats, Tick(2), &mut objects);
        let after = objects.world.iter().next().map(|object| (object.index(), object.owner())).unwrap();
        assert_ne!(before.0, after.0);
        assert_eq!((after.1, objects.all::<protocol::Ship>()[0].pilot), (Some(ADA), 1));

        state.ships[0].as_mut().unwrap().pilotage.x += 6;
        entities.broadcast(&state, &seats, Tick(3), &mut objects);
        assert_eq!(objects.jumped, []);
        state.ships[0].as_mut().unwrap().pilotage.x += 600;
        entities.broadcast(&state, &seats, Tick(4), &mut objects);
        assert_eq!(objects.jumped, [after.0]);

        state.remove_ship(0);
        entities.broadcast(&state, &Seats::default(), Tick(5), &mut objects);
        assert!(objects.world.is_empty());
    }

    #[test]
    fn shots_of_a_player_have_keys_of_their_step_and_place_in_the_volley() {
        let levels = Levels::embedded();
        let mut state = State::new(&levels, 1, 7);
        for seat in 0..2 {
            state.add_ship(seat);
            state.ships[seat].as_mut().unwrap().pilotage.weapon_level = 2;
        }
        let seats = Seats::deal([ADA].into_iter(), 1);
        let (mut entities, mut objects) = (EntityBroadcaster::new(None), Objects::new(100));
        state.step(&levels, &[protocol::buttons::SHOOT; SEATS]);
        entities.broadcast(&state, &seats, Tick(77), &mut objects);
        let keys = |seat| -> Vec<u64> {
            let shots = objects.all::<protocol::Shot>();
            shots.iter().filter(|shot| shot.seat == seat).map(|shot| shot.key).collect()
        };
        assert_eq!(keys(0), [0, 1].map(|index| SpawnKey::new(ADA, Tick(77), index).to_bits()));
        assert_eq!(keys(1), [0, 0], "nobody predicts a bot's");
    }

    #[test]
    fn what_finds_no_place_appears_when_there_is_one() {
        let levels = Levels::embedded();
        let (mut entities, mut objects) = (EntityBroadcaster::new(None), Objects::new(1));
        let (mut state, seats) = (State::new(&levels, 1, 7), Seats::deal(std::iter::empty(), 2));
        (0..2).for_each(|seat| state.add_ship(seat));
        entities.broadcast(&state, &seats, Tick(1), &mut objects);
        assert_eq!(objects.all::<protocol::Ship>().iter().map(|ship| ship.seat).collect::<Vec<_>>(), [0]);
        state.remove_ship(0);
        entities.broadcast(&state, &seats, Tick(2), &mut objects);
        // A place is free when those who saw it have been told.
        objects.world.commit(Tick(2)).unwrap();
        entities.broadcast(&state, &seats, Tick(3), &mut objects);
        assert_eq!(objects.all::<protocol::Ship>().iter().map(|ship| ship.seat).collect::<Vec<_>>(), [1]);
    }
}

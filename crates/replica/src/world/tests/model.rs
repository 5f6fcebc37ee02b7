//! The world against a model that keeps every state it ever had.

use netloom_wire::{QuantizeCounters, SectorOrigin};
use proptest::prelude::*;

use super::*;
use crate::limits::VERSIONS_KEPT;

#[derive(Clone, Debug)]
enum Operation {
    Spawn,
    Despawn(usize),
    Move(usize, [i32; 3]),
    Health(usize, i32),
    Rename(usize, u8),
    Profile(usize, u8),
    Rebase(usize, i32),
    Touch(usize),
    Commit(u32),
}

fn operation() -> impl Strategy<Value = Operation> {
    let who = 0usize..6;
    prop_oneof![
        2 => Just(Operation::Spawn),
        1 => who.clone().prop_map(Operation::Despawn),
        8 => (who.clone(), proptest::array::uniform3(-3i32..3)).prop_map(|(who, place)| Operation::Move(who, place)),
        4 => (who.clone(), 0i32..3).prop_map(|(who, health)| Operation::Health(who, health)),
        2 => (who.clone(), 0u8..2).prop_map(|(who, name)| Operation::Rename(who, name)),
        1 => (who.clone(), 0u8..4).prop_map(|(who, profile)| Operation::Profile(who, profile)),
        1 => (who.clone(), 0i32..3).prop_map(|(who, metres)| Operation::Rebase(who, metres)),
        1 => who.prop_map(Operation::Touch),
        8 => (1u32..4).prop_map(Operation::Commit),
    ]
}

/// One object as the model sees it.
#[derive(Clone)]
struct Modelled {
    index: ObjectIndex,
    place: [f64; 3],
    health: i32,
    name: u8,
    renames: i32,
    profile: Profile,
    origin: SectorOrigin,
    reframed: bool,
    touched: bool,
    /// Every version of the present frame.
    versions: Vec<(u32, Vec<i32>)>,
}

impl Modelled {
    fn words(&self) -> Vec<i32> {
        let counters = &mut QuantizeCounters::default();
        let position = self.profile.quantize_position(self.place, &self.origin, counters);
        let rotation = match self.profile {
            Profile::None => [0, 0, 0, 1.0f32.to_bits() as i32],
            _ => [3, 0, 0, 0],
        };
        let mut words = position.words.to_vec();
        words.push(position.raw.into());
        words.extend(rotation);
        words.extend([self.health, self.renames]);
        words
    }

    fn in_force(&self, tick: u32) -> Option<&[i32]> {
        let kept = &self.versions[self.versions.len().saturating_sub(VERSIONS_KEPT)..];
        kept.iter().rev().find(|(version, _)| *version <= tick).map(|(_, words)| &words[..])
    }
}

#[derive(Default)]
struct Model {
    objects: Vec<Modelled>,
    next_id: u64,
    tick: u32,
    despawned: Vec<ObjectIndex>,
}

impl Model {
    fn apply(&mut self, world: &mut World, operation: Operation) {
        let count = self.objects.len().max(1);
        match operation {
            Operation::Spawn => self.spawn(world),
            Operation::Despawn(who) if who < self.objects.len() => {
                let gone = self.objects.swap_remove(who);
                world.despawn(gone.index).unwrap();
                if !gone.versions.is_empty() {
                    self.despawned.push(gone.index);
                }
            }
            Operation::Move(who, place) => self.change(who % count, |object| {
                object.place = place.map(|axis| f64::from(axis) * 150.001);
                world.set_position(object.index, object.place).unwrap();
            }),
            Operation::Health(who, health) => self.change(who % count, |object| {
                object.health = health;
                set_health(world, object.index, health);
            }),
            Operation::Rename(who, name) => self.change(who % count, |object| {
                object.renames += i32::from(object.name != name);
                object.name = name;
                world.set(object.index, NAME, Value::Text(["", "Ada"][usize::from(name)])).unwrap();
            }),
            Operation::Profile(who, profile) => self.change(who % count, |object| {
                let profile = Profile::from_bits(profile);
                object.reframed |= object.profile != profile;
                object.profile = profile;
                world.set_profile(object.index, profile).unwrap();
            }),
            Operation::Rebase(who, metres) => self.change(who % count, |object| {
                object.origin = object.origin.moved_to([f64::from(metres) * 64.0; 3]).unwrap();
                object.reframed |= object.profile.uses_origin();
                world.rebase(object.index, object.origin).unwrap();
            }),
            Operation::Touch(who) => self.change(who % count, |object| {
                object.touched = true;
                world.touch(object.index).unwrap();
            }),
            _ => {}
        }
    }

    fn spawn(&mut self, world: &mut World) {
        if self.objects.len() == 6 {
            return;
        }
        self.next_id += 1;
        self.objects.push(Modelled {
            index: world.spawn(Spawn::new(ObjectId(self.next_id), SHIP)).unwrap(),
            place: [0.0; 3],
            health: 0,
            name: 0,
            renames: 0,
            profile: Profile::Standard,
            origin: SectorOrigin::default(),
            reframed: false,
            touched: false,
            versions: Vec::new(),
        });
    }

    fn change(&mut self, who: usize, change: impl FnOnce(&mut Modelled)) {
        if let Some(object) = self.objects.get_mut(who) {
            change(object);
        }
    }

    /// The objects that must have a version of this commit, by slot.
    fn commit(&mut self) -> (Vec<ObjectIndex>, Vec<ObjectIndex>) {
        let (mut changed, mut spawned) = (Vec::new(), Vec::new());
        for object in &mut self.objects {
            let words = object.words();
            let newest = object.versions.last().map(|(_, words)| words);
            if newest.is_none() {
                spawned.push(object.index);
            }
            if object.reframed || object.touched || newest != Some(&words) {
                if object.reframed {
                    object.versions.clear();
                }
                object.versions.push((self.tick, words));
                changed.push(object.index);
            }
            (object.reframed, object.touched) = (false, false);
        }
        changed.sort_unstable();
        spawned.sort_unstable();
        (changed, spawned)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_world_remembers_what_a_list_of_all_states_remembers(
        operations in proptest::collection::vec(operation(), 1..300)
    ) {
        let mut world = world();
        let mut model = Model { tick: 1_000, ..Model::default() };
        for operation in operations {
            let Operation::Commit(step) = operation else {
                model.apply(&mut world, operation);
                continue;
            };
            model.tick += step;
            world.commit(Tick(model.tick)).unwrap();
            let (changed, spawned) = model.commit();
            prop_assert_eq!(world.changed(), changed);
            prop_assert_eq!(world.spawned(), spawned);
            prop_assert_eq!(world.despawned(), std::mem::take(&mut model.despawned));
            prop_assert_eq!(world.len(), model.objects.len());
            for expected in &model.objects {
                let object = world.object(expected.index).unwrap();
                let (tick, words) = expected.versions.last().unwrap();
                prop_assert_eq!(object.version(), Tick(*tick));
                prop_assert_eq!(object.words(), words);
                prop_assert_eq!(object.content(NAME), ["", "Ada"][usize::from(expected.name)].as_bytes());
                for tick in 999..=model.tick + 1 {
                    prop_assert_eq!(object.words_at(Tick(tick)), expected.in_force(tick), "tick {}", tick);
                }
            }
        }
    }
}

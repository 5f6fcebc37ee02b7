//! What a game does to its world.

use std::collections::BTreeMap;

use netloom_replica::ClassId;
use netloom_replica::server::ReplicaServer;
use netloom_replica::server::interest::VisibleTo;
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, World, WorldError};
use netloom_wire::schema::{ArrayWriter, FieldKind, Value};
use netloom_wire::{Name, ObjectId, Profile, SectorOrigin};

use super::CLASSES;
use super::classes::ID;
use super::pair::team;
use super::recording::set_id;
use crate::input::Input;

const OBJECTS_MAX: usize = 24;

/// The objects that a game knows.
#[derive(Default)]
pub struct Game {
    objects: Vec<ObjectIndex>,
    hidden: BTreeMap<ObjectIndex, VisibleTo>,
    next_id: u64,
}

impl Game {
    /// Who may see an object.
    pub fn visible_to(&self, index: ObjectIndex) -> VisibleTo {
        self.hidden.get(&index).copied().unwrap_or_default()
    }

    /// The objects at the places of the set bits.
    pub fn some_objects(&self, places: u16) -> Vec<ObjectIndex> {
        let chosen = |(place, _): &(usize, &ObjectIndex)| places >> (place % 16) & 1 != 0;
        self.objects.iter().enumerate().filter(chosen).map(|(_, index)| *index).collect()
    }

    /// One operation, 0 to 11.
    pub fn operate(&mut self, operation: u8, server: &mut ReplicaServer, input: &mut Input<'_>) {
        if operation < 2 {
            return self.spawn(server, input);
        }
        let place = input.choice(self.objects.len());
        let Some(&index) = self.objects.get(place) else { return };
        let world = server.world_mut();
        match operation {
            2 => {
                self.objects.remove(place);
                self.hidden.remove(&index);
                world.despawn(index).expect("the object is there");
            }
            3 => set_position(world, index, input),
            4 => {
                let quaternion = [0; 4].map(|_: i32| f32::from(input.u8() as i8));
                may_lack_field(world.set_rotation(index, quaternion));
            }
            5 => write(world, index, input),
            6 => {
                let parent = self.objects[input.choice(self.objects.len())];
                match world.attach(index, (parent != index).then_some(parent)) {
                    Ok(()) | Err(WorldError::Circle { .. } | WorldError::TooDeep { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            7 => world.set_profile(index, input.pick(Profile::ALL)).expect("the object is there"),
            8 => {
                let origin = world.object(index).expect("the object is there").origin();
                let metres = [0; 3].map(|_: i32| f64::from(input.u8() as i8) * 100.0);
                let moved = SectorOrigin::moved_to(&origin, metres).expect("near");
                world.rebase(index, moved).expect("the next version");
            }
            9 => {
                world.set_owner(index, owner(input)).expect("the object is there");
                world.set_team(index, team(input)).expect("the object is there");
            }
            10 => {
                let visible_to = match input.choice(4) {
                    0 => VisibleTo::Everyone,
                    1 => VisibleTo::Team(input.choice(2) as u16),
                    2 => VisibleTo::Groups(input.u8().into()),
                    _ => VisibleTo::Nobody,
                };
                self.hidden.insert(index, visible_to);
                server.set_visible_to(index, visible_to);
            }
            _ => {
                world.teleport(index).expect("the object is there");
                set_position(world, index, input);
            }
        }
    }

    fn spawn(&mut self, server: &mut ReplicaServer, input: &mut Input<'_>) {
        if self.objects.len() == OBJECTS_MAX {
            return;
        }
        self.next_id += 1;
        let class = ClassId(input.choice(CLASSES) as u8);
        let profile = input.choice(5).checked_sub(1).map(|profile| Profile::ALL[profile]);
        let id = ObjectId(self.next_id);
        let spawn = Spawn { owner: owner(input), team: team(input), profile, ..Spawn::new(id, class) };
        let world = server.world_mut();
        let index = world.spawn(spawn).expect("a new id and room for it");
        set_id(world, index, self.next_id);
        self.objects.push(index);
    }
}

fn owner(input: &mut Input<'_>) -> Option<OwnerId> {
    input.choice(4).checked_sub(1).map(|owner| OwnerId(owner as u32))
}

fn may_lack_field(result: Result<(), WorldError>) {
    match result {
        Ok(()) | Err(WorldError::NoField { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

fn set_position(world: &mut World, index: ObjectIndex, input: &mut Input<'_>) {
    let unit = input.pick([0.01, 1.0, 100.0, 0.1]);
    may_lack_field(world.set_position(index, [0; 3].map(|_: i32| f64::from(input.u16() as i16) * unit)));
}

/// Sets any field but the id and the transform.
fn write(world: &mut World, index: ObjectIndex, input: &mut Input<'_>) {
    let object = world.object(index).expect("the object is there");
    let class = object.class();
    let field = input.choice(class.fields().len());
    let (kind, range) = (class.fields()[field].kind, class.fields()[field].range);
    if class.schema().index_of(ID) == Some(field) {
        return;
    }
    let mut buffer = [0; 2_048];
    let text: String;
    let value = match kind {
        FieldKind::Bool => Value::Bool(input.u8() & 1 != 0),
        FieldKind::Int(_) | FieldKind::Quantized(_) => Value::Word(range.clamp(input.i32().into())),
        FieldKind::F32 => Value::F32(f32::from(input.u16())),
        FieldKind::U64 => Value::U64(input.u64()),
        FieldKind::Name => Value::Name(Name(input.u64())),
        FieldKind::Text { .. } => {
            text = "x".repeat(input.choice(20)) + &input.u8().to_string();
            Value::Text(&text[..text.len().min(20)])
        }
        FieldKind::Bytes { .. } => {
            let length = input.choice(17);
            Value::Bytes(input.bytes(length))
        }
        FieldKind::Array { element, count_max } => {
            let mut array = ArrayWriter::new(element, count_max, &mut buffer);
            for _ in 0..input.choice(usize::from(count_max) + 1) {
                let number = input.u8();
                array.push(match element.field_kind() {
                    FieldKind::U64 => Value::U64(number.into()),
                    _ => Value::Word(i32::from(number % 7)),
                });
            }
            Value::Array(array.finish().expect("room for all elements"))
        }
        FieldKind::Scale(_) => {
            let scale = [0; 3].map(|_: i32| f32::from(input.u8()) / 8.0);
            return world.set_scale(index, scale).expect("it has a scale");
        }
        FieldKind::Velocity(_) => {
            let velocity = [0; 3].map(|_: i32| f32::from(input.u8() as i8));
            return world.set_velocity(index, velocity).expect("it has a velocity");
        }
        FieldKind::Position(_) | FieldKind::Rotation(_) => return,
    };
    world.set(index, field, value).expect("a value of its field");
}

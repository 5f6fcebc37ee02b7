//! A world in which things move does not touch the heap.
//!
//! An allocator that counts stands in for the system's. After a warm-up, in which lists grow to what the game needs,
//! ticks in which objects move, turn, change properties, texts and arrays, jump, change frames and are attached allocate
//! nothing, nor do peers that are sent what is delivered reliably.

use netloom_replica::property::PropertyPeer;
use netloom_replica::world::{ObjectIndex, Spawn, World, WorldConfig};
use netloom_replica::{Class, ClassId};
use netloom_wire::schema::{ArrayWriter, Delivery, ElementKind, Field, FieldKind, SyncFlags, Value, Writer};
use netloom_wire::{Alias, ObjectId, Profile, Schema, Tick};

const OBJECTS: u64 = 200;
const NAMES: [&str; 3] = ["", "a short one", "the longest name that fits here."];

fn allocations(mut work: impl FnMut()) -> u64 {
    let before = netloom_count::allocations();
    work();
    netloom_count::allocations() - before
}

fn world() -> (World, Vec<ObjectIndex>) {
    let public = SyncFlags::PUBLIC_SYNC;
    let schema = Schema::builder("player")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
        .field("health", FieldKind::int(0, 1_000).unwrap(), public.with(SyncFlags::MODIFIABLE_BY_CLIENT), 100)
        .field("name", FieldKind::Text { bytes_max: 32 }, public, 9)
        .field("items", FieldKind::Array { element: ElementKind::U64, count_max: 9 }, public, 8)
        .with(Field::new("said", FieldKind::Text { bytes_max: 200 }, public, 7).delivered(Delivery::Reliable))
        .build()
        .unwrap();
    let mut world = World::new(vec![Class::new(schema).unwrap()], WorldConfig::default()).unwrap();
    let objects = (0..OBJECTS).map(|id| world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap()).collect();
    (world, objects)
}

fn play(world: &mut World, objects: &[ObjectIndex], tick: u32) {
    let turn = tick as usize;
    for (number, &index) in objects.iter().enumerate() {
        let step = (turn + number) as f64 * 0.03;
        world.set_position(index, [step % 300.0, step % 7.0, 1.0]).unwrap();
        world.set_rotation(index, [0.0, (step as f32).sin(), 0.0, (step as f32).cos()]).unwrap();
        let health = Value::Word(turn as i32 % 1_000);
        world.client_write(index, 2, health, Writer::Owner, |_, _| true).unwrap();
        let text = Value::Text(NAMES[(turn + number) % NAMES.len()]);
        world.set(index, 3, text).unwrap();
        let mut buffer = [0; 80];
        let mut items = ArrayWriter::new(ElementKind::U64, 9, &mut buffer);
        items.extend((0..turn as u64 % 10).map(Value::U64));
        world.set(index, 4, Value::Array(items.finish().unwrap())).unwrap();
        world.set(index, 5, text).unwrap();
    }
    let (first, second) = (objects[turn % objects.len()], objects[(turn + 1) % objects.len()]);
    world.teleport(first).unwrap();
    world.set_profile(first, Profile::from_bits(tick as u8)).unwrap();
    let origin = world.object(second).unwrap().origin().moved_to([f64::from(tick); 3]).unwrap();
    world.rebase(second, origin).unwrap();
    world.attach(second, if tick.is_multiple_of(2) { Some(first) } else { None }).unwrap();
    world.attach(second, None).unwrap();
    world.commit(Tick(tick)).unwrap();
    assert_eq!(world.changed().len(), objects.len());
    for object in world.iter() {
        assert!(object.words_at(Tick(tick)).is_some());
        assert!(object.words_at(Tick(tick - 1)).is_some() || object.history().len() == 1);
    }
}

#[test]
fn a_steady_world_allocates_nothing() {
    let (mut world, objects) = world();
    let mut peers = [(); 3].map(|()| PropertyPeer::new(world.property_log()));
    for peer in &mut peers {
        for (number, &index) in objects.iter().enumerate() {
            peer.enter(world.property_log(), Alias { slot: number as u16, generation: 0 }, index, 1 << 5);
        }
    }
    let mut messages = 0;
    let mut tell = |world: &World| {
        let mut out = [0; 256];
        for peer in &mut peers {
            while peer.poll_property(world, &mut out).is_some() {
                messages += 1;
            }
        }
    };
    for tick in 1..100 {
        play(&mut world, &objects, tick);
        tell(&world);
    }
    let count = allocations(|| {
        for tick in 100..500 {
            play(&mut world, &objects, tick);
            tell(&world);
        }
    });
    assert_eq!(count, 0);
    assert!(messages > 3 * 400 * OBJECTS, "every change reaches every peer: {messages}");
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(16)))), 1);
}

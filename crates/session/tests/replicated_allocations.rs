//! Writing structs into a world does not touch the heap once their contents have room.

use netloom_replica::step::Fields;
use netloom_replica::world::{World, WorldConfig};
use netloom_session::replicated::{ClassOf, Replicated};
use netloom_wire::{Name, ObjectId, Tick};

#[derive(Replicated)]
#[replicated(crate = netloom_session)]
struct Ship {
    #[replicated(position)]
    at: [f32; 3],
    #[replicated(rotation)]
    turned: [f32; 4],
    #[replicated(velocity)]
    speed: [f32; 3],
    #[replicated(range = 0..=100)]
    health: u8,
    #[replicated(range = -1.0..=1.0, step = 0.01)]
    throttle: f32,
    skin: Name,
    #[replicated(text = 32)]
    title: String,
    #[replicated(array = 16, range = 0..=9)]
    digits: Vec<u8>,
    #[replicated(array = 300, reliable)]
    orders: Vec<u64>,
}

#[test]
fn writing_and_describing_in_the_steady_state_allocates_nothing() {
    let config = WorldConfig { property_log_bytes: 131_072, ..WorldConfig::default() };
    let mut world = World::new(vec![Ship::class().unwrap()], config).unwrap();
    let class = ClassOf::<Ship>::find(world.classes()).unwrap();
    let mut ship = Ship {
        at: [0.0; 3],
        turned: [0.0, 0.0, 0.0, 1.0],
        speed: [1.0; 3],
        health: 100,
        throttle: 0.0,
        skin: Name::of("red"),
        title: "a ship of some name".to_owned(),
        digits: vec![0; 16],
        orders: vec![0; 300],
    };
    let objects: Vec<_> =
        (0..50).map(|id| class.spawn(&mut world, ObjectId(id), None, &ship).unwrap()).collect();
    let mut fields = Fields::new();
    let mut play = |world: &mut World, tick: u32| {
        ship.at[0] = tick as f32 * 0.1;
        ship.health = (tick % 100) as u8;
        ship.throttle = (tick as f32 * 0.1).sin();
        ship.digits[3] = (tick % 10) as u8;
        ship.orders[7] = tick.into();
        ship.title.clear();
        ship.title.push_str(if tick.is_multiple_of(2) { "an even ship" } else { "an odd one" });
        objects.iter().for_each(|object| ship.write(world, *object).unwrap());
        world.commit(Tick(tick)).unwrap();
    };
    (1..100).for_each(|tick| play(&mut world, tick));
    let before = netloom_count::allocations();
    (100..400).for_each(|tick| play(&mut world, tick));
    assert_eq!(netloom_count::allocations() - before, 0);

    let value = class.read_world(&world, world.find(ObjectId(3)).unwrap()).unwrap();
    assert_eq!((value.health, value.orders[7], value.digits[3]), (99, 399, 9));
    let before = netloom_count::allocations();
    value.describe(&mut fields);
    assert_eq!((netloom_count::allocations() - before, fields.excess()), (0, 0));
}

use netloom_wire::SectorOrigin;
use proptest::prelude::*;

use super::*;
use crate::world::{ATTACH_DEPTH_MAX, WorldError};

/// A quarter turn about the z axis.
const QUARTER: [f32; 4] = [0.0, 0.0, std::f32::consts::FRAC_1_SQRT_2, std::f32::consts::FRAC_1_SQRT_2];

fn fleet(world: &mut World, count: u64) -> Vec<ObjectIndex> {
    (0..count).map(|id| world.spawn(Spawn::new(ObjectId(100 + id), SHIP)).unwrap()).collect()
}

fn place(world: &World, index: ObjectIndex) -> [f32; 3] {
    world.object(index).unwrap().position()
}

fn near(a: [f32; 3], b: [f32; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3)
}

#[test]
fn an_attached_object_stays_where_it_is_and_goes_where_its_parent_goes() {
    let mut world = world();
    let [tank, turret] = fleet(&mut world, 2).try_into().unwrap();
    world.set_position(tank, [10.0, 0.0, 0.0]).unwrap();
    world.set_rotation(tank, QUARTER).unwrap();
    world.set_position(turret, [10.0, 3.0, 1.0]).unwrap();
    world.commit(Tick(1)).unwrap();
    let frame = world.object(turret).unwrap().frame();

    world.attach(turret, Some(tank)).unwrap();
    world.commit(Tick(2)).unwrap();
    let object = world.object(turret).unwrap();
    assert_eq!((object.parent(), object.frame()), (Some(tank), frame + 1));
    assert_eq!(object.words()[..4], [300, 0, 100, 0], "three metres ahead of a tank that looks along y");
    assert!(near(object.position(), [10.0, 3.0, 1.0]));

    world.set_position(tank, [50.0, 0.0, 0.0]).unwrap();
    world.commit(Tick(3)).unwrap();
    assert_eq!(world.changed(), [tank]);
    assert_eq!(world.moved(), [tank, turret]);
    assert!(near(place(&world, turret), [50.0, 3.0, 1.0]));

    world.attach(turret, None).unwrap();
    world.commit(Tick(4)).unwrap();
    let object = world.object(turret).unwrap();
    assert_eq!(object.words()[..4], [5_000, 300, 100, 0]);
    assert_eq!((object.parent(), object.frame()), (None, frame + 2));
}

#[test]
fn children_of_a_despawned_object_are_freed_where_they_are() {
    let mut world = world();
    let [ship, gun, sight] = fleet(&mut world, 3).try_into().unwrap();
    world.set_position(ship, [5.0, 0.0, 0.0]).unwrap();
    world.attach(gun, Some(ship)).unwrap();
    world.set_position(gun, [0.0, 1.0, 0.0]).unwrap();
    world.attach(sight, Some(gun)).unwrap();
    world.set_position(sight, [0.0, 1.0, 0.0]).unwrap();
    world.commit(Tick(1)).unwrap();
    assert!(near(place(&world, sight), [5.0, 2.0, 0.0]));
    world.despawn(ship).unwrap();
    world.commit(Tick(2)).unwrap();
    assert_eq!(world.object(gun).unwrap().parent(), None);
    assert_eq!(world.object(sight).unwrap().parent(), Some(gun));
    assert_eq!(world.changed(), [gun], "what is attached to the gun still has the words that it had");
    assert!(near(place(&world, gun), [5.0, 1.0, 0.0]) && near(place(&world, sight), [5.0, 2.0, 0.0]));
}

#[test]
fn circles_and_long_chains_are_refused() {
    let mut world = world();
    let chain = fleet(&mut world, ATTACH_DEPTH_MAX as u64 + 2);
    for pair in chain[..=ATTACH_DEPTH_MAX].windows(2) {
        world.attach(pair[1], Some(pair[0])).unwrap();
    }
    let [first, last, extra] = [chain[0], chain[ATTACH_DEPTH_MAX], chain[ATTACH_DEPTH_MAX + 1]];
    assert_eq!(world.attach(first, Some(first)), Err(WorldError::Circle { child: first, parent: first }));
    assert_eq!(world.attach(first, Some(last)), Err(WorldError::Circle { child: first, parent: last }));
    assert_eq!(world.attach(extra, Some(last)), Err(WorldError::TooDeep { depth: 9 }));
    assert_eq!(world.attach(first, Some(extra)), Err(WorldError::TooDeep { depth: 9 }));
    world.attach(extra, Some(chain[7])).unwrap();
    world.attach(last, None).unwrap();
    world.attach(first, Some(last)).unwrap_err();
}

#[test]
fn an_attached_object_has_no_use_for_an_origin() {
    let mut world = world();
    let [ship, gun] = fleet(&mut world, 2).try_into().unwrap();
    world.attach(gun, Some(ship)).unwrap();
    world.set_position(gun, [1.0, 2.0, 3.0]).unwrap();
    world.commit(Tick(1)).unwrap();
    world.rebase(gun, SectorOrigin::default().moved_to([1e6, 0.0, 0.0]).unwrap()).unwrap();
    world.commit(Tick(2)).unwrap();
    assert!(world.changed().is_empty());
    assert_eq!(world.object(gun).unwrap().words()[..4], [100, 200, 300, 0]);
    world.set_position(gun, [1.0, 2.0, 4.0]).unwrap();
    world.commit(Tick(3)).unwrap();
    assert_eq!(world.object(gun).unwrap().words()[..4], [100, 200, 400, 0]);
}

#[test]
fn a_child_that_is_born_with_its_parent_is_reported_once() {
    let mut world = world();
    let [ship, gun] = fleet(&mut world, 2).try_into().unwrap();
    world.attach(gun, Some(ship)).unwrap();
    world.commit(Tick(1)).unwrap();
    assert_eq!(world.moved(), [ship, gun]);
    assert_eq!((world.spawned(), world.changed()), (&[ship, gun][..], &[ship, gun][..]));
    assert_eq!(place(&world, gun), [0.0; 3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn families_stay_trees_and_attaching_moves_nobody(
        operations in proptest::collection::vec((0usize..12, 0usize..14, proptest::array::uniform3(-50.0f64..50.0)), 1..80)
    ) {
        let mut world = world();
        let ships = fleet(&mut world, 12);
        let mut parents = [None; 12];
        for (tick, (child, target, position)) in operations.into_iter().enumerate() {
            world.set_position(ships[child], position).unwrap();
            world.set_rotation(ships[child], [position[0] as f32, 1.0, position[1] as f32, position[2] as f32]).unwrap();
            world.commit(Tick(2 * tick as u32)).unwrap();
            let before = place(&world, ships[child]);
            let parent = ships.get(target).copied();
            let climb = |from: Option<usize>| std::iter::successors(from, |&slot: &usize| parents[slot]);
            let depth = |slot: usize| climb(parents[slot]).count();
            let is_circle = parent.is_some() && climb(Some(target)).any(|slot| slot == child);
            let below = (0..12).filter(|&slot| climb(Some(slot)).any(|above| above == child));
            let height = below.map(|slot| depth(slot) - depth(child)).max().unwrap_or(0);
            let is_deep = parent.is_some() && !is_circle && depth(target) + 1 + height > ATTACH_DEPTH_MAX;
            let result = world.attach(ships[child], parent);
            prop_assert_eq!(matches!(result, Err(WorldError::Circle { .. })), is_circle);
            prop_assert_eq!(matches!(result, Err(WorldError::TooDeep { .. })), is_deep);
            if result.is_ok() {
                parents[child] = parent.map(|_| target);
            }
            world.commit(Tick(2 * tick as u32 + 1)).unwrap();
            prop_assert!(near(place(&world, ships[child]), before));
            for (slot, ship) in ships.iter().enumerate() {
                let expected = parents[slot].map(|parent| ships[parent]);
                prop_assert_eq!(world.object(*ship).unwrap().parent(), expected);
            }
        }
    }
}

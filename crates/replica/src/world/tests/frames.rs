use netloom_wire::SectorOrigin;
use netloom_wire::quantize::{OriginVersion, Words3};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::entry::value_of;
use crate::world::WorldError;

fn words(world: &World, index: ObjectIndex) -> &[i32] {
    world.object(index).unwrap().words()
}

#[test]
fn a_rebase_moves_the_frame_and_not_the_object() {
    let (mut world, ship) = world_with_ship();
    world.set_position(ship, [300.0, 20.0, -300.004]).unwrap();
    world.commit(Tick(1)).unwrap();
    assert_eq!(words(&world, ship)[..4], [30_000, 2_000, -30_000, 0]);
    let (frame, place) = (world.object(ship).unwrap().frame(), world.object(ship).unwrap().position());

    let origin = SectorOrigin::default().moved_to([256.0, 0.0, -256.0]).unwrap();
    world.rebase(ship, origin).unwrap();
    world.commit(Tick(2)).unwrap();
    let object = world.object(ship).unwrap();
    assert_eq!(object.words()[..4], [4_400, 2_000, -4_400, 0]);
    assert_eq!((object.frame(), object.position()), (frame + 1, place));
    assert_eq!(object.origin(), origin);
    assert_eq!(object.words_at(Tick(1)), None, "what the words meant before is of no use now");
    assert!(object.words_at(Tick(2)).is_some());
    assert_eq!(world.changed(), [ship]);
}

#[test]
fn an_origin_of_another_version_than_the_next_is_refused() {
    let (mut world, ship) = world_with_ship();
    let same_version = SectorOrigin::new([256.0, 0.0, 0.0], OriginVersion::new(0)).unwrap();
    let refused = world.rebase(ship, same_version);
    assert_eq!(refused, Err(WorldError::OriginVersion { found: 0, expected: 1 }));
    world.rebase(ship, SectorOrigin::default()).unwrap();
    world.commit(Tick(1)).unwrap();
    assert!(world.changed().is_empty(), "the same origin changes nothing");
}

#[test]
fn positions_that_are_not_relative_to_the_origin_keep_their_frame_in_a_rebase() {
    let (mut world, ship) = world_with_ship();
    world.set_profile(ship, Profile::World).unwrap();
    world.commit(Tick(1)).unwrap();
    world.rebase(ship, SectorOrigin::default().moved_to([256.0; 3]).unwrap()).unwrap();
    world.commit(Tick(2)).unwrap();
    assert!(world.changed().is_empty());
    world.set_profile(ship, Profile::Standard).unwrap();
    world.commit(Tick(3)).unwrap();
    assert_eq!(words(&world, ship)[..4], [-25_600, -25_600, -25_600, 0]);
}

#[test]
fn a_profile_can_become_coarser_and_finer_again_without_loss() {
    let (mut world, ship) = world_with_ship();
    world.set_position(ship, [12.3456, 0.0, -7.0]).unwrap();
    world.set_rotation(ship, [0.6, 0.0, 0.0, 0.8]).unwrap();
    let mut frames = Vec::new();
    for (tick, profile, position) in [
        (1, Profile::World, [12, 0, -7, 0]),
        (2, Profile::None, [12.3456f32.to_bits() as i32, 0, (-7.0f32).to_bits() as i32, 1]),
        (3, Profile::High, [123_456, 0, -70_000, 0]),
        (4, Profile::Standard, [1_235, 0, -700, 0]),
    ] {
        world.set_profile(ship, profile).unwrap();
        world.commit(Tick(tick)).unwrap();
        let object = world.object(ship).unwrap();
        assert_eq!(object.words()[..4], position, "{profile:?}");
        assert_eq!((object.profile(), object.history().len()), (profile, 1));
        let kind = object.class().fields()[POSITION].kind;
        assert_eq!(kind, FieldKind::Position(profile), "the class speaks of the same words");
        frames.push(object.frame());
    }
    assert!(frames.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let Some(Value::Rotation(rotation)) = world.get(ship, 1) else { panic!("no rotation") };
    assert!((Profile::Standard.dequantize_rotation(rotation)[0] - 0.6).abs() < 0.002);
}

#[test]
fn a_new_object_stands_at_its_origin() {
    let mut world = world();
    let origin = SectorOrigin::default().moved_to([1_000.0, 0.0, 2_000.0]).unwrap();
    let ship = world.spawn(Spawn { origin, ..Spawn::new(ObjectId(1), SHIP) }).unwrap();
    world.commit(Tick(0)).unwrap();
    assert_eq!(words(&world, ship)[..4], [0; 4]);
    assert_eq!(world.object(ship).unwrap().position(), [1_000.0, 0.0, 2_000.0]);
}

#[test]
fn beyond_the_profile_a_position_is_raw_and_counted() {
    let (mut world, ship) = world_with_ship();
    for step in 0..3 {
        world.set_position(ship, [400.0 + f64::from(step), 0.0, -500.0]).unwrap();
    }
    world.set_position(ship, [400.0, 0.0, -500.0]).unwrap();
    world.commit(Tick(1)).unwrap();
    assert_eq!(world.quantize_counters().saturated, 2, "what is committed counts, once");
    assert_eq!(words(&world, ship)[3], 1);
    assert_eq!(world.object(ship).unwrap().position(), [400.0, 0.0, -500.0]);
    world.set_position(ship, [f64::NAN, 1.0, 1e300]).unwrap();
    world.commit(Tick(2)).unwrap();
    assert_eq!(world.quantize_counters().non_finite, 1);
    assert_eq!(
        world.object(ship).unwrap().position(),
        [0.0, 1.0, f32::MAX],
        "interest never sees infinities"
    );
}

proptest! {
    /// Values become words at the latest moment, which nobody can tell from the first.
    #[test]
    fn what_a_field_says_before_the_commit_are_the_words_after_it(
        places in vec((0u8..5, any::<[i16; 4]>()), 1..40),
    ) {
        let (mut world, ship) = world_with_ship();
        for (at, (what, numbers)) in (1..).zip(places) {
            let [x, y, z, w] = numbers.map(|number| f32::from(number) / 100.0);
            match what {
                0 => world.set_position(ship, [x, y, z].map(f64::from)).unwrap(),
                1 => world.set_rotation(ship, [x, y, z, w]).unwrap(),
                2 => {
                    let [x, y, z, _] = numbers.map(|number| i32::from(number).max(-i32::from(i16::MAX)));
                    world.set(ship, POSITION, Value::Triple(Words3::quantized([x, y, z]))).unwrap();
                }
                3 => {
                    let turned = Profile::Standard.quantize_rotation([x, y, z, w], &mut Default::default());
                    world.set(ship, ROTATION, Value::Rotation(turned)).unwrap();
                }
                _ => {
                    let profile = if numbers[0] > 0 { Profile::Standard } else { Profile::World };
                    world.set_profile(ship, profile).unwrap();
                }
            }
            let said = [POSITION, ROTATION].map(|field| world.get(ship, field).unwrap());
            if numbers[3] % 3 != 0 {
                continue;
            }
            let said = format!("{said:?}");
            world.commit(Tick(at)).unwrap();
            let object = world.object(ship).unwrap();
            let fields = [POSITION, ROTATION].map(|field| object.class().fields()[field]);
            let told = fields.map(|field| value_of(&field, object.words(), object.profile(), &[]));
            prop_assert_eq!(said, format!("{told:?}"));
        }
    }
}

#[test]
fn speed_follows_the_last_change_and_the_velocity_where_there_is_one() {
    let (mut world, ship) = world_with_ship();
    world.set_position(ship, [3.0, 0.0, 4.0]).unwrap();
    world.commit(Tick(10)).unwrap();
    assert_eq!(world.object(ship).unwrap().speed(), 10.0, "5 m in 10 ticks at 20 a second");
    world.set_position(ship, [300.0, 0.0, 4.0]).unwrap();
    world.teleport(ship).unwrap();
    world.commit(Tick(11)).unwrap();
    assert_eq!(world.motions()[0].speed, 10.0, "a jump is no speed");

    let arrow = Schema::builder("arrow")
        .field("velocity", FieldKind::Velocity(Profile::High), SyncFlags::PUBLIC_SYNC, 1)
        .field("scale", FieldKind::Scale(Profile::Standard), SyncFlags::PUBLIC_SYNC, 1);
    let arrow = Class::new(arrow.build().unwrap()).unwrap();
    let mut world = World::new(vec![arrow], WorldConfig::default()).unwrap();
    let arrow = world.spawn(Spawn::new(ObjectId(1), ClassId(0))).unwrap();
    world.set_velocity(arrow, [0.0, -6.0, 8.0]).unwrap();
    world.set_scale(arrow, [1.0, 2.0, 0.5]).unwrap();
    world.commit(Tick(0)).unwrap();
    assert_eq!(world.object(arrow).unwrap().speed(), 10.0);
    assert_eq!(words(&world, arrow), [0, -60_000, 80_000, 0, 32, 64, 16, 0]);
    assert_eq!(world.set_position(arrow, [0.0; 3]), Err(WorldError::NoField { class: 0, field: "position" }));
}

//! Where things are: origins, differences of positions, rotations.

use netloom_replica::server::{PeerConfig, ServerConfig};
use netloom_replica::world::OwnerId;
use netloom_wire::schema::Value;
use netloom_wire::{Profile, SectorOrigin};

use crate::stage::{ANIMATION, HEALTH, Noise, PLENTY, ROTATION, Stage, walker};

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

/// X-U17: coordinates of the world are singles.
#[test]
fn a_single_is_7_8_millimetres_off_at_100_km_and_ours_is_exact_to_the_profile() {
    let place = 100_000.003_9f64;
    let literal = f64::from(place as f32);
    assert_eq!(f64::from(f32::from_bits(100_000f32.to_bits() + 1)) - 100_000.0, 0.007_812_5);
    assert!((literal - place).abs() > 0.003_8);

    let mut stage = Stage::new(walker(), ServerConfig::default());
    stage.join(PeerConfig::new(OwnerId(0)));
    let origin = SectorOrigin::default().moved_to([100_000.0, 0.0, 0.0]).unwrap();
    let walker = stage.spawn_as(|spawn| (spawn.origin, spawn.profile) = (origin, Some(Profile::High)));
    stage.place(walker, [place, 0.0, 0.0]);
    stage.tick(PLENTY);
    let seen = stage.remotes[0].place()[0];
    assert!((seen - place).abs() <= 0.000_05 + 1e-9, "{seen}");
}

/// X-U17: the origin is a property of the object and not in the snapshot.
#[test]
fn a_receiver_that_is_not_told_of_a_rebase_is_256_metres_off_and_ours_never() {
    let (mut stage, walker) = Stage::with_one_walker();
    let mut place = [300.0, 0.0, 0.0];
    stage.place(walker, place);
    stage.tick(PLENTY);
    assert!(distance(stage.remotes[0].place(), place) < 0.01);
    let origin = SectorOrigin::default().moved_to([256.0, 0.0, 0.0]).unwrap();
    stage.server.world_mut().rebase(walker, origin).unwrap();

    let mut noise = Noise(3);
    let mut late = Vec::new();
    for tick in 0..40 {
        let before = place;
        place[0] += 0.2;
        stage.place(walker, place);
        stage.server.begin_tick().unwrap();
        if tick == 0 {
            let words = stage.server.world().object(walker).unwrap().words();
            let literal = f64::from(words[0]) / 100.0;
            assert!((place[0] - literal - 256.0).abs() < 0.01, "the new words with the old origin");
        }
        let sent = stage.send(0, PLENTY);
        // The snapshots that say so are lost or late; others take their place.
        match tick {
            0 | 1 => stage.lose(0, &sent),
            2 => late = sent,
            _ if noise.next().is_multiple_of(3) => stage.lose(0, &sent),
            _ => stage.deliver(0, &sent),
        }
        if tick == 12 {
            stage.deliver(0, &late);
        }
        let seen = stage.remotes[0].place();
        let way = place[0] - 300.0;
        assert!(distance(seen, before) <= way + 0.01, "tick {tick}: {seen:?} for {place:?}");
    }
    stage.tick(PLENTY);
    stage.tick(PLENTY);
    assert_eq!(stage.remotes[0].only().origin(), origin);
    assert!(distance(stage.remotes[0].place(), place) < 0.01);
}

/// B's `QuantizeFloat` over ±128 m in 16 bits: it truncates, and the result is cast to a signed number.
fn literal_code(delta: f64) -> u16 {
    ((delta + 128.0) / 256.0 * 65_535.0) as u16
}

/// X-B11: an unsigned code in a signed field.
#[test]
fn a_difference_of_one_metre_overflows_16_signed_bits_and_ours_arrives_at_any_distance() {
    assert_eq!((literal_code(1.0), literal_code(1.0) as i16), (33_023, -32_513));
    assert!((0..=12_800).all(|cm| (literal_code(f64::from(cm) / 100.0) as i16) < 0 || cm == 0));

    let (mut stage, walker) = Stage::with_one_walker();
    for x in [1.0, 0.0, -1.0, 127.0, -128.0, 200.0, -327.0, 327.67, 5_000.0, -1e6] {
        let place = [x, -x / 2.0, 0.25];
        stage.place(walker, place);
        stage.tick(PLENTY);
        let seen = stage.remotes[0].place();
        assert!(distance(seen, place) < 0.009, "{seen:?} for {place:?}");
    }
}

/// X-B12: differences are taken from the true state, not from what the receiver holds.
#[test]
fn differences_from_the_true_state_drift_by_metres_in_a_minute_and_ours_by_nothing() {
    let (mut stage, walker) = Stage::with_one_walker();
    let mut noise = Noise(5);
    let (mut place, mut literal) = ([0.0; 3], 0.0);
    for _ in 0..60 * 20 {
        let step = noise.within(0.15);
        place[0] += step;
        literal += f64::from(literal_code(step)) / 65_535.0 * 256.0 - 128.0;
        stage.place(walker, place);
        stage.tick(PLENTY);
        let seen = stage.remotes[0].place();
        assert!((seen[0] - place[0]).abs() <= 0.005 + 1e-9, "{seen:?} for {place:?}");
    }
    let drift = literal - place[0];
    assert!((-2.6..-2.2).contains(&drift), "{drift} m");
}

fn degrees_between(a: [f32; 4], b: [f32; 4]) -> f64 {
    let dot: f64 = (0..4).map(|at| f64::from(a[at]) * f64::from(b[at])).sum();
    2.0 * dot.abs().min(1.0).acos().to_degrees()
}

/// B's rotation: the three that are not the largest are sent, and come back as x, y, z with a positive w.
fn literal_rotation(quaternion: [f32; 4]) -> [f32; 4] {
    let largest = (0..4).max_by(|a, b| quaternion[*a].abs().total_cmp(&quaternion[*b].abs())).unwrap();
    let sent: Vec<f32> = (0..4).filter(|at| *at != largest).map(|at| quaternion[at]).collect();
    let rest: f32 = sent.iter().map(|component| component * component).sum();
    [sent[0], sent[1], sent[2], (1.0 - rest).max(0.0).sqrt()]
}

/// X-B13: neither which component was left out nor its sign is sent.
#[test]
fn a_rotation_without_index_and_sign_is_more_than_100_degrees_off_and_ours_within_0_28() {
    let x_largest = [0.9, 0.1, -0.3, -0.3];
    let w_negative = [0.5, -0.1, 0.2, -0.836_660_1];
    assert!(degrees_between(literal_rotation(x_largest), x_largest) > 100.0);
    assert!(degrees_between(literal_rotation(w_negative), w_negative) > 100.0);

    let (mut stage, walker) = Stage::with_one_walker();
    for largest in 0..4 {
        for sign in [1.0, -1.0] {
            let mut quaternion = [0.4, 0.2, 0.4, 0.0];
            quaternion.copy_within(largest..3, (largest + 1).min(3));
            quaternion[largest] = 0.8 * sign;
            stage.server.world_mut().set_rotation(walker, quaternion).unwrap();
            stage.tick(PLENTY);
            let Value::Rotation(rotation) = stage.remotes[0].value(ROTATION) else { panic!("no rotation") };
            let seen = Profile::Standard.dequantize_rotation(rotation);
            let error = degrees_between(seen, quaternion);
            assert!(error < 0.28, "{error} degrees: {seen:?} for {quaternion:?}");
        }
    }
}

/// X-B14: percent times 100 in eight bits, and the animation in none.
#[test]
fn full_health_becomes_16_in_eight_bits_and_ours_returns_with_the_animation() {
    let literal = |health: f32| (health * 100.0) as u32 as u8;
    assert_eq!((literal(1.0), literal(100.0)), (100, 16));

    let (mut stage, walker) = Stage::with_one_walker();
    for health in (0..=100).rev() {
        stage.set(walker, HEALTH, health);
        stage.set(walker, ANIMATION, health % 64);
        stage.tick(PLENTY);
        let remote = &stage.remotes[0];
        assert_eq!(remote.value(HEALTH), Value::Word(health));
        assert_eq!(remote.value(ANIMATION), Value::Word(health % 64));
    }
}

//! Transforms that are not quantized.

#![allow(clippy::unusual_byte_groupings, reason = "each group of bits is one code")]

use super::*;

/// Cases of random motion.
const MOTIONS: u64 = 160;

fn position(values: [f32; 3]) -> [i32; 4] {
    four(Words3::raw(values))
}

/// Three turns about one axis, of so many degrees.
fn turret(axis: [f64; 3], degrees: [f64; 3]) -> Scene {
    let [older, newer, current] = degrees.map(|degrees| about(Profile::None, axis, degrees));
    Scene::rest(TURRET, Profile::None).moving(0, &older, &newer, &current)
}

/// Each way to say them.
pub(super) fn named() -> Vec<(&'static str, Scene)> {
    let crate_ = |states: [[f32; 3]; 3]| {
        let [older, newer, current] = states.map(position);
        Scene::rest(CRATE, Profile::None).moving(0, &older, &newer, &current)
    };
    let far = |states: [[f32; 3]; 3]| Scene { profile: Profile::Standard, ..crate_(states) };
    let drone = |current: [f32; 3], degrees: f64| {
        let [older, newer] = [[1.0, 2.0, 3.0], [1.5, 2.0, 3.0]].map(position);
        let [before, after, now] =
            [0.0, 8.0, degrees].map(|degrees| about(Profile::None, [0.0, 1.0, 0.0], degrees));
        let scene = Scene::rest(DRONE, Profile::None).moving(0, &older, &newer, &position(current));
        scene.moving(4, &before, &after, &now)
    };
    let skew = [1.0, -2.0, 0.5];
    vec![
        ("singles, exactly on the line", crate_([[1.0, 4.0, 8.0], [1.25, 4.5, 8.5], [1.5, 5.0, 9.0]])),
        ("singles near the newer ones", crate_([[1.0, 4.0, 8.0], [1.25, 4.5, 8.5], [1.26, 4.49, 8.51]])),
        ("singles, two of three", crate_([[300.0, 0.0, 8.0], [301.0, 0.0, 8.5], [302.01, 0.0, 9.0]])),
        ("singles across zero", crate_([[0.5, -0.0, 1e-40], [0.1, 0.0, 0.0], [-0.3, -0.0, -1e-40]])),
        ("singles across the largest", crate_([[f32::MIN; 3], [f32::MAX; 3], [f32::MIN, f32::MAX, 0.0]])),
        ("singles from one state", crate_([[0.0; 3], [100.0, 7.0, -3.0], [101.0, 7.5, -3.5]]).aged(2, None)),
        ("singles in full", crate_([[1.0; 3], [1.0; 3], [-1e30, 1e-30, -5.0]])),
        ("singles of a profile that does not reach", far([[4e5; 3], [4.01e5; 3], [4.02e5, 4.03e5, 4e5]])),
        ("of singles that had words before", {
            let mut scene = far([[4e5; 3], [4.01e5; 3], [4.02e5, 4.03e5, 4e5]]);
            scene.older.as_mut().expect("two states").1[..4].copy_from_slice(&[1, 2, 3, 0]);
            scene
        }),
        ("singles that go on and turn on", drone([2.0, 2.0, 3.0], 16.0)),
        ("singles that go on and turn no more", drone([2.0, 2.01, 3.0], 8.0)),
        ("singles that rest, and jumped", Scene { jump_age: Some(1), ..drone([1.5, 2.0, 3.0], 8.0) }),
        ("an even turn of singles", turret(skew, [10.0, 30.0, 50.0])),
        ("an uneven turn of singles", turret(skew, [10.0, 30.0, 57.0])),
        ("a turn of singles that stops", turret(skew, [10.0, 30.0, 30.001])),
        ("a wide turn of singles", turret(skew, [10.0, 130.0, 250.0])),
        ("a turn of singles past the largest lead", turret([0.0, 0.0, 1.0], [100.0, 150.0, 200.0])),
        ("a turn of singles from one state", turret(skew, [0.0, 30.0, 33.0]).aged(1, None)),
        ("a turn of singles from rest", turret(skew, [30.0, 30.0, 33.0])),
        ("a turn of singles, of which all signs change", turret(skew, [0.0, 20.0, 400.0])),
        ("a turn of singles, a baseline with other signs", turret(skew, [370.0, 20.0, 33.0])),
        ("a turn of singles far ahead", turret(skew, [0.0, 9.0, 50.0]).aged(8, Some(10))),
    ]
}

/// Walks and flights with turns of every kind, to the last bit.
pub(super) fn motions() -> impl Iterator<Item = (String, Scene)> {
    (0..MOTIONS).map(|seed| (format!("singles in motion {seed}"), motion(seed)))
}

fn motion(seed: u64) -> Scene {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let behind = 1 + rng.below(8) as u32;
    let ahead = 1 + rng.below(u64::from(behind) * 4) as u32;
    let scene = Scene::rest(DRONE, Profile::None).aged(ahead, Some(ahead + behind));
    let mut real = |reach: f64| rng.around(1 << 20) as f64 / f64::from(1 << 20) * reach;
    let reach = [0.01, 1.0, 100.0, 1e4][(seed % 4) as usize];
    let start: [f64; 3] = std::array::from_fn(|axis| real([500.0, 20.0, 1.0][axis]));
    let velocity: [f64; 3] = std::array::from_fn(|_| real(reach));
    let axis: [f64; 3] = std::array::from_fn(|_| real(1.0));
    let (angle, turn) = (real(360.0), real([0.1, 2.0, 10.0, 60.0][(seed / 4 % 4) as usize]));
    let (unevenly, askew) = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.02), (1.0, 0.5)][(seed / 16 % 4) as usize];
    let mut state = |tick: f64| {
        let place: [f32; 3] =
            std::array::from_fn(|axis| (start[axis] + velocity[axis] * tick + real(reach * unevenly)) as f32);
        let axis = axis.map(|part| part + real(askew));
        (position(place), about(Profile::None, axis, angle + turn * tick + real(turn * unevenly)))
    };
    let [(older, before), (newer, after), (current, now)] =
        [0, behind, behind + ahead].map(|tick| state(f64::from(tick)));
    scene.moving(0, &older, &newer, &current).moving(4, &before, &after, &now)
}

pub(super) fn refusals() -> Vec<Value> {
    let largest = position([f32::MAX, 0.0, 0.0]);
    let crate_ = Scene::rest(CRATE, Profile::None).moving(0, &largest, &largest, &largest).aged(2, None);
    let moved = crate_.clone().moving(0, &[0; 4], &[0, 0, 0, 1], &largest).aged(2, Some(4));
    let turning = turret([1.0, -2.0, 0.5], [10.0, 30.0, 50.0]);
    let place = |place: u8, rest: &[(u64, u32)]| symbols(1, &[place], rest);
    let turn = |turn: u8, rest: &[(u64, u32)]| symbols(3, &[5 * turn], rest);
    // A mask of x, 16 bits as expected, and one step.
    let step = [(0b1_100_001_000_1, 11), (0, 15)];
    let bits = |numbers: &[(u64, u32)]| symbols(0, &[], numbers);
    vec![
        crate_.bad("a step beyond the largest single", &bits(&step)),
        crate_.bad("singles of which some are none, twice", &bits(&[(0b000_111_000_1, 10), (0, 60)])),
        crate_.bad("singles that end early", &bits(&[(0b11111_111_1, 9), (0, 55)])),
        Scene::rest(CRATE, Profile::None).bad("singles as predicted by a line", &place(1, &[])),
        Scene::rest(CRATE, Profile::None).bad("singles from a line", &place(3, &[(0, 64)])),
        moved.bad("singles that go on, from a line", &unusual(3)),
        turning.bad(
            "a turn of singles that is none",
            &turn(2, &[(0b11111_111_0, 9), (0x3f00_0000, 32), (0, 60), (0, 60)]),
        ),
        turning.bad("a turn of singles from an arc", &turn(4, &[(0, 64)])),
    ]
}

/// A bit that says that the form is not the usual one, and a symbol of an object that moved.
fn unusual(symbol: u8) -> Vec<u8> {
    let mut bytes = [0; 64];
    let mut writer = BitWriter::new(&mut bytes);
    writer.write_bool(false);
    put_symbols(2, &[symbol], &[(0, 64)], &mut writer);
    let length = writer.finish().expect("a few bits");
    bytes[..length].to_vec()
}

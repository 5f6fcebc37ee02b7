//! Vectors and rotations, once for all of the crate.
//!
//! Positions and everything that is computed from them are doubles: at a hundred thousand kilometres from the origin they
//! still tell 15 nanometres apart. Rotations are kept in singles, as they come off the wire, and computed with in doubles.
//!
//! A quaternion and its negative are the same rotation. Whatever compares or mixes two takes the nearer of the two signs,
//! which is the shorter way.

/// Metres along x, y, z.
pub type Vector = [f64; 3];

/// A unit quaternion x y z w, to compute with.
pub type Rotation = [f64; 4];

/// A rotation that turns nothing, as it is kept.
pub const UNTURNED: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

#[inline]
pub fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline]
pub fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline]
pub fn scale(a: Vector, factor: f64) -> Vector {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

#[inline]
pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline]
pub fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

#[inline]
pub fn lerp(a: f64, b: f64, fraction: f64) -> f64 {
    a + (b - a) * fraction
}

/// The vector of length one, or none where there is no direction.
pub fn unit(a: Vector) -> Option<Vector> {
    let length = length(a);
    (length > 1e-12).then(|| scale(a, 1.0 / length))
}

/// `v` turned by `rotation`.
#[inline]
pub fn turn(rotation: Rotation, v: Vector) -> Vector {
    let [x, y, z, w] = rotation;
    let twice = scale(cross([x, y, z], v), 2.0);
    add(add(v, scale(twice, w)), cross([x, y, z], twice))
}

/// The rotation back.
#[inline]
pub fn inverse([x, y, z, w]: Rotation) -> Rotation {
    [-x, -y, -z, w]
}

/// The rotation that turns by `inner` first and by `outer` then.
pub fn compose(outer: Rotation, inner: Rotation) -> Rotation {
    let ([ox, oy, oz, ow], [ix, iy, iz, iw]) = (outer, inner);
    let axis = add(add(scale([ix, iy, iz], ow), scale([ox, oy, oz], iw)), cross([ox, oy, oz], [ix, iy, iz]));
    [axis[0], axis[1], axis[2], ow * iw - dot([ox, oy, oz], [ix, iy, iz])]
}

/// From `a` to `b` on the shortest arc, at constant speed.
pub fn slerp(a: Rotation, b: Rotation, fraction: f64) -> Rotation {
    let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let (b, cosine) = if cosine < 0.0 { (b.map(|part| -part), -cosine) } else { (b, cosine) };
    let (of_a, of_b) = if cosine > 0.999_9 {
        // Below 0.9 degrees the chord is the arc within a millionth, and the sine is too small to divide by.
        (1.0 - fraction, fraction)
    } else {
        let angle = cosine.min(1.0).acos();
        let sine = angle.sin();
        (((1.0 - fraction) * angle).sin() / sine, (fraction * angle).sin() / sine)
    };
    let mixed: Rotation = std::array::from_fn(|part| a[part] * of_a + b[part] * of_b);
    let length = mixed.iter().map(|part| part * part).sum::<f64>().sqrt();
    mixed.map(|part| part / length)
}

/// A kept rotation, to compute with.
#[inline]
pub fn widened(rotation: [f32; 4]) -> Rotation {
    rotation.map(f64::from)
}

/// A computed rotation, to keep.
#[inline]
pub fn narrowed(rotation: Rotation) -> [f32; 4] {
    rotation.map(|part| part as f32)
}

#[inline]
pub fn dot_rotations(a: [f32; 4], b: [f32; 4]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// `None` if it has no direction, or is not a number.
pub fn normalized(quaternion: [f32; 4]) -> Option<[f32; 4]> {
    let squared = dot_rotations(quaternion, quaternion);
    if !(1e-12..1e12).contains(&squared) {
        return None;
    }
    let factor = 1.0 / squared.sqrt();
    Some(quaternion.map(|component| component * factor))
}

/// The angle of the arc between two unit quaternions, 0 to π/2, on the shorter way; a rotation turns by twice as much.
pub fn arc_radians(a: [f32; 4], b: [f32; 4]) -> f32 {
    let cosine = dot_rotations(a, b).abs();
    if cosine < 0.999 {
        return cosine.acos();
    }
    // The arc cosine of a single near one is a matter of luck; a chord is not.
    let sign = 1f32.copysign(dot_rotations(a, b));
    let chord: [f32; 4] = std::array::from_fn(|at| a[at] - sign * b[at]);
    let half = 0.5 * dot_rotations(chord, chord).sqrt();
    // Not by `min`, which makes a number of what is none.
    2.0 * if half > 1.0 { 1.0 } else { half }.asin()
}

/// The angle in radians, at most π, that turns one into the other; not a number if one of them is no rotation.
pub fn angle_radians(a: [f32; 4], b: [f32; 4]) -> f32 {
    match (normalized(a), normalized(b)) {
        (Some(a), Some(b)) => 2.0 * arc_radians(a, b),
        _ => f32::NAN,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub fn any_rotation() -> impl Strategy<Value = [f32; 4]> {
        prop::array::uniform4(-1f32..1.0).prop_filter_map("no direction", normalized)
    }

    fn unit_of(rotation: [f32; 4]) -> Rotation {
        let length = widened(rotation).iter().map(|part| part * part).sum::<f64>().sqrt();
        widened(rotation).map(|part| part / length)
    }

    #[test]
    fn what_is_no_rotation_has_no_angle() {
        for none in [[0.0; 4], [f32::NAN, 0.0, 0.0, 1.0], [f32::INFINITY; 4]] {
            assert!(angle_radians(none, UNTURNED).is_nan() && angle_radians(UNTURNED, none).is_nan());
        }
        assert!(arc_radians([f32::NAN; 4], UNTURNED).is_nan());
    }

    proptest! {
        #[test]
        fn the_arc_is_half_the_angle_that_a_rotation_turns(axis in any_rotation(), angle in -3.1f32..3.1) {
            let [x, y, z, _] = axis.map(f64::from);
            prop_assume!(length([x, y, z]) > 0.1);
            let (sine, cosine) = (f64::from(angle) / 2.0).sin_cos();
            let [x, y, z] = scale([x, y, z], sine / length([x, y, z]));
            let turned = narrowed([x, y, z, cosine]);
            prop_assert!((arc_radians(UNTURNED, turned) - angle.abs() / 2.0).abs() < 1e-3);
            prop_assert!((angle_radians(turned, UNTURNED.map(|part| -part)) - angle.abs()).abs() < 2e-3);
        }

        #[test]
        fn rotations_mix_on_the_shortest_arc_at_constant_speed(
            a in any_rotation(), b in any_rotation(), fraction in 0.0..=1.0f64, negated in any::<bool>(),
        ) {
            let (a, b) = (unit_of(a), unit_of(b));
            let angle = |a: Rotation, b: Rotation| {
                let [x, y, z, w] = compose(inverse(a), b);
                2.0 * length([x, y, z]).atan2(w.abs())
            };
            let whole = angle(a, b);
            prop_assume!(whole < 3.1);
            let mixed = slerp(a, if negated { b.map(|part| -part) } else { b }, fraction);
            prop_assert!((angle(a, mixed) - whole * fraction).abs() < 1e-6);
            prop_assert!((angle(mixed, b) - whole * (1.0 - fraction)).abs() < 1e-6);
        }
    }

    #[test]
    fn rotations_follow_the_right_hand() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let quarter_about_z = [0.0, 0.0, half, half];
        let near = |a: Vector, b: Vector| length(sub(a, b)) < 1e-12;
        assert!(near(turn(quarter_about_z, [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]));
        let quarter_about_x = [half, 0.0, 0.0, half];
        let both = compose(quarter_about_x, quarter_about_z);
        assert!(near(turn(both, [1.0, 0.0, 0.0]), [0.0, 0.0, 1.0]), "z first, then x");
    }
}

//! Vectors and quaternions of doubles, with nothing but what every machine computes alike.

pub type Vector = [f64; 3];
/// x y z w.
pub type Quaternion = [f64; 4];

pub const UPRIGHT: Quaternion = [0.0, 0.0, 0.0, 1.0];

pub fn add([a, b, c]: Vector, [x, y, z]: Vector) -> Vector {
    [a + x, b + y, c + z]
}

pub fn sub([a, b, c]: Vector, [x, y, z]: Vector) -> Vector {
    [a - x, b - y, c - z]
}

pub fn scale([x, y, z]: Vector, by: f64) -> Vector {
    [x * by, y * by, z * by]
}

pub fn dot([a, b, c]: Vector, [x, y, z]: Vector) -> f64 {
    a * x + b * y + c * z
}

pub fn cross([a, b, c]: Vector, [x, y, z]: Vector) -> Vector {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

pub fn length(vector: Vector) -> f64 {
    dot(vector, vector).sqrt()
}

/// The same direction with length one; `otherwise` if there is no direction.
pub fn normalized(vector: Vector, otherwise: Vector) -> Vector {
    let length = length(vector);
    if length > 1e-9 { scale(vector, 1.0 / length) } else { otherwise }
}

/// The part of a vector across a unit vector.
pub fn across(vector: Vector, unit: Vector) -> Vector {
    sub(vector, scale(unit, dot(vector, unit)))
}

/// A quaternion of length one.
pub fn unit([x, y, z, w]: Quaternion) -> Quaternion {
    let length = (x * x + y * y + z * z + w * w).sqrt();
    if length > 1e-9 { [x / length, y / length, z / length, w / length] } else { UPRIGHT }
}

/// A rotation after turning for `seconds` with an angular velocity in radians a second.
pub fn spun(rotation: Quaternion, spin: Vector, seconds: f64) -> Quaternion {
    let [x, y, z, w] = rotation;
    let [a, b, c] = scale(spin, seconds / 2.0);
    unit([
        x + a * w + b * z - c * y,
        y - a * z + b * w + c * x,
        z + a * y - b * x + c * w,
        w - a * x - b * y - c * z,
    ])
}

/// The axes of a rotation: where it takes x, y and z.
pub fn axes([x, y, z, w]: Quaternion) -> [Vector; 3] {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)],
        [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)],
        [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// The rotation that has these axes, which are at right angles and right-handed.
pub fn from_axes([a, b, c]: [Vector; 3]) -> Quaternion {
    let trace = a[0] + b[1] + c[2];
    // The largest component first, so that nothing is divided by almost zero.
    if trace > 0.0 {
        let twice = (1.0 + trace).sqrt();
        let part = 0.5 / twice;
        unit([(b[2] - c[1]) * part, (c[0] - a[2]) * part, (a[1] - b[0]) * part, 0.5 * twice])
    } else if a[0] >= b[1] && a[0] >= c[2] {
        let twice = (1.0 + a[0] - b[1] - c[2]).max(0.0).sqrt();
        let part = 0.5 / twice;
        unit([0.5 * twice, (b[0] + a[1]) * part, (c[0] + a[2]) * part, (b[2] - c[1]) * part])
    } else if b[1] >= c[2] {
        let twice = (1.0 - a[0] + b[1] - c[2]).max(0.0).sqrt();
        let part = 0.5 / twice;
        unit([(b[0] + a[1]) * part, 0.5 * twice, (c[1] + b[2]) * part, (c[0] - a[2]) * part])
    } else {
        let twice = (1.0 - a[0] - b[1] + c[2]).max(0.0).sqrt();
        let part = 0.5 / twice;
        unit([(c[0] + a[2]) * part, (c[1] + b[2]) * part, 0.5 * twice, (a[1] - b[0]) * part])
    }
}

/// Upright and turned so that z points along a heading: a unit vector x z.
pub fn facing([x, z]: [f64; 2]) -> Quaternion {
    // Of the half angle, by the cosine z and the sine x of the whole.
    let cosine = ((1.0 + z) / 2.0).max(0.0).sqrt();
    let sine = ((1.0 - z) / 2.0).max(0.0).sqrt();
    unit([0.0, if x < 0.0 { -sine } else { sine }, 0.0, cosine])
}

pub fn singles(rotation: Quaternion) -> [f32; 4] {
    rotation.map(|part| part as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(a: Vector, b: Vector) -> bool {
        length(sub(a, b)) < 1e-9
    }

    #[test]
    fn axes_and_quaternions_are_the_same_rotation() {
        let rotations = [
            [0.1, -0.2, 0.3, 0.9],
            [0.9, 0.1, -0.2, -0.1],
            [-0.1, 0.9, 0.2, 0.05],
            [0.1, 0.2, 0.9, -0.3],
            UPRIGHT,
        ];
        for rotation in rotations.map(unit) {
            let expected = axes(rotation);
            let found = axes(from_axes(expected));
            assert!((0..3).all(|axis| is_near(found[axis], expected[axis])), "{rotation:?}");
            assert!(is_near(cross(expected[0], expected[1]), expected[2]), "right-handed");
        }
    }

    #[test]
    fn a_heading_is_where_z_points() {
        for heading in [[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0], [0.6, -0.8], [-0.6, 0.8]] {
            assert!(is_near(axes(facing(heading))[2], [heading[0], 0.0, heading[1]]), "{heading:?}");
        }
    }

    #[test]
    fn spinning_about_an_axis_turns_the_others_by_the_right_hand() {
        let mut rotation = UPRIGHT;
        // A quarter turn about y in 900 small steps.
        (0..900)
            .for_each(|_| rotation = spun(rotation, [0.0, std::f64::consts::FRAC_PI_2, 0.0], 1.0 / 900.0));
        assert!(length(sub(axes(rotation)[2], [1.0, 0.0, 0.0])) < 1e-3, "{rotation:?}");
    }
}

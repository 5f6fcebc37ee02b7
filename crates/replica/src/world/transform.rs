//! Where an object is, as the game said it, and what that means when it is attached to another.
//!
//! The words of an object depend on its profile, its origin and its parent. Each can change while the object rests, and
//! converting words into other words would lose a little every time. So the values that the game gave are kept as they
//! were, and the words are made from them anew.
//!
//! An attached object's position and rotation are relative to its parent's. Scale is not inherited.

use netloom_wire::quantize::Rotation;
use netloom_wire::{Profile, QuantizeCounters};

use super::flag;
use super::value::{store_rotation, store_triple};
use crate::class::Class;

/// A transform before it is quantized: as the game gave it, relative to the parent if there is one. In one line of memory, with all
/// that quantizing it needs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(super) struct Transform {
    /// Always finite.
    pub position: [f64; 3],
    pub rotation: [f32; 4],
    /// What the position is [measured](Profile::zero) from; zero for an attached object, whose parent is its origin.
    pub zero: [f64; 3],
}

const _: () = assert!(size_of::<Transform>() == 64);

impl Default for Transform {
    fn default() -> Transform {
        Transform { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], zero: [0.0; 3] }
    }
}

impl Transform {
    /// Writes the position if it [moved](flag::MOVED), and the rotation if it [turned](flag::TURNED), to the words of a class that
    /// has them.
    pub fn quantize(
        &self,
        flags: u16,
        class: &Class,
        profile: Profile,
        words: &mut [i32],
        counters: &mut QuantizeCounters,
    ) {
        if flags & flag::MOVED != 0
            && let Some(first) = class.position()
        {
            let position = profile.quantize_local(self.position, self.zero, counters);
            store_triple(position, &mut words[first..]);
        }
        if flags & flag::TURNED != 0
            && let Some(first) = class.rotation()
        {
            store_rotation(profile.quantize_rotation(self.rotation, counters), &mut words[first..]);
        }
    }

    /// The same to compute with.
    pub fn place(&self) -> Place {
        let quaternion = match Rotation::raw(self.rotation, &mut QuantizeCounters::default()) {
            Rotation::Raw(quaternion) => quaternion.map(f64::from),
            Rotation::SmallestThree { .. } => [0.0, 0.0, 0.0, 1.0],
        };
        Place { position: self.position, rotation: quaternion }
    }
}

/// A position that can be computed with: what is not finite becomes zero, as it does in the words.
pub(super) fn finite(position: [f64; 3]) -> [f64; 3] {
    position.map(|axis| if axis.is_finite() { axis } else { 0.0 })
}

/// A position as interest wants it: singles, never infinite.
pub(super) fn to_singles(position: [f64; 3]) -> [f32; 3] {
    let limit = f64::from(f32::MAX);
    finite(position).map(|axis| axis.clamp(-limit, limit) as f32)
}

/// A position and a unit quaternion x y z w, relative to a parent or to the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub position: [f64; 3],
    pub rotation: [f64; 4],
}

impl Place {
    /// Of a place relative to this one: the place that this one is relative to knows it by.
    pub fn outward(&self, inner: Place) -> Place {
        let turned = rotate(self.rotation, inner.position);
        Place {
            position: std::array::from_fn(|axis| self.position[axis] + turned[axis]),
            rotation: multiply(self.rotation, inner.rotation),
        }
    }

    /// The inverse of [`Place::outward`].
    pub fn inward(&self, outer: Place) -> Place {
        let [x, y, z, w] = self.rotation;
        let inverse = [-x, -y, -z, w];
        Place {
            position: rotate(inverse, std::array::from_fn(|axis| outer.position[axis] - self.position[axis])),
            rotation: multiply(inverse, outer.rotation),
        }
    }
}

fn multiply(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn rotate(rotation: [f64; 4], [x, y, z]: [f64; 3]) -> [f64; 3] {
    let [a, b, c, w] = rotation;
    let [x2, y2, z2, _] = multiply(multiply(rotation, [x, y, z, 0.0]), [-a, -b, -c, w]);
    [x2, y2, z2]
}

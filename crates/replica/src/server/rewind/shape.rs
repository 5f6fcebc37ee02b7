//! What can be hit of an object, and with what.
//!
//! An object is hit in its *parts*: a head, a body, a shield. A [`HitModel`] lists them in the object's own coordinates and
//! is shared by all objects that look alike; the object brings position and rotation. A [`Shape`] in the coordinates of the
//! world is also what an overlap is asked for with: a blast, a swing, a room.
//!
//! ```
//! use netloom_replica::server::rewind::{HitModel, HitPart, PartId, Shape};
//!
//! const HEAD: PartId = PartId(0);
//! const BODY: PartId = PartId(1);
//! // The object's position is between its feet, z is up.
//! let soldier = HitModel::new(&[
//!     HitPart { part: HEAD, shape: Shape::sphere([0.0, 0.0, 1.7], 0.15)? },
//!     HitPart { part: BODY, shape: Shape::capsule([0.0, 0.0, 0.3], [0.0, 0.0, 1.4], 0.3)? },
//! ])?
//! .with_eye([0.0, 0.0, 1.7])?;
//! assert_eq!(soldier.parts().len(), 2);
//!
//! let refused = Shape::sphere([0.0; 3], -1.0).unwrap_err();
//! assert_eq!(refused.to_string(), "radius = -1 is not allowed: use 0.001 to 10,000 metres");
//! # Ok::<(), netloom_replica::SettingError>(())
//! ```

use super::geometry::{Contact, Line, Solid};
use crate::setting::SettingError;
use crate::space::{Rotation, Vector, dot, length, sub, widened};

/// Coordinates, in metres from the origin of the world: doubles still tell 15 nanometres apart there.
pub const POSITION_METRES_MAX: f64 = 1e8;

/// Radius, half an edge, or half the length of a shape: more is a mistake.
pub const SHAPE_METRES_MAX: f64 = 10_000.0;

/// What can be hit of one model.
pub const PARTS_MAX: usize = 32;

const SHAPE_METRES_MIN: f64 = 0.001;

/// Far more than the rounding of coordinates, far less than a shape.
const REACH_MARGIN_METRES: f64 = 1e-4;

/// A part of an object as the game numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId(pub u16);

/// A sphere, a capsule or a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    pub(super) solid: Solid,
}

impl Shape {
    /// Everything within `radius` of `centre`.
    pub fn sphere(centre: [f64; 3], radius: f64) -> Result<Shape, SettingError> {
        check_position("centre", centre)?;
        check_size("radius", radius)?;
        Ok(Shape { solid: Solid::Rounded { from: centre, to: centre, radius } })
    }

    /// Everything within `radius` of the segment between two points.
    pub fn capsule(from: [f64; 3], to: [f64; 3], radius: f64) -> Result<Shape, SettingError> {
        check_position("from", from)?;
        check_position("to", to)?;
        check_size("radius", radius)?;
        let longest = 2.0 * SHAPE_METRES_MAX;
        SettingError::check("length", length(sub(to, from)), 0.0..=longest, "at most 20,000 metres")?;
        Ok(Shape { solid: Solid::Rounded { from, to, radius } })
    }

    /// A box by its middle, half of its three edges, and how it is turned (a quaternion x y z w).
    pub fn cuboid(
        centre: [f64; 3],
        half_extents: [f64; 3],
        rotation: [f32; 4],
    ) -> Result<Shape, SettingError> {
        check_position("centre", centre)?;
        half_extents.into_iter().try_for_each(|half| check_size("half_extents", half))?;
        let rotation = unit_rotation(rotation).ok_or_else(|| SettingError {
            field: "rotation",
            value: format!("{rotation:?}"),
            allowed: "a quaternion of length 0.5 to 2",
        })?;
        Ok(Shape { solid: Solid::Box { centre, half_extents, rotation } })
    }

    /// Where distances to it are measured from: the middle, and of a capsule the beginning.
    pub fn reference(&self) -> [f64; 3] {
        match self.solid {
            Solid::Rounded { from, .. } => from,
            Solid::Box { centre, .. } => centre,
        }
    }

    /// How far its points lie from zero at most.
    fn reach_metres(&self) -> f64 {
        match self.solid {
            Solid::Rounded { from, to, radius } => length(from).max(length(to)) + radius,
            Solid::Box { centre, half_extents, .. } => length(centre) + length(half_extents),
        }
    }
}

/// A part of an object that can be hit, in the object's own coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitPart {
    /// What the game calls it.
    pub part: PartId,
    /// Where it is.
    pub shape: Shape,
}

/// Everything that can be hit of an object. Where parts are equally near the earlier one is hit.
#[derive(Clone, Debug, PartialEq)]
pub struct HitModel {
    parts: Vec<HitPart>,
    eye: Vector,
    reach_metres: f64,
}

impl HitModel {
    /// A model of 1 to 32 parts.
    pub fn new(parts: &[HitPart]) -> Result<HitModel, SettingError> {
        SettingError::check("parts", parts.len(), 1..=PARTS_MAX, "1 to 32 parts")?;
        let reach = parts.iter().map(|part| part.shape.reach_metres()).fold(0.0, f64::max);
        SettingError::check("reach of the parts", reach, 0.0..=SHAPE_METRES_MAX, "at most 10,000 metres")?;
        Ok(HitModel { parts: parts.to_vec(), eye: [0.0; 3], reach_metres: reach + REACH_MARGIN_METRES })
    }

    /// The point from which the object shoots, in its own coordinates; its position if nothing is said.
    pub fn with_eye(mut self, eye: [f64; 3]) -> Result<HitModel, SettingError> {
        SettingError::check("eye", length(eye), 0.0..=SHAPE_METRES_MAX, "at most 10,000 metres away")?;
        self.eye = eye;
        Ok(self)
    }

    /// The parts.
    pub fn parts(&self) -> &[HitPart] {
        &self.parts
    }

    /// The point from which the object shoots.
    pub fn eye(&self) -> [f64; 3] {
        self.eye
    }

    /// No point of it is farther from the object's position.
    pub(super) fn reach_metres(&self) -> f64 {
        self.reach_metres
    }

    /// The part that a line in the object's coordinates enters first.
    pub(super) fn first_contact(&self, line: &Line) -> Option<(PartId, Contact)> {
        let mut first: Option<(PartId, Contact)> = None;
        for HitPart { part, shape } in &self.parts {
            let Some(contact) = shape.solid.first_contact(line) else { continue };
            if first.is_none_or(|(_, before)| contact.along < before.along) {
                first = Some((*part, contact));
            }
        }
        first
    }

    /// The part that a body in the object's coordinates overlaps, and its point nearest to `reference`; the nearest of
    /// several.
    pub(super) fn overlap(&self, body: &Solid, reference: Vector) -> Option<(PartId, Vector)> {
        let mut nearest: Option<(PartId, Vector, f64)> = None;
        for HitPart { part, shape } in &self.parts {
            if !shape.solid.overlaps(body) {
                continue;
            }
            let point = shape.solid.nearest_to(reference);
            let off = sub(point, reference);
            let squared = dot(off, off);
            if nearest.is_none_or(|(_, _, before)| squared < before) {
                nearest = Some((*part, point, squared));
            }
        }
        nearest.map(|(part, point, _)| (part, point))
    }
}

/// The rotation that a quaternion of about length one means.
pub(super) fn unit_rotation(quaternion: [f32; 4]) -> Option<Rotation> {
    let parts = widened(quaternion);
    let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    (0.5..=2.0).contains(&length).then(|| parts.map(|part| part / length))
}

pub(super) fn check_position(field: &'static str, position: [f64; 3]) -> Result<(), SettingError> {
    position.into_iter().try_for_each(|axis| {
        let range = -POSITION_METRES_MAX..=POSITION_METRES_MAX;
        SettingError::check(field, axis, range, "coordinates within 100,000,000 metres")
    })
}

fn check_size(field: &'static str, metres: f64) -> Result<(), SettingError> {
    SettingError::check(field, metres, SHAPE_METRES_MIN..=SHAPE_METRES_MAX, "0.001 to 10,000 metres")
}

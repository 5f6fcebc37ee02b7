//! Where an object is, how it is turned, how large it is and where it goes.

use netloom_replica::step::Fields;
use netloom_replica::world::{ObjectIndex, World, WorldError};
use netloom_wire::quantize::SCALE_PER_UNIT;
use netloom_wire::schema::{FieldKind, Value};
use netloom_wire::{Profile, QuantizeCounters};

use super::{Form, Source};

/// Where the object is, in metres.
#[derive(Clone, Copy, Debug)]
pub struct Place(pub Profile);

/// How the object is turned: a quaternion x y z w.
#[derive(Clone, Copy, Debug)]
pub struct Rotation(pub Profile);

/// How large the object is.
#[derive(Clone, Copy, Debug)]
pub struct Scale(pub Profile);

/// Where the object goes, in metres per second.
#[derive(Clone, Copy, Debug)]
pub struct Velocity(pub Profile);

impl<T: Coordinates> Form<T> for Place {
    fn kind(&self) -> FieldKind {
        FieldKind::Position(self.0)
    }

    fn write(&self, value: &T, world: &mut World, object: ObjectIndex, _: usize) -> Result<(), WorldError> {
        world.set_position(object, value.to_xyz(0.0))
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<T> {
        let Value::Triple(words) = source.value(field)? else { return None };
        Some(T::from_xyz(source.profile().world_position(words, &source.origin())))
    }

    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields) {
        fields.position(name, self.0, value.to_xyz(0.0));
    }
}

impl<T: Quaternion> Form<T> for Rotation {
    fn kind(&self) -> FieldKind {
        FieldKind::Rotation(self.0)
    }

    fn write(&self, value: &T, world: &mut World, object: ObjectIndex, _: usize) -> Result<(), WorldError> {
        world.set_rotation(object, value.to_singles())
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<T> {
        let Value::Rotation(rotation) = source.value(field)? else { return None };
        Some(T::from_singles(source.profile().dequantize_rotation(rotation)))
    }

    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields) {
        fields.rotation(name, self.0, value.to_singles());
    }
}

impl<T: Coordinates> Form<T> for Scale {
    fn kind(&self) -> FieldKind {
        FieldKind::Scale(self.0)
    }

    fn write(&self, value: &T, world: &mut World, object: ObjectIndex, _: usize) -> Result<(), WorldError> {
        world.set_scale(object, singles(value.to_xyz(1.0)))
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<T> {
        let Value::Triple(words) = source.value(field)? else { return None };
        Some(T::from_xyz(self.0.dequantize_scale(words).map(f64::from)))
    }

    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields) {
        let scale = value.to_xyz(1.0);
        // One that is outside what the steps reach is sent as it is.
        let is_raw = self.0.quantize_scale(singles(scale), &mut QuantizeCounters::default()).raw;
        let step = if is_raw { 0.0 } else { 1.0 / f64::from(SCALE_PER_UNIT) };
        scale.iter().for_each(|axis| fields.number(name, step, *axis));
    }
}

impl<T: Coordinates> Form<T> for Velocity {
    fn kind(&self) -> FieldKind {
        FieldKind::Velocity(self.0)
    }

    fn write(&self, value: &T, world: &mut World, object: ObjectIndex, _: usize) -> Result<(), WorldError> {
        world.set_velocity(object, singles(value.to_xyz(0.0)))
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<T> {
        let Value::Triple(words) = source.value(field)? else { return None };
        Some(T::from_xyz(self.0.dequantize_velocity(words).map(f64::from)))
    }

    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields) {
        let (per_unit, limit) = match self.0 {
            Profile::Standard | Profile::World => (100.0, f64::from(i16::MAX) / 100.0),
            Profile::High => (10_000.0, f64::from(i32::MAX) / 10_000.0),
            Profile::None => (f64::INFINITY, f64::INFINITY),
        };
        let saturated = value.to_xyz(0.0).map(|axis| axis.clamp(-limit, limit));
        saturated.iter().for_each(|axis| fields.number(name, 1.0 / per_unit, *axis));
    }
}

fn singles(xyz: [f64; 3]) -> [f32; 3] {
    xyz.map(|axis| axis as f32)
}

/// Two or three coordinates of singles or doubles.
#[diagnostic::on_unimplemented(
    message = "`position`, `velocity` and `scale` are for arrays of floats, and `{Self}` is none",
    label = "`{Self}` is not [f32; 3], [f64; 3], [f32; 2] or [f64; 2]",
    note = "a type that converts from and into one of these is sent with `via = [f32; 3]`"
)]
pub trait Coordinates: Copy + sealed::Sealed {
    /// All three, the last of which may be missing.
    fn to_xyz(self, missing: f64) -> [f64; 3];

    /// As many as there are of all three.
    fn from_xyz(xyz: [f64; 3]) -> Self;
}

/// Four components of singles or doubles.
#[diagnostic::on_unimplemented(
    message = "`rotation` is for a quaternion x y z w, and `{Self}` is none",
    label = "`{Self}` is neither [f32; 4] nor [f64; 4]",
    note = "a type that converts from and into one of these is sent with `via = [f32; 4]`"
)]
pub trait Quaternion: Copy + sealed::Sealed {
    /// As singles.
    fn to_singles(self) -> [f32; 4];

    /// From singles.
    fn from_singles(quaternion: [f32; 4]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! arrays {
    ($($float:ty),+) => {$(
        impl sealed::Sealed for [$float; 2] {}
        impl sealed::Sealed for [$float; 3] {}
        impl sealed::Sealed for [$float; 4] {}

        impl Coordinates for [$float; 2] {
            fn to_xyz(self, missing: f64) -> [f64; 3] {
                [self[0].into(), self[1].into(), missing]
            }

            fn from_xyz([x, y, _]: [f64; 3]) -> [$float; 2] {
                [x as $float, y as $float]
            }
        }

        impl Coordinates for [$float; 3] {
            fn to_xyz(self, _: f64) -> [f64; 3] {
                self.map(Into::into)
            }

            fn from_xyz(xyz: [f64; 3]) -> [$float; 3] {
                xyz.map(|axis| axis as $float)
            }
        }

        impl Quaternion for [$float; 4] {
            fn to_singles(self) -> [f32; 4] {
                self.map(|component| component as f32)
            }

            fn from_singles(quaternion: [f32; 4]) -> [$float; 4] {
                quaternion.map(Into::into)
            }
        }
    )+};
}

arrays!(f32, f64);

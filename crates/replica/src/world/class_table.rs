//! The classes of a world, each in the four profiles.
//!
//! A class names a profile for its position and rotation, but every object can have one of its own. The layout of the
//! words is the same in all profiles; what differs is how far they reach, and a codec must know that. So each class is
//! kept four times, with the kinds of its position and rotation replaced. Both sides derive the same table from the
//! same list. Scales and velocities stay as the class declares them.

use netloom_wire::schema::{Audience, FieldKind};
use netloom_wire::{Profile, Schema};

use super::{Kind, flag};
use crate::class::{Class, ClassError, ClassId, classes_hash};

/// The classes that both sides share.
#[derive(Clone, Debug)]
pub struct ClassTable {
    declared: Vec<Class>,
    classes: Vec<[Class; 4]>,
    shapes: Vec<Shape>,
    hash: u64,
}

/// What a world needs to know of a class besides its words.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The profile of objects that ask for none.
    pub profile: Profile,
    pub scale: Option<Part>,
    pub velocity: Option<Part>,
    /// The number of each field's content among the contents of its object.
    pub contents: Box<[Option<u8>]>,
    pub content_count: usize,
}

/// A field of the transform that keeps the profile of its declaration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub first_word: usize,
    pub profile: Profile,
}

impl ClassTable {
    /// The table of a list of classes.
    pub fn new(classes: Vec<Class>) -> Result<ClassTable, ClassError> {
        let hash = classes_hash(&classes)?;
        let shapes = classes.iter().map(Shape::of).collect();
        let mut table = Vec::with_capacity(classes.len());
        for class in &classes {
            let [standard, high, world, none] = Profile::ALL.map(|profile| in_profile(class, profile));
            table.push([standard?, high?, world?, none?]);
        }
        Ok(ClassTable { declared: classes, classes: table, shapes, hash })
    }

    /// The classes as they were given: what another table of the same is made from.
    pub fn declared(&self) -> &[Class] {
        &self.declared
    }

    /// A class as objects of `profile` have it.
    #[inline]
    pub fn class(&self, id: ClassId, profile: Profile) -> Option<&Class> {
        Some(&self.classes.get(usize::from(id.0))?[profile as usize])
    }

    /// The profile of a class's objects that have none of their own: that of its position, else of its rotation.
    pub fn profile(&self, id: ClassId) -> Option<Profile> {
        Some(self.shapes.get(usize::from(id.0))?.profile)
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// What both sides must have in common: the hash of all schemas in order.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether any class has a field that is delivered reliably to anyone.
    pub fn has_reliable(&self) -> bool {
        self.classes.iter().any(|[class, ..]| class.reliable(Audience::Owner) != 0)
    }

    pub(super) fn shape(&self, id: ClassId) -> Option<&Shape> {
        self.shapes.get(usize::from(id.0))
    }

    /// The class of an object that was spawned, and so has one.
    #[inline]
    pub(super) fn class_of(&self, kind: Kind) -> &Class {
        &self.classes[usize::from(kind.class.0)][kind.profile as usize]
    }

    #[inline]
    pub(super) fn shape_of(&self, kind: Kind) -> &Shape {
        &self.shapes[usize::from(kind.class.0)]
    }

    /// Which parts of a transform such an object has, as flags.
    pub(super) fn parts_of(&self, kind: Kind) -> u16 {
        let (class, shape) = (self.class_of(kind), self.shape_of(kind));
        let has = |is_there: bool, flag: u16| if is_there { flag } else { 0 };
        has(class.position().is_some(), flag::HAS_POSITION)
            | has(class.rotation().is_some(), flag::HAS_ROTATION)
            | has(shape.velocity.is_some(), flag::HAS_VELOCITY)
    }
}

impl Shape {
    fn of(class: &Class) -> Shape {
        let fields = class.fields();
        let profile =
            |wanted: fn(FieldKind) -> Option<Profile>| fields.iter().find_map(|field| wanted(field.kind));
        let position =
            profile(|kind| if let FieldKind::Position(profile) = kind { Some(profile) } else { None });
        let rotation =
            profile(|kind| if let FieldKind::Rotation(profile) = kind { Some(profile) } else { None });
        let scale = fields.iter().find_map(|field| match field.kind {
            FieldKind::Scale(profile) => Some(Part { first_word: field.first, profile }),
            _ => None,
        });
        let velocity = fields.iter().find_map(|field| match field.kind {
            FieldKind::Velocity(profile) => Some(Part { first_word: field.first, profile }),
            _ => None,
        });
        let mut content_count = 0;
        let contents = fields.iter().map(|field| {
            field.kind.content_bytes_max()?;
            content_count += 1;
            Some(content_count - 1)
        });
        let contents = contents.collect();
        let profile = position.or(rotation).unwrap_or_default();
        Shape { profile, scale, velocity, contents, content_count: usize::from(content_count) }
    }
}

fn in_profile(class: &Class, profile: Profile) -> Result<Class, ClassError> {
    let schema = class.schema();
    let builder = schema.fields().iter().fold(Schema::builder(schema.name()), |builder, field| {
        let kind = match field.kind() {
            FieldKind::Position(_) => FieldKind::Position(profile),
            FieldKind::Rotation(_) => FieldKind::Rotation(profile),
            other => other,
        };
        builder.with(field.clone().with_kind(kind))
    });
    Class::new(builder.build().expect("a schema with another profile is as valid as the original"))
}

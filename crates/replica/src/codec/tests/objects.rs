//! Random classes, objects and baselines.

use netloom_wire::quantize::{QuantizeCounters, Rotation, Words3};
use netloom_wire::schema::{ArrayWriter, Audience, ElementKind, FieldKind, Schema, SyncFlags, Value};
use netloom_wire::{Name, Profile, SectorOrigin};
use proptest::prelude::*;

use super::super::{Baseline, Blobs};
use crate::class::{Class, FieldWords};

/// An object's words at some age, and the content of its text and byte fields by field index.
#[derive(Clone, Debug)]
pub struct Object {
    pub words: Vec<i32>,
    pub contents: Vec<Vec<u8>>,
    pub age: u32,
}

impl Object {
    pub fn baseline(&self) -> Baseline<'_> {
        Baseline { words: &self.words, age: self.age }
    }
}

pub struct Content(pub Vec<Vec<u8>>);

impl Blobs for Content {
    fn blob(&self, field: usize) -> &[u8] {
        &self.0[field]
    }
}

#[derive(Clone, Debug)]
pub struct Scene {
    pub class: Class,
    pub visible: u64,
    pub current: Object,
    pub newer: Object,
    pub older: Option<Object>,
    pub jump_age: Option<u32>,
}

fn any_profile() -> impl Strategy<Value = Profile> {
    prop::sample::select(Profile::ALL.to_vec())
}

fn any_kind() -> impl Strategy<Value = FieldKind> {
    prop_oneof![
        Just(FieldKind::Bool),
        (any::<i32>(), 1u32..).prop_map(|(min, span)| {
            FieldKind::int(min, min.saturating_add_unsigned(span).max(min.saturating_add(1)))
                .unwrap_or(FieldKind::Bool)
        }),
        Just(FieldKind::quantized(-50.0, 100.0, 100).unwrap()),
        Just(FieldKind::F32),
        Just(FieldKind::U64),
        Just(FieldKind::Name),
        any_profile().prop_map(FieldKind::Scale),
        any_profile().prop_map(FieldKind::Velocity),
        // Twelve of them fit what an object may send of contents.
        (1u16..40).prop_map(|bytes_max| FieldKind::Text { bytes_max }),
        (1u16..40).prop_map(|bytes_max| FieldKind::Bytes { bytes_max }),
        (any_element(), 1u16..5).prop_map(|(element, count_max)| FieldKind::Array { element, count_max }),
    ]
    .prop_filter("a single value carries nothing", |kind| kind.bit_width().max() > 0)
}

fn any_element() -> impl Strategy<Value = ElementKind> {
    let (digits, floats) = (ElementKind::int(0, 9).unwrap(), ElementKind::quantized(-1.0, 1.0, 100).unwrap());
    let others = [ElementKind::Bool, ElementKind::F32, ElementKind::U64, ElementKind::Name];
    prop::sample::select([&[digits, floats], &others[..]].concat())
}

fn any_flags() -> impl Strategy<Value = SyncFlags> {
    prop::sample::select(vec![SyncFlags::PUBLIC_SYNC, SyncFlags::OWNER_SYNC, SyncFlags::NO_SYNC])
}

fn any_class() -> impl Strategy<Value = Class> {
    let transform = (prop::option::weighted(0.8, any_profile()), prop::option::weighted(0.8, any_profile()));
    let others = prop::collection::vec(any_kind(), 0..12);
    (transform, others, prop::collection::vec((any_flags(), any::<u8>()), 14)).prop_map(
        |((position, rotation), mut kinds, flags)| {
            kinds.extend(position.map(FieldKind::Position));
            kinds.extend(rotation.map(FieldKind::Rotation));
            if kinds.is_empty() {
                kinds.push(FieldKind::Bool);
            }
            let builder = kinds.into_iter().zip(flags).enumerate().fold(
                Schema::builder("any"),
                |builder, (index, (kind, (flags, hotness)))| {
                    builder.field(&format!("field{index}"), kind, flags, hotness)
                },
            );
            Class::new(builder.build().unwrap()).unwrap()
        },
    )
}

/// Numbers that decide a field's value: how it is chosen, and from what.
type Seed = [u32; 5];

fn finite(bits: u32) -> i32 {
    let value = f32::from_bits(bits);
    if value.is_finite() { bits as i32 } else { 1.5f32.to_bits() as i32 }
}

fn triple(kind: FieldKind, seed: Seed) -> [i32; 4] {
    let component = |bits: u32| f64::from(bits as i32) / 16_777_216.0;
    let values = [component(seed[0]), component(seed[1]), component(seed[2])];
    let mut counters = QuantizeCounters::default();
    let narrow = values.map(|value| value as f32);
    let Words3 { words: [x, y, z], raw } = match kind {
        // Some positions lie beyond the range and are raw.
        FieldKind::Position(profile) => {
            let far = if seed[3].is_multiple_of(8) { 1e9 } else { 1.0 };
            profile.quantize_position(
                values.map(|value| value * far),
                &SectorOrigin::default(),
                &mut counters,
            )
        }
        FieldKind::Scale(profile) => profile.quantize_scale(narrow, &mut counters),
        FieldKind::Velocity(profile) => profile.quantize_velocity(narrow, &mut counters),
        _ => unreachable!("no triple"),
    };
    [x, y, z, i32::from(raw)]
}

fn rotation(profile: Profile, seed: Seed) -> [i32; 4] {
    let component = |bits: u32| bits as i32 as f32 / i32::MAX as f32;
    let quaternion = [component(seed[0]), component(seed[1]), component(seed[2]), component(seed[3])];
    match profile.quantize_rotation(quaternion, &mut QuantizeCounters::default()) {
        Rotation::SmallestThree { largest, steps: [a, b, c] } => {
            [i32::from(largest), i32::from(a), i32::from(b), i32::from(c)]
        }
        Rotation::Raw(quaternion) => quaternion.map(|value| value.to_bits() as i32),
    }
}

/// Words of the field's range.
fn words_of(field: &FieldWords, seed: Seed) -> Vec<i32> {
    match field.kind {
        FieldKind::Bool => vec![(seed[0] & 1) as i32],
        FieldKind::Int(_) | FieldKind::Quantized(_) => {
            let offset = u64::from(seed[0]) % (u64::from(field.range.span()) + 1);
            vec![field.range.min().wrapping_add(offset as u32 as i32)]
        }
        FieldKind::F32 => vec![finite(seed[0])],
        FieldKind::U64 | FieldKind::Name => vec![seed[0] as i32, seed[1] as i32],
        FieldKind::Rotation(profile) => rotation(profile, seed).to_vec(),
        kind if kind.content_bytes_max().is_some() => vec![seed[0] as i32],
        kind => triple(kind, seed).to_vec(),
    }
}

fn content_of(field: &FieldWords, seed: Seed) -> Vec<u8> {
    match field.kind {
        FieldKind::Text { bytes_max } | FieldKind::Bytes { bytes_max } => {
            let length = seed[1] as usize % (usize::from(bytes_max) + 1);
            (0..length).map(|index| b'a' + ((seed[2] as usize + index) % 26) as u8).collect()
        }
        FieldKind::Array { element, count_max } => {
            let mut buffer = [0; 40];
            let mut writer = ArrayWriter::new(element, count_max, &mut buffer);
            let bits = |index: usize| u64::from(seed[2]) + index as u64;
            let count = seed[1] as usize % (usize::from(count_max) + 1);
            writer.extend((0..count).map(|index| match element {
                ElementKind::Bool => Value::Bool(bits(index) % 2 == 1),
                ElementKind::Int(_) | ElementKind::Quantized(_) => Value::Word((bits(index) % 10) as i32),
                ElementKind::F32 => Value::F32(bits(index) as f32),
                ElementKind::U64 => Value::U64(bits(index)),
                ElementKind::Name => Value::Name(Name(bits(index))),
            }));
            writer.finish().unwrap().content().to_vec()
        }
        _ => Vec::new(),
    }
}

fn object(class: &Class, seeds: &[Seed], age: u32) -> Object {
    let of = |index: usize| seeds[index % seeds.len()];
    let fields = class.fields().iter().enumerate();
    Object {
        words: fields.clone().flat_map(|(index, field)| words_of(field, of(index))).collect(),
        contents: fields.map(|(index, field)| content_of(field, of(index))).collect(),
        age,
    }
}

/// A baseline of the object: mostly near it, sometimes equal, sometimes another object, sometimes no object at all.
fn earlier(class: &Class, current: &Object, seeds: &[Seed], age: u32) -> Object {
    let mut baseline = object(class, seeds, age);
    for (index, field) in class.fields().iter().enumerate() {
        let seed = seeds[index % seeds.len()];
        let place = field.first..field.first + field.count;
        match seed[4] % 8 {
            0..=2 => baseline.words[place.clone()].copy_from_slice(&current.words[place]),
            3..=5 => {
                for (slot, index) in place.clone().zip(0..) {
                    let step = (seed[index % 4] % 41) as i32 - 20;
                    let moves = index < 3 || field.count < 4;
                    baseline.words[slot] = current.words[slot].wrapping_add(if moves { step } else { 0 });
                }
            }
            6 => place.for_each(|slot| baseline.words[slot] = seed[slot % 4] as i32),
            _ => {}
        }
    }
    baseline
}

pub fn any_scene() -> impl Strategy<Value = Scene> {
    let seeds = || prop::collection::vec(any::<Seed>(), 1..14);
    let audience = prop::sample::select(vec![Audience::Owner, Audience::Team, Audience::Public]);
    let ages = (0u32..300, prop::option::of(0u32..300));
    (any_class(), audience, seeds(), seeds(), seeds(), ages, prop::option::weighted(0.1, any::<u32>()))
        .prop_map(|(class, audience, now, then, before, (newer_age, older_age), jump)| {
            let current = object(&class, &now, 0);
            Scene {
                visible: class.visible(audience),
                newer: earlier(&class, &current, &then, newer_age),
                older: older_age.map(|age| earlier(&class, &current, &before, age)),
                current,
                class,
                jump_age: jump.and_then(|jump| jump.checked_rem(newer_age)),
            }
        })
}

//! A protocol at random, and the same as JSON for the other side.

use netloom::prelude::*;
use netloom::session::random::Random;
use netloom::session::rpc::{Callers, Delivery as CallDelivery};
use netloom::wire::schema::{Delivery, ElementKind, Field, FieldKind, SyncFlags};
use netloom::wire::{Profile, Schema};
use serde_json::{Value, json};

/// Of these the fields of one object that rides in snapshots may have so many, so that their contents always fit.
const CONTENTS_MAX: usize = 4;
const PROFILE_NAMES: [&str; 4] = ["standard", "high", "world", "none"];
const LETTERS: [char; 12] = ['a', 'b', 'k', 'z', 'A', '_', '0', '9', 'é', 'ß', '網', '🚀'];

/// The calls of one direction, one of each delivery.
#[derive(Clone, Debug)]
pub struct Calls {
    pub ordered: String,
    pub unordered: String,
    pub unreliable: String,
}

/// What both sides must agree on.
pub struct Declaration {
    pub protocol: Protocol,
    pub down: Calls,
    /// As the other side declares it.
    pub json: Value,
}

impl Declaration {
    pub fn random(random: &mut Random, seed: u64) -> Result<Declaration, Box<dyn std::error::Error>> {
        let game = format!("random {seed}");
        let version = random.below(65_536) as u16;
        let mut builder = Protocol::builder(&game).version(version);
        let mut classes = Vec::new();
        for number in 0..1 + random.below(5) {
            let name = format!("{} {number}", word(random));
            let profile = Profile::ALL[random.below(4) as usize];
            let fields = random_fields(random, profile)?;
            let declared: Vec<Value> = fields.iter().map(field_json).collect();
            classes.push(json!({ "name": name, "profile": profile_name(profile), "fields": declared }));
            builder = builder.class(
                fields
                    .into_iter()
                    .fold(Schema::builder(&name), |schema, field| schema.with(field))
                    .build()?,
            );
        }
        let (down, up) = (names(random, "down"), names(random, "up"));
        let mut calls = Vec::new();
        for (own, callers) in [(&down, Callers::Server), (&up, Callers::Clients)] {
            let deliveries = [CallDelivery::Ordered, CallDelivery::Unordered, CallDelivery::Unreliable];
            for (name, delivery) in
                [&own.ordered, &own.unordered, &own.unreliable].into_iter().zip(deliveries)
            {
                let options = RpcOptions {
                    callers,
                    delivery,
                    bytes_max: 16_384,
                    per_second: 1_000,
                    burst: 1_000,
                    at_view_time: random.below(4) == 0,
                    is_forwarded: false,
                };
                calls.push(call_json(name, &options));
                builder = builder.rpc(name, options);
            }
        }
        let protocol = builder.build()?;
        let json = json!({
            "game": game,
            "version": version,
            "classes": classes,
            "calls": calls,
            "down": calls_json(&down),
            "up": calls_json(&up),
            "protocolId": format!("{:016x}", protocol.id()),
            "schemaHash": format!("{:016x}", protocol.schema_hash()),
            "callsHash": format!("{:016x}", protocol.rpcs().hash()),
        });
        Ok(Declaration { protocol, down, json })
    }
}

/// A few letters, not all of them of one byte.
pub fn word(random: &mut Random) -> String {
    (0..1 + random.below(6)).map(|_| LETTERS[random.below(LETTERS.len() as u64) as usize]).collect()
}

fn names(random: &mut Random, direction: &str) -> Calls {
    let mut name = |delivery: &str| format!("{} {direction} {delivery}", word(random));
    Calls { ordered: name("ordered"), unordered: name("unordered"), unreliable: name("unreliable") }
}

fn calls_json(calls: &Calls) -> Value {
    json!({ "ordered": calls.ordered, "unordered": calls.unordered, "unreliable": calls.unreliable })
}

fn call_json(name: &str, options: &RpcOptions) -> Value {
    let callers = match options.callers {
        Callers::Server => "server",
        Callers::Clients => "clients",
        Callers::Both => "both",
    };
    let delivery = match options.delivery {
        CallDelivery::Ordered => "ordered",
        CallDelivery::Unordered => "unordered",
        CallDelivery::Unreliable => "unreliable",
    };
    json!({
        "name": name,
        "options": {
            "callers": callers,
            "delivery": delivery,
            "bytesMax": options.bytes_max,
            "atViewTime": options.at_view_time,
        },
    })
}

fn random_fields(random: &mut Random, profile: Profile) -> Result<Vec<Field>, Box<dyn std::error::Error>> {
    let mut kinds = Vec::new();
    let transform = [
        (FieldKind::Position(profile), 85),
        (FieldKind::Rotation(profile), 60),
        (FieldKind::Velocity(profile), 40),
        (FieldKind::Scale(profile), 30),
    ];
    for (kind, percent) in transform {
        if random.below(100) < percent {
            kinds.push(kind);
        }
    }
    let (others, mut contents) = (1 + random.below(7), 0);
    for _ in 0..others {
        let kind = random_kind(random)?;
        contents += usize::from(kind.content_bytes_max().is_some());
        if contents <= CONTENTS_MAX || kind.content_bytes_max().is_none() {
            kinds.push(kind);
        }
    }
    Ok(kinds.into_iter().enumerate().map(|(number, kind)| random_field(random, number, kind)).collect())
}

fn random_field(random: &mut Random, number: usize, kind: FieldKind) -> Field {
    let is_transform = matches!(
        kind,
        FieldKind::Position(_) | FieldKind::Rotation(_) | FieldKind::Velocity(_) | FieldKind::Scale(_)
    );
    let audience = match random.below(10) {
        0 => SyncFlags::NO_SYNC,
        1 | 2 => SyncFlags::OWNER_SYNC,
        _ => SyncFlags::PUBLIC_SYNC,
    };
    let writers = match random.below(4) {
        _ if is_transform || audience == SyncFlags::NO_SYNC => audience,
        0 => audience.with(SyncFlags::MODIFIABLE_BY_CLIENT),
        1 if audience == SyncFlags::PUBLIC_SYNC => audience.with(SyncFlags::MODIFIABLE_BY_ANY_CLIENT),
        _ => audience,
    };
    let name = format!("f{}{number}", word(random));
    let field = Field::new(&name, kind, writers, random.below(256) as u8);
    let is_reliable = kind.content_bytes_max().is_some() && random.below(3) == 0;
    field.delivered(if is_reliable { Delivery::Reliable } else { Delivery::Latest })
}

/// The two ends of a range, wide or narrow.
fn ends(random: &mut Random) -> (i32, i32) {
    let width = 1 << random.below(31);
    let least = random.bits() as i32 >> random.below(32);
    let least = least.min(i32::MAX - width);
    (least, least + 1 + random.below(width as u64) as i32)
}

fn random_kind(random: &mut Random) -> Result<FieldKind, Box<dyn std::error::Error>> {
    let (least, most) = ends(random);
    Ok(match random.below(10) {
        0 => FieldKind::Bool,
        1 | 2 => FieldKind::int(least, most)?,
        3 => {
            let per_unit = [1, 2, 8, 10, 100, 1_000][random.below(6) as usize];
            let (least, most) = (random.below(2_000) as i32 - 1_000, 1 + random.below(1_000) as i32);
            FieldKind::quantized(least.into(), (least + most).into(), per_unit)?
        }
        4 => FieldKind::F32,
        5 => FieldKind::U64,
        6 => FieldKind::Name,
        7 => FieldKind::Text { bytes_max: 1 + random.below(60) as u16 },
        8 => FieldKind::Bytes { bytes_max: 1 + random.below(60) as u16 },
        _ => {
            let element = match random.below(5) {
                0 => ElementKind::Bool,
                1 => ElementKind::int(least, most)?,
                2 => ElementKind::quantized(-8.0, 8.0, 10)?,
                3 => ElementKind::F32,
                _ => ElementKind::U64,
            };
            FieldKind::Array { element, count_max: 1 + random.below(12) as u16 }
        }
    })
}

fn profile_name(profile: Profile) -> &'static str {
    PROFILE_NAMES[profile as usize]
}

fn field_json(field: &Field) -> Value {
    let flags = field.flags();
    let mut json = kind_json(field.kind());
    json["name"] = field.name().into();
    json["hotness"] = field.hotness().into();
    json["isReliable"] = (field.delivery() == Delivery::Reliable).into();
    json["audience"] = match flags {
        _ if flags.contains(SyncFlags::PUBLIC_SYNC) => "public",
        _ if flags.contains(SyncFlags::OWNER_SYNC) => "owner",
        _ => "nobody",
    }
    .into();
    json["writers"] = match flags {
        _ if flags.contains(SyncFlags::MODIFIABLE_BY_ANY_CLIENT) => "any",
        _ if flags.contains(SyncFlags::MODIFIABLE_BY_CLIENT) => "owner",
        _ => "server",
    }
    .into();
    json
}

fn kind_json(kind: FieldKind) -> Value {
    match kind {
        FieldKind::Bool => json!({ "kind": "bool" }),
        FieldKind::Int(range) => json!({ "kind": "int", "min": range.min(), "max": range.max() }),
        FieldKind::Quantized(range) => {
            let per_unit = f64::from(range.per_unit());
            let (min, max) =
                (f64::from(range.words().min()) / per_unit, f64::from(range.words().max()) / per_unit);
            json!({ "kind": "quantized", "min": min, "max": max, "perUnit": range.per_unit() })
        }
        FieldKind::F32 => json!({ "kind": "f32" }),
        FieldKind::U64 => json!({ "kind": "u64" }),
        FieldKind::Position(_) => json!({ "kind": "position" }),
        FieldKind::Rotation(_) => json!({ "kind": "rotation" }),
        FieldKind::Scale(_) => json!({ "kind": "scale" }),
        FieldKind::Velocity(_) => json!({ "kind": "velocity" }),
        FieldKind::Name => json!({ "kind": "name" }),
        FieldKind::Text { bytes_max } => json!({ "kind": "text", "bytesMax": bytes_max }),
        FieldKind::Bytes { bytes_max } => json!({ "kind": "bytes", "bytesMax": bytes_max }),
        FieldKind::Array { element, count_max } => {
            json!({ "kind": "array", "countMax": count_max, "element": kind_json(element.field_kind()) })
        }
    }
}

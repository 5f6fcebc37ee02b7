//! What is true on the server, tick by tick: one line of JSON for each thing that a client must agree with.

use std::collections::BTreeMap;
use std::io::Write;

use netloom::prelude::*;
use netloom::replica::server::ReplicaPeer;
use netloom::replica::world::Object;
use netloom::wire::schema::{Audience, Delivery};
use serde_json::{Value, json};

use super::values::hex;

/// Writes lines about one session.
#[derive(Clone, Copy)]
pub struct Log {
    pub seed: u64,
}

impl Log {
    /// One line, whole, whoever else writes. If nobody reads any more, the input ends too, and with it the program.
    pub fn say(self, what: &str, details: Value) {
        let line = json!({ "seed": self.seed, "what": what, "details": details });
        let _nobody_reads = writeln!(std::io::stdout().lock(), "{line}");
    }
}

/// Tells of every commit of a world what changed for one player.
pub struct Truth {
    log: Log,
    told: Option<Tick>,
    /// By identity: the object as it was told last.
    objects: BTreeMap<u64, Value>,
}

impl Truth {
    pub fn new(log: Log) -> Truth {
        Truth { log, told: None, objects: BTreeMap::new() }
    }

    /// To be called before anything changes after a commit: then what was set is what was sent.
    pub fn tell(&mut self, room: &mut Room, player: PlayerId, team: Option<TeamId>) {
        let Some(replica) = room.player(player).map(|player| player.replica) else { return };
        let Some(tick) = room.world().tick().filter(|tick| self.told != Some(*tick)) else { return };
        self.told = Some(tick);
        let indices: Vec<ObjectIndex> = room.world().iter().map(|object| object.index()).collect();
        let (mut changed, mut seen) = (Vec::new(), BTreeMap::new());
        for index in indices {
            let Some(alias) = room.replication().alias_of(replica, index) else { continue };
            let parent = room.world().object(index).and_then(|object| object.parent());
            let parent = parent.and_then(|parent| slot_of(room, replica, parent));
            let Some(object) = room.world().object(index) else { continue };
            if object.words_at(tick).is_none() {
                continue;
            }
            let json = object_json(&object, alias, parent, object.audience(player, team));
            let id = object.id().0;
            if self.objects.get(&id) != Some(&json) {
                changed.push(json.clone());
            }
            seen.insert(id, json);
        }
        let gone: Vec<u64> = self.objects.keys().filter(|id| !seen.contains_key(id)).copied().collect();
        self.objects = seen;
        self.log.say("tick", json!({ "tick": tick.0, "changed": changed, "gone": gone }));
    }
}

fn slot_of(room: &mut Room, replica: ReplicaPeer, index: ObjectIndex) -> Option<u16> {
    room.replication().alias_of(replica, index).map(|alias| alias.slot)
}

/// Everything that a client can know of an object. Words that it is not told are zero; change numbers, which each side counts for
/// itself, are null.
fn object_json(object: &Object<'_>, alias: Alias, parent: Option<u16>, audience: Audience) -> Value {
    let class = object.class();
    let visible = class.schema().visible_mask(audience);
    let mut words: Vec<Value> = vec![0.into(); class.word_count()];
    let (mut contents, mut reliable) = (serde_json::Map::new(), serde_json::Map::new());
    for (number, (field, place)) in class.schema().fields().iter().zip(class.fields()).enumerate() {
        if visible >> number & 1 == 0 {
            continue;
        }
        let has_content = field.kind().content_bytes_max().is_some();
        let told = words.iter_mut().zip(object.words()).skip(place.first).take(place.count);
        told.for_each(|(word, own)| *word = if has_content { Value::Null } else { (*own).into() });
        if has_content {
            let told = if field.delivery() == Delivery::Reliable { &mut reliable } else { &mut contents };
            told.insert(number.to_string(), hex(object.content(number)).into());
        }
    }
    let origin = object.origin();
    let has_origin = object.profile().uses_origin() && object.parent().is_none();
    json!({
        "id": object.id().0,
        "alias": alias.to_script_int(),
        "class": object.class_id().0,
        "profile": object.profile() as u8,
        "audience": match audience {
            Audience::Owner => "owner",
            Audience::Team => "team",
            Audience::Public => "public",
        },
        "isAttached": object.parent().is_some(),
        "parent": parent,
        "origin": has_origin.then(|| origin.metres()),
        "jumped": object.jumped_since(Tick(0)).map(|tick| tick.0),
        "words": words,
        "contents": contents,
        "reliable": reliable,
    })
}

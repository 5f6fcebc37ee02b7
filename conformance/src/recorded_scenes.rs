//! Scenes as a client receives them, for readers in other languages.
//!
//! The golden vectors show each rule once, and sessions at random show odd things often. What a game sends all day is
//! neither: boxes that tumble, people who walk, players who strafe, for a while. Here stand the snapshots of every
//! generated scene over a network that loses some, coded with the generic table and with each that comes with Netloom, and
//! after every tick what the reference client made of them. An implementation that comes to the same hashes reads the same
//! bits, predictions and all.

use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::{Codes, SHIPPED};
use netloom_scene::Source;
use netloom_scene::generate::{
    crowd::Crowd, planet::Planet, rigid::Rigid, shooter::Shooter, walk::WalkScene,
};
use netloom_scene::replay::{Replay, ReplayConfig};
use netloom_wire::Tick;
use netloom_wire::hash::Fnv64;
use serde_json::{Value, json};

use crate::replica_vectors::scene::described_class;
use crate::wire_vectors::hex;

const SEED: u64 = 11;
/// Enough for entries to arrive, and for every kind of motion to be predicted from two states.
const TICKS: usize = 24;
const LOSS_PERCENT: u32 = 12;
const ACK_TICKS: usize = 3;

/// Every scene with the tables that it is for.
pub fn recorded_scenes() -> Value {
    let tables = SHIPPED.iter().map(|(name, bytes)| (name.to_string(), json!(hex(bytes)))).collect();
    let mut recordings = Vec::new();
    for (name, _) in SHIPPED {
        let codes = Codes::shipped(name).expect("it is shipped");
        // The generic table is for everything; the others are tried on what they were made for.
        let fits = |source: &dyn Source| codes.name() == "generic" || codes.name() == source.name();
        let fitting = scenes().into_iter().filter(|source| fits(&**source));
        recordings.extend(fitting.map(|source| recorded(source, &codes)));
    }
    json!({
        "about": "Snapshots of generated scenes over a network that loses some. Of each tick: the snapshots that arrived, the \
                  newest tick of which the client knows, how many objects it sees, and the hash of their words then.",
        "tables": Value::Object(tables),
        "scenes": recordings,
    })
}

/// All of them, as small as they can be and still be themselves.
fn scenes() -> Vec<Box<dyn Source>> {
    vec![
        Box::new(Rigid::with_bodies(SEED, 30)),
        Box::new(Crowd::with_walkers(SEED, 40)),
        Box::new(Shooter::new(SEED)),
        Box::new(Planet::with_share(SEED, 5)),
        Box::new(WalkScene::with_walkers(SEED, 30)),
    ]
}

fn recorded(source: Box<dyn Source>, codes: &Codes) -> Value {
    let name = source.name().to_owned();
    let classes: Vec<Value> = source.classes().iter().map(described_class).collect();
    let config =
        ReplayConfig { ack_ticks: ACK_TICKS, loss_percent: LOSS_PERCENT, ..ReplayConfig::new(codes.clone()) };
    let mut replay = Replay::new(source, config).expect("valid settings");
    let mut ticks = Vec::new();
    for _ in 0..TICKS {
        replay.tick().expect("the client holds what was sent");
        let arrived = replay.sent().filter(|sent| sent.has_arrived).map(|sent| hex(sent.payload));
        let arrived: Vec<String> = arrived.collect();
        let client = replay.client(0).expect("one client");
        if let Some(newest) = client.newest() {
            let hash = format!("{:016x}", world_hash(client, newest));
            ticks.push(json!([arrived, newest.0, client.len(), hash]));
        }
    }
    json!({ "scene": name, "table": codes.name(), "classes": classes, "ticks": ticks })
}

/// The sum over all objects of the hash of their class and the words that were in force at a tick.
pub fn world_hash(client: &ReplicaClient, tick: Tick) -> u64 {
    client.iter().fold(0, |sum: u64, object| {
        let Some(words) = object.words_at(tick) else { return sum };
        let hash = Fnv64::new().with(&[object.class()]);
        sum.wrapping_add(words.iter().fold(hash, |hash, word| hash.with(&word.to_le_bytes())).value())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_scenes_are_what_the_server_sends_today() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../bindings/js/test/scenes.json");
        let written: Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("the file")).expect("JSON");
        assert!(
            written == recorded_scenes(),
            "if the wire changed on purpose: cargo run -p netloom-conformance --example record_scenes > {path}"
        );
    }
}

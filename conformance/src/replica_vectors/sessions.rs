//! Snapshots of a real server, and what a client holds after each that arrives; digests of what it holds.

use netloom_replica::ClassId;
use netloom_replica::client::{ClientEvent, ClientObject, ReplicaClient, SnapshotError};
use netloom_replica::codec::Codes;
use netloom_replica::server::{Heartbeat, PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::snapshot::read_header;
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, TeamId, World, WorldConfig};
use netloom_wire::schema::Value as Property;
use netloom_wire::{ObjectId, Profile, SectorOrigin};
use serde_json::{Map, Value, json};

use super::scene::{audience_name, classes, table};
use crate::wire_vectors::{case, file, hex, reason};

/// A server with one peer, and a client whose snapshots arrive as the story wants.
struct Story {
    server: ReplicaServer,
    peer: ReplicaPeer,
    client: ReplicaClient,
    sequence: u64,
    steps: Vec<Value>,
    next_id: u64,
}

/// A snapshot on its way.
#[derive(Clone)]
struct Sent {
    sequence: u64,
    bytes: Vec<u8>,
}

impl Story {
    fn new(heartbeat: Heartbeat) -> Story {
        let world = World::new(classes(), WorldConfig::default()).expect("a small world");
        let config = ServerConfig { heartbeat, baseline_ticks: 1, ..ServerConfig::default() };
        let mut server = ReplicaServer::new(world, Codes::generic(), config).expect("a valid configuration");
        let peer = server.add_peer(PeerConfig { team: Some(TeamId(1)), ..PeerConfig::new(OwnerId(7)) });
        let client = ReplicaClient::new(table(), Codes::generic());
        Story { server, peer, client, sequence: 0, steps: Vec::new(), next_id: 0 }
    }

    fn spawn(&mut self, class: u8, owner: Option<OwnerId>) -> ObjectIndex {
        self.next_id += 1;
        let spawn = Spawn { owner, ..Spawn::new(ObjectId(self.next_id), ClassId(class)) };
        self.world().spawn(spawn).expect("a new id")
    }

    fn world(&mut self) -> &mut World {
        self.server.world_mut()
    }

    fn place(&mut self, index: ObjectIndex, position: [f64; 3]) {
        self.world().set_position(index, position).expect("it has a position");
    }

    /// The snapshot of the next tick, of which there is exactly one.
    fn tick(&mut self) -> Sent {
        self.server.begin_tick().expect("ticks go forward");
        self.server.select(self.peer, 1_100);
        let mut out = [0; 1_100];
        let sequence = self.sequence;
        let length = self.server.poll_snapshot(self.peer, sequence, &mut out).expect("something changed");
        self.sequence += 1;
        Sent { sequence, bytes: out[..length].to_vec() }
    }

    fn acked(&mut self, sent: &Sent) {
        self.server.handle_outcome(self.peer, sent.sequence, true);
    }

    fn lost(&mut self, sent: &Sent) {
        self.server.handle_outcome(self.peer, sent.sequence, false);
    }

    /// A snapshot arrives.
    fn arrives(&mut self, says: &str, bytes: &[u8]) {
        let read = self.client.handle_snapshot(bytes);
        let refusal = self.client.poll_refusal();
        assert_eq!(refusal.is_some(), read.is_err(), "{says}");
        let tick = read.ok().or(refusal.map(|refusal| refusal.tick)).expect("a tick");
        let events = std::iter::from_fn(|| self.client.poll_event()).map(event).collect::<Value>();
        let objects = self.client.iter().map(|object| described(&self.client, object)).collect::<Value>();
        let value = json!({
            "tick": tick.0,
            "error": read.err().map(error),
            "events": events,
            "mismatch": self.client.poll_mismatch(),
            "objects": objects,
        });
        self.steps.push(json!({ "says": says, "hex": hex(bytes), "value": value }));
    }

    /// The next tick's snapshot arrives and is acknowledged.
    fn goes_on(&mut self, says: &str) {
        let sent = self.tick();
        self.arrives(says, &sent.bytes);
        self.acked(&sent);
    }

    fn into_case(self, name: &str) -> Value {
        json!({ "name": name, "given": null, "steps": self.steps })
    }
}

fn event(event: ClientEvent) -> Value {
    let (name, alias) = match event {
        ClientEvent::Entered(alias) => ("entered", alias),
        ClientEvent::Refreshed(alias) => ("refreshed", alias),
        ClientEvent::Left(alias) => ("left", alias),
    };
    json!([name, alias.slot, alias.generation])
}

fn error(error: SnapshotError) -> &'static str {
    match error {
        SnapshotError::Malformed(error) => reason(error),
        SnapshotError::UnknownObject(_) => "UnknownObject",
        SnapshotError::MissingBaseline { .. } => "MissingBaseline",
    }
}

fn contents(client: &ReplicaClient, object: &ClientObject) -> Value {
    let class = client.class(object).expect("it has a class");
    let visible = class.visible(object.audience());
    let content = |field: usize| {
        let content = object.value(class, field)?.content().filter(|_| visible >> field & 1 != 0)?;
        Some((field.to_string(), json!(hex(content))))
    };
    Value::Object((0..class.fields().len()).filter_map(content).collect::<Map<String, Value>>())
}

fn described(client: &ReplicaClient, object: &ClientObject) -> Value {
    json!({
        "slot": object.alias().slot,
        "generation": object.alias().generation,
        "class": object.class(),
        "audience": audience_name(object.audience()),
        "parent": object.parent(),
        "profile": object.profile() as u8,
        "origin_version": object.origin().version().get(),
        "tick": object.tick().0,
        "jumped": object.jumped().map(|jumped| jumped.0),
        "words": object.words(),
        "contents": contents(client, object),
    })
}

/// Objects that come, move and go.
fn short_story() -> Value {
    let mut story = Story::new(Heartbeat::Off);
    let (first, second) = (story.spawn(1, None), story.spawn(1, None));
    story.goes_on("two crates enter");
    story.place(first, [1.0, 0.0, 0.0]);
    story.goes_on("the first moves");
    story.world().despawn(first).expect("it is there");
    story.place(second, [0.0, 1.0, 0.0]);
    story.goes_on("the first leaves, the second moves");
    story.into_case("crates come and go")
}

/// What can happen to states and existence.
fn long_story() -> Value {
    let mut story = Story::new(Heartbeat::Off);
    let ship = story.spawn(0, Some(OwnerId(7)));
    let crate_ = story.spawn(1, None);
    let board = story.spawn(2, None);
    let turret = story.spawn(3, None);
    let entries = story.tick();
    story.arrives("four objects enter, the ship is the receiver's own", &entries.bytes);
    story.acked(&entries);
    for tick in 1..=4 {
        let time = f64::from(tick);
        story.place(ship, [time, 0.0, -time]);
        story.place(crate_, [0.0, time * time, 0.0]);
        story.world().set_rotation(turret, [0.0, 0.0, tick as f32 / 20.0, 1.0]).expect("it turns");
        story.goes_on("things move");
    }
    let title = story.server.world().object(ship).expect("it is there").class().schema().index_of("title");
    let note = story.server.world().object(board).expect("it is there").class().schema().index_of("note");
    story.world().set(ship, title.expect("a title"), Property::Text("one")).expect("a text");
    story.world().set(board, note.expect("a note"), Property::Text("to do")).expect("a text");
    story.world().teleport(crate_).expect("it is there");
    story.place(crate_, [90.0, 0.0, 0.0]);
    story.goes_on("texts change, and the crate jumps");

    story.world().set(ship, title.expect("a title"), Property::Text("two")).expect("a text");
    let first = story.tick();
    story.world().set(ship, title.expect("a title"), Property::Text("three")).expect("a text");
    story.place(ship, [6.0, 1.0, 0.0]);
    let second = story.tick();
    story.arrives("a snapshot overtakes the one before it", &second.bytes);
    story.arrives("the one before it: its state is kept, its text is not", &first.bytes);
    story.arrives("once more: nothing happens", &second.bytes);
    story.acked(&second);
    story.acked(&first);

    story.place(ship, [7.0, 1.0, 0.0]);
    let never_arrived = story.tick();
    // The server is told something else than the truth.
    story.acked(&never_arrived);
    story.place(ship, [8.0, 1.0, 0.0]);
    story.place(crate_, [91.0, 0.0, 0.0]);
    let builds_on_it = story.tick();
    story.arrives("builds on a state that never arrived", &builds_on_it.bytes);
    let (server, peer) = (&mut story.server, story.peer);
    server.handle_refusal(peer, netloom_wire::Tick(never_arrived.sequence as u32 + 1));
    server.handle_refusal(peer, netloom_wire::Tick(builds_on_it.sequence as u32 + 1));
    story.lost(&builds_on_it);
    story.goes_on("what was built on it is told anew");

    story.world().set_profile(crate_, Profile::Standard).expect("it is there");
    story.world().set_owner(ship, None).expect("it is there");
    let anew = story.tick();
    story.arrives("another profile and another owner: told anew", &anew.bytes);
    story.arrives("told anew once more: nothing happens", &anew.bytes);
    story.acked(&anew);
    story.world().attach(turret, Some(ship)).expect("no circle");
    let origin = SectorOrigin::moved_to(&SectorOrigin::default(), [100.0, 0.0, 0.0]).expect("near");
    story.world().rebase(crate_, origin).expect("the next version");
    story.goes_on("attached, and from another origin");

    story.world().despawn(board).expect("it is there");
    let late = story.tick();
    story.arrives("a leave", &late.bytes);
    story.acked(&late);
    story.spawn(2, None);
    story.goes_on("another board takes the slot, of the next generation");
    story.arrives("the leave again: of the board before", &late.bytes);
    story.arrives("an old snapshot: what left its slot to another cannot be read any more", &first.bytes);
    story.arrives("the start of a snapshot, and no more", &second.bytes[..4]);
    story.arrives("the first entries again: what is here is newer", &entries.bytes);
    story.into_case("late, twice, never, told anew")
}

/// An update of a slot where nothing ever was.
fn unknown_object() -> Value {
    let mut story = Story::new(Heartbeat::Off);
    let crate_ = story.spawn(1, None);
    let entry = story.tick();
    story.acked(&entry);
    story.place(crate_, [1.0, 0.0, 0.0]);
    let update = story.tick();
    story.arrives("an update before the entry", &update.bytes);
    story.arrives("the entry after it", &entry.bytes);
    story.into_case("an update of what is not there")
}

/// Leaves that overtake the entries, also those of another object of the slot.
fn left_before_they_entered() -> Value {
    let mut story = Story::new(Heartbeat::Off);
    let lifetime = |story: &mut Story| {
        let crate_ = story.spawn(1, None);
        let entry = story.tick();
        story.world().despawn(crate_).expect("it is there");
        let leave = story.tick();
        story.acked(&leave);
        story.lost(&entry);
        [entry, leave]
    };
    let [first_entry, first_leave] = lifetime(&mut story);
    let [second_entry, second_leave] = lifetime(&mut story);
    story.arrives("the leave of a crate", &first_leave.bytes);
    story.arrives("that of another crate in its slot", &second_leave.bytes);
    story.arrives("the entry of the first, of before both", &first_entry.bytes);
    story.arrives("the entry of the second, of between them", &second_entry.bytes);
    story.into_case("leaves that overtake the entries")
}

/// Objects that were sent at different ticks build on different states.
fn named_baselines() -> Value {
    let mut story = Story::new(Heartbeat::Off);
    let crates: Vec<ObjectIndex> = (0..6).map(|_| story.spawn(1, None)).collect();
    story.goes_on("six crates enter");
    for (tick, moving) in [(1.0, 0..6), (2.0, 0..6), (3.0, 0..3), (4.0, 0..6), (5.0, 1..5), (6.0, 0..6)] {
        for (place, &index) in crates.iter().enumerate().take(moving.end).skip(moving.start) {
            story.place(index, [tick, place as f64, 0.0]);
        }
        story.goes_on("some of them move");
    }
    story.into_case("common baselines and others")
}

/// Digests of what rests, and one that finds a difference.
fn digests_in_a_story() -> Value {
    let mut story = Story::new(Heartbeat::Digest { ticks: 1 });
    let crate_ = story.spawn(1, None);
    story.spawn(2, None);
    story.goes_on("two objects enter");
    let sent = story.tick();
    story.arrives("nothing changes: a digest", &sent.bytes);
    story.acked(&sent);
    let mut spoilt = sent.bytes.clone();
    let last = spoilt.len() - 1;
    spoilt[last] ^= 1;
    story.arrives("another digest: a mismatch", &spoilt);
    story.place(crate_, [5.0, 0.0, 0.0]);
    story.goes_on("the crate moves");
    story.arrives("the old digest: it says nothing about the present", &sent.bytes);
    story.into_case("digests")
}

pub fn sessions() -> Value {
    file(
        "Snapshots in the order in which a client receives them, and what it holds after each.",
        vec![
            short_story(),
            long_story(),
            unknown_object(),
            left_before_they_entered(),
            named_baselines(),
            digests_in_a_story(),
        ],
    )
}

pub fn digests() -> Value {
    let mut story = Story::new(Heartbeat::Digest { ticks: 1 });
    let digest = |story: &mut Story, name: &str| {
        story.goes_on("entries");
        let sent = story.tick();
        let (header, _) = read_header(&sent.bytes).expect("it was written");
        let (region, digest) = header.digest.expect("everything rests");
        story.arrives("a digest", &sent.bytes);
        story.acked(&sent);
        let objects = story.client.iter().map(|object| {
            let keys = ["slot", "generation", "class", "words", "contents"];
            let all = described(&story.client, object);
            Value::Object(keys.map(|key| (key.to_owned(), all[key].clone())).into_iter().collect())
        });
        let given = json!({ "objects": objects.collect::<Value>() });
        case(name, given, &[], json!({ "region": region, "digest": digest }))
    };
    let crate_ = story.spawn(1, None);
    let mut cases = vec![digest(&mut story, "one object")];
    let ship = story.spawn(0, Some(OwnerId(7)));
    let board = story.spawn(2, None);
    story.spawn(3, None);
    story.place(ship, [1.0, 2.0, 3.0]);
    let fields = [(ship, "title", Property::Text("Grüße")), (board, "note", Property::Text("to do"))];
    for (index, field, value) in fields {
        let field = story.server.world().object(index).expect("it is there").class().schema().index_of(field);
        story.world().set(index, field.expect("a field"), value).expect("a value");
    }
    cases.push(digest(&mut story, "objects of every class"));
    story.world().despawn(crate_).expect("it is there");
    story.goes_on("it leaves");
    story.spawn(1, None);
    cases.push(digest(&mut story, "a slot of the next generation"));
    file("Digests of regions. given.objects: all that a client has in sight; they are of one region.", cases)
}

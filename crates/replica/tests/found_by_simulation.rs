//! Faults that random worlds found (`netloom sim --scenario replication`, and random sessions), each as small as it can be.

use netloom_replica::class::{Class, ClassId};
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::interest::{Policy, VisibleTo};
use netloom_replica::server::{Heartbeat, PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{Audience, FieldKind, SyncFlags};
use netloom_wire::{ObjectId, Profile, Schema, SectorOrigin};

/// A snapshot and its number.
type Sent = (u64, Vec<u8>);

/// Both sides.
struct Pair {
    server: ReplicaServer,
    peer: ReplicaPeer,
    client: ReplicaClient,
    sequence: u64,
}

impl Pair {
    /// Objects have a position and a rotation.
    fn new(policy: Policy) -> Pair {
        let schema = Schema::builder("ship")
            .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
            .field("rotation", FieldKind::Rotation(Profile::Standard), SyncFlags::PUBLIC_SYNC, 254);
        let classes = vec![Class::new(schema.build().unwrap()).unwrap()];
        let world = World::new(classes.clone(), WorldConfig::default()).unwrap();
        let config = ServerConfig { policy, heartbeat: Heartbeat::Off, ..ServerConfig::default() };
        let mut server = ReplicaServer::new(world, Codes::generic(), config).unwrap();
        let peer = server.add_peer(PeerConfig::new(OwnerId(1)));
        let client = ReplicaClient::new(ClassTable::new(classes).unwrap(), Codes::generic());
        Pair { server, peer, client, sequence: 0 }
    }

    /// A new object.
    fn spawn(&mut self, id: u64) -> ObjectIndex {
        self.server.world_mut().spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap()
    }

    /// Puts an object somewhere.
    fn place(&mut self, index: ObjectIndex, x: f64) {
        self.server.world_mut().set_position(index, [x, 0.0, 0.0]).unwrap();
    }

    /// A tick: its only snapshot, if there is one.
    fn tick(&mut self, budget_bytes: usize) -> Option<Sent> {
        self.server.begin_tick().unwrap();
        self.server.select(self.peer, budget_bytes);
        let mut out = [0; 1_000];
        let length = self.server.poll_snapshot(self.peer, self.sequence, &mut out)?;
        self.sequence += 1;
        Some((self.sequence - 1, out[..length].to_vec()))
    }

    /// The snapshot arrives, and the server hears of it: of a refusal right after the acknowledgement.
    fn deliver(&mut self, (sequence, bytes): &Sent) {
        let _read_or_refused = self.client.handle_snapshot(bytes);
        self.server.handle_outcome(self.peer, *sequence, true);
        self.pass_refusals();
    }

    /// Tells the server what the client could not read.
    fn pass_refusals(&mut self) {
        while let Some(refusal) = self.client.poll_refusal() {
            self.server.handle_refusal(self.peer, refusal.tick);
        }
    }
}

#[test]
fn an_entry_that_comes_after_two_leaves_of_its_slot_shows_nothing() {
    let mut pair = Pair::new(Policy::Everyone);
    let mut entries = Vec::new();
    for id in 1..=2 {
        let ship = pair.spawn(id);
        entries.push(pair.tick(1_000).expect("an entry"));
        pair.server.world_mut().despawn(ship).unwrap();
        let leave = pair.tick(1_000).expect("a leave");
        pair.deliver(&leave);
    }
    for entry in &entries {
        pair.deliver(entry);
        assert!(pair.client.is_empty(), "an object that is gone came back");
    }
}

#[test]
fn a_jump_before_the_first_entry_is_known_to_have_arrived_is_told_with_the_next_one() {
    let mut pair = Pair::new(Policy::Everyone);
    let ship = pair.spawn(1);
    let entry = pair.tick(1_000).expect("an entry");
    let entered = pair.client.handle_snapshot(&entry.1).unwrap();
    pair.server.world_mut().teleport(ship).unwrap();
    pair.place(ship, 100.0);
    let again = (0..10).find_map(|_| pair.tick(1_000)).expect("the entry again");
    pair.client.handle_snapshot(&again.1).unwrap();
    assert!(pair.client.iter().all(|object| object.jumped_since(entered)));
}

/// One bit per update cannot tell these apart: a jump that is said again because the server has not heard that it arrived, and a
/// second one.
#[test]
fn a_jump_that_is_told_again_is_not_taken_for_another_and_another_not_for_the_same() {
    let mut pair = Pair::new(Policy::Everyone);
    let ship = pair.spawn(1);
    let entry = pair.tick(1_000).expect("an entry");
    pair.deliver(&entry);
    // Of what follows the server hears nothing: all of it builds on the entry.
    let mut before = pair.client.newest().expect("a snapshot");
    for (x, jumps, arrives) in [
        (100.0, true, true),
        (101.0, false, true),
        (201.0, true, false),
        (202.0, false, true),
        (302.0, true, true),
        (303.0, false, true),
    ] {
        if jumps {
            pair.server.world_mut().teleport(ship).unwrap();
        }
        pair.place(ship, x);
        let sent = pair.tick(1_000).expect("an update");
        if arrives {
            let tick = pair.client.handle_snapshot(&sent.1).unwrap();
            // The one that got lost is seen with the next.
            let expected = jumps || x == 202.0;
            let object = pair.client.iter().next().expect("the ship");
            assert_eq!((object.teleported(), object.jumped_since(before)), (expected, expected), "at {x}");
            before = tick;
        }
    }
}

#[test]
fn a_jump_that_comes_with_another_frame_is_told_with_the_new_entry() {
    let mut pair = Pair::new(Policy::Everyone);
    let ship = pair.spawn(1);
    let entry = pair.tick(1_000).expect("an entry");
    pair.deliver(&entry);
    let entered = pair.client.newest().expect("a snapshot");
    pair.server.world_mut().teleport(ship).unwrap();
    pair.place(ship, 100.0);
    pair.server.world_mut().set_profile(ship, Profile::High).unwrap();
    let anew = pair.tick(1_000).expect("the object anew");
    pair.deliver(&anew);
    assert!(pair.client.iter().all(|object| object.jumped_since(entered) && object.teleported()));
    let change = *pair.client.changes().first().expect("a change");
    assert_eq!(change.jumped, Some(change.tick), "whoever shows it is told too");
    pair.place(ship, 101.0);
    let next = pair.tick(1_000).expect("an update");
    pair.deliver(&next);
    assert!(!pair.client.iter().any(|object| object.jumped_since(change.tick)));
}

#[test]
fn who_may_see_an_object_that_never_appeared_says_nothing_about_the_next_in_its_place() {
    let mut pair = Pair::new(Policy::Everyone);
    let unborn = pair.spawn(1);
    pair.server.set_visible_to(unborn, VisibleTo::Nobody);
    pair.server.world_mut().despawn(unborn).unwrap();
    pair.tick(1_000);
    let next = pair.spawn(2);
    assert_eq!(next.slot(), unborn.slot());
    let entry = pair.tick(1_000).expect("everybody may see the next one");
    pair.deliver(&entry);
    assert_eq!(pair.client.len(), 1);
}

#[test]
fn what_is_attached_to_an_object_that_is_never_sent_is_not_sent_either() {
    let mut pair = Pair::new(Policy::Everyone);
    let (parent, child) = (pair.spawn(1), pair.spawn(2));
    pair.server.world_mut().set_priority(parent, 0.0).unwrap();
    pair.server.world_mut().attach(child, Some(parent)).unwrap();
    assert_eq!(pair.tick(1_000), None, "a place relative to nothing");
    pair.server.world_mut().set_priority(parent, 1.0).unwrap();
    let entries = pair.tick(1_000).expect("both");
    pair.deliver(&entries);
    assert_eq!(pair.client.len(), 2);
}

#[test]
fn an_object_in_the_place_of_one_that_was_shown_is_not() {
    let mut pair = Pair::new(Policy::Custom);
    let shown = pair.spawn(1);
    pair.server.set_sight(pair.peer, &[shown]);
    let entry = pair.tick(1_000).expect("the one that is shown");
    pair.deliver(&entry);
    pair.server.world_mut().despawn(shown).unwrap();
    let leave = pair.tick(1_000).expect("its leave");
    pair.deliver(&leave);
    let other = pair.spawn(2);
    assert_eq!(other.slot(), shown.slot());
    assert_eq!(pair.tick(1_000), None, "the game never showed this one");
}

#[test]
fn the_last_slot_is_sent_although_all_before_it_fill_the_bytes() {
    // The smallest holds the largest update.
    for budget_bytes in (60..140).step_by(5) {
        let mut pair = Pair::new(Policy::Everyone);
        let ships: Vec<_> = (1..=8).map(|id| pair.spawn(id)).collect();
        pair.server.world_mut().set_profile(ships[7], Profile::None).unwrap();
        let entries = pair.tick(1_000).expect("entries");
        pair.deliver(&entries);
        for round in 1..=200 {
            for (number, &ship) in ships.iter().enumerate() {
                // No line predicts these places, and those of the last ship are not quantized: its update is the largest.
                let x = f64::from((round * 7_919 + number as i32 * 104_729) % 20_000) / 100.0;
                pair.place(ship, x);
            }
            let turn = (f64::from(round) * 0.37).sin() as f32;
            pair.server.world_mut().set_rotation(ships[7], [turn, 0.3, 1.0 - turn, 0.5]).unwrap();
            if let Some(sent) = pair.tick(budget_bytes) {
                pair.deliver(&sent);
            }
        }
        let oldest = pair.client.iter().map(|object| object.tick().0).min();
        assert!(
            oldest > Some(150),
            "{budget_bytes} bytes: an object was last sent in tick {oldest:?} of 201"
        );
    }
}

#[test]
fn what_was_refused_is_not_built_on_although_it_was_acknowledged_just_before() {
    let mut pair = Pair::new(Policy::Everyone);
    let ship = pair.spawn(1);
    let entry = pair.tick(1_000).expect("an entry");
    pair.deliver(&entry);
    // After a rest the baseline is old, and any state that arrives may take its place.
    for _ in 0..40 {
        pair.tick(1_000);
    }
    pair.place(ship, 10.0);
    let (refused, _) = pair.tick(1_000).expect("an update");
    let tick = pair.server.tick();
    pair.server.handle_outcome(pair.peer, refused, true);
    pair.server.handle_refusal(pair.peer, tick);
    for round in 0..20 {
        pair.place(ship, 20.0 + f64::from(round));
        if let Some((sequence, bytes)) = pair.tick(1_000) {
            pair.client.handle_snapshot(&bytes).expect("only what was read is built on");
            pair.server.handle_outcome(pair.peer, sequence, true);
        }
    }
    assert_eq!(pair.client.iter().next().map(|object| object.words()[0]), Some(3_900));
}

#[test]
fn a_client_that_forgot_a_baseline_gets_the_object_anew() {
    let mut pair = Pair::new(Policy::Everyone);
    let ship = pair.spawn(1);
    let entry = pair.tick(1_000).expect("an entry");
    pair.deliver(&entry);
    pair.place(ship, 59.0);
    // Everything arrives and no acknowledgement does: one state is sent so often that the client forgets the first.
    for _ in 0..60 {
        if let Some((sequence, bytes)) = pair.tick(1_000) {
            let _read_or_refused = pair.client.handle_snapshot(&bytes);
            pair.server.handle_outcome(pair.peer, sequence, false);
            pair.pass_refusals();
        }
    }
    // Acknowledgements take a tick, so that nothing is sent in ticks that are shared as baselines.
    assert_eq!(pair.server.tick().0 % 4, 1);
    pair.tick(1_000);
    for _ in 0..20 {
        let sent = pair.tick(1_000);
        pair.tick(1_000);
        if let Some(sent) = sent {
            pair.deliver(&sent);
        }
    }
    assert_eq!(pair.client.iter().next().map(|object| object.words()[0]), Some(5_900));
}

#[test]
fn an_entry_that_said_the_same_once_does_not_count_for_the_last_one() {
    let mut pair = Pair::new(Policy::Everyone);
    let ship = pair.spawn(1);
    let first = pair.tick(1_000).expect("an entry");
    pair.deliver(&first);
    let mut tell = |owner: Option<OwnerId>| {
        pair.server.world_mut().set_owner(ship, owner).unwrap();
        pair.tick(1_000).expect("an entry")
    };
    let (mine, nobodys, mine_again) = (tell(Some(OwnerId(1))), tell(None), tell(Some(OwnerId(1))));
    let nobodys_again = tell(None);
    for (_, bytes) in [&mine, &nobodys, &mine_again] {
        pair.client.handle_snapshot(bytes).unwrap();
    }
    pair.server.handle_outcome(pair.peer, nobodys_again.0, false);
    pair.server.handle_outcome(pair.peer, nobodys.0, true);
    for _ in 0..10 {
        if let Some(sent) = pair.tick(1_000) {
            pair.deliver(&sent);
        }
    }
    assert!(pair.client.iter().all(|object| object.audience() == Audience::Public), "whose is it?");
}

/// Random sessions of the JavaScript client found it: what is attached is measured from its parent, so another origin changes
/// nothing of its words, and the entry that repeats the first must say the same of it.
#[test]
fn an_origin_that_an_attached_object_does_not_use_is_not_told() {
    let mut pair = Pair::new(Policy::Everyone);
    let (ship, gun) = (pair.spawn(1), pair.spawn(2));
    pair.server.world_mut().attach(gun, Some(ship)).unwrap();
    let entry = pair.tick(1_000).expect("entries");
    pair.client.handle_snapshot(&entry.1).unwrap();
    let origin = pair.server.world().object(gun).unwrap().origin();
    pair.server.world_mut().rebase(gun, origin.moved_to([50.0, 0.0, 0.0]).unwrap()).unwrap();
    let again = (0..10).find_map(|_| pair.tick(1_000)).expect("the entries again");
    pair.client.handle_snapshot(&again.1).unwrap();
    pair.server.handle_outcome(pair.peer, entry.0, true);
    pair.place(gun, 3.0);
    let update = pair.tick(1_000).expect("an update");
    pair.client.handle_snapshot(&update.1).expect("it builds on the first entry, which is still held");
    assert!(pair.client.iter().all(|object| object.origin() == SectorOrigin::default()));
}

//! One client with everything that is checked at its end.
//!
//! | promise | checked |
//! |---|---|
//! | what arrives is what the server had at that tick | every word and content that the audience may see |
//! | nobody hears of what is hidden, far or of another audience | as of the tick of the snapshot |
//! | an alias means one object | the identity that every class carries as a field |
//! | an alias is used again only when its leave has arrived | no slot changes hands within a snapshot; what left stays gone |
//! | only what arrived is built on | the tick of a baseline that is not here |
//! | an object never goes back in time | the tick of its newest state |
//! | jumps are told as they were | of every two states that follow each other, whether there was one in between |

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use netloom_replica::client::{ClientEvent, ClientObject, ReplicaClient, SnapshotError};
use netloom_replica::codec::Codes;
use netloom_replica::server::ReplicaPeer;
use netloom_wire::schema::{FieldKind, Value};
use netloom_wire::{Alias, Tick};

use super::classes;
use super::ledger::{Ledger, Life, Version, Viewer, identity_of};
use super::path::{Receiver, Sender};
use crate::check::Violation;
use crate::runner::Failure;

/// What was last seen in a slot.
#[derive(Clone, Copy, Debug)]
struct Seen {
    alias: Alias,
    tick: u32,
}

/// A client, and the server's end of the path to it.
#[derive(Debug)]
pub struct Remote {
    /// Where it is on the network.
    pub address: SocketAddr,
    /// What the server calls it.
    pub peer: ReplicaPeer,
    /// Its settings over time.
    pub viewer: Viewer,
    /// The server's end.
    pub sender: Sender,
    /// The client's end.
    pub receiver: Receiver,
    /// What it holds.
    pub client: ReplicaClient,
    /// Bytes that a tick may take.
    pub budget_bytes: usize,
    /// How many states of each tick arrived.
    pub arrived: BTreeMap<u32, u64>,
    /// Snapshots that could not be read.
    pub refused: u64,
    /// Digests that said something else.
    pub mismatches: u64,
    seen: Vec<Option<Seen>>,
    identities: BTreeMap<(u16, u8), u64>,
    left: BTreeSet<(u16, u8)>,
}

impl Remote {
    /// A client that holds nothing.
    pub fn new(
        address: SocketAddr,
        peer: ReplicaPeer,
        viewer: Viewer,
        budget_bytes: usize,
    ) -> Result<Remote, Failure> {
        Ok(Remote {
            address,
            peer,
            viewer,
            sender: Sender::default(),
            receiver: Receiver::default(),
            client: ReplicaClient::new(classes::table()?, Codes::generic()),
            budget_bytes,
            arrived: BTreeMap::new(),
            refused: 0,
            mismatches: 0,
            seen: Vec::new(),
            identities: BTreeMap::new(),
            left: BTreeSet::new(),
        })
    }

    /// Takes in a datagram and checks what it did.
    pub fn handle_datagram(&mut self, datagram: &[u8], ledger: &Ledger) -> Result<(), Violation> {
        let snapshot = self.receiver.handle_datagram(datagram);
        let snapshot = snapshot.map_err(|error| Violation::new("datagrams are whole", error.to_string()))?;
        match self.client.handle_snapshot(snapshot) {
            Err(SnapshotError::Malformed(error)) => {
                return Err(Violation::new("a snapshot can be read", error.to_string()));
            }
            Err(SnapshotError::MissingBaseline { slot, tick }) => {
                self.refused += 1;
                let tick = Remote::server_tick(tick, ledger);
                if !self.sender.has_acked(tick) {
                    let detail =
                        format!("slot {slot} was built on tick {tick}, of which nothing was acknowledged");
                    return Err(Violation::new("only what arrived is built on", detail));
                }
            }
            Err(SnapshotError::UnknownObject(_)) => self.refused += 1,
            Ok(_) => {}
        }
        while let Some(refusal) = self.client.poll_refusal() {
            self.receiver.refuse(refusal.tick);
        }
        while let Some(region) = self.client.poll_mismatch() {
            self.receiver.mismatch(region);
            self.mismatches += 1;
        }
        self.check_events()?;
        self.check_objects(ledger)
    }

    /// The tick of the server that a client's tick stands for: the client never learned the upper half.
    pub fn server_tick(tick: Tick, ledger: &Ledger) -> u32 {
        let distance = (tick.0 as u16).wrapping_sub(ledger.tick() as u16) as i16;
        ledger.tick().wrapping_add_signed(distance.into())
    }

    /// The identity of an object as the client has it.
    pub fn identity(&self, object: &ClientObject) -> Option<u64> {
        identity_of(self.client.class(object)?, object.words())
    }

    /// How many slots it has heard of.
    pub fn slots_used(&self) -> usize {
        self.seen.len()
    }

    fn check_events(&mut self) -> Result<(), Violation> {
        let mut left_now = Vec::new();
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Left(alias) => {
                    let seen = self.seen.get(usize::from(alias.slot)).copied().flatten();
                    if seen.is_some_and(|seen| seen.alias != alias) {
                        return Err(Violation::new(
                            "a leave takes what it names",
                            format!("{alias:?}, {seen:?}"),
                        ));
                    }
                    self.left.insert((alias.slot, alias.generation));
                    left_now.push(alias);
                }
                ClientEvent::Entered(alias) => {
                    if let Some(before) = left_now.iter().find(|before| before.slot == alias.slot) {
                        let detail = format!("{before:?} gave way to {alias:?} in one snapshot");
                        return Err(Violation::new("a slot is free before it is used again", detail));
                    }
                    if self.left.contains(&(alias.slot, alias.generation)) {
                        return Err(Violation::new("what left stays gone", format!("{alias:?} came back")));
                    }
                }
                ClientEvent::Refreshed(_) => {}
            }
        }
        Ok(())
    }

    /// Checks every object whose newest state is another than before.
    fn check_objects(&mut self, ledger: &Ledger) -> Result<(), Violation> {
        let mut news = Vec::new();
        for object in self.client.iter() {
            let tick = Remote::server_tick(object.tick(), ledger);
            let before = self.seen.get(usize::from(object.alias().slot)).copied().flatten();
            let before = before.filter(|seen| seen.alias == object.alias());
            if before.is_some_and(|seen| seen.tick == tick) {
                continue;
            }
            if let Some(seen) = before.filter(|seen| seen.tick > tick) {
                let detail = format!("{:?} went from tick {} to {tick}", object.alias(), seen.tick);
                return Err(Violation::new("an object never goes back in time", detail));
            }
            let identity = self.check_object(object, tick, before, ledger)?;
            news.push((object.alias(), tick, identity));
        }
        for (alias, tick, identity) in news {
            *self.arrived.entry(tick).or_default() += 1;
            let known = *self.identities.entry((alias.slot, alias.generation)).or_insert(identity);
            if known != identity {
                let detail = format!("{alias:?} was object {known} and is object {identity}");
                return Err(Violation::new("an alias means one object", detail));
            }
            let slot = usize::from(alias.slot);
            if self.seen.len() <= slot {
                self.seen.resize(slot + 1, None);
            }
            self.seen[slot] = Some(Seen { alias, tick });
        }
        Ok(())
    }

    fn check_object(
        &self,
        object: &ClientObject,
        tick: u32,
        before: Option<Seen>,
        ledger: &Ledger,
    ) -> Result<u64, Violation> {
        let identity = self.identity(object).unwrap_or_default();
        let broken = |rule, why: &str| {
            let detail = format!("{:?}, object {identity}, tick {tick}: {why}", object.alias());
            Err(Violation::new(rule, detail))
        };
        let Some(life) = ledger.life(identity) else {
            return broken("an alias means one object", "there was never such an object");
        };
        if let Err(why) = ledger.may_send(life, &self.viewer, tick) {
            return broken("nothing is sent that must not be", why);
        }
        if life.audience(&self.viewer, tick) != Some(object.audience()) {
            return broken("a client knows what it is to an object", &format!("{:?}", object.audience()));
        }
        let Some(version) = life.version(tick) else {
            return broken("nothing is sent that must not be", "it did not exist");
        };
        if let Err(why) = self.compare(object, life, version) {
            return broken("what arrives is what the server had", &why);
        }
        if let Some(seen) = before.filter(|_| self.shows_position(object)) {
            let has_jumped = life.jumped_between(seen.tick, tick);
            // Clients may count ticks from elsewhere.
            let since = Tick(object.tick().0.wrapping_sub(tick - seen.tick));
            if object.jumped_since(since) != has_jumped {
                let why = if has_jumped { "it would be moved there smoothly" } else { "it did not jump" };
                return broken("jumps are told as they were", why);
            }
        }
        Ok(identity)
    }

    /// Whether this client may know where an object is.
    fn shows_position(&self, object: &ClientObject) -> bool {
        let Some(class) = self.client.class(object) else { return false };
        let visible = class.visible(object.audience());
        let mut fields = class.fields().iter().enumerate();
        fields.any(|(index, field)| matches!(field.kind, FieldKind::Position(_)) && visible >> index & 1 != 0)
    }

    /// Compares an object with a version: fields that the client may see are equal, others are empty.
    pub fn compare(&self, object: &ClientObject, life: &Life, version: &Version) -> Result<(), String> {
        if (object.class(), object.profile()) != (life.class, version.profile) {
            return Err(format!("class {} in {:?}", object.class(), object.profile()));
        }
        let class = self.client.class(object).ok_or("a class that does not exist")?;
        let visible = class.visible(object.audience());
        for (index, field) in class.fields().iter().enumerate() {
            let (is_visible, name) = (visible >> index & 1 != 0, class.schema().fields()[index].name());
            if let Some(content) = object.value(class, index).and_then(Value::content) {
                let expected = if is_visible { version.contents[index].as_slice() } else { &[] };
                if content != expected {
                    return Err(format!("{name} is {content:?}, not {expected:?}"));
                }
                continue;
            }
            let range = field.first..field.first + field.count;
            let words = &object.words()[range.clone()];
            let expected = if is_visible { &version.words[range] } else { &[0; 4][..field.count] };
            if words != expected {
                return Err(format!("{name} is {words:?}, not {expected:?}"));
            }
        }
        let is_relative = object.profile().uses_origin() && version.parent.is_none();
        match is_relative && object.origin() != version.origin {
            true => Err(format!("origin {:?}, not {:?}", object.origin(), version.origin)),
            false => Ok(()),
        }
    }
}

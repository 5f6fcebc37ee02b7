//! Messages of the property channel as they come, between the snapshots of a game.

use netloom_replica::client::ReplicaClient;
use netloom_replica::property::PropertyMessage;
use netloom_wire::Alias;
use netloom_wire::schema::Value;

use super::RECORDING;
use super::recording::fresh_client;
use super::witness::Witness;
use crate::input::Input;

/// Operations per input.
const OPERATIONS_MAX: usize = 300;

/// More messages than a client may keep waiting.
const WAITING_MAX: u64 = 256;

/// A message that a client took in.
struct Taken {
    alias: Alias,
    field: usize,
    content: Vec<u8>,
}

struct Receiver {
    client: ReplicaClient,
    witness: Witness,
    taken: Vec<Taken>,
    /// The first message that may still be applied, by slot: those of one object come out in order.
    applied: std::collections::BTreeMap<u16, usize>,
    polled_errors: u64,
}

/// Takes in messages, valid, damaged and made up, while objects come and go.
pub fn replica_property(data: &[u8]) {
    let mut input = Input::new(data);
    let mut receiver = Receiver {
        client: fresh_client(),
        witness: Witness::default(),
        taken: Vec::new(),
        applied: Default::default(),
        polled_errors: 0,
    };
    let mut next = 0;
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        let operation = input.u8();
        match operation & 3 {
            0 => {
                let run = RECORDING.snapshots.iter().skip(next).take(usize::from(operation >> 2));
                for snapshot in run {
                    let _read_or_refused = receiver.client.handle_snapshot(snapshot);
                    next += 1;
                }
            }
            1 => {
                let recorded = &RECORDING.properties[input.choice(RECORDING.properties.len())];
                receiver.take(&damaged(recorded, operation >> 2 & 3, &mut input));
            }
            2 => {
                let length = usize::from(input.u8());
                receiver.take(input.bytes(length));
            }
            _ => receiver.poll(),
        }
    }
    receiver.poll();
    receiver.check();
}

fn damaged(message: &[u8], edits: u8, input: &mut Input<'_>) -> Vec<u8> {
    let mut bytes = message.to_vec();
    for _ in 0..edits {
        let (at, change) = (usize::from(input.u8()) % bytes.len(), input.u8());
        bytes[at] ^= change;
    }
    bytes
}

impl Receiver {
    fn take(&mut self, bytes: &[u8]) {
        let read = PropertyMessage::read(bytes);
        assert_eq!(self.client.handle_property(bytes), read.map(|_| ()));
        let Ok(message) = read else { return };
        let mut again = vec![0; bytes.len()];
        assert_eq!(message.write(&mut again), Some(bytes.len()));
        assert_eq!(again, bytes);
        let PropertyMessage { alias, field, content } = message;
        self.taken.push(Taken { alias, field: field.into(), content: content.to_vec() });
    }

    fn poll(&mut self) {
        loop {
            let applied = match self.client.poll_property() {
                Ok(Some(applied)) => applied,
                Ok(None) => break,
                Err(_) => {
                    self.polled_errors += 1;
                    continue;
                }
            };
            let object = self.client.object(applied.alias).expect("a property is applied to what is there");
            let class = self.client.class(object).expect("it has a class");
            let kind = class.fields()[applied.field].kind;
            assert!(class.reliable(object.audience()) >> applied.field & 1 != 0);
            let value = object.value(class, applied.field).expect("it has the field");
            let from = self.applied.entry(applied.alias.slot).or_default();
            let says = |taken: &Taken| {
                (taken.alias, taken.field) == (applied.alias, applied.field)
                    && kind.read_content(&taken.content) == Ok(value)
            };
            let place = self.taken[*from..].iter().position(says).expect("somebody said so, in this order");
            *from += place + 1;
            assert!(!matches!(value, Value::Triple(_) | Value::Rotation(_)));
        }
        self.witness.check(&mut self.client);
    }

    fn check(&self) {
        let counters = self.client.property_counters();
        let gone =
            counters.applied + counters.stale + counters.expired + counters.overflowed + counters.refused;
        let waiting = self.taken.len() as u64 - gone;
        assert!(waiting <= WAITING_MAX);
        assert_eq!(counters.refused, self.polled_errors);
    }
}

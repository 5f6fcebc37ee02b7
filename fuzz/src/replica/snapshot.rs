//! A client in the middle of a game, and a server that has gone mad.

use netloom_replica::client::ReplicaClient;

use super::RECORDING;
use super::recording::fresh_client;
use super::witness::Witness;
use crate::input::Input;

/// Operations per input.
const OPERATIONS_MAX: usize = 100;

struct Receiver {
    client: ReplicaClient,
    witness: Witness,
}

/// Takes in what a real server said, some of it again, late or damaged, and whatever else the bytes say.
pub fn replica_snapshot(data: &[u8]) {
    let mut input = Input::new(data);
    let mut receiver = Receiver { client: fresh_client(), witness: Witness::default() };
    let recorded = &RECORDING.snapshots;
    let mut next = 0;
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        let operation = input.u8();
        match operation & 3 {
            0 => {
                // A run of valid ones, so that a short input gets deep into the game.
                let run = recorded.iter().skip(next).take(usize::from(operation >> 2));
                run.for_each(|snapshot| receiver.take(snapshot));
                next += usize::from(operation >> 2);
            }
            1 => receiver.take(&recorded[input.choice(recorded.len())]),
            2 => {
                let snapshot = &recorded[input.choice(recorded.len())];
                receiver.take(&damaged(snapshot, operation >> 2 & 7, &mut input));
            }
            _ => {
                let length = usize::from(input.u16()) % 1_300;
                let mut fresh = input.bytes(length).to_vec();
                let newest = receiver.client.newest().filter(|_| operation & 4 != 0);
                if let (Some(tick), Some(newest)) = (fresh.first_chunk_mut(), newest) {
                    // Near the present: elsewhere few of the states that it could build on are left.
                    *tick = (newest.0 as u16).wrapping_add(u16::from(operation >> 3)).to_le_bytes();
                }
                receiver.take(&fresh);
            }
        }
        receiver.witness.check(&mut receiver.client);
    }
}

impl Receiver {
    fn take(&mut self, snapshot: &[u8]) {
        let client = &mut self.client;
        let read = client.handle_snapshot(snapshot);
        if let Ok(tick) = read {
            assert!(client.newest().is_some_and(|newest| !tick.is_newer_than(newest)));
        }
        let refused = std::iter::from_fn(|| client.poll_refusal()).count();
        let has_tick = snapshot.len() >= 2;
        assert_eq!(refused > 0, read.is_err() && has_tick, "the server is told of what could not be read");
        assert!(refused <= 1 && std::iter::from_fn(|| client.poll_mismatch()).count() <= 1);
    }
}

fn damaged(snapshot: &[u8], edits: u8, input: &mut Input<'_>) -> Vec<u8> {
    let mut bytes = snapshot.to_vec();
    for _ in 0..=edits {
        let (at, change) = (usize::from(input.u16()) % bytes.len(), input.u8());
        bytes[at] ^= change;
    }
    bytes
}

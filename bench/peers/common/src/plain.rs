//! The snapshot that users of a bare transport write by hand.
//!
//! A transport without replication carries bytes, so somebody has to make them. This is the obvious way: whole states, as
//! many in a datagram as fit.
//!
//! ```text
//!   message (at most 1176 bytes): u32 tick | u16 count | count × ( u16 object | 3 × f32 position | 4 × f32 rotation )
//! ```

use crate::{State, Walk};

const HEADER_BYTES: usize = 6;
const OBJECT_BYTES: usize = 30;
/// Of one message: with 39 it stays below the 1,200 bytes that every path carries.
const OBJECTS_PER_MESSAGE: usize = 39;

/// Hands every message of this tick to `send`; `buffer` is reused.
pub fn encode(walk: &Walk, buffer: &mut Vec<u8>, mut send: impl FnMut(&[u8])) {
    let count = walk.positions.len();
    for first in (0..count).step_by(OBJECTS_PER_MESSAGE) {
        let objects = first..count.min(first + OBJECTS_PER_MESSAGE);
        buffer.clear();
        buffer.extend_from_slice(&(walk.tick as u32).to_le_bytes());
        buffer.extend_from_slice(&(objects.len() as u16).to_le_bytes());
        for object in objects {
            buffer.extend_from_slice(&(object as u16).to_le_bytes());
            for value in walk.positions[object].iter().chain(&walk.rotations[object]) {
                buffer.extend_from_slice(&value.to_le_bytes());
            }
        }
        send(buffer);
    }
}

/// What one client keeps.
#[derive(Clone, Debug)]
pub struct View {
    /// The newest of each object, and its tick.
    states: Vec<Option<(u32, State)>>,
    updates: u64,
}

impl View {
    /// Nothing is known of so many objects.
    pub fn new(objects: usize) -> View {
        View { states: vec![None; objects], updates: 0 }
    }

    /// Takes a message in; of two states the newer one stays. Whatever is not a message of [`encode`] is left out.
    pub fn decode(&mut self, message: &[u8]) {
        let Some((header, objects)) = message.split_first_chunk::<HEADER_BYTES>() else { return };
        let tick = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        for record in objects.chunks_exact(OBJECT_BYTES) {
            let object = usize::from(u16::from_le_bytes([record[0], record[1]]));
            let Some(slot) = self.states.get_mut(object) else { continue };
            if slot.is_some_and(|(newest, _)| tick < newest) {
                continue;
            }
            let value = |number: usize| {
                let at = 2 + 4 * number;
                f32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
            };
            let position = std::array::from_fn(value);
            let rotation = std::array::from_fn(|axis| value(3 + axis));
            *slot = Some((tick, State { position, rotation }));
            self.updates += 1;
        }
    }

    /// States that were taken in so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// What is known of each object.
    pub fn read(&self, into: &mut [Option<State>]) {
        for (state, known) in into.iter_mut().zip(&self.states) {
            *state = known.map(|(_, state)| state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(walk: &Walk) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        encode(walk, &mut Vec::new(), |message| messages.push(message.to_vec()));
        messages
    }

    #[test]
    fn what_is_encoded_is_what_is_decoded_to_the_last_bit() {
        let mut walk = Walk::new(100);
        walk.step();
        let mut view = View::new(100);
        let messages = messages(&walk);
        assert_eq!(messages.iter().map(Vec::len).collect::<Vec<_>>(), [1176, 1176, 666]);
        messages.iter().for_each(|message| view.decode(message));
        let mut states = vec![None; 100];
        view.read(&mut states);
        for (object, state) in states.iter().enumerate() {
            let expected = State { position: walk.positions[object], rotation: walk.rotations[object] };
            assert_eq!(*state, Some(expected));
        }
        assert_eq!(view.updates(), 100);
    }

    #[test]
    fn an_older_message_changes_nothing() {
        let mut walk = Walk::new(3);
        walk.step();
        let old = messages(&walk);
        walk.step();
        let mut view = View::new(3);
        view.decode(&messages(&walk)[0]);
        view.decode(&old[0]);
        let mut states = [None; 3];
        view.read(&mut states);
        assert_eq!(states[2].map(|state| state.position), Some(walk.positions[2]));
        assert_eq!(view.updates(), 3);
    }
}

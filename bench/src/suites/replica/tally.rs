//! What was sent, and what that took the server.

use netloom_replica::world::ClassTable;
use netloom_scene::replay;
use netloom_wire::ReadError;

/// The sum over many ticks and all peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Snapshots, and what they say.
    pub sent: replay::Traffic,
    /// Objects that changed, summed over ticks.
    pub changed: u64,
    /// Codes that the server made.
    pub encodes: u64,
    /// Heap allocations of the server.
    pub allocations: u64,
}

impl Traffic {
    /// One more snapshot.
    pub fn count(&mut self, payload: &[u8], classes: &ClassTable) -> Result<(), ReadError> {
        self.sent.count(payload, classes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::stage::Stage;
    use super::super::ticks::everyone;

    #[test]
    fn a_join_is_entries_and_what_follows_is_updates() {
        let mut stage = Stage::new(everyone("tally", 30, 30, 4)).expect("a stage");
        stage.run(1).expect("a tick");
        let join = stage.traffic().sent;
        assert_eq!((join.enters, join.leaves, join.updates), (30 * 4, 0, 0));
        // Three bytes of every snapshot are its header.
        assert_eq!(join.bytes, join.existence_bytes + 3 * join.snapshots);
        stage.run(20).expect("ticks");
        stage.run(10).expect("ticks");
        let changed = stage.traffic().changed;
        let steady = stage.traffic().sent;
        assert_eq!((steady.enters, steady.leaves, steady.updates), (0, 0, 10 * 30 * 4));
        assert_eq!((steady.existence_bytes, changed), (0, 10 * 30));
        assert_eq!(steady.bytes_per_update(), steady.bytes as f64 / 1_200.0);
    }
}

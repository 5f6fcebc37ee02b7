//! What all bots and whoever directs them look at.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use netloom::prelude::Tick;

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Bots connect.
    Joining,
    /// They play, and note what they see.
    Measuring,
    /// Those who are away come back, and nobody leaves any more.
    Settling,
    /// Worlds are compared.
    Comparing,
    /// All say goodbye.
    Leaving,
}

const PHASES: [Phase; 5] =
    [Phase::Joining, Phase::Measuring, Phase::Settling, Phase::Comparing, Phase::Leaving];

/// The stage. Times are kept by who directs; this only says how far things are.
#[derive(Debug)]
pub struct Stage {
    phase: AtomicU8,
    joined: AtomicU32,
    failed: AtomicU32,
    compared: AtomicU32,
    /// By room: from which tick on worlds are compared.
    windows: Mutex<BTreeMap<String, Tick>>,
    /// By room: the server's hashes.
    truths: Mutex<BTreeMap<String, Vec<(Tick, u64)>>>,
}

impl Stage {
    pub fn new() -> Stage {
        Stage {
            phase: AtomicU8::new(0),
            joined: AtomicU32::new(0),
            failed: AtomicU32::new(0),
            compared: AtomicU32::new(0),
            windows: Mutex::default(),
            truths: Mutex::default(),
        }
    }

    pub fn phase(&self) -> Phase {
        PHASES[usize::from(self.phase.load(Ordering::Relaxed)) % PHASES.len()]
    }

    pub fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Bots with a seat.
    pub fn joined(&self) -> u32 {
        self.joined.load(Ordering::Relaxed)
    }

    /// Bots that will not come, or not again.
    pub fn failed(&self) -> u32 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Bots that have their hashes.
    pub fn compared(&self) -> u32 {
        self.compared.load(Ordering::Relaxed)
    }

    pub fn handle_joined(&self) {
        self.joined.fetch_add(1, Ordering::Relaxed);
    }

    pub fn handle_left(&self) {
        self.joined.fetch_sub(1, Ordering::Relaxed);
    }

    pub fn handle_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub fn handle_compared(&self) {
        self.compared.fetch_add(1, Ordering::Relaxed);
    }

    /// From which tick on worlds of a room are compared; whoever asks first decides, and is told so: that bot asks the server.
    pub fn window(&self, room: &str, suggested: Tick) -> (Tick, bool) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        match windows.get(room) {
            Some(first) => (*first, false),
            None => {
                windows.insert(room.to_owned(), suggested);
                (suggested, true)
            }
        }
    }

    /// What the server has.
    pub fn set_truth(&self, room: &str, hashes: Vec<(Tick, u64)>) {
        self.truths.lock().unwrap_or_else(PoisonError::into_inner).insert(room.to_owned(), hashes);
    }

    /// Whether the server has told all that it was asked.
    pub fn is_answered(&self) -> bool {
        let asked = self.windows.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.truths.lock().unwrap_or_else(PoisonError::into_inner).len() >= asked
    }

    /// The server's hashes of a room; none if it never told them.
    pub fn truth(&self, room: &str) -> Vec<(Tick, u64)> {
        let truths = self.truths.lock().unwrap_or_else(PoisonError::into_inner);
        truths.get(room).cloned().unwrap_or_default()
    }
}

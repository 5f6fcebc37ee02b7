//! SIGINT and SIGTERM: the first asks to stop, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;

/// The status of a process that was ended by a second signal.
const IMPATIENT: i32 = 1;

/// What signals have come.
pub struct Signals {
    has_come: Arc<AtomicBool>,
    is_taken: AtomicBool,
}

impl Signals {
    /// From now on.
    pub fn watch() -> Result<Signals, String> {
        let has_come = Arc::new(AtomicBool::new(false));
        for signal in TERM_SIGNALS {
            // In this order: the first signal finds the flag unset, and sets it.
            flag::register_conditional_shutdown(*signal, IMPATIENT, Arc::clone(&has_come))
                .and_then(|_| flag::register(*signal, Arc::clone(&has_come)))
                .map_err(|error| format!("cannot watch for signals: {error}"))?;
        }
        Ok(Signals { has_come, is_taken: AtomicBool::new(false) })
    }

    /// Whether one has come, once.
    pub fn take(&self) -> bool {
        self.has_come.load(Ordering::Relaxed) && !self.is_taken.swap(true, Ordering::Relaxed)
    }
}

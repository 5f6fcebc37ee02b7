//! Lines about what happens, on standard error.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::filter::LevelFilter;

/// From now on, as much as `level` says; as JSON objects, or for people.
pub fn start(level: LevelFilter, json: bool) {
    let lines = tracing_subscriber::fmt().with_max_level(level).with_writer(stderr).with_target(false);
    // Whoever started before keeps their own.
    let _started = match json {
        true => lines.json().flatten_event(true).try_init(),
        false => lines.with_ansi(stderr().is_terminal()).try_init(),
    };
}

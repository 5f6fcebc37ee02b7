//! Standard output that may end early.
//!
//! `netloom sim | head` closes the pipe as soon as it has what it wants. That is no error: the rest goes nowhere, and the
//! exit code still tells how the runs went. `println!` panics instead.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stdout};

/// Prints, if anybody still listens.
pub fn print(text: Arguments<'_>) {
    match stdout().lock().write_fmt(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("netloom: cannot write to standard output: {error}");
        }
        _ => {}
    }
}

/// Prints a line, if anybody still listens.
pub fn line(text: Arguments<'_>) {
    print(format_args!("{text}\n"));
}

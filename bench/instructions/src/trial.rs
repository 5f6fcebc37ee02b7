//! A guard that never barks proves nothing: the same program is counted with and without a bug that does nothing but slow it down.

use std::process::ExitCode;

use crate::callgrind;
use crate::counts::{Verdict, verdict};

/// The program that the bug slows down.
const SLOWED: &str = "write";
/// One that has nothing to do with it.
const OTHER: &str = "seal";

/// Counts four times.
pub fn run() -> Result<ExitCode, String> {
    let this = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    let counts = |name| -> Result<Verdict, String> {
        let before = callgrind::start_with(&this, name, &[])?;
        let slowed = callgrind::start_with(&this, name, &["--slowed"])?;
        Ok(verdict(before.finish()?, slowed.finish()?))
    };
    let (caught, other) = (counts(SLOWED)?, counts(OTHER)?);
    println!("{SLOWED:8} {caught}\n{OTHER:8} {other}");
    match (caught, other) {
        (Verdict::Slower(..), Verdict::Same(..)) => Ok(ExitCode::SUCCESS),
        _ => Err(format!("a slower codec must be seen in {SLOWED:?}, and in {OTHER:?} not")),
    }
}

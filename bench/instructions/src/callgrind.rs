//! Valgrind, and what it says.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A program that is being counted.
pub struct Running {
    name: String,
    child: Child,
}

/// Starts this program under callgrind.
pub fn start(name: &str) -> Result<Running, String> {
    let this = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    start_with(&this, name, &[])
}

/// The same with more arguments.
pub fn start_with(this: &Path, name: &str, more: &[&str]) -> Result<Running, String> {
    let child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        // What is prepared does not count.
        .args(["--collect-atstart=no", "--toggle-collect=*programs::counted*"])
        .arg(this)
        .args(["run", name])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("valgrind cannot be run: {error}. Install it: apt-get install valgrind"))?;
    Ok(Running { name: name.to_owned(), child })
}

impl Running {
    /// Waits, and tells how many instructions were counted.
    pub fn finish(self) -> Result<u64, String> {
        let Running { name, child } = self;
        let output = child.wait_with_output().map_err(|error| format!("{name}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        match collected(&said).filter(|_| output.status.success()) {
            Some(0) => Err(format!("{name}: nothing was counted; was the function `counted` inlined?")),
            Some(count) => Ok(count),
            None => Err(format!("{name} failed ({}):\n{said}", output.status)),
        }
    }
}

/// The number in the line `==7== Collected : 123456`.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_in_what_valgrind_says() {
        let said = "==7== Events    : Ir\n==7== Collected : 123456\n==7== \n==7== I   refs:      123,456\n";
        assert_eq!(collected(said), Some(123_456));
        assert_eq!(collected("==7== Collected : \n"), None);
        assert_eq!(collected("valgrind: no such tool"), None);
    }
}

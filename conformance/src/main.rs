//! Writes the golden vectors, or compares the committed ones with the code.

#![forbid(unsafe_code)]

use netloom_conformance::{all_vectors, vectors};
use std::process::ExitCode;

const HELP: &str = "\
Golden vectors of the Netloom wire.

    cargo run -p netloom-conformance             write conformance/vectors/*.json from the code
    cargo run -p netloom-conformance -- --check  compare them with the code and name the first difference

Write only after changing the wire on purpose, and read the difference before committing it.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        [] => write(),
        ["--check"] => check(),
        ["--help" | "-h"] => Ok(HELP.to_owned()),
        unknown => Err(format!("unknown arguments: {}\n\n{HELP}", unknown.join(" "))),
    };
    match outcome {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<String, String> {
    let folder = vectors::folder();
    let rendered = vectors::render(&all_vectors());
    let changed =
        vectors::write(&folder, &rendered).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(match changed.as_slice() {
        [] => format!("{} vector files, none changed", rendered.len()),
        names => format!("{} vector files, changed: {}", rendered.len(), names.join(", ")),
    })
}

fn check() -> Result<String, String> {
    let folder = vectors::folder();
    let committed = vectors::read(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let generated = vectors::render(&all_vectors());
    match vectors::first_difference(&committed, &generated) {
        None => Ok(format!("{} vector files are what the code generates", generated.len())),
        Some(difference) => Err(difference),
    }
}

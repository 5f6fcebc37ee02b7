//! The examples run, and end.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Cargo builds examples with all the tests, beside them; for this file alone they may be missing.
fn example(name: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    let program = path.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if !program.exists() {
        let build = Command::new(env!("CARGO")).args(["build", "-p", "netloom", "--example", name]).status();
        assert!(build.unwrap().success());
    }
    Command::new(program)
}

fn text_of(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_is_said_comes_back() {
    assert!(text_of(example("echo").output().unwrap()).contains("heard: hello"));
}

#[test]
fn cubes_and_a_walker_are_drawn() {
    let shown = text_of(example("cubes").args(["--frames", "90"]).output().unwrap());
    let last = shown.rsplit("\x1b[H").next().unwrap();
    assert!(last.contains('#') && last.contains('@'), "{last}");
}

#[test]
fn a_transport_of_ones_own_carries_a_visit() {
    assert!(text_of(example("custom_transport").output().unwrap()).contains("bytes out"));
}

#[test]
fn people_talk_in_a_terminal() {
    let run = |arguments: &[&str]| {
        let mut command = example("chat");
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut server = run(&["server", "127.0.0.1:0"]);
    let mut output = std::io::BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let address = line.trim().strip_prefix("listening at ").unwrap().to_owned();
    let mut alice = run(&[&address, "alice"]);
    alice.stdin.take().unwrap().write_all(b"hello?\n").unwrap();
    let said = text_of(alice.wait_with_output().unwrap());
    drop(server.stdin.take());
    // It talks until it ends: a full pipe would keep it from that.
    std::io::copy(&mut output, &mut std::io::sink()).unwrap();
    assert!(server.wait().unwrap().success());
    assert!(said.contains("welcome; there are 1 of you here"), "{said}");
}

//! The classic protocol of the real command, played by a program with nothing but a socket.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{Running, assert_fails, command, netloom, stderr};
use serde_json::Value;

/// A server of rtype, and the port of its classic protocol.
fn serve(arguments: &[&str]) -> (Running, String) {
    let common = ["serve", "--game", "rtype", "--bind", "udp://127.0.0.1:0", "--metrics", ""];
    let classic = ["--classic", "127.0.0.1:0"];
    let mut server = Running::start(&mut command(&[&common, &classic[..], arguments].concat()));
    let line = server.line_with("classic ");
    let port = line.trim().rsplit(':').next().expect("an address has a port").to_owned();
    (server, port)
}

fn play(port: &str, arguments: &[&str]) -> (Vec<Value>, Output) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/rtype/python");
    let client = folder.join("classic_client.py");
    let output =
        Command::new("python3").arg(client).args(["127.0.0.1", port, "--json"]).args(arguments).output();
    let output = output.expect("python3 is there");
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    (lines.map(|line| serde_json::from_slice(line).expect("lines of JSON")).collect(), output)
}

fn has(events: &[Value], name: &str) -> bool {
    events.iter().any(|event| event["event"] == name)
}

#[test]
fn a_program_with_nothing_but_a_socket_joins_is_ready_and_plays() {
    let (mut server, port) = serve(&[]);
    let (events, output) = play(&port, &["--seconds", "8"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(events.first().is_some_and(|event| event["event"] == "joined" && event["has_token"] == true));
    for event in ["lobby", "start", "level", "info"] {
        assert!(has(&events, event), "no {event} in {events:#?}");
    }
    assert!(!has(&events, "error"), "{events:#?}");
    let shots = |event: &&Value| event["event"] == "info" && event["ammo"].as_u64() < Some(60);
    assert!(events.iter().any(|event| shots(&event)), "it fired");
    let summary = events.last().expect("there is a summary");
    assert!(summary["messages"]["0x11"].as_u64() > Some(100), "{summary}");
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn the_bare_join_is_for_this_machine_and_for_servers_that_say_so() {
    let (_trusting, port) = serve(&["--classic-trust-loopback"]);
    let (events, _) = play(&port, &["--seconds", "4", "--bare"]);
    assert!(has(&events, "start"), "{events:#?}");
    let (_careful, port) = serve(&[]);
    let (events, output) = play(&port, &["--seconds", "1", "--bare"]);
    assert!(!has(&events, "joined") && output.status.code() == Some(1), "{events:#?}");
}

#[test]
fn what_cannot_be_says_what_to_do_instead() {
    let other_game = netloom(&["serve", "--game", "cubes", "--classic", "127.0.0.1:0", "--metrics", ""]);
    assert_fails(&other_game, 2, &["the classic protocol is for the game rtype"]);
    let stream = netloom(&["serve", "--game", "rtype", "--classic", "tcp://127.0.0.1:0", "--metrics", ""]);
    assert_fails(&stream, 2, &["tcp://127.0.0.1:0", "UDP", "--classic 0.0.0.0:12345"]);
    let nonsense = netloom(&["serve", "--game", "rtype", "--classic", "nowhere at all", "--metrics", ""]);
    assert_fails(&nonsense, 2, &["nowhere at all"]);
}

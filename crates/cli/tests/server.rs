//! A server, players, bots and a dashboard: real processes over real sockets.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::{Running, Server, command, netloom, stderr, stdout};
use serde_json::Value;

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the server is there");
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

fn bots(address: &str, arguments: &[&str]) -> (Value, bool) {
    let output = netloom(&[&["bots", address, "--json"], arguments].concat());
    let report = serde_json::from_slice(&output.stdout);
    (report.unwrap_or_else(|_| panic!("{}{}", stdout(&output), stderr(&output))), output.status.success())
}

/// Every bot got in, stayed, and saw what the server has.
fn assert_good(report: &Value, count: u64) {
    assert_eq!(report["joined"], count, "{report:#}");
    assert_eq!(report["disconnects"], serde_json::json!({}), "{report:#}");
    assert_eq!(report["hash_mismatches"], 0, "{report:#}");
    let world = &report["worlds"][0];
    assert_eq!((&world["bots"], &world["equal"]), (&count.into(), &count.into()), "{report:#}");
    assert!(world["objects"].as_u64() >= Some(256 + count), "{report:#}");
    assert!(
        report["rtt_ms"]["p50"].as_f64() > Some(0.0) && report["snapshot_age_ms"]["p50"].as_f64() > Some(0.0)
    );
}

#[test]
fn bots_over_every_transport_see_the_same_world_as_the_server() {
    let mut server = Server::start(&[
        "--bind",
        "udp://127.0.0.1:0",
        "--bind",
        "tcp://127.0.0.1:0",
        "--bind",
        "ws://127.0.0.1:0",
    ]);
    assert_eq!(server.addresses.len(), 3);
    for address in &server.addresses {
        let (report, is_good) = bots(address, &["--count", "4", "--duration", "1"]);
        assert_good(&report, 4);
        assert!(is_good);
        assert_eq!(report["snapshot_interval_ms"], 50.0);
    }
    server.process.signal("TERM");
    assert_eq!(server.process.wait().code(), Some(0));
}

#[test]
fn two_threads_make_the_snapshots_of_a_crowd() {
    let server = Server::start(&["--workers", "2"]);
    let (report, is_good) = bots(server.address(), &["--count", "70", "--duration", "1"]);
    assert_good(&report, 70);
    assert!(is_good);
}

#[test]
fn the_dual_loop_serves_several_rooms_and_every_behaviour() {
    let server = Server::start(&["--driver", "dual", "--rooms", "2", "--log", "off"]);
    for behaviour in ["wander", "idle", "churn"] {
        let (report, _) =
            bots(server.address(), &["--count", "3", "--duration", "6", "--behaviour", behaviour]);
        assert_good(&report, 3);
        assert_eq!(report["behaviour"], behaviour);
        if behaviour == "churn" {
            assert!(report["joins"].as_u64() > Some(3), "nobody came twice: {report:#}");
        }
    }
    let (report, _) = bots(server.address(), &["--count", "2", "--duration", "1", "--behaviour", "spam"]);
    assert!(report["rejected_inputs"].as_u64() > Some(0), "{report:#}");
}

#[test]
fn metrics_health_and_the_dashboard_tell_who_is_there() {
    let server = Server::start(&[]);
    let mut player =
        Running::start(&mut command(&["connect", server.address(), "--plain", "--name", "Ada \"x\\"]));
    player.line_with("connected room=yard");
    assert!(get(&server.metrics, "/healthz").contains("200 OK"));
    let page = get(&server.metrics, "/metrics");
    for part in [
        "text/plain; version=0.0.4",
        "# TYPE netloom_tick_seconds histogram",
        "netloom_info{game=\"cubes\"",
        "netloom_replicated_objects 257\n",
        "netloom_connected_peers 1\n",
        "netloom_room_objects{room=\"yard\"} 257\n",
        "name=\"Ada \\\"x\\\\\"",
    ] {
        assert!(page.contains(part), "{part:?} is missing in\n{page}");
    }
    assert!(get(&server.metrics, "/other").contains("404"));
    for address in [server.metrics.clone(), format!("http://{}/metrics", server.metrics)] {
        let top = netloom(&["top", &address, "--once"]);
        let shown = stdout(&top);
        assert!(top.status.success(), "{}", stderr(&top));
        for part in ["cubes", "connected peers", "257", "Ada"] {
            assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
        }
    }
}

#[test]
fn players_are_told_why_when_the_server_is_stopped() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::start(&[]);
        let mut player = Running::start(&mut command(&["connect", server.address(), "--plain"]));
        player.line_with("connected room=yard");
        server.process.signal(signal);
        assert_eq!(server.process.wait().code(), Some(0));
        assert!(player.rest().contains("the server stopped: the server is going down"));
        assert_eq!(player.wait().code(), Some(0));
    }
}

#[test]
fn a_second_signal_ends_a_server_that_waits_for_its_players() {
    let mut server = Server::start(&[]);
    let mut player = Running::start(&mut command(&["connect", server.address(), "--plain"]));
    player.line_with("connected room=yard");
    // It cannot confirm its goodbye any more.
    player.signal("KILL");
    player.wait();
    server.process.signal("TERM");
    let health = || get(&server.metrics, "/healthz");
    while !health().contains("stopping") {}
    server.process.signal("TERM");
    assert_eq!(server.process.wait().code(), Some(1));
}

#[test]
fn a_player_without_a_terminal_walks_and_leaves() {
    let server = Server::start(&[]);
    for arguments in
        [&["--frames", "60"][..], &["--frames", "60", "--line", "home wifi"], &["--frames", "60", "--watch"]]
    {
        let output = netloom(&[&["connect", server.address(), "--plain"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let shown = stdout(&output);
        let last = shown.lines().last().unwrap_or_default();
        assert!(last.contains("room=yard") && shown.contains("joined yard"), "{shown}");
        assert_eq!(last.contains("at=nowhere"), arguments.contains(&"--watch"), "{shown}");
    }
}

#[test]
fn logs_are_lines_of_json_if_asked_for() {
    let mut command =
        command(&["serve", "--bind", "udp://127.0.0.1:0", "--metrics", "", "--json", "--log", "debug"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut greeting = [0; 200];
    child.stdout.as_mut().unwrap().read_exact(&mut greeting).unwrap();
    let stopped =
        std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["message"] == "stopped" && line["level"] == "INFO"), "{said}");
}

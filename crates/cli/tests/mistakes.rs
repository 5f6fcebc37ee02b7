//! Whatever is wrong, one line says what, and what to do.

mod common;

use std::net::UdpSocket;

use common::{Server, assert_fails, command, netloom, stderr, stdout};
use netloom::prelude::*;

/// A file with settings.
fn file(name: &str, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("netloom-{}-{name}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn a_port_in_use() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = netloom(&["serve", "--metrics", "", "--bind", &address]);
    assert_fails(&output, 2, &[&address, "in use", "choose another port"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = netloom(&["serve", "--bind", "127.0.0.1:0", "--metrics", &address]);
    assert_fails(&output, 2, &[&address, "in use", "--metrics"]);
}

#[test]
fn an_address_that_is_none() {
    for (address, parts) in [
        ("ftp://127.0.0.1", &["udp://", "tcp://", "ws://"][..]),
        ("127.0.0.1:99999", &["99999", "65535"]),
        ("udp://192.0.2.1:7777", &["192.0.2.1"]),
        ("ws://0.0.0.0:0", &["plain_websocket"]),
    ] {
        assert_fails(&netloom(&["serve", "--metrics", "", "--bind", address]), 2, parts);
    }
    for command in ["connect", "bots"] {
        assert_fails(&netloom(&[command, "host:port"]), 2, &["host:port", "port"]);
        assert_fails(&netloom(&[command, "no.such.host.invalid:1"]), 2, &["no.such.host.invalid"]);
    }
}

#[test]
fn settings_that_cannot_be_read_or_cannot_be() {
    assert_fails(
        &netloom(&["serve", "--config", "/no/such/file.toml"]),
        2,
        &["/no/such/file.toml", "No such file"],
    );
    for (name, text, parts) in [
        ("range", "[room]\ntick_rate = 1000\n", &[":2:", "room.tick_rate", "1000", "1 to 240"][..]),
        ("unknown", "version = 1\n[server]\nprot = 1\n", &[":3:", "prot", "port"]),
        ("type", "[server]\nport = \"many\"\n", &[":2:", "server.port", "0 to 65535"]),
        ("syntax", "[server\n", &[":1:"]),
        ("game", "[server]\ngame = \"chess\"\n", &[":2:", "server.game", "chess", "cubes"]),
        ("version", "version = 2\n", &[":1:", "version", "1"]),
    ] {
        let path = file(name, text);
        for arguments in [["serve", "--config", &path], ["config", "--check", &path]] {
            let output = netloom(&arguments);
            assert_fails(&output, 2, &[&[&*path][..], parts].concat());
        }
    }
    let output = command(&["serve"]).env("NETLOOM_SERVER_PORT", "70000").output().unwrap();
    assert_fails(&output, 2, &["server.port", "70000", "0 to 65535"]);
    let output = command(&["serve"]).env("NETLOOM_SERVER_PORT", "x").output().unwrap();
    assert_fails(&output, 2, &["NETLOOM_SERVER_PORT", "0 to 65535"]);
}

#[test]
fn the_default_settings_are_valid_and_read_as_they_are_written() {
    let output = netloom(&["config", "--default"]);
    assert!(output.status.success());
    for part in ["version = 1", "port = 7777", "tick_rate = 60", "send_rate = 0", "full_sync_interval = 100"]
    {
        assert!(stdout(&output).contains(part), "{part} is missing");
    }
    let path = file("default", &stdout(&output));
    let checked = netloom(&["config", "--check", &path]);
    assert!(checked.status.success(), "{}", stderr(&checked));
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let path =
        file("order", "[room]\nmax_clients = 11\ntick_rate = 30\nsend_rate = 10\n[server]\nrooms = 5\n");
    let mut serve = command(&[
        "serve",
        "--config",
        &path,
        "--rooms",
        "2",
        "--bind",
        "127.0.0.1:0",
        "--metrics",
        "127.0.0.1:0",
    ]);
    let mut server =
        Server::from(serve.env("NETLOOM_ROOM_MAX_CLIENTS", "12").env("NETLOOM_SERVER_ROOMS", "3"));
    server.process.line_with("Ctrl-C");
    server.process.signal("TERM");
    assert_eq!(server.process.wait().code(), Some(0));
    let mut serve =
        command(&["serve", "--config", &path, "--rooms", "2", "--bind", "127.0.0.1:0", "--metrics", ""]);
    let mut running = common::Running::start(serve.env("NETLOOM_ROOM_MAX_CLIENTS", "12"));
    let line = running.line_with("players each");
    assert!(line.starts_with("2 rooms for 12 players each, 30 steps and 10 snapshots"), "{line}");
}

#[test]
fn a_game_a_line_or_a_room_that_nobody_knows() {
    assert_fails(&netloom(&["serve", "--game", "chess"]), 2, &["chess", "cubes"]);
    assert_fails(&netloom(&["connect", "127.0.0.1:1", "--game", "chess"]), 2, &["chess", "cubes"]);
    assert_fails(&netloom(&["bots", "127.0.0.1:1", "--line", "5G"]), 2, &["5G", "4G"]);
    let server = Server::start(&[]);
    let output = netloom(&["connect", server.address(), "--plain", "--room", "cellar"]);
    assert_fails(&output, 2, &["cannot join", "room"]);
}

#[test]
fn a_server_of_another_game() {
    let server = Server::start(&["--game", "cubes"]);
    for [player, how] in [["connect", "--plain"], ["bots", "--json"]] {
        let mut knock = command(&[player, server.address(), how, "--game", "rtype"]);
        let output = knock.env("NETLOOM_CONNECTION_CONNECT_TIMEOUT", "0.3").output().unwrap();
        assert_fails(&output, 2, &["serves another game", "game rtype", "--game cubes"]);
    }
}

#[test]
fn a_server_that_is_not_there() {
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap().to_string();
    for arguments in [["connect", &address, "--plain"], ["bots", &address, "--json"]] {
        let output = command(&arguments).env("NETLOOM_CONNECTION_CONNECT_TIMEOUT", "0.3").output().unwrap();
        assert_fails(&output, 2, &[&address]);
    }
    assert_fails(&netloom(&["top", "127.0.0.1:1"]), 2, &["127.0.0.1:1"]);
}

#[test]
fn a_server_with_another_version_or_without_a_seat() {
    #[derive(Replicated, Clone, Default)]
    #[replicated(crate = netloom)]
    struct Sphere {
        #[replicated(position)]
        at: [f32; 3],
    }
    let protocol = Protocol::builder("cubes").version(2).object::<Sphere>().build().unwrap();
    let server = netloom::Server::builder(protocol).listen("127.0.0.1:0").bind().unwrap().spawn().unwrap();
    let output = netloom(&["connect", &server.local_addresses()[0].to_string(), "--plain"]);
    assert_fails(&output, 2, &["version 2"]);

    let path = file("full", "[room]\nmax_clients = 1\nmax_spectators = 0\n");
    let server = Server::start(&["--config", &path]);
    let mut first = common::Running::start(&mut command(&["connect", server.address(), "--plain"]));
    first.line_with("connected room=yard");
    assert_fails(&netloom(&["connect", server.address(), "--plain"]), 2, &["full"]);
}

//! The dashboard of a real server: what it tells, who may ask, and a player who is removed.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use common::{PATIENCE, Running, Server, command, netloom, stdout};
use serde_json::Value;

/// The status and the body of an answer.
fn ask(address: &str, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("the server is there");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time is a time");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head ends");
    (head[9..12].parse().expect("a status"), body.to_owned())
}

fn get(address: &str, path: &str) -> (u16, String) {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n"))
}

fn kick(address: &str, body: &str) -> (u16, Value) {
    let length = body.len();
    let (status, text) = ask(
        address,
        &format!(
            "POST /dashboard/kick HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
             X-Netloom-Dashboard: 1\r\nContent-Length: {length}\r\n\r\n{body}"
        ),
    );
    (status, serde_json::from_str(&text).expect("it is JSON"))
}

/// What the dashboard tells once that is so.
fn data_when(address: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let (status, text) = get(address, "/dashboard/data.json");
        assert_eq!(status, 200, "{text}");
        let data: Value = serde_json::from_str(&text).expect("it is JSON");
        if is_so(&data) {
            return data;
        }
        assert!(began.elapsed() < PATIENCE, "{data:#}");
    }
}

#[test]
fn it_tells_of_players_and_removes_them_and_says_whether_they_were_there() {
    let server = Server::start(&["--rooms", "2"]);
    let mut player =
        Running::start(&mut command(&["connect", server.address(), "--plain", "--name", "Ada \"x\""]));
    player.line_with("connected room=yard");
    let data = data_when(&server.metrics, |data| {
        data["peers"][0]["sent_bytes_per_second"].as_f64() > Some(0.0)
            && data["classes"][0]["bytes_per_second"].as_f64() > Some(0.0)
            && data["server"]["sent_bytes_per_second"].as_f64() > Some(0.0)
    });
    assert_eq!((&data["game"], &data["health"]), (&"cubes".into(), &"ok".into()));
    assert_eq!(data["rooms"].as_array().map(Vec::len), Some(2));
    let peer = &data["peers"][0];
    assert_eq!(
        (&peer["name"], &peer["transport"], &peer["room"]),
        (&"Ada \"x\"".into(), &"udp".into(), &0.into())
    );
    assert_eq!(peer["send_rate_hertz"], 20.0);
    assert_eq!((&data["classes"][0]["class"], &data["classes"][0]["objects"]), (&"Cube".into(), &512.into()));
    assert!(data["ticks"]["count"].as_u64() > Some(0) && data["ticks"]["p99_ms"].as_f64() > Some(0.0));
    let history: Value = serde_json::from_str(&get(&server.metrics, "/dashboard/history.json").1).unwrap();
    let peers = history["figures"]["peers"].as_array().expect("a list");
    assert_eq!(peers.last(), Some(&1.0.into()), "{history}");

    let number = &peer["player"];
    let (status, said) =
        kick(&server.metrics, &format!("{{\"player\": {number}, \"reason\": \"too loud\"}}"));
    assert_eq!((status, &said["kicked"]), (200, &true.into()));
    assert!(player.rest().contains("too loud"), "the player is told");
    assert_ne!(player.wait().code(), Some(101));
    data_when(&server.metrics, |data| data["peers"] == serde_json::json!([]));
    let (status, said) = kick(&server.metrics, &format!("{{\"player\": {number}}}"));
    assert_eq!((status, &said["kicked"]), (404, &false.into()));
    assert_eq!(kick(&server.metrics, "{}").0, 400);
    let long = format!("{{\"player\": 1, \"reason\": \"{}\"}}", "x".repeat(1_100));
    let (status, _) = ask(
        &server.metrics,
        &format!("POST /dashboard/kick HTTP/1.1\r\nContent-Length: {}\r\n\r\n{long}", long.len()),
    );
    assert_eq!(status, 413);
}

#[test]
fn what_was_refused_is_told_with_its_reason() {
    let server = Server::start(&[]);
    let output = netloom(&["connect", server.address(), "--plain", "--room", "cellar"]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let data = data_when(&server.metrics, |data| data["rejects"] != serde_json::json!([]));
    let row = data["rejects"].as_array().and_then(|rows| rows.iter().find(|row| row["kind"] == "seat"));
    let row = row.expect("a seat was refused");
    assert_eq!((&row["reason"], &row["total"]), (&"no_such_room".into(), &1.into()));
    let (_, metrics) = get(&server.metrics, "/metrics");
    assert!(
        metrics.contains("netloom_rejects_total{kind=\"seat\",reason=\"no_such_room\"} 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("netloom_rejects_total{kind=\"seat\",reason=\"room_full\"} 0\n"), "{metrics}");
}

#[test]
fn strangers_are_refused_and_other_pages_give_no_orders() {
    let server = Server::start(&["--http", "127.0.0.1:0"]);
    let at = &server.metrics;
    let (status, text) = ask(at, "GET /dashboard/data.json HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(status == 403 && text.contains("localhost") && text.lines().count() == 1, "{status} {text}");
    let order = "Content-Length: 12\r\n\r\n{\"player\":1}";
    for fields in
        ["", "X-Netloom-Dashboard: 1\r\n", "X-Netloom-Dashboard: 1\r\nOrigin: http://evil.example\r\n"]
    {
        let request = format!("POST /dashboard/kick HTTP/1.1\r\nHost: {at}\r\n{fields}{order}");
        assert_eq!(ask(at, &request).0, 403, "{fields}");
    }
    for (method, path) in [("GET", "/dashboard/kick"), ("POST", "/dashboard/data.json"), ("POST", "/metrics")]
    {
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {at}\r\n\r\n");
        assert_eq!(ask(at, &request).0, 405, "{method} {path}");
    }
    assert_eq!(get(at, "/dashboard/none.js").0, 404);
    assert_eq!(get(at, "/").0, 404, "the page of the game is elsewhere");
    let page = server.addresses.iter().find_map(|address| address.strip_prefix("ws://")).expect("a page");
    let (status, _) = get(page, "/dashboard");
    assert_eq!(status, 302, "the port of the page leads there");
    assert_eq!(ask(page, "GET /dashboard/main.js HTTP/1.1\r\nHost: game.example\r\n\r\n").0, 403);
}

#[test]
fn it_can_be_turned_off() {
    let server = Server::start(&["--no-dashboard"]);
    assert_eq!(get(&server.metrics, "/dashboard").0, 404);
    assert_eq!(get(&server.metrics, "/metrics").0, 200);
    let request = format!("POST /dashboard/kick HTTP/1.1\r\nHost: {}\r\n\r\n", server.metrics);
    assert_eq!(ask(&server.metrics, &request).0, 405);
}

//! What browsers get of a server: pages over HTTP, where to connect, and the connection itself.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::{PATIENCE, Running, Server, assert_fails, command, netloom, stderr, stdout};
use serde_json::Value;

fn start() -> Server {
    Server::start(&["--http", "127.0.0.1:0", "--webtransport", "127.0.0.1:0"])
}

/// Where the page is.
fn page_of(server: &Server) -> &str {
    let page = server.addresses.iter().find_map(|address| address.strip_prefix("ws://"));
    page.expect("it serves pages")
}

/// The head and the body of an answer.
fn ask(address: &str, request: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).expect("the server is there");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time is a time");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head ends");
    (String::from_utf8_lossy(&answer[..end + 2]).into_owned(), answer[end + 4..].to_vec())
}

fn get(address: &str, path: &str, fields: &str) -> (String, Vec<u8>) {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{fields}\r\n"))
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn place_of(server: &Server) -> Value {
    let (head, body) = get(page_of(server), "/.well-known/netloom.json", "");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert_eq!(field(&head, "Cache-Control"), Some("no-store"));
    serde_json::from_slice(&body).expect("it is JSON")
}

#[test]
fn the_page_comes_packed_or_not_and_once() {
    let server = start();
    let at = page_of(&server);
    let (head, plain) = get(at, "/", "");
    assert!(head.starts_with("HTTP/1.1 200 OK") && plain.starts_with(b"<!doctype html>"), "{head}");
    assert_eq!(field(&head, "Content-Type"), Some("text/html; charset=utf-8"));
    for (name, value) in [
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cache-Control", "no-cache"),
        ("Vary", "Accept-Encoding"),
    ] {
        assert_eq!(field(&head, name), Some(value), "{head}");
    }
    assert!(
        field(&head, "Content-Security-Policy").is_some_and(|policy| policy.contains("script-src 'self';"))
    );
    let (head, packed) = get(at, "/", "Accept-Encoding: gzip\r\n");
    assert_eq!(field(&head, "Content-Encoding"), Some("gzip"));
    assert!(packed.len() < plain.len());
    let tag = field(&head, "ETag").expect("a tag");
    let (head, body) = get(at, "/", &format!("Accept-Encoding: gzip\r\nIf-None-Match: {tag}\r\n"));
    assert!(head.starts_with("HTTP/1.1 304 ") && body.is_empty(), "{head}");
    assert_eq!((field(&head, "Content-Length"), field(&head, "ETag")), (None, Some(tag)));
    let (head, body) = ask(at, &format!("HEAD / HTTP/1.1\r\nHost: {at}\r\n\r\n"));
    assert_eq!(field(&head, "Content-Length"), Some(&*plain.len().to_string()));
    assert!(body.is_empty());
}

#[test]
fn nothing_else_is_there() {
    let server = start();
    let at = page_of(&server);
    for path in
        ["/nothing", "/../Cargo.toml", "/..%2fCargo.toml", "/netloom/../../Cargo.toml", "/pages/index.html"]
    {
        let (head, body) = get(at, path, "");
        assert!(head.starts_with("HTTP/1.1 404 ") && body == b"there is no such page\n", "{path}: {head}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let (head, _) = ask(at, &format!("{method} / HTTP/1.1\r\nHost: {at}\r\n\r\n"));
        assert!(head.starts_with("HTTP/1.1 405 "), "{head}");
        assert_eq!(field(&head, "Allow"), Some("GET, HEAD"));
    }
    let (head, _) = ask(at, &format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(9_000)));
    assert!(head.starts_with("HTTP/1.1 431 "), "{head}");
}

#[test]
fn a_page_is_told_where_to_connect() {
    let server = start();
    let place = place_of(&server);
    assert_eq!(place["protocol"], "netloom.1");
    assert_eq!(place["game"]["name"], "cubes");
    assert_eq!(place["websocket"]["url"], format!("ws://{}/netloom", page_of(&server)));
    let webtransport =
        server.addresses.iter().find(|address| address.starts_with("https://")).expect("it has one");
    assert_eq!(place["webtransport"]["url"], format!("{webtransport}/netloom"));
    assert_eq!(place["webtransport"]["certificateHashes"].as_array().map(Vec::len), Some(2));
    let (head, _) = ask(page_of(&server), "GET /.well-known/netloom.json HTTP/1.1\r\nHost: a\"b\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");

    let server = Server::start(&["--http", "127.0.0.1:0", "--no-webtransport"]);
    assert!(place_of(&server).get("webtransport").is_none());
}

#[test]
fn players_and_bots_come_over_webtransport_and_figures_say_so() {
    let server = start();
    let place = place_of(&server);
    let url = place["webtransport"]["url"].as_str().expect("a text");
    let hash = place["webtransport"]["certificateHashes"][0].as_str().expect("a text");
    let output =
        netloom(&["bots", url, "--certificate-hash", hash, "--count", "4", "--duration", "1", "--json"]);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    assert_eq!((&report["joined"], &report["worlds"][0]["equal"]), (&4.into(), &4.into()), "{report:#}");
    assert!(output.status.success());

    let mut player = Running::start(&mut command(&[
        "connect",
        url,
        "--certificate-hash",
        hash,
        "--plain",
        "--name",
        "Ada",
    ]));
    player.line_with("connected room=yard");
    let began = std::time::Instant::now();
    let row = "name=\"Ada\",room=\"0\",transport=\"webtransport\"}";
    while !String::from_utf8_lossy(&get(&server.metrics, "/metrics", "").1).contains(row) {
        assert!(
            began.elapsed() < PATIENCE,
            "{}",
            String::from_utf8_lossy(&get(&server.metrics, "/metrics", "").1)
        );
    }
    let top = stdout(&netloom(&["top", &server.metrics, "--once"]));
    assert!(top.contains("webtransport"), "{top}");
}

#[test]
fn what_is_wrong_with_certificates_is_said() {
    let serve = |arguments: &[&str]| {
        let all = [
            &["serve", "--bind", "127.0.0.1:0", "--metrics", "", "--webtransport", "127.0.0.1:0"],
            arguments,
        ];
        netloom(&all.concat())
    };
    let output = serve(&["--certificate", "/no/such.pem", "--key", "/no/such.key"]);
    assert_fails(&output, 2, &["/no/such.pem", "cannot read"]);
    let output = serve(&["--certificate", "Cargo.toml", "--key", "Cargo.toml"]);
    assert_fails(&output, 2, &["Cargo.toml", "certificate"]);
    let output = serve(&["--certificate", "/no/such.pem"]);
    assert!(stderr(&output).contains("--key <FILE>"), "{}", stderr(&output));
    let mut one = command(&["serve", "--bind", "127.0.0.1:0", "--metrics", ""]);
    let output = one.env("NETLOOM_SERVER_KEY", "a.key").output().expect("the command starts");
    assert_fails(&output, 2, &["server.certificate", "server.key"]);
    let output = netloom(&["connect", "https://127.0.0.1:1", "--plain", "--certificate-hash", "abc"]);
    assert_fails(&output, 2, &["client.certificate_hash", "abc", "base64"]);
}

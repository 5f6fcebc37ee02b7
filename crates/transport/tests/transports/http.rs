//! Plain HTTP on the port of a WebSocket.

use netloom_transport::http::{Request, Response};
use netloom_transport::websocket::Origins;
use netloom_transport::{PeerAddress, TcpConfig, Transport, WebSocketConfig, WebSocketTransport};

use crate::rig::{self, Rig, address};
use crate::websocket::{REQUEST, RawClient, listen};

/// A page of some megabytes, more than any buffer on the way holds.
static PAGE: [u8; 3 << 20] = [b'p'; 3 << 20];

fn answer(request: &Request<'_>) -> Response {
    match request.path() {
        "/" => Response::new(200, "text/html", &PAGE[..]),
        "/metrics" => Response::text(200, format!("asked {}\n", request.query().unwrap_or("nothing"))),
        _ => Response::text(404, "no\n").with_field("Cache-Control", "no-store"),
    }
}

fn serve() -> Rig {
    let mut server = WebSocketTransport::listen(address("127.0.0.1:0"), WebSocketConfig::default()).unwrap();
    server.serve_http(answer);
    Rig::new(
        Box::new(server),
        Box::new(|server| Box::new(WebSocketTransport::connect(server, WebSocketConfig::default()).unwrap())),
    )
}

fn ask(rig: &mut Rig, request: &[u8]) -> Vec<u8> {
    let mut client = RawClient::new(rig);
    client.send(request);
    client.read_to_end(rig)
}

fn status_and_text(rig: &mut Rig, request: &str) -> (u16, String) {
    let answer = String::from_utf8(ask(rig, request.as_bytes())).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains("Connection: close") && head.contains(&format!("Content-Length: {}", body.len())),
        "{head}"
    );
    (head[9..12].parse().unwrap(), body.to_owned())
}

#[test]
fn pages_metrics_and_sockets_share_a_port() {
    let mut rig = serve();
    assert_eq!(
        String::from_utf8(ask(&mut rig, b"GET /metrics?all HTTP/1.1\r\nHost: a\r\n\r\n")).unwrap(),
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 10\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nasked all\n"
    );
    let page = ask(&mut rig, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(page.ends_with(&PAGE) && page.len() < PAGE.len() + 300);
    assert_eq!(status_and_text(&mut rig, "GET /other HTTP/1.0\r\n\r\n"), (404, "no\n".into()));
    let mut client = rig.client();
    rig.meet(&mut *client);
    let counters = rig.server.counters();
    assert_eq!((counters.http_requests, counters.connections_opened, counters.greetings_failed), (3, 1, 0));
    assert_eq!(rig::events(&mut *rig.server), [], "only who is let in is told");
}

#[test]
fn a_post_reaches_the_handler_whole_and_with_the_name_of_its_sender_where_bodies_are_allowed() {
    let config = WebSocketConfig { http_body_bytes_max: 100, ..WebSocketConfig::default() };
    let mut server = WebSocketTransport::listen(address("127.0.0.1:0"), config).unwrap();
    server.serve_http(|request| {
        let from = request.from().map(|from| from.to_socket_addr().ip().to_string()).unwrap_or_default();
        let body = String::from_utf8_lossy(request.body());
        Response::text(200, format!("{} {} from {from}: {body}", request.method(), request.path()))
    });
    let mut rig = Rig::new(Box::new(server), Box::new(|_| unreachable!("nobody plays")));
    let post = |length: &str, body: &str| {
        format!("POST /kick HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let whole = (200, String::from("POST /kick from 127.0.0.1: somebody"));
    assert_eq!(status_and_text(&mut rig, &post("8", "somebody")), whole);
    assert_eq!(status_and_text(&mut rig, &post("8", "somebody else")), whole, "no more than it says");
    let mut slow = RawClient::new(&rig);
    for piece in post("8", "somebody").as_bytes().chunks(1) {
        slow.send(piece);
        let (mut batch, mut polls) = (rig.batch(), 0);
        rig.until("a piece", |server, now| {
            server.receive(now, &mut batch).unwrap();
            polls += 1;
            polls > 2
        });
    }
    assert!(String::from_utf8(slow.read_to_end(&mut rig)).unwrap().ends_with(&whole.1));
    assert_eq!(status_and_text(&mut rig, &post("0", "")).1, "POST /kick from 127.0.0.1: ");
    assert_eq!(
        status_and_text(&mut rig, "GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").1,
        "GET / from 127.0.0.1: ",
        "what comes with a GET is for nobody"
    );
    for (request, status) in [
        (post("101", ""), 413),
        (post("99999999999999999999999", ""), 413),
        (post("-1", "a"), 400),
        (post("1\r\nTransfer-Encoding: chunked", "a"), 501),
        (post("1", "a").replace("POST", "PUT"), 405),
        (post("1", "a").replace("/kick", "/netloom"), 405),
    ] {
        assert_eq!(status_and_text(&mut rig, &request).0, status, "{request}");
    }
}

#[test]
fn a_head_request_gets_the_head_alone() {
    let mut rig = serve();
    let head = String::from_utf8(ask(&mut rig, b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")).unwrap();
    assert!(
        head.ends_with("\r\n\r\n") && head.contains(&format!("Content-Length: {}\r\n", PAGE.len())),
        "{head}"
    );
}

#[test]
fn readers_of_a_page_share_its_memory() {
    let mut rig = serve();
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let mut client = RawClient::new(&rig);
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            client
        })
        .collect();
    let (mut batch, before) = (rig.batch(), netloom_count::allocations());
    rig.until("all answers", |server, now| {
        server.receive(now, &mut batch).unwrap();
        server.counters().http_requests == 20
    });
    // A connection has some small buffers; none of them grows with the page.
    assert!(netloom_count::allocations() - before < 20 * 40, "{}", netloom_count::allocations() - before);
    drop(clients);
}

#[test]
fn what_is_no_upgrade_is_refused_with_what_to_do() {
    let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut rig = rig::websocket();
    let (status, text) = status_and_text(&mut rig, get);
    assert!(status == 426 && text.contains("/netloom") && text.contains("netloom.1"), "{status} {text}");
    let mut rig = serve();
    for (request, expected, hint) in [
        (get.replace("/ ", "/netloom "), 426, "ws://"),
        (REQUEST.replace("/netloom", "/elsewhere"), 404, "/netloom"),
        (REQUEST.replace("Version: 13", "Version: 7"), 426, "13"),
        (REQUEST.replace("Connection: Upgrade\r\n", ""), 400, "Connection"),
        (get.replace("GET", "POST"), 405, "GET"),
        ("GARBAGE\r\n\r\n".into(), 400, "HTTP/1.1"),
        (get.replace("Host: a", "Host : a"), 400, "header field"),
        (get.replace("Host", &"x: y\r\n".repeat(100)), 431, "64"),
        (format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(20_000)), 431, "8192"),
        (
            get.replace("\r\n\r\n", &format!("\r\nContent-Length: 5000\r\n\r\n{}", "z".repeat(5_000)))
                .replace("GET", "PUT"),
            405,
            "GET",
        ),
    ] {
        let (status, text) = status_and_text(&mut rig, &request);
        assert!(status == expected && text.contains(hint), "{request}\n{status} {text}");
    }
    let counters = rig.server.counters();
    assert_eq!((counters.http_requests, counters.greetings_failed, counters.connections_opened), (0, 10, 0));
}

#[test]
fn pages_of_other_sites_are_kept_out_as_configured() {
    let from = |origin: &str| REQUEST.replace("\r\n\r\n", &format!("\r\nOrigin: {origin}\r\n\r\n"));
    let origins = Origins::List(vec!["https://game.example".into()]);
    let mut rig = listen(WebSocketConfig { origins, ..WebSocketConfig::default() });
    let (status, text) = status_and_text(&mut rig, &from("https://evil.example"));
    assert!(status == 403 && text.contains("origins"), "{text}");
    for (config, origin) in [
        (
            WebSocketConfig {
                origins: Origins::List(vec!["https://game.example".into()]),
                ..WebSocketConfig::default()
            },
            "https://game.example",
        ),
        // On a loopback address, any.
        (WebSocketConfig::default(), "https://evil.example"),
    ] {
        let mut rig = listen(config);
        let mut client = RawClient::new(&rig);
        client.send(from(origin).as_bytes());
        let mut batch = rig.batch();
        rig.until("an upgrade", |server, now| {
            server.receive(now, &mut batch).unwrap();
            server.counters().connections_opened == 1
        });
    }
    // Elsewhere, those of the same host.
    let open = WebSocketConfig { allows_plain_on_network: true, ..WebSocketConfig::default() };
    let server = WebSocketTransport::listen(address("0.0.0.0:0"), open).unwrap();
    let port = server.local_address().to_socket_addr().port();
    let mut rig = Rig::new(Box::new(server), Box::new(|_| unreachable!("clients are made by hand")));
    let mut at_loopback = |request: String| {
        let stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let own = PeerAddress::from(stream.local_addr().unwrap());
        let mut client = RawClient { stream, address: own };
        client.send(request.as_bytes());
        // Half a message, and the end: whoever is let in is closed, whoever is not has been told.
        client.stream.shutdown(std::net::Shutdown::Write).unwrap();
        String::from_utf8_lossy(&client.read_to_end(&mut rig)).into_owned()
    };
    assert!(at_loopback(from("https://evil.example")).starts_with("HTTP/1.1 403 "));
    assert!(at_loopback(from("http://a:8080")).starts_with("HTTP/1.1 101 "), "the request says Host: a");
}

#[test]
fn whoever_asks_for_pages_takes_places_only_for_a_while() {
    let tcp = TcpConfig { connections_max: 4, ..TcpConfig::default() };
    let mut server = WebSocketTransport::listen(
        address("127.0.0.1:0"),
        WebSocketConfig { tcp, ..WebSocketConfig::default() },
    )
    .unwrap();
    server.serve_http(answer);
    let mut rig = Rig::new(Box::new(server), Box::new(|_| unreachable!("clients are made by hand")));
    // They ask and never read.
    let _clients: Vec<_> = (0..4)
        .map(|_| {
            let mut client = RawClient::new(&rig);
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            client
        })
        .collect();
    let mut batch = rig.batch();
    rig.until("all answers", |server, _| {
        server.receive(netloom_transport::Micros::ZERO, &mut batch).unwrap();
        server.counters().http_requests == 4
    });
    let late = netloom_transport::Micros::from_secs(60);
    rig.server.receive(netloom_transport::Micros::ZERO, &mut batch).unwrap();
    rig.server.receive(late, &mut batch).unwrap();
    let mut next = RawClient::new(&rig);
    next.send(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    rig.until("another answer", |server, _| {
        server.receive(late, &mut batch).unwrap();
        server.counters().http_requests == 5
    });
}

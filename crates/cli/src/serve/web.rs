//! What browsers are told over HTTP: pages, and where the server is.

use std::net::Ipv6Addr;
use std::sync::{Arc, OnceLock};

use netloom::prelude::Protocol;
use netloom::transport::http::{Request, Response};
use netloom::transport::websocket::{PATH, SUBPROTOCOL};
use serde_json::{Value, json};

use super::{dashboard, pages};

/// Where a page finds out how to connect.
pub const WELL_KNOWN: &str = "/.well-known/netloom.json";

/// What is known of WebTransport only after it was bound.
#[derive(Debug)]
pub struct Listener {
    pub port: u16,
    #[cfg(feature = "webtransport")]
    pub certificates: netloom::webtransport::Certificates,
}

/// Answers requests.
#[derive(Clone)]
pub struct Web {
    protocol: Protocol,
    listener: Arc<OnceLock<Listener>>,
    /// Where the dashboard is, if there is one.
    dashboard: Arc<OnceLock<String>>,
}

impl Web {
    /// For a server of a game.
    pub fn new(protocol: Protocol) -> Web {
        Web { protocol, listener: Arc::default(), dashboard: Arc::default() }
    }

    /// What client and server have in common.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Tells where WebTransport is, once that is known.
    #[cfg(feature = "webtransport")]
    pub fn set_listener(&self, listener: Listener) {
        // It is set once, by the one that made this.
        let _is_set = self.listener.set(listener);
    }

    /// Tells where the dashboard is, once that is known.
    pub fn set_dashboard(&self, address: String) {
        // It is set once, as above.
        let _is_set = self.dashboard.set(address);
    }

    /// The answer to a request.
    pub fn answer(&self, request: &Request<'_>) -> Response {
        match request.path() {
            WELL_KNOWN => self.tell_where(request),
            path if path == self.table_path() => self.table(),
            path if dashboard::is_own(path) => self.lead_to_dashboard(request),
            _ => pages::answer(self.protocol.name(), request).unwrap_or_else(|| {
                Response::text(404, "there is no such page\n").with_field("Cache-Control", "no-store")
            }),
        }
    }

    /// Where the code tables are: other tables are elsewhere, so that a copy is good for ever.
    fn table_path(&self) -> String {
        format!("/netloom-{:08x}.table", self.protocol.codes().id())
    }

    /// The code tables, so that a page has them without any setting.
    fn table(&self) -> Response {
        Response::new(200, "application/octet-stream", self.protocol.codes().serialize())
            .with_field("Cache-Control", "public, max-age=31536000, immutable")
            // Pages of other sites may connect where the server lets them, and then need it.
            .with_field("Access-Control-Allow-Origin", "*")
            .with_field("Referrer-Policy", "no-referrer")
    }

    /// The dashboard is elsewhere: this port may be open to the world, and is served by the game's thread.
    fn lead_to_dashboard(&self, request: &Request<'_>) -> Response {
        let response = match (dashboard::check_asker(request), self.dashboard.get()) {
            (Err(refusal), _) => return refusal,
            (Ok(()), Some(address)) => Response::empty(302).with_field("Location", address.clone()),
            (Ok(()), None) => Response::text(
                404,
                "the dashboard is off: server.dashboard = true and an address in server.metrics turn it on\n",
            ),
        };
        response.with_field("Cache-Control", "no-store")
    }

    fn tell_where(&self, request: &Request<'_>) -> Response {
        let Some(host) = request.fields().only("Host").and_then(Authority::parse) else {
            return Response::text(400, "send the header Host, once\n")
                .with_field("Cache-Control", "no-store");
        };
        let is_behind_tls = request.fields().only("X-Forwarded-Proto") == Some("https");
        let scheme = if is_behind_tls { "wss" } else { "ws" };
        let codes = self.protocol.codes();
        let mut place = json!({
            "protocol": SUBPROTOCOL,
            "game": { "name": self.protocol.name(), "version": self.protocol.version() },
            "table": { "name": codes.name(), "id": codes.id(), "url": self.table_path() },
            "websocket": { "url": format!("{scheme}://{}{PATH}", host.whole) },
        });
        if let (Some(listener), Some(fields)) = (self.listener.get(), place.as_object_mut()) {
            fields.insert(String::from("webtransport"), listener.tell_where(&host));
        }
        Response::new(200, "application/json", format!("{place:#}\n"))
            // A certificate's hash of last week is of no use.
            .with_field("Cache-Control", "no-store")
            // Pages of other sites may find out where the server is. Whether they may connect, it decides itself.
            .with_field("Access-Control-Allow-Origin", "*")
            .with_field("Referrer-Policy", "no-referrer")
    }
}

impl Listener {
    fn tell_where(&self, host: &Authority<'_>) -> Value {
        #[cfg(feature = "webtransport")]
        let hashes: Vec<String> = self.certificates.hashes().iter().map(ToString::to_string).collect();
        #[cfg(not(feature = "webtransport"))]
        let hashes: Vec<String> = Vec::new();
        json!({ "url": format!("https://{}:{}{PATH}", host.name, self.port), "certificateHashes": hashes })
    }
}

/// The host that a request was sent to, as its sender names it.
#[derive(Debug, PartialEq)]
pub struct Authority<'a> {
    /// With the port, if there is one.
    pub whole: &'a str,
    /// Without; IPv6 addresses in brackets.
    pub name: &'a str,
}

impl<'a> Authority<'a> {
    /// Only what can stand in an address and means nothing else there.
    pub fn parse(whole: &'a str) -> Option<Authority<'a>> {
        let (name, port) = match whole.rfind(']') {
            Some(bracket) => whole.split_at(bracket + 1),
            None => whole.split_at(whole.find(':').unwrap_or(whole.len())),
        };
        let is_port = match port.strip_prefix(':') {
            Some(digits) => digits.parse::<u16>().is_ok() && digits.bytes().all(|byte| byte.is_ascii_digit()),
            None => port.is_empty(),
        };
        let is_name = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => {
                (1..=253).contains(&name.len())
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
            }
        };
        (is_port && is_name).then_some(Authority { whole, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(web: &Web, fields: &str) -> Response {
        let head = format!("GET {WELL_KNOWN} HTTP/1.1\r\n{fields}\r\n");
        web.answer(&Request::parse(head.as_bytes()).unwrap())
    }

    fn told(response: &Response) -> Value {
        serde_json::from_slice(response.body().as_bytes()).unwrap()
    }

    #[test]
    fn a_host_is_taken_as_it_is_or_not_at_all() {
        for (whole, name) in [
            ("game.example", "game.example"),
            ("127.0.0.1:7778", "127.0.0.1"),
            ("[::1]:7778", "[::1]"),
            ("[2001:db8::1]", "[2001:db8::1]"),
            ("LOCALHOST:1", "LOCALHOST"),
        ] {
            assert_eq!(Authority::parse(whole), Some(Authority { whole, name }));
        }
        let long = "a".repeat(254);
        for wrong in [
            "", ":80", "a:", "a:99999", "a:+1", "a b", "a/b", "a\"b", "<a>", "user@a", "[::1", "[x]", "::1",
            "a:1:2", "a?b", "a#b", "a\\b", &long,
        ] {
            assert_eq!(Authority::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_page_is_told_where_to_connect_by_the_name_that_it_knows() {
        let web = Web::new(crate::games::find("cubes").map(|game| (game.protocol)()).unwrap());
        let place = told(&ask(&web, "Host: game.example:8080\r\n"));
        assert_eq!(place["protocol"], "netloom.1");
        assert_eq!(place["game"]["name"], "cubes");
        assert_eq!(place["websocket"]["url"], "ws://game.example:8080/netloom");
        assert!(place.get("webtransport").is_none());
        let table = &place["table"];
        let head = format!("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", table["url"].as_str().unwrap());
        let served = web.answer(&Request::parse(head.as_bytes()).unwrap());
        let codes = netloom::replica::codec::Codes::parse(served.body().as_bytes()).unwrap();
        assert_eq!((codes.name(), u64::from(codes.id())), ("generic", table["id"].as_u64().unwrap()));
        let proxied = told(&ask(&web, "Host: game.example\r\nX-Forwarded-Proto: https\r\n"));
        assert_eq!(proxied["websocket"]["url"], "wss://game.example/netloom");
        for wrong in ["", "Host: a\r\nHost: b\r\n", "Host: a/../\"\r\n"] {
            assert_eq!(ask(&web, wrong).status(), 400, "{wrong}");
        }
    }

    #[test]
    fn who_asks_here_for_the_dashboard_is_led_to_it_if_it_may_be_seen() {
        let web = Web::new(crate::games::find("cubes").map(|game| (game.protocol)()).unwrap());
        let ask = |from: &str, host: &str| {
            let head = format!("GET /dashboard/main.js HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let request = Request::parse(head.as_bytes()).unwrap().with(b"", from.parse().unwrap());
            web.answer(&request)
        };
        assert_eq!(ask("127.0.0.1:1", "localhost").status(), 404, "it is off");
        web.set_dashboard(String::from("http://127.0.0.1:7779/dashboard"));
        let led = ask("127.0.0.1:1", "localhost");
        assert_eq!(led.status(), 302);
        assert!(led.fields().any(|field| field == ("Location", "http://127.0.0.1:7779/dashboard")));
        assert_eq!(ask("192.0.2.1:1", "localhost").status(), 403);
        assert_eq!(ask("127.0.0.1:1", "evil.example").status(), 403);
    }

    #[cfg(feature = "webtransport")]
    #[test]
    fn a_page_is_told_the_hashes_of_certificates() {
        use netloom::webtransport::Certificates;

        let web = Web::new(crate::games::find("cubes").map(|game| (game.protocol)()).unwrap());
        let certificates = Certificates::self_signed(&["localhost"]).unwrap();
        web.set_listener(Listener { port: 7778, certificates: certificates.clone() });
        let response = ask(&web, "Host: [::1]:80\r\n");
        let place = told(&response);
        assert_eq!(place["webtransport"]["url"], "https://[::1]:7778/netloom");
        let hashes: Vec<String> = certificates.hashes().iter().map(ToString::to_string).collect();
        assert_eq!(place["webtransport"]["certificateHashes"], json!(hashes));
        assert!(response.fields().any(|field| field == ("Cache-Control", "no-store")));
    }
}

//! From HTTP to WebSocket: one request, one response.
//!
//! ```text
//!   GET /netloom HTTP/1.1                          HTTP/1.1 101 Switching Protocols
//!   Host: game.example:7777                        Upgrade: websocket
//!   Upgrade: websocket                       ──▶   Connection: Upgrade
//!   Connection: Upgrade                            Sec-WebSocket-Accept: base64(SHA-1(key, a fixed text))
//!   Sec-WebSocket-Version: 13                      Sec-WebSocket-Protocol: netloom.1
//!   Sec-WebSocket-Key: base64(16 random bytes)
//!   Sec-WebSocket-Protocol: netloom.1              or an HTTP error whose text says what to do
//! ```
//!
//! Any page in any browser may open a WebSocket to any server, and the only thing that tells the server is `Origin`. So it
//! is checked: a page of another site must not play in the name of whoever looks at it. Programs that are no browsers
//! send none, and are let in: they could send whatever they like. Extensions are never agreed to.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::digest;

use crate::address::PeerAddress;
use crate::http::{HeadError, Request, Response, ResponseHead, status_line};

/// Where datagrams are exchanged.
pub const PATH: &str = "/netloom";

/// What the messages are: the protocol of the standard, and its version.
pub const SUBPROTOCOL: &str = "netloom.1";

const VERSION: &str = "13";

/// What a server adds to a key to show that it speaks WebSocket.
const ACCEPT_SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Which pages may connect. Programs that are no browsers name no origin and always may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// Of any site on a loopback address, where games are developed; elsewhere as [`SameHost`](Self::SameHost).
    #[default]
    ByAddress,
    /// Of any site.
    Any,
    /// Of the host that the socket was opened to, on whatever port.
    SameHost,
    /// Of these origins, such as `https://game.example`.
    List(Vec<String>),
}

impl Origins {
    /// The first text in a list that is no origin.
    pub fn first_wrong(&self) -> Option<&str> {
        let Origins::List(origins) = self else {
            return None;
        };
        let is_origin = |origin: &str| {
            origin == "null"
                || origin.split_once("://").is_some_and(|(scheme, authority)| {
                    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"/?#@,".contains(&byte);
                    !scheme.is_empty() && !authority.is_empty() && authority.bytes().all(is_plain)
                })
        };
        origins.iter().map(String::as_str).find(|origin| !is_origin(origin))
    }

    /// The same with what depends on the address decided.
    pub fn at(self, local: PeerAddress) -> Origins {
        match self {
            Origins::ByAddress if local.to_socket_addr().ip().is_loopback() => Origins::Any,
            Origins::ByAddress => Origins::SameHost,
            decided => decided,
        }
    }

    /// Whether a page of this origin may connect to this host, as the request names them.
    pub fn allow(&self, origin: &str, host: &str) -> bool {
        match self {
            Origins::Any => true,
            Origins::List(origins) => origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)),
            Origins::ByAddress | Origins::SameHost => {
                origin.split_once("://").is_some_and(|(_, authority)| {
                    without_port(authority).eq_ignore_ascii_case(without_port(host))
                })
            }
        }
    }
}

/// The host of `host:port`; IPv6 addresses keep their brackets.
fn without_port(authority: &str) -> &str {
    let name_end = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    match authority.get(name_end..).and_then(|rest| rest.rfind(':')) {
        Some(colon) => authority.get(..name_end + colon).unwrap_or(authority),
        None => authority,
    }
}

/// What a server does with a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Switches to WebSocket after this head.
    Upgrade(String),
    /// Refuses to, and says what to do instead.
    Refuse(Response),
    /// Answers it as plain HTTP.
    Plain,
}

/// What a server does with requests that are none for a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainHttp {
    /// Nobody answers them.
    None,
    /// Somebody answers GET and HEAD.
    Read,
    /// And POST.
    ReadAndPost,
}

/// Decides about a request. `plain` is what happens to requests for other paths that do not ask for an upgrade.
pub fn answer(request: &Request<'_>, origins: &Origins, plain: PlainHttp) -> Answer {
    let is_upgrade = request.fields().lists("Upgrade", "websocket");
    let is_plain = !is_upgrade && plain != PlainHttp::None && request.path() != PATH;
    match request.method() {
        "GET" | "HEAD" if is_plain => return Answer::Plain,
        "POST" if is_plain && plain == PlainHttp::ReadAndPost => return Answer::Plain,
        "GET" | "HEAD" => {}
        _ => {
            let refusal =
                Response::text(405, "only GET and HEAD are served here\n").with_field("Allow", "GET, HEAD");
            return Answer::Refuse(refusal);
        }
    }
    match check(request, origins, is_upgrade) {
        Ok(key) => Answer::Upgrade(format!(
            "{}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: \
             {SUBPROTOCOL}\r\n\r\n",
            status_line(101),
            accept_for(key),
        )),
        Err(refusal) => Answer::Refuse(refusal),
    }
}

/// The key of a request that may be upgraded.
fn check<'a>(request: &Request<'a>, origins: &Origins, is_upgrade: bool) -> Result<&'a str, Response> {
    let fields = request.fields();
    let bad = |text: String| Response::text(400, text);
    if !is_upgrade {
        let text =
            format!("this is a WebSocket: connect to ws://<host>{PATH} with the subprotocol {SUBPROTOCOL}\n");
        return Err(Response::text(426, text).with_field("Upgrade", "websocket"));
    }
    if request.method() != "GET" || !request.is_http_1_1() {
        return Err(bad("a WebSocket is opened by GET over HTTP/1.1\n".into()));
    }
    if request.path() != PATH {
        let path: String = request.path().chars().take(64).collect();
        return Err(Response::text(404, format!("there is no WebSocket at {path}: connect to {PATH}\n")));
    }
    let Some(host) = fields.only("Host") else {
        return Err(bad("send the header Host, once\n".into()));
    };
    if !fields.lists("Connection", "upgrade") {
        return Err(
            bad("send the header `Connection: Upgrade`; a proxy in between must pass it on\n".into()),
        );
    }
    if fields.only("Sec-WebSocket-Version") != Some(VERSION) {
        let refusal = Response::text(426, format!("speak version {VERSION} of WebSocket\n"));
        return Err(refusal.with_field("Sec-WebSocket-Version", VERSION).with_field("Upgrade", "websocket"));
    }
    let key = fields.only("Sec-WebSocket-Key");
    let is_key = |key: &&str| BASE64.decode(key).is_ok_and(|bytes| bytes.len() == 16);
    let Some(key) = key.filter(|key| key.len() == 24).filter(is_key) else {
        return Err(bad("send the header Sec-WebSocket-Key with 16 bytes in base64, once\n".into()));
    };
    let mut protocols = fields.all("Sec-WebSocket-Protocol").flat_map(|value| value.split(','));
    if !protocols.any(|protocol| protocol.trim_matches([' ', '\t']) == SUBPROTOCOL) {
        return Err(bad(format!(
            "offer the subprotocol {SUBPROTOCOL} in the header Sec-WebSocket-Protocol\n"
        )));
    }
    if fields.has("Origin") && !fields.only("Origin").is_some_and(|origin| origins.allow(origin, host)) {
        let text = "pages of this origin may not connect: the server's operator can allow it in `origins`\n";
        return Err(Response::text(403, text));
    }
    Ok(key)
}

/// What a server answers to a key.
pub fn accept_for(key: &str) -> String {
    let mut hash = digest::Context::new(&digest::SHA1_FOR_LEGACY_USE_ONLY);
    hash.update(key.as_bytes());
    hash.update(ACCEPT_SUFFIX);
    BASE64.encode(hash.finish())
}

/// A client's key.
pub(super) fn key_from(random: [u8; 16]) -> String {
    BASE64.encode(random)
}

/// A client's request.
pub(super) fn request(host: PeerAddress, key: &str) -> String {
    format!(
        "GET {PATH} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: \
         {VERSION}\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    )
}

/// Why a server's response opens no WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpgradeError {
    /// It is no HTTP.
    #[error("its response is no HTTP: {0}")]
    Head(#[from] HeadError),
    /// It refuses.
    #[error("it refuses with the HTTP status {0}")]
    Status(u16),
    /// A header field is missing, or says something else than it should.
    #[error("its header field {0} is missing or wrong")]
    Field(&'static str),
}

/// Checks the response to a request with this key.
pub fn check_response(head: &[u8], key: &str) -> Result<(), UpgradeError> {
    let ResponseHead { status, fields } = ResponseHead::parse(head)?;
    if status != 101 {
        return Err(UpgradeError::Status(status));
    }
    let is_right = [
        ("Upgrade", fields.lists("Upgrade", "websocket")),
        ("Connection", fields.lists("Connection", "upgrade")),
        ("Sec-WebSocket-Accept", fields.only("Sec-WebSocket-Accept") == Some(&accept_for(key))),
        ("Sec-WebSocket-Protocol", fields.only("Sec-WebSocket-Protocol") == Some(SUBPROTOCOL)),
        ("Sec-WebSocket-Extensions", !fields.has("Sec-WebSocket-Extensions")),
    ];
    let wrong = is_right.into_iter().find(|(_, is_right)| !is_right);
    wrong.map_or(Ok(()), |(field, _)| Err(UpgradeError::Field(field)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    fn status(head: &str, origins: &Origins) -> u16 {
        match answer(&Request::parse(head.as_bytes()).unwrap(), origins, PlainHttp::None) {
            Answer::Upgrade(head) => {
                assert_eq!(check_response(head.as_bytes(), KEY), Ok(()));
                101
            }
            Answer::Refuse(response) => response.status(),
            Answer::Plain => 200,
        }
    }

    fn request_with(origin: &str) -> String {
        let request = request("192.0.2.1:7777".parse().unwrap(), KEY);
        request.replace("\r\n\r\n", &format!("\r\nOrigin: {origin}\r\n\r\n"))
    }

    #[test]
    fn the_key_of_the_rfc_is_answered_as_in_the_rfc() {
        assert_eq!(accept_for(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn a_request_of_ours_is_accepted_whatever_the_case_of_its_words() {
        let request = request("[::1]:7777".parse().unwrap(), KEY);
        assert_eq!(status(&request, &Origins::SameHost), 101);
        let shouted = request
            .replace("websocket", "WebSocket")
            .replace("Connection: Upgrade", "CONNECTION: keep-alive, UPGRADE");
        assert_eq!(status(&shouted, &Origins::SameHost), 101);
        assert_eq!(status(&request.replace(PATH, "/netloom?room=3"), &Origins::SameHost), 101);
        assert_eq!(status(&request.replace("netloom.1", "chat, netloom.1"), &Origins::SameHost), 101);
    }

    #[test]
    fn every_bad_header_is_refused_with_what_to_do() {
        let good = request("192.0.2.1:7777".parse().unwrap(), KEY);
        let bad = [
            (good.replace("GET", "POST"), 405, "GET"),
            (good.replace("GET", "HEAD"), 400, "GET"),
            (good.replace("HTTP/1.1", "HTTP/1.0"), 400, "HTTP/1.1"),
            (good.replace(PATH, "/other"), 404, PATH),
            (good.replace("Host: 192.0.2.1:7777\r\n", ""), 400, "Host"),
            (good.replace("Host:", "Host: a\r\nHost:"), 400, "Host"),
            (good.replace("Upgrade: websocket\r\n", ""), 426, PATH),
            (good.replace("Upgrade: websocket", "Upgrade: h2c"), 426, SUBPROTOCOL),
            (good.replace("Connection: Upgrade", "Connection: close"), 400, "Connection"),
            (good.replace("Version: 13", "Version: 8"), 426, "13"),
            (good.replace("Version: 13", "Version: 13, 8"), 426, "13"),
            (good.replace("Sec-WebSocket-Key", "X-Key"), 400, "Sec-WebSocket-Key"),
            (good.replace(KEY, "dGhlIHNhbXBsZQ=="), 400, "16 bytes"),
            (good.replace(KEY, "!!!!!!!!!!!!!!!!!!!!!!!!"), 400, "base64"),
            (good.replace("netloom.1", "netloom.2"), 400, SUBPROTOCOL),
            (good.replace("Sec-WebSocket-Protocol: netloom.1\r\n", ""), 400, SUBPROTOCOL),
        ];
        for (head, expected, hint) in bad {
            let request = Request::parse(head.as_bytes()).unwrap();
            let Answer::Refuse(response) = answer(&request, &Origins::Any, PlainHttp::ReadAndPost) else {
                // Without an upgrade another path is plain HTTP; this one is not.
                panic!("{head} was not refused");
            };
            let text = String::from_utf8(response.body().as_bytes().to_vec()).unwrap();
            assert!(
                response.status() == expected && text.contains(hint),
                "{head}\n{} {text}",
                response.status()
            );
        }
    }

    #[test]
    fn plain_requests_are_plain_where_somebody_answers_them() {
        let page = Request::parse(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let status = |request: &Request<'_>, plain| match answer(request, &Origins::Any, plain) {
            Answer::Refuse(refusal) => refusal.status(),
            Answer::Plain => 200,
            Answer::Upgrade(_) => 101,
        };
        assert_eq!(status(&page, PlainHttp::Read), 200);
        assert_eq!(status(&page, PlainHttp::None), 426);
        let post = Request::parse(b"POST / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        assert_eq!(status(&post, PlainHttp::ReadAndPost), 200);
        assert_eq!((status(&post, PlainHttp::Read), status(&post, PlainHttp::None)), (405, 405));
        let socket = Request::parse(b"GET /netloom HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        assert_eq!(status(&socket, PlainHttp::Read), 426);
        let put = Request::parse(b"PUT / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        assert_eq!(status(&put, PlainHttp::ReadAndPost), 405);
    }

    #[test]
    fn pages_of_other_sites_stay_out() {
        let list = Origins::List(vec!["https://game.example".into()]);
        for (origin, any, same_host, listed) in [
            ("http://192.0.2.1:8080", 101, 101, 403),
            ("https://192.0.2.1", 101, 101, 403),
            ("https://game.example", 101, 403, 101),
            ("https://GAME.example", 101, 403, 101),
            ("https://game.example.evil.example", 101, 403, 403),
            ("http://192.0.2.10", 101, 403, 403),
            ("null", 101, 403, 403),
            ("a\r\nOrigin: http://192.0.2.1", 403, 403, 403),
        ] {
            // Two origins are nobody's, even where any may come.
            let any = if origin.contains("\r\n") { 403 } else { any };
            let head = request_with(origin);
            assert_eq!(status(&head, &Origins::Any), any, "{origin}");
            assert_eq!(status(&head, &Origins::SameHost), same_host, "{origin}");
            assert_eq!(status(&head, &list), listed, "{origin}");
        }
    }

    #[test]
    fn the_address_decides_about_origins_unless_somebody_did() {
        let at = |text: &str, origins: Origins| origins.at(text.parse().unwrap());
        assert_eq!(at("127.0.0.1:1", Origins::ByAddress), Origins::Any);
        assert_eq!(at("[::1]:1", Origins::ByAddress), Origins::Any);
        assert_eq!(at("0.0.0.0:1", Origins::ByAddress), Origins::SameHost);
        assert_eq!(at("127.0.0.1:1", Origins::SameHost), Origins::SameHost);
    }

    #[test]
    fn hosts_are_compared_without_their_ports() {
        for (authority, host) in
            [("a:1", "a"), ("a", "a"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("", "")]
        {
            assert_eq!(without_port(authority), host);
        }
    }

    #[test]
    fn what_is_no_origin_is_found() {
        let list = |texts: &[&str]| Origins::List(texts.iter().map(|text| text.to_string()).collect());
        assert_eq!(list(&["https://a", "http://[::1]:80", "null"]).first_wrong(), None);
        for wrong in ["", "a.example", "https://", "https://a/", "https://a, https://b", "://a"] {
            assert_eq!(list(&["https://a", wrong]).first_wrong(), Some(wrong));
        }
        assert_eq!(Origins::Any.first_wrong(), None);
    }

    #[test]
    fn a_wrong_response_is_told_by_what_is_wrong() {
        let Answer::Upgrade(good) = answer(
            &Request::parse(request("1.2.3.4:5".parse().unwrap(), KEY).as_bytes()).unwrap(),
            &Origins::Any,
            PlainHttp::None,
        ) else {
            panic!("a good request was refused");
        };
        for (head, error) in [
            (good.replace("101", "200"), UpgradeError::Status(200)),
            (good.replace("HTTP/1.1", "HTTP/3"), UpgradeError::Head(HeadError::FirstLine)),
            (good.replace("Upgrade: websocket", "Upgrade: h2c"), UpgradeError::Field("Upgrade")),
            (good.replace("Connection: Upgrade", "Connection: close"), UpgradeError::Field("Connection")),
            (good.replace("Accept: s", "Accept: S"), UpgradeError::Field("Sec-WebSocket-Accept")),
            (good.replace("netloom.1", "netloom.2"), UpgradeError::Field("Sec-WebSocket-Protocol")),
            (
                good.replace("Upgrade: w", "Sec-WebSocket-Extensions: permessage-deflate\r\nUpgrade: w"),
                UpgradeError::Field("Sec-WebSocket-Extensions"),
            ),
        ] {
            assert_eq!(check_response(head.as_bytes(), KEY), Err(error), "{head}");
        }
    }
}

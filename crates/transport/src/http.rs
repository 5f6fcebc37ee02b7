//! As much HTTP as a game server needs: a request's head, and an answer from memory.
//!
//! The port that browsers open a WebSocket on is also the one that they get the page from, that a monitor scrapes and that
//! an orchestrator probes. That takes no web server: one request per connection, its head bounded in bytes and time, a body
//! only where one is allowed and then a short one, and an answer that is in memory already.
//!
//! ```text
//!   GET /metrics HTTP/1.1\r\n            HTTP/1.1 200 OK\r\n
//!   Host: game.example\r\n        ──▶    Content-Type: text/plain; charset=utf-8\r\n
//!   \r\n                                 Content-Length: 12\r\n
//!                                        Connection: close\r\n
//!                                        \r\n
//!                                        players 16\r\n
//! ```

mod head;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

pub use head::{
    BODY_BYTES_MAX, FIELDS_MAX, Fields, HEAD_BYTES_MAX, HeadError, Request, ResponseHead, head_length,
};

/// Bytes to answer with. They are not copied for a connection: a thousand readers of a page share one.
#[derive(Clone, Debug)]
pub struct Body(Content);

#[derive(Clone, Debug)]
enum Content {
    Static(&'static [u8]),
    Shared(Arc<[u8]>),
}

impl Body {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Content::Static(bytes) => bytes,
            Content::Shared(bytes) => bytes,
        }
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Body {
        Body(Content::Static(bytes))
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Body {
        Body(Content::Static(text.as_bytes()))
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Body(Content::Shared(bytes.into()))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        text.into_bytes().into()
    }
}

impl From<Arc<[u8]>> for Body {
    fn from(bytes: Arc<[u8]>) -> Body {
        Body(Content::Shared(bytes))
    }
}

/// The answer to a request.
///
/// ```
/// use netloom_transport::http::{Request, Response};
///
/// fn answer(request: &Request<'_>) -> Response {
///     match request.path() {
///         "/" => Response::new(200, "text/html; charset=utf-8", "<h1>a game</h1>"),
///         "/healthz" => Response::text(200, "ok\n"),
///         _ => Response::text(404, "there is / and /healthz\n"),
///     }
/// }
/// # let request = Request::parse(b"GET / HTTP/1.1\r\n\r\n")?;
/// # assert_eq!(answer(&request).status(), 200);
/// # Ok::<(), netloom_transport::http::HeadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Response {
    status: u16,
    content_type: &'static str,
    fields: Vec<(&'static str, Cow<'static, str>)>,
    body: Body,
}

impl Response {
    /// An answer of a type of content, such as `text/html; charset=utf-8`.
    pub fn new(status: u16, content_type: &'static str, body: impl Into<Body>) -> Response {
        Response { status, content_type, fields: Vec::new(), body: body.into() }
    }

    /// A plain text.
    pub fn text(status: u16, text: impl Into<Body>) -> Response {
        Response::new(status, "text/plain; charset=utf-8", text)
    }

    /// An answer that says all by its status and fields, such as 304.
    pub fn empty(status: u16) -> Response {
        Response::new(status, "", "")
    }

    /// The same with another header field. What a value must not contain becomes a space.
    #[must_use]
    pub fn with_field(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Response {
        self.fields.push((name, value.into()));
        self
    }

    /// Its status code.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Its header fields, besides those that every answer has.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.fields.iter().map(|(name, value)| (*name, &**value))
    }

    /// Its body.
    pub fn body(&self) -> &Body {
        &self.body
    }

    pub(crate) fn into_body(self) -> Body {
        self.body
    }

    /// The head, as it is sent.
    pub(crate) fn head(&self) -> String {
        let mut head = status_line(self.status);
        // These two never have a body, and a length would be that of the body which they stand for.
        if !matches!(self.status, 204 | 304) {
            let length = self.body.as_bytes().len();
            // Writing to a string does not fail, here and below.
            if !self.content_type.is_empty() {
                let _ = write!(head, "Content-Type: {}\r\n", self.content_type);
            }
            let _ = write!(head, "Content-Length: {length}\r\n");
        }
        for (name, value) in &self.fields {
            let _ = write!(head, "{name}: {}\r\n", value.replace(|letter: char| letter.is_control(), " "));
        }
        head.push_str("X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
        head
    }
}

/// The first line of a response.
pub(crate) fn status_line(status: u16) -> String {
    let meaning = match status {
        101 => "Switching Protocols",
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        // The words are for people; programs read the number.
        _ => "Status",
    };
    format!("HTTP/1.1 {status} {meaning}\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_cannot_be_split_by_a_value() {
        let response = Response::text(404, "no").with_field("Location", "/\r\nEvil: yes");
        assert_eq!(
            response.head(),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\n\
             Location: /  Evil: yes\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn an_answer_without_a_body_has_no_length_either() {
        let head = Response::empty(304).with_field("ETag", "\"a\"").head();
        assert_eq!(
            head,
            "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        );
        assert!(Response::text(200, "").head().contains("Content-Length: 0\r\n"));
        let moved = Response::empty(302).with_field("Location", "/").head();
        assert!(moved.contains("Content-Length: 0\r\n") && !moved.contains("\r\nContent-Type"), "{moved}");
    }

    #[test]
    fn bodies_of_every_kind_hold_their_bytes() {
        let shared: Arc<[u8]> = Arc::from(*b"abc");
        for body in [
            Body::from("abc"),
            Body::from(&b"abc"[..]),
            b"abc".to_vec().into(),
            "abc".to_owned().into(),
            shared.into(),
        ] {
            assert_eq!(body.as_bytes(), b"abc");
        }
    }
}

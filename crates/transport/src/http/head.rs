//! Heads, as they stand there.
//!
//! Nothing allocates before a head is whole and well-formed, and nothing is guessed: a head that two programs could read in
//! two ways (a lone line feed, a folded line, a space before the colon) is refused.

use crate::address::PeerAddress;

/// The longest head of a request or a response.
pub const HEAD_BYTES_MAX: usize = 8 << 10;

/// The longest body of a request that can be allowed: head and body fit into what is read of a connection at once.
pub const BODY_BYTES_MAX: usize = 4 << 10;

/// The most header fields in a head.
pub const FIELDS_MAX: usize = 64;

const HEAD_END: &[u8] = b"\r\n\r\n";

/// What is wrong with a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// The first line is not that of HTTP/1.
    #[error("the first line is not one of HTTP/1.1")]
    FirstLine,
    /// A line is no header field.
    #[error("a line of the head is no header field")]
    Field,
    /// There are too many fields.
    #[error("the head has more than {FIELDS_MAX} fields")]
    TooManyFields,
    /// The head does not end.
    #[error("the head is longer than {HEAD_BYTES_MAX} bytes")]
    TooLong,
    /// How long the body is cannot be told.
    #[error("the length of the body is no number, or there are several")]
    BodyLength,
    /// The body comes in a way that is not read here.
    #[error("bodies are read by their Content-Length only")]
    BodyCoding,
}

/// How long the head is at the beginning of `bytes`, its empty line included; `None` if it does not end there yet. The first
/// `searched` bytes were searched before.
pub fn head_length(bytes: &[u8], searched: usize) -> Result<Option<usize>, HeadError> {
    let from = searched.saturating_sub(HEAD_END.len() - 1);
    let within = bytes.get(..HEAD_BYTES_MAX).unwrap_or(bytes);
    let rest = within.get(from..).unwrap_or_default();
    match rest.windows(HEAD_END.len()).position(|window| window == HEAD_END) {
        Some(position) => Ok(Some(from + position + HEAD_END.len())),
        None if bytes.len() >= HEAD_BYTES_MAX => Err(HeadError::TooLong),
        None => Ok(None),
    }
}

/// The header fields of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'a> {
    lines: &'a [u8],
}

impl<'a> Fields<'a> {
    fn parse(lines: &'a [u8]) -> Result<Fields<'a>, HeadError> {
        // An empty line would end the head before its end.
        if lines.starts_with(b"\r\n") || lines.windows(HEAD_END.len()).any(|window| window == HEAD_END) {
            return Err(HeadError::Field);
        }
        let mut count = 0;
        for line in split_lines(lines) {
            split_field(line).ok_or(HeadError::Field)?;
            count += 1;
            if count > FIELDS_MAX {
                return Err(HeadError::TooManyFields);
            }
        }
        Ok(Fields { lines })
    }

    /// Every field, in order.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        split_lines(self.lines).filter_map(split_field)
    }

    /// Every value of a field, those that are not UTF-8 left out. Names do not distinguish case.
    pub fn all(self, name: &str) -> impl Iterator<Item = &'a str> {
        let of_name = move |(field, value): (&str, &'a [u8])| {
            field.eq_ignore_ascii_case(name).then(|| std::str::from_utf8(value).ok()).flatten()
        };
        self.iter().filter_map(of_name)
    }

    /// The value of a field that stands there once.
    pub fn only(self, name: &str) -> Option<&'a str> {
        let mut values = self.all(name);
        values.next().filter(|_| values.next().is_none())
    }

    /// Whether a field is there.
    pub fn has(self, name: &str) -> bool {
        self.iter().any(|(field, _)| field.eq_ignore_ascii_case(name))
    }

    /// Whether a word is in a field's list of words; case does not matter.
    pub fn lists(self, name: &str, word: &str) -> bool {
        let mut words = self.all(name).flat_map(|value| value.split(','));
        words.any(|listed| listed.trim_matches([' ', '\t']).eq_ignore_ascii_case(word))
    }
}

/// The lines of a head without their ends. What follows the last end is a line of its own unless it is empty.
fn split_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (line, after) = match rest.windows(2).position(|window| window == b"\r\n") {
            Some(end) => (rest.get(..end)?, rest.get(end + 2..)?),
            None => (rest, &[][..]),
        };
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

fn split_field(line: &[u8]) -> Option<(&str, &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?);
    let is_value = |&byte: &u8| byte == b'\t' || byte >= b' ' && byte != 0x7f;
    let is_field = !name.is_empty() && name.iter().all(is_token_byte) && value.iter().all(is_value);
    is_field.then_some(())?;
    Some((std::str::from_utf8(name).ok()?, value.trim_ascii()))
}

/// What names of fields and methods are made of.
fn is_token_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

/// A request: its head, and behind that what came along.
///
/// ```
/// use netloom_transport::http::Request;
///
/// let request = Request::parse(b"GET /metrics?all HTTP/1.1\r\nHost: game.example\r\n\r\n")?;
/// assert_eq!((request.method(), request.path(), request.query()), ("GET", "/metrics", Some("all")));
/// assert_eq!(request.fields().only("host"), Some("game.example"));
/// # Ok::<(), netloom_transport::http::HeadError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    method: &'a str,
    path: &'a str,
    query: Option<&'a str>,
    is_http_1_1: bool,
    fields: Fields<'a>,
    body: &'a [u8],
    from: Option<PeerAddress>,
}

impl<'a> Request<'a> {
    /// Reads a whole head.
    pub fn parse(head: &'a [u8]) -> Result<Request<'a>, HeadError> {
        let (line, fields) = split_head(head)?;
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(HeadError::FirstLine);
        };
        let is_http_1_1 = match version {
            "HTTP/1.1" => true,
            "HTTP/1.0" => false,
            _ => return Err(HeadError::FirstLine),
        };
        let is_method = !method.is_empty() && method.as_bytes().iter().all(is_token_byte);
        if !is_method || !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(HeadError::FirstLine);
        }
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let fields = Fields::parse(fields)?;
        Ok(Request { method, path, query, is_http_1_1, fields, body: &[], from: None })
    }

    /// What is to be done, such as `GET`.
    pub fn method(&self) -> &'a str {
        self.method
    }

    /// What it is to be done with, such as `/metrics`, as it stands there: nothing is decoded.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// What follows the path behind a question mark.
    pub fn query(&self) -> Option<&'a str> {
        self.query
    }

    /// The header fields.
    pub fn fields(&self) -> Fields<'a> {
        self.fields
    }

    /// What was sent behind the head: empty unless [`WebSocketConfig::http_body_bytes_max`] allows it.
    ///
    /// [`WebSocketConfig::http_body_bytes_max`]: crate::WebSocketConfig::http_body_bytes_max
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Who asks, as far as the connection tells: a proxy stands for all behind it. `None` if it came over no connection.
    pub fn from(&self) -> Option<PeerAddress> {
        self.from
    }

    /// The same with what a connection knows of it.
    #[must_use]
    pub fn with(self, body: &'a [u8], from: PeerAddress) -> Request<'a> {
        Request { body, from: Some(from), ..self }
    }

    /// How long the body is that follows the head.
    pub(crate) fn body_length(&self) -> Result<usize, HeadError> {
        if self.fields.has("Transfer-Encoding") {
            return Err(HeadError::BodyCoding);
        }
        if !self.fields.has("Content-Length") {
            return Ok(0);
        }
        let digits = self.fields.only("Content-Length").ok_or(HeadError::BodyLength)?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // More digits than a number has are a body that is too long anyway.
        if is_number { Ok(digits.parse().unwrap_or(usize::MAX)) } else { Err(HeadError::BodyLength) }
    }

    pub(crate) fn is_http_1_1(&self) -> bool {
        self.is_http_1_1
    }
}

/// The head of a response, as a client reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHead<'a> {
    /// The status code.
    pub status: u16,
    /// The header fields.
    pub fields: Fields<'a>,
}

impl<'a> ResponseHead<'a> {
    /// Reads a whole head.
    pub fn parse(head: &'a [u8]) -> Result<ResponseHead<'a>, HeadError> {
        let (line, fields) = split_head(head)?;
        let rest = line.strip_prefix("HTTP/1.1 ").ok_or(HeadError::FirstLine)?;
        let code = rest.split(' ').next().filter(|code| code.len() == 3);
        let status = code.and_then(|code| code.parse().ok()).filter(|status| (100..600).contains(status));
        Ok(ResponseHead { status: status.ok_or(HeadError::FirstLine)?, fields: Fields::parse(fields)? })
    }
}

/// The first line, and the lines of the fields.
fn split_head(head: &[u8]) -> Result<(&str, &[u8]), HeadError> {
    if head.len() > HEAD_BYTES_MAX {
        return Err(HeadError::TooLong);
    }
    if !head.ends_with(HEAD_END) {
        return Err(HeadError::Field);
    }
    let end = head.windows(2).position(|window| window == b"\r\n").ok_or(HeadError::FirstLine)?;
    let (line, fields) = (head.get(..end).unwrap_or_default(), head.get(end + 2..).unwrap_or_default());
    let fields = fields.strip_suffix(b"\r\n").ok_or(HeadError::Field)?;
    let line = std::str::from_utf8(line).map_err(|_| HeadError::FirstLine)?;
    if line.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(HeadError::FirstLine);
    }
    Ok((line, fields))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GET: &[u8] = b"GET /path?a=b HTTP/1.1\r\nHost: a\r\nX-List: one , TWO\r\nx-list:three\r\n\r\n";

    #[test]
    fn a_request_is_read_as_it_stands_there() {
        let request = Request::parse(GET).unwrap();
        assert_eq!((request.method(), request.path(), request.query()), ("GET", "/path", Some("a=b")));
        let fields = request.fields();
        assert_eq!(
            (fields.only("HOST"), fields.only("x-list"), fields.only("none")),
            (Some("a"), None, None)
        );
        assert!(["one", "two", "Three"].iter().all(|word| fields.lists("X-List", word)));
        assert!(!fields.lists("X-List", "thre") && fields.has("x-LIST") && !fields.has("x"));
        assert_eq!(fields.iter().count(), 3);
        assert!(request.is_http_1_1());
        assert!(!Request::parse(b"GET / HTTP/1.0\r\n\r\n").unwrap().is_http_1_1());
    }

    #[test]
    fn a_head_that_could_be_read_in_two_ways_is_refused() {
        let first_lines: [&[u8]; 10] = [
            b"GET /\r\n\r\n",
            b"GET / HTTP/2\r\n\r\n",
            b"GET  / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1 \r\n\r\n",
            b"G\xc3\xa9T / HTTP/1.1\r\n\r\n",
            b"GET http://a/ HTTP/1.1\r\n\r\n",
            b"GET /\x01 HTTP/1.1\r\n\r\n",
            b"GET /\xff HTTP/1.1\r\n\r\n",
            b" / HTTP/1.1\r\n\r\n",
            b"\r\n\r\n",
        ];
        for head in first_lines {
            assert_eq!(Request::parse(head), Err(HeadError::FirstLine), "{}", head.escape_ascii());
        }
        let fields: [&[u8]; 8] = [
            b"Host",
            b"Host : a",
            b": a",
            b" folded: a",
            b"A: b\nC: d",
            b"A: b\rC: d",
            b"A: \0",
            b"A: b\r\n\r\nC: d",
        ];
        for field in fields {
            let head = [b"GET / HTTP/1.1\r\n", field, b"\r\n\r\n"].concat();
            assert_eq!(Request::parse(&head), Err(HeadError::Field), "{}", field.escape_ascii());
        }
        let many = [&b"GET / HTTP/1.1\r\n"[..], &b"a: b\r\n".repeat(65), b"\r\n"].concat();
        assert_eq!(Request::parse(&many), Err(HeadError::TooManyFields));
        assert_eq!(Request::parse(&b"G".repeat(HEAD_BYTES_MAX + 1)), Err(HeadError::TooLong));
        assert_eq!(Request::parse(b"GET / HTTP/1.1\r\nA: b\r\n"), Err(HeadError::Field), "no empty line");
    }

    #[test]
    fn the_length_of_a_body_is_one_number_or_the_request_is_refused() {
        let length = |fields: &str| {
            let head = format!("POST / HTTP/1.1\r\n{fields}\r\n");
            Request::parse(head.as_bytes()).unwrap().body_length()
        };
        assert_eq!(length(""), Ok(0));
        assert_eq!(length("Content-Length: 12\r\n"), Ok(12));
        assert_eq!(length("Content-Length: 99999999999999999999999\r\n"), Ok(usize::MAX));
        for wrong in ["", "-1", "+1", "0x10", "1, 1", "1 1"] {
            let fields = format!("Content-Length: {wrong}\r\n");
            assert_eq!(length(&fields), Err(HeadError::BodyLength), "{wrong:?}");
        }
        let twice = "Content-Length: 1\r\nContent-Length: 1\r\n";
        assert_eq!(length(twice), Err(HeadError::BodyLength));
        let smuggled = "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n";
        assert_eq!(length(smuggled), Err(HeadError::BodyCoding));
    }

    #[test]
    fn the_head_of_a_response_is_read() {
        let response = ResponseHead::parse(b"HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\n").unwrap();
        assert_eq!((response.status, response.fields.only("a")), (101, Some("b")));
        for head in
            ["HTTP/1.0 101 x\r\n\r\n", "HTTP/1.1 99\r\n\r\n", "HTTP/1.1 0101 x\r\n\r\n", "101\r\n\r\n"]
        {
            assert_eq!(ResponseHead::parse(head.as_bytes()), Err(HeadError::FirstLine), "{head}");
        }
    }

    proptest! {
        #[test]
        fn the_end_of_a_head_is_found_however_it_arrives(first in 0usize..80, behind in proptest::collection::vec(any::<u8>(), 0..20)) {
            let bytes = [GET, &behind].concat();
            let arrived = bytes.get(..first).unwrap_or(&bytes);
            let early = head_length(arrived, 0).unwrap();
            prop_assert_eq!(early, (first >= GET.len()).then_some(GET.len()));
            prop_assert_eq!(head_length(&bytes, if early.is_none() { first } else { 0 }), Ok(Some(GET.len())));
        }

        #[test]
        fn nothing_panics(head in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (Request::parse(&head), ResponseHead::parse(&head), head_length(&head, head.len()));
        }
    }

    #[test]
    fn a_head_without_an_end_is_given_up_at_its_limit() {
        assert_eq!(head_length(&[b'a'; HEAD_BYTES_MAX - 1], 0), Ok(None));
        assert_eq!(head_length(&[b'a'; HEAD_BYTES_MAX], 0), Err(HeadError::TooLong));
        let mut longest = vec![b'a'; HEAD_BYTES_MAX - 4];
        longest.extend(b"\r\n\r\nmore");
        assert_eq!(head_length(&longest, 0), Ok(Some(HEAD_BYTES_MAX)));
    }
}

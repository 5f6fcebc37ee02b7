//! One WebSocket on a stream: the upgrade, then messages, then the close handshake.
//!
//! ```text
//!   server   head of a request ──▶ 101 ──────────▶ messages ──▶ Close, Close
//!                              └─▶ an HTTP answer, and the end
//!   client   request, then the head of a response ──▶ messages ──▶ Close, Close
//! ```

use std::fmt;
use std::io;

use netloom_wire::Micros;
use netloom_wire::bytes::KEPT_CAPACITY_BYTES;
use ring::rand::{SecureRandom, SystemRandom};

use super::frame::{CONTROL_BYTES_MAX, FRAME_HEADER_BYTES_MAX, Opcode, Role, write_frame};
use super::message::{Incoming, MessageReader};
use super::upgrade::{self, Answer, Origins, PlainHttp};
use crate::address::PeerAddress;
use crate::http::{Body, HeadError, Request, Response, head_length};
use crate::limits::{CLOSE_STAY, HTTP_STAY, PONG_INTERVAL, PONGS_AT_ONCE_MAX};
use crate::stream::{Codec, Delivery, Ending, Side, TcpConfig};
use crate::transport::CloseReason;

/// Answers plain HTTP requests.
pub(super) type HttpHandler = Box<dyn FnMut(&Request<'_>) -> Response + Send>;

/// What all connections of a transport share.
pub(super) struct Shared {
    pub origins: Origins,
    pub upgrade_timeout: Micros,
    /// The longest body of a POST request; 0 if there is none.
    pub body_bytes_max: usize,
    pub http: Option<HttpHandler>,
    pub masks: Masks,
}

impl Shared {
    /// What is done with requests that are none for a WebSocket.
    fn plain_http(&self) -> PlainHttp {
        match &self.http {
            None => PlainHttp::None,
            Some(_) if self.body_bytes_max == 0 => PlainHttp::Read,
            Some(_) => PlainHttp::ReadAndPost,
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shared").field("origins", &self.origins).finish_non_exhaustive()
    }
}

/// Randomness for masks. They must not be foreseen by whoever chooses what is sent, or proxies could be made to read
/// requests into it; asking the system for each would cost more than the frame.
pub(super) struct Masks {
    system: SystemRandom,
    pool: [u8; 1_024],
    used: usize,
}

impl Masks {
    pub fn new() -> Masks {
        Masks { system: SystemRandom::new(), pool: [0; 1_024], used: 1_024 }
    }

    /// Bytes that were never used before; an error if the system has no randomness.
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        if self.pool.len() - self.used < N {
            self.system
                .fill(&mut self.pool)
                .map_err(|_| io::Error::other("the system gives no randomness"))?;
            self.used = 0;
        }
        let bytes = self.pool.get(self.used..).and_then(|rest| rest.first_chunk()).copied();
        self.used += N;
        bytes.ok_or_else(|| io::Error::other("more randomness than the pool holds"))
    }
}

#[derive(Debug)]
enum State {
    /// A server waits for a request; of what it has, this much was searched for the end.
    AwaitsRequest { searched: usize },
    /// A client waits for the response to the request with this key, of which this much is unsent.
    AwaitsResponse { searched: usize, key: Box<str>, request_unsent: usize },
    /// Messages pass.
    Open,
    /// A plain HTTP answer is sent: a head that waits with the rest, and this, of which so much was sent.
    Answers { body: Body, body_sent: usize },
}

/// One WebSocket.
#[derive(Debug)]
pub(super) struct WebSocketCodec {
    role: Role,
    state: State,
    reader: MessageReader,
    out: Vec<u8>,
    /// Bytes of `out` that were sent.
    out_sent: usize,
    unsent_bytes_max: usize,
    /// The code of the peer's goodbye, to be repeated.
    heard_close: Option<Option<u16>>,
    /// When the next pong would be due if they went out evenly.
    next_pong_at: Micros,
}

impl WebSocketCodec {
    fn mask(&self, masks: &mut Masks) -> io::Result<Option<[u8; 4]>> {
        match self.role {
            Role::Server => Ok(None),
            Role::Client => masks.take().map(Some),
        }
    }

    fn write(&mut self, masks: &mut Masks, opcode: Opcode, payload: &[u8]) -> bool {
        // Without randomness nothing may be sent; the peer sees a connection that says nothing.
        let Ok(mask) = self.mask(masks) else {
            return false;
        };
        self.forget_sent();
        write_frame(&mut self.out, opcode, mask, payload);
        true
    }

    fn has_room_for(&self, payload_bytes: usize) -> bool {
        self.unsent_bytes() + FRAME_HEADER_BYTES_MAX + payload_bytes <= self.unsent_bytes_max
    }

    fn forget_sent(&mut self) {
        if self.out_sent > 0 {
            self.out.drain(..self.out_sent);
            self.out_sent = 0;
        }
    }

    /// Handles the head of a request, once it is whole.
    fn greet_client(
        &mut self,
        shared: &mut Shared,
        from: PeerAddress,
        searched: usize,
    ) -> Result<(), Ending> {
        let arrived = self.reader.buffered();
        let head_bytes = match head_length(arrived, searched) {
            Ok(Some(head_bytes)) => head_bytes,
            Ok(None) => {
                self.state = State::AwaitsRequest { searched: arrived.len() };
                return Ok(());
            }
            Err(error) => return Err(self.refuse(error_response(error))),
        };
        let request = match Request::parse(arrived.get(..head_bytes).unwrap_or_default()) {
            Ok(request) => request,
            Err(error) => return Err(self.refuse(error_response(error))),
        };
        let is_head_only = request.method() == "HEAD";
        let answer = upgrade::answer(&request, &shared.origins, shared.plain_http());
        let body_bytes = match body_length(&request, shared.body_bytes_max) {
            // What comes along with anything else is not for anybody.
            _ if !(matches!(answer, Answer::Plain) && request.method() == "POST") => 0,
            Ok(length) => length,
            Err(refusal) => return Err(self.refuse(refusal)),
        };
        let Some(body) = arrived.get(head_bytes..head_bytes + body_bytes) else {
            // The end of the head is found again when there is more.
            self.state = State::AwaitsRequest { searched: head_bytes - 1 };
            return Ok(());
        };
        let request = request.with(body, from);
        match (answer, &mut shared.http) {
            (Answer::Upgrade(head), _) => {
                self.out.extend_from_slice(head.as_bytes());
                self.reader.skip(head_bytes);
                self.state = State::Open;
                Ok(())
            }
            (Answer::Plain, Some(handler)) => {
                let response = handler(&request);
                self.respond(response, is_head_only);
                Err(Ending::Answered)
            }
            (Answer::Plain, None) => Err(self.refuse(Response::text(404, "nothing is served here\n"))),
            (Answer::Refuse(response), _) => {
                self.respond(response, is_head_only);
                Err(Ending::Refused)
            }
        }
    }

    fn refuse(&mut self, response: Response) -> Ending {
        self.respond(response, false);
        Ending::Refused
    }

    fn respond(&mut self, response: Response, is_head_only: bool) {
        self.out.extend_from_slice(response.head().as_bytes());
        let body = if is_head_only { Body::from("") } else { response.into_body() };
        self.state = State::Answers { body, body_sent: 0 };
    }

    /// Handles the head of the response, once it is whole.
    fn greet_server(&mut self) -> Result<(), Ending> {
        let State::AwaitsResponse { searched, key, .. } = &mut self.state else {
            return Ok(());
        };
        let not_upgraded = |error| Ending::Gone(CloseReason::NotUpgraded(error));
        let arrived = self.reader.buffered();
        let Some(head_bytes) = head_length(arrived, *searched).map_err(|error| not_upgraded(error.into()))?
        else {
            *searched = arrived.len();
            return Ok(());
        };
        upgrade::check_response(arrived.get(..head_bytes).unwrap_or_default(), key).map_err(not_upgraded)?;
        self.reader.skip(head_bytes);
        self.state = State::Open;
        Ok(())
    }

    fn read_messages(&mut self, shared: &mut Shared, delivery: &mut Delivery<'_>) -> Result<(), Ending> {
        while delivery.has_room() {
            let violation = |error| Ending::Closed(CloseReason::NotWebSocket(error));
            // A pong is written while the reader still holds the ping.
            let mut ping = [0; CONTROL_BYTES_MAX];
            let ping_bytes = match self.reader.poll().map_err(violation)? {
                None => break,
                Some(Incoming::Pong) => continue,
                Some(Incoming::Datagram(bytes)) => {
                    delivery.datagram(bytes);
                    continue;
                }
                Some(Incoming::Close { code, .. }) => {
                    self.heard_close = Some(code);
                    return Err(Ending::Closed(close_reason(code)));
                }
                Some(Incoming::Ping(payload)) => {
                    ping.iter_mut().zip(payload).for_each(|(to, from)| *to = *from);
                    payload.len()
                }
            };
            let is_answered = self.may_pong(delivery.now)
                && self.has_room_for(ping_bytes)
                && self.write(&mut shared.masks, Opcode::Pong, ping.get(..ping_bytes).unwrap_or_default());
            delivery.counters.pings_ignored += u64::from(!is_answered);
        }
        Ok(())
    }

    /// Whether another pong may go: one each [`PONG_INTERVAL`], and some at once.
    fn may_pong(&mut self, now: Micros) -> bool {
        let even = self.next_pong_at.max(now);
        if even.since(now) >= Micros(PONG_INTERVAL.0 * PONGS_AT_ONCE_MAX) {
            return false;
        }
        self.next_pong_at = even + PONG_INTERVAL;
        true
    }
}

/// How long the body of a request is, or the answer to one that is too long.
fn body_length(request: &Request<'_>, bytes_max: usize) -> Result<usize, Response> {
    let length = request.body_length().map_err(error_response)?;
    let too_long = || Response::text(413, format!("the body is longer than {bytes_max} bytes\n"));
    (length <= bytes_max).then_some(length).ok_or_else(too_long)
}

fn error_response(error: HeadError) -> Response {
    let status = match error {
        HeadError::TooLong | HeadError::TooManyFields => 431,
        HeadError::FirstLine | HeadError::Field | HeadError::BodyLength => 400,
        HeadError::BodyCoding => 501,
    };
    Response::text(status, format!("{error}\n"))
}

fn close_reason(code: Option<u16>) -> CloseReason {
    match code {
        None | Some(1000 | 1001) => CloseReason::ByPeer,
        Some(code) => CloseReason::ByPeerWithCode(code),
    }
}

impl Codec for WebSocketCodec {
    type Shared = Shared;

    const PROTOCOL: &'static str = "WebSocket";
    const HEADER_BYTES_MAX: usize = FRAME_HEADER_BYTES_MAX;

    fn new(shared: &mut Shared, config: &TcpConfig, side: Side) -> io::Result<WebSocketCodec> {
        let (role, state, out) = match side {
            Side::Accepted => (Role::Server, State::AwaitsRequest { searched: 0 }, Vec::new()),
            Side::Connecting(server) => {
                let key = upgrade::key_from(shared.masks.take()?);
                let request = upgrade::request(server, &key).into_bytes();
                let request_unsent = request.len();
                (
                    Role::Client,
                    State::AwaitsResponse { searched: 0, key: key.into(), request_unsent },
                    request,
                )
            }
        };
        Ok(WebSocketCodec {
            role,
            state,
            reader: MessageReader::new(role, config.mtu_bytes),
            out,
            out_sent: 0,
            unsent_bytes_max: config.unsent_bytes_max,
            heard_close: None,
            next_pong_at: Micros::ZERO,
        })
    }

    fn greeting_timeout(shared: &Shared) -> Micros {
        shared.upgrade_timeout
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    fn unsent(&self) -> &[u8] {
        let waiting = self.out.get(self.out_sent..).unwrap_or_default();
        match &self.state {
            // Datagrams wait behind the request until there is a response.
            State::AwaitsResponse { request_unsent, .. } => {
                waiting.get(..*request_unsent).unwrap_or_default()
            }
            State::Answers { body, body_sent } if waiting.is_empty() => {
                body.as_bytes().get(*body_sent..).unwrap_or_default()
            }
            _ => waiting,
        }
    }

    fn unsent_bytes(&self) -> usize {
        self.out.len() - self.out_sent
    }

    fn consume(&mut self, count: usize) {
        match &mut self.state {
            State::AwaitsResponse { request_unsent, .. } => {
                *request_unsent = request_unsent.saturating_sub(count)
            }
            State::Answers { body_sent, .. } if self.out_sent == self.out.len() => {
                *body_sent += count;
                return;
            }
            _ => {}
        }
        self.out_sent = (self.out_sent + count).min(self.out.len());
        if self.out_sent == self.out.len() {
            self.out.clear();
            self.out_sent = 0;
            self.out.shrink_to(KEPT_CAPACITY_BYTES);
        }
    }

    fn queue(&mut self, shared: &mut Shared, datagram: &[u8]) -> bool {
        self.has_room_for(datagram.len()) && self.write(&mut shared.masks, Opcode::Binary, datagram)
    }

    fn buffered_bytes(&self) -> usize {
        self.reader.buffered().len()
    }

    fn push(&mut self, bytes: &[u8]) {
        self.reader.push(bytes);
    }

    fn deliver(&mut self, shared: &mut Shared, delivery: &mut Delivery<'_>) -> Result<(), Ending> {
        match self.state {
            State::AwaitsRequest { searched } => self.greet_client(shared, delivery.peer, searched)?,
            State::AwaitsResponse { .. } => self.greet_server()?,
            State::Open | State::Answers { .. } => {}
        }
        if self.is_open() { self.read_messages(shared, delivery) } else { Ok(()) }
    }

    fn say_goodbye(&mut self, shared: &mut Shared, ending: Option<Ending>) -> Option<Micros> {
        match self.state {
            State::Answers { .. } => return Some(HTTP_STAY),
            State::AwaitsRequest { .. } => {
                self.respond(Response::text(408, "the request took too long\n"), false);
                return Some(CLOSE_STAY);
            }
            State::AwaitsResponse { .. } => return None,
            State::Open => {}
        }
        let mut payload = Vec::new();
        let code_and_text = match (self.heard_close, ending) {
            (Some(code), _) => code.map(|code| (code, String::new())),
            (None, Some(Ending::Closed(CloseReason::NotWebSocket(error)))) => {
                Some((error.close_code(), error.to_string()))
            }
            (None, Some(Ending::Closed(reason))) => Some((1008, reason.to_string())),
            (None, _) => Some((1000, String::new())),
        };
        if let Some((code, text)) = code_and_text {
            payload.extend_from_slice(&code.to_be_bytes());
            payload.extend_from_slice(text.as_bytes());
            payload.truncate(CONTROL_BYTES_MAX);
        }
        let is_said = self.write(&mut shared.masks, Opcode::Close, &payload);
        is_said.then_some(CLOSE_STAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_never_used_twice_and_need_the_system_once_in_256() {
        let mut masks = Masks::new();
        let taken: std::collections::HashSet<[u8; 4]> = (0..256).map(|_| masks.take().unwrap()).collect();
        assert!(taken.len() > 250, "they are random");
        assert_eq!(masks.used, 1_024);
        let _: [u8; 16] = masks.take().unwrap();
        assert_eq!(masks.used, 16);
    }
}

//! What strangers send to the port of a WebSocket: heads before they are let in, frames after that.

use netloom_transport::http::{HEAD_BYTES_MAX, HeadError, Request, ResponseHead, head_length};
use netloom_transport::websocket::{
    Answer, CONTROL_BYTES_MAX, FRAME_HEADER_BYTES_MAX, Incoming, MessageReader, Opcode, Origins, PATH,
    PlainHttp, Role, SUBPROTOCOL, WebSocketError, answer, check_response, write_frame,
};

use crate::input::Input;

/// Reads frames in pieces, or the head of a request or a response.
pub fn websocket_frames(data: &[u8]) {
    let mut input = Input::new(data);
    match input.choice(3) {
        0 => read_frames(&mut input),
        1 => read_request(&mut input),
        _ => read_response(&mut input),
    }
}

/// What was read, with memory of its own.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Datagram(Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    Close(Option<u16>, String),
}

fn read_frames(input: &mut Input<'_>) {
    let role = input.pick([Role::Server, Role::Client]);
    let message_bytes_max = usize::from(input.u16()).max(1);
    let piece_bytes = usize::from(input.u8()) + 1;
    let stream = input.rest();
    let (read, error) = read_in_pieces(stream, role, message_bytes_max, piece_bytes);
    let at_once = read_in_pieces(stream, role, message_bytes_max, stream.len().max(1));
    assert_eq!((&read, error), (&at_once.0, at_once.1), "the pieces decide");

    // What was read can be said again, in frames that were not cut.
    let mask = (role == Role::Server).then_some([1, 2, 3, 4]);
    let mut again = Vec::new();
    for read in &read {
        match read {
            Read::Datagram(bytes) => write_frame(&mut again, Opcode::Binary, mask, bytes),
            Read::Ping(bytes) => write_frame(&mut again, Opcode::Ping, mask, bytes),
            Read::Pong => write_frame(&mut again, Opcode::Pong, mask, &[]),
            Read::Close(None, _) => write_frame(&mut again, Opcode::Close, mask, &[]),
            Read::Close(Some(code), reason) => {
                let payload = [&code.to_be_bytes()[..], reason.as_bytes()].concat();
                write_frame(&mut again, Opcode::Close, mask, &payload);
            }
        }
    }
    let repeated = read_in_pieces(&again, role, message_bytes_max, again.len().max(1));
    assert_eq!(repeated, (read, None));
}

fn read_in_pieces(
    stream: &[u8],
    role: Role,
    message_bytes_max: usize,
    piece_bytes: usize,
) -> (Vec<Read>, Option<WebSocketError>) {
    let (mut reader, mut all) = (MessageReader::new(role, message_bytes_max), Vec::new());
    for piece in stream.chunks(piece_bytes) {
        reader.push(piece);
        loop {
            all.push(match reader.poll() {
                Ok(None) => break,
                Ok(Some(Incoming::Datagram(bytes))) => {
                    assert!(bytes.len() <= message_bytes_max);
                    Read::Datagram(bytes.to_vec())
                }
                Ok(Some(Incoming::Ping(bytes))) => {
                    assert!(bytes.len() <= CONTROL_BYTES_MAX);
                    Read::Ping(bytes.to_vec())
                }
                Ok(Some(Incoming::Pong)) => Read::Pong,
                Ok(Some(Incoming::Close { code, reason })) => Read::Close(code, reason.to_owned()),
                Err(error) => {
                    assert_eq!(reader.poll(), Err(error), "a refused stream stays refused");
                    assert!(matches!(error.close_code(), 1002 | 1003 | 1007 | 1009));
                    return (all, Some(error));
                }
            });
        }
        let one_frame = FRAME_HEADER_BYTES_MAX + message_bytes_max.max(CONTROL_BYTES_MAX);
        assert!(reader.buffered().len() < one_frame, "a frame is whole and was not given");
    }
    (all, None)
}

fn read_request(input: &mut Input<'_>) {
    let plain = input.pick([PlainHttp::None, PlainHttp::Read, PlainHttp::ReadAndPost]);
    let origins = input.pick([0, 1, 2]);
    let origins = match origins {
        0 => Origins::Any,
        1 => Origins::SameHost,
        _ => Origins::List(vec!["https://game.example".to_owned()]),
    };
    let piece_bytes = usize::from(input.u8()) + 1;
    let Some(head) = find_head(input.rest(), piece_bytes) else {
        return;
    };
    let Ok(request) = Request::parse(head) else {
        return;
    };
    assert!(request.path().starts_with('/') && !request.path().contains('?'));
    for (name, value) in request.fields().iter() {
        assert!(!name.is_empty() && request.fields().has(name));
        assert!(!value.contains(&b'\r') && !value.contains(&b'\n'));
    }
    match answer(&request, &origins, plain) {
        Answer::Upgrade(response) => {
            let key = request.fields().only("Sec-WebSocket-Key").expect("nobody is let in without a key");
            assert_eq!(check_response(response.as_bytes(), key), Ok(()));
            assert_eq!((request.method(), request.path()), ("GET", PATH));
            assert!(request.fields().lists("Sec-WebSocket-Protocol", SUBPROTOCOL));
        }
        Answer::Refuse(response) => assert!((400..500).contains(&response.status())),
        Answer::Plain => assert!(plain != PlainHttp::None && request.path() != PATH),
    }
}

/// The head at the beginning of a stream, found in pieces and at once.
fn find_head(stream: &[u8], piece_bytes: usize) -> Option<&[u8]> {
    let at_once = head_length(stream, 0);
    let (mut arrived, mut searched) = (0, 0);
    let in_pieces = loop {
        if arrived == stream.len() {
            break Ok(None);
        }
        arrived = (arrived + piece_bytes).min(stream.len());
        match head_length(&stream[..arrived], searched) {
            Ok(None) => searched = arrived,
            found => break found,
        }
    };
    assert_eq!(in_pieces, at_once, "the pieces decide");
    match at_once {
        Ok(Some(length)) => {
            assert!(length <= HEAD_BYTES_MAX && stream[..length].ends_with(b"\r\n\r\n"));
            Some(&stream[..length])
        }
        Ok(None) => {
            assert!(stream.len() < HEAD_BYTES_MAX);
            None
        }
        Err(error) => {
            assert_eq!(error, HeadError::TooLong);
            None
        }
    }
}

fn read_response(input: &mut Input<'_>) {
    let piece_bytes = usize::from(input.u8()) + 1;
    let Some(head) = find_head(input.rest(), piece_bytes) else {
        return;
    };
    let is_upgraded = check_response(head, "dGhlIHNhbXBsZSBub25jZQ==").is_ok();
    let parsed = ResponseHead::parse(head);
    assert!(!is_upgraded || parsed.is_ok_and(|response| response.status == 101));
}

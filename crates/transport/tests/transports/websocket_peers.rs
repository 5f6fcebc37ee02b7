//! Our WebSockets with somebody else's: tungstenite on the other end.

use std::net::{TcpListener, TcpStream};

use netloom_transport::websocket::{PATH, SUBPROTOCOL};
use netloom_transport::{
    Batch, CloseReason, Micros, PeerAddress, PeerState, Transport, TransportEvent, WebSocketConfig,
    WebSocketTransport,
};
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::HeaderValue;
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};

use crate::rig::{self, Rig};

/// Lengths in every form that a length has.
const LENGTHS: [usize; 8] = [0, 1, 7, 125, 126, 127, 1_199, 1_200];

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|index| index as u8).collect()
}

/// Says what an echo should repeat, in order, with pings between, and goodbye.
fn converse(mut socket: WebSocket<TcpStream>) {
    for length in LENGTHS {
        socket.send(Message::Binary(content(length).into())).unwrap();
        socket.send(Message::Ping(b"ping".to_vec().into())).unwrap();
        let mut has_pong = false;
        loop {
            match socket.read().unwrap() {
                Message::Binary(bytes) => {
                    assert_eq!(bytes, content(length));
                    break;
                }
                Message::Pong(bytes) => {
                    assert_eq!(&bytes[..], b"ping");
                    has_pong = true;
                }
                other => panic!("{other:?}"),
            }
        }
        if !has_pong {
            assert_eq!(socket.read().unwrap(), Message::Pong(b"ping".to_vec().into()));
        }
    }
    socket.close(Some(CloseFrame { code: CloseCode::Library(4_000), reason: "enough".into() })).unwrap();
    // The answer to the goodbye, and then the end.
    let answer = socket.read().unwrap();
    assert!(
        matches!(&answer, Message::Close(Some(frame)) if frame.code == CloseCode::Library(4_000)),
        "{answer:?}"
    );
    assert!(matches!(socket.read(), Err(tungstenite::Error::ConnectionClosed)));
}

/// Repeats what arrives until the peer has said goodbye.
fn echo_until_goodbye(rig: &mut Rig) -> TransportEvent {
    let (mut batch, mut goodbye) = (rig.batch(), None);
    rig.until("a goodbye", |transport, now| {
        transport.receive(now, &mut batch).unwrap();
        transport.send(now, &mut batch).unwrap();
        let mut events = rig::events(transport).into_iter();
        goodbye = events.find(|event| matches!(event, TransportEvent::Closed { .. }));
        goodbye.is_some()
    });
    goodbye.unwrap()
}

/// Goes on until the thread has ended, so that the last words are exchanged.
fn join(rig: &mut Rig, thread: std::thread::JoinHandle<()>) {
    let mut batch = rig.batch();
    rig.until("the end of the other side", |transport, now| {
        transport.receive(now, &mut batch).unwrap();
        thread.is_finished()
    });
    thread.join().unwrap();
}

fn tungstenite_client(server: PeerAddress) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(server.to_socket_addr()).unwrap();
    let mut request = format!("ws://{server}{PATH}").into_client_request().unwrap();
    request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static(SUBPROTOCOL));
    request.headers_mut().insert("Sec-WebSocket-Extensions", HeaderValue::from_static("permessage-deflate"));
    let (socket, response) = tungstenite::client(request, stream).unwrap();
    assert_eq!(response.headers().get("Sec-WebSocket-Protocol").unwrap(), SUBPROTOCOL);
    assert!(response.headers().get("Sec-WebSocket-Extensions").is_none(), "nothing is ever compressed");
    socket
}

// A callback of tungstenite has this type.
#[expect(clippy::result_large_err)]
fn choose_subprotocol(request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    assert_eq!(request.uri().path(), PATH);
    let offered = request.headers().get("Sec-WebSocket-Protocol").unwrap().clone();
    response.headers_mut().insert("Sec-WebSocket-Protocol", offered);
    Ok(response)
}

/// Our client, and the stream of the server that it connects to.
fn our_client() -> (Rig, PeerAddress, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = PeerAddress::from(listener.local_addr().unwrap());
    let client = WebSocketTransport::connect(server, WebSocketConfig::default()).unwrap();
    (Rig::new(Box::new(client), Box::new(|_| unreachable!("nobody connects to a client"))), server, listener)
}

#[test]
fn a_client_of_tungstenite_converses_with_our_server() {
    let mut rig = rig::websocket();
    let server = rig.server.local_address();
    let thread = std::thread::spawn(move || converse(tungstenite_client(server)));
    let goodbye = echo_until_goodbye(&mut rig);
    assert!(
        matches!(goodbye, TransportEvent::Closed { reason: CloseReason::ByPeerWithCode(4_000), .. }),
        "{goodbye:?}"
    );
    join(&mut rig, thread);
}

#[test]
fn a_server_of_tungstenite_converses_with_our_client() {
    let (mut rig, server, listener) = our_client();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        converse(tungstenite::accept_hdr(stream, choose_subprotocol).unwrap());
    });
    let goodbye = echo_until_goodbye(&mut rig);
    assert_eq!(goodbye, TransportEvent::Closed { peer: server, reason: CloseReason::ByPeerWithCode(4_000) });
    join(&mut rig, thread);
}

#[test]
fn tungstenite_reads_our_goodbyes_on_both_sides() {
    let expect_normal_close = |mut socket: WebSocket<TcpStream>| {
        socket.send(Message::Binary(b"here I am".to_vec().into())).unwrap();
        let close = socket.read().unwrap();
        assert!(
            matches!(&close, Message::Close(Some(frame)) if frame.code == CloseCode::Normal),
            "{close:?}"
        );
        while socket.read().is_ok() {}
    };
    let disconnect_who_speaks = |rig: &mut Rig| {
        let mut batch = rig.batch();
        rig.until("a first datagram", |transport, now| {
            transport.receive(now, &mut batch).unwrap();
            !batch.is_empty()
        });
        let peer = batch.iter().next().unwrap().address();
        rig.server.disconnect(peer);
        assert_eq!(rig.server.status(peer).state, PeerState::Closed);
    };
    let mut rig = rig::websocket();
    let server = rig.server.local_address();
    let thread = std::thread::spawn(move || expect_normal_close(tungstenite_client(server)));
    disconnect_who_speaks(&mut rig);
    join(&mut rig, thread);

    let (mut rig, _, listener) = our_client();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        expect_normal_close(tungstenite::accept_hdr(stream, choose_subprotocol).unwrap());
    });
    disconnect_who_speaks(&mut rig);
    join(&mut rig, thread);
}

#[test]
fn our_client_says_what_a_server_did_wrong() {
    let (mut rig, server, listener) = our_client();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut socket = tungstenite::accept_hdr(stream, choose_subprotocol).unwrap();
        socket.send(Message::Text("text".into())).unwrap();
        let close = socket.read().unwrap();
        assert!(
            matches!(&close, Message::Close(Some(frame)) if frame.code == CloseCode::Unsupported),
            "{close:?}"
        );
    });
    let mut batch = Batch::new(4, 1_200).unwrap();
    let mut told = Vec::new();
    rig.until("the news", |client, _| {
        client.receive(Micros::ZERO, &mut batch).unwrap();
        told.extend(rig::events(client));
        told.len() == 2
    });
    let reason = CloseReason::NotWebSocket(netloom_transport::websocket::WebSocketError::Text);
    assert_eq!(told, [TransportEvent::Opened(server), TransportEvent::Closed { peer: server, reason }]);
    join(&mut rig, thread);
}

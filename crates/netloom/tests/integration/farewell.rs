//! What is on the wire when a server on WebSockets stops: a browser reports a stream that ends without a close frame as broken.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;

use netloom::prelude::*;

use crate::common::{Carrier, Rig, Way};

/// A close frame of a server, with code 1000.
const CLOSE_FRAME: [u8; 4] = [0x88, 0x02, 0x03, 0xE8];

/// Passes one stream on, and gives what the server sent when both have ended.
fn relay(server: SocketAddr) -> (SocketAddr, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let passing = std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(server).unwrap();
        let ends = [client.try_clone().unwrap(), server.try_clone().unwrap()];
        let to_server = std::thread::spawn(move || pass(ends[0].try_clone().unwrap(), &ends[1]));
        let said = pass(server, &client);
        to_server.join().unwrap();
        said
    });
    (address, passing)
}

fn pass(mut from: TcpStream, mut to: &TcpStream) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), [0; 4_096]);
    // Either side may be gone already, which is how this ends.
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        all.extend_from_slice(&buffer[..count]);
        let _gone = to.write_all(&buffer[..count]);
    }
    let _gone = to.shutdown(Shutdown::Write);
    all
}

#[test]
fn a_server_that_stops_closes_websockets_with_a_close_frame() {
    for driver in [Driver::Polling, Driver::DualLoop] {
        let mut rig = Rig::new(Way { carrier: Carrier::WebSocket, driver });
        let (address, passing) = relay(rig.address.to_socket_addr());
        rig.address = address.into();
        let alice = rig.welcome("alice");
        rig.ask(|server| server.stop("maintenance"));
        rig.until_event(alice, "an end", |event| matches!(event, ClientEvent::Ended(Ending::Shutdown(_))));
        rig.until("the end", |rig| rig.server.as_ref().is_none_or(ServerHandle::is_finished));
        rig.server.take().expect("it ran").stop("again").unwrap();
        rig.players.clear();
        let said = passing.join().unwrap();
        assert!(said.ends_with(&CLOSE_FRAME), "{driver:?}: {:02x?}", &said[said.len().saturating_sub(16)..]);
    }
}

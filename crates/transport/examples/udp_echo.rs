//! An echo server and its client over real sockets: `netloom-proto` makes the connection, `netloom-transport` carries it.
//!
//! ```sh
//! cargo run --release -p netloom-transport --example udp_echo                          # both, over loopback
//! cargo run --release -p netloom-transport --example udp_echo -- --line 4G             # the client on a bad line
//! cargo run --release -p netloom-transport --example udp_echo -- server [::]:7777      # one of them
//! cargo run --release -p netloom-transport --example udp_echo -- client 127.0.0.1:7777 --line awful
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use netloom_proto::{Config, Endpoint, Event, ListenConfig, PeerId};
use netloom_transport::{
    Batch, Conditioner, ConditionerConfig, Micros, PeerAddress, Transport, UdpConfig, UdpTransport, preset,
};

type Outcome = Result<(), Box<dyn Error>>;

const MESSAGES: u64 = 100;
const MESSAGE_INTERVAL: Micros = Micros::from_millis(20);
/// The reliable, unordered channel of the default configuration.
const CHANNEL: u8 = 2;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let line = match arguments.iter().position(|argument| argument == "--line") {
        Some(at) => preset(arguments.drain(at..).nth(1).ok_or("--line needs a name")?.trim())?,
        None => preset("none")?,
    };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let server = UdpTransport::bind("127.0.0.1:0".parse()?, UdpConfig::default())?;
            let address = server.local_address();
            std::thread::spawn(move || serve(server).unwrap_or_else(|error| eprintln!("server: {error}")));
            talk(connect(address, line)?, address)
        }
        ["server", address] => serve(UdpTransport::bind(address.parse()?, UdpConfig::default())?),
        ["client", address] => talk(connect(address.parse()?, line)?, address.parse()?),
        _ => Err("usage: udp_echo [server ADDRESS | client ADDRESS] [--line NAME]".into()),
    }
}

fn connect(
    server: PeerAddress,
    line: netloom_transport::link::LinkConfig,
) -> Result<impl Transport, Box<dyn Error>> {
    let socket = UdpTransport::connect(server, UdpConfig::default())?;
    Ok(Conditioner::new(socket, ConditionerConfig::symmetric(line, 1))?)
}

/// An endpoint, what carries it, and a clock. This is the whole driver.
struct Node<T> {
    endpoint: Endpoint,
    transport: T,
    batch: Batch,
    start: Instant,
}

impl<T: Transport> Node<T> {
    fn new(transport: T, listen: Option<ListenConfig>) -> Result<Node<T>, Box<dyn Error>> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        let mtu = transport.capabilities().mtu_bytes;
        let endpoint = Endpoint::new(Config { mtu, ..Config::default() }, listen, seed)?;
        Ok(Node { endpoint, transport, batch: Batch::new(64, mtu)?, start: Instant::now() })
    }

    fn now(&self) -> Micros {
        Micros(self.start.elapsed().as_micros() as u64)
    }

    /// What has arrived goes in: at most so many batches, or a flood would never let the rest have its turn.
    fn receive(&mut self) -> Outcome {
        let now = self.now();
        self.endpoint.begin_tick(now);
        for _ in 0..16 {
            if self.transport.receive(now, &mut self.batch)? == 0 {
                break;
            }
            for datagram in self.batch.iter_mut() {
                let from = datagram.address().to_socket_addr();
                self.endpoint.handle_datagram(now, from, datagram.bytes_mut());
            }
            self.batch.clear();
        }
        Ok(())
    }

    /// What is to be sent goes out, then the thread sleeps until something arrives, is due, or `deadline`.
    fn send_and_wait(&mut self, deadline: Micros) -> Outcome {
        let now = self.now();
        loop {
            while let Some(slot) = self.batch.next_slot()
                && let Some(transmit) = self.endpoint.poll_transmit(now, slot)
            {
                self.batch.commit(transmit.to.into(), transmit.length);
            }
            if self.batch.is_empty() {
                break;
            }
            self.transport.send(now, &mut self.batch)?;
            // What would have blocked is lost: the connection sends it again.
            self.batch.clear();
        }
        let deadline = self.endpoint.poll_timeout().map_or(deadline, |due| due.min(deadline));
        Ok(self.transport.wait(self.now(), deadline)?)
    }
}

fn serve(transport: UdpTransport) -> Outcome {
    println!(
        "server at {}, with {} bytes to receive into",
        transport.local_address(),
        transport.receive_buffer_bytes()
    );
    let mut node = Node::new(transport, Some(ListenConfig::default()))?;
    let mut echoes: Vec<(PeerId, u8, Vec<u8>)> = Vec::new();
    loop {
        node.receive()?;
        while let Some((peer, event)) = node.endpoint.poll_event() {
            match event {
                Event::Connected { .. } => println!("server: {peer} is here"),
                Event::Message { channel, data } => echoes.push((peer, channel, data.to_vec())),
                Event::Disconnected { reason, .. } => println!("server: {peer} is gone ({reason})"),
                Event::Outcome { .. } => {}
            }
        }
        for (peer, channel, message) in echoes.drain(..) {
            node.endpoint.send(peer, channel, &message)?;
        }
        node.send_and_wait(Micros::MAX)?;
    }
}

fn talk(transport: impl Transport, server: PeerAddress) -> Outcome {
    let mut node = Node::new(transport, None)?;
    let peer = node.endpoint.connect(Micros::ZERO, server.to_socket_addr(), None)?;
    let (mut sent, mut next_at, mut round_trips_us) = (0, None, Vec::new());
    while round_trips_us.len() < MESSAGES as usize {
        node.receive()?;
        let now = node.now();
        while let Some((_, event)) = node.endpoint.poll_event() {
            match event {
                Event::Connected { .. } => {
                    println!("client: connected after {:.1} ms", now.as_millis_f64());
                    next_at = Some(now);
                }
                Event::Message { data, .. } => {
                    let sent_at = Micros(u64::from_le_bytes(*data.first_chunk().ok_or("a short echo")?));
                    round_trips_us.push((now - sent_at).0);
                }
                Event::Disconnected { reason, .. } => return Err(format!("disconnected: {reason}").into()),
                Event::Outcome { .. } => {}
            }
        }
        if let Some(due) = next_at.filter(|&due| due <= now && sent < MESSAGES) {
            node.endpoint.send(peer, CHANNEL, &now.0.to_le_bytes())?;
            sent += 1;
            next_at = Some(due + MESSAGE_INTERVAL);
        }
        node.send_and_wait(next_at.filter(|_| sent < MESSAGES).unwrap_or(Micros::MAX))?;
    }
    round_trips_us.sort_unstable();
    let at = |part: usize| round_trips_us[(round_trips_us.len() - 1) * part / 100] as f64 / 1e3;
    println!(
        "client: {MESSAGES} messages came back after {:.2} ms at best, {:.2} in the middle, {:.2} at worst",
        at(0),
        at(50),
        at(100)
    );
    let counters = node.transport.counters();
    println!("client: {} datagrams sent, {} received", counters.sent_datagrams, counters.received_datagrams);
    let now = node.now();
    node.endpoint.shutdown(now);
    node.send_and_wait(now + Micros::from_millis(50))
}

//! What cannot be saved: the system calls of a server that has nothing to do but to send what it sends.
//!
//! Three ticks with a look at the socket in each, four short datagrams that have arrived (the acknowledgements), and one
//! datagram to each client in the last, as long as those of the judged server, all in one call. At the same pace, since the
//! memory of the system cools down between two ticks as everybody's does.

use super::crowd::CLIENTS;
use super::ours::STEPS_PER_SEND;
use super::pace::Pace;
use super::refused;
use crate::cpu;
use crate::error::BenchError;
use netloom_transport::{Batch, PeerAddress, Transport, UdpConfig, UdpTransport};
use netloom_wire::Micros;
use std::net::SocketAddr;

/// Acknowledgements that arrive between two snapshots: each client's every fourth.
const ACKS: usize = CLIENTS / 4;
const ACK_BYTES: usize = 20;

/// Processor time between two snapshots, over so many of them.
pub fn us_per_period(datagram_bytes: usize, periods: usize) -> Result<f64, BenchError> {
    let address = PeerAddress::from(SocketAddr::from(([127, 0, 0, 1], 0)));
    let mut server = UdpTransport::bind(address, UdpConfig::default()).map_err(refused)?;
    let mut batch = Batch::new(CLIENTS, server.capabilities().mtu_bytes).map_err(refused)?;
    let connect = |_| UdpTransport::connect(server.local_address(), UdpConfig::default());
    let mut clients = (0..CLIENTS).map(connect).collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let mut letter = Batch::new(CLIENTS, server.capabilities().mtu_bytes).map_err(refused)?;
    let (mut used_us, mut pace) = (0.0, Pace::start());
    for tick in 0..periods as u64 * STEPS_PER_SEND {
        let is_told = tick % STEPS_PER_SEND == 0;
        for client in clients.iter_mut().take(if is_told { ACKS } else { 0 }) {
            letter.clear();
            post(&mut letter, server.local_address(), ACK_BYTES);
            client.send(Micros::ZERO, &mut letter).map_err(refused)?;
        }
        let to: Vec<PeerAddress> = clients.iter().map(Transport::local_address).collect();
        let (done, us) = cpu::microseconds(|| {
            batch.clear();
            server.receive(Micros::ZERO, &mut batch)?;
            batch.clear();
            if is_told {
                to.iter().for_each(|to| post(&mut batch, *to, datagram_bytes));
                server.send(Micros::ZERO, &mut batch)?;
            }
            Ok(())
        });
        done.map_err(|error: netloom_transport::TransportError| refused(error))?;
        used_us += us;
        for client in &mut clients {
            letter.clear();
            client.receive(Micros::ZERO, &mut letter).map_err(refused)?;
        }
        pace.wait();
    }
    Ok(used_us / periods as f64)
}

/// A datagram of so many bytes, whatever they are.
fn post(batch: &mut Batch, to: PeerAddress, bytes: usize) {
    if let Some(slot) = batch.next_slot() {
        let bytes = bytes.min(slot.len());
        batch.commit(to, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_takes_time() {
        assert!(us_per_period(900, 2).expect("sockets work") > 1.0);
    }
}

//! The libraries that are measured, each behind the same two small traits.
//!
//! A comparison is fair when every library does the same work under the same driver. The driver knows only these traits;
//! what a library needs to do that work (its updates, flushes, queues) is in its own file, written as its documentation
//! tells a user to.

pub mod enet;
pub mod ours;
pub mod renet;

use crate::error::BenchError;
use crate::link::Link;
use netloom_wire::Micros;

/// How much virtual time passes between two exchanges: both sides run at 60 Hz.
pub const TICK: Micros = Micros(16_667);

/// Two connected sides in memory, without a network between them.
pub trait PacketRound {
    /// The library's name.
    fn library(&self) -> &'static str;

    /// One tick of both sides: each sends `payload` as one unreliable message in a datagram of its own, and unpacks and
    /// delivers what the other sent. Traffic goes both ways because acknowledgements need a way back; a side that is never
    /// acknowledged collects state without end. Returns the payload bytes delivered on both sides together.
    fn exchange(&mut self, payload: &[u8]) -> Result<usize, BenchError>;
}

/// The two directions of the network between a sender and a receiver.
#[derive(Debug)]
pub struct Wire {
    /// Towards the side that receives the messages.
    pub to_receiver: Link,
    /// Towards the side that sends them.
    pub to_sender: Link,
}

/// A reliable-ordered stream from a sender to a receiver over a [`Wire`].
pub trait ReliablePipe {
    /// The library's name.
    fn library(&self) -> &'static str;

    /// Whether messages may be sent.
    fn connected(&self) -> bool;

    /// The sender's poll: takes in what has arrived, sends `message` if there is one, and flushes.
    fn drive_sender(
        &mut self,
        now: Micros,
        message: Option<&[u8]>,
        wire: &mut Wire,
    ) -> Result<(), BenchError>;

    /// The receiver's poll: takes in what has arrived, passes every message that is due to `deliver`, and answers.
    fn poll_receiver(
        &mut self,
        now: Micros,
        wire: &mut Wire,
        deliver: &mut dyn FnMut(&[u8]),
    ) -> Result<(), BenchError>;
}

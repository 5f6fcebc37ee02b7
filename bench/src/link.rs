//! The network between two measured peers: a fixed delay and independent loss, in virtual time.
//!
//! Latency under loss is mostly a matter of which datagrams are lost and when the other side notices. On real sockets
//! that takes a minute per run and never repeats. Here the same seed gives the same run, and every library gets the same
//! link:
//!
//! ```text
//!   send(now) --- lost with probability p ---> gone
//!        \------- otherwise -----------------> queue ---> receive(now + delay)
//! ```
//!
//! The delay is constant, so datagrams never overtake one another and a plain queue is enough. `netloom-sim` offers far
//! more (jitter, duplication, corruption); its cost and features would only stand between the figures and their meaning.

use netloom_wire::Micros;
use std::collections::VecDeque;

/// One direction.
#[derive(Debug)]
pub struct Link {
    delay: Micros,
    /// A datagram is lost when the next 64 random bits are below this.
    loss_below: u64,
    random_state: u64,
    in_flight: VecDeque<(Micros, Vec<u8>)>,
    /// Buffers of datagrams that have arrived, kept for the next ones.
    spare: Vec<Vec<u8>>,
    sent_bytes: u64,
}

impl Link {
    /// A link that delays by `delay` and loses each datagram with probability `loss` (0 to 1).
    pub fn new(delay: Micros, loss: f64, seed: u64) -> Link {
        // Casting saturates: a loss of 1 loses everything but one datagram in 2^64.
        let loss_below = (loss * 2f64.powi(64)) as u64;
        Link {
            delay,
            loss_below,
            random_state: seed,
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            sent_bytes: 0,
        }
    }

    /// Hands a datagram to the network. It counts as sent even when it is lost on the way.
    pub fn send(&mut self, now: Micros, datagram: &[u8]) {
        self.sent_bytes += datagram.len() as u64;
        if self.next_random() < self.loss_below {
            return;
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(datagram);
        self.in_flight.push_back((now + self.delay, buffer));
    }

    /// Passes the next datagram that has arrived by `now` to `take`; false if there is none.
    pub fn receive(&mut self, now: Micros, take: impl FnOnce(&mut [u8])) -> bool {
        if self.in_flight.front().is_none_or(|(due, _)| *due > now) {
            return false;
        }
        let Some((_, mut buffer)) = self.in_flight.pop_front() else {
            return false;
        };
        take(&mut buffer);
        self.spare.push(buffer);
        true
    }

    /// Payload bytes of all datagrams sent so far, lost ones included.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// SplitMix64: one addition and a few multiplications, and every seed is a good one.
    fn next_random(&mut self) -> u64 {
        self.random_state = self.random_state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random_state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(link: &mut Link, now: Micros) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        while link.receive(now, |datagram| all.push(datagram.to_vec())) {}
        all
    }

    #[test]
    fn datagrams_arrive_in_order_after_the_delay_and_not_before() {
        let mut link = Link::new(Micros::from_millis(50), 0.0, 1);
        link.send(Micros(0), b"first");
        link.send(Micros(1_000), b"second");
        assert!(arrivals(&mut link, Micros(49_999)).is_empty());
        assert_eq!(arrivals(&mut link, Micros(50_000)), [b"first".to_vec()]);
        assert_eq!(arrivals(&mut link, Micros(60_000)), [b"second".to_vec()]);
        assert_eq!(link.sent_bytes(), 11);
    }

    #[test]
    fn loss_is_close_to_what_was_asked_and_repeats_with_the_seed() {
        let survivors = |seed| {
            let mut link = Link::new(Micros::ZERO, 0.05, seed);
            (0u32..20_000).for_each(|index| link.send(Micros::ZERO, &index.to_le_bytes()));
            arrivals(&mut link, Micros::ZERO)
        };
        let first = survivors(7);
        let lost_share = 1.0 - first.len() as f64 / 20_000.0;
        assert!((lost_share - 0.05).abs() < 0.01, "{lost_share}");
        assert_eq!(first, survivors(7));
        assert_ne!(first, survivors(8));
    }

    #[test]
    fn lost_datagrams_count_as_sent() {
        let mut link = Link::new(Micros::ZERO, 1.0, 3);
        link.send(Micros::ZERO, &[0; 100]);
        assert_eq!(link.sent_bytes(), 100);
        assert!(arrivals(&mut link, Micros::MAX).is_empty());
    }
}

//! One direction: the link decides when a datagram arrives, and here it waits for that.
//!
//! How many are on their way at once depends on the line and on the game, and is mostly few. So there is room for few, which
//! doubles when it is needed up to the bound, and stays.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use netloom_wire::Micros;

use crate::address::PeerAddress;
use crate::batch::{Batch, Datagram};
use crate::link::Link;

/// What became of a datagram that was to be sent along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is on its way, or was lost.
    Taken,
    /// A stream loses nothing, and nothing more has room.
    NoRoom,
}

/// Datagrams for which there is room from the start.
const SLOTS_AT_FIRST: usize = 64;

#[derive(Debug)]
pub(super) struct Direction {
    pub link: Link,
    is_stream: bool,
    slots: Vec<Datagram>,
    free: Vec<usize>,
    in_flight_max: usize,
    mtu_bytes: usize,
    // (arrival, order of sending, slot): the order breaks ties.
    on_their_way: BinaryHeap<Reverse<(Micros, u64, usize)>>,
    order: u64,
    /// When the newest piece of each stream arrives, for streams of which something is on its way.
    newest_arrivals: HashMap<PeerAddress, Micros>,
}

impl Direction {
    pub fn new(link: Link, is_stream: bool, in_flight_max: usize, mtu_bytes: usize) -> Direction {
        let mut direction = Direction {
            link,
            is_stream,
            slots: Vec::new(),
            free: Vec::new(),
            in_flight_max,
            mtu_bytes,
            on_their_way: BinaryHeap::new(),
            order: 0,
            newest_arrivals: HashMap::new(),
        };
        direction.grow_to(SLOTS_AT_FIRST.min(in_flight_max));
        direction
    }

    /// Makes room for as many datagrams, and for all that is noted about them.
    fn grow_to(&mut self, slots: usize) {
        let more = slots.saturating_sub(self.slots.len());
        self.free.reserve(slots.saturating_sub(self.free.len()));
        self.free.extend(self.slots.len()..slots);
        self.slots.reserve_exact(more);
        self.slots.extend((0..more).map(|_| Datagram::new(self.mtu_bytes)));
        self.on_their_way.reserve(slots.saturating_sub(self.on_their_way.len()));
        if self.is_stream {
            self.newest_arrivals.reserve(slots.saturating_sub(self.newest_arrivals.len()));
        }
    }

    fn take_slot(&mut self) -> Option<usize> {
        if self.free.is_empty() {
            self.grow_to((2 * self.slots.len()).min(self.in_flight_max));
        }
        self.free.pop()
    }

    /// How many datagrams may be on their way.
    pub fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    /// When the next datagram arrives.
    pub fn next_at(&self) -> Option<Micros> {
        self.on_their_way.peek().map(|Reverse((at, ..))| *at)
    }

    /// Whether something of or for a peer is on its way.
    pub fn holds(&self, peer: PeerAddress) -> bool {
        let of_peer = |slot: usize| self.slots.get(slot).is_some_and(|datagram| datagram.address() == peer);
        self.on_their_way.iter().any(|Reverse((_, _, slot))| of_peer(*slot))
    }

    /// Sends a copy of a datagram along.
    pub fn admit(&mut self, now: Micros, datagram: &Datagram, is_unplugged: bool) -> Admission {
        if self.is_stream {
            self.admit_to_stream(now, datagram, is_unplugged)
        } else {
            self.admit_datagram(now, datagram, is_unplugged)
        }
    }

    fn admit_datagram(&mut self, now: Micros, datagram: &Datagram, is_unplugged: bool) -> Admission {
        let [first, second] = self.link.admit(now, datagram.bytes().len(), is_unplugged);
        for mut arrival in [first, second].into_iter().flatten() {
            let Some(slot) = self.take_slot() else {
                self.link.counters.lost_queue += 1;
                continue;
            };
            self.put(slot, datagram, arrival.at);
            if arrival.is_damaged
                && let Some(damaged) = self.slots.get_mut(slot)
            {
                let length = self.link.damage(damaged.bytes_mut(), &mut arrival.rng);
                damaged.set_length(length);
            }
        }
        Admission::Taken
    }

    fn admit_to_stream(&mut self, now: Micros, datagram: &Datagram, is_unplugged: bool) -> Admission {
        if is_unplugged {
            return Admission::NoRoom;
        }
        let Some(slot) = self.take_slot() else {
            return Admission::NoRoom;
        };
        let peer = datagram.address();
        let earliest = self.newest_arrivals.get(&peer).copied().unwrap_or_default();
        let at = self.link.admit_to_stream(now, datagram.bytes().len(), earliest);
        if self.newest_arrivals.len() == self.slots.len() {
            // Those in the past hold nobody up; the others have something on its way, for which there are slots.
            self.newest_arrivals.retain(|_, newest| *newest > now);
        }
        self.newest_arrivals.insert(peer, at);
        self.put(slot, datagram, at);
        Admission::Taken
    }

    fn put(&mut self, slot: usize, datagram: &Datagram, at: Micros) {
        if let Some(waiting) = self.slots.get_mut(slot) {
            waiting.copy_from(datagram.address(), datagram.bytes());
        }
        self.on_their_way.push(Reverse((at, self.order, slot)));
        self.order += 1;
    }

    /// Moves what has arrived by now into a batch, as far as that has room.
    pub fn release(&mut self, now: Micros, batch: &mut Batch) {
        while let Some(free) = batch.next_datagram()
            && self.next_at().is_some_and(|at| at <= now)
            && let Some(Reverse((_, _, slot))) = self.on_their_way.pop()
        {
            self.free.push(slot);
            let counters = &mut self.link.counters;
            if let Some(datagram) = self.slots.get_mut(slot) {
                counters.delivered += 1;
                counters.delivered_bytes += datagram.bytes().len() as u64;
                free.take_over(datagram);
                batch.extend(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{LinkConfig, Loss, STREAM_RESEND_MIN};
    use crate::rng::Rng;

    const LATENCY: Micros = Micros::from_millis(20);

    fn stream(loss: f64, in_flight_max: usize) -> Direction {
        let config = LinkConfig {
            loss: Loss::Uniform(loss),
            latency: LATENCY,
            jitter: Micros::from_millis(5),
            reorder: 0.5,
            duplicate: 0.5,
            corrupt: 0.5,
            ..LinkConfig::default()
        };
        Direction::new(Link::new(config, Rng::new(1)), true, in_flight_max, 64)
    }

    fn datagram(peer: u32, number: u32) -> Datagram {
        let mut datagram = Datagram::new(64);
        assert!(datagram.copy_from(PeerAddress::Memory(peer), &number.to_le_bytes()));
        datagram
    }

    /// Everything, with the time at which it arrives.
    fn drain(direction: &mut Direction) -> Vec<(Micros, PeerAddress, u32)> {
        let (mut batch, mut history) = (Batch::new(1, 64).unwrap(), Vec::new());
        while let Some(at) = direction.next_at() {
            direction.release(at, &mut batch);
            let datagram = batch.iter().next().unwrap();
            let number = u32::from_le_bytes(datagram.bytes().try_into().unwrap());
            history.push((at, datagram.address(), number));
            batch.clear();
        }
        history
    }

    #[test]
    fn a_stream_loses_doubles_reorders_and_damages_nothing() {
        let mut direction = stream(0.2, 1_000);
        for number in 0..1_000 {
            let now = Micros::from_millis(number.into());
            assert_eq!(direction.admit(now, &datagram(1, number), false), Admission::Taken);
        }
        let numbers: Vec<u32> = drain(&mut direction).into_iter().map(|(_, _, number)| number).collect();
        assert_eq!(numbers, (0..1_000).collect::<Vec<_>>());
        assert!((150..250).contains(&direction.link.counters.held_back));
    }

    #[test]
    fn a_loss_holds_up_what_is_behind_it_for_one_timeout_and_other_streams_not_at_all() {
        let mut direction = stream(1.0, 10);
        direction.admit(Micros::ZERO, &datagram(1, 0), false);
        direction.link.config.loss = Loss::None;
        direction.admit(Micros(1_000), &datagram(1, 1), false);
        direction.admit(Micros(1_000), &datagram(2, 2), false);
        let history = drain(&mut direction);
        let order: Vec<u32> = history.iter().map(|&(_, _, number)| number).collect();
        assert_eq!(order, [2, 0, 1], "the other stream overtakes");
        let late = LATENCY + STREAM_RESEND_MIN;
        assert!((late.0 - 5_000..=late.0 + 5_000).contains(&history[1].0.0), "{history:?}");
        assert_eq!(history[2].0, history[1].0, "freed by the same resend");
    }

    #[test]
    fn a_full_or_unplugged_stream_takes_nothing_and_goes_on_when_there_is_room() {
        let mut direction = stream(0.0, 2);
        assert_eq!(direction.admit(Micros::ZERO, &datagram(1, 0), true), Admission::NoRoom);
        for number in 0..2 {
            assert_eq!(direction.admit(Micros::ZERO, &datagram(1, number), false), Admission::Taken);
        }
        assert_eq!(direction.admit(Micros::ZERO, &datagram(1, 2), false), Admission::NoRoom);
        assert!(direction.holds(PeerAddress::Memory(1)) && !direction.holds(PeerAddress::Memory(2)));
        assert_eq!(drain(&mut direction).len(), 2);
        assert_eq!(direction.admit(Micros::from_secs(1), &datagram(1, 2), false), Admission::Taken);
    }

    #[test]
    fn room_is_made_when_it_is_needed_up_to_the_bound_and_stays() {
        let mut direction = stream(0.0, 300);
        assert_eq!(direction.slots.len(), 64, "a calm line needs little");
        for round in 0..2 {
            let before = netloom_count::allocations();
            for number in 0..400 {
                // Every one from another peer, which takes the most that is noted.
                let is_taken = direction.admit(Micros::from_secs(round), &datagram(number, number), false);
                assert_eq!(is_taken == Admission::Taken, number < 300);
            }
            // Making the datagrams allocates, one each.
            assert!(round == 0 || netloom_count::allocations() - before == 400, "warm, and allocating");
            assert_eq!(direction.slots.len(), 300);
            assert_eq!(drain(&mut direction).len(), 300);
        }
    }

    #[test]
    fn streams_that_come_and_go_leave_nothing_behind() {
        let mut direction = stream(0.1, 8);
        for peer in 0..1_000u32 {
            direction.admit(Micros::from_secs(peer.into()), &datagram(peer, peer), false);
            drain(&mut direction);
            assert!(direction.newest_arrivals.len() <= 8);
        }
    }
}

//! Which packets have arrived: against replay, and for the acknowledgements.
//!
//! Two bitmaps over the last 512 packet numbers. *Seen* decides whether a packet is a replay and moves only after
//! authentication. *Taken* is what is acknowledged: a packet that was seen but refused for want of room is not, so
//! that its sender tries again.
//!
//! An acknowledgement repeats the news until the other side is known to have it, and no longer: each packet of ours
//! remembers how far its own acknowledgement reached, and when that packet is acknowledged in turn, everything up
//! to there is old. At a steady 60 packets a second this keeps the bits at two bytes. When more packets arrive at once
//! than an acknowledgement can name, it takes several, oldest first.

use netloom_wire::{Micros, PacketNumber};

use crate::limits::REPLAY_WINDOW;
use crate::packet::Ack;
use crate::validate::Rejection;

/// Packets before the newest that an acknowledgement can name.
const ACK_BITS: u64 = 64;

const WORDS: usize = (REPLAY_WINDOW / 64) as usize;

#[derive(Clone, Copy, Debug, Default)]
struct Bitmap([u64; WORDS]);

impl Bitmap {
    fn get(&self, number: u64) -> bool {
        self.0[(number / 64) as usize % WORDS] >> (number % 64) & 1 != 0
    }

    fn set(&mut self, number: u64) {
        self.0[(number / 64) as usize % WORDS] |= 1 << (number % 64);
    }

    fn clear(&mut self, number: u64) {
        self.0[(number / 64) as usize % WORDS] &= !(1 << (number % 64));
    }

    /// Bit n: whether `newest - 1 - n` is set.
    fn before(&self, newest: u64) -> u64 {
        let start = newest.wrapping_sub(64);
        let (word, shift) = ((start / 64) as usize % WORDS, start % 64);
        let low = self.0[word] >> shift;
        let high = if shift == 0 { 0 } else { self.0[(word + 1) % WORDS] << (64 - shift) };
        (low | high).reverse_bits()
    }
}

/// How many times as long as another an acknowledgement may wait after which nothing is sent again.
const PATIENT_DELAYS: u64 = 4;

/// And one that nobody waits for: a quarter of a second, about.
pub const QUIET_DELAYS: u64 = 16;

/// What the sender of a packet is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    None,
    /// An acknowledgement soon: something may have to be sent again.
    Soon,
    /// One with the second such packet, or with whatever goes before: nothing is sent again, but something may be built
    /// upon it.
    InPairs,
    /// One with whatever goes next: a newer message replaces this one whether it arrived or not. A server that hears from
    /// its players sixty times a second would otherwise answer each of them beside its snapshots.
    Patient,
    /// One with the next packet that asks for one at all, or in good time. A server whose peers share every fourth snapshot
    /// as what others are built upon needs to hear of that one, at once, and of the three others only some day.
    Quiet,
}

/// What has arrived from the other side. In this order in memory: what every packet that is sent needs comes first.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct ReceiveWindow {
    /// The newest packet that asked for an acknowledgement.
    eliciting: Option<u64>,
    /// The lowest packet that the other side may not know to be taken.
    news_from: u64,
    ack_at: Option<Micros>,
    /// The lowest packet that no acknowledgement has reached yet.
    unreported_from: u64,
    unacked: u32,
    newest: Option<u64>,
    newest_taken: Option<u64>,
    newest_taken_at: Micros,
    /// Counts arrivals, so that a late one is told from what an earlier acknowledgement already covered.
    arrivals: u64,
    late_arrival: u64,
    seen: Bitmap,
    taken: Bitmap,
}

/// What an outgoing packet acknowledged, to be remembered with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    newest: u64,
    arrivals: u64,
}

impl ReceiveWindow {
    /// The full packet number behind a truncated one: the candidate closest to the next expected.
    pub fn expand(&self, truncated: u16) -> u64 {
        match self.newest {
            Some(newest) => PacketNumber::from_truncated(truncated, PacketNumber(newest)).0,
            None => truncated.into(),
        }
    }

    /// Whether a packet with this number may still be looked at. Changes nothing.
    pub fn check(&self, number: u64) -> Result<(), Rejection> {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::ReplayAccepted) {
            return Ok(());
        }
        let Some(newest) = self.newest else { return Ok(()) };
        if number > newest {
            Ok(())
        } else if newest - number >= REPLAY_WINDOW {
            Err(Rejection::TooOld)
        } else if self.seen.get(number) {
            Err(Rejection::Replayed)
        } else {
            Ok(())
        }
    }

    /// Remembers an authenticated packet. `taken` says whether everything in it found room.
    pub fn insert(&mut self, number: u64, taken: bool) {
        match self.newest {
            Some(newest) if number <= newest => {}
            newest => {
                let first =
                    newest.map_or(0, |newest| newest + 1).max(number.saturating_sub(REPLAY_WINDOW - 1));
                for skipped in first..=number {
                    self.seen.clear(skipped);
                    self.taken.clear(skipped);
                }
                self.newest = Some(number);
            }
        }
        self.seen.set(number);
        if taken {
            self.taken.set(number);
        }
    }

    /// Schedules the acknowledgement of a packet that was taken.
    pub fn handle_taken(&mut self, now: Micros, number: u64, answer: Answer, ack_delay: Micros) {
        self.arrivals += 1;
        let gap = self.newest_taken.is_some_and(|newest| number != newest + 1);
        if self.newest_taken.is_none_or(|newest| number > newest) {
            self.newest_taken = Some(number);
            self.newest_taken_at = now;
        } else {
            self.late_arrival = self.arrivals;
        }
        self.news_from = self.news_from.min(number);
        if answer != Answer::None {
            self.eliciting = self.eliciting.max(Some(number));
            self.unacked += u32::from(answer != Answer::Patient);
            let at = match answer {
                _ if gap => now,
                Answer::Quiet => now + Micros(ack_delay.0 * QUIET_DELAYS),
                _ if self.unacked >= 2 => now,
                Answer::Soon => now + ack_delay,
                _ => now + Micros(ack_delay.0 * PATIENT_DELAYS),
            };
            self.ack_at = Some(self.ack_at.map_or(at, |earlier| earlier.min(at)));
        }
    }

    /// When an acknowledgement must go out, with or without data.
    pub fn ack_at(&self) -> Option<Micros> {
        self.ack_at
    }

    /// The newest packet that was seen.
    pub fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// The acknowledgement for a packet that is about to be sent, and what to remember of it; `None` when the other
    /// side knows everything.
    #[inline]
    pub fn acknowledge(&self, now: Micros) -> Option<(Ack, Reported)> {
        // Asked first: of a peer that only acknowledges, there is never anything to report.
        if self.eliciting.is_none_or(|eliciting| eliciting < self.news_from) {
            return None;
        }
        let newest = self.newest_to_report()?;
        let delay_ms = match Some(newest) == self.newest_taken {
            true => ((now - self.newest_taken_at).0 / 1_000).min(255) as u8,
            false => u8::MAX,
        };
        let reach = newest.saturating_sub(self.news_from);
        let width = match reach {
            0..=16 => 16,
            17..=32 => 32,
            _ => 64,
        };
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        let bits = self.taken.before(newest) & mask;
        #[cfg(netloom_mutations)]
        let bits = if crate::mutation::is(crate::mutation::Mutation::AckOfUnreceived) { mask } else { bits };
        let ack = Ack { newest: newest as u16, delay_ms, bits, width };
        Some((ack, Reported { newest, arrivals: self.arrivals }))
    }

    /// A packet with this acknowledgement has been sent.
    #[inline]
    pub fn handle_acknowledged(&mut self, reported: Option<Reported>) {
        let newest = reported.map(|reported| reported.newest);
        self.unreported_from = self.unreported_from.max(newest.map_or(0, |newest| newest + 1));
        // One that did not reach the newest packet leaves the next one due.
        if newest.is_none() || newest >= self.newest_taken {
            self.ack_at = None;
        }
        self.unacked = 0;
    }

    /// The packet that the next acknowledgement counts back from.
    #[inline]
    fn newest_to_report(&self) -> Option<u64> {
        match self.newest_taken? {
            newest if newest <= self.unreported_from + ACK_BITS => Some(newest),
            newest => self.newest_within_reach(newest),
        }
    }

    /// The same when more has arrived than one acknowledgement can name.
    #[cold]
    fn newest_within_reach(&self, newest: u64) -> Option<u64> {
        let start = self.unreported_from.max(newest.saturating_sub(REPLAY_WINDOW - 1));
        let oldest = (start..newest).find(|&number| self.taken.get(number)).unwrap_or(newest);
        let end = newest.min(oldest + ACK_BITS);
        (oldest..=end).rev().find(|&number| self.taken.get(number))
    }

    /// A packet of ours that carried this acknowledgement arrived: what it reported is no longer news.
    pub fn handle_reported(&mut self, reported: Reported) {
        if self.late_arrival <= reported.arrivals {
            self.news_from = self.news_from.max(reported.newest + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const DELAY: Micros = Micros::from_millis(15);

    fn take(window: &mut ReceiveWindow, number: u64) {
        assert_eq!(window.check(number), Ok(()));
        window.insert(number, true);
        window.handle_taken(Micros::ZERO, number, Answer::Soon, DELAY);
    }

    #[test]
    fn in_order_packets_are_all_taken_and_the_first_too() {
        let mut window = ReceiveWindow::default();
        (0..1000).for_each(|number| take(&mut window, number));
        assert_eq!(window.check(999), Err(Rejection::Replayed));
    }

    #[test]
    fn an_acknowledgement_is_as_urgent_as_what_arrived() {
        let due = |answers: &[(u64, Answer)]| {
            let mut window = ReceiveWindow::default();
            for &(number, answer) in answers {
                window.insert(number, true);
                window.handle_taken(Micros::ZERO, number, answer, DELAY);
            }
            window.ack_at()
        };
        let patient = Micros(DELAY.0 * PATIENT_DELAYS);
        assert_eq!(due(&[(0, Answer::None)]), None);
        assert_eq!(due(&[(0, Answer::Soon)]), Some(DELAY));
        assert_eq!(due(&[(0, Answer::Soon), (1, Answer::Soon)]), Some(Micros::ZERO));
        assert_eq!(due(&[(0, Answer::InPairs)]), Some(patient));
        assert_eq!(due(&[(0, Answer::InPairs), (1, Answer::InPairs)]), Some(Micros::ZERO));
        assert_eq!(due(&[(0, Answer::Patient), (1, Answer::Patient), (2, Answer::Patient)]), Some(patient));
        assert_eq!(due(&[(0, Answer::Patient), (1, Answer::Soon)]), Some(DELAY));
        assert_eq!(due(&[(0, Answer::Patient), (2, Answer::Patient)]), Some(Micros::ZERO), "one is missing");
        let quiet = Micros(DELAY.0 * QUIET_DELAYS);
        assert_eq!(due(&[(0, Answer::Quiet), (1, Answer::Quiet), (2, Answer::Quiet)]), Some(quiet));
        assert_eq!(due(&[(0, Answer::Quiet), (1, Answer::InPairs)]), Some(Micros::ZERO), "the second");
        assert_eq!(due(&[(0, Answer::Quiet), (2, Answer::Quiet)]), Some(Micros::ZERO), "one is missing");
        let quiet = Micros(DELAY.0 * QUIET_DELAYS);
        assert_eq!(due(&[(0, Answer::Quiet), (1, Answer::Quiet), (2, Answer::Quiet)]), Some(quiet));
        assert_eq!(due(&[(0, Answer::Quiet), (1, Answer::InPairs)]), Some(Micros::ZERO), "the second");
        assert_eq!(due(&[(0, Answer::Quiet), (2, Answer::Quiet)]), Some(Micros::ZERO), "one is missing");
    }

    #[test]
    fn reordered_packets_are_taken_once_and_very_old_ones_never() {
        let mut window = ReceiveWindow::default();
        [1, 5, 3, 7].into_iter().for_each(|number| take(&mut window, number));
        assert_eq!(window.check(3), Err(Rejection::Replayed));
        take(&mut window, 5000);
        assert_eq!(window.check(3000), Err(Rejection::TooOld));
        assert_eq!(window.check(5000 - REPLAY_WINDOW), Err(Rejection::TooOld));
        assert_eq!(window.check(5000 - REPLAY_WINDOW + 1), Ok(()));
        assert_eq!(window.check(4999), Ok(()));
    }

    #[test]
    fn truncated_numbers_expand_around_the_wrap() {
        let mut window = ReceiveWindow::default();
        assert_eq!(window.expand(0), 0);
        assert_eq!(window.expand(7), 7);
        for number in [30_000, 60_000, 65_530, 65_535, 65_540, 98_000, 130_700] {
            assert_eq!(window.expand(number as u16), number);
            take(&mut window, number);
        }
        assert_eq!(window.expand((130_700u64 - 500) as u16), 130_200);
        assert_eq!(window.expand((130_700u64 + 30_000) as u16), 160_700);
    }

    #[test]
    fn the_bits_name_what_was_taken_and_stay_short() {
        let mut window = ReceiveWindow::default();
        [0, 1, 3].into_iter().for_each(|number| take(&mut window, number));
        let (ack, _) = window.acknowledge(Micros::from_millis(4)).unwrap();
        assert_eq!((ack.newest, ack.bits, ack.width, ack.delay_ms), (3, 0b110, 16, 4));
    }

    #[test]
    fn news_is_repeated_until_a_packet_that_carried_it_is_acknowledged() {
        let mut window = ReceiveWindow::default();
        take(&mut window, 0);
        let (_, reported) = window.acknowledge(Micros::ZERO).unwrap();
        assert!(window.acknowledge(Micros::ZERO).is_some(), "not yet known to have arrived");
        window.handle_reported(reported);
        assert!(window.acknowledge(Micros::ZERO).is_none(), "nothing new");
        (1..=20).for_each(|number| take(&mut window, number));
        assert_eq!(window.acknowledge(Micros::ZERO).unwrap().0.width, 32);
    }

    #[test]
    fn more_packets_than_an_acknowledgement_can_name_take_several() {
        let mut window = ReceiveWindow::default();
        let arrived: BTreeSet<u64> = (0..400).filter(|number| number % 7 != 3).collect();
        arrived.iter().for_each(|&number| take(&mut window, number));
        let mut named = BTreeSet::new();
        let mut sent = 0;
        while window.ack_at().is_some() {
            let (ack, reported) = window.acknowledge(Micros::ZERO).unwrap();
            named.insert(reported.newest);
            let bits = (0..64).filter(|bit| ack.bits >> bit & 1 != 0);
            named.extend(bits.map(|bit| reported.newest - 1 - bit));
            window.handle_acknowledged(Some(reported));
            sent += 1;
        }
        assert_eq!(named, arrived);
        assert!(sent <= 7, "{sent} acknowledgements");
    }

    #[test]
    fn a_packet_that_arrives_late_is_news_again() {
        let mut window = ReceiveWindow::default();
        take(&mut window, 0);
        take(&mut window, 5);
        let (_, reported) = window.acknowledge(Micros::ZERO).unwrap();
        take(&mut window, 2);
        window.handle_reported(reported);
        let (ack, _) = window.acknowledge(Micros::ZERO).unwrap();
        assert_eq!(ack.bits & 0b100, 0b100);
    }

    #[test]
    fn a_refused_packet_is_remembered_but_not_acknowledged() {
        let mut window = ReceiveWindow::default();
        take(&mut window, 0);
        window.insert(1, false);
        take(&mut window, 2);
        assert_eq!(window.check(1), Err(Rejection::Replayed));
        assert_eq!(window.acknowledge(Micros::ZERO).unwrap().0.bits, 0b10);
    }

    #[test]
    fn the_second_packet_and_a_gap_are_acknowledged_at_once() {
        let mut window = ReceiveWindow::default();
        take(&mut window, 0);
        assert_eq!(window.ack_at(), Some(DELAY));
        take(&mut window, 1);
        assert_eq!(window.ack_at(), Some(Micros::ZERO));
        let mut window = ReceiveWindow::default();
        take(&mut window, 0);
        window.handle_acknowledged(None);
        take(&mut window, 2);
        assert_eq!(window.ack_at(), Some(Micros::ZERO));
    }

    proptest! {
        #[test]
        fn the_window_agrees_with_a_set(steps in proptest::collection::vec(0u64..900, 1..200), base in 0u64..200_000) {
            let mut window = ReceiveWindow::default();
            let mut seen = BTreeSet::new();
            for step in steps {
                let number = base + step;
                let newest = seen.last().copied();
                let expected = match newest {
                    _ if seen.contains(&number) && newest.unwrap() - number < REPLAY_WINDOW => Err(Rejection::Replayed),
                    Some(newest) if number + REPLAY_WINDOW <= newest => Err(Rejection::TooOld),
                    _ => Ok(()),
                };
                prop_assert_eq!(window.check(number), expected);
                if expected.is_ok() {
                    window.insert(number, true);
                    window.handle_taken(Micros::ZERO, number, Answer::Soon, DELAY);
                    seen.insert(number);
                    let newest = *seen.last().unwrap();
                    let bits = window.taken.before(newest);
                    for n in 0..64u64 {
                        let is_seen = newest.checked_sub(n + 1).is_some_and(|number| seen.contains(&number));
                        prop_assert_eq!(bits >> n & 1 != 0, is_seen);
                    }
                }
            }
        }
    }
}

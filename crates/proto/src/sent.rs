//! Packets on their way: what each carried, when it was acknowledged, and when it counts as lost.
//!
//! Packets are acknowledged, messages are resent in new packets. A packet is lost when another that was sent later
//! has been acknowledged and the difference between their send times exceeds the reorder window (RACK, RFC 8985):
//!
//! ```text
//!   sent:   1 ─── 2 ─── 3 ─── 4 ─── 5          acknowledged: 5
//!           └───────────┴── sent more than the reorder window before 5: lost
//!                             └──── not yet: may only be late
//! ```
//!
//! The window starts at an eighth of a round trip and widens whenever a packet that was given up arrives after all.
//! A packet that nothing overtakes is given up by age, so that whoever sent something unreliable learns of it.
//!
//! A packet that was given up may arrive after all, and is kept for that for seconds. It is set aside: in its place it
//! would keep all those behind it, and every acknowledgement would walk past them.

use std::collections::VecDeque;

use netloom_wire::Micros;

use crate::limits::{
    LOST_MESSAGES_KEPT_MAX, LOST_PACKETS_KEPT_MAX, MESSAGES_IN_FLIGHT_MAX, PACKETS_IN_FLIGHT_MAX,
};
use crate::receive::Reported;
use crate::redundancy::Repeats;

/// Something that a packet carried and whose fate matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Reliable messages or fragments with consecutive ids.
    Reliable {
        /// The channel.
        channel: u8,
        /// How many.
        count: u8,
        /// The id of the first.
        id: u64,
    },
    /// An unreliable message that its sender marked.
    Tagged(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Does not ask for an acknowledgement.
    Untracked,
    InFlight,
    Acked,
    Lost,
}

/// A packet as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct SentPacket {
    /// When.
    pub sent_at: Micros,
    /// Its length.
    pub bytes: u16,
    /// What it acknowledged.
    pub reported: Option<Reported>,
    carried: u16,
    fate: Fate,
    block_runs: u8,
    repeats: Repeats,
}

/// What a packet is, besides what it carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outgoing {
    /// Its length.
    pub bytes: usize,
    /// Whether it asks for an acknowledgement.
    pub elicits_ack: bool,
    /// What it acknowledges.
    pub reported: Option<Reported>,
    /// How much of what it carries, from the first on, is its block.
    pub block_runs: usize,
    /// The blocks of earlier packets in it.
    pub repeats: Repeats,
}

/// How a packet was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It arrived.
    Acked,
    /// It arrived although it had been given up: what it carried has been reported lost.
    AckedLate,
    /// It is not known to have arrived, but its block is, in another packet. Only that is reported.
    Repeated,
}

/// What was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A packet, with everything in it.
    Packet {
        /// When it was sent.
        sent_at: Micros,
    },
    /// The copy of its block, after the packet itself. Only the block is reported.
    Copy,
}

/// An acknowledgement named a packet that was never sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeverSent;

/// The packets on their way. In this order in memory: what is needed while nothing is lost comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct SentPackets {
    packets: VecDeque<SentPacket>,
    /// The number of the first packet in `packets`.
    first: u64,
    /// The first packet that may still be in flight.
    lowest: u64,
    in_flight: usize,
    acked_since_late: u32,
    open_carried: u16,
    carried: VecDeque<Carried>,
    newest_acked: Option<(u64, Micros)>,
    /// The reorder window, in eighths of a round trip.
    reorder_eighths: u64,
    /// Packets before `first` that were given up, by number, and what they carried.
    lost: VecDeque<(u64, SentPacket)>,
    lost_carried: VecDeque<Carried>,
    /// What is forgotten after this one was acknowledged, or asked for no acknowledgement.
    newest_lost_forgotten: Option<u64>,
}

/// After this many acknowledgements without a late one the reorder window narrows again.
const CALM_ACKS: u32 = 256;
const REORDER_EIGHTHS_MAX: u64 = 8;
/// How long a packet that was given up can still turn out to have arrived, unless too many others are.
const LOST_KEPT: Micros = Micros::from_secs(4);

/// Room from the start, so that a connection does not allocate when it first meets delay or loss: half a second of 60 packets
/// a second with four messages each, and what a line that loses one in ten of them loses in [`LOST_KEPT`].
const PACKETS_USUAL: usize = 32;
const CARRIED_USUAL: usize = 128;
const LOST_USUAL: usize = 24;

impl Default for SentPackets {
    fn default() -> SentPackets {
        SentPackets {
            packets: VecDeque::with_capacity(PACKETS_USUAL),
            carried: VecDeque::with_capacity(CARRIED_USUAL),
            lost: VecDeque::with_capacity(LOST_USUAL),
            lost_carried: VecDeque::with_capacity(CARRIED_USUAL),
            first: 0,
            lowest: 0,
            in_flight: 0,
            newest_acked: None,
            reorder_eighths: 0,
            acked_since_late: 0,
            newest_lost_forgotten: None,
            open_carried: 0,
        }
    }
}

impl SentPackets {
    /// Asks for the places of the next packet and of what it carries.
    pub fn fetch_next(&self) {
        self.packets.back().into_iter().for_each(netloom_cpu::fetch_next);
        self.carried.back().into_iter().for_each(netloom_cpu::fetch_next);
    }

    /// The number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Whether another packet that asks for an acknowledgement may be sent.
    pub fn has_room(&self) -> bool {
        self.packets.len() < PACKETS_IN_FLIGHT_MAX
    }

    /// Whether another packet that asks for none may be sent.
    pub fn has_room_for_untracked(&self) -> bool {
        self.packets.len() < 2 * PACKETS_IN_FLIGHT_MAX
    }

    /// Whether a packet under construction may carry more.
    pub fn has_room_for_messages(&self) -> bool {
        self.carried.len() < MESSAGES_IN_FLIGHT_MAX
    }

    /// Packets in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Notes that the packet under construction carries this.
    pub fn carry(&mut self, carried: Carried) {
        self.carried.push_back(carried);
        self.open_carried += 1;
    }

    /// The packet under construction has been sent, with the number that [`next_number`](Self::next_number) gave.
    pub fn handle_sent(&mut self, now: Micros, packet: Outgoing) {
        let carried = std::mem::take(&mut self.open_carried);
        if !packet.elicits_ack && self.packets.is_empty() {
            self.first += 1;
            return;
        }
        self.in_flight += usize::from(packet.elicits_ack);
        self.packets.push_back(SentPacket {
            sent_at: now,
            bytes: packet.bytes as u16,
            reported: packet.reported,
            carried,
            fate: if packet.elicits_ack { Fate::InFlight } else { Fate::Untracked },
            // A block has at most 255 bytes.
            block_runs: packet.block_runs as u8,
            repeats: packet.repeats,
        });
    }

    /// The full number behind a truncated acknowledgement; an error if no such packet was sent.
    pub fn expand(&self, newest: u16) -> Result<u64, NeverSent> {
        let last = self.next_number().checked_sub(1).ok_or(NeverSent)?;
        let distance = (last as u16).wrapping_sub(newest);
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::AckOfUnsentBelieved) {
            return Ok(last);
        }
        if distance >= 1 << 15 {
            return Err(NeverSent);
        }
        last.checked_sub(distance.into()).ok_or(NeverSent)
    }

    /// Takes in an acknowledgement. `decide` is called for every packet that it settles, with what it carried.
    pub fn handle_ack(
        &mut self,
        newest: u64,
        bits: u64,
        mut decide: impl FnMut(u64, &SentPacket, Verdict, Carries<'_>),
    ) {
        self.handle_late(newest, bits, &mut decide);
        let mut start = None;
        for number in named(newest, bits, self.first) {
            let index = (number - self.first) as usize;
            let Some(packet) = self.packets.get_mut(index) else {
                break;
            };
            let verdict = match packet.fate {
                Fate::InFlight => Verdict::Acked,
                Fate::Lost => Verdict::AckedLate,
                Fate::Untracked | Fate::Acked => continue,
            };
            packet.fate = Fate::Acked;
            let packet = *packet;
            if verdict == Verdict::Acked {
                self.in_flight -= 1;
            }
            self.note_ack(number, packet.sent_at, verdict);
            let count = usize::from(packet.carried);
            let from = if count == 0 { 0 } else { self.carried_start(index, start) };
            if count > 0 {
                start = Some((index, from));
            }
            decide(number, &packet, verdict, Carries { all: &self.carried, from, count });
            self.settle_repeated(number, packet.repeats, &mut decide);
        }
    }

    /// Takes in what an acknowledgement says about packets that were set aside.
    fn handle_late(
        &mut self,
        newest: u64,
        bits: u64,
        decide: &mut impl FnMut(u64, &SentPacket, Verdict, Carries<'_>),
    ) {
        for place in 0..self.lost.len() {
            let (number, packet) = self.lost[place];
            let before = newest.checked_sub(number);
            let is_named = before.is_some_and(|before| match before {
                0 => true,
                1..=64 => bits >> (before - 1) & 1 != 0,
                _ => false,
            });
            if !is_named || packet.fate != Fate::Lost {
                continue;
            }
            self.lost[place].1.fate = Fate::Acked;
            self.note_ack(number, packet.sent_at, Verdict::AckedLate);
            decide(number, &packet, Verdict::AckedLate, self.lost_carries(place, packet.carried));
            self.settle_repeated(number, packet.repeats, decide);
        }
    }

    /// Packet `number` arrived, and with it blocks of others.
    fn settle_repeated(
        &self,
        number: u64,
        repeats: Repeats,
        decide: &mut impl FnMut(u64, &SentPacket, Verdict, Carries<'_>),
    ) {
        if repeats == Repeats::Nothing {
            return;
        }
        let is_acked = |number| match self.packet(number) {
            Some(packet) => packet.fate == Fate::Acked,
            None => self.newest_lost_forgotten.is_none_or(|lost| number > lost),
        };
        let settled = repeats.settled_by(number, self.next_number(), is_acked);
        for repeated in settled.into_iter().flatten() {
            if let Some(packet) = self.packet(repeated).filter(|packet| packet.fate != Fate::Acked) {
                decide(repeated, packet, Verdict::Repeated, self.block_of(repeated, packet));
            }
        }
    }

    /// A packet that is still remembered.
    fn packet(&self, number: u64) -> Option<&SentPacket> {
        match number.checked_sub(self.first) {
            Some(index) => self.packets.get(index as usize),
            None => self.lost_place(number).map(|place| &self.lost[place].1),
        }
    }

    /// The messages in the block of such a packet.
    fn block_of(&self, number: u64, packet: &SentPacket) -> Carries<'_> {
        match number.checked_sub(self.first) {
            Some(index) => {
                let (from, count) = (self.carried_start(index as usize, None), packet.block_runs.into());
                Carries { all: &self.carried, from, count }
            }
            None => self.lost_carries(self.lost_place(number).unwrap_or(0), packet.block_runs.into()),
        }
    }

    /// Where among those set aside a packet is.
    fn lost_place(&self, number: u64) -> Option<usize> {
        self.lost.binary_search_by_key(&number, |&(number, _)| number).ok()
    }

    /// The first `count` messages of a packet that was set aside.
    fn lost_carries(&self, place: usize, count: u16) -> Carries<'_> {
        let before = self.lost.range(..place).map(|(_, packet)| usize::from(packet.carried));
        Carries { all: &self.lost_carried, from: before.sum(), count: count.into() }
    }

    /// Gives up packets that were overtaken for longer than the reorder window, or are older than `age_max`.
    /// `decide` is called for each.
    pub fn detect_losses(
        &mut self,
        now: Micros,
        rtt: Micros,
        age_max: Micros,
        mut decide: impl FnMut(u64, Loss, Carries<'_>),
    ) {
        let window = Micros(rtt.0 * (1 + self.reorder_eighths) / 8);
        let mut start = None;
        let mut number = self.lowest.max(self.first);
        self.lowest = number;
        let mut still_lowest = true;
        while number < self.next_number() {
            let index = (number - self.first) as usize;
            let Some(packet) = self.packets.get_mut(index) else {
                break;
            };
            if packet.fate == Fate::InFlight {
                let overtaken = self.newest_acked.is_some_and(|(acked, sent_at)| {
                    number < acked
                        && (packet.sent_at + window <= sent_at || packet.sent_at + rtt + window <= now)
                });
                let aged = now - packet.sent_at >= age_max;
                if overtaken || aged {
                    packet.fate = Fate::Lost;
                    let packet = *packet;
                    self.in_flight -= 1;
                    let from = self.carried_start(index, start);
                    start = Some((index, from));
                    decide(
                        number,
                        Loss::Packet { sent_at: packet.sent_at },
                        Carries { all: &self.carried, from, count: packet.carried.into() },
                    );
                    self.lose_copied(number, packet.repeats, &mut decide);
                } else {
                    still_lowest = false;
                    if self.newest_acked.is_none_or(|(acked, _)| number >= acked) {
                        break;
                    }
                }
            }
            number += 1;
            if still_lowest {
                self.lowest = number;
            }
        }
        self.forget(now);
    }

    /// Packet `number` was given up, and with it the copies of blocks whose own packets may have been given up before.
    fn lose_copied(&self, number: u64, repeats: Repeats, decide: &mut impl FnMut(u64, Loss, Carries<'_>)) {
        for copied in repeats.copied_by(number).into_iter().flatten() {
            if let Some(packet) = self.packet(copied).filter(|packet| packet.fate == Fate::Lost) {
                decide(copied, Loss::Copy, self.block_of(copied, packet));
            }
        }
    }

    /// When [`detect_losses`](Self::detect_losses) could find something by time alone.
    pub fn loss_deadline(&self, rtt: Micros, age_max: Micros) -> Option<Micros> {
        let number = self.lowest_in_flight()?;
        let oldest = self.packet(number)?;
        let window = Micros(rtt.0 * (1 + self.reorder_eighths) / 8);
        let overtaken = self.newest_acked.is_some_and(|(acked, _)| number < acked);
        Some(oldest.sent_at + if overtaken { (rtt + window).min(age_max) } else { age_max })
    }

    fn lowest_in_flight(&self) -> Option<u64> {
        if self.in_flight == 0 {
            return None;
        }
        let start = self.lowest.max(self.first);
        (start..self.next_number()).find(|number| {
            self.packets
                .get((number - self.first) as usize)
                .is_some_and(|packet| packet.fate == Fate::InFlight)
        })
    }

    fn note_ack(&mut self, number: u64, sent_at: Micros, verdict: Verdict) {
        if self.newest_acked.is_none_or(|(newest, _)| number > newest) {
            self.newest_acked = Some((number, sent_at));
        }
        if verdict == Verdict::AckedLate {
            self.reorder_eighths = (self.reorder_eighths + 1).min(REORDER_EIGHTHS_MAX);
            self.acked_since_late = 0;
        } else {
            self.acked_since_late += 1;
            if self.acked_since_late >= CALM_ACKS {
                self.acked_since_late = 0;
                self.reorder_eighths = self.reorder_eighths.saturating_sub(1);
            }
        }
    }

    /// Where the cargo of the packet at `index` begins, walking on from an earlier packet when one is known.
    fn carried_start(&self, index: usize, known: Option<(usize, usize)>) -> usize {
        let (from_index, from) = known.unwrap_or((0, 0));
        from + self.packets.range(from_index..index).map(|packet| usize::from(packet.carried)).sum::<usize>()
    }

    /// Forgets packets at the front whose fate is settled, sets aside those that were given up, and forgets them in turn.
    pub fn forget(&mut self, now: Micros) {
        while let Some(&packet) = self.packets.front().filter(|packet| packet.fate != Fate::InFlight) {
            let carried = self.carried.drain(..usize::from(packet.carried));
            if packet.fate == Fate::Lost {
                self.lost.push_back((self.first, packet));
                self.lost_carried.extend(carried);
            }
            self.packets.pop_front();
            self.first += 1;
        }
        if self.packets.is_empty() {
            // From the first line of their memory again, which is still in the caches; the ring would go round all of it.
            self.packets.clear();
            self.carried.clear();
        }
        while let Some(&(number, packet)) = self.lost.front() {
            let is_over = packet.fate == Fate::Acked
                || now - packet.sent_at >= LOST_KEPT
                || self.lost.len() > LOST_PACKETS_KEPT_MAX
                || self.lost_carried.len() > LOST_MESSAGES_KEPT_MAX;
            if !is_over {
                break;
            }
            if packet.fate == Fate::Lost {
                self.newest_lost_forgotten = Some(number);
            }
            self.lost_carried.drain(..usize::from(packet.carried));
            self.lost.pop_front();
        }
    }
}

/// The packets that an acknowledgement names, from `first` on, the oldest first.
fn named(newest: u64, bits: u64, first: u64) -> impl Iterator<Item = u64> {
    let span = newest.checked_sub(first).map(|span| span.min(64));
    // The oldest in the lowest bit: `newest - 64`, and after the shift `newest - span`.
    let all = u128::from(bits.reverse_bits()) | 1 << 64;
    let mut rest = span.map_or(0, |span| all >> (64 - span));
    let oldest = newest - span.unwrap_or(0);
    std::iter::from_fn(move || {
        let next = (rest != 0).then(|| oldest + u64::from(rest.trailing_zeros()));
        rest &= rest.wrapping_sub(1);
        next
    })
}

/// What one packet carried.
#[derive(Clone, Copy, Debug)]
pub struct Carries<'a> {
    all: &'a VecDeque<Carried>,
    from: usize,
    count: usize,
}

impl<'a> Carries<'a> {
    /// One after another.
    pub fn iter(&self) -> impl Iterator<Item = Carried> + 'a {
        self.all.range(self.from..self.from + self.count).copied()
    }
}

#[cfg(test)]
mod tests;

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

use std::collections::VecDeque;

use netloom_wire::Micros;

use crate::limits::{MESSAGES_IN_FLIGHT_MAX, PACKETS_IN_FLIGHT_MAX};
use crate::receive::Reported;
use crate::redundancy::Repeats;

/// Something that a packet carried and whose fate matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// A reliable message or fragment.
    Reliable {
        /// The channel.
        channel: u8,
        /// The id.
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
    block_messages: u8,
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
    /// How many of the messages that it carries, from the first, are its block.
    pub block_messages: usize,
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

/// The packets on their way.
#[derive(Debug, Default)]
pub struct SentPackets {
    packets: VecDeque<SentPacket>,
    carried: VecDeque<Carried>,
    /// The number of the first packet in `packets`.
    first: u64,
    /// The first packet that may still be in flight.
    lowest: u64,
    in_flight: usize,
    newest_acked: Option<(u64, Micros)>,
    /// The reorder window, in eighths of a round trip.
    reorder_eighths: u64,
    acked_since_late: u32,
    /// What is forgotten after this one was acknowledged, or asked for no acknowledgement.
    newest_lost_forgotten: Option<u64>,
    open_carried: u16,
}

/// After this many acknowledgements without a late one the reorder window narrows again.
const CALM_ACKS: u32 = 256;
const REORDER_EIGHTHS_MAX: u64 = 8;
/// How long a packet that was given up can still turn out to have arrived, unless it takes the room of new ones.
const LOST_KEPT: Micros = Micros::from_secs(4);

impl SentPackets {
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
            block_messages: packet.block_messages as u8,
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
        let oldest = newest.saturating_sub(64).max(self.first);
        let mut start = None;
        for number in oldest..=newest {
            let named = number == newest || bits >> (newest - number - 1) & 1 != 0;
            let index = (number - self.first) as usize;
            if !named {
                continue;
            }
            let Some(packet) = self.packets.get_mut(index) else {
                continue;
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

    /// Packet `number` arrived, and with it blocks of others.
    fn settle_repeated(
        &mut self,
        number: u64,
        repeats: Repeats,
        decide: &mut impl FnMut(u64, &SentPacket, Verdict, Carries<'_>),
    ) {
        if repeats == Repeats::Nothing {
            return;
        }
        let is_acked = |number| match self.packet(number) {
            Some((_, packet)) => packet.fate == Fate::Acked,
            None => self.newest_lost_forgotten.is_none_or(|lost| number > lost),
        };
        let settled = repeats.settled_by(number, self.next_number(), is_acked);
        for repeated in settled.into_iter().flatten() {
            let Some((index, packet)) = self.packet(repeated) else {
                continue;
            };
            if packet.fate != Fate::Acked {
                let (from, count) = (self.carried_start(index, None), packet.block_messages.into());
                decide(repeated, packet, Verdict::Repeated, Carries { all: &self.carried, from, count });
            }
        }
    }

    /// A packet that is still remembered, and its place.
    fn packet(&self, number: u64) -> Option<(usize, &SentPacket)> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.packets.get(index).map(|packet| (index, packet))
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
            if let Some((index, packet)) = self.packet(copied)
                && packet.fate == Fate::Lost
            {
                let (from, count) = (self.carried_start(index, None), packet.block_messages.into());
                decide(copied, Loss::Copy, Carries { all: &self.carried, from, count });
            }
        }
    }

    /// When [`detect_losses`](Self::detect_losses) could find something by time alone.
    pub fn loss_deadline(&self, rtt: Micros, age_max: Micros) -> Option<Micros> {
        let number = self.lowest_in_flight()?;
        let (_, oldest) = self.packet(number)?;
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

    /// Forgets packets at the front whose fate is settled for good.
    pub fn forget(&mut self, now: Micros) {
        while let Some(packet) = self.packets.front() {
            let settled = match packet.fate {
                Fate::Acked | Fate::Untracked => true,
                Fate::Lost => {
                    now - packet.sent_at >= LOST_KEPT
                        || self.packets.len() >= PACKETS_IN_FLIGHT_MAX / 2
                        || self.carried.len() >= MESSAGES_IN_FLIGHT_MAX / 2
                }
                Fate::InFlight => false,
            };
            if !settled {
                break;
            }
            if packet.fate == Fate::Lost {
                self.newest_lost_forgotten = Some(self.first);
            }
            let carried = usize::from(packet.carried);
            self.carried.drain(..carried);
            self.packets.pop_front();
            self.first += 1;
        }
    }
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

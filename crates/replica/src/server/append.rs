//! The last phase: snapshots into the caller's buffers.
//!
//! Everything is encoded by now. A snapshot is put together from the codes that its peer's objects have in the rows of
//! the cache, each behind the distance to the slot before it:
//!
//! ```text
//!   gap │ mark of the common baselines │ code from their row      most: one lookup, one store of eight bytes
//!   gap │ mark of other baselines │ code from another row
//! ```

use netloom_wire::schema::Audience;
use netloom_wire::{BitWriter, Tick, varint};

use super::audit::AUDIT_BYTES;
use super::cache::{Cache, Code, Encoder, Present};
use super::flight::Flight;
use super::held::Recent;
use super::peer::Peer;
use super::priority::Cadence;
use super::wanted::Key;
use crate::codec::{Codes, SmallCode, gap_code};
use crate::limits::EXISTENCE_IN_FLIGHT_MAX;
use crate::snapshot::{Ages, Baselines, Feedback, Flags};

/// Gaps whose code is at hand.
const GAPS_KEPT: usize = 128;

/// The codes of the gaps that are most frequent, each with the mark of the common baselines behind it.
#[derive(Debug)]
pub(super) struct Gaps([(u32, u32); GAPS_KEPT]);

impl Gaps {
    pub fn new(codes: &Codes) -> Gaps {
        let narrow = |(bits, length): (u64, u32)| (bits as u32, length);
        Gaps(std::array::from_fn(|gap| narrow(marked(gap_code(codes, gap as u32), Baselines::COMMON))))
    }

    #[inline]
    fn with_common(&self, gap: u32, codes: &Codes) -> (u64, u32) {
        match self.0.get(gap as usize) {
            Some(&(bits, length)) => (bits.into(), length),
            None => marked(gap_code(codes, gap), Baselines::COMMON),
        }
    }
}

/// A gap, then a mark.
#[inline]
fn marked(gap: (u64, u32), mark: (u64, u32)) -> (u64, u32) {
    (gap.0 | mark.0 << gap.1, gap.1 + mark.1)
}

/// Which baselines were named, and where the codes of those that were met lie.
#[derive(Clone, Copy, Debug)]
struct Met<'a> {
    baselines: Baselines,
    recent: Recent<(Ages, &'a [u64])>,
}

/// One of those who write snapshots: makes codes that only one peer needs, and counts.
#[derive(Debug)]
pub(super) struct Scribe {
    pub encoder: Encoder,
    pub written: Written,
}

impl Scribe {
    pub fn new(arena_bytes: usize) -> Scribe {
        Scribe { encoder: Encoder::new(0, arena_bytes), written: Written::default() }
    }
}

/// What was written since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Snapshots.
    pub snapshots: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects that entered, repeats included.
    pub entries: u64,
    /// Objects that left, repeats included.
    pub leaves: u64,
    /// Objects that changed.
    pub updates: u64,
}

impl Written {
    fn note(&mut self, flight: &Flight, bytes: usize, updates: usize) {
        self.snapshots += 1;
        self.bytes += bytes as u64;
        self.entries += flight.enters.len() as u64;
        self.leaves += flight.leaves.len() as u64;
        self.updates += updates as u64;
    }

    /// What two wrote.
    #[must_use]
    pub(super) fn and(self, other: Written) -> Written {
        Written {
            snapshots: self.snapshots + other.snapshots,
            bytes: self.bytes + other.bytes,
            entries: self.entries + other.entries,
            leaves: self.leaves + other.leaves,
            updates: self.updates + other.updates,
        }
    }
}

/// What everyone who writes snapshots of this tick reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Appending<'a> {
    pub present: Present<'a>,
    pub cache: &'a Cache,
    pub encoders: &'a [Encoder],
    pub gaps: &'a Gaps,
    pub cadence: &'a Cadence,
}

impl<'a> Appending<'a> {
    /// Writes the next snapshot for a peer: its length; `None` if there is nothing more to say, or no room for it.
    pub fn write(
        &self,
        peer: &mut Peer,
        scribe: &mut Scribe,
        sequence: u64,
        out: &mut [u8],
    ) -> Option<usize> {
        let tick = self.present.tick;
        let room = out.len().min(peer.outlook.budget_left);
        let out = &mut out[..room];
        let ages = peer.first_ages(tick);
        let has_others = peer.is_feedback_due
            || peer.audit_due.is_some()
            || !peer.leaves_due.is_empty()
            || !peer.entries_due.is_empty();
        if ages.is_none() && !has_others {
            return None;
        }
        let mut at = 3 + ages.map_or(0, |(_, older)| if older.is_some() { 2 } else { 1 });
        let feedback = peer.feedback.map(Feedback::write);
        let feedback_at = at..at + feedback.map_or(0, |bytes| bytes.len());
        at = feedback_at.end;
        if out.len() < at + usize::from(!peer.is_feedback_due) {
            return None;
        }
        let mut flight = peer.flights.open(sequence, tick, peer.slots.len());
        let mut flags = if peer.is_feedback_due { Flags::FEEDBACK } else { Flags::default() };
        if let Some((region, digest)) = peer.audit_due
            && out.len() >= at + AUDIT_BYTES
        {
            out[at..at + 2].copy_from_slice(&region.to_le_bytes());
            out[at + 2..at + AUDIT_BYTES].copy_from_slice(&digest.to_le_bytes());
            at += AUDIT_BYTES;
            flags = flags.with(Flags::DIGEST);
            peer.audit_due = None;
        }
        let existence_may_go = peer.flights.len() < EXISTENCE_IN_FLIGHT_MAX;
        if existence_may_go && !peer.leaves_due.is_empty() {
            at += peer.write_leaves(tick, &mut flight, &mut out[at..]);
            flags = if flight.leaves.is_empty() { flags } else { flags.with(Flags::LEAVES) };
        }
        if existence_may_go && !peer.entries_due.is_empty() {
            at += peer.write_entries(tick, self.present.world, &mut flight, &mut out[at..]);
            flags = if flight.enters.is_empty() { flags } else { flags.with(Flags::ENTERS) };
        }
        let count = match ages {
            Some(ages) => self.write_updates(peer, scribe, ages, &mut flight, &mut out[at..]),
            None => (0, 0),
        };
        if count.1 > 0 {
            at += count.0;
            flags = flags.with(Flags::UPDATES);
        }
        if flags == Flags::default() {
            peer.flights.give_back(flight);
            return None;
        }
        if let Some(feedback) = feedback {
            out[feedback_at].copy_from_slice(&feedback);
            flags = flags.with(Flags::FEEDBACK);
            peer.is_feedback_due = false;
        }
        write_header(tick, flags, ages, out);
        scribe.written.note(&flight, at, count.1);
        peer.handle_sent(flight, at, self.cadence);
        Some(at)
    }

    /// Writes updates until the room or the list ends; returns the bytes and how many there are.
    fn write_updates(
        &self,
        peer: &mut Peer,
        scribe: &mut Scribe,
        common: Ages,
        flight: &mut Flight,
        out: &mut [u8],
    ) -> (usize, usize) {
        let tick = self.present.tick;
        let expected = peer.chosen.len();
        let count_bytes = varint::len(expected as u64);
        let Some(room) = out.get_mut(count_bytes..) else { return (0, 0) };
        let mut writer = BitWriter::new(room);
        let key = Key {
            newer_age: common.0 as u8,
            older_age: common.1.unwrap_or(0) as u8,
            audience: Audience::Public,
        };
        let row = self.cache.row(key).map_or(&[][..], |row| row.codes());
        let is_common = peer.held.common.ages(tick) == Some((key.newer_age, key.older_age));
        let mut met = Met { baselines: Baselines::new(Some(common)), recent: Recent::new() };
        let (mut next, mut count, mut is_full) = (0u32, 0, false);
        for at in 0..peer.chosen.words().len() {
            let chosen = peer.chosen.word(at);
            if chosen == 0 {
                continue;
            }
            let public = !peer.slots.special.word(at);
            let shared = if is_common { peer.held.uniform.word(at) & public } else { 0 };
            let (mut waiting, mut written) = (chosen, 0u64);
            loop {
                let (objects, held) = (peer.slots.objects_of(at), &peer.held);
                count += writer.append_many(std::iter::from_fn(|| {
                    let bit = waiting.trailing_zeros() as usize;
                    if waiting & public & waiting.wrapping_neg() == 0 {
                        return None;
                    }
                    let slot = (at * 64 + bit) as u32;
                    let object = objects[bit & 63] as usize;
                    let (entry, (prefix, prefix_length)) = if shared >> (bit & 63) & 1 != 0 {
                        let entry = row.get(object).copied().unwrap_or(0);
                        (entry, self.gaps.with_common(slot - next, self.present.codes))
                    } else {
                        let (ages, codes) = met.recent.get(held.pair(slot as usize))?;
                        let entry = codes.get(object).copied().unwrap_or(0);
                        let mark = met.baselines.short_mark(ages)?;
                        (entry, marked(gap_code(self.present.codes, slot - next), mark))
                    };
                    let length = (entry >> SmallCode::BITS_MAX) as u32;
                    if length.wrapping_sub(1) >= SmallCode::BITS_MAX - prefix_length {
                        return None;
                    }
                    waiting &= waiting - 1;
                    written |= 1 << bit;
                    next = slot + 1;
                    Some((SmallCode(entry).bits() << prefix_length | prefix, prefix_length + length))
                }));
                if waiting == 0 {
                    break;
                }
                // One that is not as most are, or for which there may be no room.
                let bit = waiting.trailing_zeros();
                let slot = at * 64 + bit as usize;
                match self.write_other(peer, scribe, slot, slot as u32 - next, &mut writer, &mut met) {
                    Outcome::Written => {
                        written |= 1 << bit;
                        next = slot as u32 + 1;
                        count += 1;
                    }
                    Outcome::Skipped => {}
                    Outcome::Full => {
                        is_full = true;
                        break;
                    }
                }
                waiting &= waiting - 1;
            }
            flight.updates.words_mut()[at] = written;
            if is_full {
                break;
            }
        }
        peer.outlook.experience.learn(tick, writer.bit_len(), count);
        let bytes = writer.finish().unwrap_or(0);
        if count == 0 {
            return (0, 0);
        }
        // Counted when less fits than was expected, and then perhaps shorter.
        let length = varint::len(count as u64);
        if length < count_bytes {
            out.copy_within(count_bytes..count_bytes + bytes, length);
        }
        let written = varint::write(count as u64, out).unwrap_or(0);
        (written + bytes, count)
    }

    /// Writes an update that is long, or builds on other baselines than the ones before it.
    #[inline(never)]
    fn write_other(
        &self,
        peer: &mut Peer,
        scribe: &mut Scribe,
        slot: usize,
        gap: u32,
        writer: &mut BitWriter<'_>,
        met: &mut Met<'a>,
    ) -> Outcome {
        let object = peer.slots.objects()[slot] as usize;
        let pair = peer.held.pair(slot);
        let is_public = !peer.slots.special.contains(slot);
        let gap = gap_code(self.present.codes, gap);
        if let Some((ages, codes)) = met.recent.get(pair).filter(|_| is_public) {
            let entry = codes.get(object).copied().unwrap_or(0);
            let length = (entry >> SmallCode::BITS_MAX) as u32;
            let mut baselines = met.baselines;
            let (prefix, prefix_length) = marked(gap, baselines.mark(ages));
            if length.wrapping_sub(1) < SmallCode::BITS_MAX - prefix_length {
                let bits = SmallCode(entry).bits() << prefix_length | prefix;
                if !writer.try_append(bits, prefix_length + length) {
                    return Outcome::Full;
                }
                met.baselines = baselines;
                return Outcome::Written;
            }
        }
        let Some(key) = peer.key(slot, self.present.tick) else {
            peer.tell_anew(slot as u16);
            return Outcome::Skipped;
        };
        let row = self.cache.row(key);
        let code = match row {
            Some(row) => self.cache.code(row, object, self.encoders),
            None => scribe.encoder.private(key, object, self.present),
        };
        let length = match code {
            Code::NoBaseline => {
                peer.tell_anew(slot as u16);
                return Outcome::Skipped;
            }
            Code::NoRoom => return Outcome::Skipped,
            Code::Short(_, length) => length as usize,
            Code::Long(_, length) => length,
        };
        if writer.remaining_bits() < (gap.1 + Baselines::MARK_BITS_MAX) as usize + length {
            return Outcome::Full;
        }
        let ages = (u32::from(key.newer_age), (key.older_age > 0).then_some(u32::from(key.older_age)));
        let (prefix, prefix_length) = marked(gap, met.baselines.mark(ages));
        writer.append_bits(prefix, prefix_length);
        match code {
            Code::Short(bits, length) => writer.append_bits(bits, length),
            Code::Long(bytes, length) => writer.append_slice(bytes, length),
            Code::NoBaseline | Code::NoRoom => {}
        }
        // The next ones may build on the same; what another audience is told they may not.
        if let Some(row) = row.filter(|_| is_public && met.recent.get(pair).is_none()) {
            met.recent.insert(pair, (ages, row.codes()));
        }
        Outcome::Written
    }
}

/// What became of an update.
enum Outcome {
    Written,
    /// It is not in this snapshot, but others may be.
    Skipped,
    Full,
}

impl Peer {
    /// The baselines that most of the chosen updates have.
    fn first_ages(&self, tick: Tick) -> Option<Ages> {
        let mut words = self.chosen.words().iter().enumerate();
        let is_shared = words.any(|(at, chosen)| chosen & self.held.uniform.word(at) != 0);
        let pair = match is_shared {
            true => self.held.common,
            false => self.held.pair(self.chosen.first()?),
        };
        let (newer, older) = pair.ages(tick)?;
        Some((newer.into(), (older > 0).then_some(older.into())))
    }

    /// A snapshot went out: what it holds starts again at zero.
    fn handle_sent(&mut self, flight: Flight, bytes: usize, cadence: &Cadence) {
        self.outlook.budget_left -= bytes;
        self.chosen.subtract(&flight.updates);
        self.held.dirty.subtract(&flight.updates);
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::BaselineUnacked) {
            self.held.handle_acked(&flight.updates, flight.tick);
        }
        if self.outlook.has_accounts {
            self.accounts.reset_all(flight.updates.words());
        }
        if *cadence != Cadence::EVERY_TICK {
            flight.updates.iter().for_each(|slot| self.phases.sent(&[slot as u16], cadence));
        }
        if let Some(lost) = self.flights.push(flight) {
            self.handle_outcome(lost, false, 1);
        }
    }
}

fn write_header(tick: Tick, flags: Flags, ages: Option<Ages>, out: &mut [u8]) {
    out[..2].copy_from_slice(&(tick.0 as u16).to_le_bytes());
    let mut flags = flags;
    if let Some((newer, older)) = ages {
        flags = flags.with(Flags::AGE);
        out[3] = newer as u8;
        if let Some(older) = older {
            flags = flags.with(Flags::SECOND_AGE);
            out[4] = older as u8;
        }
    }
    out[2] = flags.0;
}

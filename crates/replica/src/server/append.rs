//! The last phase: snapshots into the caller's buffers.
//!
//! Everything is encoded by now. A snapshot is put together from the codes that its peer's objects have in the rows of
//! the cache, each behind the distance to the slot before it:
//!
//! ```text
//!   gap, with the common baselines │ code from their row          most: one lookup, one store of eight bytes
//!   gap │ mark of other baselines │ code from another row
//! ```

use netloom_wire::schema::Audience;
use netloom_wire::{BitWriter, Tick, varint};

use super::audit::AUDIT_BYTES;
use super::cache::{Cache, Code, Encoder, Present, stored_code};
use super::page::place;
use super::peer::Peer;
use super::priority::Cadence;
use super::runs::{RunKey, Runs};
use super::sheets::{SheetKey, Sheets};
use super::tally::Tally;
use super::wanted::{Found, Key};
use crate::bits::ones;
use crate::codec::{Codes, GAP_BITS_MAX, SmallCode, gap_code};
use crate::snapshot::{Ages, Baselines, Feedback, Flags};

/// Gaps whose code is at hand.
const GAPS_KEPT: usize = 128;

/// The codes of the gaps that are most frequent, to objects with the common baselines.
#[derive(Debug)]
pub(super) struct Gaps([(u32, u32); GAPS_KEPT]);

impl Gaps {
    pub fn new(codes: &Codes) -> Gaps {
        let narrow = |(bits, length): (u64, u32)| (bits as u32, length);
        Gaps(std::array::from_fn(|gap| narrow(gap_code(codes, gap as u32, true))))
    }

    /// The code of a gap, if it is at hand.
    #[inline]
    fn with_common(&self, gap: u32) -> Option<(u64, u32)> {
        self.0.get(gap as usize).map(|&(bits, length)| (bits.into(), length))
    }
}

/// A gap, then the mark of its baselines if they are not the common ones.
#[inline]
fn marked(codes: &Codes, gap: u32, mark: Option<(u64, u32)>) -> (u64, u32) {
    let (bits, length) = gap_code(codes, gap, mark.is_none());
    let (mark, mark_length) = mark.unwrap_or_default();
    (bits | mark << length, length + mark_length)
}

/// One of those who write snapshots: makes codes that only one peer needs, and counts.
#[derive(Debug)]
pub(super) struct Scribe {
    pub encoder: Encoder,
    pub written: Written,
    pub tally: Tally,
    /// The rows that the pairs of one peer were found to have.
    rows: Found,
    runs: Runs,
    sheets: Sheets,
}

impl Scribe {
    pub fn new(arena_bytes: usize, classes: usize) -> Scribe {
        Scribe {
            encoder: Encoder::new(0, arena_bytes),
            written: Written::default(),
            tally: Tally::new(classes),
            rows: Found::default(),
            runs: Runs::default(),
            sheets: Sheets::default(),
        }
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

impl Appending<'_> {
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
        peer.flights.begin(sequence, tick);
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
        let existence_may_go = !peer.flights.is_crowded();
        let mut written = Written { snapshots: 1, ..Written::default() };
        if existence_may_go && !peer.leaves_due.is_empty() {
            let (bytes, count) = peer.write_leaves(tick, &mut out[at..]);
            at += bytes;
            written.leaves = count as u64;
            flags = if count == 0 { flags } else { flags.with(Flags::LEAVES) };
        }
        if existence_may_go && !peer.entries_due.is_empty() {
            let (bytes, count) =
                peer.write_entries(tick, self.present.world, &mut scribe.tally, &mut out[at..]);
            at += bytes;
            written.entries = count as u64;
            flags = if count == 0 { flags } else { flags.with(Flags::ENTERS) };
        }
        if let Some(ages) = ages {
            let (bytes, count) = self.write_updates(peer, scribe, ages, &mut out[at..]);
            at += bytes;
            written.updates = count as u64;
            flags = if count == 0 { flags } else { flags.with(Flags::UPDATES) };
        }
        if flags == Flags::default() {
            peer.flights.cancel();
            return None;
        }
        if let Some(feedback) = feedback {
            out[feedback_at].copy_from_slice(&feedback);
            flags = flags.with(Flags::FEEDBACK);
            peer.is_feedback_due = false;
        }
        write_header(tick, flags, ages, out);
        written.bytes = at as u64;
        scribe.written = scribe.written.and(written);
        scribe.tally.handle_snapshot(tick);
        peer.handle_sent(at);
        Some(at)
    }

    /// Writes updates until the room or the list ends; returns the bytes and how many there are.
    fn write_updates(
        &self,
        peer: &mut Peer,
        scribe: &mut Scribe,
        common: Ages,
        out: &mut [u8],
    ) -> (usize, usize) {
        let tick = self.present.tick;
        let baselines = Key {
            newer_age: common.0 as u8,
            older_age: common.1.unwrap_or(0) as u8,
            audience: Audience::Public,
        };
        let is_common = peer.held.common.ages(tick) == Some((baselines.newer_age, baselines.older_age));
        let key = SheetKey { tick, baselines };
        let may_share = is_common && scribe.tally.stake() == 0;
        if may_share
            && let Some(sheet) = scribe.sheets.find(key, &peer.held.pages, out.len())
            && let Some(room) = out.get_mut(..sheet.bytes().len())
        {
            room.copy_from_slice(sheet.bytes());
            for &(at, slots) in sheet.slots() {
                peer.handle_written(at as usize, slots, self.cadence);
            }
            peer.outlook.experience.learn(tick, sheet.bits, sheet.count);
            return (room.len(), sheet.count);
        }
        let kept = if may_share { scribe.sheets.begin(key, &peer.held.pages) } else { None };
        let (bytes, count, bits) = self.put_updates(peer, scribe, baselines, is_common, out);
        peer.outlook.experience.learn(tick, bits, count);
        if let Some(place) = kept.filter(|_| count > 0) {
            let room = out.len();
            scribe.sheets.keep(place, key, &peer.held.pages, room, (&out[..bytes], count, bits));
        }
        (bytes, count)
    }

    /// Puts updates together until the room or the list ends: the bytes, how many there are, and the bits of all of them.
    fn put_updates(
        &self,
        peer: &mut Peer,
        scribe: &mut Scribe,
        key: Key,
        is_common: bool,
        out: &mut [u8],
    ) -> (usize, usize, usize) {
        let tick = self.present.tick;
        let expected: u32 = peer.held.pages.chosen().map(|(_, page)| page.chosen.count_ones()).sum();
        let count_bytes = varint::len(expected.into());
        let Some(room) = out.get_mut(count_bytes..) else { return (0, 0, 0) };
        let mut writer = BitWriter::new(room);
        let row = self.cache.find(key).map_or(&[][..], |row| self.cache.codes(row));
        let mut baselines = Baselines::new(Some(key.ages()));
        scribe.rows.begin(peer.held.kinds());
        scribe.runs.reserve(peer.held.pages.len());
        let stake = scribe.tally.stake();
        let (mut next, mut count, mut is_full) = (0u32, 0, false);
        let mut from = 0;
        while let Some(at) = peer.held.pages.next_busy(from).filter(|_| !is_full) {
            from = at + 1;
            let page = peer.held.pages[at];
            let shared = if is_common { page.uniform & !page.special } else { 0 };
            let (mut waiting, mut skipped) = (page.chosen, 0u64);
            while waiting != 0 {
                // Those up to the next one that has other baselines go in one go.
                let others = waiting & !shared;
                let run = waiting & (others & others.wrapping_neg()).wrapping_sub(1);
                let run = if stake == 0 { run } else { run & run.wrapping_neg() };
                let bits_before = writer.bit_len();
                let after = next.wrapping_sub(at as u32 * 64);
                let names =
                    if run & !page.own == 0 { Names::Own } else { Names::Of(peer.held.pages.objects(at)) };
                let run_key = RunKey { tick, baselines: key, slots: run, after };
                let left = self.write_run(run_key, at, names, row, &mut scribe.runs, &mut writer);
                if run != left {
                    next = at as u32 * 64 + 64 - (run & !left).leading_zeros();
                }
                waiting &= left | !run;
                if stake != 0 && run != left {
                    let slot = at * 64 + run.trailing_zeros() as usize;
                    self.count(peer, slot, writer.bit_len() - bits_before, stake, &mut scribe.tally);
                    continue;
                }
                if left == 0 && others == 0 {
                    break;
                }
                // One that is not as most are, or for which there may be no room.
                let bit = waiting.trailing_zeros();
                let slot = at * 64 + bit as usize;
                match self.write_other(peer, scribe, slot, slot as u32 - next, &mut writer, &mut baselines) {
                    Outcome::Written => {
                        next = slot as u32 + 1;
                        self.count(peer, slot, writer.bit_len() - bits_before, stake, &mut scribe.tally);
                    }
                    Outcome::Skipped => skipped |= 1 << bit,
                    Outcome::Full => {
                        is_full = true;
                        break;
                    }
                }
                waiting &= waiting - 1;
            }
            let written = page.chosen & !waiting & !skipped;
            count += written.count_ones() as usize;
            peer.handle_written(at, written, self.cadence);
        }
        let bits = writer.bit_len();
        let bytes = writer.finish().unwrap_or(0);
        if count == 0 {
            return (0, 0, bits);
        }
        // Counted when less fits than was expected, and then perhaps shorter.
        let length = varint::len(count as u64);
        if length < count_bytes {
            out.copy_within(count_bytes..count_bytes + bytes, length);
        }
        let written = varint::write(count as u64, out).unwrap_or(0);
        (written + bytes, count, bits)
    }

    /// Counts an update of a snapshot that is taken apart, or else nothing.
    #[inline]
    fn count(&self, peer: &Peer, slot: usize, bits: usize, stake: u32, tally: &mut Tally) {
        if stake != 0
            && let Some(object) = self.present.world.at(peer.held.pages.object(slot))
        {
            tally.count_update(object.class_id(), bits, stake);
        }
    }

    /// Writes the updates of some slots of a page that have the common baselines, as far as there is room; returns those
    /// that are left.
    #[inline]
    fn write_run(
        &self,
        run: RunKey,
        at: usize,
        names: Names<'_>,
        row: &[u64],
        runs: &mut Runs,
        writer: &mut BitWriter<'_>,
    ) -> u64 {
        let Names::Of(objects) = names else {
            let codes = row.get(at * 64..).unwrap_or_default();
            let code_of = |bit: usize| codes.get(bit).copied();
            let put = |writer: &mut BitWriter<'_>| self.put_run(run, code_of, writer);
            if run.is_long()
                && let Some((bytes, bits)) = runs.find(at, run, |writer| put(writer) == 0)
                && bits <= writer.remaining_bits()
            {
                writer.append_slice(bytes, bits);
                return 0;
            }
            return put(writer);
        };
        self.put_run(run, |bit| row.get(objects[bit & 63] as usize).copied(), writer)
    }

    /// The same with the code of each slot.
    #[inline]
    fn put_run(
        &self,
        run: RunKey,
        code_of: impl Fn(usize) -> Option<u64>,
        writer: &mut BitWriter<'_>,
    ) -> u64 {
        let (mut left, mut after) = (run.slots, run.after);
        loop {
            writer.append_many(std::iter::from_fn(|| {
                if left == 0 {
                    return None;
                }
                let bit = left.trailing_zeros();
                let entry = code_of(bit as usize)?;
                let (prefix, prefix_length) = self.gaps.with_common(bit.wrapping_sub(after))?;
                let length = (entry >> SmallCode::BITS_MAX) as u32;
                if length.wrapping_sub(1) >= SmallCode::BITS_MAX - prefix_length {
                    return None;
                }
                left &= left - 1;
                after = bit + 1;
                Some((SmallCode(entry).bits() << prefix_length | prefix, prefix_length + length))
            }));
            if left == 0 || !self.put_long(left.trailing_zeros(), after, &code_of, writer) {
                return left;
            }
            after = left.trailing_zeros() + 1;
            left &= left - 1;
        }
    }

    /// Writes the update of one slot of a run, if its code is long and there is room.
    #[inline]
    fn put_long(
        &self,
        bit: u32,
        after: u32,
        code_of: &impl Fn(usize) -> Option<u64>,
        writer: &mut BitWriter<'_>,
    ) -> bool {
        let stored = code_of(bit as usize).map(|entry| stored_code(entry, self.encoders));
        let Some(Code::Long(bytes, length)) = stored else { return false };
        let Some((prefix, prefix_length)) = self.gaps.with_common(bit.wrapping_sub(after)) else {
            return false;
        };
        let fits = prefix_length as usize + length <= writer.remaining_bits();
        if fits {
            writer.append_bits(prefix, prefix_length);
            writer.append_slice(bytes, length);
        }
        fits
    }

    /// Writes an update that builds on other baselines than the ones before it, or that no run holds.
    #[inline(never)]
    fn write_other(
        &self,
        peer: &mut Peer,
        scribe: &mut Scribe,
        slot: usize,
        gap: u32,
        writer: &mut BitWriter<'_>,
        baselines: &mut Baselines,
    ) -> Outcome {
        let object = peer.held.pages.object(slot);
        let (at, bit) = place(slot);
        let page = &peer.held.pages[at];
        let kind = ((page.uniform | page.special) & bit == 0).then(|| peer.held.pages.kind(slot));
        let codes = self.present.codes;
        if let Some(row) = kind.and_then(|kind| scribe.rows.get(kind)) {
            let entry = self.cache.codes(row).get(object).copied().unwrap_or(0);
            let length = (entry >> SmallCode::BITS_MAX) as u32;
            let mut after = *baselines;
            let (prefix, prefix_length) = marked(codes, gap, after.mark(self.cache.ages(row)));
            if length.wrapping_sub(1) < SmallCode::BITS_MAX - prefix_length {
                let bits = SmallCode(entry).bits() << prefix_length | prefix;
                if !writer.try_append(bits, prefix_length + length) {
                    return Outcome::Full;
                }
                *baselines = after;
                return Outcome::Written;
            }
        }
        let Some(key) = peer.key(slot, self.present.tick) else {
            peer.tell_anew(slot as u16);
            return Outcome::Skipped;
        };
        let row = self.cache.find(key);
        if let Some((kind, row)) = kind.zip(row) {
            scribe.rows.set(kind, row);
        }
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
        if writer.remaining_bits() < (GAP_BITS_MAX + Baselines::MARK_BITS_MAX) as usize + length {
            return Outcome::Full;
        }
        let (prefix, prefix_length) = marked(codes, gap, baselines.mark(key.ages()));
        writer.append_bits(prefix, prefix_length);
        match code {
            Code::Short(bits, length) => writer.append_bits(bits, length),
            Code::Long(bytes, length) => writer.append_slice(bytes, length),
            Code::NoBaseline | Code::NoRoom => {}
        }
        Outcome::Written
    }
}

/// Which objects the slots of a page name.
#[derive(Clone, Copy)]
enum Names<'a> {
    /// Those of the same number.
    Own,
    Of(&'a [u32; 64]),
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
        let first = self.held.pages.chosen().next()?;
        let is_shared = self.held.pages.chosen().any(|(_, page)| page.chosen & page.uniform != 0);
        let pair = match is_shared {
            true => self.held.common,
            false => self.held.pair(first.0 * 64 + first.1.chosen.trailing_zeros() as usize),
        };
        let (newer, older) = pair.ages(tick)?;
        Some((newer.into(), (older > 0).then_some(older.into())))
    }

    /// These updates of a page are in the snapshot: they start again at zero.
    #[inline]
    fn handle_written(&mut self, at: usize, written: u64, cadence: &Cadence) {
        let page = &mut self.held.pages[at];
        page.chosen &= !written;
        page.dirty &= !written;
        self.flights.note_updates(at, written);
        if self.outlook.has_accounts {
            self.accounts.reset_all(at, written);
        }
        if *cadence != Cadence::EVERY_TICK {
            ones(written).for_each(|bit| self.phases.sent(&[(at * 64 + bit) as u16], cadence));
        }
    }

    /// A snapshot went out.
    fn handle_sent(&mut self, bytes: usize) {
        self.outlook.budget_left -= bytes;
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::BaselineUnacked) {
            let (flights, tick) = (&self.flights, self.flights.newest_tick());
            self.held.handle_acked(|at| flights.newest_updates(at), tick);
        }
        if let Some(lost) = self.flights.overdue() {
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

//! One object as a client holds it.

use netloom_wire::schema::{Audience, Value};
use netloom_wire::{Alias, Profile, SectorOrigin, Tick};

use crate::class::Class;
use crate::codec::Blobs;
use crate::entry::{Entry, value_of};
use crate::limits::{VERSIONS_KEPT, WORDS_MAX};

/// An object, with the states of it that arrived.
///
/// In this order in memory: what every state needs that arrives comes first and lies together. The ticks of rows and when it
/// had jumped are not looked at while states of consecutive ticks arrive (a *streak*) and while it never jumped: they fill
/// six lines of memory, and reading a state takes six without them.
#[derive(Debug)]
#[repr(C)]
pub struct ClientObject {
    words: Vec<i32>,
    /// Rows are a ring in the order of their ticks, which ends with the newest.
    word_count: u16,
    newest: u8,
    count: u8,
    /// How many ticks before the newest had a state each, without a gap.
    streak: u8,
    /// One that left is kept until its slot is used again: late snapshots still have to be read past it.
    is_in_sight: bool,
    /// Whether any row says when it had jumped.
    has_jumped: bool,
    /// The tick of the newest state, and of what was the newest before.
    latest: Tick,
    before: Option<Tick>,
    /// The tick of the entry: nothing older can be read.
    entered: Tick,
    entry: Entry,
    contents: Vec<Vec<u8>>,
    /// The tick of each row, but for those of a streak.
    ticks: [Tick; VERSIONS_KEPT],
    /// When it had jumped last, by row.
    jumps: [Option<Tick>; VERSIONS_KEPT],
}

/// The longest streak of which all is kept.
const STREAK_MAX: u8 = VERSIONS_KEPT as u8 - 1;

const _: () = assert!(VERSIONS_KEPT <= u8::MAX as usize && WORDS_MAX <= u16::MAX as usize);

/// A state of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept<'a> {
    pub words: &'a [i32],
    /// When it had jumped last.
    pub jumped: Option<Tick>,
}

impl ClientObject {
    pub(super) fn new(entry: Entry, tick: Tick, class: &Class, words: &[i32]) -> ClientObject {
        let word_count = class.word_count();
        let mut object = ClientObject {
            words: vec![0; VERSIONS_KEPT * word_count],
            word_count: word_count as u16,
            newest: 0,
            count: 0,
            streak: 0,
            is_in_sight: true,
            has_jumped: false,
            latest: tick,
            before: None,
            entered: tick,
            entry,
            contents: vec![Vec::new(); class.fields().len()],
            ticks: [tick; VERSIONS_KEPT],
            jumps: [None; VERSIONS_KEPT],
        };
        object.insert(tick, &words[..word_count], entry.jump_age.map(|age| tick_before(tick, age)));
        object
    }

    /// What it is called on this connection.
    pub fn alias(&self) -> Alias {
        self.entry.alias
    }

    /// The number of its kind.
    pub fn class(&self) -> u8 {
        self.entry.class
    }

    /// What this client is to it.
    pub fn audience(&self) -> Audience {
        self.entry.audience
    }

    /// The slot of what it is attached to.
    pub fn parent(&self) -> Option<u16> {
        self.entry.parent
    }

    /// How its transform is quantized.
    pub fn profile(&self) -> Profile {
        self.entry.profile
    }

    /// What its position is relative to.
    pub fn origin(&self) -> SectorOrigin {
        self.entry.origin
    }

    /// Its newest words.
    pub fn words(&self) -> &[i32] {
        self.row(self.newest.into())
    }

    /// The tick of its newest state.
    pub fn tick(&self) -> Tick {
        self.latest
    }

    /// When it jumped last, up to its newest state; `None` if it did not since it came into sight.
    pub fn jumped(&self) -> Option<Tick> {
        self.jumped_at(self.newest.into())
    }

    /// Whether it jumped on the way to its newest state from the one before. Whoever does not look at every state asks
    /// [`jumped_since`](ClientObject::jumped_since) the last one that it saw.
    pub fn teleported(&self) -> bool {
        self.before.is_some_and(|before| self.jumped_since(before))
    }

    /// Whether it jumped after `tick`: then it must not be moved smoothly from where it was to where it is.
    pub fn jumped_since(&self, tick: Tick) -> bool {
        self.jumped().is_some_and(|jumped| jumped.is_newer_than(tick))
    }

    /// The words that were in force at a tick, as far as they arrived: those of the newest kept state that is not newer.
    /// `None` if the object was not there yet, or those states are forgotten.
    pub fn words_at(&self, tick: Tick) -> Option<&[i32]> {
        let mut rows = (0..self.count()).filter(|back| !self.tick_before_newest(*back).is_newer_than(tick));
        rows.next().map(|back| self.row(self.row_before_newest(back)))
    }

    /// The newest value of a field.
    pub fn value(&self, class: &Class, field: usize) -> Option<Value<'_>> {
        let words = class.fields().get(field)?;
        Some(value_of(words, self.words(), self.entry.profile, self.contents.get(field)?))
    }

    /// Whether an entry says what is known already, the words apart.
    pub(super) fn is_same(&self, entry: &Entry) -> bool {
        self.is_in_sight && Entry { jump_age: self.entry.jump_age, ..*entry } == self.entry
    }

    pub(super) fn is_in_sight(&self) -> bool {
        self.is_in_sight
    }

    pub(super) fn entered(&self) -> Tick {
        self.entered
    }

    pub(super) fn leave(&mut self) {
        self.is_in_sight = false;
    }

    /// The state that a snapshot of this tick brought.
    #[inline]
    pub(super) fn state_at(&self, tick: Tick) -> Option<Kept<'_>> {
        let back = self.latest.0.wrapping_sub(tick.0) as usize;
        // Objects that move have a state of every tick.
        let back = match back <= self.streak.into() {
            true => back,
            false => (0..self.count()).find(|back| self.tick_before_newest(*back) == tick)?,
        };
        let row = self.row_before_newest(back);
        Some(Kept { words: self.row(row), jumped: self.jumped_at(row) })
    }

    /// The first words of the state of a tick, if it is of the streak, and of the row that the next state is written to.
    #[inline]
    pub(super) fn peek(&self, tick: Tick) -> [Option<i32>; 2] {
        let back = self.latest.0.wrapping_sub(tick.0) as usize;
        let first = |back: usize| {
            self.words.get(self.row_before_newest(back) * usize::from(self.word_count)).copied()
        };
        [first(back % VERSIONS_KEPT), first(VERSIONS_KEPT - 1)]
    }

    /// Keeps a state, and when it had jumped last. The oldest gives way; the newest is what the game sees.
    pub(super) fn insert(&mut self, tick: Tick, words: &[i32], jumped: Option<Tick>) {
        let is_first = self.count == 0;
        let is_late = !is_first && !tick.is_newer_than(self.latest);
        #[cfg(netloom_mutations)]
        let is_late = is_late && !crate::mutation::is(crate::mutation::Mutation::OlderStateShown);
        if is_late {
            return self.insert_late(tick, words, jumped);
        }
        let follows = !is_first && tick == self.latest.next();
        if !is_first {
            if !follows {
                self.end_streak();
            }
            self.before = Some(self.latest);
            self.newest = (self.newest + 1) % VERSIONS_KEPT as u8;
        }
        self.streak = if follows { (self.streak + 1).min(STREAK_MAX) } else { 0 };
        self.latest = tick;
        self.count = (self.count + 1).min(VERSIONS_KEPT as u8);
        self.set_row(self.newest.into(), words, jumped);
    }

    /// Keeps a state that came after newer ones: those make room for it, so that rows stay in the order of ticks.
    fn insert_late(&mut self, tick: Tick, words: &[i32], jumped: Option<Tick>) {
        let is_newer = |back: &usize| self.tick_before_newest(*back).is_newer_than(tick);
        let newer = (0..self.count()).take_while(is_newer).count();
        let is_known = newer < self.count() && self.tick_before_newest(newer) == tick;
        if is_known || newer == VERSIONS_KEPT {
            return;
        }
        self.end_streak();
        self.newest = (self.newest + 1) % VERSIONS_KEPT as u8;
        self.count = (self.count + 1).min(VERSIONS_KEPT as u8);
        for back in 0..newer {
            let (to, from) = (self.row_before_newest(back), self.row_before_newest(back + 1));
            (self.ticks[to], self.jumps[to]) = (self.ticks[from], self.jumps[from]);
            let word_count = usize::from(self.word_count);
            let start = from * word_count;
            self.words.copy_within(start..start + word_count, to * word_count);
        }
        let row = self.row_before_newest(newer);
        self.ticks[row] = tick;
        self.set_row(row, words, jumped);
    }

    /// Writes the ticks of a streak down.
    fn end_streak(&mut self) {
        for back in 0..=std::mem::take(&mut self.streak) {
            self.ticks[self.row_before_newest(back.into())] = Tick(self.latest.0.wrapping_sub(back.into()));
        }
    }

    fn set_row(&mut self, row: usize, words: &[i32], jumped: Option<Tick>) {
        self.has_jumped |= jumped.is_some();
        if self.has_jumped {
            self.jumps[row] = jumped;
        }
        let start = row * usize::from(self.word_count);
        self.words[start..start + usize::from(self.word_count)].copy_from_slice(words);
    }

    fn count(&self) -> usize {
        self.count.into()
    }

    #[inline]
    fn row_before_newest(&self, back: usize) -> usize {
        (usize::from(self.newest) + VERSIONS_KEPT - back) % VERSIONS_KEPT
    }

    /// The tick of a row that is kept.
    fn tick_before_newest(&self, back: usize) -> Tick {
        match back <= self.streak.into() {
            true => tick_before(self.latest, back as u32),
            false => self.ticks[self.row_before_newest(back)],
        }
    }

    #[inline]
    fn jumped_at(&self, row: usize) -> Option<Tick> {
        if self.has_jumped { self.jumps[row] } else { None }
    }

    pub(super) fn set_content(&mut self, field: usize, content: &[u8]) {
        if let Some(kept) = self.contents.get_mut(field) {
            kept.clear();
            kept.extend_from_slice(content);
        }
    }

    /// Takes over what the same object was told reliably before this entry of it, as far as it may still be seen, and from
    /// when its last state was.
    pub(super) fn inherit(&mut self, before: &mut ClientObject, class: &Class) {
        if before.entry.alias != self.entry.alias || before.entry.class != self.entry.class {
            return;
        }
        self.before = Some(before.tick());
        let fields = class.reliable(self.audience());
        let pairs = self.contents.iter_mut().zip(&mut before.contents).enumerate();
        for (_, (kept, content)) in pairs.filter(|(field, _)| fields >> field & 1 != 0) {
            std::mem::swap(kept, content);
        }
    }

    #[inline]
    fn row(&self, row: usize) -> &[i32] {
        let word_count = usize::from(self.word_count);
        &self.words[row * word_count..(row + 1) * word_count]
    }
}

/// The tick so many before another.
pub(super) fn tick_before(tick: Tick, age: u32) -> Tick {
    Tick(tick.0.wrapping_sub(age))
}

impl Blobs for ClientObject {
    fn blob(&self, field: usize) -> &[u8] {
        self.contents.get(field).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use netloom_wire::Schema;
    use netloom_wire::schema::{FieldKind, SyncFlags};
    use proptest::prelude::*;

    use super::*;

    fn object() -> (ClientObject, Class) {
        let health = FieldKind::int(0, 1_000_000).unwrap();
        let schema =
            Schema::builder("thing").field("health", health, SyncFlags::PUBLIC_SYNC, 1).build().unwrap();
        let class = Class::new(schema).unwrap();
        let entry = Entry {
            alias: Alias { slot: 0, generation: 0 },
            class: 0,
            audience: Audience::Public,
            parent: None,
            profile: Profile::Standard,
            origin: SectorOrigin::default(),
            jump_age: None,
        };
        (ClientObject::new(entry, Tick(1_000), &class, &[1_000]), class)
    }

    proptest! {
        #[test]
        fn the_newest_states_are_kept_in_whatever_order_they_come(
            ticks in prop::collection::vec(960u32..1_100, 0..120),
        ) {
            let (mut object, _) = object();
            let mut model = BTreeMap::from([(1_000, 1_000)]);
            for tick in ticks {
                object.insert(Tick(tick), &[tick as i32], Some(Tick(tick - 7)));
                let oldest = *model.keys().next().unwrap();
                if model.len() < VERSIONS_KEPT || tick > oldest {
                    model.insert(tick, tick as i32);
                }
                if model.len() > VERSIONS_KEPT {
                    model.pop_first();
                }
                prop_assert_eq!(object.tick().0, *model.keys().last().unwrap());
            }
            for tick in 950..1_110 {
                let kept = object.state_at(Tick(tick));
                prop_assert_eq!(kept.map(|kept| kept.words[0]), model.get(&tick).copied());
                let jumped = kept.and_then(|kept| kept.jumped);
                prop_assert!(jumped.is_none_or(|jumped| jumped == Tick(tick - 7)));
                let in_force = object.words_at(Tick(tick)).map(|words| words[0]);
                prop_assert_eq!(in_force, model.range(..=tick).next_back().map(|(_, words)| *words));
            }
        }
    }
}

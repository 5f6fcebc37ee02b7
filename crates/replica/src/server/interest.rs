//! Who sees what: the objects that matter to each viewer, and those it may know about.
//!
//! Sending everything to everyone costs the square of the players, and it tells a cheat where everybody hides. So
//! every viewer has a set of objects, and nothing outside that set is ever encoded for it. Three questions decide:
//!
//! 1. *May it know?* [`VisibleTo`] restricts an object to a team or to groups. No distance overrules that.
//! 2. *Is it always relevant?* A viewer's own objects, and objects whose radius is infinite.
//! 3. *Is it near?* Under [`Policy::Grid`], by distance, with two radii so that nothing flickers at the border:
//!
//! ```text
//!   viewer ├───────── radius ─────────┤─ margin ─┤
//!          │ enters here              │ stays    │ leaves, once it was seen for `dwell_ticks`
//! ```
//!
//! An object may have a radius of its own, narrower or wider than the grid's. Wider ones are checked by every viewer.
//!
//! **Time.** [`Interest`] takes moves as they happen, each O(1). After the moves of a tick, [`Interest::settle`]. Then
//! [`Interest::update`] for each viewer, which reads only, so that workers can share the work, each with its own
//! [`Scratch`]. A viewer looks around the grid every `refresh_ticks`, staggered; what must not wait (an object is gone,
//! or hidden now) is taken out of its set in the same tick.

mod audience;
mod grid;
mod marks;
#[cfg(test)]
mod tests;
mod visible;

use netloom_wire::Tick;

pub use audience::{Membership, VisibleTo};
pub use visible::{Changes, VisibleSet};

use crate::limits::OBJECTS_MAX;
use crate::setting::SettingError;
use grid::Grid;
use marks::Marks;
use visible::Entry;

/// Beyond so many touched objects a merge is cheaper than asking for each of them whether it matters.
const TOUCHED_ASKED_MAX: usize = 64;

/// How the objects of a viewer are chosen from those it may know.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Policy {
    /// All of them: for worlds of a few hundred objects.
    #[default]
    Everyone,
    /// Those near it.
    Grid(GridConfig),
    /// Those that the game names, see [`Interest::update_to`].
    Custom,
}

/// The axes along which distance counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// A plane, z being height: the top of a tower is as near as its foot.
    #[default]
    Xy,
    /// A plane, y being height.
    Xz,
    /// Space.
    Xyz,
}

impl Axes {
    fn project(self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        match self {
            Axes::Xy => [x, y, 0.0],
            Axes::Xz => [x, z, 0.0],
            Axes::Xyz => [x, y, z],
        }
    }
}

/// Interest by distance.
#[derive(Clone, Debug, PartialEq)]
pub struct GridConfig {
    /// Edge of a cell. Cells much smaller than the radius cost more than they save.
    pub cell_metres: f32,
    /// Along which axes distance is measured.
    pub axes: Axes,
    /// An object enters at this distance, if it has no radius of its own.
    pub radius_metres: f32,
    /// It leaves this much farther out.
    pub leave_margin_metres: f32,
    /// It stays at least so long, whatever its distance.
    pub dwell_ticks: u32,
    /// A viewer looks around once in so many ticks.
    pub refresh_ticks: u32,
}

impl Default for GridConfig {
    fn default() -> GridConfig {
        GridConfig {
            cell_metres: 50.0,
            axes: Axes::Xy,
            radius_metres: 120.0,
            leave_margin_metres: 5.0,
            dwell_ticks: 10,
            refresh_ticks: 4,
        }
    }
}

impl GridConfig {
    fn check(&self) -> Result<(), SettingError> {
        SettingError::check("cell_metres", self.cell_metres, 0.01..=1e6, "0.01 to 1,000,000")?;
        SettingError::check("radius_metres", self.radius_metres, 0.01..=1e6, "0.01 to 1,000,000")?;
        SettingError::check("leave_margin_metres", self.leave_margin_metres, 0.0..=1e6, "0 to 1,000,000")?;
        SettingError::check("dwell_ticks", self.dwell_ticks, 0..=100_000, "0 to 100,000")?;
        SettingError::check("refresh_ticks", self.refresh_ticks, 1..=1_000, "1 to 1,000")
    }
}

/// What interest knows of an object.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// Where it is.
    pub position: [f32; 3],
    /// From how far it is seen: 0 for the policy's radius, infinity for always.
    pub radius_metres: f32,
    /// Who may see it.
    pub visible_to: VisibleTo,
}

/// Who looks.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'a> {
    /// Any number of its own; it decides in which ticks this viewer looks around.
    pub number: u32,
    /// Where it looks from.
    pub position: [f32; 3],
    /// Where it belongs.
    pub membership: Membership,
    /// The objects that it owns, in any order. After a change of owner call [`Interest::touch`].
    pub owned: &'a [u32],
}

/// Buffers of an update. One per worker; their content means nothing between updates.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    marks: Marks,
    hits: Vec<u32>,
    next: Vec<Entry>,
}

/// Where all objects are, and who may see them.
#[derive(Clone, Debug)]
pub struct Interest {
    policy: Policy,
    grid: Option<Grid>,
    visible_to: Vec<VisibleTo>,
    radii_metres: Vec<f32>,
    /// Which object stands at an index: a number that no earlier one there had.
    births: Vec<u32>,
    births_given: u32,
    touched: Vec<u32>,
    touched_before_settling: Vec<u32>,
    round: u32,
    /// Whether any object was ever kept from anyone.
    has_hidden: bool,
}

impl Interest {
    /// An empty world under a policy.
    pub fn new(policy: Policy) -> Result<Interest, SettingError> {
        let grid = match &policy {
            Policy::Grid(config) => {
                config.check()?;
                Some(Grid::new(config))
            }
            Policy::Everyone | Policy::Custom => None,
        };
        Ok(Interest {
            policy,
            grid,
            visible_to: Vec::new(),
            radii_metres: Vec::new(),
            births: Vec::new(),
            births_given: 0,
            touched: Vec::new(),
            touched_before_settling: Vec::new(),
            round: 0,
            has_hidden: false,
        })
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether any object was ever kept from anyone.
    pub fn has_hidden(&self) -> bool {
        self.has_hidden
    }

    /// Whether it matters where objects are.
    pub fn asks_where(&self) -> bool {
        self.grid.is_some()
    }

    /// A new object at an index. If one was there it is gone.
    pub fn insert(&mut self, object: u32, placement: Placement) -> Result<(), SettingError> {
        SettingError::check("object", object, 0..=OBJECTS_MAX as u32 - 1, "0 to 1,048,575")?;
        SettingError::check("radius_metres", placement.radius_metres, 0.0..=f32::INFINITY, "0 or more")?;
        let index = object as usize;
        if self.visible_to.len() <= index {
            self.visible_to.resize(index + 1, VisibleTo::Nobody);
            self.radii_metres.resize(index + 1, 0.0);
            self.births.resize(index + 1, 0);
        }
        self.births_given = self.births_given.wrapping_add(1);
        self.births[index] = self.births_given;
        self.visible_to[index] = placement.visible_to;
        self.has_hidden |= placement.visible_to != VisibleTo::Everyone;
        self.radii_metres[index] = placement.radius_metres;
        self.touch(object);
        self.set_position(object, placement.position);
        Ok(())
    }

    /// The object at an index is gone.
    pub fn remove(&mut self, object: u32) {
        if let Some(visible_to) = self.visible_to.get_mut(object as usize) {
            *visible_to = VisibleTo::Nobody;
            self.touch(object);
        }
        if let Some(grid) = &mut self.grid {
            grid.remove(object);
        }
    }

    /// An object moved. From a position that is not finite it is near nothing.
    pub fn set_position(&mut self, object: u32, position: [f32; 3]) {
        if let (Some(grid), Some(radius)) = (&mut self.grid, self.radii_metres.get(object as usize)) {
            grid.put(object, position, *radius);
        }
    }

    /// An object is seen from another distance. Its position comes along, because moving is how a grid takes notice.
    pub fn set_radius(
        &mut self,
        object: u32,
        radius_metres: f32,
        position: [f32; 3],
    ) -> Result<(), SettingError> {
        SettingError::check("radius_metres", radius_metres, 0.0..=f32::INFINITY, "0 or more")?;
        if let Some(radius) = self.radii_metres.get_mut(object as usize) {
            *radius = radius_metres;
            self.set_position(object, position);
        }
        Ok(())
    }

    /// Others may see an object now.
    pub fn set_visible_to(&mut self, object: u32, visible_to: VisibleTo) {
        if let Some(before) = self.visible_to.get_mut(object as usize) {
            *before = visible_to;
            self.has_hidden |= visible_to != VisibleTo::Everyone;
            self.touch(object);
        }
    }

    /// Judges an object again for every viewer in the next round, as after a change of owner.
    pub fn touch(&mut self, object: u32) {
        self.touched_before_settling.push(object);
    }

    /// Ends the changes of a tick. Updates see everything up to here.
    pub fn settle(&mut self) {
        self.touched.clear();
        std::mem::swap(&mut self.touched, &mut self.touched_before_settling);
        self.round = self.round.wrapping_add(1);
        if let Some(grid) = &mut self.grid {
            grid.settle();
        }
    }

    /// Brings a viewer's set up to date and says what changed. Call it in every round, or in some: after a gap the
    /// viewer looks at everything.
    pub fn update(
        &self,
        viewer: &Viewer<'_>,
        tick: Tick,
        scratch: &mut Scratch,
        set: &mut VisibleSet,
        changes: &mut Changes,
    ) {
        let now = (viewer.membership, self.round);
        let was = set.judged.replace(now);
        let follows = was == Some(now) || was == Some((viewer.membership, self.round.wrapping_sub(1)));
        let looks = match &self.policy {
            Policy::Everyone => !follows,
            Policy::Grid(config) => {
                !follows || tick.0.wrapping_add(viewer.number).is_multiple_of(config.refresh_ticks)
            }
            Policy::Custom => false,
        };
        let is_right = follows
            && self.touched.len() <= TOUCHED_ASKED_MAX
            && !self.touched.iter().any(|object| self.is_judged_anew(viewer, set, *object));
        changes.clear();
        if looks {
            self.find(viewer, &[], scratch);
            if !(is_right && set.agrees(&mut scratch.marks)) {
                self.merge_found(viewer, tick, scratch, set, changes);
            }
        } else if !is_right {
            self.follow(viewer, tick, scratch, set, changes);
        }
    }

    /// The same with objects that the game names, in any order, beside those that the policy finds. Those that the
    /// viewer may not know are left out.
    pub fn update_to(
        &self,
        named: &[u32],
        viewer: &Viewer<'_>,
        tick: Tick,
        scratch: &mut Scratch,
        set: &mut VisibleSet,
        changes: &mut Changes,
    ) {
        set.judged = Some((viewer.membership, self.round));
        changes.clear();
        self.find(viewer, named, scratch);
        self.merge_found(viewer, tick, scratch, set, changes);
    }

    /// Marks everything that the policy can find.
    fn find(&self, viewer: &Viewer<'_>, named: &[u32], scratch: &mut Scratch) {
        let Scratch { marks, hits, .. } = scratch;
        marks.reserve(self.visible_to.len());
        let admits = |object: u32| self.may_know(viewer, object);
        if let Some(grid) = &self.grid {
            let count = grid.near(viewer.position, hits);
            match self.has_hidden {
                true => marks.mark_all(hits[..count].iter().filter(|hit| admits(**hit >> 1))),
                false => marks.mark_all(hits[..count].iter()),
            }
            grid.always()
                .iter()
                .filter(|object| admits(**object))
                .for_each(|object| marks.mark(*object, true));
        }
        if matches!(self.policy, Policy::Everyone) {
            let everything = 0..self.visible_to.len() as u32;
            everything.filter(|object| admits(*object)).for_each(|object| marks.mark(object, true));
        }
        for object in viewer.owned.iter().chain(named).filter(|object| self.may_see(viewer, **object)) {
            marks.mark(*object, true);
        }
    }

    /// Merges what was marked into a set.
    fn merge_found(
        &self,
        viewer: &Viewer<'_>,
        tick: Tick,
        scratch: &mut Scratch,
        set: &mut VisibleSet,
        changes: &mut Changes,
    ) {
        let dwell_ticks = match &self.policy {
            Policy::Grid(config) => config.dwell_ticks,
            Policy::Everyone | Policy::Custom => 0,
        };
        let stays =
            |entry: &Entry| tick.0.wrapping_sub(entry.since.0) < dwell_ticks && self.is_still(viewer, entry);
        set.merge(&mut scratch.marks, &self.births, tick, stays, &mut scratch.next, changes);
    }

    /// Whether an object that was touched enters or leaves a set that was right before.
    fn is_judged_anew(&self, viewer: &Viewer<'_>, set: &VisibleSet, object: u32) -> bool {
        let birth = self.may_see(viewer, object).then(|| self.births[object as usize]);
        match set.birth(object) {
            Some(seen) => birth != Some(seen),
            None => birth.is_some() && matches!(self.policy, Policy::Everyone),
        }
    }

    /// Takes out what a viewer may no longer see and, if it sees everything that it may, takes in what was touched.
    fn follow(
        &self,
        viewer: &Viewer<'_>,
        tick: Tick,
        scratch: &mut Scratch,
        set: &mut VisibleSet,
        changes: &mut Changes,
    ) {
        let Scratch { marks, next, .. } = scratch;
        marks.reserve(self.visible_to.len());
        if matches!(self.policy, Policy::Everyone) {
            let permitted = self.touched.iter().filter(|object| self.may_see(viewer, **object));
            permitted.for_each(|object| marks.mark(*object, true));
        }
        set.merge(marks, &self.births, tick, |entry| self.is_still(viewer, entry), next, changes);
    }

    #[inline]
    fn audience(&self, object: u32) -> VisibleTo {
        self.visible_to.get(object as usize).copied().unwrap_or(VisibleTo::Nobody)
    }

    /// Whether a viewer may see an object that it does not own.
    #[inline]
    fn may_know(&self, viewer: &Viewer<'_>, object: u32) -> bool {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::HiddenSent) {
            return self.births.get(object as usize).is_some_and(|birth| *birth != 0);
        }
        self.audience(object).admits(viewer.membership)
    }

    fn may_see(&self, viewer: &Viewer<'_>, object: u32) -> bool {
        let is_hidden = self.audience(object) == VisibleTo::Nobody;
        self.may_know(viewer, object) || (!is_hidden && viewer.owned.contains(&object))
    }

    fn is_still(&self, viewer: &Viewer<'_>, entry: &Entry) -> bool {
        self.births[entry.object as usize] == entry.birth && self.may_see(viewer, entry.object)
    }
}

//! Which objects are near a point, without asking all of them.
//!
//! The world is cut into cells. The objects of a cell lie side by side in one array of lanes, and so do the cells of
//! one row, so that a look at a disc is one straight read per row of cells. The world has no known size, so cells are
//! laid onto a ring of buckets:
//!
//! ```text
//!  cells            bucket of (a, b, c) = (a + b × stride b + c × stride c) mod buckets
//!  ┌──┬──┬──┬──┐
//!  │  │▒▒│▒▒│  │ b=1       starts  0   2   2   5   6 …
//!  ├──┼──┼──┼──┤                   │   └─┬─┘   │
//!  │  │▒▒│▒▒│  │ b=0 ────▶ lanes  [A B][C D E][F][G …]   one read per row of cells
//!  └──┴──┴──┴──┘                       └──▒▒──┘
//! ```
//!
//! If the cells in use fit on the ring, strides make it exactly their box. If not (a few objects far out, a long thin
//! world), strides scatter the rows: two rows may then share a bucket. That costs a look some lanes, never a wrong
//! answer, for every lane is measured exactly.
//!
//! An object that moves within its cell changes its lane. One that changes its cell, or is new, goes to a list that
//! every look reads whole, and leaves a hole behind. When enough have done so the lanes are laid out anew, but only
//! after as many moves as an eighth of the objects: that is what makes a move cost O(1), however it is done.

use super::{Axes, GridConfig};

/// Strays and holes that are not worth a new layout.
const STALE_TOLERATED: usize = 32;

/// Strides that scatter rows which do not fit: odd and far from each other's multiples.
const STRIDES_SCATTERED: [u32; 2] = [0x9E37_79B1, 0x85EB_CA6B];

/// A radius beyond which squares of distances are no longer singles: everywhere.
const ALWAYS_METRES: f32 = 1e18;

/// An object where it is looked at.
#[derive(Clone, Copy, Debug)]
struct Lane {
    position: [f32; 3],
    object: u32,
    enter_squared: f32,
    leave_squared: f32,
}

impl Lane {
    /// Its distance from anything is NaN, which is never near.
    const HOLE: Lane =
        Lane { position: [f32::NAN; 3], object: u32::MAX, enter_squared: 0.0, leave_squared: 0.0 };

    fn is_hole(&self) -> bool {
        self.object == u32::MAX
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Not in the grid.
    Nowhere,
    /// In a lane of its cell.
    Laid(u32),
    /// In the list that every look reads.
    Loose(u32),
    /// Seen from everywhere.
    Always(u32),
}

/// Where all objects are.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    axes: Axes,
    cells_per_metre: f64,
    radius: f32,
    leave_margin: f32,
    lanes: Vec<Lane>,
    /// The first lane of each bucket, and the end of the last.
    starts: Vec<u32>,
    strides: [u32; 2],
    /// The lowest and the highest cell that may be in a lane.
    bounds: [[i32; 3]; 2],
    loose: Vec<Lane>,
    always: Vec<u32>,
    places: Vec<Place>,
    laid_out_next: Vec<Lane>,
    stale: usize,
    moves: usize,
}

impl Grid {
    pub(super) fn new(config: &GridConfig) -> Grid {
        Grid {
            axes: config.axes,
            cells_per_metre: 1.0 / f64::from(config.cell_metres),
            radius: config.radius_metres,
            leave_margin: config.leave_margin_metres,
            lanes: Vec::new(),
            starts: vec![0, 0],
            strides: [0; 2],
            bounds: [[0; 3], [-1; 3]],
            loose: Vec::new(),
            always: Vec::new(),
            places: Vec::new(),
            laid_out_next: Vec::new(),
            stale: 0,
            moves: 0,
        }
    }

    /// Objects that are seen from everywhere.
    pub(super) fn always(&self) -> &[u32] {
        &self.always
    }

    /// Puts an object somewhere, or elsewhere: O(1).
    ///
    /// `radius` 0 is that of the grid, infinity is seen from everywhere. From a position that is not finite an object
    /// is near nothing.
    pub(super) fn put(&mut self, object: u32, position: [f32; 3], radius: f32) {
        let index = object as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, Place::Nowhere);
        }
        self.moves += 1;
        if radius >= ALWAYS_METRES {
            if !matches!(self.places[index], Place::Always(_)) {
                self.take(object);
                self.places[index] = Place::Always(self.always.len() as u32);
                self.always.push(object);
            }
            return;
        }
        let position = self.axes.project(position);
        if !position.iter().all(|coordinate| coordinate.is_finite()) {
            self.take(object);
            return;
        }
        let enter = if radius > 0.0 { radius } else { self.radius };
        let leave = enter + self.leave_margin;
        let lane = Lane { position, object, enter_squared: enter * enter, leave_squared: leave * leave };
        match self.places[index] {
            Place::Laid(at) if self.belongs(&lane, at) => self.lanes[at as usize] = lane,
            Place::Loose(at) => {
                let before = std::mem::replace(&mut self.loose[at as usize], lane);
                self.stale += usize::from(self.is_wide(&before) && !self.is_wide(&lane));
            }
            _ => {
                self.take(object);
                self.stale += 1;
                self.places[index] = Place::Loose(self.loose.len() as u32);
                self.loose.push(lane);
            }
        }
    }

    /// Takes an object out: O(1).
    pub(super) fn remove(&mut self, object: u32) {
        self.moves += 1;
        self.take(object);
    }

    fn take(&mut self, object: u32) {
        let Some(place) = self.places.get_mut(object as usize) else { return };
        match std::mem::replace(place, Place::Nowhere) {
            Place::Nowhere => {}
            Place::Laid(at) => {
                self.lanes[at as usize] = Lane::HOLE;
                self.stale += 1;
            }
            Place::Loose(at) => {
                self.loose.swap_remove(at as usize);
                if let Some(moved) = self.loose.get(at as usize) {
                    self.places[moved.object as usize] = Place::Loose(at);
                }
            }
            Place::Always(at) => {
                self.always.swap_remove(at as usize);
                if let Some(moved) = self.always.get(at as usize) {
                    self.places[*moved as usize] = Place::Always(at);
                }
            }
        }
    }

    /// Lays the lanes out anew if that pays. Call it once after the moves of a tick.
    pub(super) fn settle(&mut self) {
        let objects = self.lanes.len() + self.loose.len();
        if self.stale > STALE_TOLERATED && self.moves >= objects / 8 {
            self.lay_out();
        }
    }

    /// Writes the objects near a point into the front of `hits`: the index doubled, plus one if it is near enough to
    /// enter. The rest are near enough to stay. Some may be there twice. Returns how many there are.
    pub(super) fn near(&self, point: [f32; 3], hits: &mut Vec<u32>) -> usize {
        let point = self.axes.project(point);
        let mut count = sift(&self.loose, point, hits, 0);
        let Some([low, high]) = self.reach(point) else { return count };
        let width = i64::from(high[0]) - i64::from(low[0]) + 1;
        let rows = (1..3).map(|axis| i64::from(high[axis]) - i64::from(low[axis]) + 1).product::<i64>();
        let buckets = self.starts.len() - 1;
        if width.saturating_mul(rows) >= buckets as i64 {
            return sift(&self.lanes, point, hits, count);
        }
        for c in low[2]..=high[2] {
            for b in low[1]..=high[1] {
                let first = self.bucket([low[0], b, c]);
                let end = first + width as usize;
                let run = self.starts[first] as usize..self.starts[end.min(buckets)] as usize;
                count = sift(&self.lanes[run], point, hits, count);
                if end > buckets {
                    let wrapped = self.starts[end - buckets] as usize;
                    count = sift(&self.lanes[..wrapped], point, hits, count);
                }
            }
        }
        count
    }

    /// The lowest and the highest cell in which a lane can be near a point.
    fn reach(&self, point: [f32; 3]) -> Option<[[i32; 3]; 2]> {
        if !point.iter().all(|coordinate| coordinate.is_finite()) {
            return None;
        }
        // A little more than the radius: distances are rounded to singles, cells must not be.
        let radius = f64::from(self.radius + self.leave_margin) * (1.0 + 1e-5);
        let mut reach = self.bounds;
        for axis in 0..3 {
            let centre = f64::from(point[axis]);
            reach[0][axis] = reach[0][axis].max(self.cell(centre - radius));
            reach[1][axis] = reach[1][axis].min(self.cell(centre + radius));
            if reach[0][axis] > reach[1][axis] {
                return None;
            }
        }
        Some(reach)
    }

    /// Floor, saturating, without the call into a library that `f64::floor` is on older processors.
    #[inline]
    fn cell(&self, coordinate: f64) -> i32 {
        let scaled = coordinate * self.cells_per_metre;
        let truncated = scaled as i32;
        truncated.saturating_sub(i32::from(f64::from(truncated) > scaled))
    }

    fn cells(&self, position: [f32; 3]) -> [i32; 3] {
        position.map(|coordinate| self.cell(f64::from(coordinate)))
    }

    #[inline]
    fn bucket(&self, cell: [i32; 3]) -> usize {
        let [a, b, c] = cell.map(|coordinate| coordinate as u32);
        let along =
            a.wrapping_add(b.wrapping_mul(self.strides[0])).wrapping_add(c.wrapping_mul(self.strides[1]));
        along as usize & (self.starts.len() - 2)
    }

    fn is_wide(&self, lane: &Lane) -> bool {
        lane.enter_squared > self.radius * self.radius
    }

    /// Whether a lane may lie at this place of the array.
    fn belongs(&self, lane: &Lane, at: u32) -> bool {
        let cell = self.cells(lane.position);
        let [low, high] = self.bounds;
        let bucket = self.bucket(cell);
        (0..3).all(|axis| (low[axis]..=high[axis]).contains(&cell[axis]))
            && (self.starts[bucket]..self.starts[bucket + 1]).contains(&at)
            && !self.is_wide(lane)
    }

    fn lay_out(&mut self) {
        (self.stale, self.moves) = (0, 0);
        let mut gathered = std::mem::take(&mut self.laid_out_next);
        gathered.clear();
        gathered.extend(self.lanes.iter().filter(|lane| !lane.is_hole()));
        let mut at = 0;
        while let Some(lane) = self.loose.get(at).copied() {
            if self.is_wide(&lane) {
                at += 1;
                continue;
            }
            gathered.push(lane);
            self.take(lane.object);
        }
        self.choose_strides(&gathered);
        self.distribute(&gathered);
        self.laid_out_next = gathered;
    }

    fn choose_strides(&mut self, gathered: &[Lane]) {
        let mut bounds = [[i32::MAX; 3], [i32::MIN; 3]];
        for lane in gathered {
            let cell = self.cells(lane.position);
            for axis in 0..3 {
                bounds[0][axis] = bounds[0][axis].min(cell[axis]);
                bounds[1][axis] = bounds[1][axis].max(cell[axis]);
            }
        }
        self.bounds = bounds;
        let buckets = (gathered.len() * 2).next_power_of_two().max(64);
        self.starts.clear();
        self.starts.resize(buckets + 1, 0);
        let [width, height, depth] =
            [0, 1, 2].map(|axis| (i64::from(bounds[1][axis]) - i64::from(bounds[0][axis]) + 1).max(0) as u64);
        let cells = width.saturating_mul(height).saturating_mul(depth);
        self.strides = match cells <= buckets as u64 {
            true => [width as u32, (width * height) as u32],
            false => STRIDES_SCATTERED,
        };
    }

    /// Counting sort by bucket.
    fn distribute(&mut self, gathered: &[Lane]) {
        for lane in gathered {
            let bucket = self.bucket(self.cells(lane.position));
            self.starts[bucket] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.lanes.clear();
        self.lanes.resize(gathered.len(), Lane::HOLE);
        // Backwards from the end of each bucket, which leaves the starts where they belong.
        for lane in gathered {
            let bucket = self.bucket(self.cells(lane.position));
            self.starts[bucket] -= 1;
            let at = self.starts[bucket];
            self.lanes[at as usize] = *lane;
            self.places[lane.object as usize] = Place::Laid(at);
        }
    }
}

/// Appends those lanes that are near enough. Nearly half are not, in no order that a processor could guess: so every
/// lane is written, and the end only moves on for those that count.
#[inline]
fn sift(lanes: &[Lane], point: [f32; 3], hits: &mut Vec<u32>, count: usize) -> usize {
    if hits.len() < count + lanes.len() {
        hits.resize((count + lanes.len()).next_power_of_two(), 0);
    }
    let room = &mut hits[count..count + lanes.len()];
    let mut found = 0;
    for lane in lanes {
        let [x, y, z] = [0, 1, 2].map(|axis| lane.position[axis] - point[axis]);
        let squared = x * x + y * y + z * z;
        room[found] = lane.object << 1 | u32::from(squared <= lane.enter_squared);
        found += usize::from(squared <= lane.leave_squared);
    }
    count + found
}

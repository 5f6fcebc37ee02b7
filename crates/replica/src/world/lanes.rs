//! Objects that are committed side by side.
//!
//! Nearly all that a game writes are positions and rotations, of many objects of one kind. What becomes of one depends on no
//! other, so sixteen of them lie in columns, and a compiler turns the arithmetic into vector instructions:
//!
//! ```text
//!   position, rotation, what it is measured from        x x x x x x …              words of the position
//!   of each                                      ─────▶ y y y y y y …      ─────▶  words of the rotation
//!                                                        …                          where it is, how fast it moves
//! ```

use netloom_cpu::{Work, widest};
use netloom_wire::quantize::Quantizer;

use super::Motion;
use super::transform::Transform;

/// Objects side by side.
const LANES: usize = 16;

type Column<T> = [T; LANES];

/// Up to sixteen objects: what was written to them, and what follows.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    slots: Column<u32>,
    count: usize,
    position: [Column<f64>; 3],
    zero: [Column<f64>; 3],
    rotation: [Column<f32>; 4],
    before: [Column<f32>; 3],
    elapsed_ticks: Column<f32>,
    /// The words of positions and of rotations, in rows as versions have them.
    place: Column<[i32; 4]>,
    turn: Column<[i32; 4]>,
    /// Not zero if the words are not to be used: something about the object is unusual, or to be counted.
    is_odd: Column<i32>,
    now: [Column<f32>; 3],
    speed: Column<f32>,
}

impl Lanes {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_full(&self) -> bool {
        self.count == LANES
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The slot of the first.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        (self.count > 0).then_some(self.slots[0] as usize)
    }

    /// Another object, of the same kind as the others. There must be room.
    #[inline]
    pub fn push(&mut self, slot: usize) {
        self.slots[self.count % LANES] = slot as u32;
        self.count += 1;
    }

    /// Takes in what was written to each, where it was before, and how many ticks ago that was.
    #[inline(always)]
    pub fn load<'a>(&mut self, of: impl Fn(usize) -> (&'a Transform, [f32; 3], u32)) {
        for lane in 0..self.count.min(LANES) {
            let (transform, before, elapsed_ticks) = of(self.slots[lane] as usize);
            put(&mut self.position, lane, transform.position);
            put(&mut self.zero, lane, transform.zero);
            put(&mut self.rotation, lane, transform.rotation);
            put(&mut self.before, lane, before);
            self.elapsed_ticks[lane] = elapsed_ticks as f32;
        }
    }

    /// Computes everything.
    pub fn compute(&mut self, quantizer: Option<Quantizer>, ticks_per_second: f32) {
        widest(Computing { lanes: self, quantizer, ticks_per_second });
    }

    /// The slot of an object.
    #[inline]
    pub fn slot(&self, number: usize) -> usize {
        self.slots[number % LANES] as usize
    }

    /// Whether an object must be looked at by itself: its words are not those that were computed.
    #[inline]
    pub fn is_odd(&self, number: usize) -> bool {
        self.is_odd[number % LANES] != 0
    }

    /// The words of its position.
    #[inline]
    pub fn place(&self, number: usize) -> [i32; 4] {
        self.place[number % LANES]
    }

    /// The words of its rotation.
    #[inline]
    pub fn turn(&self, number: usize) -> [i32; 4] {
        self.turn[number % LANES]
    }

    /// Where it is in the world, and how fast it got there.
    #[inline]
    pub fn motion(&self, number: usize) -> Motion {
        let lane = number % LANES;
        Motion { position: at(&self.now, lane), speed: self.speed[lane] }
    }
}

struct Computing<'a> {
    lanes: &'a mut Lanes,
    quantizer: Option<Quantizer>,
    ticks_per_second: f32,
}

impl Work for Computing<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Computing { lanes, quantizer, ticks_per_second } = self;
        match quantizer {
            Some(quantizer) => {
                lanes.quantize_positions(quantizer);
                lanes.quantize_rotations(quantizer);
            }
            None => lanes.is_odd = [1; LANES],
        }
        lanes.arrive(ticks_per_second);
    }
}

impl Lanes {
    #[inline(always)]
    fn quantize_positions(&mut self, quantizer: Quantizer) {
        for lane in 0..LANES {
            let (position, zero) = (at(&self.position, lane), at(&self.zero, lane));
            let local = [position[0] - zero[0], position[1] - zero[1], position[2] - zero[2]];
            let (words, is_good) = quantizer.position(local);
            self.place[lane] = [words[0], words[1], words[2], 0];
            self.is_odd[lane] = i32::from(!is_good);
        }
    }

    #[inline(always)]
    fn quantize_rotations(&mut self, quantizer: Quantizer) {
        for lane in 0..LANES {
            let (words, is_good) = quantizer.rotation(at(&self.rotation, lane));
            self.turn[lane] = words;
            self.is_odd[lane] |= i32::from(!is_good);
        }
    }

    /// Where the objects are in the world, and how fast they got there.
    #[inline(always)]
    fn arrive(&mut self, ticks_per_second: f32) {
        let limit = f64::from(f32::MAX);
        for lane in 0..LANES {
            let now = at(&self.position, lane).map(|axis| axis.clamp(-limit, limit) as f32);
            let [x, y, z]: [f32; 3] = std::array::from_fn(|axis| now[axis] - self.before[axis][lane]);
            let speed = (x * x + y * y + z * z).sqrt() * ticks_per_second / self.elapsed_ticks[lane];
            put(&mut self.now, lane, now);
            self.speed[lane] = if speed.is_finite() { speed } else { f32::MAX };
        }
    }
}

#[inline(always)]
fn at<T: Copy, const N: usize>(columns: &[Column<T>; N], lane: usize) -> [T; N] {
    std::array::from_fn(|column| columns[column][lane])
}

#[inline(always)]
fn put<T, const N: usize>(columns: &mut [Column<T>; N], lane: usize, numbers: [T; N]) {
    for (column, number) in columns.iter_mut().zip(numbers) {
        column[lane] = number;
    }
}

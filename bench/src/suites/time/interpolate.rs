//! Interpolation: a thousand objects, sent twenty times a second, shown sixty times.

use super::{Measured, progress};
use crate::error::BenchError;
use crate::measure::percentile;
use crate::suites::Options;
use crate::table::{Figure, Row, Target};
use netloom_count::allocations;
use netloom_replica::client::{Interpolator, InterpolatorConfig, Pose, Source, State};
use netloom_wire::Micros;
use std::hint::black_box;
use std::time::Instant;

const WORKLOAD: &str = "interpolate";
const OBJECTS: usize = 1_000;
const TICK_US: u64 = 50_000;
/// Between two snapshots, as 60 frames a second have it.
const FRAMES: u64 = 3;
const DELAY_US: u64 = 100_000;
/// Rings are full, and the view is past its first state.
const WARM_UP_TICKS: u64 = 40;
/// Ticks in which nothing may be allocated: a minute.
const STEADY_TICKS: u32 = 1_200;
/// How far a chord lies from the widest and fastest of the circles at most, and how far a cubic.
const LINE_ERROR_METRES: f64 = 0.05;
const CURVE_ERROR_METRES: f64 = 1e-4;
const FAST_PERCENTILE: f64 = 5.0;

const NOTES: &[&str] = &[
    "Interpolate: 1,000 objects, each of which moves and turns on a circle; 20 states a second, 60 frames, 100 ms behind. A",
    "  figure is the time of the three frames between two snapshots, divided by frames and objects: every object changes its",
    "  segment once in them. Curves: states have velocities too. Every object is compared with where it was, or there is no",
    "  figure: within 5 cm along chords, within 0.1 mm along curves.",
];

/// The rows of this file.
pub fn measure(options: &Options) -> Result<Measured, BenchError> {
    progress(WORKLOAD);
    let (mut lines, mut curves) = (Screen::new(false)?, Screen::new(true)?);
    let (mut line_ns, mut curve_ns, mut insert_ns) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.batches {
        let (insert, line) = lines.tick()?;
        let (_, curve) = curves.tick()?;
        insert_ns.push(insert);
        line_ns.push(line);
        curve_ns.push(curve);
    }
    let row = |label, key, target, samples: &mut [f64]| {
        let ns = percentile(samples, FAST_PERCENTILE).unwrap_or(f64::NAN);
        Row { label, unit: "ns", decimals: 1, target, figures: vec![Figure::new(key, ns)] }
    };
    let rows = vec![
        row("interpolated object and frame", "interpolate_ns", Target::AtMost(60.0), &mut line_ns),
        row("  along curves", "interpolate_curve_ns", Target::None, &mut curve_ns),
        row("  taking in a state", "interpolate_insert_ns", Target::None, &mut insert_ns),
    ];
    Ok(Measured { rows, allocations: allocated()?, notes: NOTES })
}

fn allocated() -> Result<u64, BenchError> {
    let mut screen = Screen::new(true)?;
    let before = allocations();
    for _ in 0..STEADY_TICKS {
        screen.tick()?;
    }
    Ok(allocations() - before)
}

struct Screen {
    objects: Interpolator,
    /// What the next snapshot brings, by slot.
    states: Vec<State>,
    has_velocity: bool,
    tick: u64,
}

/// Where the walker of a slot is: on a circle, turning with it.
fn walker(slot: usize, time_us: u64) -> (Pose, [f32; 3]) {
    let (radius, pace) = (20.0 + slot as f64 % 50.0, 0.5 + slot as f64 % 7.0 / 7.0);
    let angle = slot as f64 + pace * time_us as f64 * 1e-6;
    let ((sine, cosine), (half_sine, half_cosine)) = (angle.sin_cos(), (angle / 2.0).sin_cos());
    let position = [radius * cosine, 0.0, radius * sine];
    let velocity = [-radius * pace * sine, 0.0, radius * pace * cosine].map(|axis| axis as f32);
    (Pose { position, rotation: [0.0, half_sine as f32, 0.0, half_cosine as f32] }, velocity)
}

impl Screen {
    fn new(has_velocity: bool) -> Result<Screen, BenchError> {
        let config = InterpolatorConfig { objects: OBJECTS, ..InterpolatorConfig::default() };
        let objects = Interpolator::new(config).map_err(|error| BenchError::refused("netloom", error))?;
        let mut screen = Screen { objects, states: Vec::with_capacity(OBJECTS), has_velocity, tick: 0 };
        for _ in 0..WARM_UP_TICKS {
            screen.tick()?;
        }
        Ok(screen)
    }

    /// One snapshot and the frames until the next: nanoseconds per object to take it in, and per object and frame.
    fn tick(&mut self) -> Result<(f64, f64), BenchError> {
        self.tick += 1;
        let time = Micros(self.tick * TICK_US);
        let has_velocity = self.has_velocity;
        self.states.clear();
        self.states.extend((0..OBJECTS).map(|slot| {
            let (pose, velocity) = walker(slot, time.0);
            State { time, pose, velocity: has_velocity.then_some(velocity), jumped: None }
        }));
        let started = Instant::now();
        self.objects.handle_snapshot(time);
        for (slot, state) in self.states.iter().enumerate() {
            self.objects.insert(slot as u16, *state);
        }
        let insert_ns = started.elapsed().as_nanos() as f64 / OBJECTS as f64;
        let mut view_us = 0;
        let started = Instant::now();
        for frame in 0..FRAMES {
            view_us = (time.0 + frame * TICK_US / FRAMES).saturating_sub(DELAY_US);
            self.objects.advance(black_box(Micros(view_us)));
        }
        let frame_ns = started.elapsed().as_nanos() as f64 / (OBJECTS as f64 * FRAMES as f64);
        if self.tick > WARM_UP_TICKS {
            self.check(view_us)?;
        }
        Ok((insert_ns, frame_ns))
    }

    /// What is shown is where the walkers were.
    fn check(&self, view_us: u64) -> Result<(), BenchError> {
        let allowed = if self.has_velocity { CURVE_ERROR_METRES } else { LINE_ERROR_METRES };
        for slot in 0..OBJECTS {
            let (truth, _) = walker(slot, view_us);
            let shown = self.objects.shown(slot as u16).filter(|shown| shown.source == Source::Between);
            let off = shown.map(|shown| {
                let squares = (0..3).map(|axis| (shown.pose.position[axis] - truth.position[axis]).powi(2));
                squares.sum::<f64>().sqrt()
            });
            if !off.is_some_and(|off| off <= allowed) {
                let what = format!("shows walker {slot} {off:?} metres off, allowed are {allowed}");
                return Err(BenchError::Diverged { workload: WORKLOAD, peer: 0, what });
            }
        }
        Ok(())
    }
}

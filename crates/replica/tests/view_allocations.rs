//! A frame of the view does not touch the heap, and neither do snapshots of what it knows already.

use netloom_count::allocations;
use netloom_replica::client::{
    InputClock, InputClockConfig, Interpolator, InterpolatorConfig, Pose, ServerClock, State, ViewEvents,
    ViewEventsConfig, When,
};
use netloom_wire::Micros;

const OBJECTS: u16 = 500;
const FRAME_US: u64 = 16_667;
const TICK_US: u64 = 50_000;

struct Screen {
    clock: ServerClock,
    input: InputClock,
    objects: Interpolator,
    events: ViewEvents<u64>,
    now_us: u64,
    steps: u32,
    given: u64,
}

impl Screen {
    fn new() -> Screen {
        let config = InterpolatorConfig { objects: OBJECTS.into(), ..InterpolatorConfig::default() };
        Screen {
            clock: ServerClock::new(),
            input: InputClock::new(InputClockConfig::default()).unwrap(),
            objects: Interpolator::new(config).unwrap(),
            events: ViewEvents::new(ViewEventsConfig::default()).unwrap(),
            now_us: 0,
            steps: 0,
            given: 0,
        }
    }

    /// A snapshot arrives; some are lost, some late, some objects rest and some jump.
    fn snapshot(&mut self, tick: u64) {
        if tick.is_multiple_of(7) {
            return;
        }
        let tick = if tick.is_multiple_of(5) { tick - 1 } else { tick };
        let time = Micros(tick * TICK_US);
        self.clock.handle_snapshot(Micros(self.now_us), time);
        self.clock.handle_rtt(Micros(80_000));
        self.objects.handle_snapshot(time);
        for slot in (0..OBJECTS).filter(|slot| !(u64::from(*slot) + tick / 40).is_multiple_of(3)) {
            let phase = tick as f64 * 0.05 + f64::from(slot);
            let half = (phase / 2.0) as f32;
            let pose = Pose {
                position: [phase.cos() * 80.0, phase.sin() * 80.0, 0.0],
                rotation: [0.0, 0.0, half.sin(), half.cos()],
            };
            let velocity = slot.is_multiple_of(2).then_some([
                -phase.sin() as f32 * 80.0,
                phase.cos() as f32 * 80.0,
                0.0,
            ]);
            let jumped = (u64::from(slot) + tick).is_multiple_of(90).then_some(time);
            self.objects.insert(slot, State { time, pose, velocity, jumped });
        }
        let view_time = Micros(time.0.saturating_sub(100_000));
        self.events.push(view_time, time, When::AtView, tick).unwrap();
    }

    fn frame(&mut self) {
        let tick_before = self.now_us / TICK_US;
        self.now_us += FRAME_US;
        if self.now_us / TICK_US > tick_before {
            self.snapshot(self.now_us / TICK_US);
        }
        let now = Micros(self.now_us);
        let Some(reading) = self.clock.advance(now) else { return };
        let view_time = reading - Micros(100_000);
        self.objects.advance(view_time);
        let steps = self.input.poll_steps(now, &self.clock);
        for step in steps.iter() {
            self.input.handle_slack(step, 20_000);
        }
        self.steps += steps.count;
        while self.events.poll(view_time).is_some() {
            self.given += 1;
        }
    }
}

#[test]
fn frames_and_snapshots_of_known_objects_allocate_nothing() {
    let mut screen = Screen::new();
    (0..30).for_each(|_| screen.frame());
    let (before, steps, given) = (allocations(), screen.steps, screen.given);
    (0..1_200).for_each(|_| screen.frame());
    assert_eq!(allocations() - before, 0);
    assert_eq!(screen.objects.iter().count(), OBJECTS.into());
    assert!(screen.steps - steps > 1_000 && screen.given - given > 250);
}

//! The grid against asking every object, and the faults of the first designs beside what is done here.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::*;

fn placement(position: [f32; 3]) -> Placement {
    Placement { position, radius_metres: 0.0, visible_to: VisibleTo::Everyone }
}

fn viewer(position: [f32; 3]) -> Viewer<'static> {
    Viewer { number: 0, position, membership: Membership { team: Some(1), groups: 0b1 }, owned: &[3, 40] }
}

fn config(axes: Axes) -> GridConfig {
    GridConfig { axes, refresh_ticks: 1, ..GridConfig::default() }
}

/// One viewer and what it needs.
#[derive(Default)]
struct Eye {
    scratch: Scratch,
    set: VisibleSet,
    changes: Changes,
}

impl Eye {
    fn update(&mut self, interest: &Interest, viewer: &Viewer<'_>, tick: u32) {
        interest.update(viewer, Tick(tick), &mut self.scratch, &mut self.set, &mut self.changes);
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Insert(Placement),
    Remove,
    Move([f32; 3]),
    Widen(f32),
    Restrict(VisibleTo),
}

fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -200f32..200.0,
        3 => (-4i32..=4).prop_map(|cell| cell as f32 * 50.0),
        2 => (-4i32..=4).prop_map(|cell| (cell as f32 * 50.0).next_down()),
        1 => prop_oneof![Just(1e6f32), Just(-1e6), Just(1e12), Just(-3e30), Just(f32::MAX), Just(1e6 + 100.0)],
        1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(-0.0)],
    ]
}

fn position() -> impl Strategy<Value = [f32; 3]> {
    [coordinate(), coordinate(), coordinate()]
}

fn radius() -> impl Strategy<Value = f32> {
    prop_oneof![6 => Just(0.0), 2 => 1f32..400.0, 1 => Just(f32::INFINITY)]
}

fn audience() -> impl Strategy<Value = VisibleTo> {
    prop_oneof![
        6 => Just(VisibleTo::Everyone),
        1 => (0u16..3).prop_map(VisibleTo::Team),
        1 => (0u64..4).prop_map(VisibleTo::Groups),
        1 => Just(VisibleTo::Nobody),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    let insert = (position(), radius(), audience()).prop_map(|(position, radius_metres, visible_to)| {
        Operation::Insert(Placement { position, radius_metres, visible_to })
    });
    prop_oneof![
        3 => insert,
        1 => Just(Operation::Remove),
        6 => position().prop_map(Operation::Move),
        1 => radius().prop_map(Operation::Widen),
        1 => audience().prop_map(Operation::Restrict),
    ]
}

fn ticks() -> impl Strategy<Value = Vec<Vec<(u32, Operation)>>> {
    prop::collection::vec(prop::collection::vec((0u32..100, operation()), 0..60), 1..16)
}

/// Objects in a list, every question answered by asking all of them.
#[derive(Default)]
struct Model {
    objects: BTreeMap<u32, (Placement, u32)>,
    births: u32,
    seen: BTreeMap<u32, (u32, u32)>,
}

impl Model {
    fn apply(&mut self, interest: &mut Interest, object: u32, operation: &Operation) {
        let known = self.objects.get_mut(&object);
        match (operation, known) {
            (Operation::Insert(placement), _) => {
                self.births += 1;
                self.objects.insert(object, (*placement, self.births));
                interest.insert(object, *placement).unwrap();
            }
            (Operation::Remove, _) => {
                self.objects.remove(&object);
                interest.remove(object);
            }
            (Operation::Move(position), Some((placement, _))) => {
                placement.position = *position;
                interest.set_position(object, *position);
            }
            (Operation::Widen(radius), Some((placement, _))) => {
                placement.radius_metres = *radius;
                interest.set_radius(object, *radius, placement.position).unwrap();
            }
            (Operation::Restrict(visible_to), Some((placement, _))) => {
                placement.visible_to = *visible_to;
                interest.set_visible_to(object, *visible_to);
            }
            (_, None) => {}
        }
    }

    fn may_see(&self, viewer: &Viewer<'_>, object: u32) -> bool {
        self.objects.get(&object).is_some_and(|(placement, _)| {
            let owned = viewer.owned.contains(&object) && placement.visible_to != VisibleTo::Nobody;
            owned || placement.visible_to.admits(viewer.membership)
        })
    }

    /// What a viewer sees after a look at everything.
    fn look(&mut self, viewer: &Viewer<'_>, config: &GridConfig, tick: u32) {
        let before = std::mem::take(&mut self.seen);
        for (&object, (placement, birth)) in &self.objects {
            let from = config.axes.project(viewer.position);
            let to = config.axes.project(placement.position);
            let [x, y, z] = [0, 1, 2].map(|axis| to[axis] - from[axis]);
            let squared = x * x + y * y + z * z;
            let always = placement.radius_metres == f32::INFINITY || viewer.owned.contains(&object);
            let enter =
                if placement.radius_metres > 0.0 { placement.radius_metres } else { config.radius_metres };
            let leave = enter + config.leave_margin_metres;
            let seen = before.get(&object).filter(|(seen, _)| seen == birth);
            let is_near = match seen {
                Some((_, since)) => squared <= leave * leave || tick - since < config.dwell_ticks,
                None => squared <= enter * enter,
            };
            if self.may_see(viewer, object) && (always || is_near) {
                self.seen.insert(object, (*birth, seen.map_or(tick, |(_, since)| *since)));
            }
        }
    }
}

fn equals_model(axes: Axes, from: [f32; 3], ticks: &[Vec<(u32, Operation)>]) -> Result<(), TestCaseError> {
    let config = GridConfig { dwell_ticks: 3, ..config(axes) };
    let mut interest = Interest::new(Policy::Grid(config.clone())).unwrap();
    let (mut model, mut eye) = (Model::default(), Eye::default());
    let viewer = viewer(from);
    for (tick, operations) in ticks.iter().enumerate() {
        let tick = tick as u32;
        operations.iter().for_each(|(object, operation)| model.apply(&mut interest, *object, operation));
        interest.settle();
        let before = model.seen.clone();
        model.look(&viewer, &config, tick);
        eye.update(&interest, &viewer, tick);
        prop_assert_eq!(eye.set.iter().collect::<Vec<_>>(), model.seen.keys().copied().collect::<Vec<_>>());
        let birth =
            |seen: &BTreeMap<u32, (u32, u32)>, object: &u32| seen.get(object).map(|(birth, _)| *birth);
        let entered = model.seen.keys().filter(|object| birth(&before, object) != birth(&model.seen, object));
        let left = before.keys().filter(|object| birth(&before, object) != birth(&model.seen, object));
        prop_assert_eq!(&eye.changes.entered, &entered.copied().collect::<Vec<_>>());
        prop_assert_eq!(&eye.changes.left, &left.copied().collect::<Vec<_>>());
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_grid_finds_what_asking_every_object_finds(
        ticks in ticks(),
        from in position(),
        axes in prop_oneof![Just(Axes::Xy), Just(Axes::Xz), Just(Axes::Xyz)],
    ) {
        equals_model(axes, from, &ticks)?;
    }

    #[test]
    fn the_grid_finds_everything_however_large_cells_and_radius_are(
        points in prop::collection::vec([-300f32..300.0, -300f32..300.0, -300f32..300.0], 20..200),
        cell_metres in 0.5f32..500.0,
        radius_metres in 1f32..500.0,
    ) {
        let config = GridConfig { cell_metres, radius_metres, ..config(Axes::Xyz) };
        let mut interest = Interest::new(Policy::Grid(config)).unwrap();
        for (object, point) in (0..).zip(&points) {
            interest.insert(object, placement(*point)).unwrap();
        }
        interest.settle();
        let mut eye = Eye::default();
        eye.update(&interest, &Viewer { owned: &[], ..viewer([10.0, -20.0, 30.0]) }, 0);
        let expected = points.iter().enumerate().filter(|(_, [x, y, z])| {
            let (x, y, z) = (x - 10.0, y + 20.0, z - 30.0);
            x * x + y * y + z * z <= radius_metres * radius_metres
        });
        prop_assert_eq!(eye.set.iter().collect::<Vec<_>>(), expected.map(|(at, _)| at as u32).collect::<Vec<_>>());
    }

    #[test]
    fn between_two_looks_nothing_hidden_stays(ticks in ticks(), everyone in any::<bool>(), number in 0u32..4) {
        let config = GridConfig { refresh_ticks: 4, ..config(Axes::Xy) };
        let policy = if everyone { Policy::Everyone } else { Policy::Grid(config) };
        let mut interest = Interest::new(policy).unwrap();
        let (mut model, mut eye) = (Model::default(), Eye::default());
        let mut births_seen = BTreeMap::new();
        for (tick, operations) in ticks.iter().enumerate() {
            operations.iter().for_each(|(object, operation)| model.apply(&mut interest, *object, operation));
            interest.settle();
            let viewer = Viewer { number, ..viewer([0.0; 3]) };
            eye.update(&interest, &viewer, tick as u32);
            eye.changes.left.iter().for_each(|object| { births_seen.remove(object); });
            for object in &eye.changes.entered {
                births_seen.insert(*object, model.objects[object].1);
            }
            for object in eye.set.iter() {
                prop_assert!(model.may_see(&viewer, object), "object {object} is hidden or gone");
                prop_assert_eq!(births_seen[&object], model.objects[&object].1, "another object took its place");
            }
            if everyone {
                let all = (0..100).filter(|object| model.may_see(&viewer, *object));
                prop_assert_eq!(eye.set.iter().collect::<Vec<_>>(), all.collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn an_object_that_walks_out_of_the_known_world_is_still_found() {
    let mut interest = Interest::new(Policy::Grid(config(Axes::Xy))).unwrap();
    let centre = |cell: u32| cell as f32 * 50.0 + 25.0;
    for object in 0..100 {
        interest.insert(object, placement([centre(object % 10), centre(object / 10), 0.0])).unwrap();
    }
    interest.settle();
    // One cell beyond the end of row 0 lies, on the ring, where row 1 begins: the place that object 10 comes from.
    let beyond = [centre(10), centre(0), 0.0];
    interest.set_position(10, beyond);
    interest.settle();
    let mut eye = Eye::default();
    eye.update(&interest, &viewer(beyond), 0);
    assert!(eye.set.contains(10));
}

#[test]
fn a_viewer_that_changes_sides_looks_at_everything_at_once() {
    let mut interest =
        Interest::new(Policy::Grid(GridConfig { refresh_ticks: 100, ..config(Axes::Xy) })).unwrap();
    for (object, team) in [(0, 1), (1, 2)] {
        interest
            .insert(object, Placement { visible_to: VisibleTo::Team(team), ..placement([0.0; 3]) })
            .unwrap();
    }
    let mut eye = Eye::default();
    interest.settle();
    eye.update(&interest, &Viewer { owned: &[], ..viewer([0.0; 3]) }, 1);
    assert_eq!(eye.changes.entered, [0]);
    interest.settle();
    let turncoat = Membership { team: Some(2), groups: 0 };
    eye.update(&interest, &Viewer { owned: &[], membership: turncoat, ..viewer([0.0; 3]) }, 2);
    assert_eq!((&eye.changes.entered[..], &eye.changes.left[..]), (&[1][..], &[0][..]));
}

#[test]
fn a_viewer_that_missed_rounds_misses_no_change() {
    let mut interest = Interest::new(Policy::Everyone).unwrap();
    interest.insert(5, placement([0.0; 3])).unwrap();
    interest.settle();
    let mut eye = Eye::default();
    eye.update(&interest, &viewer([0.0; 3]), 0);
    interest.remove(5);
    interest.insert(6, placement([0.0; 3])).unwrap();
    interest.settle();
    interest.settle();
    eye.update(&interest, &viewer([0.0; 3]), 2);
    assert_eq!((&eye.changes.entered[..], &eye.changes.left[..]), (&[6][..], &[5][..]));
}

#[test]
fn the_game_names_objects_and_hidden_ones_stay_hidden() {
    let mut interest = Interest::new(Policy::Custom).unwrap();
    for object in 0..4 {
        interest.insert(object, placement([0.0; 3])).unwrap();
    }
    interest.set_visible_to(2, VisibleTo::Team(9));
    interest.settle();
    let (mut eye, from) = (Eye::default(), Viewer { owned: &[3], ..viewer([0.0; 3]) });
    interest.update_to(&[2, 1, 77], &from, Tick(0), &mut eye.scratch, &mut eye.set, &mut eye.changes);
    assert_eq!(eye.changes.entered, [1, 3]);
    interest.set_visible_to(1, VisibleTo::Nobody);
    interest.settle();
    interest.settle();
    eye.update(&interest, &from, 2);
    assert_eq!(eye.changes.left, [1], "hiding needs no new list, even after a missed round");
    assert!(eye.set.contains(3));
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let refused = |config: GridConfig| Interest::new(Policy::Grid(config)).unwrap_err().field;
    let good = GridConfig::default();
    assert_eq!(refused(GridConfig { cell_metres: 0.0, ..good.clone() }), "cell_metres");
    assert_eq!(refused(GridConfig { radius_metres: f32::NAN, ..good.clone() }), "radius_metres");
    assert_eq!(refused(GridConfig { leave_margin_metres: -1.0, ..good.clone() }), "leave_margin_metres");
    assert_eq!(refused(GridConfig { refresh_ticks: 0, ..good }), "refresh_ticks");
    let mut interest = Interest::new(Policy::Everyone).unwrap();
    assert_eq!(interest.insert(OBJECTS_MAX as u32, placement([0.0; 3])).unwrap_err().field, "object");
    let negative = Placement { radius_metres: -1.0, ..placement([0.0; 3]) };
    assert_eq!(interest.insert(0, negative).unwrap_err().field, "radius_metres");
}

fn uniform(rng: &mut TestRng, low: f32, high: f32) -> f32 {
    low + (high - low) * (rng.next_u32() >> 8) as f32 / (1 << 24) as f32
}

/// An object that trembles on the border of what a viewer sees, 20 times a second for a minute.
fn events_at_the_border(mut sees: impl FnMut(u32, [f32; 3]) -> usize) -> usize {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    (0..1200).map(|tick| sees(tick, [120.0 + uniform(&mut rng, -1.0, 1.0), 0.0, 0.0])).sum()
}

#[test]
fn an_object_on_the_border_enters_once_where_one_radius_flickers_hundreds_of_times() {
    let mut was_seen = false;
    let literal = events_at_the_border(|_, [x, ..]| {
        let sees = x <= 120.0;
        usize::from(std::mem::replace(&mut was_seen, sees) != sees)
    });
    assert!((550..650).contains(&literal), "one radius: {literal} events");

    let mut interest = Interest::new(Policy::Grid(config(Axes::Xy))).unwrap();
    interest.insert(0, placement([500.0, 0.0, 0.0])).unwrap();
    let mut eye = Eye::default();
    let ours = events_at_the_border(|tick, position| {
        interest.set_position(0, position);
        interest.settle();
        eye.update(&interest, &viewer([0.0; 3]), tick);
        eye.changes.entered.len() + eye.changes.left.len()
    });
    assert_eq!(ours, 1);
}

#[test]
fn an_object_that_only_passes_by_stays_for_its_dwell() {
    let mut interest = Interest::new(Policy::Grid(config(Axes::Xy))).unwrap();
    interest.insert(0, placement([0.0; 3])).unwrap();
    let mut eye = Eye::default();
    let mut left_at = None;
    for tick in 100..130 {
        interest.settle();
        eye.update(&interest, &viewer([0.0; 3]), tick);
        left_at = left_at.or((!eye.changes.left.is_empty()).then_some(tick));
        interest.set_position(0, [900.0, 0.0, 0.0]);
    }
    assert_eq!(left_at, Some(110), "seen first in tick 100, for the 10 ticks of the configuration");
}

#[test]
fn rounding_the_radius_down_to_cells_misses_objects_and_ours_misses_none() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (mut inside, mut missed_literal, mut missed) = (0, 0, 0);
    for round in 0..100 {
        let from = [uniform(&mut rng, -500.0, 500.0), uniform(&mut rng, -500.0, 500.0), 0.0];
        let mut interest = Interest::new(Policy::Grid(config(Axes::Xy))).unwrap();
        let mut positions = Vec::new();
        for object in 0..1000 {
            let position =
                [from[0] + uniform(&mut rng, -120.0, 120.0), from[1] + uniform(&mut rng, -120.0, 120.0), 0.0];
            interest.insert(object, placement(position)).unwrap();
            positions.push(position);
        }
        interest.settle();
        let mut eye = Eye::default();
        eye.update(&interest, &viewer(from), round);
        for (object, position) in (0..).zip(&positions) {
            let (x, y) = (position[0] - from[0], position[1] - from[1]);
            if x * x + y * y <= 120.0 * 120.0 {
                let cells = (120.0f32 / 50.0) as i32;
                let is_scanned = |axis: usize| {
                    let [to, from] =
                        [position[axis], from[axis]].map(|coordinate| (coordinate / 50.0).floor() as i32);
                    (to - from).abs() <= cells
                };
                inside += 1;
                missed_literal += usize::from(!(is_scanned(0) && is_scanned(1)));
                missed += usize::from(!eye.set.contains(object));
            }
        }
    }
    let literal_percent = 100.0 * missed_literal as f64 / inside as f64;
    assert!((2.2..2.9).contains(&literal_percent), "rounded down: {literal_percent:.2} % missed");
    assert_eq!(missed, 0);
}

use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{ObjectId, Profile, Schema};

use std::collections::BTreeSet;

use super::*;
use crate::class::ClassId;
use crate::client::{DELAY_MAX, Source};
use crate::codec::Codes;
use crate::noise::Noise;
use crate::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use crate::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};

const TICK_US: u64 = 50_000;
const FRAME_US: u64 = 16_667;

fn classes() -> Vec<Class> {
    let public = SyncFlags::PUBLIC_SYNC;
    let ship = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
        .field("velocity", FieldKind::Velocity(Profile::Standard), public, 253);
    let mood = Schema::builder("mood").field("level", FieldKind::int(0, 9).unwrap(), public, 9);
    [ship, mood].map(|schema| Class::new(schema.build().unwrap()).unwrap()).to_vec()
}

/// A server, a client and its view, 40 ms apart.
struct Game {
    server: ReplicaServer,
    peer: ReplicaPeer,
    client: ReplicaClient,
    view: View,
    sequence: u64,
    now_us: u64,
    next_us: u64,
    arriving: Vec<(u64, u64, Vec<u8>)>,
    /// Ticks of which nothing arrives.
    lost: std::ops::Range<u64>,
    tick: u64,
    noise: Noise,
    jitter_us: u64,
    loss: f64,
    tick_us: u64,
}

impl Game {
    fn new() -> Game {
        let world = World::new(classes(), WorldConfig::default()).unwrap();
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
        let peer = server.add_peer(PeerConfig::new(OwnerId(1)));
        let client = ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic());
        let view = View::new(ViewConfig::default()).unwrap();
        let (arriving, lost) = (Vec::new(), 0..0);
        Game {
            server,
            peer,
            client,
            view,
            sequence: 0,
            now_us: 0,
            next_us: 0,
            arriving,
            lost,
            tick: 0,
            noise: Noise(9),
            jitter_us: 0,
            loss: 0.0,
            tick_us: TICK_US,
        }
    }

    fn spawn(&mut self, id: u64, class: u8) -> ObjectIndex {
        self.server.world_mut().spawn(Spawn::new(ObjectId(id), ClassId(class))).unwrap()
    }

    fn place(&mut self, index: ObjectIndex, x: f64) {
        self.server.world_mut().set_position(index, [x, 0.0, 0.0]).unwrap();
    }

    fn send(&mut self) {
        self.server.begin_tick().unwrap();
        self.tick += 1;
        self.server.select(self.peer, 10_000);
        let mut out = [0; 1_150];
        while let Some(length) = self.server.poll_snapshot(self.peer, self.sequence, &mut out) {
            let late_us = (self.noise.unit() * self.jitter_us as f64) as u64;
            if self.lost.contains(&self.tick) || self.noise.unit() < self.loss {
                self.server.handle_outcome(self.peer, self.sequence, false);
            } else {
                self.arriving.push((self.now_us + 40_000 + late_us, self.sequence, out[..length].to_vec()));
                self.arriving.sort();
            }
            self.sequence += 1;
        }
    }

    /// One frame, with a tick of the server if it is due; `write` is what the game does in that.
    fn frame(&mut self, write: &mut impl FnMut(&mut Game)) {
        self.now_us += FRAME_US;
        if self.now_us >= self.next_us {
            self.next_us += self.tick_us;
            write(self);
            self.send();
        }
        self.receive();
        self.view.advance(Micros(self.now_us));
    }

    /// Takes in what has arrived by now.
    fn receive(&mut self) {
        while self.arriving.first().is_some_and(|(arrival_us, ..)| *arrival_us <= self.now_us) {
            let (_, sequence, bytes) = self.arriving.remove(0);
            self.client.handle_snapshot(&bytes).unwrap();
            self.view.handle_snapshot(Micros(self.now_us), &self.client);
            self.server.handle_outcome(self.peer, sequence, true);
        }
    }

    fn run(&mut self, frames: u32, mut write: impl FnMut(&mut Game)) {
        (0..frames).for_each(|_| self.frame(&mut write));
    }

    fn alias(&self, number: usize) -> Alias {
        self.client.iter().nth(number).unwrap().alias()
    }

    fn x(&self, number: usize) -> f64 {
        self.view.sample(self.alias(number)).unwrap().pose.position[0]
    }
}

/// One metre per tick.
fn walk(walker: ObjectIndex) -> impl FnMut(&mut Game) {
    move |game| {
        let x = (game.tick + 1) as f64;
        game.place(walker, x);
    }
}

#[test]
fn a_walker_is_shown_where_it_was_at_view_time() {
    let mut game = Game::new();
    let walker = game.spawn(1, 0);
    game.run(90, walk(walker));
    for _ in 0..120 {
        game.frame(&mut walk(walker));
        let time = game.view.time().unwrap();
        let expected = time.0 as f64 / TICK_US as f64;
        assert!((game.x(0) - expected).abs() < 0.02, "{} at {time:?}", game.x(0));
    }
    let behind_us = game.tick * TICK_US - game.view.time().unwrap().0;
    assert!((100_000..200_000).contains(&behind_us), "{behind_us} µs behind");
    // In steps of a simulation that has three of them in a tick.
    let ViewTime { step, fraction } = game.view.view_time(60).unwrap();
    let steps = f64::from(step.0) + f64::from(fraction) / 256.0;
    assert!(
        (steps * TICK_US as f64 / 3.0 - game.view.time().unwrap().0 as f64).abs() < TICK_US as f64 / 600.0
    );
}

#[test]
fn view_time_never_goes_back_and_runs_at_nearly_real_time() {
    let mut game = Game::new();
    let walker = game.spawn(1, 0);
    game.run(10, walk(walker));
    let mut before = game.view.time().unwrap();
    for frame in 0..600 {
        if frame == 200 {
            game.view.set_delay(Micros::from_millis(250)).unwrap();
        }
        game.frame(&mut walk(walker));
        let time = game.view.time().unwrap();
        let rate = (time.0 - before.0) as f64 / FRAME_US as f64;
        assert!((0.92..1.08).contains(&rate), "frame {frame}: {rate}");
        before = time;
    }
    assert!(game.view.delay().delay().0 > 240_000);
}

/// The part of the frames in which the walker is shown between two states, and the furthest that it is shown from where
/// it was.
fn watch(game: &mut Game, walker: ObjectIndex, frames: u32) -> (f64, f64) {
    let (mut between, mut worst) = (0, 0.0f64);
    for _ in 0..frames {
        game.frame(&mut walk(walker));
        let shown = game.view.sample(game.alias(0)).unwrap();
        between += u32::from(shown.source == Source::Between);
        let truth = game.view.time().unwrap().0 as f64 / game.tick_us as f64;
        worst = worst.max((shown.pose.position[0] - truth).abs());
    }
    (f64::from(between) / f64::from(frames), worst)
}

#[test]
fn the_delay_covers_jitter_and_loss_and_shrinks_when_they_are_over() {
    let mut game = Game::new();
    let walker = game.spawn(1, 0);
    (game.jitter_us, game.loss) = (60_000, 0.1);
    game.run(900, walk(walker));
    let delay = game.view.delay().delay();
    assert!(delay.0 > 150_000 && delay < DELAY_MAX, "{delay:?}");
    let (between, worst) = watch(&mut game, walker, 1_200);
    assert!(between > 0.96 && worst < 1.5, "between two states in {between} of the frames, {worst} m off");
    (game.jitter_us, game.loss) = (0, 0.0);
    game.run(1_800, walk(walker));
    assert!(game.view.delay().delay().0 < 102_000, "{:?}", game.view.delay().delay());
    assert_eq!(game.view.poll_resync(), None);
}

#[test]
fn delays_from_50_to_500_ms_at_20_and_10_hertz_have_states_on_both_sides() {
    for ticks_per_second in [20, 10] {
        for delay_ms in [50, 100, 500] {
            let mut game = Game::new();
            let delay = DelayConfig { delay: Micros::from_millis(delay_ms), ..DelayConfig::default() };
            game.view = View::new(ViewConfig { ticks_per_second, delay, ..ViewConfig::default() }).unwrap();
            (game.tick_us, game.jitter_us) = (1_000_000 / u64::from(ticks_per_second), 15_000);
            let walker = game.spawn(1, 0);
            game.run(900, walk(walker));
            let (between, worst) = watch(&mut game, walker, 600);
            let at =
                format!("{delay_ms} ms at {ticks_per_second} Hz: {between} of the frames, {worst} m off");
            assert!(between > 0.98 && worst < 0.5, "{at}");
        }
    }
}

#[test]
fn a_jump_is_shown_as_one_however_often_the_server_marks_it() {
    let mut game = Game::new();
    let walker = game.spawn(1, 0);
    game.run(90, walk(walker));
    let jump_at = game.tick + 5;
    let mut places = Vec::new();
    for _ in 0..60 {
        game.frame(&mut |game: &mut Game| {
            let is_after = game.tick + 1 >= jump_at;
            game.place(walker, (game.tick + 1) as f64 * 0.5 + if is_after { 200.0 } else { 0.0 });
            if game.tick + 1 == jump_at {
                game.server.world_mut().teleport(walker).unwrap();
            }
        });
        places.push(game.x(0));
    }
    let steps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(steps.iter().filter(|step| **step > 100.0).count(), 1, "one jump");
    let after = steps.iter().position(|step| *step > 100.0).unwrap() + 1;
    let (least, most) = (steps[after..].iter().copied().fold(9.0, f64::min), 0.5);
    // Half a metre per tick is 0.167 a frame: the motion goes on smoothly right after the jump.
    assert!(least > 0.1 && steps[after..].iter().all(|step| *step < most), "{:?}", &steps[after..]);
}

#[test]
fn another_origin_or_profile_moves_nothing() {
    let mut game = Game::new();
    let walker = game.spawn(1, 0);
    game.run(90, walk(walker));
    let mut before = game.x(0);
    for frame in 0..120 {
        let mut write = walk(walker);
        game.frame(&mut |game: &mut Game| {
            write(game);
            if game.tick == 50 {
                let origin = SectorOrigin::default().moved_to([64.0, 0.0, 0.0]).unwrap();
                game.server.world_mut().rebase(walker, origin).unwrap();
            }
        });
        let x = game.x(0);
        assert!(
            (x - before - FRAME_US as f64 / TICK_US as f64).abs() < 0.06,
            "frame {frame}: {before} to {x}"
        );
        before = x;
    }
    assert_eq!(game.client.iter().next().unwrap().origin().metres()[0], 64.0);
}

#[test]
fn a_passenger_is_shown_on_its_carrier() {
    let mut game = Game::new();
    let (carrier, passenger) = (game.spawn(1, 0), game.spawn(2, 0));
    game.run(60, walk(carrier));
    game.server.world_mut().attach(passenger, Some(carrier)).unwrap();
    game.server.world_mut().set_position(passenger, [2.0, 0.0, 0.0]).unwrap();
    game.run(90, walk(carrier));
    let is_carried = |object: &&ClientObject| object.parent().is_some();
    let child = game.client.iter().find(is_carried).unwrap().alias();
    let parent = game.client.iter().find(|object| !is_carried(object)).unwrap().alias();
    for _ in 0..60 {
        game.frame(&mut walk(carrier));
        let (child, local) = (game.view.sample(child).unwrap(), game.view.sample_locally(child).unwrap());
        let parent = game.view.sample(parent).unwrap();
        assert!((child.pose.position[0] - parent.pose.position[0] - 2.0).abs() < 0.02);
        assert!((local.pose.position[0] - 2.0).abs() < 0.02);
    }
}

#[test]
fn velocities_of_the_server_are_used() {
    let mut game = Game::new();
    let walker = game.spawn(1, 0);
    game.server.world_mut().set_velocity(walker, [20.0, 0.0, 0.0]).unwrap();
    game.run(90, walk(walker));
    game.lost = game.tick + 1..game.tick + 7;
    game.run(18, walk(walker));
    let shown = game.view.sample(game.alias(0)).unwrap();
    assert_eq!(shown.source, Source::Extrapolated);
    let expected = game.view.time().unwrap().0 as f64 / TICK_US as f64;
    assert!((shown.pose.position[0] - expected).abs() < 0.05, "{shown:?}, expected {expected}");
}

#[test]
fn what_left_is_not_shown_and_its_slot_shows_the_next_object() {
    let mut game = Game::new();
    let (walker, other) = (game.spawn(1, 0), game.spawn(2, 0));
    game.place(other, 70.0);
    game.run(60, walk(walker));
    assert_eq!(game.view.iter().count(), 2);
    let (first, second) = (game.alias(0), game.alias(1));
    game.server.world_mut().despawn(walker).unwrap();
    game.run(40, |_| {});
    assert_eq!((game.view.sample(first), game.view.iter().count()), (None, 1));
    assert!((game.view.sample(second).unwrap().pose.position[0] - 70.0).abs() < 0.01);
    let next = game.spawn(3, 0);
    game.place(next, -30.0);
    game.run(60, |_| {});
    let places: Vec<i64> = game.view.iter().map(|(_, shown)| shown.pose.position[0].round() as i64).collect();
    assert!(places.contains(&70) && places.contains(&-30) && places.len() == 2, "{places:?}");
}

#[test]
fn what_left_is_shown_until_the_view_gets_there() {
    let mut game = Game::new();
    let rocket = game.spawn(1, 0);
    game.run(60, walk(rocket));
    let alias = game.alias(0);
    game.server.world_mut().despawn(rocket).unwrap();
    let left_us = (game.tick + 1) * TICK_US;
    let mut farthest = 0.0f64;
    for _ in 0..40 {
        game.frame(&mut |_: &mut Game| {});
        let time_us = game.view.time().unwrap().0;
        let shown = game.view.sample(alias);
        assert_eq!(shown.is_some(), time_us < left_us, "at {time_us}, it left at {left_us}");
        farthest = farthest.max(shown.map_or(0.0, |shown| shown.pose.position[0]));
    }
    assert_eq!(game.client.len(), 0);
    assert!((farthest - (left_us / TICK_US - 1) as f64).abs() < 0.02, "flew to {farthest}");
}

#[test]
fn what_leaves_while_nobody_looks_is_remembered_once_for_each_slot() {
    let mut game = Game::new();
    let (mut here, mut seen) = (None, BTreeSet::new());
    for number in 0..100 {
        match here.take() {
            Some(index) => game.server.world_mut().despawn(index).unwrap(),
            None => here = Some(game.spawn(number, 0)),
        };
        game.send();
        game.now_us += TICK_US;
        game.receive();
        seen.extend(game.client.iter().map(|object| object.alias().generation));
    }
    assert!(seen.len() > 20, "only {} have come and gone", seen.len());
    assert!(game.view.leaving.len() <= 1, "{} are remembered", game.view.leaving.len());
}

#[test]
fn a_passenger_whose_carrier_leaves_stays_where_it_was_seen() {
    let mut game = Game::new();
    let (carrier, passenger) = (game.spawn(1, 0), game.spawn(2, 0));
    game.server.world_mut().attach(passenger, Some(carrier)).unwrap();
    game.server.world_mut().set_position(passenger, [2.0, 0.0, 0.0]).unwrap();
    game.run(90, walk(carrier));
    let child = game.client.iter().find(|object| object.parent().is_some()).unwrap().alias();
    let mut before = game.view.sample(child).unwrap().pose.position[0];
    let place = (game.tick + 2) as f64;
    game.server.world_mut().attach(passenger, None).unwrap();
    game.server.world_mut().set_position(passenger, [place, 0.0, 0.0]).unwrap();
    game.server.world_mut().despawn(carrier).unwrap();
    for frame in 0..60 {
        game.frame(&mut |_: &mut Game| {});
        let x = game.view.sample(child).unwrap().pose.position[0];
        assert!((x - before).abs() < 1.0, "frame {frame}: {before} to {x}");
        before = x;
    }
    assert!((before - place).abs() < 0.02, "{before}, {place}");
}

#[test]
fn objects_without_a_place_are_not_shown() {
    let mut game = Game::new();
    game.spawn(1, 1);
    game.run(30, |_| {});
    assert_eq!((game.client.len(), game.view.iter().count()), (1, 0));
}

#[test]
fn times_of_ticks_go_on_when_the_counter_wraps() {
    let mut view = View::new(ViewConfig::default()).unwrap();
    let before = view.time_of(Tick(u32::MAX - 1));
    view.newest = Some((Tick(u32::MAX - 1), u64::from(u32::MAX - 1)));
    assert_eq!(view.time_of(Tick(3)) - before, Micros(5 * TICK_US));
    assert_eq!(view.time_of(Tick(u32::MAX)) - before, Micros(TICK_US), "one that comes late");
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let config = ViewConfig { ticks_per_second: 0, ..ViewConfig::default() };
    let error = View::new(config).unwrap_err().to_string();
    assert_eq!(error, "ticks_per_second = 0 is not allowed: use 1 to 1,000");
}

#[test]
fn without_anybody_to_look_time_passes_and_nothing_is_shown() {
    let mut seen = Game::new();
    let mut blind = Game::new();
    blind.view = View::new(ViewConfig { is_headless: true, ..ViewConfig::default() }).unwrap();
    for game in [&mut seen, &mut blind] {
        let object = game.spawn(1, 0);
        let mut x = 0.0;
        game.run(120, |game| {
            x += 0.1;
            game.place(object, x);
        });
    }
    assert_eq!(blind.view.time(), seen.view.time());
    assert_eq!(blind.view.clock().reading(), seen.view.clock().reading());
    assert_eq!((blind.client.len(), blind.view.iter().count()), (1, 0));
    assert_eq!(seen.view.iter().count(), 1);
}

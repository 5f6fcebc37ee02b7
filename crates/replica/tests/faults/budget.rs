//! Bytes, codes and bursts: what a tick may cost.

use netloom_replica::arena::Arena;
use netloom_replica::client::ClientObject;
use netloom_replica::server::priority::{Cadence, Phases, Tier};
use netloom_replica::server::{PeerConfig, ServerConfig};
use netloom_replica::world::{ObjectIndex, OwnerId};
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{Schema, Tick};

use crate::stage::{Noise, PLENTY, Sent, Stage, bytes_of, class, walker};

/// Walkers that all clients have, and that all move in every tick.
struct Crowd {
    stage: Stage,
    walkers: Vec<ObjectIndex>,
    noise: Noise,
}

impl Crowd {
    fn new(walkers: usize, peers: u32, config: ServerConfig) -> Crowd {
        let mut stage = Stage::new(walker(), config);
        (0..peers).for_each(|owner| stage.join(PeerConfig::new(OwnerId(owner))));
        let walkers = (0..walkers).map(|_| stage.spawn()).collect();
        let mut crowd = Crowd { stage, walkers, noise: Noise(7) };
        for _ in 0..12 {
            crowd.step();
            crowd.stage.tick(PLENTY);
        }
        let has_all = |remote: &crate::stage::Remote| remote.client.len() == crowd.walkers.len();
        assert!(crowd.stage.remotes.iter().all(has_all));
        crowd
    }

    fn step(&mut self) {
        for at in 0..self.walkers.len() {
            let place = [0; 3].map(|_| self.noise.within(300.0));
            self.stage.place(self.walkers[at], place);
        }
    }
}

/// X-U7: the budget of a send is the bandwidth times the interval, and one for all peers.
#[test]
fn a_budget_of_bandwidth_times_interval_does_not_fall_with_the_rate_and_ours_does() {
    let bytes_per_second = |rate: u32| (262_144 / rate) * rate;
    assert_eq!((262_144 / 20, 262_144 / 10), (13_107, 26_214));
    assert!(bytes_per_second(20).abs_diff(bytes_per_second(10)) < 10, "half the rate, the same load");
    assert_eq!(200 * 16 * 16 * 20, 1_024_000, "what 16 peers take, of 262,144 for all");

    let (mut crowd, budget_bytes) = (Crowd::new(200, 2, ServerConfig::default()), 400);
    let mut bytes = [0; 2];
    for tick in 0..100 {
        crowd.step();
        crowd.stage.server.begin_tick().unwrap();
        for (number, bytes) in bytes.iter_mut().enumerate() {
            if number == 0 || tick % 2 == 0 {
                let sent = crowd.stage.send(number, budget_bytes);
                assert!(bytes_of(&sent) <= budget_bytes);
                *bytes += bytes_of(&sent);
                crowd.stage.deliver(number, &sent);
            }
        }
    }
    assert!(bytes[0] > 100 * budget_bytes * 8 / 10, "{bytes:?}: the budget is each peer's own, and used");
    assert!(bytes[1] * 2 < bytes[0] * 11 / 10, "{bytes:?}: half the rate is half the bytes");
}

/// U-3.4.6: entries, leaves, updates and headers together, whatever the budget.
#[test]
fn no_budget_is_ever_exceeded_and_60_bytes_a_tick_bring_every_object() {
    for budget_bytes in [0, 1, 7, 20, 60, 150, 400, 1_150, 3_000] {
        let mut stage = Stage::new(walker(), ServerConfig::default());
        stage.join(PeerConfig::new(OwnerId(0)));
        let mut noise = Noise(budget_bytes as u64 + 1);
        let mut walkers: Vec<ObjectIndex> = Vec::new();
        for tick in 0..200 {
            if tick < 100 && tick % 2 == 0 {
                walkers.push(stage.spawn());
            }
            if tick % 10 == 9 && tick < 100 {
                let gone = walkers.swap_remove(noise.next() as usize % walkers.len());
                stage.server.world_mut().despawn(gone).unwrap();
            }
            if tick < 150 {
                for walker in &walkers {
                    stage.place(*walker, [0; 3].map(|_| noise.within(300.0)));
                }
            }
            let bytes = stage.tick(budget_bytes);
            assert!(bytes[0] <= budget_bytes, "{} of {budget_bytes} bytes", bytes[0]);
        }
        let seen = stage.remotes[0].client.len();
        assert!(budget_bytes < 60 || seen == walkers.len(), "{seen} with {budget_bytes} bytes a tick");
    }
}

/// U-7.1.3e: what is relevant from afar is told more often than what is not, at the same distance.
#[test]
fn under_a_budget_a_wide_relevance_radius_counts_as_nearness_and_nobody_starves() {
    let mut stage = Stage::new(walker(), ServerConfig::default());
    stage.join(PeerConfig::new(OwnerId(0)));
    let radius = |number: usize| if number.is_multiple_of(2) { 400.0 } else { 20.0 };
    let walkers: Vec<ObjectIndex> =
        (0..100).map(|number| stage.spawn_as(|spawn| spawn.relevance_radius = radius(number))).collect();
    let mut noise = Noise(3);
    // Told and seen in these ticks, by the slot, which is the number of the walker.
    let mut told = [0; 100];
    for tick in 0..420 {
        for walker in &walkers {
            stage.place(*walker, [80.0 + noise.within(5.0), noise.within(5.0), 0.0]);
        }
        stage.tick(if tick < 20 { PLENTY } else { 120 });
        let client = &stage.remotes[0].client;
        assert!(tick < 10 || client.len() == walkers.len(), "all of them have entered");
        for object in client.iter().filter(|object| tick >= 20 && Some(object.tick()) == client.newest()) {
            told[usize::from(object.alias().slot)] += 1;
        }
    }
    let of = |parity: usize| told.iter().skip(parity).step_by(2).copied();
    let (wide, narrow): (u32, u32) = (of(0).sum(), of(1).sum());
    // By the curve: 400 / 480 against 20 / 100.
    assert!((3 * narrow..6 * narrow).contains(&wide), "{wide} and {narrow}");
    assert!(told.iter().all(|count| *count > 0), "{told:?}");
}

/// X-U20: 8 µs for each object and each peer.
#[test]
fn encoding_for_every_peer_takes_3200_codes_a_tick_and_ours_takes_one_per_pair_of_baselines() {
    let literal_codes = 200 * 16;
    assert_eq!(f64::from(literal_codes) * 8.0, 25_600.0, "µs, of a frame that has 16,667");
    let best: f64 = 150.0 + 3.0 + 200.0 * 3.0;
    assert!(best > 4.0 * 153.0, "the first design's own figures, with all objects interpolated");

    let mut crowd = Crowd::new(200, 16, ServerConfig::default());
    let mut on_their_way: Vec<(u32, usize, Vec<Sent>)> = Vec::new();
    let (mut made, ticks) = (crowd.stage.server.encodes(), 80);
    for tick in 0..ticks + 20 {
        if tick == 20 {
            made = crowd.stage.server.encodes();
        }
        // Peer i hears of its acknowledgements 1 + i mod 4 ticks later.
        let due = on_their_way.extract_if(.., |(at, ..)| *at <= tick).collect::<Vec<_>>();
        due.iter().for_each(|(_, number, sent)| crowd.stage.deliver(*number, sent));
        crowd.step();
        crowd.stage.server.begin_tick().unwrap();
        for number in 0..16 {
            let sent = crowd.stage.send(number, PLENTY);
            on_their_way.push((tick + 1 + number as u32 % 4, number, sent));
        }
    }
    let per_tick = (crowd.stage.server.encodes() - made) / u64::from(ticks);
    assert!(per_tick <= 2 * 200, "{per_tick} codes a tick");
}

/// X-U39: what is left of the accumulator after a hitch is sent off frame by frame.
#[test]
fn a_send_accumulator_bursts_29_frames_after_a_hitch_of_a_second_and_ours_saves_up_one_update() {
    // In frames of a sixtieth: a send is due every third, and the hitch took sixty.
    let mut accumulator = 0;
    let literal = std::iter::once(60).chain(std::iter::repeat(1)).take_while(|frames| {
        accumulator += frames;
        let is_due = accumulator >= 3;
        accumulator -= 3;
        is_due
    });
    assert_eq!(literal.count(), 29, "frames in a row");

    let cadence = Cadence::hertz([20, 10, 3], 60).unwrap();
    let mut phases = Phases::new();
    phases.enter(0, Tick(0), &cadence);
    let in_a_row = (60..).take_while(|tick| {
        let is_due = phases.is_due(0, Tier::High, Tick(*tick), &cadence);
        phases.sent(&[0], &cadence);
        is_due
    });
    assert_eq!(in_a_row.count(), 2, "the one that is due, and one saved up");
}

/// X-U19: the end of a piece is compared with the capacity after it wrapped around.
#[test]
fn an_arena_whose_check_wraps_hands_out_what_it_has_not_and_ours_refuses() {
    let (capacity, used) = (65_536usize, 64usize);
    let literal_fits = |size: usize| used.wrapping_add(size) <= capacity;
    assert!(literal_fits(usize::MAX - 32), "a piece as large as memory");
    assert_eq!(
        65_536 / 14,
        4_681,
        "promised for 64 KB; a record has 6 bytes of header more, and starts aligned"
    );

    let mut arena = Arena::default();
    arena.alloc(used).unwrap();
    assert_eq!(arena.alloc(usize::MAX - 32), None);
    for (bytes, records) in [(64 * 1024, 4_096), (256 * 1024, 16_384)] {
        let mut arena = Arena::new(bytes);
        assert_eq!(std::iter::from_fn(|| arena.alloc(16)).count(), records);
    }
}

/// U-3.10.3: more long codes than the arena holds in one tick.
#[test]
fn a_full_arena_defers_what_it_has_no_room_for_and_the_next_ticks_bring_it() {
    let text = FieldKind::Text { bytes_max: 400 };
    let schema = Schema::builder("sign").field("text", text, SyncFlags::PUBLIC_SYNC, 1);
    let mut stage = Stage::new(class(schema), ServerConfig::default());
    stage.join(PeerConfig::new(OwnerId(0)));
    let signs: Vec<ObjectIndex> = (0..300).map(|_| stage.spawn()).collect();
    while stage.remotes[0].client.len() < signs.len() {
        stage.tick(PLENTY);
    }
    stage.tick(PLENTY);
    let text = "x".repeat(400);
    for sign in &signs {
        stage.server.world_mut().set(*sign, 0, Value::Text(&text)).unwrap();
    }
    let told = |stage: &Stage| {
        let remote = &stage.remotes[0];
        let class = |object: &ClientObject| remote.client.class(object).unwrap();
        let texts = remote.client.iter().filter_map(|object| object.value(class(object), 0));
        texts.filter(|value| *value == Value::Text(&text)).count()
    };
    stage.tick(2 * PLENTY);
    let first = told(&stage);
    assert!((150..170).contains(&first), "{first} of 300 texts fit 64 KB");
    let refused = |stage: &Stage| stage.server.arenas().map(|arena| arena.refused()).sum::<u32>();
    assert!(refused(&stage) >= 130, "what was put off is counted");
    stage.tick(2 * PLENTY);
    assert_eq!((told(&stage), refused(&stage)), (300, 0));
    let overflows: u64 = stage.server.arenas().map(|arena| arena.overflows()).sum();
    assert!(overflows >= 130, "and stays counted");
}

//! Every scene arrives at every client as it was, whatever is lost on the way.

use netloom_replica::codec::Codes;
use netloom_scene::generate;
use netloom_scene::replay::{Replay, ReplayConfig};
use netloom_scene::{Limited, Recorder, Recording, Source};

fn config() -> ReplayConfig {
    ReplayConfig::new(Codes::generic())
}

#[test]
fn clients_hold_every_scene_through_loss_and_delay() {
    for name in generate::NAMES {
        let source = generate::by_name(name, 3).expect("a scene of this name");
        let lossy = ReplayConfig { clients: 2, ack_ticks: 4, loss_percent: 15, ..config() };
        let mut replay = Replay::new(source, lossy).expect("a replay");
        replay.run(60).unwrap_or_else(|error| panic!("{name}: {error}"));
        replay.settle().unwrap_or_else(|error| panic!("{name}: {error}"));
        let figures = replay.figures();
        assert_eq!((figures.ticks, figures.clients), (60, 2), "{name}");
        assert!(figures.traffic.updates > 500, "{name}: {figures:?}");
    }
}

#[test]
fn what_a_client_shows_is_as_far_from_the_scene_as_its_profile_allows() {
    for name in generate::NAMES {
        let source = generate::by_name(name, 4).expect("a scene of this name");
        let mut replay = Replay::new(source, config()).expect("a replay");
        replay.run(40).unwrap_or_else(|error| panic!("{name}: {error}"));
        let loss = replay.figures().loss;
        // Half a centimetre on each of three axes; half a step of 1/511 of 0.707 in three components, with a margin.
        assert!((0.3..=0.87).contains(&loss.position_cm), "{name}: {loss:?}");
        assert!((0.05..=0.3).contains(&loss.rotation_degrees), "{name}: {loss:?}");
    }
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_seed_others() {
    for name in generate::NAMES {
        let bytes = |seed| {
            let source = generate::by_name(name, seed).expect("a scene of this name");
            let mut replay = Replay::new(source, config()).expect("a replay");
            let mut all = Vec::new();
            for _ in 0..12 {
                replay.tick().expect("a tick");
                replay.sent().for_each(|sent| all.extend_from_slice(sent.payload));
            }
            all
        };
        assert_eq!(bytes(1), bytes(1), "{name}");
        assert_ne!(bytes(1), bytes(2), "{name}");
    }
}

#[test]
fn figures_are_what_was_sent() {
    let source = Limited::new(generate::rigid::Rigid::new(2), 50);
    let mut replay = Replay::new(source, ReplayConfig { datagram_overhead_bytes: 10, ..config() }).unwrap();
    assert_eq!(replay.run(20).unwrap(), 20);
    assert!(replay.figures().traffic.enters >= 250);
    replay.forget_figures();
    let (mut bytes, mut datagrams, mut changed) = (0, 0, 0);
    while replay.tick().unwrap() {
        replay
            .sent()
            .for_each(|sent| (bytes, datagrams) = (bytes + sent.payload.len() as u64, datagrams + 1));
        changed += replay.server().world().changed().len() as u64;
    }
    let figures = *replay.figures();
    assert_eq!((figures.ticks, figures.changed, figures.objects), (30, changed, 30 * 250));
    assert_eq!((figures.traffic.bytes, figures.traffic.snapshots), (bytes, datagrams));
    assert_eq!((figures.overhead_bytes, figures.traffic.enters), (10 * datagrams, 0));
    assert_eq!(figures.kb_per_second(), (bytes + 10 * datagrams) as f64 / 1_000.0);
    assert_eq!(figures.bytes_per_changed(), (bytes + 10 * datagrams) as f64 / changed as f64);
    replay.settle().unwrap();
    assert_eq!(*replay.figures(), figures, "settling is not counted");
}

#[test]
fn a_recording_of_a_scene_replays_to_the_same_bytes() {
    for name in generate::NAMES {
        let mut source = generate::by_name(name, 5).expect("a scene of this name");
        let mut world = source.world().unwrap();
        let mut file = Vec::new();
        let rate = source.ticks_per_second();
        let mut recorder = Recorder::new(&mut file, name, rate, source.classes()).unwrap();
        for tick in 1..=40 {
            assert!(source.play(&mut world).unwrap());
            world.commit(netloom_wire::Tick(tick)).unwrap();
            recorder.tick(&world).unwrap();
        }
        recorder.finish().unwrap();
        drop(recorder);
        let bytes = |source: Box<dyn Source>| {
            let mut replay = Replay::new(Limited::new(source, 40), config()).unwrap();
            let mut all = Vec::new();
            while replay.tick().unwrap() {
                replay.sent().for_each(|sent| all.extend_from_slice(sent.payload));
            }
            all
        };
        let original = bytes(generate::by_name(name, 5).unwrap());
        let recorded = bytes(Box::new(Recording::new(std::io::Cursor::new(file)).unwrap()));
        assert!(original == recorded, "{name}: {} bytes, recorded {}", original.len(), recorded.len());
    }
}

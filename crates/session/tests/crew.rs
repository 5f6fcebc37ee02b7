//! Rooms whose snapshots several threads make.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use common::*;
use netloom_session::config::{RoomConfig, ServerConfig};
use netloom_session::crew::{Crew, Job};
use netloom_wire::Micros;

/// Threads that begin with every phase and end with it.
#[derive(Debug, Default)]
struct Helpers {
    count: usize,
    jobs: AtomicUsize,
    is_awake: AtomicBool,
}

impl Helpers {
    fn new(count: usize) -> Arc<Helpers> {
        Arc::new(Helpers { count, ..Helpers::default() })
    }
}

impl Crew for Helpers {
    fn size(&self) -> usize {
        self.count
    }

    fn wake(&self) {
        assert!(!self.is_awake.swap(true, Ordering::Relaxed), "woken twice");
    }

    fn rest(&self) {
        assert!(self.is_awake.swap(false, Ordering::Relaxed), "not woken, and sent to rest");
    }

    fn run(&self, jobs: &mut [Job<'_>]) {
        assert!(self.is_awake.load(Ordering::Relaxed), "there are jobs for threads that nobody woke");
        self.jobs.fetch_add(jobs.len(), Ordering::Relaxed);
        std::thread::scope(|threads| jobs.iter_mut().for_each(|job| drop(threads.spawn(job))));
    }
}

/// A room that some join at once and others later, over a network that loses some of it: what the server sent.
fn sent_with(crew: Option<Arc<Helpers>>, players: usize) -> u64 {
    let mut config = ServerConfig::default();
    config.listen.peers_max = 128;
    config.listen.unproven_per_address_per_second = 1_000;
    let room = RoomConfig { players_max: 128, ..RoomConfig::new("hall") };
    let mut net = Net::new(config, room, Cubes::new(40));
    if let Some(crew) = crew {
        net.server.set_crew(crew);
    }
    net.loss = 0.02;
    for number in 0..players {
        let client = net.join(&format!("player {number}"));
        net.clients[client].keys = Keys { x: 1, y: (number % 3) as i8 - 1 };
        if number % 8 == 0 {
            net.run(Micros::from_millis(50));
        }
    }
    net.run(Micros::from_secs(2));
    assert_eq!(net.server.player_count(), players);
    net.sent_hash
}

#[test]
fn what_several_threads_make_is_what_one_would_have_made() {
    let alone = sent_with(None, 70);
    for count in [1, 2, 3] {
        let crew = Helpers::new(count);
        assert_eq!(sent_with(Some(crew.clone()), 70), alone, "{count} threads");
        assert!(crew.jobs.load(Ordering::Relaxed) > 100, "they had nothing to do");
        assert!(!crew.is_awake.load(Ordering::Relaxed), "between two ticks they rest");
    }
}

#[test]
fn a_small_room_needs_nobody() {
    let crew = Helpers::new(2);
    sent_with(Some(crew.clone()), 10);
    assert_eq!(crew.jobs.load(Ordering::Relaxed), 0);
}

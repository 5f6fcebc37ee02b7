//! What a server once got wrong, and the sources with it: rates that nothing kept, refreshes that some peers never got or
//! that repaired nothing, and numbers that told how much is hidden.

use netloom_replica::server::interest::{Policy, VisibleTo};
use netloom_replica::server::priority::Cadence;
use netloom_replica::server::{Heartbeat, PeerConfig, ServerConfig};
use netloom_replica::world::OwnerId;
use netloom_wire::schema::Value;

use crate::stage::{HEALTH, Noise, PLENTY, Sent, Stage, walker};

#[test]
fn a_cadence_holds_objects_back_in_the_server() {
    let config = ServerConfig { cadence: Cadence::frames([5, 5, 5]).unwrap(), ..ServerConfig::default() };
    let mut stage = Stage::new(walker(), config);
    stage.join(PeerConfig::new(OwnerId(0)));
    let index = stage.spawn();
    stage.tick(PLENTY);
    stage.tick(PLENTY);
    let before = stage.server.written().updates;
    for tick in 0..50 {
        stage.place(index, [f64::from(tick), 0.0, 0.0]);
        stage.tick(PLENTY);
    }
    assert_eq!(stage.server.written().updates - before, 10);
}

#[test]
fn a_peer_at_half_the_rate_gets_every_heartbeat() {
    let config = ServerConfig { heartbeat: Heartbeat::Resend { ticks: 100 }, ..ServerConfig::default() };
    let mut stage = Stage::new(walker(), config);
    stage.join(PeerConfig::new(OwnerId(0)));
    (0..200).for_each(|_| {
        stage.spawn();
    });
    for _ in 0..20 {
        stage.tick(PLENTY);
    }
    let before = stage.server.written().entries;
    for tick in 0..200 {
        stage.server.begin_tick().unwrap();
        if tick % 2 == 0 {
            let sent = stage.send(0, PLENTY);
            stage.deliver(0, &sent);
        }
    }
    let told = stage.server.written().entries - before;
    assert!((390..=400).contains(&told), "{told} of 400");
}

#[test]
fn a_peer_at_half_the_rate_gets_digests() {
    for parity in 0..2 {
        let mut stage = Stage::new(walker(), ServerConfig::default());
        stage.join(PeerConfig::new(OwnerId(0)));
        stage.spawn();
        for _ in 0..20 {
            stage.tick(PLENTY);
        }
        let mut snapshots = 0;
        for tick in 0..400 {
            stage.server.begin_tick().unwrap();
            if tick % 2 == parity {
                let sent: Vec<Sent> = stage.send(0, PLENTY);
                snapshots += sent.len();
                stage.deliver(0, &sent);
            }
        }
        assert!(snapshots >= 3, "parity {parity}: {snapshots}");
    }
}

fn bytes(hidden: usize) -> Vec<Sent> {
    let mut stage =
        Stage::new(walker(), ServerConfig { policy: Policy::Everyone, ..ServerConfig::default() });
    stage.join(PeerConfig::new(OwnerId(0)));
    let mut all = Vec::new();
    let mut noise = Noise(1);
    let mut seen = Vec::new();
    for _ in 0..5 {
        for _ in 0..hidden {
            let index = stage.spawn();
            stage.server.set_visible_to(index, VisibleTo::Team(9));
        }
        seen.push(stage.spawn());
    }
    for _ in 0..10 {
        for index in &seen {
            stage.place(*index, [noise.within(5.0), 0.0, 0.0]);
        }
        stage.server.begin_tick().unwrap();
        let sent = stage.send(0, PLENTY);
        stage.deliver(0, &sent);
        all.extend(sent);
    }
    all
}

#[test]
fn hidden_objects_change_no_byte_where_everyone_sees_the_rest() {
    assert_eq!(bytes(0), bytes(3));
}

#[test]
fn a_refresh_repairs_what_a_peer_got_wrong() {
    let config = ServerConfig { heartbeat: Heartbeat::Resend { ticks: 10 }, ..ServerConfig::default() };
    let mut stage = Stage::new(walker(), config.clone());
    stage.join(PeerConfig::new(OwnerId(0)));
    let index = stage.spawn();
    stage.server.begin_tick().unwrap();
    let entry = stage.send(0, PLENTY);
    stage.deliver(0, &entry);
    stage.set(index, HEALTH, 50);
    stage.server.begin_tick().unwrap();
    let mut update = stage.send(0, PLENTY);
    update[0].bytes = damaged(&entry[0].bytes, &update[0].bytes);
    stage.deliver(0, &update);
    for _ in 0..200 {
        stage.tick(PLENTY);
    }
    assert_eq!(stage.remotes[0].value(HEALTH), Value::Word(50));
}

/// The update with one bit changed, so that it still reads but says another health.
fn damaged(entry: &[u8], update: &[u8]) -> Vec<u8> {
    let flips = (0..update.len() * 8).map(|bit| {
        let mut bytes = update.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    });
    let is_wrong = |bytes: &Vec<u8>| {
        let mut other = Stage::new(walker(), ServerConfig::default());
        other.join(PeerConfig::new(OwnerId(0)));
        let remote = &mut other.remotes[0];
        remote.client.handle_snapshot(entry).unwrap();
        remote.client.handle_snapshot(bytes).is_ok() && !matches!(remote.value(HEALTH), Value::Word(0 | 50))
    };
    flips.into_iter().find(is_wrong).expect("some bit belongs to the value")
}

//! What one connection does on a simulated link: how large its datagrams are, and what it measures.

use netloom_proto::{Config, Stats};
use netloom_sim::network::{LinkConfig, Loss};
use netloom_sim::report::Report;
use netloom_sim::scenarios::{Pair, Plan};
use netloom_sim::world::{Flow, game};
use netloom_wire::Micros;

/// A path that carries nothing larger than the configured mtu loses nothing, and the room is used.
#[test]
fn no_datagram_exceeds_the_configured_mtu_and_large_messages_arrive() {
    for mtu in [1_000, 1_024, 1_200] {
        let mut traffic = game();
        traffic.push(Flow::sometimes(1, 0.2, 900, 5_000));
        let plan = Plan {
            link: LinkConfig { mtu_bytes: mtu, latency: Micros::from_millis(10), ..LinkConfig::default() },
            traffic: Micros::from_secs(5),
            ..Plan::new(traffic)
        };
        let config = Config { mtu, ..plan.config.clone() };
        let mut pair = Pair::connect(7, Plan { config, ..plan }).expect("a valid plan");
        pair.world.record(100_000);
        pair.finish(&mut Report::new()).expect("everything arrives");
        let sizes = pair.world.recorded().iter().map(|recorded| recorded.datagram.len());
        let largest = sizes.max().expect("datagrams");
        assert!((mtu - 20..=mtu).contains(&largest), "{largest} of {mtu} bytes");
        assert_eq!(pair.world.network().counters().lost_mtu, 0);
    }
}

/// What the client knows about the path after ten seconds of play.
fn measured(link: LinkConfig) -> Stats {
    let plan = Plan { link, traffic: Micros::from_secs(10), ..Plan::new(game()) };
    let mut pair = Pair::connect(3, plan).expect("a valid plan");
    pair.world.run_until(Micros::from_secs(10)).expect("every promise holds");
    let peer = pair.world.newest_connection(pair.client).expect("a connection").peer;
    let client = pair.world.node(pair.client).endpoint();
    client.stats(peer).expect("statistics of a live connection")
}

#[test]
fn a_connection_measures_loss_round_trip_and_jitter() {
    let latency = Micros::from_millis(50);
    let good = LinkConfig { latency, ..LinkConfig::default() };
    let steady = measured(good);
    assert_eq!(steady.loss_per_mille, 0, "{steady:?}");
    let tick = Micros::from_millis(40);
    assert!(steady.rtt >= latency + latency && steady.rtt < latency + latency + tick, "{steady:?}");

    let lossy = measured(LinkConfig { loss: Loss::Uniform(0.2), ..good });
    assert!((100..=300).contains(&lossy.loss_per_mille), "{lossy:?}");

    let shaky = measured(LinkConfig { jitter: Micros::from_millis(40), ..good });
    assert!(shaky.jitter > steady.jitter + Micros::from_millis(5), "{shaky:?}");
}

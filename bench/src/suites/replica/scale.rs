//! How the cost of a tick grows with the peers and with the objects, when each peer sees about as much as before.
//!
//! The world grows in area, not in density. Then all the work that must be done is what peers see, plus a look at each
//! object that moved; anything that grows faster is a fault.

use super::crowd::sight;
use super::stage::{AMPLE_BYTES, Delay, Setup, Stage};
use super::times::Phase;
use super::{progress, ticks};
use crate::error::BenchError;
use crate::suites::Options;
use crate::table::{Cell, Series};
use netloom_replica::server::ServerConfig;
use netloom_scene::generate::walk::EXTENT_METRES;
use netloom_wire::Profile;

const PEERS: [usize; 7] = [1, 4, 16, 64, 256, 1_024, 4_096];
const OBJECTS: [usize; 5] = [10, 100, 1_000, 10_000, 20_000];

/// Points that `--quick` leaves out: those above.
const QUICK_PEERS_MAX: usize = 256;
const QUICK_OBJECTS_MAX: usize = 1_000;

/// Walkers that there are however few peers look, so that even one sees its share.
const OBJECTS_MIN: usize = 256;

/// Peers while objects grow.
const PEERS_FIXED: usize = 16;

/// Of a world as dense as a thousand walkers in the usual square, about 33 are seen from here.
const RADIUS_METRES: f32 = 101.0;
const DENSE_OBJECTS: f32 = 1_000.0;

/// Clients that decode, at most.
const WITNESSES_MAX: usize = 32;

/// All that a driver does in a tick.
const TICK: [Phase; 6] =
    [Phase::Viewers, Phase::Acks, Phase::Begin, Phase::Select, Phase::Encode, Phase::Append];
/// The same less the part that looks at every object that moved, seen or not.
const WITHOUT_BEGIN: [Phase; 5] = [Phase::Viewers, Phase::Acks, Phase::Select, Phase::Encode, Phase::Append];

/// The series of this file.
pub fn series(options: &Options) -> Result<Vec<Series>, BenchError> {
    let within = |counts: &[usize], quick_max: usize| -> Vec<usize> {
        counts.iter().copied().filter(|count| !options.quick || *count <= quick_max).collect()
    };
    let peers = within(&PEERS, QUICK_PEERS_MAX).into_iter();
    let peers = peers.map(|peers| line("scale_peers", peers, peers, peers.max(OBJECTS_MIN), ticks(options)));
    let objects = within(&OBJECTS, QUICK_OBJECTS_MAX).into_iter();
    let objects = objects.map(|objects| line("scale_objects", objects, PEERS_FIXED, objects, ticks(options)));
    Ok(vec![
        table("CPU against peers, each with a walker of its own", peers.collect::<Result<_, _>>()?),
        table("CPU against objects, all moving, 16 peers", objects.collect::<Result<_, _>>()?),
    ])
}

fn table(title: &str, lines: Vec<Vec<Cell>>) -> Series {
    let columns = vec![
        ("peers", 0),
        ("objects", 0),
        ("visible", 1),
        ("tick us", 1),
        ("median us", 1),
        ("begin us", 1),
        ("ns per visible", 1),
        ("without begin", 1),
    ];
    Series { title: title.into(), names: None, columns, lines }
}

fn line(
    name: &str,
    point: usize,
    peers: usize,
    objects: usize,
    ticks: usize,
) -> Result<Vec<Cell>, BenchError> {
    progress(&format!("scaling: {objects} objects, {peers} peers"));
    let setup = Setup {
        workload: "scaling",
        objects,
        moving: objects,
        extent_metres: EXTENT_METRES * (objects as f32 / DENSE_OBJECTS).sqrt(),
        profile: Profile::Standard,
        peers,
        policy: sight(RADIUS_METRES),
        baseline_ticks: ServerConfig::default().baseline_ticks,
        heartbeat: ServerConfig::default().heartbeat,
        delay: Delay::RoundTrips,
        loss_percent: 0,
        witness_every: peers.div_ceil(WITNESSES_MAX),
    };
    let mut stage = Stage::warmed_up(setup, AMPLE_BYTES)?;
    let samples = stage.run(ticks)?;
    let visible = stage.verdict()?;
    let (tick, begin) = (samples.spread(&TICK), samples.spread(&[Phase::Begin]));
    let per_visible = |us: f64| us * 1e3 / (visible * peers as f64);
    let told = |value| Cell { key: None, value };
    let keyed = |unit: &str, value| Cell { key: Some(format!("{name}_{point}_{unit}")), value };
    Ok(vec![
        told(peers as f64),
        told(objects as f64),
        keyed("visible", visible),
        keyed("us", tick.fast_us),
        keyed("median_us", tick.median_us),
        keyed("begin_us", begin.fast_us),
        keyed("ns_per_visible", per_visible(tick.fast_us)),
        keyed("ns_per_visible_without_begin", per_visible(samples.spread(&WITHOUT_BEGIN).fast_us)),
    ])
}

//! Heap allocations of a server and its clients when nothing enters or leaves.

use super::stage::{Stage, WARM_UP_TICKS};
use super::ticks::everyone;
use super::{count_row, progress, ticks};
use crate::error::BenchError;
use crate::suites::Options;
use crate::suites::replica::stage::Setup;
use crate::table::{Row, Target};
use netloom_count::allocations;
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_scene::replay::feed;

const WORKLOAD: &str = "allocations";
const PEERS: usize = 16;

/// The row of this file.
pub fn row(options: &Options) -> Result<Row, BenchError> {
    progress(WORKLOAD);
    let allocated = allocated(ticks(options))? as f64;
    let label = "steady ticks, server and 16 clients";
    Ok(count_row(label, "allocations", Target::AtMost(0.0), "steady_allocations", allocated))
}

/// Allocations in so many ticks after the warm-up: the game's writes, the server's tick, the acknowledgements, and what
/// clients do with the snapshots.
fn allocated(ticks: usize) -> Result<u64, BenchError> {
    let setup = Setup { witness_every: 0, ..everyone(WORKLOAD, 200, 200, PEERS) };
    let mut stage = Stage::new(setup)?;
    let mut clients: Vec<ReplicaClient> =
        (0..PEERS).map(|_| ReplicaClient::new(stage.classes().clone(), Codes::generic())).collect();
    for _ in 0..WARM_UP_TICKS {
        exchange(&mut stage, &mut clients)?;
    }
    let before = allocations();
    for _ in 0..ticks {
        exchange(&mut stage, &mut clients)?;
    }
    let allocated = allocations() - before;
    let truth = stage.truth();
    for (peer, client) in clients.iter().enumerate() {
        truth.check(client, None).map_err(|what| BenchError::Diverged { workload: WORKLOAD, peer, what })?;
    }
    Ok(allocated)
}

fn exchange(stage: &mut Stage, clients: &mut [ReplicaClient]) -> Result<(), BenchError> {
    stage.tick()?;
    for (peer, payload) in stage.sent() {
        feed(&mut clients[peer], payload).map_err(|what| BenchError::Diverged {
            workload: WORKLOAD,
            peer,
            what,
        })?;
    }
    Ok(())
}

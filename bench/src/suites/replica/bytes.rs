//! What an update weighs, and what it loses.
//!
//! A byte figure means nothing without the error that it was bought with. So a client decodes every snapshot, and each
//! of its objects is compared with the walker itself, before quantization.

use super::stage::{Delay, Setup, Stage, WARM_UP_TICKS};
use super::tally::Traffic;
use super::ticks::everyone;
use super::{count_row, progress, ticks};
use crate::error::BenchError;
use crate::suites::Options;
use crate::table::{Row, Target};
use netloom_replica::Pose;
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::ServerConfig;
use netloom_scene::generate::walk::Walk;
use netloom_scene::replay::{Loss, feed};
use netloom_wire::Profile;

const WORKLOAD: &str = "bytes per update";
const BASELINE_AGE_TICKS: usize = 2;

/// The rows of this file.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    progress(WORKLOAD);
    let standard = |baseline_ticks| measured(Profile::Standard, baseline_ticks, ticks(options));
    let snapped_ticks = ServerConfig::default().baseline_ticks;
    let ((newest, loss), (snapped, _)) = (standard(1)?, standard(snapped_ticks)?);
    let (exact, exact_loss) = measured(Profile::None, snapped_ticks, ticks(options))?;
    let bytes = |label, target, key, traffic: &Traffic| {
        count_row(label, "bytes", target, key, traffic.sent.bytes_per_update())
    };
    let told = |label, unit, key, value| count_row(label, unit, Target::None, key, value);
    Ok(vec![
        bytes("update of 200 walkers, age 2", Target::AtMost(5.2), "walk_bytes_per_update", &newest),
        bytes("  with snapped baselines", Target::None, "walk_snapped_bytes_per_update", &snapped),
        told("  largest error of a position", "cm", "walk_position_error_cm", loss.position_cm),
        told(
            "  largest error of a rotation",
            "degrees",
            "walk_rotation_error_degrees",
            loss.rotation_degrees,
        ),
        bytes("update of 200 exact walkers, snapped", Target::AtMost(24.0), "exact_bytes_per_update", &exact),
        told("  largest error of a position", "cm", "exact_position_error_cm", exact_loss.position_cm),
    ])
}

fn measured(profile: Profile, baseline_ticks: u32, ticks: usize) -> Result<(Traffic, Loss), BenchError> {
    let setup = Setup {
        profile,
        baseline_ticks,
        delay: Delay::Ticks(BASELINE_AGE_TICKS),
        witness_every: 0,
        ..everyone(WORKLOAD, 200, 200, 1)
    };
    let mut stage = Stage::new(setup)?;
    let mut client = ReplicaClient::new(stage.classes().clone(), Codes::generic());
    let mut loss = Loss::default();
    for tick in 0..WARM_UP_TICKS + ticks {
        if tick == WARM_UP_TICKS {
            stage.forget_traffic();
        }
        stage.tick()?;
        for (_, payload) in stage.sent() {
            feed(&mut client, payload).map_err(diverged)?;
        }
        // Before, a client waits until the server knows that its entries arrived, and falls behind.
        if tick >= WARM_UP_TICKS {
            compare(&client, stage.walk(), &mut loss).map_err(diverged)?;
        }
    }
    let traffic = *stage.traffic();
    stage.truth().check(&client, None).map_err(diverged)?;
    Ok((traffic, loss))
}

fn compare(client: &ReplicaClient, walk: &Walk, loss: &mut Loss) -> Result<(), String> {
    for object in client.iter() {
        let walker = usize::from(object.alias().slot);
        let class = client.class(object).ok_or("holds an object without a class")?;
        let pose = Pose::new(walk.positions()[walker].map(f64::from), walk.rotations()[walker]);
        loss.note(object, class, &pose);
    }
    Ok(())
}

fn diverged(what: String) -> BenchError {
    BenchError::Diverged { workload: WORKLOAD, peer: 0, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_of_a_walker_weighs_more_than_nothing_and_loses_no_more_than_its_profile() {
        let (traffic, loss) = measured(Profile::Standard, 1, 20).expect("decodes");
        assert_eq!(traffic.sent.updates, 200 * 20, "every walker at every tick");
        assert!((2.0..20.0).contains(&traffic.sent.bytes_per_update()), "{traffic:?}");
        // Half a centimetre on each of three axes; half a step of 1/511 of 0.707 in three components, with a margin.
        assert!((0.1..=0.87).contains(&loss.position_cm), "{loss:?}");
        assert!((0.01..=0.3).contains(&loss.rotation_degrees), "{loss:?}");
    }
}

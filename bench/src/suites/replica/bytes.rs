//! What an update weighs, and what it loses.
//!
//! A byte figure means nothing without the error that it was bought with. So a client decodes every snapshot, and each
//! of its objects is compared with the walker itself, before quantization.

use super::stage::{Delay, Setup, Stage, WARM_UP_TICKS};
use super::tally::Traffic;
use super::ticks::everyone;
use super::witness::feed;
use super::{count_row, progress, ticks};
use crate::error::BenchError;
use crate::suites::Options;
use crate::table::{Row, Target};
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::ServerConfig;
use netloom_scene::generate::walk::Walk;
use netloom_wire::schema::Value;

const WORKLOAD: &str = "bytes per update";
const BASELINE_AGE_TICKS: usize = 2;
const POSITION: usize = 0;
const ROTATION: usize = 1;

/// The largest differences between what a client holds and the walkers.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    /// The length of the difference of two positions.
    position_cm: f64,
    /// The angle between two rotations.
    rotation_degrees: f64,
}

/// The rows of this file.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    progress(WORKLOAD);
    let (newest, loss) = measured(1, ticks(options))?;
    let (snapped, _) = measured(ServerConfig::default().baseline_ticks, ticks(options))?;
    let bytes = |label, target, key, traffic: &Traffic| {
        count_row(label, "bytes", target, key, traffic.bytes_per_update())
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
    ])
}

fn measured(baseline_ticks: u32, ticks: usize) -> Result<(Traffic, Loss), BenchError> {
    let setup = Setup {
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
        let (Some(Value::Triple(position)), Some(Value::Rotation(rotation))) =
            (object.value(class, POSITION), object.value(class, ROTATION))
        else {
            return Err(format!("holds walker {walker} without a position or a rotation"));
        };
        let profile = object.profile();
        let position = profile.world_position(position, &object.origin());
        let rotation = profile.dequantize_rotation(rotation);
        let metres = distance(position, walk.positions()[walker].map(f64::from));
        let degrees = angle_degrees(rotation.map(f64::from), walk.rotations()[walker].map(f64::from));
        loss.position_cm = loss.position_cm.max(metres * 100.0);
        loss.rotation_degrees = loss.rotation_degrees.max(degrees);
    }
    Ok(())
}

fn distance<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Of two unit quaternions. By the chord between them: the arc cosine of their product loses small angles.
fn angle_degrees(a: [f64; 4], b: [f64; 4]) -> f64 {
    let chord = distance(a, b).min(distance(a, b.map(|component| -component)));
    (4.0 * (chord / 2.0).min(1.0).asin()).to_degrees()
}

fn diverged(what: String) -> BenchError {
    BenchError::Diverged { workload: WORKLOAD, peer: 0, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_those_of_the_turn_whichever_sign_the_quaternion_has() {
        let identity = [0.0, 0.0, 0.0, 1.0];
        for degrees in [0.0, 0.001, 1.0, 90.0, 179.0] {
            let (sine, cosine) = (f64::to_radians(degrees) / 2.0).sin_cos();
            for turned in [[sine, 0.0, 0.0, cosine], [-sine, 0.0, 0.0, -cosine]] {
                assert!((angle_degrees(identity, turned) - degrees).abs() < 1e-9, "{degrees}");
            }
        }
    }

    #[test]
    fn an_update_of_a_walker_weighs_more_than_nothing_and_loses_no_more_than_its_profile() {
        let (traffic, loss) = measured(1, 20).expect("decodes");
        assert_eq!(traffic.updates, 200 * 20, "every walker at every tick");
        assert!((2.0..20.0).contains(&traffic.bytes_per_update()), "{traffic:?}");
        // Half a centimetre on each of three axes; half a step of 1/511 of 0.707 in three components, with a margin.
        assert!((0.1..=0.87).contains(&loss.position_cm), "{loss:?}");
        assert!((0.01..=0.3).contains(&loss.rotation_degrees), "{loss:?}");
    }
}

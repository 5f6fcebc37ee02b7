//! Whether a client holds what the server sent, and how far that is from what the scene said.

use netloom_replica::client::{ClientObject, ReplicaClient};
use netloom_replica::server::{ReplicaPeer, ReplicaServer};
use netloom_replica::world::Object;
use netloom_replica::{Class, Pose};
use netloom_wire::schema::{Audience, Value};

/// The largest differences between what a client shows and what the scene said before it was quantized.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// The length of the difference of two positions.
    pub position_cm: f64,
    /// The angle between two rotations.
    pub rotation_degrees: f64,
}

impl Loss {
    /// Takes in one object: as a client holds it, and as it was.
    pub fn note(&mut self, object: &ClientObject, class: &Class, pose: &Pose) {
        let profile = object.profile();
        let [position, rotation] = [class.position(), class.rotation()].map(|first| {
            let field = class.fields().iter().position(|field| Some(field.first) == first)?;
            object.value(class, field)
        });
        if let Some(Value::Triple(words)) = position {
            let metres = distance(profile.world_position(words, &object.origin()), pose.position);
            self.position_cm = self.position_cm.max(metres * 100.0);
        }
        if let Some(Value::Rotation(rotation)) = rotation {
            let shown = profile.dequantize_rotation(rotation).map(f64::from);
            let degrees = angle_degrees(shown, pose.rotation.map(f64::from));
            self.rotation_degrees = self.rotation_degrees.max(degrees);
        }
    }
}

fn distance<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Of two unit quaternions. By the chord between them: the arc cosine of their product loses small angles.
fn angle_degrees(a: [f64; 4], b: [f64; 4]) -> f64 {
    let chord = distance(a, b).min(distance(a, b.map(|component| -component)));
    (4.0 * (chord / 2.0).min(1.0).asin()).to_degrees()
}

/// Hands a snapshot to a client and takes out what it tells; the words say why it cannot.
pub fn feed(client: &mut ReplicaClient, payload: &[u8]) -> Result<(), String> {
    client.handle_snapshot(payload).map_err(|error| format!("cannot read a snapshot: {error}"))?;
    while client.poll_event().is_some() {}
    match client.poll_refusal() {
        None => Ok(()),
        Some(refusal) => Err(format!("refuses what it read: {refusal:?}")),
    }
}

/// Compares every object of a client with what the server had at the tick of which the client holds it. What was lost or
/// was not sent yet is no difference; `is_settled` says that nothing is lost or on its way, so that everything must be there.
/// `loss` takes in the objects of which the client has the newest state.
pub(super) fn compare(
    client: &ReplicaClient,
    server: &ReplicaServer,
    peer: ReplicaPeer,
    is_settled: bool,
    loss: &mut Loss,
) -> Result<(), String> {
    for shown in client.iter() {
        let slot = shown.alias().slot;
        let Some(object) =
            server.object_of(peer, shown.alias()).and_then(|index| server.world().object(index))
        else {
            if is_settled {
                return Err(format!("holds an object in slot {slot} that is gone"));
            }
            continue;
        };
        let class = object.class();
        let is_newest = !object.version().is_newer_than(shown.tick());
        // Of an origin, profile or parent that it has not heard of yet, words mean something else.
        let expected = match (is_same_frame(shown, &object), is_newest) {
            (true, true) => Some(object.words()),
            (true, false) => object.words_at(shown.tick()),
            (false, _) => None,
        };
        if is_settled && (!is_newest || expected.is_none()) {
            return Err(format!(
                "holds slot {slot} as of {:?}, the server has {:?}",
                shown.tick(),
                object.version()
            ));
        }
        let Some(expected) = expected else { continue };
        if let Some(field) = first_difference(class, shown.audience(), shown.words(), expected) {
            let name = class.schema().fields()[field].name();
            let (held, expected) = (shown.words(), expected);
            return Err(format!("holds {held:?} in slot {slot}, not {expected:?}: another {name}"));
        }
        if is_newest
            && object.parent().is_none()
            && let Some(pose) = server.world().pose(object.index())
        {
            loss.note(shown, class, &pose);
        }
    }
    match is_settled && client.len() != server.world().len() {
        true => Err(format!("holds {} objects of {}", client.len(), server.world().len())),
        false => Ok(()),
    }
}

fn is_same_frame(shown: &ClientObject, object: &Object<'_>) -> bool {
    let is_origin_used = object.parent().is_none() && object.profile().uses_origin();
    shown.profile() == object.profile()
        && shown.parent().is_some() == object.parent().is_some()
        && (!is_origin_used || shown.origin() == object.origin())
}

/// The first field that an audience sees and that differs.
fn first_difference(class: &Class, audience: Audience, held: &[i32], expected: &[i32]) -> Option<usize> {
    let visible = class.visible(audience);
    class.fields().iter().enumerate().find_map(|(field, words)| {
        let own = words.first..words.first + words.count;
        let differs = visible >> field & 1 != 0 && held.get(own.clone()) != expected.get(own);
        differs.then_some(field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::rigid::Rigid;
    use crate::replay::{Replay, ReplayConfig};
    use netloom_replica::codec::Codes;

    /// A replay of some ticks, of boxes that no other seed has.
    fn replay(seed: u64, bodies: usize, ticks: usize) -> Replay<Rigid> {
        let source = Rigid::with_bodies(seed, bodies);
        let mut replay = Replay::new(source, ReplayConfig::new(Codes::generic())).expect("a replay");
        replay.run(ticks).expect("ticks");
        replay
    }

    fn verdict(client: &Replay<Rigid>, server: &Replay<Rigid>, is_settled: bool) -> Result<(), String> {
        let peer = server.clients[0].peer;
        compare(&client.clients[0].client, &server.server, peer, is_settled, &mut Loss::default())
    }

    #[test]
    fn a_client_that_holds_something_else_is_found_out() {
        let (one, other) = (replay(1, 10, 30), replay(2, 10, 30));
        verdict(&one, &one, false).expect("its own");
        let what = verdict(&one, &other, false).expect_err("another's");
        assert!(what.contains("in slot 0, not [") && what.ends_with("another position"), "{what}");
    }

    #[test]
    fn a_client_that_lacks_the_newest_state_or_an_object_is_found_out_once_everything_is_still() {
        let (early, late) = (replay(1, 10, 30), replay(1, 10, 32));
        verdict(&early, &late, false).expect("late is no difference");
        let what = verdict(&early, &late, true).expect_err("two ticks late");
        assert!(what.contains("the server has"), "{what}");
        let mut settled = replay(1, 10, 30);
        settled.settle().expect("everything is there");
        let empty = replay(1, 10, 0);
        let what = verdict(&empty, &settled, true).expect_err("holds nothing");
        assert_eq!(what, "holds 0 objects of 10");
    }

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
}

//! Capsules, what they offer, and what was taken.

use super::{REPEAT_FRAMES, Repeat, Sink};
use crate::classic::codec::{PowerupSpawned, PowerupStatus, ToClient};

/// How often a status without an open offer is said: it is in GAME_INFO as well.
const STATUS_TIMES: u32 = 8;

/// Says that a capsule is here for as long as it is, and what is offered until it is chosen.
#[derive(Clone, Debug, Default)]
pub struct PowerupBroadcaster {
    known: Vec<u32>,
    status: Repeat<PowerupStatus>,
}

impl PowerupBroadcaster {
    /// Says which capsules there are: new ones at once.
    pub fn broadcast_spawned(&mut self, frame: u64, capsules: &[PowerupSpawned], sink: &mut dyn Sink) {
        for capsule in capsules {
            let is_turn = (frame + u64::from(capsule.id)).is_multiple_of(REPEAT_FRAMES);
            if is_turn || !self.known.contains(&capsule.id) {
                sink.send(ToClient::PowerupSpawned(*capsule));
            }
        }
        self.known.clear();
        self.known.extend(capsules.iter().map(|capsule| capsule.id));
    }

    /// Says what is offered, or was taken last.
    pub fn broadcast_status(&mut self, frame: u64, status: Option<PowerupStatus>, sink: &mut dyn Sink) {
        let is_open = status.is_some_and(|status| status.offer != 0);
        let times = if is_open { u32::MAX } else { STATUS_TIMES };
        if let Some(status) = self.status.poll_times(frame, status, times) {
            sink.send(ToClient::PowerupStatus(status));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Heard;
    use super::*;
    use crate::classic::codec::PowerType;

    #[test]
    fn a_capsule_is_announced_when_it_appears_and_again_while_it_floats() {
        let (mut broadcaster, mut heard) = (PowerupBroadcaster::default(), Heard::default());
        let capsule = |frame: u64| PowerupSpawned { id: 4, x: 800.0 - frame as f32, y: 450.0, kind: 2 };
        (2..40).for_each(|frame| broadcaster.broadcast_spawned(frame, &[capsule(frame)], &mut heard));
        broadcaster.broadcast_spawned(40, &[], &mut heard);
        assert_eq!(heard.messages, [2, 11, 26].map(|frame| ToClient::PowerupSpawned(capsule(frame))));
    }

    #[test]
    fn an_offer_is_said_until_it_is_chosen_and_what_was_taken_eight_times() {
        let (mut broadcaster, mut heard) = (PowerupBroadcaster::default(), Heard::default());
        let choices = [PowerType::Thrusters, PowerType::Shield, PowerType::Drone];
        let offered = PowerupStatus { offer: 5, choices, taken: PowerType::None, level: 0 };
        let taken =
            PowerupStatus { offer: 0, choices: [PowerType::None; 3], taken: PowerType::Shield, level: 1 };
        broadcaster.broadcast_status(0, None, &mut heard);
        (1..601).for_each(|frame| broadcaster.broadcast_status(frame, Some(offered), &mut heard));
        assert_eq!(heard.messages, [ToClient::PowerupStatus(offered); 40]);
        heard.messages.clear();
        (601..1_201).for_each(|frame| broadcaster.broadcast_status(frame, Some(taken), &mut heard));
        assert_eq!(heard.messages, [ToClient::PowerupStatus(taken); 8]);
    }
}

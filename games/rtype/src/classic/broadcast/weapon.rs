//! Weapons: what is offered, and what was chosen.

use super::{Repeat, Sink};
use crate::classic::codec::{ToClient, WeaponConfirm, WeaponOffer};

/// How often a choice is confirmed: the weapon is in GAME_INFO as well.
const CONFIRM_TIMES: u32 = 8;

/// Says what is offered until it is chosen, and then what was.
#[derive(Clone, Debug, Default)]
pub struct WeaponBroadcaster {
    available: Repeat<WeaponOffer>,
    confirm: Repeat<WeaponConfirm>,
}

impl WeaponBroadcaster {
    /// Says what is offered.
    pub fn broadcast_available(&mut self, frame: u64, offer: Option<WeaponOffer>, sink: &mut dyn Sink) {
        if let Some(offer) = self.available.poll(frame, offer) {
            sink.send(ToClient::WeaponOffer(offer));
        }
    }

    /// Says what was chosen.
    pub fn broadcast_confirm(&mut self, frame: u64, confirm: Option<WeaponConfirm>, sink: &mut dyn Sink) {
        if let Some(confirm) = self.confirm.poll_times(frame, confirm, CONFIRM_TIMES) {
            sink.send(ToClient::WeaponConfirm(confirm));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Heard;
    use super::*;
    use crate::classic::codec::WeaponType;

    #[test]
    fn an_offer_is_said_until_it_is_chosen_and_the_choice_eight_times() {
        let (mut broadcaster, mut heard) = (WeaponBroadcaster::default(), Heard::default());
        let choices = [WeaponType::Spread, WeaponType::Lance, WeaponType::None];
        let offer = WeaponOffer { offer: 2, choices };
        let confirm = WeaponConfirm { offer: 2, weapon: WeaponType::Lance, level: 1 };
        for frame in 0..300 {
            let is_chosen = frame >= 60;
            broadcaster.broadcast_available(frame, (!is_chosen).then_some(offer), &mut heard);
            broadcaster.broadcast_confirm(frame, is_chosen.then_some(confirm), &mut heard);
        }
        let expected =
            [[ToClient::WeaponOffer(offer)].repeat(4), [ToClient::WeaponConfirm(confirm)].repeat(8)];
        assert_eq!(heard.messages, expected.concat());
    }
}

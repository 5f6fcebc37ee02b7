//! One classic player in the game: a Netloom client in the server's own process, steered by classic messages.
//!
//! Lobby, seats, inputs, offers: there is one way into the game, and this is a client that takes it. What it sees is turned into a
//! [`Scene`]; what its player says becomes inputs, lobby commands and calls.

mod look;
mod stick;
mod tracks;

use netloom::client::Client;
use netloom::prelude::{ClientEvent, Ending};
use netloom::session::client::Called;
use netloom::session::lobby::{LobbyCommand, LobbyEvent};
use netloom::session::rpc::ArgsError;
use netloom::wire::Micros;

use super::codec::{
    Choice, ErrorCode, GameOver, PlayerInput, PowerType, PowerupStatus, WeaponConfirm, WeaponOffer,
    WeaponType, opcode,
};
use super::scene::Scene;
use crate::protocol::{Act, asks, tells};
use stick::Stick;
use tracks::Tracks;

/// Somebody who plays for a classic client.
pub trait Pilot {
    /// Moves on to now; the reason for which it is over, once it is.
    fn advance(&mut self, now: Micros) -> Result<(), ErrorCode>;
    /// What there is to be seen.
    fn scene(&self) -> &Scene;
    /// The buttons that are held from now on.
    fn hold(&mut self, now: Micros, input: PlayerInput);
    /// Wants to begin.
    fn ready(&mut self);
    /// Chooses a power; `false` if nothing like that is offered.
    fn choose_power(&mut self, choice: Choice) -> bool;
    /// Chooses a weapon; `false` if nothing like that is offered.
    fn choose_weapon(&mut self, choice: Choice) -> bool;
    /// The opcode of a request that the game refused. Ask until `None`.
    fn poll_refused(&mut self) -> Option<u8>;
    /// Begins to go; [`advance`](Pilot::advance) ends it.
    fn leave(&mut self);
}

/// A pilot whose cockpit is a Netloom client.
pub struct NetloomPilot {
    client: Client<Act>,
    scene: Scene,
    stick: Stick,
    tracks: Tracks,
    /// To be told to the lobby, once there is one.
    wants_to_begin: bool,
    /// Offers that were answered, powers and weapons: whoever repeats an answer is not refused for it.
    answered: [u16; 2],
    refused: Option<u8>,
}

impl NetloomPilot {
    /// For a client that connects, or is connected.
    pub fn new(client: Client<Act>) -> NetloomPilot {
        NetloomPilot {
            client,
            scene: Scene::default(),
            stick: Stick::default(),
            tracks: Tracks::default(),
            wants_to_begin: false,
            answered: [0; 2],
            refused: None,
        }
    }

    fn tell_lobby(&mut self) {
        let Some(lobby) = self.scene.lobby else { return };
        if std::mem::take(&mut self.wants_to_begin)
            && !lobby.your_ready
            && let Err(error) = self.client.lobby(LobbyCommand::Ready(true))
        {
            tracing::debug!(%error, "nobody hears that a classic player is ready");
        }
    }

    fn handle_event(&mut self, event: ClientEvent) -> Result<(), ErrorCode> {
        match event {
            ClientEvent::Called(called) => {
                if let Err(error) = self.handle_call(&called) {
                    tracing::debug!(%error, call = &*called.name, "a call of the game makes no sense");
                }
            }
            ClientEvent::CallRefused { name: Some(name), .. } => {
                self.refused = match &*name {
                    asks::CHOOSE_POWER => Some(opcode::POWERUP_CHOICE),
                    asks::CHOOSE_WEAPON => Some(opcode::WEAPON_UPGRADE_CHOICE),
                    _ => None,
                };
            }
            ClientEvent::Lobby(LobbyEvent::Started { .. } | LobbyEvent::Stopped) => {
                self.scene.clear_game();
                self.tracks.clear();
                self.answered = [0; 2];
            }
            ClientEvent::Ended(Ending::Refused { .. }) => return Err(ErrorCode::Full),
            ClientEvent::Ended(_) => return Err(ErrorCode::Ended),
            _ => {}
        }
        Ok(())
    }

    fn handle_call(&mut self, called: &Called) -> Result<(), ArgsError> {
        let scene = &mut self.scene;
        match &*called.name {
            tells::POWER_OFFERED => {
                let (offer, powers): (u16, Vec<u8>) = called.args()?;
                let taken = scene.powers.map_or((PowerType::None, 0), |powers| (powers.taken, powers.level));
                let choices = choices(&powers, PowerType::None, power_type);
                scene.powers = Some(PowerupStatus { offer, choices, taken: taken.0, level: taken.1 });
            }
            tells::POWER_STATUS => {
                let (power, level): (u8, u8) = called.args()?;
                let choices = [PowerType::None; 3];
                scene.powers = Some(PowerupStatus { offer: 0, choices, taken: power_type(power), level });
            }
            tells::WEAPON_OFFERED => {
                let (offer, weapons): (u16, Vec<u8>) = called.args()?;
                let choices = choices(&weapons, WeaponType::None, weapon_type);
                scene.weapons = Some(WeaponOffer { offer, choices });
            }
            tells::WEAPON_CONFIRMED => {
                let (weapon, level): (u8, u8) = called.args()?;
                let offer = scene.weapons.take().map_or(self.answered[1], |offered| offered.offer);
                scene.armed = Some(WeaponConfirm { offer, weapon: weapon_type(weapon), level });
            }
            tells::GAME_OVER => {
                let (won, score, level): (bool, u32, u8) = called.args()?;
                scene.over = Some(GameOver { won, score, level });
            }
            _ => {}
        }
        Ok(())
    }

    /// Answers an offer; `false` if that one is not open, or has no such choice. An answer to the one before is only late.
    fn answer(&mut self, kind: usize, call: &str, open: Option<(u16, usize)>, choice: Choice) -> bool {
        let Some(answered) = self.answered.get_mut(kind) else { return false };
        if *answered == choice.offer && choice.offer != 0 {
            return true;
        }
        let is_open = open.is_some_and(|(offer, count)| {
            offer != 0 && offer == choice.offer && usize::from(choice.choice) < count
        });
        let is_sent = is_open && self.client.call(call, &(choice.offer, choice.choice)).is_ok();
        if is_sent {
            *answered = choice.offer;
        }
        is_sent
    }
}

impl Pilot for NetloomPilot {
    fn advance(&mut self, now: Micros) -> Result<(), ErrorCode> {
        let failed = |error: netloom::Error| {
            tracing::warn!(%error, "a classic player's connection failed");
            ErrorCode::Ended
        };
        self.client.tick().map_err(failed)?;
        while let Some(event) = self.client.poll_event() {
            self.handle_event(event)?;
        }
        while let Some(step) = self.client.poll_step() {
            let act = Act { buttons: self.stick.take(now) };
            if let Err(error) = self.client.push_input(step, act) {
                tracing::debug!(%error, "an input has no step");
            }
        }
        self.tell_lobby();
        self.client.send().map_err(failed)?;
        look::refresh(&self.client, &mut self.tracks, &mut self.scene);
        Ok(())
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn hold(&mut self, now: Micros, input: PlayerInput) {
        self.stick.hold(now, input);
    }

    fn ready(&mut self) {
        self.wants_to_begin = true;
    }

    fn choose_power(&mut self, choice: Choice) -> bool {
        let open = self.scene.powers.map(|powers| {
            (powers.offer, powers.choices.iter().filter(|power| **power != PowerType::None).count())
        });
        self.answer(0, asks::CHOOSE_POWER, open, choice)
    }

    fn choose_weapon(&mut self, choice: Choice) -> bool {
        let open = self.scene.weapons.map(|weapons| {
            (weapons.offer, weapons.choices.iter().filter(|weapon| **weapon != WeaponType::None).count())
        });
        self.answer(1, asks::CHOOSE_WEAPON, open, choice)
    }

    fn poll_refused(&mut self) -> Option<u8> {
        let refused = self.refused.take();
        // It may choose again, and otherwise.
        match refused {
            Some(opcode::POWERUP_CHOICE) => self.answered[0] = 0,
            Some(_) => self.answered[1] = 0,
            None => {}
        }
        refused
    }

    fn leave(&mut self) {
        let now = self.client.now();
        self.client.disconnect(now);
    }
}

/// The first three of what is offered.
fn choices<T: Copy>(offered: &[u8], none: T, of: impl Fn(u8) -> T) -> [T; 3] {
    let mut choices = [none; 3];
    for (choice, index) in choices.iter_mut().zip(offered) {
        *choice = of(*index);
    }
    choices
}

/// The classic number of a [`Power`](crate::protocol::Power).
fn power_type(index: u8) -> PowerType {
    PowerType::from_code(index.saturating_add(1)).unwrap_or(PowerType::None)
}

/// The classic number of a [`Weapon`](crate::protocol::Weapon).
fn weapon_type(index: u8) -> WeaponType {
    WeaponType::from_code(index.saturating_add(1)).unwrap_or(WeaponType::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Power, Weapon};
    use netloom::replicated::Choice as _;

    #[test]
    fn powers_and_weapons_have_their_classic_numbers() {
        let powers = [Power::Thrusters, Power::Shield, Power::Drone].map(|power| power.index() as u8);
        assert_eq!(powers.map(power_type), [PowerType::Thrusters, PowerType::Shield, PowerType::Drone]);
        let weapons = [Weapon::Cannon, Weapon::Spread, Weapon::Lance, Weapon::Seeker];
        let types = [WeaponType::Cannon, WeaponType::Spread, WeaponType::Lance, WeaponType::Seeker];
        assert_eq!(weapons.map(|weapon| weapon_type(weapon.index() as u8)), types);
        assert_eq!((power_type(255), weapon_type(9)), (PowerType::None, WeaponType::None));
        assert_eq!(choices(&[1, 0, 2, 1], PowerType::None, power_type).len(), 3);
    }
}

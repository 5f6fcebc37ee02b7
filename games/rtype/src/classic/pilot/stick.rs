//! What a player holds between two datagrams.
//!
//! A classic client says in every frame what is held. Between its frames and the server's steps there is a network: two inputs may come
//! for one step, or none for a while.

use netloom::wire::Micros;

use crate::classic::codec::PlayerInput;

/// How long buttons are held that were not said again: as long as the server flies on for anybody who is not heard.
const HOLD_MAX: Micros = Micros::from_millis(250);

/// What is held.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stick {
    held: PlayerInput,
    /// What was pressed since the last step, even if it was let go before it.
    pressed: PlayerInput,
    said_at: Micros,
}

impl Stick {
    /// These are held from now on.
    pub fn hold(&mut self, now: Micros, input: PlayerInput) {
        (self.held, self.said_at) = (input, now);
        if input.contains(PlayerInput::SHOOT) {
            self.pressed = PlayerInput::SHOOT;
        }
    }

    /// What the next step is made with.
    pub fn take(&mut self, now: Micros) -> u8 {
        let pressed = std::mem::take(&mut self.pressed);
        if now.since(self.said_at) > HOLD_MAX {
            self.held = PlayerInput::default();
        }
        self.held.with(pressed).bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_stays_held_for_a_while_and_a_short_shot_is_fired() {
        let mut stick = Stick::default();
        stick.hold(Micros::ZERO, PlayerInput::UP);
        assert_eq!(stick.take(Micros::ZERO), 0x01);
        assert_eq!(stick.take(Micros::from_millis(250)), 0x01);
        assert_eq!(stick.take(Micros::from_millis(251)), 0);
        stick.hold(Micros::from_millis(300), PlayerInput::SHOOT.with(PlayerInput::LEFT));
        stick.hold(Micros::from_millis(301), PlayerInput::DOWN);
        assert_eq!(stick.take(Micros::from_millis(302)), 0x12, "the shot, and the newest direction");
        assert_eq!(stick.take(Micros::from_millis(302)), 0x02);
    }
}

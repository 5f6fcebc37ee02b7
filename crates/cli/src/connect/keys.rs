//! Keys as steering. A terminal says when a key is pressed, and again while it is held, but not when it is let go: so a
//! direction lasts a little longer than the keyboard's pause before it repeats.

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

use crate::games::Steering;

/// How long a press lasts.
const HOLD: Duration = Duration::from_millis(350);

/// What the keys say.
#[derive(Debug, Default)]
pub struct Keys {
    right: Option<(i8, Instant)>,
    up: Option<(i8, Instant)>,
    acts: bool,
    acts_otherwise: bool,
    /// Whether to leave.
    pub quits: bool,
}

impl Keys {
    pub fn handle(&mut self, event: &Event, now: Instant) {
        let Event::Key(key) = event else { return };
        if key.kind == KeyEventKind::Release {
            return;
        }
        let until = now + HOLD;
        match key.code {
            KeyCode::Left | KeyCode::Char('a') => self.right = Some((-1, until)),
            KeyCode::Right | KeyCode::Char('d') => self.right = Some((1, until)),
            KeyCode::Up | KeyCode::Char('w') => self.up = Some((1, until)),
            KeyCode::Down | KeyCode::Char('s') => self.up = Some((-1, until)),
            KeyCode::Char(' ') => self.acts = true,
            KeyCode::Char('x') => self.acts_otherwise = true,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => self.quits = true,
            KeyCode::Char('q') | KeyCode::Esc => self.quits = true,
            _ => {}
        }
    }

    /// What to do in this frame.
    pub fn steering(&mut self, now: Instant) -> Steering {
        let way =
            |held: Option<(i8, Instant)>| held.filter(|(_, until)| now < *until).map_or(0, |(way, _)| way);
        let once = |pressed: &mut bool| std::mem::take(pressed);
        let (right, up) = (way(self.right), way(self.up));
        Steering { right, up, acts: once(&mut self.acts), acts_otherwise: once(&mut self.acts_otherwise) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyEvent;

    fn press(code: KeyCode) -> Event {
        Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn a_direction_lasts_for_a_moment_and_an_act_for_a_frame() {
        let (mut keys, now) = (Keys::default(), Instant::now());
        for code in [KeyCode::Left, KeyCode::Char('w'), KeyCode::Char(' '), KeyCode::Char('x')] {
            keys.handle(&press(code), now);
        }
        let held = Steering { right: -1, up: 1, ..Steering::default() };
        assert_eq!(keys.steering(now), Steering { acts: true, acts_otherwise: true, ..held });
        assert_eq!(keys.steering(now + HOLD / 2), held);
        assert_eq!(keys.steering(now + HOLD), Steering::default());
        assert!(!keys.quits);
        keys.handle(&press(KeyCode::Char('q')), now);
        assert!(keys.quits);
    }
}

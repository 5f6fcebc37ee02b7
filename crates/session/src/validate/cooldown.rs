//! Actions that cannot be repeated at once.

use netloom_wire::Tick;

use super::reason::Reason;
use netloom_replica::SettingError;

/// Kinds of actions that have a cooldown, at most.
pub const ACTIONS_MAX: usize = 256;

/// A kind of action, by its place in the list that the cooldowns were made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActionId(pub u16);

/// When a client did what last, counted in the server's ticks.
///
/// ```
/// use netloom_session::validate::{ActionId, Cooldowns, Reason};
/// use netloom_wire::Tick;
///
/// const SHOT: ActionId = ActionId(0);
/// let mut cooldowns = Cooldowns::new(&[12])?; // 0.2 s at 60 ticks a second
/// assert_eq!(cooldowns.take(Tick(100), SHOT), Ok(()));
/// assert_eq!(cooldowns.take(Tick(111), SHOT), Err(Reason::Cooldown));
/// assert_eq!(cooldowns.take(Tick(112), SHOT), Ok(()));
/// # Ok::<(), netloom_replica::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cooldowns {
    actions: Vec<Action>,
}

#[derive(Clone, Copy, Debug)]
struct Action {
    cooldown_ticks: u32,
    taken: Option<Tick>,
}

impl Cooldowns {
    /// One action for each length of a cooldown in ticks, at most [`ACTIONS_MAX`]; zero has none.
    pub fn new(cooldowns_ticks: &[u32]) -> Result<Cooldowns, SettingError> {
        SettingError::check("cooldowns_ticks.len()", cooldowns_ticks.len(), 0..=ACTIONS_MAX, "at most 256")?;
        // Half of the range of ticks, so that the age of an action is never mistaken.
        for ticks in cooldowns_ticks {
            SettingError::check("cooldowns_ticks[]", *ticks, 0..=1 << 30, "0 to 1,073,741,824")?;
        }
        let action = |ticks: &u32| Action { cooldown_ticks: *ticks, taken: None };
        Ok(Cooldowns { actions: cooldowns_ticks.iter().map(action).collect() })
    }

    /// Takes an action in this tick, if its cooldown is over. Ticks do not go back.
    pub fn take(&mut self, now: Tick, action: ActionId) -> Result<(), Reason> {
        let action = self.actions.get_mut(usize::from(action.0)).ok_or(Reason::UnknownAction)?;
        if action.ticks_left(now) > 0 {
            return Err(Reason::Cooldown);
        }
        action.taken = Some(now);
        Ok(())
    }

    /// How many ticks an action still has to wait; `None` for one that there is not.
    pub fn ticks_left(&self, now: Tick, action: ActionId) -> Option<u32> {
        self.actions.get(usize::from(action.0)).map(|action| action.ticks_left(now))
    }

    /// Ends every cooldown: a player comes to life again, or a round begins.
    pub fn reset(&mut self) {
        self.actions.iter_mut().for_each(|action| action.taken = None);
    }
}

impl Action {
    fn ticks_left(&self, now: Tick) -> u32 {
        let passed = |taken: Tick| now.0.wrapping_sub(taken.0);
        self.taken.map_or(0, |taken| self.cooldown_ticks.saturating_sub(passed(taken)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_action_has_its_own_cooldown_across_the_wrap_of_ticks() {
        let mut cooldowns = Cooldowns::new(&[12, 0, 600]).unwrap();
        let start = Tick(u32::MAX - 5);
        for action in [0, 1, 2] {
            assert_eq!(cooldowns.take(start, ActionId(action)), Ok(()));
        }
        assert_eq!(cooldowns.take(start, ActionId(0)), Err(Reason::Cooldown));
        assert_eq!(cooldowns.take(start, ActionId(1)), Ok(()));
        assert_eq!(cooldowns.take(start.plus(11), ActionId(0)), Err(Reason::Cooldown));
        assert_eq!(cooldowns.take(start.plus(12), ActionId(0)), Ok(()));
        assert_eq!(cooldowns.ticks_left(start.plus(12), ActionId(2)), Some(588));
        cooldowns.reset();
        assert_eq!(cooldowns.take(start.plus(13), ActionId(2)), Ok(()));
    }

    #[test]
    fn a_refused_action_does_not_begin_its_cooldown_anew() {
        let mut cooldowns = Cooldowns::new(&[12]).unwrap();
        let taken = (0..120).filter(|tick| cooldowns.take(Tick(*tick), ActionId(0)).is_ok()).count();
        assert_eq!(taken, 10, "whoever tries at every tick gets one in twelve");
    }

    #[test]
    fn an_unknown_action_and_too_many_of_them_are_refused() {
        assert_eq!(Cooldowns::new(&[1]).unwrap().take(Tick(0), ActionId(1)), Err(Reason::UnknownAction));
        assert_eq!(Cooldowns::new(&[0; 257]).unwrap_err().field, "cooldowns_ticks.len()");
        assert_eq!(Cooldowns::new(&[u32::MAX]).unwrap_err().field, "cooldowns_ticks[]");
    }
}

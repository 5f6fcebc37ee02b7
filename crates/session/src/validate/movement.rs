//! Whether somebody can have come from there to here.

use netloom_wire::Micros;

use super::account::Account;
use super::reason::Reason;
use netloom_replica::SettingError;

/// How an object may move that somebody else than the server moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovementRule {
    /// The greatest speed in metres per second: above 0, to 1,000,000.
    pub speed_max: f64,
    /// What is still taken for rounding and unsteady clocks, in percent of that speed: 100 to 1,000.
    pub tolerance_percent: u32,
    /// How much time a single move may make up for, after a pause of the network: 1 ms to 60 s.
    pub slack: Micros,
}

impl MovementRule {
    /// A rule with a tolerance of 120 % and a slack of 500 ms.
    pub fn new(speed_max: f64) -> MovementRule {
        MovementRule { speed_max, tolerance_percent: 120, slack: Micros::from_millis(500) }
    }

    /// Reports the first field that is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check(
            "movement.speed_max",
            self.speed_max,
            f64::MIN_POSITIVE..=1e6,
            "above 0, to 1,000,000",
        )?;
        SettingError::check(
            "movement.tolerance_percent",
            self.tolerance_percent,
            100..=1_000,
            "100 to 1,000",
        )?;
        SettingError::check(
            "movement.slack",
            self.slack.0,
            1_000..=60_000_000,
            "1,000 to 60,000,000 microseconds",
        )
    }

    /// How long the way takes at the greatest speed with its tolerance.
    fn duration_of(&self, distance: f64) -> u64 {
        let metres_per_second = self.speed_max * f64::from(self.tolerance_percent) / 100.0;
        // A cast saturates: what takes longer than time itself costs all of it.
        (distance / metres_per_second * 1e6).ceil() as u64
    }
}

/// Where an object was taken to be last, and how much of the server's time there was since.
///
/// A move costs the time that its way takes at the greatest speed, and only the server's time pays for it: claims of how
/// long it took are not asked for. What is refused costs nothing and moves nothing.
///
/// ```
/// use netloom_session::validate::{Movement, MovementRule, Reason};
/// use netloom_wire::Micros;
///
/// let mut movement = Movement::new(MovementRule::new(5.0), [0.0; 3], Micros::ZERO)?;
/// assert_eq!(movement.check(Micros::from_millis(100), [0.5, 0.0, 0.0]), Ok(()));
/// assert_eq!(movement.check(Micros::from_millis(200), [550.0, 0.0, 0.0]), Err(Reason::Teleport));
/// assert_eq!(movement.position(), [0.5, 0.0, 0.0]);
/// # Ok::<(), netloom_replica::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Movement {
    rule: MovementRule,
    position: [f64; 3],
    account: Account,
    /// Where the server allowed the object to appear next, and how near to it.
    allowed: Option<([f64; 3], f64)>,
}

impl Movement {
    /// An object that is here now. It has moved for nothing yet, so there is no slack until time has passed.
    pub fn new(rule: MovementRule, position: [f64; 3], now: Micros) -> Result<Movement, SettingError> {
        rule.check()?;
        for metres in position {
            SettingError::check("position", metres, f64::MIN..=f64::MAX, "finite metres")?;
        }
        let mut account = Account::new(1, rule.slack.0, now);
        account.spend(rule.slack.0);
        Ok(Movement { rule, position, account, allowed: None })
    }

    /// Where it was taken to be last.
    pub fn position(&self) -> [f64; 3] {
        self.position
    }

    /// The server put it there: no way to pay for.
    pub fn place(&mut self, position: [f64; 3]) {
        self.position = position;
        self.allowed = None;
    }

    /// The server allows one jump to within `radius` of a place, when the client gets to it: through a portal, or to
    /// where it is to come to life.
    pub fn allow_teleport(&mut self, position: [f64; 3], radius: f64) {
        self.allowed = Some((position, radius));
    }

    /// Takes a new position, or says why not.
    pub fn check(&mut self, now: Micros, to: [f64; 3]) -> Result<(), Reason> {
        self.account.handle_time(now);
        if to.iter().any(|metres| !metres.is_finite()) {
            return Err(Reason::NotFinite);
        }
        if self.allowed.is_some_and(|(place, radius)| distance(place, to) <= radius) {
            self.place(to);
            return Ok(());
        }
        let cost = self.rule.duration_of(distance(self.position, to));
        if self.account.spend(cost) {
            self.position = to;
            return Ok(());
        }
        // Further than the slack ever pays for is no matter of speed any more.
        Err(if cost > self.account.credit_max() { Reason::Teleport } else { Reason::TooFast })
    }
}

fn distance(from: [f64; 3], to: [f64; 3]) -> f64 {
    let [x, y, z] = [from[0] - to[0], from[1] - to[1], from[2] - to[2]];
    x.hypot(y).hypot(z)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SPEED: f64 = 5.0;

    fn movement() -> Movement {
        Movement::new(MovementRule::new(SPEED), [0.0; 3], Micros::ZERO).unwrap()
    }

    /// How far a runner gets in ten seconds that claims this speed at every one of 60 moves a second.
    fn distance_at(speed: f64) -> (f64, u32) {
        let (mut movement, mut refused) = (movement(), 0);
        for number in 1..=600u64 {
            let ahead = movement.position()[0] + speed / 60.0;
            let is_refused = movement.check(Micros(number * 1_000_000 / 60), [ahead, 0.0, 0.0]).is_err();
            refused += u32::from(is_refused);
        }
        (movement.position()[0], refused)
    }

    #[test]
    fn running_is_free_up_to_the_tolerance_and_never_pays_beyond_it() {
        assert_eq!(distance_at(SPEED).1, 0);
        assert_eq!(distance_at(SPEED * 1.19).1, 0);
        for speed in [SPEED * 1.3, SPEED * 2.0, SPEED * 10.0] {
            let (metres, refused) = distance_at(speed);
            assert!(refused > 0 && metres <= SPEED * 1.2 * 10.0, "{metres} m at {speed} m/s");
        }
    }

    #[test]
    fn a_pause_of_the_network_is_made_up_for_and_a_longer_one_is_not() {
        let mut movement = movement();
        assert_eq!(movement.check(Micros::from_millis(500), [2.5, 0.0, 0.0]), Ok(()));
        assert_eq!(movement.check(Micros::from_secs(10), [50.0, 0.0, 0.0]), Err(Reason::Teleport));
        assert_eq!(movement.check(Micros::from_secs(10), [5.0, 0.0, 0.0]), Ok(()));
        assert_eq!(movement.check(Micros::from_secs(10), [6.0, 0.0, 0.0]), Err(Reason::TooFast));
    }

    #[test]
    fn a_jump_that_the_server_allowed_passes_once() {
        let mut movement = movement();
        let portal = [1_000.0, 0.0, 0.0];
        movement.allow_teleport(portal, 2.0);
        assert_eq!(movement.check(Micros::from_millis(10), [0.01, 0.0, 0.0]), Ok(()), "still on this side");
        assert_eq!(movement.check(Micros::from_millis(20), [1_001.0, 0.0, 0.0]), Ok(()));
        movement.place([0.0; 3]);
        assert_eq!(movement.check(Micros::from_millis(30), portal), Err(Reason::Teleport));
    }

    #[test]
    fn a_place_that_is_none_is_refused() {
        for metres in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(movement().check(Micros::from_secs(1), [0.0, metres, 0.0]), Err(Reason::NotFinite));
        }
        let far = movement().check(Micros::from_secs(1), [f64::MAX, f64::MIN, f64::MAX]);
        assert_eq!(far, Err(Reason::Teleport));
    }

    #[test]
    fn each_setting_out_of_its_range_is_named() {
        let valid = MovementRule::new(SPEED);
        let wrong = [
            ("movement.speed_max", MovementRule::new(0.0)),
            ("movement.speed_max", MovementRule::new(f64::NAN)),
            ("movement.tolerance_percent", MovementRule { tolerance_percent: 99, ..valid }),
            ("movement.slack", MovementRule { slack: Micros::ZERO, ..valid }),
        ];
        for (field, rule) in wrong {
            assert_eq!(Movement::new(rule, [0.0; 3], Micros::ZERO).unwrap_err().field, field);
        }
        assert_eq!(Movement::new(valid, [f64::NAN; 3], Micros::ZERO).unwrap_err().field, "position");
    }

    proptest! {
        #[test]
        fn no_sequence_of_moves_gets_further_than_the_servers_time_allows(
            steps in proptest::collection::vec((0u64..2_000_000, any::<[i16; 3]>()), 1..100),
        ) {
            let (mut movement, mut now, mut way) = (movement(), Micros::ZERO, 0.0);
            for (elapsed, offset) in steps {
                now += Micros(elapsed);
                let before = movement.position();
                let offset = offset.map(|part| f64::from(part) / 4_096.0);
                let to = [before[0] + offset[0], before[1] + offset[1], before[2] + offset[2]];
                if movement.check(now, to).is_ok() {
                    way += distance(before, movement.position());
                }
                prop_assert!(way <= SPEED * 1.2 * now.as_secs_f64() + 1e-6);
            }
        }
    }
}

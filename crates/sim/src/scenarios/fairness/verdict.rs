//! What must hold at the end of a run, and by how much it may miss.

use netloom_replica::server::rewind::RewindConfig;
use netloom_wire::Micros;

use super::tally::Tally;
use super::{COOLDOWN_STEPS, Conduct, ROLES, Role};
use crate::check::Violation;

/// The first so many roles must be equal.
pub const EQUALS: usize = 4;
/// The honest one that cheats are compared with.
const REFERENCE: usize = 1;

/// Hit rates may be so many points apart.
const APART_POINTS_MAX: f64 = 5.0;
/// And are not lower than this: the spread of the players' aim leaves so much.
const HIT_PERCENT_MIN: f64 = 80.0;
/// Targets are judged so near to where they were shown, in the middle over all shots.
const BESIDE_CM_MAX: f64 = 1.5;
/// The same where a slow machine's inputs are already beyond the clamp now and then.
const BESIDE_CM_MAX_AT_CLAMP: f64 = 9.0;
/// So many claims of honest players are moved, other than by the clamp. It is one in a thousand, but a client that lost two
/// snapshots in a row shows the world 160 ms late for some seconds, and the server expects 100 ms and 50 of tolerance.
const MOVED_PERCENT_MAX: f64 = 8.0;
/// A cheat may hit as often as the honest one, and by chance a little more often.
const LUCK_POINTS: f64 = 3.0;
/// Beside the tolerance, what jitter and frames do to a view.
const SLOP: Micros = Micros::from_millis(20);
/// A view may gain or lose as much in a tenth of a second: a tenth of it, twice the jitter, and what the server's idea of the
/// round trip and of the wait changes.
const PACE_US_MAX: i64 = 10_000 + 20_000 + 10_000;
/// Steps that a game which runs a step per input may be ahead: the burst, and the one that is being run.
const AHEAD_STEPS_MAX: i64 = 8 + 1;
/// Who withholds inputs for two fifths of the time is heard in the rest, and a few steps beyond.
const IN_TIME_SHARE_MAX: f64 = 0.7;
/// A cheat walks no farther than this share of the honest way.
const WAY_SHARE_MAX: f64 = 1.001;

/// The largest difference of any two.
pub fn apart(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) =
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    (high - low).max(0.0)
}

/// Every promise, for the tallies of [`ROLES`].
pub fn check(tallies: &[Tally]) -> Result<(), Violation> {
    let rules = RewindConfig::default();
    let clamp = Micros::from_millis(rules.rewind_ms_max.into());
    let cast = || ROLES.iter().zip(tallies);
    for (role, tally) in cast() {
        require("nobody is rewound farther than the clamp", tally.rewound_max <= clamp, role, || {
            format!("rewound by {:.1} ms", tally.rewound_max.as_millis_f64())
        })?;
        require(
            "steps per input come no faster than time",
            tally.ahead_steps_max <= AHEAD_STEPS_MAX,
            role,
            || format!("{} steps ahead", tally.ahead_steps_max),
        )?;
    }
    for (role, tally) in cast().filter(|(role, _)| role.conduct == Conduct::Honest) {
        check_honest(role, tally)?;
    }
    check_equal(tallies)?;
    let far = &tallies[EQUALS];
    let is_clamped = clamp.as_millis_f64() - far.rewound_ms() < 1.0;
    require("beyond the clamp everybody is judged at the clamp", is_clamped, &ROLES[EQUALS], || {
        format!("rewound by {:.1} ms in the middle", far.rewound_ms())
    })?;
    let tolerance = Micros::from_millis(rules.tolerance_ms.into()) + SLOP;
    let honest = &tallies[REFERENCE];
    cast().skip(EQUALS + 1).try_for_each(|(role, tally)| check_cheat(role, tally, honest, tolerance))
}

fn check_honest(role: &Role, tally: &Tally) -> Result<(), Violation> {
    require("honest players are believed", tally.moved_percent() <= MOVED_PERCENT_MAX, role, || {
        format!("{:.1} % of the claims were moved", tally.moved_percent())
    })?;
    // Most steps are simulated with what the player did: or the figures would be about something else.
    let is_heard = tally.real * 100 >= tally.steps * 97;
    require("inputs arrive in time", is_heard, role, || format!("{} of {} steps", tally.real, tally.steps))
}

fn check_equal(tallies: &[Tally]) -> Result<(), Violation> {
    let equals = || ROLES.iter().zip(tallies).take(EQUALS);
    for (role, tally) in equals() {
        require("who aims well hits", tally.hit_percent() >= HIT_PERCENT_MIN, role, || {
            format!("{:.1} % of {} shots", tally.hit_percent(), tally.shots)
        })?;
        let is_at_clamp = tally.clamped > 0;
        let beside_cm_max = if is_at_clamp { BESIDE_CM_MAX_AT_CLAMP } else { BESIDE_CM_MAX };
        require("what was shown is what is judged", tally.beside_cm() <= beside_cm_max, role, || {
            format!("judged {:.1} cm beside", tally.beside_cm())
        })?;
    }
    let apart = apart(equals().map(|(_, tally)| tally.hit_percent()));
    require("distance costs nothing", apart <= APART_POINTS_MAX, &ROLES[0], || {
        let rates = equals().map(|(role, tally)| format!("{}: {:.1} %", role.name, tally.hit_percent()));
        rates.collect::<Vec<_>>().join("; ")
    })
}

/// What a cheat could have gained over the honest shooter with the same round trip.
fn check_cheat(role: &Role, tally: &Tally, honest: &Tally, tolerance: Micros) -> Result<(), Violation> {
    let most = honest.hit_percent() + LUCK_POINTS;
    require("no cheat hits more", tally.hit_percent() <= most, role, || {
        format!("{:.1} %, honest {:.1} %", tally.hit_percent(), honest.hit_percent())
    })?;
    let hits_most = honest.hits as f64 * (1.0 + LUCK_POINTS / 100.0);
    require("no cheat has more hits", tally.hits as f64 <= hits_most, role, || {
        format!("{} hits, honest {}", tally.hits, honest.hits)
    })?;
    let shots_most = tally.steps / u64::from(COOLDOWN_STEPS) + 1;
    require("no cheat shoots more often", tally.shots <= shots_most, role, || {
        format!("{} shots", tally.shots)
    })?;
    let is_one_each = tally.steps <= honest.steps && tally.way_metres <= honest.way_metres * WAY_SHARE_MAX;
    require("no cheat walks farther", is_one_each, role, || {
        format!("{:.1} m, honest {:.1} m", tally.way_metres, honest.way_metres)
    })?;
    let is_late_lost = tally.real as f64 <= IN_TIME_SHARE_MAX * tally.steps as f64;
    require(
        "inputs withheld are inputs lost",
        is_late_lost || role.conduct != Conduct::Withheld,
        role,
        || format!("{} of {} steps had one", tally.real, tally.steps),
    )?;
    // Whoever sends early waits longer, and whoever acknowledges late has seen less: both are judged later, and that is no lie.
    // The clamp alone holds for them.
    if matches!(role.conduct, Conduct::FastClock | Conduct::Flood | Conduct::Withheld) {
        return Ok(());
    }
    let honest_ms = honest.rewound_ms();
    let oldest_ms = honest_ms + tolerance.as_millis_f64();
    let farthest_ms = tally.rewound_believed_max.as_millis_f64();
    require("no cheat shoots at the past", farthest_ms <= oldest_ms, role, || {
        format!("rewound by {farthest_ms:.1} ms, honest {honest_ms:.1} ms")
    })?;
    let least = tally.rewound_min.unwrap_or_default().as_millis_f64();
    require("no cheat shoots at the future", least + tolerance.as_millis_f64() >= honest_ms, role, || {
        format!("rewound by {least:.1} ms, honest {honest_ms:.1} ms")
    })?;
    // Other bounds move a view faster than this, and rightly so: it is asked where they do not.
    let (slowest, fastest) = tally.pace_us;
    let is_steady = -slowest <= PACE_US_MAX && fastest <= PACE_US_MAX;
    require("no view stands still", is_steady || role.conduct != Conduct::FrozenView, role, || {
        format!("{slowest} to {fastest} µs beside time in a tenth of a second")
    })
}

fn require(
    rule: &'static str,
    is_kept: bool,
    role: &Role,
    detail: impl FnOnce() -> String,
) -> Result<(), Violation> {
    if is_kept { Ok(()) } else { Err(Violation::new(rule, format!("{}: {}", role.name, detail()))) }
}

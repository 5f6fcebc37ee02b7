//! What concerns everybody: bosses, beams, and how it ended.

use netloom::prelude::{Choice, PlayerId};

use super::Sink;
use crate::protocol::{EnemyKind, tells};
use crate::rules::{Event, State};

/// Tells of bosses and of the end.
pub fn broadcast(event: &Event, state: &State, sink: &mut impl Sink) {
    match *event {
        Event::BossSpawned { kind, .. } => {
            sink.tell_all(tells::BOSS_SPAWNED, &(kind.index(), name_of(kind)));
        }
        Event::GameLost => broadcast_game_over(false, state, sink),
        Event::GameWon => broadcast_game_over(true, state, sink),
        _ => {}
    }
}

/// It is over: whether it was won, with how many points of all, and in which level.
pub fn broadcast_game_over(won: bool, state: &State, sink: &mut impl Sink) {
    sink.tell_all(tells::GAME_OVER, &(won, score_of_all(state), state.level));
}

/// A beam: whose, from where, to where, and to whoever fired it how many it hit.
pub fn broadcast_beam(beam: &Beam, pilot: Option<PlayerId>, sink: &mut impl Sink) {
    sink.tell_all(tells::BEAM, &(beam.seat, beam.x, beam.y, beam.reach));
    if let Some(player) = pilot {
        sink.tell(player, tells::BEAM_HITS, &(beam.hits,));
    }
}

/// A beam that was judged, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beam {
    /// Of which seat.
    pub seat: usize,
    /// Where it begins.
    pub x: i32,
    /// How high it is.
    pub y: i32,
    /// Where it ends.
    pub reach: i32,
    /// How many it hit.
    pub hits: u32,
}

/// The points of all ships together.
pub fn score_of_all(state: &State) -> u32 {
    state.ships.iter().flatten().map(|ship| ship.score.max(0) as u32).sum()
}

/// What a boss is called.
fn name_of(kind: EnemyKind) -> &'static str {
    match kind {
        EnemyKind::Warden => "Warden",
        EnemyKind::Leviathan => "Leviathan",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Heard, Told};
    use super::*;
    use crate::rules::Levels;

    #[test]
    fn bosses_and_the_end_are_told_to_all() {
        let mut state = State::new(&Levels::embedded(), 1, 1);
        for seat in 0..2 {
            state.add_ship(seat);
            state.ships[seat].as_mut().unwrap().score = 1_500;
        }
        let mut sink = Told::default();
        broadcast(&Event::BossSpawned { id: 4, kind: EnemyKind::Leviathan }, &state, &mut sink);
        broadcast(&Event::GameLost, &state, &mut sink);
        broadcast(&Event::GameWon, &state, &mut sink);
        broadcast(&Event::ShipBack { seat: 0 }, &state, &mut sink);
        assert_eq!(
            sink.heard,
            [
                Heard::all(tells::BOSS_SPAWNED, &(7, "Leviathan")),
                Heard::all(tells::GAME_OVER, &(false, 3_000, 1)),
                Heard::all(tells::GAME_OVER, &(true, 3_000, 1)),
            ]
        );
    }

    #[test]
    fn a_beam_is_told_to_all_and_its_hits_to_whoever_fired_it() {
        let (mut sink, ada) = (Told::default(), PlayerId(3));
        let beam = Beam { seat: 1, x: 200, y: 450, reach: 1_600, hits: 2 };
        broadcast_beam(&beam, Some(ada), &mut sink);
        broadcast_beam(&beam, None, &mut sink);
        let seen = Heard::all(tells::BEAM, &(1, 200, 450, 1_600));
        assert_eq!(sink.heard, [seen.clone(), Heard::one(ada, tells::BEAM_HITS, &(2,)), seen]);
    }
}

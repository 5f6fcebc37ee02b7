//! What beams hit: what their shooters saw.
//!
//! A beam is there at once, from the nose of a ship to the right edge. While the button travels to the server, enemies fly on, and a
//! player who had one in the line would miss it by its way of a quarter of a second. So places are those that the shooter's screen
//! showed ([`Rewind`](netloom::replica::server::Rewind)), as far as the server believes that; the ship itself is where it is, since
//! its player sees it ahead of time. Who asks for it is judged by the present instead, to see the difference.

use netloom::prelude::*;
use netloom::replica::server::Rewind;
use netloom::replica::server::rewind::PastView;

use crate::broadcast::entity::EntityBroadcaster;
use crate::broadcast::game::Beam;
use crate::prediction::units;
use crate::rules::{State, WIDTH, beam_crosses, beam_stops};

/// Judges a beam, and lets it strike.
pub(super) fn judge(
    mut beam: Beam,
    state: &mut State,
    entities: &EntityBroadcaster,
    past: Option<(&Rewind, PastView)>,
) -> Beam {
    let place = |object: Option<ObjectIndex>, now: [i32; 2]| match past {
        Some((rewind, view)) => {
            let [x, y, _] = rewind.position_at(view, object?).ok()??;
            Some(units([x as f32, y as f32]))
        }
        None => Some(now),
    };
    beam.reach = state.debris.iter().fold(WIDTH, |end, debris| {
        match place(entities.debris(debris.id), [debris.x, debris.y]) {
            Some([x, y]) => beam_stops(beam.x, end, beam.y, debris.half(), x, y),
            None => end,
        }
    });
    // Striking removes what is destroyed: those that are left move up.
    let mut index = 0;
    while let Some(enemy) = state.enemies.get(index) {
        let (id, kind) = (enemy.id, enemy.kind);
        let is_hit = place(entities.enemy(id), [enemy.x, enemy.y])
            .is_some_and(|[x, y]| beam_crosses(beam.x, beam.reach, beam.y, kind, x, y));
        if is_hit && state.strike(beam.seat, id) {
            beam.hits += 1;
        }
        if state.enemies.get(index).is_some_and(|enemy| enemy.id == id) {
            index += 1;
        }
    }
    beam
}

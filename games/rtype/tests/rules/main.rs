//! The rules of the game, as players and other implementations rely on them.

mod balance;
mod enemies;
mod fights;
mod levels;
mod logs;
mod offers;

use netloom_rtype::rules::*;

/// A level in which nothing happens for almost ten minutes.
fn empty() -> Levels {
    let level = r#"{ "name": "Empty", "seconds": 600,
        "waves": [ { "at_seconds": 599, "spawns": [ { "kind": "drone" } ] } ] }"#;
    Levels::new(Levels::parse("empty.json", level).expect("well formed"), Vec::new())
}

/// A level that sends one of a kind at once, at the height of the second seat.
fn one_of(kind: &str) -> Levels {
    let level = format!(
        r#"{{ "name": "One", "seconds": 600, "waves": [ {{ "at_seconds": 0, "spawns": [
            {{ "kind": "{kind}", "y": 360 }} ] }}, {{ "at_seconds": 599, "spawns": [ {{ "kind": "drone" }} ] }} ] }}"#
    );
    Levels::new(Levels::parse("one.json", &level).expect("well formed"), Vec::new())
}

/// A level that is over after two seconds, and has a boss; 0 is the health that its kind has.
fn boss_level(boss: &str, health: i32) -> Levels {
    let level = format!(
        r#"{{ "name": "Boss", "seconds": 2, "boss": "{boss}", "boss_health": {health}, "waves": [ {{ "at_seconds": 0, "spawns": [
            {{ "kind": "drone" }} ] }} ] }}"#
    );
    Levels::new(Levels::parse("boss.json", &level).expect("well formed"), Vec::new())
}

/// A game with ships in some seats, whom everything hits.
fn game(levels: &Levels, seats: &[usize]) -> State {
    let mut state = State::new(levels, 1, 1);
    for &seat in seats {
        state.add_ship(seat);
        ship_mut(&mut state, seat).pilotage.safe = 0;
    }
    state
}

fn ship(state: &State, seat: usize) -> &Ship {
    state.ships[seat].as_ref().expect("a ship")
}

fn ship_mut(state: &mut State, seat: usize) -> &mut Ship {
    state.ships[seat].as_mut().expect("a ship")
}

fn enemy_at(id: u32, kind: EnemyKind, x: i32, y: i32) -> Enemy {
    let health = traits(kind).health;
    Enemy {
        id,
        kind,
        x,
        y,
        vx: 0,
        vy: 0,
        health,
        health_max: health,
        mood: MOOD_CALM,
        timer: 0,
        fire_every: 0,
        fire_in: 0,
        count: 0,
        carries: false,
    }
}

fn pellet_at(x: i32, y: i32) -> Shot {
    Shot {
        id: 9_000,
        kind: ShotKind::Pellet,
        seat: NO_SEAT,
        x,
        y,
        vx: 0,
        vy: 0,
        damage: 0,
        life: 100,
        struck: 0,
    }
}

/// What all bots press, with what their beams hit and their answers. Returns the events of the step.
fn step_bots(state: &mut State, levels: &Levels) -> Vec<Event> {
    let mut pressed = [0; SEATS];
    for (seat, pressed) in pressed.iter_mut().enumerate() {
        *pressed = bot::buttons(state, seat);
    }
    state.step(levels, &pressed);
    for event in state.events.clone() {
        if let Event::Beam { seat, .. } = event {
            for enemy in state.beam_targets(seat) {
                state.strike(seat, enemy);
            }
        }
    }
    for seat in 0..SEATS {
        bot::choose(state, seat);
    }
    state.events.clone()
}

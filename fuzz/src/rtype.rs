//! R-TYPE: levels that anybody wrote, and players who press, choose and claim anything.

use netloom_rtype::rules::{
    CAPSULES_MAX, DEBRIS_MAX, ENEMIES_MAX, ENEMY_SHOTS_MAX, HEIGHT, Levels, MARGIN, NO_SEAT, SEATS,
    SHIP_EDGE_X, SHIP_EDGE_Y, SHIP_SHOTS_MAX, State, WIDTH, bot,
};

use crate::input::Input;

/// Steps that a level is played.
const LEVEL_STEPS: u32 = 400;
/// Operations per input.
const OPERATIONS_MAX: usize = 300;
/// Steps per input.
const STEPS_MAX: u32 = 8_000;

/// Reads a level, and plays it if it is one.
pub fn rtype_level(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Levels::parse("fuzzed.json", text) {
        Err(error) => assert!(error.to_string().starts_with("fuzzed.json, line "), "{error}"),
        Ok(level) => {
            let levels = Levels::new(level, Vec::new());
            let mut state = State::new(&levels, 1, data.len() as u32);
            for seat in 0..SEATS {
                state.add_ship(seat);
            }
            for _ in 0..LEVEL_STEPS {
                let pressed = [0, 1, 2, 3].map(|seat| bot::buttons(&state, seat));
                state.step(&levels, &pressed);
                check(&state);
            }
        }
    }
}

/// Plays a game of the levels that come with it, twice.
pub fn rtype_rules(data: &[u8]) {
    let levels = Levels::embedded();
    assert_eq!(play(data, &levels), play(data, &levels));
}

fn play(data: &[u8], levels: &Levels) -> u32 {
    let mut input = Input::new(data);
    let mut state = State::new(levels, input.u8() % levels.len() + 1, input.u32());
    let mut pressed = [0; SEATS];
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() || state.step >= STEPS_MAX {
            break;
        }
        let operation = input.u8() % 8;
        let argument = input.u8();
        let seat = usize::from(argument % 6);
        match operation {
            0 => state.add_ship(seat),
            1 => state.remove_ship(seat),
            2 => pressed[seat % SEATS] = input.u8(),
            3 => {
                let _ = state.choose_power(seat, input.u8().into(), input.u8());
            }
            4 => {
                let _ = state.choose_weapon(seat, input.u8().into(), input.u8());
            }
            5 => {
                state.strike(seat, input.u8().into());
            }
            6 => {
                for enemy in state.beam_targets(seat) {
                    assert!(state.strike(seat, enemy), "what a beam hits is there");
                }
            }
            _ => {
                for _ in 0..=argument {
                    state.step(levels, &pressed);
                    check(&state);
                }
            }
        }
    }
    state.hash()
}

fn check(state: &State) {
    let inside =
        |x: i32, y: i32| (-MARGIN..=WIDTH + MARGIN).contains(&x) && (-MARGIN..=HEIGHT + MARGIN).contains(&y);
    assert!(state.enemies.iter().all(|enemy| inside(enemy.x, enemy.y) && enemy.health > 0));
    assert!(state.shots.iter().all(|shot| inside(shot.x, shot.y) && shot.life > 0));
    assert!(state.capsules.iter().all(|capsule| inside(capsule.x, capsule.y)));
    assert!(state.debris.iter().all(|debris| inside(debris.x, debris.y)));
    assert!(state.enemies.len() <= ENEMIES_MAX && state.capsules.len() <= CAPSULES_MAX);
    assert!(state.debris.len() <= DEBRIS_MAX);
    assert!(state.shots.iter().filter(|shot| shot.seat == NO_SEAT).count() <= ENEMY_SHOTS_MAX);
    assert!(state.shots.len() <= ENEMY_SHOTS_MAX + SEATS * SHIP_SHOTS_MAX);
    for ship in state.ships.iter().flatten() {
        assert!((SHIP_EDGE_X..=WIDTH - SHIP_EDGE_X).contains(&ship.pilotage.x));
        assert!((SHIP_EDGE_Y..=HEIGHT - SHIP_EDGE_Y).contains(&ship.pilotage.y));
        assert_eq!(ship.lives == 0, ship.is_out());
    }
}

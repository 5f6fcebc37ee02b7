//! Who hits whom, what it costs and what it pays.

use super::*;

fn steps(state: &mut State, levels: &Levels, count: u32, pressed: [u8; SEATS]) -> Vec<Event> {
    let mut events = Vec::new();
    for _ in 0..count {
        state.step(levels, &pressed);
        events.extend(state.events.clone());
    }
    events
}

const SHOOT: [u8; SEATS] = [buttons::SHOOT, 0, 0, 0];
const BEAM: [u8; SEATS] = [buttons::BEAM, 0, 0, 0];

#[test]
fn a_shot_kills_and_pays_its_shooter() {
    let levels = empty();
    let mut state = game(&levels, &[0, 1]);
    state.enemies.push(enemy_at(9_000, EnemyKind::Drone, 800, 180));
    let events = steps(&mut state, &levels, 60, SHOOT);
    assert!(events.contains(&Event::EnemyKilled {
        id: 9_000,
        kind: EnemyKind::Drone,
        x: 800,
        y: 180,
        by: 0
    }));
    assert_eq!((ship(&state, 0).score, ship(&state, 1).score), (traits(EnemyKind::Drone).points, 0));
}

#[test]
fn shots_appear_at_the_nose_and_move_from_the_next_step_on() {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    state.step(&levels, &SHOOT);
    let shot = state.shots[0];
    assert_eq!((shot.x, shot.y), (ship(&state, 0).pilotage.x + NOSE, ship(&state, 0).pilotage.y));
    state.step(&levels, &SHOOT);
    assert_eq!((state.shots[0].x, state.shots.len()), (shot.x + shot.vx, 1));
}

#[test]
fn a_lance_goes_through_and_hits_each_once() {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    ship_mut(&mut state, 0).pilotage.weapon = Weapon::Lance;
    state.enemies.push(enemy_at(9_000, EnemyKind::Turret, 700, 180));
    state.enemies.push(enemy_at(9_001, EnemyKind::Turret, 1_100, 180));
    state.step(&levels, &SHOOT);
    let damage = state.shots[0].damage;
    steps(&mut state, &levels, 80, [0; SEATS]);
    for enemy in &state.enemies {
        assert_eq!(enemy.health, enemy.health_max - damage);
    }
}

#[test]
fn a_seeker_finds_what_is_not_ahead() {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    ship_mut(&mut state, 0).pilotage.weapon = Weapon::Seeker;
    state.enemies.push(enemy_at(9_000, EnemyKind::Drone, 900, 700));
    let events = steps(&mut state, &levels, 150, SHOOT);
    assert!(events.iter().any(|event| matches!(event, Event::EnemyKilled { id: 9_000, .. })));
}

#[test]
fn debris_takes_the_shots_of_both_sides_and_stops_beams() {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    state.debris.push(Debris { id: 9_000, x: 600, y: 180, vx: 0, vy: 0, size: 5 });
    state.enemies.push(enemy_at(9_001, EnemyKind::Turret, 900, 180));
    state.shots.push(Shot { vx: -7, ..pellet_at(850, 180) });
    ship_mut(&mut state, 0).pilotage.energy = i32::from(BEAM_ENERGY);
    let events = steps(&mut state, &levels, 100, [buttons::SHOOT | buttons::BEAM, 0, 0, 0]);
    assert!(events.iter().any(|event| matches!(event, Event::Beam { seat: 0, .. })));
    assert!(state.beam_targets(0).is_empty());
    assert_eq!(state.beam_end(194, 180), 600 - state.debris[0].half());
    assert_eq!(state.enemies[0].health, state.enemies[0].health_max);
    assert_eq!(ship(&state, 0).lives, LIVES);
    assert!(state.shots.iter().all(|shot| shot.seat == 0 && shot.x < 600));
}

#[test]
fn a_beam_is_announced_and_hits_all_on_its_line_when_it_is_judged() {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    ship_mut(&mut state, 0).pilotage.energy = i32::from(BEAM_ENERGY) - 1;
    for (id, x, y) in [(9_000, 500, 180), (9_001, 1_500, 195), (9_002, 900, 230), (9_003, 60, 180)] {
        state.enemies.push(enemy_at(id, EnemyKind::Drone, x, y));
    }
    state.step(&levels, &BEAM);
    let (x, y) = start_of(0);
    assert!(state.events.contains(&Event::Beam { seat: 0, x: x + NOSE, y }));
    assert_eq!(state.enemies.len(), 4, "nothing is hit before somebody says so");
    let targets = state.beam_targets(0);
    assert_eq!(targets, [9_000, 9_001]);
    for target in targets {
        assert!(state.strike(0, target));
        assert!(!state.strike(0, target), "it is gone");
    }
    assert_eq!(ship(&state, 0).score, 2 * traits(EnemyKind::Drone).points);
    assert_eq!(ship(&state, 0).pilotage.energy, 0);
}

#[test]
fn a_hit_takes_the_shield_first_then_a_ship_which_comes_back_safe() {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    ship_mut(&mut state, 0).shield = 1;
    let (x, y) = start_of(0);
    state.shots.push(pellet_at(x, y));
    state.step(&levels, &[0; SEATS]);
    assert_eq!((ship(&state, 0).shield, ship(&state, 0).lives), (0, LIVES));
    assert!(state.events.contains(&Event::ShipHit { seat: 0 }) && state.shots.is_empty());

    ship_mut(&mut state, 0).pilotage.safe = 0;
    state.shots.push(pellet_at(x, y));
    state.step(&levels, &[0; SEATS]);
    assert!(state.events.contains(&Event::ShipDown { seat: 0, x, y, lives: LIVES - 1 }));
    let events = steps(&mut state, &levels, DOWN_STEPS as u32 - 1, SHOOT);
    assert!(events.is_empty(), "who is down neither fires nor is hit: {events:?}");
    state.shots.push(pellet_at(x, y));
    state.step(&levels, &[0; SEATS]);
    assert!(state.events.contains(&Event::ShipBack { seat: 0 }));
    assert_eq!(ship(&state, 0).lives, LIVES - 1, "safe");
}

#[test]
fn ramming_costs_both() {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    let (x, y) = start_of(0);
    state.enemies.push(enemy_at(9_000, EnemyKind::Hunter, x, y));
    state.step(&levels, &[0; SEATS]);
    assert_eq!(ship(&state, 0).lives, LIVES - 1);
    assert!(state.enemies.is_empty());

    ship_mut(&mut state, 0).pilotage.come_back();
    ship_mut(&mut state, 0).pilotage.safe = 0;
    state.debris.push(Debris { id: 9_001, x, y, vx: 0, vy: 0, size: 4 });
    state.step(&levels, &[0; SEATS]);
    assert_eq!((ship(&state, 0).lives, state.debris.len()), (LIVES - 2, 1));
}

#[test]
fn the_game_is_lost_when_every_ship_is_out_and_not_before() {
    let levels = empty();
    let mut state = game(&levels, &[0, 2]);
    for seat in [0, 2] {
        ship_mut(&mut state, seat).lives = 1;
    }
    let (x, y) = start_of(0);
    state.shots.push(pellet_at(x, y));
    state.step(&levels, &[0; SEATS]);
    assert!(ship(&state, 0).is_out());
    assert_eq!(state.phase, Phase::Waves);
    let (x, y) = start_of(2);
    state.shots.push(pellet_at(x, y));
    state.step(&levels, &[0; SEATS]);
    assert_eq!(state.phase, Phase::Lost);
    assert!(state.events.contains(&Event::GameLost));
    assert!(!steps(&mut state, &levels, 100, [0; SEATS]).contains(&Event::GameLost), "said once");
}

#[test]
fn a_level_without_ships_goes_on() {
    let levels = Levels::embedded();
    let mut state = State::new(&levels, 1, 3);
    steps(&mut state, &levels, 600, [0; SEATS]);
    assert_eq!(state.phase, Phase::Waves);
}

#[test]
fn who_was_out_comes_back_with_one_ship_in_the_next_level_and_all_may_choose_a_weapon() {
    let short = r#"{ "name": "Short", "seconds": 1, "waves": [ { "at_seconds": 0, "spawns": [ { "kind": "drone", "y": 800, "speed": 12 } ] } ] }"#;
    let level = Levels::parse("short.json", short).expect("well formed");
    let levels = Levels::new(level.clone(), vec![level]);
    let mut state = game(&levels, &[0, 1]);
    ship_mut(&mut state, 1).lives = 0;
    ship_mut(&mut state, 1).pilotage.down = DOWN_OUT;
    let mut events = Vec::new();
    while state.phase == Phase::Waves && state.step < 1_000 {
        state.step(&levels, &[0; SEATS]);
        events.extend(state.events.clone());
    }
    assert_eq!(events.first(), Some(&Event::LevelBegan { level: 1 }));
    assert!(events.contains(&Event::WaveBegan { wave: 1 }));
    assert_eq!(state.phase, Phase::Cleared);
    for seat in [0, 1] {
        assert!(
            events.iter().any(|event| matches!(event, Event::WeaponOffered { seat: s, .. } if *s == seat))
        );
    }
    let events = steps(&mut state, &levels, CLEARED_STEPS as u32, [0; SEATS]);
    assert!(
        events.contains(&Event::ShipBack { seat: 1 }) && events.contains(&Event::LevelBegan { level: 2 })
    );
    assert_eq!((ship(&state, 1).lives, ship(&state, 0).lives, state.level), (1, LIVES, 2));
    while state.phase == Phase::Waves && state.step < 2_000 {
        state.step(&levels, &[0; SEATS]);
    }
    assert_eq!(state.phase, Phase::Won, "there is no third level");
    assert!(state.events.contains(&Event::GameWon));
}

#[test]
fn seats_that_do_not_exist_are_ignored_and_a_ship_is_not_replaced() {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    ship_mut(&mut state, 0).score = 5;
    let before = state.clone();
    state.add_ship(0);
    state.add_ship(4);
    state.remove_ship(usize::MAX);
    assert_eq!(state, before);
    state.remove_ship(0);
    state.add_ship(0);
    assert_eq!(ship(&state, 0), &Ship::new(0));
}

//! Each kind of enemy, alone with one ship.

use super::*;

/// Steps with a ship that nothing hits until `until` says so; the states after each.
fn watch(levels: &Levels, steps_max: u32, until: impl Fn(&State) -> bool) -> Vec<State> {
    let mut state = game(levels, &[1]);
    let mut seen = Vec::new();
    while state.step < steps_max && !(state.step > 0 && until(&state)) {
        ship_mut(&mut state, 1).pilotage.safe = 2;
        state.step(levels, &[0; SEATS]);
        seen.push(state.clone());
    }
    assert!(until(&state), "it never came to that in {steps_max} steps");
    seen
}

fn gone(state: &State) -> bool {
    state.enemies.is_empty()
}

#[test]
fn a_drone_flies_straight_and_leaves_on_the_left() {
    let seen = watch(&one_of("drone"), 600, gone);
    let (last, before) = (&seen[seen.len() - 2], &seen[0]);
    assert_eq!(last.enemies[0].y, before.enemies[0].y);
    assert!(last.enemies[0].x < 0);
}

#[test]
fn a_weaver_goes_up_and_down_about_its_line_in_straight_pieces() {
    let seen = watch(&one_of("weaver"), 600, gone);
    let ys: Vec<i32> = seen.iter().filter_map(|state| state.enemies.first().map(|enemy| enemy.y)).collect();
    let (low, high) = (ys.iter().min().expect("some"), ys.iter().max().expect("some"));
    assert!((80..=200).contains(&(high - low)), "{low} to {high}");
    let speeds: Vec<i32> = ys.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let turns = speeds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(turns * 10 < speeds.len(), "{turns} in {}", speeds.len());
}

#[test]
fn a_hunter_comes_to_the_height_of_its_prey() {
    let levels = one_of("hunter");
    let mut state = game(&levels, &[3]);
    let prey_y = ship(&state, 3).pilotage.y;
    while state.step == 0 || state.enemies[0].x > 400 {
        state.step(&levels, &[0; SEATS]);
    }
    assert!((state.enemies[0].y - prey_y).abs() < 120);
}

#[test]
fn a_turret_warns_before_each_shot_and_aims() {
    let levels = one_of("turret");
    let seen = watch(&levels, 1_200, gone);
    let mut shots = 0;
    for (index, state) in seen.iter().enumerate() {
        for event in &state.events {
            if let Event::ShotFired { id, seat: NO_SEAT, .. } = event {
                shots += 1;
                let warned = &seen[index - 20..index];
                assert!(warned.iter().all(|state| state.enemies[0].mood == MOOD_WARNING));
                let shot = state.shots.iter().find(|shot| shot.id == *id).expect("it is there");
                assert!(shot.vx < 0 || state.enemies[0].x < 200, "towards the ship");
            }
        }
    }
    assert!(shots >= 4, "{shots}");
}

#[test]
fn a_dasher_waits_in_sight_and_then_rushes_at_the_ship() {
    let levels = one_of("dasher");
    let seen = watch(&levels, 600, gone);
    let in_mood = |mood| seen.iter().filter(|state| !gone(state) && state.enemies[0].mood == mood).count();
    assert!(in_mood(MOOD_WARNING) >= 45);
    let rush = seen.iter().find(|state| state.enemies[0].mood == MOOD_RUSH).expect("it rushes");
    assert!(rush.enemies[0].vx <= -10);
}

#[test]
fn a_carrier_lets_six_drones_out_and_leaves_a_capsule() {
    let levels = one_of("carrier");
    let seen = watch(&levels, 3_000, gone);
    let mut drones: Vec<u32> = Vec::new();
    for state in &seen {
        for enemy in state.enemies.iter().filter(|enemy| enemy.kind == EnemyKind::Drone) {
            if !drones.contains(&enemy.id) {
                drones.push(enemy.id);
            }
        }
    }
    assert_eq!(drones.len(), 6);

    let mut state = seen[100].clone();
    let carrier = state.enemies[0].id;
    while state.strike(1, carrier) {}
    assert_eq!(state.capsules.len(), 1);
}

/// The moods of a boss in the order in which it had them, and for how many steps.
fn moods(seen: &[State]) -> Vec<(i32, usize)> {
    let mut moods: Vec<(i32, usize)> = Vec::new();
    for state in seen {
        let Some(boss) = state.enemies.iter().find(|enemy| is_boss(enemy.kind)) else { continue };
        match moods.last_mut() {
            Some((mood, steps)) if *mood == boss.mood => *steps += 1,
            _ => moods.push((boss.mood, 1)),
        }
    }
    moods
}

#[test]
fn bosses_announce_their_worst_for_most_of_a_second() {
    for name in ["warden", "leviathan"] {
        let levels = boss_level(name, 0);
        let seen = watch(&levels, 3_000, |state| state.step == 2_400);
        let moods = moods(&seen);
        assert_eq!(moods[0].0, MOOD_ARRIVES);
        assert!(moods.iter().filter(|(mood, _)| *mood == MOOD_WORST).count() >= 2, "{name}: {moods:?}");
        for pair in moods.windows(2) {
            if pair[1].0 == MOOD_WORST {
                assert_eq!(pair[0].0, MOOD_GATHERS);
                assert!(pair[0].1 >= 50, "{name}: {moods:?}");
            }
            assert_ne!(pair[1].0, MOOD_CALLS, "unhurt, it needs no help");
        }
        assert!(
            seen.iter()
                .any(|state| state.events.iter().any(|event| matches!(event, Event::BossSpawned { .. })))
        );
        assert!(seen.iter().filter(|state| !state.shots.is_empty()).count() > 300);
    }
}

#[test]
fn bosses_call_for_help_below_half_of_their_health_and_their_end_is_the_end_of_the_level() {
    for name in ["warden", "leviathan"] {
        let levels = boss_level(name, 0);
        let mut state = watch(&levels, 3_000, |state| state.phase == Phase::Boss).pop().expect("it is here");
        state.enemies[0].health = state.enemies[0].health_max / 2 - 1;
        let mut helped = false;
        for _ in 0..1_500 {
            ship_mut(&mut state, 1).pilotage.safe = 2;
            state.step(&levels, &[0; SEATS]);
            helped |= state.enemies.len() == 4 && state.enemies[0].mood == MOOD_CALLS;
        }
        assert!(helped, "{name}");
        let boss = state.enemies[0].id;
        while state.strike(1, boss) {}
        state.step(&levels, &[0; SEATS]);
        assert_eq!(state.phase, Phase::Won);
        assert!(state.enemies.is_empty() && state.shots.is_empty());
    }
}

#[test]
fn a_boss_grows_with_the_number_of_ships_from_what_its_kind_or_the_level_says() {
    let health = |levels: &Levels, seats: &[usize]| {
        let mut state = game(levels, seats);
        while state.phase != Phase::Boss {
            for &seat in seats {
                ship_mut(&mut state, seat).pilotage.safe = 2;
            }
            state.step(levels, &[0; SEATS]);
        }
        state.enemies[0].health
    };
    let levels = boss_level("warden", 0);
    let grown = [&[0][..], &[0, 1], &[0, 1, 2, 3]].map(|seats| health(&levels, seats));
    assert!(grown[0] < grown[1] && grown[1] < grown[2], "{grown:?}");
    let weak = boss_level("warden", 300);
    assert_eq!([&[0][..], &[0, 1, 2, 3]].map(|seats| health(&weak, seats)), [300, 900]);
}

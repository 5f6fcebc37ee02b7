//! How hard it is: held by bots and by a ship that does nothing, over many seeds.

use std::collections::BTreeSet;

use super::*;

const SECOND: u32 = STEPS_PER_SECOND;

struct Played {
    phase: Phase,
    levels_cleared: u8,
    boss_seconds: Vec<u32>,
}

fn play(levels: &Levels, seed: u32, bots: usize, seconds_max: u32) -> Played {
    let mut state = State::new(levels, 1, seed);
    for seat in 0..bots {
        state.add_ship(seat);
    }
    let mut played = Played { phase: Phase::Waves, levels_cleared: 0, boss_seconds: Vec::new() };
    let mut boss_since = 0;
    while state.step < seconds_max * SECOND && state.phase != Phase::Lost && state.phase != Phase::Won {
        for event in step_bots(&mut state, levels) {
            match event {
                Event::BossSpawned { .. } => boss_since = state.step,
                Event::LevelCleared { level } => {
                    played.levels_cleared = level;
                    if levels.get(level).boss.is_some() {
                        played.boss_seconds.push((state.step - boss_since) / SECOND);
                    }
                }
                _ => {}
            }
        }
    }
    played.phase = state.phase;
    played
}

#[test]
fn four_bots_clear_the_first_level_for_most_seeds() {
    let levels = Levels::embedded();
    let cleared = (1..=20).filter(|&seed| play(&levels, seed, 4, 90).levels_cleared >= 1).count();
    assert!(cleared >= 16, "{cleared} of 20");
}

#[test]
fn two_bots_usually_win_and_bosses_take_them_a_while() {
    let levels = Levels::embedded();
    let games: Vec<Played> = (1..=10).map(|seed| play(&levels, seed, 2, 600)).collect();
    let won = games.iter().filter(|played| played.phase == Phase::Won).count();
    assert!(won >= 7, "{won} of 10");
    let mut seconds: Vec<u32> = games.iter().flat_map(|played| played.boss_seconds.clone()).collect();
    seconds.sort_unstable();
    let median = seconds[seconds.len() / 2];
    assert!((20..=60).contains(&median), "{seconds:?}");
    assert!(seconds[0] >= 10 && seconds[seconds.len() - 1] <= 150, "{seconds:?}");
}

#[test]
fn a_ship_that_does_nothing_loses_the_first_level() {
    let levels = Levels::embedded();
    for seed in 1..=20 {
        let mut state = State::new(&levels, 1, seed);
        state.add_ship(seed as usize % SEATS);
        while state.phase == Phase::Waves && state.step < 120 * SECOND {
            state.step(&levels, &[0; SEATS]);
        }
        assert_eq!((state.phase, state.level), (Phase::Lost, 1), "seed {seed}");
        assert!(state.step > 10 * SECOND, "a newcomer has time to look around: seed {seed}");
    }
}

fn ids(state: &State) -> BTreeSet<u32> {
    let enemies = state.enemies.iter().map(|enemy| enemy.id);
    let shots = state.shots.iter().map(|shot| shot.id);
    let debris = state.debris.iter().map(|debris| debris.id);
    let capsules = state.capsules.iter().map(|capsule| capsule.id);
    enemies.chain(shots).chain(debris).chain(capsules).collect()
}

#[test]
fn the_storm_keeps_sixty_things_moving_and_twenty_changes_a_second_with_any_number_of_players() {
    let levels = Levels::embedded();
    let storm = (1..=levels.len()).find(|&level| levels.get(level).endless).expect("one for measuring");
    for bots in 0..=SEATS {
        let mut state = State::new(&levels, storm, 7);
        for seat in 0..bots {
            state.add_ship(seat);
        }
        let mut known = BTreeSet::new();
        let mut changes = 0;
        for step in 0..100 * SECOND {
            step_bots(&mut state, &levels);
            let present = ids(&state);
            let warm = step >= 15 * SECOND;
            if warm {
                changes += present.symmetric_difference(&known).count();
                assert!(present.len() >= 60, "{bots} bots, step {step}: {}", present.len());
                assert_eq!(state.phase, Phase::Waves);
            }
            known = present;
        }
        assert!(changes >= 20 * 85, "{bots} bots: {changes} in 85 s");
        assert!(state.ships.iter().flatten().all(|ship| ship.lives == LIVES));
    }
}

//! Games played by chance: that they repeat, that they keep within bounds, and that they are what was recorded.
//!
//! `vectors/rules.json` is what every implementation of the rules is held to, in every step of each game: a difference that
//! is gone a step later, as in the mood of a turret, is one that players see. If the rules, the levels or the bots changed on purpose:
//! `NETLOOM_RECORD=1 cargo test -p netloom-rtype --test rules recorded`.

use std::collections::BTreeSet;
use std::fmt::Write;

use netloom_rtype::rules::log::Log;

use super::*;

const EVERY: u32 = 250;

/// Seeds and steps: many short ones, and a long one that begins at each level.
fn recorded_logs() -> Vec<(u32, u32)> {
    let mut logs: Vec<(u32, u32)> = (1..=98).map(|seed| (seed, 1_000)).collect();
    logs.extend(LONG.map(|seed| (seed, 10_000)));
    logs
}

/// Seeds whose games go through bosses, every weapon and every phase.
const LONG: [u32; 3] = [1_448, 1_217, 1_010];

/// What all states up to every 250th come to.
fn digests(levels: &Levels, seed: u32, steps: u32) -> Vec<u32> {
    let mut log = Log::new(levels, seed);
    let mut digest = 0x811c_9dc5_u32;
    let mut digests = Vec::new();
    for step in 1..=steps {
        log.step(levels);
        digest = (digest ^ log.state.hash()).wrapping_mul(0x0100_0193);
        if step % EVERY == 0 || step == steps {
            digests.push(digest);
        }
    }
    digests
}

fn render() -> String {
    let levels = Levels::embedded();
    let mut text = String::from("{\n");
    text += "  \"about\": \"Games played by chance, in the levels of games/rtype/levels. From 2166136261 on, each step makes the digest \
             (digest xor hash of the state) times 16777619, modulo 2^32; here are those after every 250 steps.\",\n";
    let _ = writeln!(text, "  \"every\": {EVERY},\n  \"logs\": [");
    let logs = recorded_logs();
    for (index, &(seed, steps)) in logs.iter().enumerate() {
        let comma = if index + 1 < logs.len() { "," } else { "" };
        let digests: Vec<String> = digests(&levels, seed, steps).iter().map(u32::to_string).collect();
        let digests = digests.join(", ");
        let _ =
            writeln!(text, "    {{ \"seed\": {seed}, \"steps\": {steps}, \"digests\": [{digests}] }}{comma}");
    }
    text + "  ]\n}\n"
}

#[test]
fn recorded_digests_are_those_of_the_rules() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/rules.json");
    let rendered = render();
    if std::env::var_os("NETLOOM_RECORD").is_some() {
        std::fs::write(&path, &rendered).expect("written");
    }
    let recorded = std::fs::read_to_string(&path).expect("tests/vectors/rules.json is there");
    let difference = recorded.lines().zip(rendered.lines()).find(|(recorded, rendered)| recorded != rendered);
    assert_eq!(difference, None, "if the rules changed on purpose, record anew: see the head of this file");
    assert_eq!(recorded.lines().count(), rendered.lines().count());
}

#[test]
fn recorded_logs_see_everything_that_there_is() {
    let levels = Levels::embedded();
    let mut seen = BTreeSet::new();
    for (seed, steps) in recorded_logs() {
        let mut log = Log::new(&levels, seed);
        for _ in 0..steps {
            log.step(&levels);
            let state = &log.state;
            seen.insert(format!("{:?}", state.phase));
            seen.extend(state.enemies.iter().map(|enemy| format!("{:?} {}", enemy.kind, enemy.mood)));
            seen.extend(state.shots.iter().map(|shot| format!("{:?}", shot.kind)));
            seen.extend(
                state
                    .ships
                    .iter()
                    .flatten()
                    .map(|ship| format!("{:?} {}", ship.pilotage.weapon, ship.pilotage.weapon_level)),
            );
            let word = |event: &Event| format!("{event:?}").split([' ', '{']).next().unwrap_or("").to_owned();
            seen.extend(state.events.iter().map(word));
        }
    }
    let mut expected: Vec<String> = Vec::new();
    for weapon in ["Cannon", "Spread", "Lance", "Seeker"] {
        expected.extend((1..=3).map(|level| format!("{weapon} {level}")));
    }
    for boss in ["Warden", "Leviathan"] {
        expected.extend(
            [MOOD_ARRIVES, MOOD_STEADY, MOOD_GATHERS, MOOD_WORST].map(|mood| format!("{boss} {mood}")),
        );
    }
    for words in [
        "Warden 5|Leviathan 4|Leviathan 5|Drone 0|Weaver 0|Hunter 0|Turret 0|Turret 1|Dasher 0|Dasher 1|Dasher 2",
        "Carrier 0|Carrier 1|Bolt|Lance|Seeker|Pellet|Orb|Waves|Boss|Cleared|Lost|Won",
        "ShotFired|Beam|EnemyKilled|ShipHit|ShipDown|ShipBack|CapsuleSpawned|CapsuleTaken|PowerOffered",
        "PowerTaken|WeaponOffered|WeaponTaken|LevelBegan|WaveBegan|BossSpawned|LevelCleared|GameLost|GameWon",
    ] {
        expected.extend(words.split('|').map(str::to_owned));
    }
    let missing: Vec<&String> = expected.iter().filter(|word| !seen.contains(*word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_same_seed_is_the_same_game_and_another_is_another() {
    let levels = Levels::embedded();
    let all: Vec<Vec<u32>> = (0..20).map(|seed| digests(&levels, seed, 500)).collect();
    for (seed, first) in all.iter().enumerate() {
        assert_eq!(&digests(&levels, seed as u32, 500), first);
    }
    let different: BTreeSet<&Vec<u32>> = all.iter().collect();
    assert_eq!(different.len(), 20);
}

#[test]
fn a_hash_tells_any_difference_in_what_is_seen() {
    let levels = Levels::embedded();
    let mut log = Log::new(&levels, 7);
    for _ in 0..600 {
        log.step(&levels);
    }
    let hash = log.state.hash();
    let mut other = log.state.clone();
    other.enemies[0].x += 1;
    assert_ne!(other.hash(), hash);
    let mut other = log.state.clone();
    let seat = other.ships.iter().position(Option::is_some).expect("a ship");
    ship_mut(&mut other, seat).pilotage.refill -= 1;
    assert_ne!(other.hash(), hash);
    let mut other = log.state.clone();
    other.events.clear();
    assert_eq!(other.hash(), hash, "events are no part of the state");
}

pub(super) fn check_bounds(state: &State) {
    let inside =
        |x: i32, y: i32| (-MARGIN..=WIDTH + MARGIN).contains(&x) && (-MARGIN..=HEIGHT + MARGIN).contains(&y);
    assert!(state.enemies.iter().all(|enemy| inside(enemy.x, enemy.y)));
    assert!(state.enemies.iter().all(|enemy| enemy.health > 0 && (1..=100).contains(&enemy.percent())));
    assert!(state.enemies.iter().all(|enemy| (0..=7).contains(&enemy.mood)));
    assert!(state.shots.iter().all(|shot| inside(shot.x, shot.y) && shot.life > 0));
    assert!(state.capsules.iter().all(|capsule| inside(capsule.x, capsule.y)));
    assert!(state.debris.iter().all(|debris| inside(debris.x, debris.y) && (1..=15).contains(&debris.size)));
    assert!(state.enemies.len() <= ENEMIES_MAX && state.capsules.len() <= CAPSULES_MAX);
    assert!(state.debris.len() <= DEBRIS_MAX);
    for seat in 0..=NO_SEAT {
        let limit = if seat == NO_SEAT { ENEMY_SHOTS_MAX } else { SHIP_SHOTS_MAX - 1 };
        assert!(
            state.shots.iter().filter(|shot| shot.seat == seat).count() <= limit,
            "no ship's shot is ever refused"
        );
    }
    for (seat, ship) in state.ships.iter().enumerate() {
        let Some(ship) = ship else { continue };
        let of = &ship.pilotage;
        assert_eq!(usize::from(of.seat), seat);
        assert!((SHIP_EDGE_X..=WIDTH - SHIP_EDGE_X).contains(&of.x));
        assert!((SHIP_EDGE_Y..=HEIGHT - SHIP_EDGE_Y).contains(&of.y));
        assert!((0..=AMMO_MAX).contains(&of.ammo) && (0..=COOLDOWN_STEPS).contains(&of.cooldown));
        assert!((0..=REFILL_STEPS).contains(&of.refill) && (0..=i32::from(BEAM_ENERGY)).contains(&of.energy));
        assert!((0..=SAFE_STEPS).contains(&of.safe) && (0..=DOWN_OUT).contains(&of.down));
        assert!(
            (0..=THRUSTERS_MAX).contains(&of.thrusters) && (1..=WEAPON_LEVEL_MAX).contains(&of.weapon_level)
        );
        assert!((0..=LIVES).contains(&ship.lives) && (0..=SHIELD_MAX).contains(&ship.shield));
        assert!((0..=SCORE_MAX).contains(&ship.score));
        assert_eq!(ship.lives == 0, ship.is_out());
    }
}

#[test]
fn whatever_is_pressed_bounds_limits_and_cooldowns_hold() {
    let levels = Levels::embedded();
    for seed in 2_000..2_100 {
        let mut log = Log::new(&levels, seed);
        let mut fired_at: [Option<u32>; SEATS] = [None; SEATS];
        let mut id_max = 0;
        for step in 0..1_000 {
            log.step(&levels);
            check_bounds(&log.state);
            for event in &log.state.events {
                let Event::ShotFired { id, seat, index, .. } = *event else { continue };
                assert!(id > id_max, "seed {seed}: ids only grow");
                id_max = id;
                if seat == NO_SEAT || index > 0 {
                    continue;
                }
                let seat = usize::from(seat);
                if let Some(last) = fired_at[seat].replace(step) {
                    assert!(step - last >= COOLDOWN_STEPS as u32, "seed {seed}, step {step}");
                }
            }
            for (seat, fired_at) in fired_at.iter_mut().enumerate() {
                if log.state.ships[seat].is_none() {
                    *fired_at = None;
                }
            }
        }
    }
}

#[test]
fn a_ship_flies_in_a_game_as_it_flies_alone() {
    let levels = empty();
    let mut state = game(&levels, &[2]);
    let mut alone = ship(&state, 2).pilotage;
    let mut random = 77_u32;
    for _ in 0..2_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let pressed = (random >> 24) as u8 & 0x3f;
        let fired = step_ship(&mut alone, pressed);
        state.step(&levels, &[0, 0, pressed, 0]);
        assert_eq!(ship(&state, 2).pilotage, alone);
        let shots = state.events.iter().filter(|event| matches!(event, Event::ShotFired { .. })).count();
        assert_eq!(shots, fired.shots().len());
    }
}

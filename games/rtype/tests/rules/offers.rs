//! Offers: right answers, wrong ones, late ones, none.

use super::*;

fn with_capsule(power: Power) -> (Levels, State) {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    let (x, y) = start_of(0);
    state.capsules.push(Capsule { id: 9_000, x, y, vx: -2, power });
    state.step(&levels, &[0; SEATS]);
    (levels, state)
}

fn open_power(state: &State) -> Offer<Power, POWERS> {
    ship(state, 0).offers.power.expect("an open offer")
}

fn open_weapon(state: &State) -> Offer<Weapon, WEAPONS> {
    ship(state, 0).offers.weapon.expect("an open offer")
}

/// Makes points until a weapon is offered.
fn with_weapon_offer() -> State {
    let levels = empty();
    let mut state = game(&levels, &[0]);
    state.enemies.push(Enemy { health: 1, ..enemy_at(9_000, EnemyKind::Warden, 1_200, 450) });
    assert!(state.strike(0, 9_000));
    state
}

#[test]
fn a_capsule_offers_all_powers_its_own_first() {
    for (power, order) in [
        (Power::Thrusters, [Power::Thrusters, Power::Shield, Power::Drone]),
        (Power::Shield, [Power::Shield, Power::Drone, Power::Thrusters]),
        (Power::Drone, [Power::Drone, Power::Thrusters, Power::Shield]),
    ] {
        let (_, state) = with_capsule(power);
        let offer = open_power(&state);
        assert_eq!(offer.choices, order);
        assert!(state.capsules.is_empty());
        assert!(state.events.contains(&Event::CapsuleTaken { id: 9_000, seat: 0 }));
        assert!(state.events.contains(&Event::PowerOffered { seat: 0, offer: offer.id, powers: order }));
    }
}

#[test]
fn each_power_does_what_it_says_and_has_an_end() {
    let (_, mut state) = with_capsule(Power::Thrusters);
    let offer = open_power(&state);
    state.choose_power(0, offer.id, 0).expect("offered");
    assert_eq!(ship(&state, 0).pilotage.thrusters, 1);
    assert!(state.events.contains(&Event::PowerTaken { seat: 0, power: Power::Thrusters, level: 1 }));

    let (levels, mut state) = with_capsule(Power::Shield);
    for (shield, points) in [(2, false), (3, false), (3, true)] {
        let offer = open_power(&state);
        state.choose_power(0, offer.id, 0).expect("offered");
        assert_eq!(
            (ship(&state, 0).shield, ship(&state, 0).score > 0),
            (shield, points),
            "points for what it has all of"
        );
        let (x, y) = start_of(0);
        state.capsules.push(Capsule { id: 9_001, x, y, vx: -2, power: Power::Shield });
        state.step(&levels, &[0; SEATS]);
    }

    let (_, mut state) = with_capsule(Power::Drone);
    let offer = open_power(&state);
    state.choose_power(0, offer.id, 0).expect("offered");
    assert!(ship(&state, 0).pilotage.drone);
}

#[test]
fn wrong_old_and_repeated_answers_are_refused_and_change_nothing() {
    let (levels, mut state) = with_capsule(Power::Shield);
    let offer = open_power(&state).id;
    let before = state.hash();
    assert_eq!(state.choose_power(0, offer, 3), Err(Refused::NoSuchChoice));
    assert_eq!(state.choose_power(0, offer, u8::MAX), Err(Refused::NoSuchChoice));
    assert_eq!(state.choose_power(0, offer.wrapping_add(1), 0), Err(Refused::NoSuchOffer));
    assert_eq!(state.choose_power(1, offer, 0), Err(Refused::NoShip));
    assert_eq!(state.choose_power(77, offer, 0), Err(Refused::NoShip));
    assert_eq!(state.choose_weapon(0, offer, 0), Err(Refused::NoSuchOffer));
    assert_eq!(state.hash(), before);

    assert_eq!(state.choose_power(0, offer, 1), Ok(()));
    let before = state.hash();
    assert_eq!(state.choose_power(0, offer, 1), Err(Refused::NoSuchOffer), "it was answered");
    assert_eq!(state.hash(), before);

    let (x, y) = start_of(0);
    state.capsules.push(Capsule { id: 9_001, x, y, vx: -2, power: Power::Shield });
    state.step(&levels, &[0; SEATS]);
    assert_ne!(open_power(&state).id, offer);
    assert_eq!(state.choose_power(0, offer, 0), Err(Refused::NoSuchOffer), "there is a newer one");
}

#[test]
fn an_offer_without_an_answer_takes_its_first_choice_after_fifteen_seconds() {
    let (levels, mut state) = with_capsule(Power::Drone);
    let steps = open_power(&state).left;
    assert_eq!(steps + 1, 15 * STEPS_PER_SECOND as i32);
    for _ in 1..steps {
        state.step(&levels, &[0; SEATS]);
    }
    assert!(!ship(&state, 0).pilotage.drone);
    state.step(&levels, &[0; SEATS]);
    assert!(ship(&state, 0).pilotage.drone);
    assert_eq!(ship(&state, 0).offers.power, None);
}

#[test]
fn who_has_an_open_offer_leaves_capsules_to_others() {
    let (levels, mut state) = with_capsule(Power::Drone);
    let offer = open_power(&state);
    let (x, y) = start_of(0);
    state.capsules.push(Capsule { id: 9_001, x, y, vx: 0, power: Power::Shield });
    state.step(&levels, &[0; SEATS]);
    assert_eq!((state.capsules.len(), open_power(&state).id), (1, offer.id));
}

#[test]
fn points_bring_weapon_offers_one_at_a_time() {
    let mut state = with_weapon_offer();
    assert_eq!(ship(&state, 0).score, traits(EnemyKind::Warden).points);
    let first = open_weapon(&state);
    assert_eq!(first.choices[0], Weapon::Cannon, "what it has, to be raised");
    assert_ne!(first.choices[1], Weapon::Cannon);
    state.enemies.push(Enemy { health: 1, ..enemy_at(9_001, EnemyKind::Leviathan, 1_200, 450) });
    assert!(state.strike(0, 9_001));
    assert_eq!(open_weapon(&state).id, first.id, "the next one waits");
    state.choose_weapon(0, first.id, 0).expect("offered");
    assert_ne!(open_weapon(&state).id, first.id, "here it is");
}

#[test]
fn the_weapon_one_has_rises_another_keeps_the_level_and_the_highest_offers_two_others() {
    let mut state = with_weapon_offer();
    let offer = open_weapon(&state);
    state.choose_weapon(0, offer.id, 0).expect("offered");
    assert_eq!((ship(&state, 0).pilotage.weapon, ship(&state, 0).pilotage.weapon_level), (Weapon::Cannon, 2));
    assert!(state.events.contains(&Event::WeaponTaken { seat: 0, weapon: Weapon::Cannon, level: 2 }));

    let mut state_of_other = with_weapon_offer();
    let offer = open_weapon(&state_of_other);
    ship_mut(&mut state_of_other, 0).pilotage.weapon_level = 2;
    state_of_other.choose_weapon(0, offer.id, 1).expect("offered");
    let pilotage = ship(&state_of_other, 0).pilotage;
    assert_eq!((pilotage.weapon, pilotage.weapon_level), (offer.choices[1], 2));

    ship_mut(&mut state, 0).pilotage.weapon_level = WEAPON_LEVEL_MAX;
    for round in 0..6 {
        while ship(&state, 0).offers.weapon.is_none() {
            state.enemies.push(Enemy { health: 1, ..enemy_at(9_100, EnemyKind::Leviathan, 1_200, 450) });
            state.strike(0, 9_100);
        }
        let offer = open_weapon(&state);
        let has = ship(&state, 0).pilotage.weapon;
        assert!(!offer.choices.contains(&has) && offer.choices[0] != offer.choices[1], "{has:?} {offer:?}");
        state.choose_weapon(0, offer.id, round & 1).expect("offered");
        assert_eq!(ship(&state, 0).pilotage.weapon_level, WEAPON_LEVEL_MAX);
    }
}

#[test]
fn the_score_of_a_game_that_is_over_stays_as_it_was_told() {
    for phase in [Phase::Won, Phase::Lost] {
        let (_, mut state) = with_capsule(Power::Drone);
        state.ships[0].as_mut().unwrap().pilotage.drone = true;
        state.phase = phase;
        let offer = open_power(&state);
        state.choose_power(0, offer.id, 0).expect("offered");
        assert_eq!(ship(&state, 0).score, 0, "what one has already is worth points, but not any more");
    }
}

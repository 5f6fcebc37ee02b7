//! What players ask for, and what they are told.

mod common;

use common::{Field, empty_level, level};
use netloom::prelude::Micros;
use netloom::replica::client::predict::SpawnKey;
use netloom::session::client::Called;
use netloom_rtype::game::Setup;
use netloom_rtype::protocol::{Capsule, Power, Ship, Shot, asks, buttons, tells};

/// Drones in the line of the first seat that leave a capsule each.
const CAPSULES: &str = r#"{ "name": "Gifts", "seconds": 300, "endless": true, "waves": [ { "at_seconds": 1, "spawns": [
    { "kind": "drone", "count": 1, "y": 180, "capsule": true } ] } ] }"#;

fn offer(called: &Called) -> (u16, Vec<u8>) {
    called.args().unwrap()
}

#[test]
fn a_capsule_is_an_offer_and_only_the_right_answer_to_it_is_taken_once() {
    let mut field = Field::new(level(CAPSULES), Setup::default());
    field.play(&["Ada", "Bob"]);
    field.players[0].buttons = buttons::SHOOT;
    field.until("a capsule is here", |field| !field.players[0].all::<Capsule>().is_empty());
    field.players[0].buttons = 0;
    field.until("it drifts to the ship", |field| field.players[0].called(tells::POWER_OFFERED).is_some());
    assert!(field.players[1].called(tells::POWER_OFFERED).is_none(), "it is not Bob's");
    let (id, powers) = offer(field.players[0].called(tells::POWER_OFFERED).unwrap());
    assert_eq!(powers.len(), 3);

    let refused = |field: &mut Field, player: usize, id: u16, choice: u8, part: &str| {
        let before = field.players[player].refusals.len();
        field.players[player].client.call(asks::CHOOSE_POWER, &(id, choice)).unwrap();
        field.until("it is refused", |field| field.players[player].refusals.len() > before);
        let said = field.players[player].refusals.last().unwrap();
        assert!(said.contains(part), "{said}");
    };
    refused(&mut field, 0, id + 1, 0, "not open");
    refused(&mut field, 0, id, 3, "not offered");
    refused(&mut field, 1, id, 0, "not open");
    field.players[0].client.call(asks::CHOOSE_POWER, &("x",)).unwrap();
    field.until("arguments must fit", |field| field.players[0].refusals.len() == 3);

    let shield = powers.iter().position(|power| *power == Power::Shield as u8).unwrap();
    field.players[0].client.call(asks::CHOOSE_POWER, &(id, shield)).unwrap();
    field.until("it is taken", |field| field.players[0].called(tells::POWER_STATUS).is_some());
    let (power, level): (u8, u8) = field.players[0].called(tells::POWER_STATUS).unwrap().args().unwrap();
    assert_eq!((power, level), (Power::Shield as u8, 2));
    field.until("the ship has it", |field| field.players[1].all::<Ship>()[0].shield == 2);
    refused(&mut field, 0, id, 0, "not open");
}

#[test]
fn a_weapon_is_offered_for_points_and_confirmed() {
    let targets = r#"{ "name": "Range", "seconds": 300, "endless": true, "waves": [ { "at_seconds": 0, "spawns": [
        { "kind": "drone", "count": 60, "every_steps": 24, "y": 180 },
        { "kind": "drone", "count": 60, "every_steps": 24, "y": 180, "after_steps": 1440 } ] } ] }"#;
    let mut field = Field::new(level(targets), Setup::default());
    field.play(&["Ada"]);
    field.players[0].buttons = buttons::SHOOT;
    field.until("a weapon is offered", |field| field.players[0].called(tells::WEAPON_OFFERED).is_some());
    let (id, weapons) = offer(field.players[0].called(tells::WEAPON_OFFERED).unwrap());
    assert_eq!(weapons.len(), 2);
    field.players[0].client.call(asks::CHOOSE_WEAPON, &(id, 2)).unwrap();
    field.until("there are only two", |field| {
        field.players[0].refusals.iter().any(|text| text.contains("not offered"))
    });
    field.players[0].client.call(asks::CHOOSE_WEAPON, &(id, 1)).unwrap();
    field.until("it is confirmed", |field| field.players[0].called(tells::WEAPON_CONFIRMED).is_some());
    let (weapon, _level): (u8, u8) =
        field.players[0].called(tells::WEAPON_CONFIRMED).unwrap().args().unwrap();
    assert_eq!(weapon, weapons[1]);
    field.until("the ship has it", |field| field.players[0].ship().unwrap().weapon as u8 == weapon);
}

#[test]
fn own_shots_have_the_keys_by_which_their_player_knows_them_and_others_see_none() {
    let mut field = Field::new(empty_level(), Setup::default());
    field.play(&["Ada", "Bob"]);
    field.players[0].buttons = buttons::SHOOT;
    field.until("both see a shot", |field| {
        field.players.iter().all(|player| !player.all::<Shot>().is_empty())
    });
    let ada = field.players[0].client.player().unwrap();
    let keys: Vec<u64> = field.players[0].all::<Shot>().iter().map(|shot| shot.key).collect();
    assert!(
        keys.iter()
            .all(|key| SpawnKey::from_bits(*key).is_some_and(|key| key.to_bits() >> 32 == u64::from(ada.0)))
    );
    assert!(field.players[1].all::<Shot>().iter().all(|shot| shot.key == 0 && shot.seat == 0));
}

#[test]
fn a_beam_is_seen_by_all_and_its_hits_are_counted_for_who_fired_it() {
    let target = r#"{ "name": "Wall", "seconds": 300, "endless": true, "waves": [ { "at_seconds": 0, "spawns": [
        { "kind": "carrier", "y": 180 } ] } ] }"#;
    let mut field = Field::new(level(target), Setup::default());
    field.play(&["Ada", "Bob"]);
    field.run(4);
    field.players[0].buttons = buttons::BEAM;
    field.until("a beam", |field| field.players[0].called(tells::BEAM_HITS).is_some());
    field.until("Bob sees it", |field| field.players[1].called(tells::BEAM).is_some());
    let (hits,): (u8,) = field.players[0].called(tells::BEAM_HITS).unwrap().args().unwrap();
    assert_eq!(hits, 1);
    let (seat, x, y, reach): (u8, u16, u16, u16) =
        field.players[1].called(tells::BEAM).unwrap().args().unwrap();
    assert_eq!((seat, y, reach), (0, 180, 1_600));
    assert!(x > 160);
    assert!(field.players[1].called(tells::BEAM_HITS).is_none());
}

#[test]
fn who_asks_faster_than_a_hand_can_is_told_so() {
    let mut field = Field::new(empty_level(), Setup::default());
    field.play(&["Ada"]);
    for number in 0..15 {
        field.players[0].client.call(asks::LAG_COMPENSATION, &(number % 2 == 0,)).unwrap();
    }
    field.until("ten pass", |field| field.players[0].refusals.len() == 5);
    assert!(field.players[0].refusals.iter().all(|text| text.contains("too often")));
    field.run(2);
    field.players[0].client.call(asks::LAG_COMPENSATION, &(true,)).unwrap();
    field.run(1);
    assert_eq!(field.players[0].refusals.len(), 5, "later it is no offence");
}

#[test]
fn a_program_that_presses_as_no_hand_can_is_told_so_and_whoever_holds_the_button_is_not() {
    let mut field = Field::new(empty_level(), Setup::default());
    field.play(&["Ada", "Turbo"]);
    field.players[0].buttons = buttons::SHOOT;
    let mut is_down = false;
    let until = field.now + Micros::from_secs(3);
    while field.now < until {
        field.frame_with(|player| match player.buttons {
            0 => {
                is_down = !is_down;
                if is_down { buttons::SHOOT } else { 0 }
            }
            held => held,
        });
    }
    assert_eq!(field.players[0].refusals, [""; 0]);
    let refused = &field.players[1].refusals;
    assert!(refused.len() > 5 && refused.iter().all(|reason| reason == "too many actions"), "{refused:?}");
}

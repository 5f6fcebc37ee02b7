//! Memory of a server that plays: what flies has its memory from before, and what comes and goes takes it over.

mod common;

use common::{Field, empty_level, levels};
use netloom_rtype::game::Setup;
use netloom_rtype::protocol::buttons;

const SECONDS: u64 = 30;

/// What the server allocates while two players and two bots play, after a minute.
fn allocations(field: &mut Field, pressed: u8) -> u64 {
    field.play(&["Ada", "Bob"]);
    field.players.iter_mut().for_each(|player| player.buttons = pressed);
    field.run(60);
    let before = field.server_allocations;
    field.run(SECONDS);
    field.server_allocations - before
}

#[test]
fn steps_in_which_nothing_comes_or_goes_allocate_nothing() {
    let mut field = Field::new(empty_level(), Setup { bots: 2, ..Setup::default() });
    assert_eq!(allocations(&mut field, buttons::RIGHT | buttons::DOWN), 0);
}

#[test]
fn in_a_storm_only_the_index_of_identities_allocates_and_seldom() {
    let levels = levels();
    let storm = (1..=levels.len()).find(|level| levels.get(*level).name == "Storm").unwrap();
    let mut field = Field::new(levels, Setup { level: storm, bots: 2, ..Setup::default() });
    let allocated = allocations(&mut field, buttons::SHOOT | buttons::RIGHT);
    // Its nodes hold up to eleven objects each; more than twenty come or go in a second.
    assert!(allocated <= 8 * SECONDS, "{allocated} allocations in {SECONDS} s");
}

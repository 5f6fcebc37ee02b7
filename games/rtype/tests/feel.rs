//! What delay does to a game, and does not: the own ship is where its player put it, and beams hit what was seen.

mod common;

use common::{Field, Player, empty_level, level};
use netloom::prelude::Micros;
use netloom::session::client::Called;
use netloom::transport::link::{LinkConfig, Loss};
use netloom_rtype::game::Setup;
use netloom_rtype::prediction::units;
use netloom_rtype::protocol::{Enemy, asks, buttons, tells};
use netloom_rtype::rules::Levels;

/// 150 ms there and back, 30 ms jitter, one of twenty lost.
fn bad_line() -> LinkConfig {
    LinkConfig {
        latency: Micros::from_millis(75),
        jitter: Micros::from_millis(15),
        loss: Loss::Uniform(0.05),
        ..LinkConfig::default()
    }
}

fn alone_over(line: LinkConfig, levels: Levels) -> Field {
    let mut field = Field::new(levels, Setup::default());
    field.join_over("Ada", line, false);
    field.until("Ada is here", |field| field.players[0].client.lobby_state().is_some());
    field.players[0].ready();
    field.until("there is a ship", |field| field.players[0].own.state().is_some());
    field
}

#[test]
fn a_ship_that_flies_and_fires_over_a_bad_line_is_hardly_ever_corrected() {
    let mut field = alone_over(bad_line(), empty_level());
    field.run(3);
    let mistakes = |field: &Field| field.players[0].own.report().unwrap().corrections();
    let before = mistakes(&field);
    let seconds = 120;
    let mut step = 0u32;
    let until = field.now + Micros::from_secs(seconds);
    while field.now < until {
        field.frame_with(|_| {
            step += 1;
            // Another way every quarter of a second, now and then fire and beam.
            (step / 15).wrapping_mul(2_654_435_761).to_be_bytes()[0] & 0x3f
        });
    }
    let corrections = mistakes(&field) - before;
    println!("{corrections} corrections in {seconds} s");
    assert!(corrections * 10 < seconds, "{corrections} corrections in {seconds} s");
}

#[test]
fn the_own_ship_answers_in_the_frame_of_the_button() {
    let mut field = alone_over(bad_line(), empty_level());
    field.run(3);
    let at = |field: &Field| field.players[0].own.state().unwrap().at[0];
    let before = at(&field);
    field.players[0].buttons = buttons::RIGHT;
    // A step is two frames here.
    field.frame();
    field.frame();
    field.frame();
    assert!(at(&field) > before);
    assert!(field.players[0].ship().unwrap().at[0] <= before, "the server has not heard of it yet");
}

/// Weavers go up and down across the line of a ship that waits for one to be in it, and fires the beam. How many beams hit.
fn beams(is_compensated: bool) -> (usize, usize) {
    // One after the other: no beam hits by accident what its player did not mean.
    let weavers = r#"{ "name": "Weave", "seconds": 600, "endless": true, "waves": [ { "at_seconds": 1, "spawns": [
        { "kind": "weaver", "count": 30, "every_steps": 240, "y": 300 } ] } ] }"#;
    let line = LinkConfig { loss: Loss::None, ..bad_line() };
    let mut field = alone_over(line, level(weavers));
    field.players[0].client.call(asks::LAG_COMPENSATION, &(is_compensated,)).unwrap();
    let until = field.now + Micros::from_secs(120);
    while field.now < until {
        field.frame_with(|player| {
            let [_, y] = units(player.own.state().unwrap().at);
            // In the middle of their way, where they are fastest.
            let down = if y < 372 { buttons::DOWN } else { 0 };
            if has_in_line(player, y) { buttons::BEAM | down } else { down }
        });
    }
    let hits = |called: &&Called| called.args::<(u8,)>().unwrap().0 > 0;
    let fired = || field.players[0].calls.iter().filter(|called| *called.name == *tells::BEAM_HITS);
    (fired().count(), fired().filter(hits).count())
}

/// Whether an enemy is shown at a height, somewhere on the screen.
fn has_in_line(player: &Player, height: i32) -> bool {
    let Some(view) = player.client.view() else { return false };
    view.iter().any(|(alias, shown)| {
        let [x, y] = units([shown.pose.position[0] as f32, shown.pose.position[1] as f32]);
        player.client.read::<Enemy>(alias).is_some() && (y - height).abs() <= 8 && (300..1_500).contains(&x)
    })
}

#[test]
fn a_beam_hits_what_its_player_saw_unless_that_is_turned_off() {
    let (fired, hit) = beams(true);
    println!("{hit} of {fired} beams hit what was shown");
    assert!(fired >= 20, "{fired} beams");
    assert!(hit * 10 >= fired * 9, "{hit} of {fired} hit what was shown");
    let (fired, hit) = beams(false);
    println!("{hit} of {fired} beams hit where it is now");
    assert!(fired >= 20, "{fired} beams");
    assert!(hit * 3 <= fired, "{hit} of {fired} hit where it is now");
}

//! What a busy level costs on the wire: four players in a storm in which more than sixty things move, and more than twenty come or go
//! each second.

mod common;

use std::collections::BTreeSet;

use common::{Field, Traffic, levels};
use netloom::prelude::Micros;
use netloom_rtype::game::Setup;
use netloom_rtype::protocol::{Stage, buttons};

const SECONDS: u64 = 60;
/// Bytes of datagrams a second and player, at most.
const DOWN_MAX: u64 = 10_000;
const UP_MAX: u64 = 3_000;
/// Things that move at all times, and those that come or go a second, at least.
const MOVERS_MIN: usize = 60;
const TURNOVER_MIN: u64 = 20;

#[test]
fn a_minute_of_storm_stays_within_ten_kilobytes_down_and_three_up() {
    let levels = levels();
    let storm = (1..=levels.len()).find(|level| levels.get(*level).name == "Storm").unwrap();
    let mut field = Field::new(levels, Setup { level: storm, ..Setup::default() });
    field.play(&["Ada", "Bob", "Cleo", "Dan"]);
    field.run(5);
    let before: Vec<[Traffic; 2]> = field.players.iter().map(|player| player.traffic).collect();
    let (mut movers_min, mut turnover, mut known) = (usize::MAX, 0, BTreeSet::new());
    let (until, mut step) = (field.now + Micros::from_secs(SECONDS), 0u32);
    while field.now < until {
        field.frame_with(|player| {
            step += 1;
            let way = step / 80 + player.client.player().unwrap().0;
            let way = way.wrapping_mul(2_654_435_761).to_be_bytes()[0] & 0x0f;
            way | buttons::SHOOT | if step % 400 < 4 { buttons::BEAM } else { 0 }
        });
        let now: BTreeSet<u64> = field.room().world().iter().map(|object| object.id().0).collect();
        turnover += if known.is_empty() { 0 } else { now.symmetric_difference(&known).count() as u64 };
        // All but how the game stands.
        movers_min = movers_min.min(now.len() - 1);
        known = now;
    }
    assert_eq!(field.players[0].all::<Stage>()[0].level, storm, "the storm goes on");
    assert!(movers_min >= MOVERS_MIN, "{movers_min} things that move");
    assert!(turnover >= TURNOVER_MIN * SECONDS, "{turnover} came or went in {SECONDS} s");
    for (player, before) in field.players.iter().zip(&before) {
        let rates = [0, 1].map(|way| (player.traffic[way].bytes - before[way].bytes) / SECONDS);
        println!("{} bytes/s down, {} up", rates[0], rates[1]);
        assert!(rates[0] <= DOWN_MAX && rates[1] <= UP_MAX, "{rates:?} bytes a second down and up");
        let seen = player.client.objects().unwrap().len();
        assert!(
            seen.abs_diff(known.len()) < 20,
            "{seen} of {} are seen: nothing waits for its turn",
            known.len()
        );
    }
}

//! A server that stands still for a while: a machine that swaps, a debugger, a suspended laptop.

use std::time::Duration;

use netloom::prelude::*;

use crate::child::Process;
use crate::common::game::{Keys, Walker};
use crate::common::{Carrier, Rig, Way};

const FREEZE: Duration = Duration::from_secs(5);

#[test]
fn players_of_a_polled_server_that_freezes_play_on_when_it_thaws() {
    freeze_and_thaw(Driver::Polling);
}

#[test]
fn players_of_a_server_with_io_threads_that_freezes_play_on_when_it_thaws() {
    freeze_and_thaw(Driver::DualLoop);
}

fn freeze_and_thaw(driver: Driver) {
    let (process, addresses) = Process::server(driver);
    let carriers = [Carrier::Udp, Carrier::Tcp, Carrier::WebSocket];
    let mut rigs: Vec<Rig> = carriers
        .into_iter()
        .zip(addresses)
        .map(|(carrier, address)| Rig::apart(Way { carrier, driver }, address))
        .collect();
    for rig in &mut rigs {
        rig.welcome("player");
        rig.until_event(0, "all of it", |event| *event == ClientEvent::Complete);
    }
    process.signal("STOP");
    let begun = std::time::Instant::now();
    while begun.elapsed() < FREEZE {
        rigs.iter_mut().for_each(Rig::frame);
    }
    process.signal("CONT");
    for turn in 0..rigs.len() {
        let before = own_walker(&rigs[turn]);
        rigs[turn].players[0].keys = Keys { x: 1, y: 0 };
        let obeys = |rigs: &[Rig]| own_walker(&rigs[turn]) > before + 1.0;
        let begun = std::time::Instant::now();
        while !obeys(&rigs) {
            assert!(begun.elapsed() < Duration::from_secs(5), "{:?} does not obey", rigs[turn].way);
            rigs.iter_mut().for_each(Rig::frame);
        }
        rigs[turn].players[0].keys = Keys::default();
    }
    for rig in &mut rigs {
        assert!(!rig.players[0].has_trouble(), "{:?}", rig.players[0].events);
        assert_eq!(rig.players[0].client.all::<Walker>().count(), 3);
        rig.until("one opinion", |rig| {
            let player = &rig.players[0];
            player.own.state().is_some_and(|own| (own.at[0] - own_walker(rig)).abs() < 0.02)
        });
    }
}

/// Where the server says that the player's own walker is.
fn own_walker(rig: &Rig) -> f32 {
    let player = &rig.players[0];
    let own = player.own.object().and_then(|own| player.client.read::<Walker>(own));
    own.map_or(0.0, |walker| walker.at[0])
}

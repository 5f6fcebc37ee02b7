//! What each kind of channel promises, on links that lose, repeat and reorder.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::traffic::*;
use common::*;
use netloom_proto::config::ChannelConfig;
use netloom_proto::packet::PacketType;
use netloom_proto::{Config, SendError, State, Tag};

const KINDS: [u8; 5] = [PRIORITY, ORDERED, UNORDERED, UNRELIABLE, SEQUENCED];
const RELIABLE: [u8; 3] = [PRIORITY, ORDERED, UNORDERED];

fn sizes(number: u32) -> usize {
    match number % 50 {
        7 => 3_000,
        23 => 9_100,
        other => other as usize * 5,
    }
}

fn check_promises(world: &World, node: usize, sent: u32) {
    for channel in [PRIORITY, ORDERED] {
        assert!(numbers(world, node, channel).into_iter().eq(0..sent), "in order, each once");
    }
    let mut unordered = numbers(world, node, UNORDERED);
    unordered.sort_unstable();
    assert!(unordered.into_iter().eq(0..sent), "each once");
    let unreliable = numbers(world, node, UNRELIABLE);
    let distinct: BTreeSet<_> = unreliable.iter().collect();
    assert_eq!(distinct.len(), unreliable.len(), "at most once");
    assert!(unreliable.len() > sent as usize / 4, "most arrive");
    let sequenced = numbers(world, node, SEQUENCED);
    assert!(sequenced.is_sorted_by(|earlier, later| earlier < later), "never back");
    assert!(sequenced.len() > sent as usize / 8);
}

#[test]
fn every_kind_keeps_its_promise_on_a_bad_link() {
    for (seed, (loss, dup, reorder)) in
        [(0, 0, 50), (10, 10, 10), (30, 5, 30), (0, 100, 0)].into_iter().enumerate()
    {
        for config in [sealed(), plain()] {
            let (mut world, client, server) = World::connected(unlimited_events(config));
            world.script(bad_link(seed as u64, loss, dup, reorder));
            for number in 0..400 {
                for channel in KINDS {
                    let message = message_of(number, sizes(number));
                    world.send(CLIENT, client, channel, &message).unwrap();
                    world.send(SERVER, server, channel, &message).unwrap();
                }
                world.step();
            }
            world.run_for(secs(6));
            for (node, peer) in [(SERVER, server), (CLIENT, client)] {
                check_promises(&world, node, 400);
                let stats = world.nodes[node].stats(peer);
                assert_eq!(stats.pending_bytes, 0);
                assert!(stats.waiting_bytes < 2 * 4 * 9_100, "only unreliable leftovers wait");
            }
        }
    }
}

#[test]
fn messages_of_every_length_up_to_the_limit_arrive_on_every_kind() {
    let (mut world, client, _) = World::connected(at_rate(20_000_000));
    let whole = world.client().endpoint.whole_message_max();
    for channel in KINDS {
        let max = sealed().channels[usize::from(channel)].message_bytes_max;
        for bytes in [4, whole, whole + 1, 1_800, 1_801, max - 1, max] {
            world.forget();
            world.send(CLIENT, client, channel, &message_of(9, bytes)).unwrap();
            world.run_for(ms(400));
            let arrived = world.server().messages(channel);
            assert_eq!(arrived, [message_of(9, bytes)], "{bytes} bytes on channel {channel}");
        }
    }
}

#[test]
fn the_largest_configurable_message_arrives_through_loss() {
    let mut config = at_rate(20_000_000);
    for channel in &mut config.channels {
        channel.message_bytes_max = if channel.kind.is_reliable() { 460_800 } else { 57_600 };
    }
    let (mut world, client, _) = World::connected(config);
    world.script(bad_link(3, 5, 2, 5));
    for channel in RELIABLE {
        world.send(CLIENT, client, channel, &message_of(1, 460_800)).unwrap();
        world.send(CLIENT, client, channel, &message_of(2, 10)).unwrap();
    }
    world.run_for(secs(5));
    for channel in RELIABLE {
        let mut arrived = numbers(&world, SERVER, channel);
        arrived.sort_unstable();
        assert_eq!(arrived, [1, 2]);
    }
}

#[test]
fn a_burst_larger_than_an_acknowledgement_can_name_is_acknowledged_whole() {
    let mut config = at_rate(100_000_000);
    config.channels[usize::from(ORDERED)].message_bytes_max = 400_000;
    let (mut world, client, _) = World::connected(config);
    for number in 0..5 {
        world
            .send(CLIENT, client, ORDERED, &message_of(number, 400_000))
            .unwrap_or_else(|error| panic!("{number}: {error}"));
        world.run_for(ms(200));
    }
    assert_eq!(numbers(&world, SERVER, ORDERED), [0, 1, 2, 3, 4]);
    let stats = world.client().stats(client);
    assert_eq!((stats.counters.packets_lost, stats.counters.resends), (0, 0), "nothing was lost");
}

#[test]
fn a_full_channel_says_so_and_recovers() {
    let (mut world, client, _) = World::connected(at_rate(2_000_000));
    for channel in [PRIORITY, ORDERED, UNORDERED, UNRELIABLE] {
        let limit = sealed().channels[usize::from(channel)].pending_bytes_max;
        let part = 1_024;
        for number in 0..limit / part {
            world.send(CLIENT, client, channel, &message_of(number as u32, part)).unwrap();
        }
        assert_eq!(
            world.send(CLIENT, client, channel, &message_of(0, 4)),
            Err(SendError::Full { pending: limit })
        );
        world.run_for(secs(3));
        assert_eq!(world.client().stats(client).pending_bytes, 0);
        assert_eq!(world.send(CLIENT, client, channel, &message_of(7, 4)), Ok(()));
        world.run_for(ms(100));
        let arrived = numbers(&world, SERVER, channel);
        assert_eq!(arrived.len(), limit / part + 1, "nothing that was taken is lost");
    }
}

#[test]
fn messages_without_bytes_fill_a_channel_too() {
    let (mut world, client, _) = World::connected(sealed());
    for channel in [ORDERED, UNRELIABLE] {
        let taken = (0..2_000_000).find(|_| world.send(CLIENT, client, channel, b"").is_err());
        assert!(taken.is_some(), "two million messages wait on channel {channel} and it is not full");
    }
}

#[test]
fn an_empty_message_is_a_message() {
    let (mut world, client, _) = World::connected(sealed());
    for channel in KINDS {
        world.send(CLIENT, client, channel, b"").unwrap();
    }
    world.run_for(ms(100));
    for channel in KINDS {
        assert_eq!(world.server().messages(channel), [b""]);
    }
}

#[test]
fn wrong_sends_name_the_mistake() {
    let (mut world, client, _) = World::connected(sealed());
    assert_eq!(world.send(CLIENT, client, 5, b"x"), Err(SendError::NoSuchChannel(5)));
    assert_eq!(world.send(CLIENT, client, 255, b"x"), Err(SendError::NoSuchChannel(255)));
    for channel in KINDS {
        let max = sealed().channels[usize::from(channel)].message_bytes_max;
        assert_eq!(
            world.send(CLIENT, client, channel, &vec![0; max + 1]),
            Err(SendError::TooLarge { bytes: max + 1, max })
        );
    }
    let endpoint = &mut world.client().endpoint;
    assert_eq!(endpoint.send_tagged(client, ORDERED, b"x", 1), Err(SendError::TagOnReliable(ORDERED)));
    let max = endpoint.whole_message_max();
    assert_eq!(
        endpoint.send_tagged(client, UNRELIABLE, &vec![0; max + 1], 1),
        Err(SendError::TagOnFragments { bytes: max + 1, max })
    );
    assert_eq!(endpoint.send_tagged(client, UNRELIABLE, &vec![0; max], 1), Ok(()));
}

/// Sends tagged messages on a bad link: the tags by outcome, and what arrived.
fn tagged_traffic(channel: u8) -> (Vec<(u64, bool)>, BTreeSet<u64>) {
    let (mut world, client, _) = World::connected(unlimited_events(sealed()));
    world.script(bad_link(11, 15, 10, 30));
    for tag in 0..1_000u64 {
        let message = message_of(tag as u32, 40);
        let sent = world.client().endpoint.send_tagged(client, channel, &message, tag);
        sent.unwrap();
        if tag % 3 != 0 {
            world.step();
        }
    }
    world.run_for(secs(8));
    let arrived = numbers(&world, SERVER, channel).into_iter().map(u64::from).collect();
    (world.client().outcomes(), arrived)
}

#[test]
fn every_tag_has_exactly_one_outcome() {
    for channel in [UNRELIABLE, SEQUENCED] {
        let (outcomes, arrived) = tagged_traffic(channel);
        let by_tag: BTreeMap<_, _> = outcomes.iter().copied().collect();
        assert_eq!(outcomes.len(), 1_000, "one each");
        assert!(by_tag.keys().copied().eq(0..1_000));
        let acked = outcomes.iter().filter(|(_, acked)| *acked).count();
        assert!(acked > 300 && acked < 1_000 && !arrived.is_empty());
    }
}

#[test]
fn an_acked_tag_was_delivered() {
    let (outcomes, arrived) = tagged_traffic(UNRELIABLE);
    for (tag, acked) in outcomes {
        assert!(!acked || arrived.contains(&tag), "{tag} is said to have arrived");
    }
}

/// Sends a message every 50 ms, of which every fourth is waited for, on a link that drops one of the packets or none: how
/// many packets were Quiet, and how many Acks came.
fn every_fourth_awaited(lost: Option<usize>) -> (usize, usize) {
    let (mut world, client, _) = World::connected(sealed());
    world.run_for(ms(300));
    world.forget();
    let mut quiet = 0;
    world.script(move |passing| {
        if passing.datagram.kind() == PacketType::Quiet as u8 {
            quiet += 1;
            if Some(quiet) == lost {
                passing.drop();
            }
        }
    });
    for tag in 0..40u64 {
        let how = if tag % 4 == 3 { Tag::from(tag) } else { Tag::that_can_wait(tag) };
        world.client().endpoint.send_tagged(client, UNRELIABLE, b"state", how).unwrap();
        world.run_for(ms(50));
    }
    world.run_for(ms(300));
    let arrived = world.client().outcomes().iter().filter(|(_, acked)| *acked).count();
    assert_eq!(arrived, 40 - usize::from(lost.is_some()));
    assert_eq!(world.client().outcomes().len(), 40);
    (world.recorded_of(PacketType::Quiet).len(), world.recorded_of(PacketType::Ack).len())
}

#[test]
fn the_news_of_what_can_wait_comes_with_that_of_what_cannot() {
    assert_eq!(every_fourth_awaited(None), (30, 10));
}

#[test]
fn a_gap_is_told_at_once_even_if_the_rest_can_wait() {
    // And nothing waits any more where something was lost.
    let (quiet, acks) = every_fourth_awaited(Some(5));
    assert!((5..30).contains(&quiet) && acks > 11, "{quiet} quiet packets, {acks} acks");
}

#[test]
fn that_the_last_message_before_a_silence_is_lost_is_known_soon() {
    for how in [Tag::from(0), Tag::that_can_wait(0)] {
        let (mut world, client, _) = World::connected(sealed());
        world.run_for(ms(300));
        world.forget();
        let mut is_first = true;
        world.script(move |passing| {
            if std::mem::take(&mut is_first) {
                passing.drop();
            }
        });
        world.client().endpoint.send_tagged(client, UNRELIABLE, b"the last state", how).unwrap();
        world.run_for(ms(600));
        assert_eq!(world.client().outcomes(), [(0, false)]);
    }
}

#[test]
fn a_packet_with_anything_that_cannot_wait_is_not_quiet() {
    let (mut world, client, _) = World::connected(sealed());
    world.run_for(ms(300));
    world.forget();
    for channel in [UNRELIABLE, ORDERED] {
        let tag = Tag::that_can_wait(1);
        world.client().endpoint.send_tagged(client, UNRELIABLE, b"state", tag).unwrap();
        world.send(CLIENT, client, channel, b"and this").unwrap();
        world.run_for(ms(100));
    }
    assert_eq!(world.recorded_of(PacketType::Quiet).len(), 0);
}

#[test]
fn a_replaced_sequenced_message_is_reported_lost() {
    let (mut world, client, _) = World::connected(sealed());
    for tag in 0..5u64 {
        let sent = world.client().endpoint.send_tagged(client, SEQUENCED, b"state", tag);
        sent.unwrap();
    }
    world.run_for(ms(200));
    let mut outcomes = world.client().outcomes();
    outcomes.sort_unstable();
    assert_eq!(outcomes, [(0, false), (1, false), (2, false), (3, false), (4, true)]);
    assert_eq!(world.server().messages(SEQUENCED), [b"state"]);
}

#[test]
fn a_stalled_reader_stops_the_sender_and_loses_nothing_when_it_resumes() {
    let config = Config { events_queued_max: 512, ..sealed() };
    let (mut world, client, server) = World::connected(config);
    world.server().is_stalled = true;
    let total = 3_000;
    for number in 0..total {
        for channel in RELIABLE {
            world.send(CLIENT, client, channel, &message_of(number, 60)).unwrap();
        }
    }
    for _ in 0..60 {
        world.run_for(ms(100));
        let stats = world.server().stats(server);
        assert!(stats.queue_depth <= 513, "{}", stats.queue_depth);
    }
    let pending = world.client().stats(client).pending_bytes;
    assert!(pending > 200_000, "the sender still holds {pending} bytes");
    assert_eq!(world.client().state(client), State::Connected);
    world.server().is_stalled = false;
    world.run_until(secs(30), |world| {
        let arrived = |channel| world.nodes[SERVER].messages(channel).len();
        RELIABLE.into_iter().map(arrived).sum::<usize>() == 3 * total as usize
    });
    for channel in [PRIORITY, ORDERED] {
        assert!(numbers(&world, SERVER, channel).into_iter().eq(0..total));
    }
    let distinct: BTreeSet<_> = numbers(&world, SERVER, UNORDERED).into_iter().collect();
    assert_eq!(distinct.len(), total as usize);
}

#[test]
fn message_ids_wrap_without_a_trace() {
    let (mut world, client, _) = World::connected(at_rate(20_000_000));
    world.tick = ms(1);
    world.delay = ms(2);
    world.script(bad_link(21, 2, 2, 0));
    let total = 70_000;
    let mut sent = 0;
    while sent < total {
        for _ in 0..100 {
            for channel in KINDS {
                world.send(CLIENT, client, channel, &message_of(sent, 4)).unwrap();
            }
            sent += 1;
        }
        world.step();
    }
    world.run_for(secs(2));
    for channel in [PRIORITY, ORDERED] {
        assert!(numbers(&world, SERVER, channel).into_iter().eq(0..total));
    }
    let mut unordered = numbers(&world, SERVER, UNORDERED);
    unordered.sort_unstable();
    assert!(unordered.into_iter().eq(0..total));
    let sequenced = numbers(&world, SERVER, SEQUENCED);
    assert!(sequenced.is_sorted_by(|earlier, later| earlier < later));
    assert!(*sequenced.last().unwrap() > total - 10);
}

#[test]
fn packet_numbers_wrap_without_a_trace() {
    for config in [sealed(), plain()] {
        let (mut world, client, server) = World::connected(unlimited_events(config));
        world.tick = ms(1);
        world.script(bad_link(22, 1, 1, 1));
        let total = 70_000;
        for tag in 0..total {
            let sent =
                world.client().endpoint.send_tagged(client, UNRELIABLE, &message_of(tag, 4), u64::from(tag));
            sent.unwrap();
            if tag % 100 == 0 {
                world.send(CLIENT, client, ORDERED, &message_of(tag / 100, 4)).unwrap();
            }
            world.step();
        }
        world.run_for(secs(4));
        assert!(world.client().stats(client).counters.packets_sent > 1 << 16);
        assert_eq!(world.server().state(server), State::Connected);
        assert!(numbers(&world, SERVER, ORDERED).into_iter().eq(0..total / 100));
        let arrived: BTreeSet<_> = numbers(&world, SERVER, UNRELIABLE).into_iter().collect();
        let outcomes = world.client().outcomes();
        assert_eq!(outcomes.len(), total as usize);
        for (tag, acked) in outcomes {
            assert!(!acked || arrived.contains(&(tag as u32)));
        }
    }
}

#[test]
fn limits_are_per_channel() {
    let mut config = sealed();
    config.channels = vec![
        ChannelConfig {
            message_bytes_max: 100,
            pending_bytes_max: 100,
            ..config.channels[usize::from(ORDERED)]
        },
        config.channels[usize::from(ORDERED)],
    ];
    let (mut world, client, _) = World::connected(config);
    world.send(CLIENT, client, 0, &[0; 100]).unwrap();
    assert_eq!(world.send(CLIENT, client, 0, &[0]), Err(SendError::Full { pending: 100 }));
    assert_eq!(world.send(CLIENT, client, 1, &[0; 101]), Ok(()));
    assert_eq!(world.send(CLIENT, client, 0, &[0; 101]), Err(SendError::TooLarge { bytes: 101, max: 100 }));
}

use super::*;
use crate::config::ChannelKind;
use crate::frame::{ChannelTable, Frame, Frames};
use proptest::prelude::*;

/// Packets 0.. with one block each; returns what each carries besides its block.
fn packets(mode: Redundancy, blocks: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut history = BlockHistory::default();
    blocks
        .iter()
        .enumerate()
        .map(|(number, block)| {
            let mut out = [0; 1200];
            let mut writer = FrameWriter::new(&mut out);
            assert!(writer.message(&crate::frame::MessageFrame {
                channel: 0,
                kind: ChannelKind::Unreliable,
                id: 0,
                fragment: None,
                data: b"",
            }));
            history.write(Micros::ZERO, number as u64, mode, 0, &mut writer);
            let length = writer.finish();
            history.handle_sent(Micros::ZERO, number as u64, mode, block);
            out[..length].to_vec()
        })
        .collect()
}

/// The blocks that are known after the packets marked as lost did not arrive, without those of other packets.
fn recovered(mode: Redundancy, blocks: &[Vec<u8>], lost: &[usize]) -> Vec<usize> {
    let table = ChannelTable::new([ChannelKind::Unreliable]);
    let mut store = BlockStore::default();
    let mut known = vec![];
    for (number, packet) in packets(mode, blocks).iter().enumerate() {
        if lost.contains(&number) {
            continue;
        }
        store.insert(number as u64, &blocks[number]);
        for frame in Frames::of_payload(packet, &table).unwrap() {
            match frame.unwrap() {
                Frame::Link(link) if link.parity.is_some() => store.insert_parity(number as u64, &link),
                Frame::Link(link) => {
                    let repeated = number - link.distance as usize;
                    assert_eq!(link.body, blocks[repeated], "block {repeated}");
                    known.push(repeated);
                }
                Frame::Message(_) => {}
            }
        }
        known.extend(all_recovered(&mut store).iter().map(|block| {
            assert_eq!(block.frames(), blocks[block.number as usize], "block {}", block.number);
            block.number as usize
        }));
    }
    known.retain(|number| lost.contains(number));
    known.sort_unstable();
    known
}

/// Everything that the parities give away, taken.
fn all_recovered(store: &mut BlockStore) -> Vec<Block> {
    let (mut blocks, mut place) = (vec![], 0);
    while let Some(recovered) = store.poll_recovered(&mut place) {
        store.handle_taken(recovered);
        blocks.push(recovered.block);
        place = 0;
    }
    blocks
}

fn some_blocks() -> Vec<Vec<u8>> {
    (0..10u8).map(|number| vec![number + 1; 10 + usize::from(number) * 7]).collect()
}

#[test]
fn single_losses_and_two_in_a_row_are_repaired() {
    for mode in [Redundancy::Copy, Redundancy::Parity] {
        assert_eq!(recovered(mode, &some_blocks(), &[4]), [4]);
        assert_eq!(recovered(mode, &some_blocks(), &[4, 5]), [4, 5]);
    }
    assert_eq!(recovered(Redundancy::Copy, &some_blocks(), &[4, 6]), [6], "its copy is lost too");
    assert_eq!(recovered(Redundancy::Parity, &some_blocks(), &[4, 6]), [4, 6]);
    assert_eq!(
        recovered(Redundancy::Parity, &some_blocks(), &[4, 5, 6]),
        [5, 6],
        "the first of three is resent"
    );
    assert_eq!(recovered(Redundancy::Off, &some_blocks(), &[4]), []);
    for lost in [&[4][..], &[4, 5], &[4, 6], &[4, 7]] {
        let mut found = recovered(Redundancy::Twice, &some_blocks(), lost);
        found.dedup();
        assert_eq!(found, lost);
    }
    assert_eq!(recovered(Redundancy::Twice, &some_blocks(), &[4, 5, 6])[..2], [5, 6], "three in a row");
}

#[test]
fn an_acknowledged_block_is_not_repeated() {
    let mut history = BlockHistory::default();
    history.handle_sent(Micros(5), 3, Redundancy::Copy, b"block");
    assert_eq!(history.waiting_since(), Some(Micros(5)));
    history.handle_acked(3);
    let mut out = [0; 1200];
    let repeats = history.write(Micros(9), 4, Redundancy::Copy, 0, &mut FrameWriter::new(&mut out));
    assert_eq!(repeats, Repeats::Nothing);
}

#[test]
fn a_packet_of_their_own_repeats_all_blocks_that_wait() {
    let mut history = BlockHistory::default();
    history.handle_sent(Micros(5), 3, Redundancy::Copy, b"block");
    history.handle_sent(Micros(7), 4, Redundancy::Copy, b"another");
    assert_eq!(history.waiting_since(), Some(Micros(7)));
    let mut out = [0; 1200];
    let repeats = history.write(Micros(9), 5, Redundancy::Copy, 0, &mut FrameWriter::new(&mut out));
    assert_eq!(repeats.settled_by(5, 100, |_| false), [Some(3), Some(4)]);
    assert_eq!(history.waiting_since(), None);
}

#[test]
fn a_block_that_is_to_be_repeated_twice_waits_again_after_the_first_time() {
    let mut history = BlockHistory::default();
    history.handle_sent(Micros(5), 3, Redundancy::Twice, b"block");
    let mut out = [0; 1200];
    for (number, waiting) in [(4, Some(Micros(9))), (5, None)] {
        let repeats = history.write(Micros(9), number, Redundancy::Twice, 0, &mut FrameWriter::new(&mut out));
        assert_eq!((repeats.frames(), history.waiting_since()), (1, waiting));
    }
    history.handle_sent(Micros(5), 6, Redundancy::Twice, b"block");
    history.write(Micros(9), 7, Redundancy::Off, 0, &mut FrameWriter::new(&mut out));
    assert_eq!(history.waiting_since(), None, "it was turned off in the meantime");
}

#[test]
fn a_block_too_far_back_is_not_repeated() {
    let mut history = BlockHistory::default();
    history.handle_sent(Micros(5), 3, Redundancy::Copy, b"block");
    let mut out = [0; 1200];
    let number = 3 + BLOCK_DISTANCE_MAX + 1;
    let repeats = history.write(Micros(9), number, Redundancy::Copy, 0, &mut FrameWriter::new(&mut out));
    assert_eq!((repeats, history.waiting_since()), (Repeats::Nothing, None));
}

#[test]
fn a_parity_settles_a_block_if_the_other_arrived_and_cannot_have_been_pushed_out() {
    let parity = Repeats::Parity(Distances::new(1, 2));
    assert_eq!(parity.settled_by(10, 11, |_| false), [None, None]);
    assert_eq!(parity.settled_by(10, 24, |number| number == 8), [Some(9), None]);
    assert_eq!(parity.settled_by(10, 24, |number| number == 9), [None, Some(8)]);
    assert_eq!(parity.settled_by(10, 25, |number| number == 8), [None, None], "24 may have replaced 8");
    assert_eq!(Repeats::Nothing.settled_by(10, 11, |_| true), [None, None]);
}

#[test]
fn a_block_that_was_not_taken_comes_again() {
    let mut store = BlockStore::default();
    store.insert(0, b"ab");
    let body = [b'a' ^ b'c', b'b' ^ b'd'];
    store.insert_parity(2, &LinkFrame { distance: 1, parity: Some((2, 0)), body: &body });
    for _ in 0..3 {
        let mut place = 0;
        assert_eq!(store.poll_recovered(&mut place).unwrap().block.frames(), b"cd");
        assert!(store.poll_recovered(&mut place).is_none(), "once per look");
    }
    assert_eq!(all_recovered(&mut store).len(), 1);
    assert!(store.contains(1) && all_recovered(&mut store).is_empty());
}

#[test]
fn what_a_sender_hides_behind_a_recovered_block_does_not_reach_the_next() {
    let mut store = BlockStore::default();
    store.insert(0, &[1, 2, 3]);
    let parity = |lengths, body| LinkFrame { distance: 1, parity: Some((2, lengths)), body };
    store.insert_parity(2, &parity(3 ^ 2, &[1 ^ 7, 2 ^ 8, 3, 9, 9]));
    assert_eq!(all_recovered(&mut store)[0].frames(), [7, 8], "block 1, and two bytes behind it");
    store.insert_parity(3, &parity(2 ^ 5, &[7, 8, 0, 4, 5]));
    assert_eq!(all_recovered(&mut store)[0].frames(), [0, 0, 0, 4, 5], "block 2");
}

proptest! {
    #[test]
    fn recovered_blocks_are_always_the_ones_that_were_sent(
        blocks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..=255), 1..40),
        lost in proptest::collection::vec(any::<bool>(), 40),
        parity: bool,
    ) {
        let lost: Vec<usize> = (0..blocks.len()).filter(|&number| lost[number]).collect();
        let mode = if parity { Redundancy::Parity } else { Redundancy::Copy };
        let known = recovered(mode, &blocks, &lost);
        prop_assert!(known.iter().all(|number| lost.contains(number)));
    }

    #[test]
    fn hostile_links_do_no_harm(links in proptest::collection::vec((0u64..40, 1u64..=8, proptest::option::of((1u64..=8, any::<u8>())), proptest::collection::vec(any::<u8>(), 0..255)), 0..60)) {
        let mut store = BlockStore::default();
        for (number, distance, parity, body) in links {
            let link = LinkFrame { distance, parity, body: &body };
            match (parity, number.checked_sub(distance)) {
                (Some(_), _) => store.insert_parity(number, &link),
                (None, Some(repeated)) => store.insert(repeated, &body),
                (None, None) => {}
            }
            prop_assert!(all_recovered(&mut store).len() <= KEPT);
        }
    }
}

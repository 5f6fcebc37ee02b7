use super::*;

const RTT: Micros = Micros::from_millis(80);
const AGE: Micros = Micros::from_secs(2);

fn data() -> Outgoing {
    Outgoing { bytes: 100, elicits_ack: true, ..Outgoing::default() }
}

/// Ten packets, ten milliseconds apart, each with a tag of its own number.
fn ten() -> SentPackets {
    let mut sent = SentPackets::default();
    for number in 0..10 {
        sent.carry(Carried::Tagged(number));
        sent.handle_sent(Micros::from_millis(10 * number), data());
    }
    sent
}

fn ack(sent: &mut SentPackets, newest: u64, bits: u64) -> Vec<(u64, Verdict)> {
    let mut tags = vec![];
    sent.handle_ack(newest, bits, |_, _, verdict, carries| {
        tags.extend(carries.iter().map(|carried| (tag(carried), verdict)))
    });
    tags
}

fn losses(sent: &mut SentPackets, now: Micros) -> Vec<u64> {
    let mut numbers = vec![];
    sent.detect_losses(now, RTT, AGE, |number, _, carries| {
        assert_eq!(carries.iter().map(tag).collect::<Vec<_>>(), [number]);
        numbers.push(number);
    });
    numbers
}

fn tag(carried: Carried) -> u64 {
    match carried {
        Carried::Tagged(tag) => tag,
        Carried::Reliable { id, .. } => id,
    }
}

#[test]
fn an_ack_settles_each_packet_once_with_what_it_carried() {
    let mut sent = ten();
    assert_eq!(ack(&mut sent, 4, 0b1010), [(0, Verdict::Acked), (2, Verdict::Acked), (4, Verdict::Acked)]);
    assert_eq!(ack(&mut sent, 4, 0b1011), [(3, Verdict::Acked)]);
    assert_eq!(sent.in_flight(), 6);
}

#[test]
fn a_packet_is_lost_when_overtaken_by_more_than_the_reorder_window() {
    let mut sent = ten();
    ack(&mut sent, 3, 0);
    assert_eq!(losses(&mut sent, Micros::from_millis(90)), [0, 1, 2], "10 ms is an eighth of 80");
    assert_eq!(ack(&mut sent, 1, 0), [(1, Verdict::AckedLate)]);
    ack(&mut sent, 6, 0);
    assert_eq!(losses(&mut sent, Micros::from_millis(90)), [4], "the window widened to 20 ms");
    assert_eq!(losses(&mut sent, Micros::from_millis(50) + RTT + Micros::from_millis(20)), [5]);
}

#[test]
fn a_packet_that_nothing_overtakes_is_lost_by_age() {
    let mut sent = ten();
    assert_eq!(losses(&mut sent, AGE - Micros(1)), []);
    assert_eq!(losses(&mut sent, AGE + Micros::from_millis(10)), [0, 1]);
    assert_eq!(sent.loss_deadline(RTT, AGE), Some(AGE + Micros::from_millis(20)));
}

/// Packets 0 to `count` - 1, ten milliseconds apart, each with its own number and each repeating others.
fn repeating(repeats: Repeats, count: u64) -> SentPackets {
    let mut sent = SentPackets::default();
    for number in 0..count {
        sent.carry(Carried::Reliable { channel: 1, count: 1, id: number });
        sent.carry(Carried::Tagged(1_000 + number));
        let block_runs = 1;
        sent.handle_sent(Micros::from_millis(10 * number), Outgoing { block_runs, repeats, ..data() });
    }
    sent
}

#[test]
fn the_block_of_a_lost_packet_is_settled_by_the_packet_that_repeats_it_and_nothing_else_is() {
    let mut sent = repeating(Repeats::copy_of_two_before(), 6);
    assert_eq!(
        ack(&mut sent, 4, 0b1001),
        [(0, Verdict::Acked), (1_000, Verdict::Acked), (3, Verdict::Acked), (1_003, Verdict::Acked)]
            .into_iter()
            .chain([(1, Verdict::Repeated), (4, Verdict::Acked), (1_004, Verdict::Acked)])
            .chain([(2, Verdict::Repeated)])
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_parity_settles_nothing_by_a_packet_that_was_lost_and_forgotten() {
    let settled = |lost_is_forgotten: bool| {
        let mut sent = repeating(Repeats::parity_of_two_before(), 2);
        // Packet 0 arrives or is given up; either way it is forgotten.
        if !lost_is_forgotten {
            ack(&mut sent, 0, 0);
        }
        sent.detect_losses(LOST_KEPT, RTT, LOST_KEPT, |_, _, _| ());
        assert_eq!(sent.first, 1);
        let block_runs = 1;
        let repeats = Repeats::parity_of_two_before();
        sent.handle_sent(LOST_KEPT, Outgoing { block_runs, repeats, ..data() });
        ack(&mut sent, 2, 0)
    };
    assert_eq!(settled(false), [(1, Verdict::Repeated)]);
    assert_eq!(settled(true), []);
}

#[test]
fn a_block_is_reported_again_when_its_copy_is_lost_after_it() {
    let mut sent = repeating(Repeats::copy_of_two_before(), 6);
    ack(&mut sent, 5, 0b10_11);
    let mut lost = vec![];
    sent.detect_losses(Micros::from_millis(90), RTT, AGE, |number, loss, carries| {
        lost.push((number, loss == Loss::Copy, carries.iter().count()));
    });
    assert_eq!(lost, [(0, false, 2), (2, false, 2), (0, true, 1)]);
}

#[test]
fn settled_packets_are_forgotten_and_unsettled_ones_are_not() {
    let mut sent = ten();
    ack(&mut sent, 9, u64::MAX >> 1);
    losses(&mut sent, Micros::from_millis(100));
    assert_eq!((sent.packets.len(), sent.carried.len(), sent.next_number()), (0, 0, 10));
    assert_eq!(ack(&mut sent, 9, u64::MAX), []);
}

#[test]
fn a_packet_that_was_given_up_does_not_keep_those_behind_it_and_may_arrive_after_all() {
    let mut sent = ten();
    ack(&mut sent, 9, 0b1_1011_1111);
    assert_eq!(losses(&mut sent, Micros::from_millis(90)), [2]);
    let kept = |sent: &SentPackets| (sent.packets.len(), sent.carried.len(), sent.lost.len());
    assert_eq!(kept(&sent), (0, 0, 1));
    assert_eq!(ack(&mut sent, 8, 1 << 5), [(2, Verdict::AckedLate)]);
    assert_eq!(ack(&mut sent, 8, 1 << 5), []);
    losses(&mut sent, Micros::from_millis(90));
    assert_eq!(kept(&sent), (0, 0, 0));
}

#[test]
fn packets_that_were_given_up_are_forgotten_after_a_while() {
    let mut sent = ten();
    ack(&mut sent, 9, 0);
    assert_eq!(losses(&mut sent, Micros::from_millis(90)).len(), 9, "all but the last");
    assert_eq!((sent.packets.len(), sent.lost.len(), sent.lost_carried.len()), (0, 9, 9));
    sent.forget(LOST_KEPT + Micros::from_millis(70));
    assert_eq!((sent.lost.len(), sent.lost_carried.len()), (1, 1));
    assert_eq!(ack(&mut sent, 8, u64::MAX), [(8, Verdict::AckedLate)]);
}

#[test]
fn only_packets_that_were_sent_can_be_acknowledged() {
    assert_eq!(SentPackets::default().expand(0), Err(NeverSent));
    let sent = ten();
    assert_eq!(sent.expand(9), Ok(9));
    assert_eq!(sent.expand(10), Err(NeverSent));
    assert_eq!(sent.expand(u16::MAX), Err(NeverSent));
}

#[test]
fn numbers_wrap_at_sixteen_bits_without_confusion() {
    let mut sent = SentPackets::default();
    for number in 0..70_000u64 {
        sent.carry(Carried::Tagged(number));
        sent.handle_sent(Micros(number * 1_000), data());
        let full = sent.expand(number as u16).unwrap();
        assert_eq!(full, number);
        assert_eq!(ack(&mut sent, full, 0), [(number, Verdict::Acked)]);
        losses(&mut sent, Micros(number * 1_000));
    }
    assert!(sent.packets.len() <= 1);
}

#[test]
fn a_side_that_only_acknowledges_can_do_so_for_ever() {
    let mut sent = SentPackets::default();
    for number in 0..10_000 {
        assert_eq!(sent.next_number(), number);
        sent.handle_sent(Micros(number), Outgoing { bytes: 30, ..Outgoing::default() });
    }
    assert!(sent.packets.is_empty());
}

#[test]
fn the_record_of_packets_is_bounded() {
    let mut sent = SentPackets::default();
    while sent.has_room() {
        sent.handle_sent(Micros::ZERO, data());
    }
    assert_eq!(sent.packets.len(), PACKETS_IN_FLIGHT_MAX);
    sent.detect_losses(AGE, RTT, AGE, |_, _, _| ());
    assert!(sent.has_room(), "lost packets give way when the record is full");
}

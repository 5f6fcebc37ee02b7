use super::*;
use crate::rpc::frame::Caller;
use crate::rpc::table::RpcId;
use netloom_replica::world::OwnerId;
use proptest::prelude::*;

fn alias(slot: u16) -> Alias {
    Alias { slot, generation: 1 }
}

fn call(id: u16, slot: u16, args: &[u8]) -> ServerCall<'_> {
    let caller = Caller::Player(OwnerId(3));
    ServerCall { id: RpcId(id), caller, object: Some(alias(slot)), tick: None, args }
}

fn nobody(call: ServerCall<'_>) {
    panic!("came out as unknown: {call:?}");
}

fn ids(drain: impl FnOnce(&mut dyn FnMut(ServerCall<'_>))) -> Vec<u16> {
    let mut ids = Vec::new();
    drain(&mut |call| ids.push(call.id.0));
    ids
}

#[test]
fn calls_come_out_in_order_when_their_object_enters() {
    let mut waiting = WaitingCalls::new();
    for (id, slot) in [(0, 7), (1, 8), (2, 7), (3, 8), (4, 7)] {
        waiting.hold(Micros(id.into()), alias(slot), &call(id, slot, &[id as u8; 3]), nobody);
    }
    assert!(waiting.is_waiting_for(alias(7)));
    assert!(!waiting.is_waiting_for(Alias { slot: 7, generation: 2 }));
    let mut released = Vec::new();
    waiting.release(alias(7), |call| released.push((call.id.0, call.args.to_vec(), call.caller)));
    let player = Caller::Player(OwnerId(3));
    assert_eq!(released, [0, 2, 4].map(|id| (id, vec![id as u8; 3], player)));
    assert_eq!((waiting.len(), waiting.bytes()), (2, 6));
    assert_eq!(ids(|out| waiting.release(alias(7), out)), []);
    assert_eq!(ids(|out| waiting.release(alias(8), out)), [1, 3]);
    assert!(waiting.is_empty() && waiting.unknown() == 0);
}

#[test]
fn after_a_second_a_call_is_about_an_unknown_object() {
    let mut waiting = WaitingCalls::new();
    assert_eq!(waiting.poll_timeout(), None);
    waiting.hold(Micros(10), alias(1), &call(0, 1, &[]), nobody);
    waiting.hold(Micros(20), alias(2), &call(1, 2, &[]), nobody);
    assert_eq!(waiting.poll_timeout(), Some(Micros(1_000_010)));
    waiting.handle_timeout(Micros(1_000_009), nobody);
    assert_eq!(ids(|out| waiting.handle_timeout(Micros(1_000_010), out)), [0]);
    assert_eq!(waiting.poll_timeout(), Some(Micros(1_000_020)));
    assert_eq!(ids(|out| waiting.handle_timeout(Micros(2_000_000), out)), [1]);
    assert_eq!(waiting.unknown(), 2);
}

#[test]
fn a_flood_of_calls_pushes_out_the_oldest() {
    let mut waiting = WaitingCalls::new();
    let mut unknown = Vec::new();
    for id in 0..1_000 {
        waiting.hold(Micros(0), alias(1), &call(id, 1, &[1]), |call| unknown.push(call.id.0));
        assert!(waiting.len() <= WAITING_CALLS_MAX);
    }
    assert_eq!(unknown, (0..744).collect::<Vec<_>>());
    assert_eq!(ids(|out| waiting.release(alias(1), out)), (744..1_000).collect::<Vec<_>>());
    assert_eq!(waiting.unknown(), 744);
}

#[test]
fn large_calls_push_out_as_many_as_they_need() {
    let mut waiting = WaitingCalls::new();
    let large = vec![0; 16 << 10];
    for id in 0..4 {
        waiting.hold(Micros(0), alias(1), &call(id, 1, &large), nobody);
    }
    assert_eq!(waiting.bytes(), WAITING_BYTES_MAX);
    assert_eq!(ids(|out| waiting.hold(Micros(1), alias(1), &call(4, 1, &[0]), out)), [0]);
    assert_eq!(ids(|out| waiting.hold(Micros(1), alias(1), &call(5, 1, &large), out)), [1]);
    let oversized = vec![0; WAITING_BYTES_MAX + 1];
    assert_eq!(ids(|out| waiting.hold(Micros(1), alias(1), &call(6, 1, &oversized), out)), [2, 3, 4, 5, 6]);
    assert!(waiting.is_empty());
}

#[test]
fn waiting_again_and_again_takes_no_new_memory() {
    let mut waiting = WaitingCalls::new();
    let mut round = |now| {
        for id in 0..50 {
            waiting.hold(Micros(now), alias(id % 5), &call(id, id % 5, &[7; 40]), nobody);
        }
        waiting.release(alias(3), |_| ());
        waiting.handle_timeout(Micros(now + 1_000_000), |_| ());
    };
    round(0);
    let before = netloom_count::allocations();
    (1..20).for_each(|index| round(index * 2_000_000));
    assert_eq!(netloom_count::allocations(), before);
}

#[test]
fn a_connection_that_ends_takes_its_calls_along() {
    let mut waiting = WaitingCalls::default();
    waiting.hold(Micros(0), alias(1), &call(0, 1, &[1]), nobody);
    waiting.clear();
    assert_eq!((waiting.len(), waiting.bytes(), waiting.poll_timeout()), (0, 0, None));
}

proptest! {
    #[test]
    fn every_call_comes_out_once_and_in_the_order_of_its_object(
        operations in proptest::collection::vec((0u8..10, 0u16..4, 0usize..3_000, 0u64..200_000), 1..600),
    ) {
        let mut waiting = WaitingCalls::new();
        let (mut now, mut held) = (Micros(0), 0u16);
        let mut out: Vec<(u16, u16)> = Vec::new();
        for (operation, slot, length, pause) in operations {
            let mut keep = |call: ServerCall<'_>| {
                assert!(call.args.iter().all(|&byte| byte == call.id.0 as u8));
                out.push((call.object.unwrap().slot, call.id.0));
            };
            match operation {
                0 => waiting.release(alias(slot), &mut keep),
                1 => {
                    now += Micros(pause);
                    waiting.handle_timeout(now, &mut keep);
                }
                _ => {
                    waiting.hold(now, alias(slot), &call(held, slot, &vec![held as u8; length]), &mut keep);
                    held += 1;
                }
            }
            prop_assert!(waiting.len() <= WAITING_CALLS_MAX && waiting.bytes() <= WAITING_BYTES_MAX);
        }
        let left = waiting.len();
        waiting.handle_timeout(Micros::MAX, |call| out.push((call.object.unwrap().slot, call.id.0)));
        prop_assert_eq!(out.len(), usize::from(held));
        prop_assert!(left <= out.len());
        for slot in 0..4 {
            let of_object: Vec<u16> = out.iter().filter(|call| call.0 == slot).map(|call| call.1).collect();
            prop_assert!(of_object.is_sorted_by(|a, b| a < b));
        }
    }
}

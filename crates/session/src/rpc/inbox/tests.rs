use super::*;
use crate::rpc::table::RpcOptions;
use netloom_replica::world::OwnerId;
use std::cell::Cell;

const SCRIPT: RpcId = RpcId(1);

fn inbox(config: InboxConfig) -> RpcInbox<u32> {
    let mut builder = RpcTable::builder();
    for name in ["native", "script"] {
        builder.add(name, RpcOptions::default()).unwrap();
    }
    let mut inbox = RpcInbox::new(&builder.build(), config).unwrap();
    inbox.set_handler(SCRIPT, Handler::Script);
    inbox
}

fn call(id: u16, args: &[u8]) -> InboxCall<'_, u32> {
    let args = Args::read(args).unwrap();
    InboxCall { id: RpcId(id), caller: Caller::Player(OwnerId(2)), object: Some(77), tick: None, args }
}

fn first_int(call: &InboxCall<'_, u32>) -> u8 {
    call.args.decode::<(u8,)>().unwrap().0
}

#[test]
fn scripts_are_entered_once_a_tick_and_not_at_all_without_a_call() {
    let mut inbox = inbox(InboxConfig::default());
    let locks = Cell::new(0);
    let run = |inbox: &mut RpcInbox<u32>| {
        inbox.drain_scripts(100, |calls| {
            locks.set(locks.get() + 1);
            calls.map(|call| first_int(&call)).collect::<Vec<_>>()
        })
    };
    assert_eq!(run(&mut inbox), None);
    inbox.push(call(0, &[0x91, 9])).unwrap();
    assert_eq!(run(&mut inbox), None, "a native call is none of theirs");
    for number in 0..50 {
        inbox.push(call(1, &[0x91, number])).unwrap();
    }
    assert_eq!(run(&mut inbox), Some((0..50).collect()));
    assert_eq!(locks.get(), 1);
    assert_eq!(run(&mut inbox), None);
    assert_eq!(inbox.len(), 1);
}

#[test]
fn native_calls_are_handled_apart_in_order_with_all_they_came_with() {
    let mut inbox = inbox(InboxConfig::default());
    for number in 0..4 {
        inbox.push(call(u16::from(number % 2), &[0x91, number])).unwrap();
    }
    let mut handled = Vec::new();
    let count = inbox.drain_native(100, |call| {
        assert_eq!((call.id, call.caller, call.object), (RpcId(0), Caller::Player(OwnerId(2)), Some(77)));
        handled.push(first_int(&call));
    });
    assert_eq!((count, handled), (2, vec![0, 2]));
    assert_eq!(inbox.drain_native(100, |_| panic!("handled twice")), 0);
    assert_eq!(inbox.len(), 2, "the scripts' are still there");
}

#[test]
fn a_tick_handles_what_it_may_and_the_next_one_goes_on_from_there() {
    let mut inbox = inbox(InboxConfig::default());
    let mut handled = Vec::new();
    for number in 0..5 {
        inbox.push(call(0, &[0x91, number])).unwrap();
        inbox.push(call(1, &[0x91, number])).unwrap();
    }
    assert_eq!(inbox.drain_native(3, |call| handled.push(first_int(&call))), 3);
    inbox.push(call(0, &[0x91, 5])).unwrap();
    assert_eq!(inbox.drain_native(3, |call| handled.push(first_int(&call))), 3);
    assert_eq!(handled, [0, 1, 2, 3, 4, 5]);
    assert_eq!(inbox.drain_scripts(0, |_| ()), None);
    assert_eq!(inbox.drain_scripts(2, |calls| calls.count()), Some(2));
    assert_eq!(inbox.drain_scripts(9, |calls| calls.next().map(|call| first_int(&call))), Some(Some(2)));
    assert!(inbox.is_empty(), "what a run was given counts as handled");
}

#[test]
fn a_full_inbox_refuses_counts_and_leaves_the_other_kind_room() {
    let mut few = inbox(InboxConfig { calls_max: 2, ..InboxConfig::default() });
    for number in 0..4 {
        assert_eq!(few.push(call(0, &[0x91, number])).is_ok(), number < 2);
    }
    few.push(call(1, &[0x90])).unwrap();
    assert_eq!((few.len(), few.dropped()), (3, 2));

    let large = [&[0x91, 0xc5, 0x20, 0x00][..], &[0; 0x2000]].concat();
    let mut small = inbox(InboxConfig { bytes_max: 16 << 10, ..InboxConfig::default() });
    assert_eq!([(); 3].map(|()| small.push(call(0, &large))), [Ok(()), Err(InboxFull), Err(InboxFull)]);
    small.drain_native(1, |_| ());
    assert_eq!(small.push(call(0, &large)), Ok(()));
}

#[test]
fn impossible_sizes_are_refused_by_name() {
    let table = RpcTable::default();
    let refused = |config| RpcInbox::<u32>::new(&table, config).unwrap_err().to_string();
    let standard = InboxConfig::default();
    assert_eq!(refused(InboxConfig { calls_max: 0, ..standard }), "calls_max is 0, allowed are 1 to 65536");
    assert!(
        refused(InboxConfig { bytes_max: 1, ..standard }).starts_with("bytes_max is 1, allowed are 16384")
    );
}

#[test]
fn a_call_that_no_table_has_is_native_and_its_handler_cannot_be_set() {
    let mut inbox = inbox(InboxConfig::default());
    inbox.set_handler(RpcId(9), Handler::Script);
    inbox.push(call(9, &[0x90])).unwrap();
    assert_eq!(inbox.drain_native(1, |_| ()), 1);
}

#[test]
fn a_steady_tick_allocates_nothing() {
    let mut inbox = inbox(InboxConfig::default());
    let mut tick = || {
        for number in 0..50 {
            inbox.push(call(u16::from(number % 2), &[0x91, number])).unwrap();
        }
        inbox.drain_native(100, |call| assert!(first_int(&call) < 50));
        inbox.drain_scripts(100, |calls| calls.map(|call| u32::from(first_int(&call))).sum::<u32>())
    };
    tick();
    let before = netloom_count::allocations();
    (0..10).for_each(|_| assert_eq!(tick(), Some(625)));
    assert_eq!(netloom_count::allocations(), before);
}

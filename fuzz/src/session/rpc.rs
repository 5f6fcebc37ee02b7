//! Calls: their frames, their arguments, and the list of a server's names.

use netloom_session::rpc::limit::Rate;
use netloom_session::rpc::table::PAGE_BYTES_MAX;
use netloom_session::rpc::value::{ELEMENTS_MAX, check, translate_objects};
use netloom_session::rpc::{
    Args, Callers, ClientCall, Delivery, NAMES_MAX, PeerLimits, RpcId, RpcList, RpcMap, RpcOptions, RpcTable,
    ServerCall, Value, ValueWriter, WaitingCalls, decode_args, waiting,
};
use netloom_wire::{Alias, MessageBuffer, Micros};

use crate::input::Input;

/// The calls of a server, one of each kind.
pub fn server_table() -> RpcTable {
    let mut builder = RpcTable::builder();
    let standard = RpcOptions::default();
    for (name, options) in [
        ("chat", RpcOptions { is_forwarded: true, per_second: 2, burst: 2, ..standard }),
        ("door", RpcOptions { callers: Callers::Server, delivery: Delivery::Unordered, ..standard }),
        ("fire", RpcOptions { callers: Callers::Clients, bytes_max: 16, at_view_time: true, ..standard }),
        ("wave", RpcOptions { delivery: Delivery::Unreliable, ..standard }),
    ] {
        builder.add(name, options).expect("options in range");
    }
    builder.build()
}

/// Reads calls of a client, calls of a server, a value, or pages of a list.
pub fn rpc_frame(data: &[u8]) {
    let mut input = Input::new(data);
    match input.choice(4) {
        0 => serve(&mut input),
        1 => receive(&mut input),
        2 => read_value(input.rest()),
        _ => agree(&mut input),
    }
}

fn rewritten(bytes_max: usize, write: impl FnOnce(&mut MessageBuffer)) -> MessageBuffer {
    let mut out = MessageBuffer::new(bytes_max);
    write(&mut out);
    out
}

/// A server that gets one frame after the other.
fn serve(input: &mut Input<'_>) {
    let table = server_table();
    let mut limits = PeerLimits::new(&table, Rate::new(10, 5).expect("a rate in range"), Micros::ZERO);
    let (mut now, mut passed, mut judged) = (Micros::ZERO, 0, 0);
    while !input.is_empty() {
        now += Micros::from_millis(input.u8().into());
        let length = usize::from(input.u8());
        let bytes = input.bytes(length);
        let Ok(call) = ClientCall::read(bytes) else {
            continue;
        };
        assert_eq!(rewritten(bytes.len(), |out| call.write(out)).finish(), Ok(bytes));
        judged += 1;
        if let Ok(rpc) = limits.admit(now, &table, &call) {
            passed += 1;
            assert_ne!(rpc.options().callers, Callers::Server);
            assert!(call.args.len() <= rpc.options().bytes_max);
            assert!(rpc.options().is_forwarded || !call.target.is_for_others());
            read_value(call.args);
        }
    }
    assert_eq!(limits.counters().allowed + limits.counters().refused(), judged);
    assert!(passed * 1_000_000 <= 5_000_000 + now.0 * 10, "more calls than the rate allows");
}

/// A client that gets calls about objects of which some enter later.
fn receive(input: &mut Input<'_>) {
    let mut waiting = WaitingCalls::new();
    let (mut now, mut held, mut given) = (Micros::ZERO, 0, 0);
    while !input.is_empty() {
        now += Micros::from_millis(input.u8().into());
        let length = usize::from(input.u8());
        let bytes = input.bytes(length);
        waiting.handle_timeout(now, |_| given += 1);
        let Ok(call) = ServerCall::read(bytes) else {
            continue;
        };
        assert_eq!(rewritten(bytes.len(), |out| call.write(out)).finish(), Ok(bytes));
        match call.object {
            Some(object) if object.generation != 0 => {
                held += 1;
                waiting.hold(now, object, &call, |_| given += 1);
                assert!(waiting.is_waiting_for(object));
            }
            Some(object) => waiting.release(Alias { generation: 1, ..object }, |_| given += 1),
            None => {}
        }
        assert!(waiting.len() <= waiting::WAITING_CALLS_MAX);
        assert!(waiting.bytes() <= waiting::WAITING_BYTES_MAX);
    }
    assert_eq!(given + waiting.len(), held, "a call got lost, or came twice");
}

fn read_value(bytes: &[u8]) {
    let read = Value::read(bytes);
    assert_eq!(check(bytes).is_ok(), read.is_ok());
    let Ok(value) = read else {
        assert!(Args::read(bytes).is_err());
        return;
    };
    assert!(count(&value) <= ELEMENTS_MAX);
    let mut again = Vec::new();
    let mut writer = ValueWriter::new(&mut again);
    writer.value(&value);
    assert!(writer.finish().expect("what was read can be written") <= bytes.len(), "the shortest form");
    // Written, not compared as values: what is not a number does not equal itself.
    let mut third = Vec::new();
    let mut writer = ValueWriter::new(&mut third);
    writer.value(&Value::read(&again).expect("what was written can be read"));
    writer.finish().expect("and written again");
    assert_eq!(again, third);

    let mut translated = again.clone();
    translate_objects(&mut translated, Some).expect("a checked value");
    assert_eq!(translated, again, "every object became itself");
    let _ = decode_args::<(Vec<u16>, String, Option<f32>)>(bytes);
    let _ = decode_args::<Vec<Vec<u8>>>(bytes);
}

fn count(value: &Value<'_>) -> usize {
    1 + match value {
        Value::List(items) => items.clone().map(|item| count(&item)).sum(),
        Value::Map(entries) => entries.clone().map(|(_, value)| 1 + count(&value)).sum(),
        _ => 0,
    }
}

/// A client that gets the list of a server.
fn agree(input: &mut Input<'_>) {
    let mut list = RpcList::new();
    while !input.is_empty() {
        let length = usize::from(input.u16()) % (PAGE_BYTES_MAX + 2);
        let page = input.bytes(length);
        let before = list.len();
        match list.handle_page(page) {
            Ok(is_last) => {
                assert_eq!(is_last, list.is_complete());
                assert_eq!((list.len() - before) * 11 + 4, page.len());
            }
            Err(_) => assert_eq!(list.len(), before),
        }
        assert!(list.len() <= NAMES_MAX);
    }
    let table = server_table();
    if let Ok(map) = RpcMap::agree(&table, &list) {
        for (ours, _) in table.iter() {
            if let Ok((theirs, _)) = map.outgoing(&table, ours, false, 0) {
                assert_eq!(map.incoming(theirs), Some(ours));
            }
        }
        assert_eq!(map.incoming(RpcId(u16::MAX)), None);
    }
}

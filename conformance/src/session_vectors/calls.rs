//! Frames of calls, tables of their names and the pages by which a server tells its own.

use netloom_replica::world::OwnerId;
use netloom_session::rpc::table::{ListError, PAGE_BYTES_MAX};
use netloom_session::rpc::{
    ARGS_BYTES_MAX, Caller, Callers, ClientCall, Delivery, Rpc, RpcId, RpcList, RpcMap, RpcOptions, RpcTable,
    ServerCall, Target,
};
use netloom_wire::{Alias, MessageBuffer, Name, Tick};
use serde_json::{Value, json};

use super::{outcome, sorted_cases};
use crate::wire_vectors::{case, file, hex, reason, refused_as};

fn shown_about(object: Option<Alias>, tick: Option<Tick>, args: &[u8]) -> Value {
    json!({
        "object": object.map(|object| json!({ "slot": object.slot, "generation": object.generation })),
        "tick": tick.map(|tick| tick.0),
        "arguments": hex(args),
    })
}

fn shown_client_call(call: &ClientCall<'_>) -> Value {
    let mut shown = shown_about(call.object, call.tick, call.args);
    shown["id"] = call.id.0.into();
    shown["target"] = call.target.code().into();
    shown["player"] = match call.target {
        Target::Player(player) => player.0.into(),
        _ => Value::Null,
    };
    shown["group"] = match call.target {
        Target::Group(name) => name.0.to_string().into(),
        _ => Value::Null,
    };
    shown
}

fn shown_server_call(call: &ServerCall<'_>) -> Value {
    let mut shown = shown_about(call.object, call.tick, call.args);
    shown["id"] = call.id.0.into();
    shown["caller"] = match call.caller {
        Caller::Server => 0.into(),
        Caller::Player(player) => player.0.into(),
    };
    shown
}

fn frame(name: &str, from: &str, bytes: &[u8]) -> Value {
    let found = match from {
        "client" => ClientCall::read(bytes).map(|call| shown_client_call(&call)),
        _ => ServerCall::read(bytes).map(|call| shown_server_call(&call)),
    };
    outcome(name, json!({ "from": from }), bytes, found)
}

fn client_frames() -> Vec<Value> {
    let object = Some(Alias { slot: 300, generation: 7 });
    let to = |target| ClientCall { id: RpcId(1), target, object: None, tick: None, args: &[0x91, 5] };
    let frames = [
        ("to the server", to(Target::Server)),
        ("to everybody", to(Target::All)),
        ("to the others", to(Target::Others)),
        ("to an object's owner", ClientCall { object, ..to(Target::Owner) }),
        ("to a player", to(Target::Player(OwnerId(70_000)))),
        ("to a group", to(Target::Group(Name::of("red")))),
        ("to who sees an object", ClientCall { object, ..to(Target::Interested) }),
        (
            "to a player, with an object and a tick",
            ClientCall { object, tick: Some(Tick(80_000)), ..to(Target::Player(OwnerId(2))) },
        ),
        ("without arguments", ClientCall { id: RpcId(4_095), args: &[], ..to(Target::Server) }),
    ];
    let mut buffer = MessageBuffer::new(1_024);
    let written = frames.iter().map(|(name, call)| {
        buffer.clear();
        call.write(&mut buffer);
        frame(name, "client", buffer.finish().expect("a valid frame"))
    });
    written.collect()
}

fn server_frames() -> Vec<Value> {
    let object = Some(Alias { slot: 300, generation: 7 });
    let bare =
        ServerCall { id: RpcId(1), caller: Caller::Server, object: None, tick: None, args: &[0x91, 5] };
    let frames = [
        ("by the server", bare),
        ("by a player", ServerCall { caller: Caller::Player(OwnerId(70_000)), ..bare }),
        ("by the server, about an object", ServerCall { object, ..bare }),
        (
            "by the server, about an object and a tick",
            ServerCall { object, tick: Some(Tick(80_000)), ..bare },
        ),
        ("by the server, about a tick", ServerCall { tick: Some(Tick(u32::MAX)), ..bare }),
    ];
    let mut buffer = MessageBuffer::new(1_024);
    let written = frames.iter().map(|(name, call)| {
        buffer.clear();
        call.write(&mut buffer);
        frame(name, "server", buffer.finish().expect("a valid frame"))
    });
    written.collect()
}

pub fn frames() -> Value {
    let good = [client_frames(), server_frames()].concat();
    let long = [&[1, 0, 0][..], &[0; ARGS_BYTES_MAX + 1]].concat();
    let bad: [(&str, &str, &[u8]); 11] = [
        ("a reserved flag of a client", "client", &[1, 0, 0x20, 0x90]),
        ("a target in a server's flags", "server", &[1, 0, 1, 0, 0, 0, 0, 0x90]),
        ("target 7", "client", &[1, 0, 7, 0x90]),
        ("player 0", "client", &[1, 0, 4, 0, 0, 0, 0, 0x90]),
        ("an owner of no object", "client", &[1, 0, 3, 0x90]),
        ("who sees no object", "client", &[1, 0, 6, 0x90]),
        ("a player that is cut off", "client", &[1, 0, 4, 1, 0]),
        ("an object that is cut off", "client", &[1, 0, 8, 1, 0]),
        ("a tick that is cut off", "server", &[1, 0, 0x10, 0, 0, 0, 0, 1, 0]),
        ("a caller that is cut off", "server", &[1, 0, 0, 1]),
        ("16,385 bytes of arguments", "client", &long),
    ];
    let bad = bad.iter().map(|(name, from, bytes)| frame(name, from, bytes)).collect();
    file("Frames of calls: the rest of messages 5 and 70. given.from: who sent it.", sorted_cases(good, bad))
}

fn shown_options(options: &RpcOptions) -> Value {
    json!({
        "callers": options.callers as u8,
        "delivery": options.delivery as u8,
        "at_view_time": options.at_view_time,
        "forwarded": options.is_forwarded,
        "bytes_max": options.bytes_max,
    })
}

fn with_name(call: &Rpc) -> Value {
    let mut shown = shown_options(call.options());
    shown["name"] = call.name().into();
    shown
}

fn table(calls: &[(&str, RpcOptions)]) -> RpcTable {
    let mut builder = RpcTable::builder();
    for (name, options) in calls {
        builder.add(name, *options).expect("a valid call");
    }
    builder.build()
}

/// Names whose order by bytes is not the order of registration, each option in every form.
fn small_table() -> RpcTable {
    let usual = RpcOptions::default();
    table(&[
        ("wave", RpcOptions { is_forwarded: true, delivery: Delivery::Unreliable, ..usual }),
        ("Fire", RpcOptions { callers: Callers::Clients, bytes_max: 16_384, ..usual }),
        ("fire", RpcOptions { callers: Callers::Server, at_view_time: true, bytes_max: 1, ..usual }),
        ("über", RpcOptions { delivery: Delivery::Unordered, ..usual }),
    ])
}

fn large_table() -> RpcTable {
    let names: Vec<String> = (0..200).map(|index| format!("call {index}")).collect();
    table(&names.iter().map(|name| (name.as_str(), RpcOptions::default())).collect::<Vec<_>>())
}

fn pages_of(table: &RpcTable) -> Vec<Vec<u8>> {
    let (mut pages, mut next) = (Vec::new(), Some(0));
    while let Some(first) = next {
        let mut page = MessageBuffer::new(PAGE_BYTES_MAX);
        next = table.write_page(first, &mut page);
        pages.push(page.finish().expect("a valid page").to_vec());
    }
    pages
}

pub fn tables() -> Value {
    let tables = [
        ("four calls", small_table()),
        ("no calls", table(&[])),
        ("one call with the usual options", table(&[("chat", RpcOptions::default())])),
        ("200 calls, in pages", large_table()),
    ];
    let cases = tables.iter().map(|(name, table)| {
        // In the reverse order of ids: a reader has to sort them.
        let mut calls: Vec<Value> = table.iter().map(|(_, call)| with_name(call)).collect();
        calls.reverse();
        let ids: Vec<&str> = table.iter().map(|(_, call)| call.name()).collect();
        let pages: Vec<String> = pages_of(table).iter().map(|page| hex(page)).collect();
        let value = json!({ "hash": table.hash().to_string(), "names": ids, "pages": pages });
        case(name, json!({ "calls": calls }), &[], value)
    });
    file("Tables of calls. given.calls: the calls that one side has, in no order.", cases.collect())
}

/// What a page says that a client takes after those before it: its entries are those of the table that wrote it.
fn page(name: &str, table: &RpcTable, at: usize) -> Value {
    let pages = pages_of(table);
    let mut list = RpcList::new();
    for before in &pages[..at] {
        assert_eq!(list.handle_page(before), Ok(false), "{name}");
    }
    let first = list.len();
    let is_last = list.handle_page(&pages[at]).expect("a page of the list");
    let entries: Vec<Value> =
        table.iter().skip(first).take(list.len() - first).map(|(_, call)| entry(call)).collect();
    if is_last {
        let map = RpcMap::agree(table, &list).expect("a whole list");
        assert!(
            table.iter().all(|(id, _)| map.incoming(id) == Some(id)),
            "{name}: ids are those of the table"
        );
    }
    let value = json!({ "count": table.len(), "first": first, "entries": entries, "last": is_last });
    let before: Vec<String> = pages[..at].iter().map(|page| hex(page)).collect();
    case(name, json!({ "before": before }), &pages[at], value)
}

fn entry(call: &Rpc) -> Value {
    let mut shown = shown_options(call.options());
    shown["hash"] = Name::of(call.name()).0.to_string().into();
    shown
}

fn refused_page(name: &str, before: &[Vec<u8>], bytes: &[u8]) -> Value {
    let mut list = RpcList::new();
    for page in before {
        list.handle_page(page).expect("the pages before are valid");
    }
    let error = match list.handle_page(bytes) {
        Err(ListError::Malformed(error)) => reason(error),
        Err(ListError::OutOfOrder { .. }) => "OutOfOrder",
        other => panic!("{name}: {other:?}"),
    };
    let before: Vec<String> = before.iter().map(|page| hex(page)).collect();
    refused_as(name, json!({ "before": before }), bytes, error)
}

pub fn pages() -> Value {
    let (small, large) = (small_table(), large_table());
    let good = vec![
        page("a whole list", &small, 0),
        page("an empty list", &table(&[]), 0),
        page("the first page of three", &large, 0),
        page("the last page of three", &large, 2),
    ];
    let (small, large) = (pages_of(&small).remove(0), pages_of(&large));
    let changed = |page: &[u8], at: usize, byte: u8| {
        let mut changed = page.to_vec();
        changed[at] = byte;
        changed
    };
    let begun = &large[..1];
    let too_long = [&[200, 0, 0, 0][..], &[0; 1_024]].concat();
    let bad = vec![
        refused_page("cut off in its head", &[], &small[..3]),
        refused_page("1,028 bytes", &[], &too_long),
        refused_page("4,097 calls", &[], &[1, 0x10, 0, 0]),
        refused_page("another count than before", begun, &changed(&large[1], 0, 199)),
        refused_page("the same page again", begun, &large[0]),
        refused_page("the page after the next", begun, &large[2]),
        refused_page("a first page that does not begin at 0", &[], &changed(&small, 2, 1)),
        refused_page("more than the entries that are left", &[], &[&small[..], &[0]].concat()),
        refused_page("a page without entries", &[], &small[..4]),
        refused_page("an entry that is cut off", &[], &small[..small.len() - 1]),
        refused_page("reserved bits of options", &[], &changed(&small, 12, 0x40)),
        refused_page("callers 3", &[], &changed(&small, 12, 3)),
        refused_page("delivery 3", &[], &changed(&small, 12, 0x0c)),
        refused_page("a limit of 0 bytes", &[], &[&small[..13], &[0, 0], &small[15..]].concat()),
        refused_page("a limit of 16,385 bytes", &[], &[&small[..13], &[1, 0x40], &small[15..]].concat()),
    ];
    file(
        "Pages of a server's table: the rest of message 75. given.before: the pages that came before.",
        sorted_cases(good, bad),
    )
}

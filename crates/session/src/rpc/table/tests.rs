use super::*;
use netloom_wire::{ByteSink, MessageBuffer, ReadError};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn table(names: &[&str]) -> RpcTable {
    let mut builder = RpcTable::builder();
    for name in names {
        builder.add(name, RpcOptions::default()).unwrap();
    }
    builder.build()
}

fn pages(table: &RpcTable) -> Vec<Vec<u8>> {
    let mut pages = Vec::new();
    let mut next = Some(0);
    while let Some(first) = next {
        let mut page = MessageBuffer::new(PAGE_BYTES_MAX);
        next = table.write_page(first, &mut page);
        pages.push(page.finish().unwrap().to_vec());
    }
    pages
}

fn received(table: &RpcTable) -> RpcList {
    let mut list = RpcList::new();
    let pages = pages(table);
    for (index, page) in pages.iter().enumerate() {
        assert_eq!(list.handle_page(page), Ok(index + 1 == pages.len()));
    }
    list
}

#[test]
fn ids_and_hash_do_not_depend_on_the_order_of_registration() {
    let (one, other) = (table(&["wave", "chat", "fire"]), table(&["fire", "wave", "chat"]));
    assert_eq!(one, other);
    assert_eq!(["chat", "fire", "wave"].map(|name| one.id(name)), [0, 1, 2].map(|id| Some(RpcId(id))));
    assert_eq!(one.get(RpcId(1)).map(Rpc::name), Some("fire"));
    assert_eq!(one.get(RpcId(3)), None);
    assert_eq!(one.find("jump").unwrap_err().to_string(), "no rpc named \"jump\" is registered here");
}

#[test]
fn the_hash_tells_tables_apart_by_names_and_by_what_both_sides_know_of_them() {
    let with = |change: &dyn Fn(&mut RpcOptions)| {
        let mut options = RpcOptions::default();
        change(&mut options);
        RpcTable::builder().add("fire", options).unwrap().build().hash()
    };
    let hashes = [
        table(&["fire"]).hash(),
        table(&["fir", "e"]).hash(),
        table(&[]).hash(),
        with(&|options| options.callers = Callers::Server),
        with(&|options| options.delivery = Delivery::Unreliable),
        with(&|options| options.bytes_max = 1_025),
        with(&|options| options.at_view_time = true),
        with(&|options| options.is_forwarded = true),
    ];
    assert_eq!(BTreeSet::from(hashes).len(), hashes.len());
    assert_eq!(
        with(&|options| options.per_second = 1),
        table(&["fire"]).hash(),
        "limits are the server's own"
    );
}

#[test]
fn mistakes_of_registration_name_what_is_wrong() {
    let mut builder = RpcTable::builder();
    builder.add("8yn0iYCKYHlIj4-BwPqk", RpcOptions::default()).unwrap();
    let mut refused = |name: &str, options| builder.add(name, options).unwrap_err().to_string();
    let standard = RpcOptions::default();
    assert!(refused("", standard).contains("0 bytes, allowed are 1 to 64"));
    assert!(refused(&"x".repeat(65), standard).contains("65 bytes"));
    assert!(refused("8yn0iYCKYHlIj4-BwPqk", standard).contains("registered already"));
    assert!(refused("GReLUrM4wMqfg9yzV3KQ", standard).contains("same hash"));
    for (field, options) in [
        ("bytes_max of rpc \"a\" is 0", RpcOptions { bytes_max: 0, ..standard }),
        ("bytes_max of rpc \"a\" is 16385", RpcOptions { bytes_max: 16_385, ..standard }),
        ("per_second of rpc \"a\" is 0", RpcOptions { per_second: 0, ..standard }),
        ("burst of rpc \"a\" is 10001", RpcOptions { burst: 10_001, ..standard }),
    ] {
        assert!(refused("a", options).starts_with(field));
    }
}

#[test]
fn a_full_table_takes_no_more_and_its_list_arrives_in_pages() {
    let mut builder = RpcTable::builder();
    for index in 0..NAMES_MAX {
        builder.add(&format!("call {index}"), RpcOptions::default()).unwrap();
    }
    assert_eq!(builder.add("one more", RpcOptions::default()).err(), Some(TableError::Full));
    let table = builder.build();
    assert!(pages(&table).iter().all(|page| page.len() <= PAGE_BYTES_MAX));
    let map = RpcMap::agree(&table, &received(&table)).unwrap();
    assert!(table.iter().all(|(id, _)| map.incoming(id) == Some(id)));
}

#[test]
fn a_client_translates_to_the_servers_ids_and_knows_what_either_side_lacks() {
    let client = table(&["chat", "fire", "wave"]);
    let mut server = RpcTable::builder();
    for name in ["chat", "drop"] {
        server.add(name, RpcOptions::default()).unwrap();
    }
    let strict = RpcOptions { bytes_max: 8, delivery: Delivery::Unreliable, ..RpcOptions::default() };
    let server = server.add("fire", strict).unwrap().build();
    assert_ne!(client.hash(), server.hash());

    let map = RpcMap::agree(&client, &received(&server)).unwrap();
    let outgoing = |name, is_for_others, bytes| {
        map.outgoing(&client, client.id(name).unwrap(), is_for_others, bytes)
            .map_err(|error| error.to_string())
    };
    assert_eq!(outgoing("chat", false, 1_024), Ok((RpcId(0), Delivery::Ordered)));
    assert_eq!(outgoing("fire", false, 8), Ok((RpcId(2), Delivery::Unreliable)), "as the server has it");
    assert_eq!(
        outgoing("fire", false, 9),
        Err("rpc \"fire\": the arguments take 9 bytes, allowed are 8".to_owned())
    );
    assert_eq!(outgoing("wave", false, 1), Err("the server has no rpc named \"wave\"".to_owned()));
    assert!(outgoing("chat", true, 1).unwrap_err().contains("to the server only"));
    assert!(map.outgoing(&client, RpcId(3), false, 1).is_err());
    assert_eq!([0, 1, 2, 3].map(|id| map.incoming(RpcId(id))), [Some(RpcId(0)), None, Some(RpcId(1)), None]);
    assert_eq!(map.missing(&client).collect::<Vec<_>>(), ["wave"]);
}

#[test]
fn with_the_same_table_ids_stay_as_they_are() {
    let table = table(&["a", "b"]);
    let map = RpcMap::same(&table);
    for (id, _) in table.iter() {
        assert_eq!(map.outgoing(&table, id, false, 1), Ok((id, Delivery::Ordered)));
        assert_eq!(map.incoming(id), Some(id));
        assert!(!map.is_at_view_time(id));
    }
    assert_eq!(map.incoming(RpcId(2)), None);
}

#[test]
fn each_side_may_make_only_its_own_calls() {
    let mut builder = RpcTable::builder();
    for (name, callers) in [("a", Callers::Server), ("b", Callers::Clients), ("c", Callers::Both)] {
        builder.add(name, RpcOptions { callers, is_forwarded: true, ..RpcOptions::default() }).unwrap();
    }
    let table = builder.build();
    let may = |side, id| table.admit(side, RpcId(id), true, 1).map(|_| ());
    assert_eq!([0, 1, 2].map(|id| may(Side::Server, id)), [Ok(()), Err(Refusal::NotAllowed), Ok(())]);
    assert_eq!([0, 1, 2].map(|id| may(Side::Client, id)), [Err(Refusal::NotAllowed), Ok(()), Ok(())]);
    assert_eq!(may(Side::Client, 3), Err(Refusal::Unknown));
    assert!(table.check_call(RpcId(0), 1_024).is_ok());
    assert!(table.check_call(RpcId(0), 1_025).unwrap_err().to_string().contains("allowed are 1024"));
    assert!(table.check_call(RpcId(1), 1).is_err());
    assert_eq!(table.check_call(RpcId(9), 1), Err(CallError::UnknownName { name: "#9".into() }));
}

#[test]
fn pages_that_do_not_fit_together_are_refused_and_change_nothing() {
    let server = table(&["a", "b"]);
    let [page] = &pages(&server)[..] else { panic!("one page") };
    let mut list = RpcList::new();
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut page = page.clone();
        change(&mut page);
        page
    };
    for (bad, error) in [
        (changed(&|page| page.truncate(3)), ReadError::UnexpectedEnd.into()),
        (changed(&|page| page.truncate(4)), ReadError::UnexpectedEnd.into()),
        (changed(&|page| page.truncate(page.len() - 1)), ReadError::UnexpectedEnd.into()),
        (changed(&|page| page.push(0)), ReadError::TrailingData.into()),
        (changed(&|page| page[2] = 1), ListError::OutOfOrder { first: 1, expected: 0 }),
        (changed(&|page| page[1] = 0x10), ReadError::TooLong.into()),
        (changed(&|page| page[12] = 3), ReadError::OutOfRange.into()),
        (changed(&|page| page[12] = 1 << 6), ReadError::OutOfRange.into()),
        (changed(&|page| page[13..15].fill(0)), ReadError::OutOfRange.into()),
        (changed(&|page| page.resize(PAGE_BYTES_MAX + 1, 0)), ReadError::TooLong.into()),
    ] {
        assert_eq!(list.handle_page(&bad), Err(error));
        assert!(!list.is_complete());
    }
    assert_eq!(list.handle_page(page), Ok(true));
    assert_eq!(list.handle_page(page), Err(ListError::OutOfOrder { first: 0, expected: 2 }), "no page twice");
    let twice = changed(&|page| page.copy_within(4..15, 15));
    let mut list = RpcList::new();
    assert_eq!(list.handle_page(&twice), Ok(true));
    assert_eq!(RpcMap::agree(&server, &list).err(), Some(ListError::Duplicate { name: Name::of("a") }));
}

#[test]
fn a_list_of_several_pages_has_one_count_and_one_order() {
    let names: Vec<String> = (0..200).map(|index| format!("call {index}")).collect();
    let server = table(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut pages = pages(&server);
    assert_eq!(pages.len(), 3);
    let mut list = RpcList::new();
    assert_eq!(list.handle_page(&pages[0]), Ok(false));
    assert_eq!(list.handle_page(&pages[2]), Err(ListError::OutOfOrder { first: 184, expected: 92 }));
    pages[1][0] += 1;
    assert_eq!(list.handle_page(&pages[1]), Err(ReadError::OutOfRange.into()));
    pages[1][0] -= 1;
    assert_eq!((list.handle_page(&pages[1]), list.len()), (Ok(false), 184));
    assert_eq!((list.handle_page(&pages[2]), list.len()), (Ok(true), 200));
}

#[test]
fn a_server_without_calls_has_a_list_too() {
    let map = RpcMap::agree(&table(&["a"]), &received(&table(&[]))).unwrap();
    assert_eq!(map.incoming(RpcId(0)), None);
    assert!(RpcList::new().is_empty() && !RpcList::new().is_complete());
}

proptest! {
    #[test]
    fn any_two_tables_agree_on_exactly_the_names_that_both_have(
        ours in proptest::collection::btree_set("[a-d]{1,3}", 0..40),
        theirs in proptest::collection::btree_set("[a-d]{1,3}", 0..120),
    ) {
        let [client, server] = [&ours, &theirs].map(|names| {
            table(&names.iter().map(String::as_str).collect::<Vec<_>>())
        });
        let map = RpcMap::agree(&client, &received(&server)).unwrap();
        for (id, call) in client.iter() {
            let sent = map.outgoing(&client, id, false, 1).ok().map(|(id, _)| id);
            prop_assert_eq!(sent, server.id(call.name()));
        }
        for (id, call) in server.iter() {
            prop_assert_eq!(map.incoming(id), client.id(call.name()));
        }
    }

    #[test]
    fn any_page_is_refused_or_grows_the_list_by_what_it_has(
        header in (0u16..200, 0u16..2), rest in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut page = MessageBuffer::new(1 << 10);
        page.write_u16(header.0);
        page.write_u16(header.1);
        page.write_bytes(&rest);
        let mut list = RpcList::new();
        let taken = list.handle_page(page.as_bytes());
        let expected = if taken.is_ok() { rest.len() / 11 } else { 0 };
        prop_assert_eq!(list.len(), expected);
        let table = table(&["a"]);
        prop_assert!(RpcMap::agree(&table, &list).is_ok());
    }
}

//! Seeds for the calls of sessions.

use netloom_replica::world::OwnerId;
use netloom_session::rpc::args::write_args;
use netloom_session::rpc::table::PAGE_BYTES_MAX;
use netloom_session::rpc::{Caller, ClientCall, RpcId, ServerCall, Target, encode_args};
use netloom_wire::{Alias, MessageBuffer, Name, Tick};

use super::super::{Seed, seed};
use crate::session::server_table;

const OWNER: OwnerId = OwnerId(3);

pub fn seeds() -> Vec<Seed> {
    let target = "rpc_frame";
    vec![
        seed(target, "client_calls", &[&[0], &client_calls()]),
        seed(target, "server_calls", &[&[1], &server_calls()]),
        seed(target, "value", &[&[2], &every_type()]),
        seed(target, "list", &[&[3], &list()]),
    ]
}

fn message(pause_ms: u8, write: impl FnOnce(&mut MessageBuffer)) -> Vec<u8> {
    let mut out = MessageBuffer::new(255);
    write(&mut out);
    let bytes = out.finish().expect("a short call");
    [&[pause_ms, bytes.len() as u8], bytes].concat()
}

fn client_calls() -> Vec<u8> {
    let mut args = Vec::new();
    encode_args(&("hello", 7), &mut args).expect("short arguments");
    let object = Some(Alias { slot: 300, generation: 1 });
    [
        (0, Target::Server, None),
        (0, Target::All, None),
        (0, Target::Player(OWNER), None),
        (0, Target::Group(Name::of("red")), None),
        (0, Target::Owner, object),
        (2, Target::Server, object),
        (9, Target::Server, None),
    ]
    .map(|(id, target, object)| {
        let call = ClientCall { id: RpcId(id), target, object, tick: object.map(|_| Tick(600)), args: &args };
        message(100, |out| call.write(out))
    })
    .concat()
}

fn server_calls() -> Vec<u8> {
    let about = |slot, generation| Some(Alias { slot, generation });
    [
        (Caller::Server, about(7, 1)),
        (Caller::Player(OWNER), about(8, 1)),
        (Caller::Server, about(7, 1)),
        (Caller::Server, about(7, 0)),
        (Caller::Server, None),
    ]
    .map(|(caller, object)| {
        let call = ServerCall { id: RpcId(1), caller, object, tick: Some(Tick(9)), args: &[0x91, 0xc3] };
        message(250, |out| call.write(out))
    })
    .concat()
}

fn every_type() -> Vec<u8> {
    let mut bytes = Vec::new();
    write_args(10, &mut bytes, |writer| {
        writer.nil();
        writer.bool(true);
        writer.int(-40_000);
        writer.uint(u64::MAX);
        writer.f32(1.5);
        writer.f64(-0.25);
        writer.text("text");
        writer.bytes(&[1, 2, 3]);
        writer.object(Some(Alias { slot: 300, generation: 2 }));
        writer.map(1);
        writer.text("key");
        writer.list(0);
    })
    .expect("within limits");
    bytes
}

fn list() -> Vec<u8> {
    let mut page = MessageBuffer::new(PAGE_BYTES_MAX);
    assert_eq!(server_table().write_page(0, &mut page), None, "a short list");
    [&(page.len() as u16).to_le_bytes(), page.as_bytes()].concat()
}

use super::*;
use netloom_wire::{ByteWriter, MessageBuffer};
use proptest::prelude::*;

fn written(write: impl FnOnce(&mut MessageBuffer)) -> Result<Vec<u8>, WriteError> {
    let mut out = MessageBuffer::new(HEADER_BYTES_MAX + ARGS_BYTES_MAX);
    write(&mut out);
    out.finish().map(<[u8]>::to_vec)
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        Just(Target::Server),
        Just(Target::All),
        Just(Target::Others),
        Just(Target::Owner),
        (1..=u32::MAX).prop_map(|id| Target::Player(OwnerId(id))),
        any::<u64>().prop_map(|hash| Target::Group(Name(hash))),
        Just(Target::Interested),
    ]
}

fn object() -> impl Strategy<Value = Alias> {
    (any::<u16>(), any::<u8>()).prop_map(|(slot, generation)| Alias { slot, generation })
}

proptest! {
    #[test]
    fn what_a_client_writes_is_what_a_server_reads(
        id: u16, target in target(), object in proptest::option::of(object()), tick: Option<u32>,
        args in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let call = ClientCall { id: RpcId(id), target, object, tick: tick.map(Tick), args: &args };
        let bytes = written(|out| call.write(out));
        if target.needs_object() && object.is_none() {
            prop_assert_eq!(bytes, Err(WriteError::FieldMismatch));
        } else {
            let bytes = bytes.unwrap();
            prop_assert_eq!(ClientCall::read(&bytes), Ok(call));
        }
    }

    #[test]
    fn what_a_server_writes_is_what_a_client_reads(
        id: u16, caller: u32, object in proptest::option::of(object()), tick: Option<u32>,
        args in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let caller = if caller == 0 { Caller::Server } else { Caller::Player(OwnerId(caller)) };
        let call = ServerCall { id: RpcId(id), caller, object, tick: tick.map(Tick), args: &args };
        let bytes = written(|out| call.write(out)).unwrap();
        prop_assert!(bytes.len() <= HEADER_BYTES_MAX + args.len());
        prop_assert_eq!(ServerCall::read(&bytes), Ok(call));
    }

    #[test]
    fn any_bytes_are_refused_or_are_a_call_that_writes_back_to_them(
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let before = netloom_count::allocations();
        let (by_client, by_server) = (ClientCall::read(&bytes), ServerCall::read(&bytes));
        let mut buffer = [0; 64];
        let mut again = |write: &dyn Fn(&mut ByteWriter<'_>)| {
            let mut out = ByteWriter::new(&mut buffer);
            write(&mut out);
            let length = out.finish().unwrap();
            buffer[..length] == bytes
        };
        let is_same = by_client.is_ok_and(|call| again(&|out| call.write(out))) == by_client.is_ok()
            && by_server.is_ok_and(|call| again(&|out| call.write(out))) == by_server.is_ok();
        prop_assert_eq!(netloom_count::allocations(), before);
        prop_assert!(is_same);
    }
}

#[test]
fn the_layout_is_that_of_the_standard() {
    let object = Some(Alias { slot: 300, generation: 2 });
    let call = ClientCall {
        id: RpcId(5),
        target: Target::Player(OwnerId(9)),
        object,
        tick: Some(Tick(1_000)),
        args: &[0x90],
    };
    let bytes = written(|out| call.write(out)).unwrap();
    assert_eq!(bytes, [5, 0, 0b11_100, 9, 0, 0, 0, 0x2c, 1, 2, 0xe8, 3, 0, 0, 0x90]);
    let call = ServerCall { id: RpcId(5), caller: Caller::Server, object, tick: None, args: &[0x90] };
    let bytes = written(|out| call.write(out)).unwrap();
    assert_eq!(bytes, [5, 0, 0b01_000, 0, 0, 0, 0, 0x2c, 1, 2, 0x90]);
}

#[test]
fn frames_that_say_what_they_cannot_mean_are_refused() {
    for (bytes, error) in [
        (&[][..], ReadError::UnexpectedEnd),
        (&[5, 0], ReadError::UnexpectedEnd),
        (&[5, 0, 7, 0x90], ReadError::OutOfRange),
        (&[5, 0, 1 << 5, 0x90], ReadError::ReservedBits),
        (&[5, 0, 3, 0x90], ReadError::InvalidFlags),
        (&[5, 0, 6, 0x90], ReadError::InvalidFlags),
        (&[5, 0, 4, 0, 0, 0, 0, 0x90], ReadError::OutOfRange),
        (&[5, 0, 5, 0, 0, 0, 0], ReadError::UnexpectedEnd),
        (&[5, 0, HAS_OBJECT, 0, 0], ReadError::UnexpectedEnd),
        (&[5, 0, HAS_TICK, 0, 0, 0], ReadError::UnexpectedEnd),
    ] {
        assert_eq!(ClientCall::read(bytes), Err(error), "{bytes:02x?}");
    }
    let with_target = ServerCall::read(&[5, 0, 1, 0, 0, 0, 0, 0x90]);
    assert_eq!(with_target, Err(ReadError::ReservedBits), "a server's frame has no target");
    let too_long = [&[5, 0, 0][..], &[0; ARGS_BYTES_MAX + 1]].concat();
    assert_eq!(ClientCall::read(&too_long), Err(ReadError::TooLong));
}

#[test]
fn nobody_can_be_written_as_the_server() {
    let forged = Caller::Player(OwnerId(0));
    let call = ServerCall { id: RpcId(0), caller: forged, object: None, tick: None, args: &[0x90] };
    assert_eq!(written(|out| call.write(out)), Err(WriteError::OutOfRange));
    let target = Target::Player(OwnerId(0));
    let call = ClientCall { id: RpcId(0), target, object: None, tick: None, args: &[0x90] };
    assert_eq!(written(|out| call.write(out)), Err(WriteError::OutOfRange));
    let call = ClientCall { target: Target::Server, args: &[0; ARGS_BYTES_MAX + 1], ..call };
    assert_eq!(written(|out| call.write(out)), Err(WriteError::TooLong));
}

#[test]
fn the_codes_of_targets_are_those_of_scripts() {
    let player = Target::Player(OwnerId(1));
    let group = Target::Group(Name::of("red"));
    let targets =
        [Target::Server, Target::All, Target::Others, Target::Owner, player, group, Target::Interested];
    assert_eq!(targets.map(Target::code), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(targets.map(Target::is_for_others), [false, true, true, true, true, true, true]);
}

//! Messages with inputs go out and come back, and nothing else is one.

use proptest::prelude::*;

use super::*;

fn written<I: Input>(newest: Tick, view: Option<ViewTime>, inputs: &[I]) -> Vec<u8> {
    let mut out = [0; INPUT_MESSAGE_BYTES_MAX];
    let length = write_inputs(newest, view, inputs.iter(), &mut out).unwrap();
    out[..length].to_vec()
}

fn views() -> impl Strategy<Value = Option<ViewTime>> {
    prop::option::of(
        (any::<u32>(), any::<u8>()).prop_map(|(step, fraction)| ViewTime { step: Tick(step), fraction }),
    )
}

proptest! {
    #[test]
    fn inputs_return_with_their_steps_and_the_view(
        newest in any::<u32>(),
        off in -30_000i32..30_000,
        view in views(),
        inputs in prop::collection::vec(prop::array::uniform3(0u8..3), 1..=64),
    ) {
        let bytes = written(Tick(newest), view, &inputs);
        let message = InputMessage::<[u8; 3]>::read(&bytes).unwrap();
        let near = Tick(newest.wrapping_add_signed(off));
        prop_assert_eq!(message.newest(near), Tick(newest));
        let expected = view.map(|view| (view.step.0 as u16, view.fraction));
        prop_assert_eq!(message.view(near).map(|view| (view.step.0 as u16, view.fraction)), expected);
        prop_assert!(message.inputs().eq(inputs));
    }

    #[test]
    fn bytes_of_any_length_return(
        contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..=64), 1..=4),
    ) {
        let inputs: Vec<InputBytes> = contents.iter().map(|content| InputBytes::new(content).unwrap()).collect();
        let bytes = written(Tick(5), None, &inputs);
        let message = InputMessage::<InputBytes>::read(&bytes).unwrap();
        prop_assert!(message.inputs().eq(inputs));
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error_and_never_more_than_64_inputs(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        if let Ok(message) = InputMessage::<[u8; 1]>::read(&bytes) {
            prop_assert_eq!(message.inputs().count(), message.count());
            prop_assert!(message.count() <= INPUTS_PER_MESSAGE_MAX);
        }
        let _any_answer = InputMessage::<InputBytes>::read(&bytes);
    }

    #[test]
    fn a_view_time_returns_within_a_256th_of_a_step(micros in 0u64..8_000_000_000_000, rate in 10u32..=240) {
        let time = Micros(micros);
        let ViewTime { step, fraction } = ViewTime::at(time, rate);
        let parts = (u64::from(step.0) << 8) + u64::from(fraction);
        let part_us = 1e6 / (256.0 * f64::from(rate));
        let off_us = time.0 as f64 - parts as f64 * part_us;
        prop_assert!((-0.01..part_us + 0.01).contains(&off_us), "{} {off_us}", time.0);
    }
}

#[test]
fn an_input_that_did_not_change_costs_one_bit() {
    let held = [[1u8, 2, 3]; 64];
    assert_eq!(written(Tick(100), None, &held[..1]).len(), 3 + 3);
    assert_eq!(written(Tick(100), None, &held[..25]).len(), 3 + 3 + 3);
    assert_eq!(written(Tick(100), None, &held).len(), 3 + 3 + 8);
}

#[test]
fn what_has_no_room_is_the_oldest() {
    let inputs: Vec<[u8; 60]> = (0..64).map(|number| [number; 60]).collect();
    let bytes = written(Tick(9), None, &inputs);
    assert!(bytes.len() <= INPUT_MESSAGE_BYTES_MAX);
    let message = InputMessage::<[u8; 60]>::read(&bytes).unwrap();
    assert_eq!(message.count(), 8);
    assert!(message.inputs().eq(inputs[..8].iter().copied()));
    let mut small = [0; 62];
    assert_eq!(write_inputs(Tick(9), None, inputs.iter(), &mut small), None, "not even one");
}

#[test]
fn the_largest_input_always_fits() {
    let inputs = [InputBytes::new(&[7; INPUT_BYTES_MAX]).unwrap(); 2];
    let bytes = written(Tick(0), Some(ViewTime { step: Tick(3), fraction: 9 }), &inputs);
    assert_eq!(InputMessage::<InputBytes>::read(&bytes).unwrap().count(), 2);
    assert_eq!(InputBytes::new(&[0; INPUT_BYTES_MAX + 1]), None);
}

#[test]
fn malformed_messages_are_refused_for_the_stated_reason() {
    let read = |bytes: &[u8]| InputMessage::<[u8; 1]>::read(bytes).map(|_| ());
    for (bytes, error) in [
        (&[1, 0][..], ReadError::UnexpectedEnd),
        (&[1, 0, 0, 5], ReadError::OutOfRange),
        (&[1, 0, 65, 5], ReadError::OutOfRange),
        (&[1, 0, 1], ReadError::UnexpectedEnd),
        (&[1, 0, 0x81, 3, 0], ReadError::UnexpectedEnd),
        (&[1, 0, 2, 5], ReadError::UnexpectedEnd),
        (&[1, 0, 2, 5, 3], ReadError::ReservedBits),
        (&[1, 0, 1, 5, 0], ReadError::TrailingData),
        (&[0; INPUT_MESSAGE_BYTES_MAX + 1], ReadError::TooLong),
    ] {
        assert_eq!(read(bytes), Err(error), "{bytes:?}");
    }
    assert_eq!(InputMessage::<InputBytes>::read(&[1, 0, 1, 65, 0]).map(|_| ()), Err(ReadError::TooLong));
}

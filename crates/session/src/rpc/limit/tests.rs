use super::*;
use crate::rpc::frame::Target;
use crate::rpc::table::{Callers, RpcId, RpcOptions};
use proptest::prelude::*;

const NO_ARGS: &[u8] = &[0x90];

fn table(options: &[(&str, RpcOptions)]) -> RpcTable {
    let mut builder = RpcTable::builder();
    for &(name, options) in options {
        builder.add(name, options).unwrap();
    }
    builder.build()
}

fn rated(per_second: u32, burst: u32) -> RpcOptions {
    RpcOptions { per_second, burst, ..RpcOptions::default() }
}

fn call(id: u16, target: Target, args: &[u8]) -> ClientCall<'_> {
    ClientCall { id: RpcId(id), target, object: None, tick: None, args }
}

#[test]
fn a_flood_passes_at_the_rate_of_its_name_and_hurts_no_other() {
    let table = table(&[("chat", rated(5, 3)), ("fire", RpcOptions::default())]);
    let mut limits = PeerLimits::new(&table, Rate::default(), Micros(0));
    let mut passed = 0;
    for now in (0..10_000_000).step_by(1_000) {
        match limits.admit(Micros(now), &table, &call(0, Target::Server, NO_ARGS)) {
            Ok(rpc) => {
                assert_eq!(rpc.name(), "chat");
                passed += 1;
            }
            Err(refusal) => assert_eq!(refusal, Refusal::TooOften { limit: 5 }),
        }
    }
    assert_eq!(passed, 3 + 49, "three at once and five a second for 9.999 s");
    assert!(limits.admit(Micros(10_000_000), &table, &call(1, Target::Server, NO_ARGS)).is_ok());
    assert_eq!(
        limits.counters(),
        RefusalCounters { allowed: 53, too_often: 10_000 - 52, ..RefusalCounters::default() }
    );
    assert_eq!(limits.counters().refused(), 9_948);
}

#[test]
fn many_names_do_not_multiply_what_a_client_may_ask_for() {
    let names: Vec<String> = (0..100).map(|index| format!("call {index:02}")).collect();
    let options: Vec<_> = names.iter().map(|name| (name.as_str(), RpcOptions::default())).collect();
    let table = table(&options);
    let mut limits = PeerLimits::new(&table, Rate::new(50, 20).unwrap(), Micros(0));
    let passed = |limits: &mut PeerLimits, now| {
        let calls = (0..1_000).map(|index| call(index % 100, Target::Server, NO_ARGS));
        calls.filter(|call| limits.admit(now, &table, call).is_ok()).count()
    };
    assert_eq!(passed(&mut limits, Micros(0)), 20);
    assert_eq!(passed(&mut limits, Micros(100_000)), 5);
    let refused = limits.admit(Micros(100_000), &table, &call(0, Target::Server, NO_ARGS));
    assert_eq!(refused.err(), Some(Refusal::TooOften { limit: 50 }));
}

#[test]
fn every_other_refusal_is_typed_counted_and_uses_up_nothing() {
    let table = table(&[
        ("a", RpcOptions { callers: Callers::Server, ..rated(1, 1) }),
        ("b", RpcOptions { bytes_max: 1, ..rated(1, 1) }),
    ]);
    let mut limits = PeerLimits::new(&table, Rate::new(1, 1).unwrap(), Micros(0));
    for (call, refusal) in [
        (call(2, Target::Server, NO_ARGS), Refusal::Unknown),
        (call(u16::MAX, Target::Server, NO_ARGS), Refusal::Unknown),
        (call(0, Target::Server, NO_ARGS), Refusal::NotAllowed),
        (call(1, Target::Others, NO_ARGS), Refusal::NotForwarded),
        (call(1, Target::Server, &[0x91, 0]), Refusal::TooLarge { bytes: 2, bytes_max: 1 }),
    ] {
        assert_eq!(limits.admit(Micros(0), &table, &call).err(), Some(refusal));
    }
    assert!(limits.admit(Micros(0), &table, &call(1, Target::Server, NO_ARGS)).is_ok());
    let expected = RefusalCounters {
        allowed: 1,
        unknown: 2,
        not_allowed: 1,
        not_forwarded: 1,
        too_large: 1,
        too_often: 0,
    };
    assert_eq!(limits.counters(), expected);
}

#[test]
fn admission_allocates_nothing() {
    let table = table(&[("a", rated(10, 10))]);
    let mut limits = PeerLimits::new(&table, Rate::default(), Micros(0));
    let before = netloom_count::allocations();
    for now in 0..1_000 {
        let _ = limits.admit(Micros(now * 10_000), &table, &call((now % 3) as u16, Target::Server, NO_ARGS));
    }
    assert_eq!(netloom_count::allocations(), before);
    assert!(limits.counters().allowed > 0 && limits.counters().refused() > 0);
}

#[test]
fn impossible_rates_are_refused() {
    assert_eq!(Rate::new(0, 1), Err(RateError { field: "per_second", value: 0 }));
    assert_eq!(Rate::new(1, 10_001), Err(RateError { field: "burst", value: 10_001 }));
    assert!(Rate::new(RATE_MAX, RATE_MAX).is_ok());
}

proptest! {
    #[test]
    fn no_stretch_of_time_has_more_than_its_share(
        per_second in 1u32..100, burst in 1u32..20,
        pauses in proptest::collection::vec(0u64..300_000, 1..200),
    ) {
        let table = table(&[("a", rated(per_second, burst))]);
        let mut limits = PeerLimits::new(&table, Rate::new(RATE_MAX, RATE_MAX).unwrap(), Micros(0));
        let mut now = Micros(0);
        let mut passed: Vec<u64> = Vec::new();
        for pause in pauses {
            now += Micros(pause);
            if limits.admit(now, &table, &call(0, Target::Server, NO_ARGS)).is_ok() {
                passed.push(now.0);
            }
        }
        for (index, start) in passed.iter().enumerate() {
            for (count, end) in passed.iter().skip(index).enumerate() {
                let share = u64::from(burst) * MILLION + (end - start) * u64::from(per_second);
                prop_assert!((count as u64 + 1) * MILLION <= share);
            }
        }
    }

    #[test]
    fn who_keeps_to_the_rate_is_never_refused(per_second in 1u32..1_000, start: u32) {
        // Two at once, because whole microseconds make some pauses a little short.
        let table = table(&[("a", rated(per_second, 2))]);
        let mut limits = PeerLimits::new(&table, Rate::new(RATE_MAX, RATE_MAX).unwrap(), Micros(0));
        for index in 0..200u64 {
            let now = Micros(u64::from(start) + (index * MILLION).div_ceil(per_second.into()));
            prop_assert!(limits.admit(now, &table, &call(0, Target::Server, NO_ARGS)).is_ok());
        }
    }

    #[test]
    fn a_clock_that_jumps_gives_no_more_than_one_that_runs(times in proptest::collection::vec(0u64..5_000_000, 1..300)) {
        let table = table(&[("a", rated(10, 5))]);
        let mut limits = PeerLimits::new(&table, Rate::default(), Micros(0));
        let passed = times.iter()
            .filter(|&&now| limits.admit(Micros(now), &table, &call(0, Target::Server, NO_ARGS)).is_ok())
            .count();
        let latest = times.iter().max().copied().unwrap_or_default();
        prop_assert!(passed as u64 * MILLION <= 5 * MILLION + latest * 10);
    }
}

//! What runs for every peer and every command, accepted or refused, does not touch the heap.

use netloom_count::allocations;
use netloom_session::adapt::{Adapt, AdaptConfig, share};
use netloom_session::health::{Health, HealthConfig};
use netloom_session::measured::Measured;
use netloom_session::validate::{
    ActionId, Movement, MovementRule, REJECTED_BYTES_MAX, RejectedMessage, Validator, ValidatorConfig,
};
use netloom_wire::{ByteWriter, Micros, Tick};

#[test]
fn adapting_watching_and_validating_allocate_nothing() {
    let config = ValidatorConfig { cooldowns_ticks: vec![12; 8], ..ValidatorConfig::default() };
    let mut player = Validator::new(&config, Micros::ZERO).unwrap();
    let mut ship = Movement::new(MovementRule::new(5.0), [0.0; 3], Micros::ZERO).unwrap();
    let mut adapt = Adapt::new(AdaptConfig::default()).unwrap();
    let mut health = Health::new(HealthConfig::default(), Micros::ZERO).unwrap();
    let (mut budgets, mut buffer, mut refused) = ([0; 64], [0; REJECTED_BYTES_MAX], 0);

    let before = allocations();
    for tick in 1..=10_000u32 {
        let now = Micros(u64::from(tick) * 16_667);
        let loss_per_mille = tick / 10 % 200;
        let measured = Measured { rtt: Micros(u64::from(tick) * 100), loss_per_mille, ..Measured::default() };
        let quality = adapt.update(now, &measured);
        health.update(now, &measured);
        budgets = [quality.bytes_per_second(262_144); 64];
        share(1_000_000, &mut budgets);

        let metres = f64::from(tick * tick % 97) / 20.0;
        let checks = [
            player.check_input(now, Tick(tick), tick),
            player.check_duration(now, Tick(tick), Micros(20_000)),
            player.check_action(now, Tick(tick), ActionId((tick % 9) as u16)),
            player.check_move(now, Tick(tick), &mut ship, [metres, 0.0, 0.0]),
        ];
        for rejected in checks.into_iter().filter_map(Result::err) {
            RejectedMessage::new(rejected, "").write(&mut ByteWriter::new(&mut buffer));
            refused += 1;
        }
        player.poll_verdict();
    }
    assert_eq!(allocations() - before, 0);
    assert!(refused > 1_000 && budgets[0] > 0, "both ways were taken");
}

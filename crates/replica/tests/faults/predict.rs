//! Prediction: rings without inputs, blends by the frame, angles that do not wrap, centimetres against coarser grids.

use netloom_replica::client::predict::{PredictConfig, Predictor, Reconciled, Severity};
use netloom_replica::step::{Describe, FieldValue, Fields, Step};
use netloom_wire::{Micros, Profile, QuantizeCounters, Tick};

/// Walks along x and z, and can be turned.
struct Walk(Profile);

#[derive(Clone, Copy)]
struct Walker {
    position: [f32; 3],
    yaw_degrees: f32,
}

const START: Walker = Walker { position: [0.0; 3], yaw_degrees: 0.0 };

impl Step for Walk {
    type State = Walker;
    type Input = [u8; 1];

    fn step(&self, walker: &mut Walker, [speed]: &[u8; 1]) {
        let way = f32::from(*speed) * 0.003_7;
        walker.position = [walker.position[0] + way, walker.position[1], walker.position[2] + way * 0.7];
    }
}

impl Describe for Walk {
    fn describe(&self, walker: &Walker, fields: &mut Fields) {
        fields.position("position", self.0, walker.position);
        fields.angle("yaw", 0.01, walker.yaw_degrees.to_radians());
    }
}

fn predictor(config: PredictConfig) -> Predictor<Walk> {
    Predictor::new(Walk(Profile::Standard), Tick(0), START, config).unwrap()
}

/// X-U24: 64 entries are said to be 3.2 s, and hold a pose but no input.
#[test]
fn a_ring_of_64_poses_is_1_07_seconds_at_60_hertz_and_cannot_replay_ours_holds_the_window_and_the_inputs() {
    let literal_seconds = |rate: f64| 64.0 / rate;
    assert_eq!(literal_seconds(20.0), 3.2);
    assert!(literal_seconds(60.0) < 1.07);

    let window = Micros::from_secs(3);
    let mut own = predictor(PredictConfig { window, ..PredictConfig::default() });
    for step in 1..=180 {
        own.apply_local(Tick(step), [1]).unwrap();
    }
    // After three seconds of silence the server says that it was a metre beside: from poses alone the present is lost.
    let beside = Walker { position: [own.state().position[0] / 180.0, 1.0, 0.0], ..START };
    let Reconciled::Corrected(correction) = own.handle_state(Tick(1), &beside) else { panic!("a metre") };
    assert_eq!(correction.replayed, 179);
    assert!((own.state().position[0] - 180.0 * 0.003_7).abs() < 1e-3, "no step of the three seconds is lost");
    assert_eq!(own.state().position[1], 1.0);
}

/// X-U25: a tenth of the way in each call.
#[test]
fn a_blend_of_a_tenth_a_frame_leaves_73_53_or_22_percent_after_100_ms_and_ours_53_at_any_rate() {
    let literal: Vec<u32> = [30, 60, 144]
        .iter()
        .map(|frames| (0.9f64.powf(f64::from(*frames) * 0.1) * 100.0).round() as u32)
        .collect();
    assert_eq!(literal, [73, 53, 22]);

    for frames in [30u64, 60, 144] {
        let mut own = predictor(PredictConfig::default());
        own.apply_local(Tick(1), [0]).unwrap();
        own.handle_state(Tick(1), &Walker { position: [1.0, 0.0, 0.0], ..START });
        (0..frames).for_each(|_| own.advance_view(Micros(100_000 / frames)));
        let left = (1.0 - own.view().position[0]) * 100.0;
        assert!((left - 53.3).abs() < 0.1, "{frames} frames a second: {left} %");
    }
}

/// X-B6: the difference of two rotations is that of two numbers.
#[test]
fn a_fifth_of_a_degree_over_north_is_359_8_degrees_and_a_misprediction_and_ours_is_the_same_direction() {
    let (predicted, server) = (0.1f32, 359.9f32);
    assert!((predicted - server).abs() > 359.0, "far above 0.01");

    let mut own = predictor(PredictConfig::default());
    own.apply_local(Tick(1), [0]).unwrap();
    let told = Walker { yaw_degrees: 359.9, ..START };
    assert_eq!(own.handle_state(Tick(1), &told), Reconciled::Confirmed);
    let east = FieldValue::Angle(0.001, f64::from(predicted.to_radians()));
    let error = east.error(&FieldValue::Angle(0.001, f64::from(server.to_radians()))).unwrap();
    assert!((error.to_degrees() - 0.2).abs() < 1e-3, "{error}");
}

/// X-C5: 0.01 m against what the wire rounds to.
#[test]
fn an_epsilon_of_a_centimetre_mispredicts_on_every_coarser_grid_and_ours_on_none() {
    for (profile, is_literal_wrong) in
        [(Profile::High, false), (Profile::Standard, false), (Profile::World, true)]
    {
        let (mut literal, mut ours) = (0, 0);
        let mut own = Predictor::new(Walk(profile), Tick(0), START, PredictConfig::default()).unwrap();
        let mut truth = START;
        for step in 1..=200u32 {
            let input = [(step % 40) as u8];
            own.apply_local(Tick(step), input).unwrap();
            Walk(profile).step(&mut truth, &input);
            let words =
                (profile.codec().position)(truth.position.map(f64::from), &mut QuantizeCounters::default());
            let told = Walker { position: profile.dequantize_position(words), ..truth };
            let apart: f32 = (0..3).map(|axis| (told.position[axis] - truth.position[axis]).powi(2)).sum();
            literal += u32::from(apart.sqrt() > 0.01);
            ours += u32::from(own.handle_state(Tick(step), &told) != Reconciled::Confirmed);
        }
        assert_eq!(literal > 100, is_literal_wrong, "{profile:?}: {literal} of 200");
        assert_eq!(ours, 0, "{profile:?}");
    }
    // Cut off instead of rounded, STANDARD is beyond the epsilon as well: 17 mm in the corner of a cell.
    let corner = [0.009_9f32; 3];
    let cut = corner.map(|metres| (metres * 100.0).trunc() / 100.0);
    let apart: f32 = (0..3).map(|axis| (cut[axis] - corner[axis]).powi(2)).sum();
    assert!(apart.sqrt() > 0.017);
}

/// X-B7: the blend goes from where it began to where the server's word put it, while the player runs on.
#[test]
fn a_blend_towards_a_stale_target_ends_where_the_player_no_longer_is_and_ours_at_the_present() {
    let mut own = predictor(PredictConfig::default());
    for step in 1..=10 {
        own.apply_local(Tick(step), [27]).unwrap();
    }
    let told =
        Walker { position: [own.state().position[0] / 10.0, 1.0, own.state().position[2] / 10.0], ..START };
    let shown_before = own.view().position;
    let Reconciled::Corrected(correction) = own.handle_state(Tick(1), &told) else { panic!("a metre") };
    assert_eq!(correction.severity, Severity::Medium);
    let literal_target = own.state().position.map(f64::from);
    // A second in which the player runs on.
    let mut literal = shown_before;
    for step in 11..=70 {
        own.apply_local(Tick(step), [27]).unwrap();
        own.advance_view(Micros(16_667));
        let progress = f64::from(step - 10) / 60.0;
        literal = std::array::from_fn(|axis| {
            shown_before[axis] + (literal_target[axis] - shown_before[axis]) * progress
        });
    }
    let present = own.state().position.map(f64::from);
    let apart =
        |shown: [f64; 3]| (0..3).map(|axis| (shown[axis] - present[axis]).powi(2)).sum::<f64>().sqrt();
    assert!(apart(literal) > 5.0, "{} m behind", apart(literal));
    assert!(apart(own.view().position) < 0.003, "{} m", apart(own.view().position));
}

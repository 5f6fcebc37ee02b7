//! How fast an object gains credit with a viewer.
//!
//! A gain is a product. What depends on the object alone is its *importance*, computed once a tick for all viewers:
//! base priority × (1 + speed / 10 m/s) × weight of its kind. What depends on the pair is the rest: a factor of
//! distance, 1 / (1 + d / 100 m) unless the game has another, × 3 in the viewer's view.
//!
//! Distance means something else for a castle than for a coin. An object with a relevance radius of its own weighs at that
//! radius what others weigh at the distance that the factor is made for: with the one above, a half. So the radius is a scale of the
//! object's distances; none, or an infinite one, leaves them as they are.
//!
//! A gain is never below a floor nor above a ceiling: their ratio is what bounds how long anything can wait.

use super::waiting::{Sight, Waiting};
use crate::setting::SettingError;

/// The weight of the kind of objects that players are.
pub const PLAYER_WEIGHT: f32 = 2.0;

/// A factor of distance.
pub trait DistanceWeight {
    /// The factor at a distance.
    fn weight(&self, distance_metres: f32) -> f32;

    /// The distance that the factor is made for: what an object's relevance radius stands for.
    fn reference_metres(&self) -> f32 {
        HalfAt::default().metres
    }

    /// Replaces distances by their factors.
    #[inline]
    fn replace(&self, distances_metres: &mut [f32]) {
        distances_metres.iter_mut().for_each(|distance| *distance = self.weight(*distance));
    }
}

impl<F: Fn(f32) -> f32> DistanceWeight for F {
    fn weight(&self, distance_metres: f32) -> f32 {
        self(distance_metres)
    }
}

/// The factor 1 / (1 + d / metres): one half at that distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfAt {
    /// The distance.
    pub metres: f32,
}

impl Default for HalfAt {
    fn default() -> HalfAt {
        HalfAt { metres: 100.0 }
    }
}

impl DistanceWeight for HalfAt {
    #[inline]
    fn weight(&self, distance_metres: f32) -> f32 {
        self.metres / (self.metres + distance_metres)
    }

    fn reference_metres(&self) -> f32 {
        self.metres
    }
}

/// The factor of distance that a server is configured with.
#[derive(Clone, Copy, Debug)]
pub enum DistanceCurve {
    /// One half at a distance.
    HalfAt(HalfAt),
    /// Whatever the game computes; the floor and the ceiling of gains hold all the same.
    Custom(fn(f32) -> f32),
}

impl Default for DistanceCurve {
    fn default() -> DistanceCurve {
        DistanceCurve::HalfAt(HalfAt::default())
    }
}

impl DistanceWeight for DistanceCurve {
    #[inline]
    fn weight(&self, distance_metres: f32) -> f32 {
        match self {
            DistanceCurve::HalfAt(half) => half.weight(distance_metres),
            DistanceCurve::Custom(weight) => weight(distance_metres),
        }
    }

    fn reference_metres(&self) -> f32 {
        match self {
            DistanceCurve::HalfAt(half) => half.reference_metres(),
            DistanceCurve::Custom(weight) => weight.reference_metres(),
        }
    }

    /// Asks which curve it is once instead of for every distance.
    fn replace(&self, distances_metres: &mut [f32]) {
        match self {
            DistanceCurve::HalfAt(half) => half.replace(distances_metres),
            DistanceCurve::Custom(weight) => weight.replace(distances_metres),
        }
    }
}

/// The factors of a gain.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightConfig {
    /// The speed at which an object is twice as important as at rest.
    pub speed_doubling_metres_per_second: f32,
    /// The factor of objects in the viewer's view.
    pub in_view_factor: f32,
    /// Objects farther than this are distant: some of them go first in every snapshot.
    pub distant_metres: f32,
    /// No object gains less, unless its base priority is 0.
    pub floor: f32,
    /// No object gains more.
    pub ceiling: f32,
}

impl Default for WeightConfig {
    fn default() -> WeightConfig {
        WeightConfig {
            speed_doubling_metres_per_second: 10.0,
            in_view_factor: 3.0,
            distant_metres: 100.0,
            floor: 0.01,
            ceiling: 100.0,
        }
    }
}

/// Gains from configuration and a factor of distance.
#[derive(Clone, Debug)]
pub struct Weights<D = HalfAt> {
    config: WeightConfig,
    distance: D,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights { config: WeightConfig::default(), distance: HalfAt::default() }
    }
}

impl<D: DistanceWeight> Weights<D> {
    /// Checks the configuration.
    pub fn new(config: WeightConfig, distance: D) -> Result<Weights<D>, SettingError> {
        let doubling = config.speed_doubling_metres_per_second;
        SettingError::check("speed_doubling_metres_per_second", doubling, 1e-3..=1e9, "0.001 to 1e9")?;
        SettingError::check("in_view_factor", config.in_view_factor, 1.0..=1e3, "1 to 1,000")?;
        SettingError::check("distant_metres", config.distant_metres, 0.0..=f32::MAX, "0 or more, finite")?;
        SettingError::check("floor", config.floor, 1e-6..=1e6, "0.000001 to 1,000,000")?;
        SettingError::check("ceiling", config.ceiling, config.floor..=1e6, "from the floor to 1,000,000")?;
        Ok(Weights { config, distance })
    }

    /// What an object gains before anyone looks at it. `base` 0 means never.
    pub fn importance(&self, base: f32, speed_metres_per_second: f32, kind_weight: f32) -> f32 {
        if base > 0.0 {
            let speed = 1.0 + speed_metres_per_second / self.config.speed_doubling_metres_per_second;
            // Positive even when the product underflows or is NaN: only the base can say never.
            (base * speed * kind_weight).max(f32::MIN_POSITIVE)
        } else {
            0.0
        }
    }

    /// By what the squares of an object's distances are multiplied because of its relevance radius.
    pub fn closeness(&self, relevance_radius_metres: f32) -> f32 {
        if relevance_radius_metres > 0.0 && relevance_radius_metres.is_finite() {
            // Bounded, so that no square becomes infinite or vanishes.
            let scale = self.distance.reference_metres() / relevance_radius_metres;
            scale.clamp(1e-4, 1e4).powi(2)
        } else {
            1.0
        }
    }

    /// An object as a viewer sees it. `offset` is its position less the viewer's.
    #[inline]
    pub fn sight(&self, importance: f32, offset: [f32; 3], in_view: bool) -> Sight {
        let [x, y, z] = offset;
        let view = if in_view { self.config.in_view_factor } else { 1.0 };
        Sight { square_metres: x * x + y * y + z * z, importance: importance * view, favour: 1.0 }
    }

    /// Finds what everything that waits gains.
    pub fn weigh(&self, waiting: &mut Waiting) {
        let WeightConfig { distant_metres, floor, ceiling, .. } = self.config;
        let Waiting { squares, gains, weights, distant, .. } = waiting;
        for ((square, weight), distant) in squares.iter().zip(&mut *weights).zip(distant) {
            let metres = square.sqrt();
            *weight = metres;
            *distant = -i32::from(metres > distant_metres);
        }
        self.distance.replace(weights);
        for (gain, weight) in gains.iter_mut().zip(weights) {
            let importance = *gain;
            let product = importance * *weight;
            // Comparisons that a NaN fails, unlike `max` and `min`, take one instruction each.
            let lifted = if product > floor { product } else { floor };
            let bounded = if lifted < ceiling { lifted } else { ceiling };
            *gain = if importance > 0.0 { bounded } else { 0.0 };
        }
    }
}

/// What a viewer has in view: a cone from its eye.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewCone {
    /// Where it looks, of length 1.
    pub forward: [f32; 3],
    /// The cosine of half the angle of view, 0 to 1.
    pub cosine: f32,
}

impl ViewCone {
    /// Whether a point lies in the cone. `offset` is its position less the eye's.
    #[inline]
    pub fn contains(&self, offset: [f32; 3]) -> bool {
        let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let along = dot(offset, self.forward);
        // Squared, to save the root that a division by the length would need.
        along >= 0.0 && along * along >= self.cosine * self.cosine * dot(offset, offset)
    }
}

#[cfg(test)]
impl<D: DistanceWeight> Weights<D> {
    /// What a single object gains.
    pub(super) fn gain(&self, importance: f32, distance_metres: f32, in_view: bool) -> f32 {
        let mut waiting = Waiting::default();
        waiting
            .fill(1, [(0, 1)].into_iter(), |_| self.sight(importance, [0.0, distance_metres, 0.0], in_view));
        self.weigh(&mut waiting);
        waiting.gains[0]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_factors_are_those_of_the_design() {
        let weights = Weights::default();
        assert_eq!(weights.gain(weights.importance(1.0, 0.0, 1.0), 0.0, false), 1.0);
        assert_eq!(weights.gain(weights.importance(1.0, 0.0, 1.0), 100.0, false), 0.5);
        assert_eq!(weights.gain(weights.importance(1.0, 10.0, 1.0), 0.0, false), 2.0);
        assert_eq!(weights.gain(weights.importance(1.0, 0.0, PLAYER_WEIGHT), 0.0, true), 6.0);
        assert_eq!(weights.gain(weights.importance(4.0, 0.0, 1.0), 300.0, false), 1.0);
    }

    #[test]
    fn another_factor_of_distance_can_be_given_and_zero_is_lifted_to_the_floor() {
        fn cutoff(metres: f32) -> f32 {
            if metres < 50.0 { 1.0 } else { 0.0 }
        }
        let weights = Weights::new(WeightConfig::default(), cutoff).unwrap();
        assert_eq!((weights.gain(1.0, 49.0, false), weights.gain(1.0, 51.0, false)), (1.0, 0.01));
        let configured = Weights::new(WeightConfig::default(), DistanceCurve::Custom(cutoff)).unwrap();
        assert_eq!((configured.gain(1.0, 49.0, false), configured.gain(1.0, 51.0, false)), (1.0, 0.01));
        let half = HalfAt { metres: 20.0 };
        let configured = Weights::new(WeightConfig::default(), DistanceCurve::HalfAt(half)).unwrap();
        assert_eq!(configured.gain(1.0, 20.0, false), 0.5);
    }

    #[test]
    fn an_object_weighs_half_at_its_relevance_radius_whatever_the_others_do() {
        let weights = Weights::new(WeightConfig::default(), HalfAt { metres: 50.0 }).unwrap();
        let gain = |radius: f32, metres: f32| {
            let mut waiting = Waiting::default();
            waiting.fill(1, [(0, 1)].into_iter(), |_| {
                let sight = weights.sight(1.0, [0.0, metres, 0.0], false);
                Sight { square_metres: sight.square_metres * weights.closeness(radius), ..sight }
            });
            weights.weigh(&mut waiting);
            waiting.gains[0]
        };
        assert_eq!([0.0, 50.0, f32::INFINITY].map(|radius| gain(radius, 50.0)), [0.5; 3]);
        assert_eq!((gain(200.0, 200.0), gain(10.0, 10.0)), (0.5, 0.5));
        assert!(gain(200.0, 50.0) > 0.79 && gain(10.0, 50.0) < 0.17);
        assert_eq!([f32::MIN_POSITIVE, f32::MAX].map(|radius| gain(radius, 0.0)), [1.0; 2]);
        assert_eq!(gain(f32::MIN_POSITIVE, 1e9), 0.01, "the floor holds");
    }

    #[test]
    fn settings_out_of_range_are_refused_by_name() {
        let refused = |config| Weights::new(config, HalfAt::default()).unwrap_err().field;
        let good = WeightConfig::default();
        assert_eq!(refused(WeightConfig { floor: 0.0, ..good.clone() }), "floor");
        assert_eq!(refused(WeightConfig { ceiling: 0.001, ..good.clone() }), "ceiling");
        assert_eq!(refused(WeightConfig { in_view_factor: f32::NAN, ..good }), "in_view_factor");
    }

    #[test]
    fn a_cone_holds_what_is_in_front_and_within_its_angle() {
        let cone = ViewCone { forward: [1.0, 0.0, 0.0], cosine: 0.5f32.sqrt() };
        assert!(cone.contains([10.0, 9.0, 0.0]));
        assert!(!cone.contains([10.0, 11.0, 0.0]));
        assert!(!cone.contains([-10.0, 1.0, 0.0]));
    }

    proptest! {
        #[test]
        fn a_gain_is_within_its_bounds_whatever_comes_in(
            base: f32, speed: f32, kind: f32, distance: f32, in_view: bool,
        ) {
            let weights = Weights::default();
            let gain = weights.gain(weights.importance(base, speed, kind), distance, in_view);
            if base > 0.0 {
                prop_assert!((0.01..=100.0).contains(&gain), "{}", gain);
            } else {
                prop_assert_eq!(gain, 0.0);
            }
        }
    }
}

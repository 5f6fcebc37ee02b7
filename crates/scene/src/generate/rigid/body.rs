//! A box: where it is, how it moves, what pushing it does.

use super::super::vector::{Quaternion, Vector, add, axes, cross, dot, length, scale, spun, sub};

/// Slower than this, metres and radians a second, a box is about to rest.
const REST_SPEED: f64 = 0.12;
const REST_SPIN: f64 = 0.3;
/// So long it must be slow until it rests.
const REST_SECONDS: f64 = 0.4;
/// What air takes of a spin in a second.
const SPIN_DRAG: f64 = 0.15;
/// Nothing gets faster than this: metres a second.
const SPEED_MAX: f64 = 30.0;
/// Nor turns faster: radians a second.
const SPIN_MAX: f64 = 25.0;

/// A box that moves.
#[derive(Clone, Debug)]
pub struct Body {
    pub position: Vector,
    pub rotation: Quaternion,
    pub velocity: Vector,
    /// Angular velocity, radians a second.
    pub spin: Vector,
    /// Half of its edges.
    pub half: Vector,
    /// The directions of its edges.
    pub axes: [Vector; 3],
    /// The distance from the middle to a corner.
    pub reach: f64,
    inverse_mass: f64,
    /// About its own axes.
    inverse_inertia: Vector,
    slow_seconds: f64,
    pub is_resting: bool,
}

impl Body {
    /// A box with edges of twice `half`, as heavy as water.
    pub fn new(position: Vector, rotation: Quaternion, half: Vector) -> Body {
        let mass = 8_000.0 * half[0] * half[1] * half[2];
        let [a, b, c] = half.map(|edge| edge * edge);
        let inertia = [b + c, a + c, a + b].map(|squares| mass / 3.0 * squares);
        Body {
            position,
            rotation,
            velocity: [0.0; 3],
            spin: [0.0; 3],
            half,
            axes: axes(rotation),
            reach: length(half),
            inverse_mass: 1.0 / mass,
            inverse_inertia: inertia.map(|inertia| 1.0 / inertia),
            slow_seconds: 0.0,
            is_resting: false,
        }
    }

    /// The eight corners.
    pub fn corners(&self) -> [Vector; 8] {
        let [x, y, z] = [0, 1, 2].map(|axis| scale(self.axes[axis], self.half[axis]));
        std::array::from_fn(|corner| {
            let side =
                |bit: usize, edge: Vector| if corner >> bit & 1 == 0 { edge } else { scale(edge, -1.0) };
            add(self.position, add(side(0, x), add(side(1, y), side(2, z))))
        })
    }

    /// How fast the point at `arm` from the middle moves.
    pub fn velocity_at(&self, arm: Vector) -> Vector {
        add(self.velocity, cross(self.spin, arm))
    }

    /// How easily the point at `arm` is moved along a unit vector: what one newton second does to its speed.
    pub fn yield_at(&self, arm: Vector, along: Vector) -> f64 {
        if self.is_resting {
            return 0.0;
        }
        let turned = cross(arm, along);
        self.inverse_mass + dot(cross(self.turned_by(turned), arm), along)
    }

    /// A push at `arm` from the middle.
    pub fn push(&mut self, arm: Vector, impulse: Vector) {
        if self.is_resting {
            return;
        }
        self.velocity = add(self.velocity, scale(impulse, self.inverse_mass));
        self.spin = add(self.spin, self.turned_by(cross(arm, impulse)));
    }

    /// What an angular impulse does to the spin.
    fn turned_by(&self, impulse: Vector) -> Vector {
        (0..3).fold([0.0; 3], |sum, axis| {
            let along = dot(impulse, self.axes[axis]) * self.inverse_inertia[axis];
            add(sum, scale(self.axes[axis], along))
        })
    }

    /// Sets it in motion.
    pub fn kick(&mut self, velocity: Vector, spin: Vector) {
        self.wake();
        self.velocity = add(self.velocity, velocity);
        self.spin = add(self.spin, spin);
    }

    /// Rest is over.
    pub fn wake(&mut self) {
        self.is_resting = false;
        self.slow_seconds = 0.0;
    }

    /// Falls for a while: only its velocity changes.
    pub fn accelerate(&mut self, gravity: Vector, seconds: f64) {
        if !self.is_resting {
            self.velocity = add(self.velocity, scale(gravity, seconds));
            self.spin = scale(self.spin, 1.0 - SPIN_DRAG * seconds);
        }
    }

    /// Moves on for a while, and comes to rest after being slow for long.
    pub fn advance(&mut self, seconds: f64) {
        if self.is_resting {
            return;
        }
        self.velocity = bounded(self.velocity, SPEED_MAX);
        self.spin = bounded(self.spin, SPIN_MAX);
        self.position = add(self.position, scale(self.velocity, seconds));
        self.rotation = spun(self.rotation, self.spin, seconds);
        self.axes = axes(self.rotation);
        let is_slow = self.speed() < REST_SPEED && length(self.spin) < REST_SPIN;
        self.slow_seconds = if is_slow { self.slow_seconds + seconds } else { 0.0 };
        if self.slow_seconds > REST_SECONDS {
            self.is_resting = true;
            (self.velocity, self.spin) = ([0.0; 3], [0.0; 3]);
        }
    }

    /// Whether it rests or is about to.
    pub fn is_calm(&self) -> bool {
        self.is_resting || self.slow_seconds > 0.0
    }

    /// Metres a second.
    pub fn speed(&self) -> f64 {
        length(self.velocity)
    }

    /// How far it reaches from its middle along a unit vector.
    pub fn extent(&self, along: Vector) -> f64 {
        (0..3).map(|axis| self.half[axis] * dot(self.axes[axis], along).abs()).sum()
    }

    /// A point in the box's own axes.
    pub fn inward(&self, point: Vector) -> Vector {
        let arm = sub(point, self.position);
        self.axes.map(|axis| dot(arm, axis))
    }
}

fn bounded(vector: Vector, length_max: f64) -> Vector {
    let length = length(vector);
    if length > length_max { scale(vector, length_max / length) } else { vector }
}

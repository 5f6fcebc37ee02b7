//! Where boxes touch each other and the arena, and what they do to each other there.
//!
//! Two boxes touch where a corner of one lies in the other, and part in the direction in which they overlap least; where only
//! edges cross, the balls within both keep them apart. A
//! contact pushes just as much as is needed for the points to separate, or to bounce if they met fast, and rubs against
//! the sliding with at most a share of the push. All contacts are gone through several times, each time with what the
//! others did.

use super::super::vector::{Vector, across, add, dot, length, normalized, scale, sub};
use super::body::Body;

/// The share of a push that rubs.
const FRICTION: f64 = 0.55;
/// The share of the speed that comes back from a bounce.
const BOUNCE: f64 = 0.35;
/// Slower than this, nothing bounces: metres a second.
const BOUNCE_SPEED: f64 = 0.8;
/// So deep boxes may lie in each other, so that those at rest keep touching: metres.
const SLOP_METRES: f64 = 0.005;
/// A corner is on a side even if it is so far beside it: boxes that lie on each other exactly, do.
const EDGE_METRES: f64 = 0.01;
/// The share of what is deeper that is to be gone after a step.
const RECOVERY: f64 = 0.15;
/// How fast boxes are driven apart at most: metres a second.
const RECOVERY_SPEED_MAX: f64 = 1.0;
/// How often all contacts are gone through in a step.
const ROUNDS: usize = 8;
/// A box that is faster than this wakes those that it touches: metres a second.
const WAKE_SPEED: f64 = 0.5;

/// A point where a box touches something.
#[derive(Clone, Copy, Debug)]
struct Contact {
    body: usize,
    /// The other box; `None` for the arena.
    other: Option<usize>,
    arm: Vector,
    other_arm: Vector,
    /// From the other to the box.
    normal: Vector,
    depth: f64,
    /// What the speed along the normal should be.
    wanted_speed: f64,
    /// What was pushed so far, along the normal and across it.
    push: f64,
    rub: Vector,
}

/// All contacts of a step.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    contacts: Vec<Contact>,
}

impl Contacts {
    /// Finds them. The arena has a floor at 0 and four walls.
    pub fn find(&mut self, bodies: &mut [Body], arena_metres: f64, pairs: &[(usize, usize)]) {
        self.contacts.clear();
        for (body, other) in pairs.iter().copied() {
            self.wake_touched(bodies, body, other);
            let found = self.contacts.len();
            if self.corners(bodies, body, other) && self.contacts.len() == found {
                self.balls(bodies, body, other);
            }
        }
        let walls = [
            ([0.0, 1.0, 0.0], 0.0),
            ([1.0, 0.0, 0.0], -arena_metres),
            ([-1.0, 0.0, 0.0], -arena_metres),
            ([0.0, 0.0, 1.0], -arena_metres),
            ([0.0, 0.0, -1.0], -arena_metres),
        ];
        for (body, own) in bodies.iter().enumerate().filter(|(_, own)| !own.is_resting) {
            for (normal, place) in walls {
                if dot(own.position, normal) - place < own.reach {
                    for corner in own.corners() {
                        let depth = place - dot(corner, normal);
                        self.note(bodies, body, None, corner, normal, depth);
                    }
                }
            }
        }
    }

    /// What is touched by something fast does not rest. Only boxes that are near each other are asked about.
    fn wake_touched(&self, bodies: &mut [Body], body: usize, other: usize) {
        for (one, two) in [(body, other), (other, body)] {
            if bodies[one].is_resting && bodies[two].speed() > WAKE_SPEED {
                bodies[one].wake();
            }
        }
    }

    /// Corners of each box in the other, all pushed the way in which the two overlap least. False if they are apart.
    fn corners(&mut self, bodies: &[Body], body: usize, other: usize) -> bool {
        let (own, solid) = (&bodies[body], &bodies[other]);
        let Some(normal) = least_overlap(own, solid) else { return false };
        for corner in own.corners() {
            if is_in(solid, corner) {
                let depth = solid.extent(normal) - dot(sub(corner, solid.position), normal);
                self.note(bodies, body, Some(other), corner, normal, depth);
            }
        }
        for corner in solid.corners() {
            if is_in(own, corner) {
                let depth = own.extent(normal) + dot(sub(corner, own.position), normal);
                self.note(bodies, body, Some(other), corner, normal, depth);
            }
        }
        true
    }

    /// The largest balls that fit both boxes, where no corner lies in the other one.
    fn balls(&mut self, bodies: &[Body], body: usize, other: usize) {
        let radius = |body: &Body| body.half[0].min(body.half[1]).min(body.half[2]);
        let (own, solid) = (&bodies[body], &bodies[other]);
        let apart = sub(own.position, solid.position);
        let depth = radius(own) + radius(solid) - length(apart);
        let normal = normalized(apart, [0.0, 1.0, 0.0]);
        let point = sub(own.position, scale(normal, radius(own)));
        self.note(bodies, body, Some(other), point, normal, depth);
    }

    fn note(
        &mut self,
        bodies: &[Body],
        body: usize,
        other: Option<usize>,
        point: Vector,
        normal: Vector,
        depth: f64,
    ) {
        if depth < 0.0 {
            return;
        }
        let arm = sub(point, bodies[body].position);
        let other_arm = other.map_or([0.0; 3], |other| sub(point, bodies[other].position));
        let mut contact = Contact {
            body,
            other,
            arm,
            other_arm,
            normal,
            depth,
            wanted_speed: 0.0,
            push: 0.0,
            rub: [0.0; 3],
        };
        let speed = dot(contact.sliding(bodies), normal);
        contact.wanted_speed = if speed < -BOUNCE_SPEED { -BOUNCE * speed } else { 0.0 };
        self.contacts.push(contact);
    }

    /// Pushes until all contacts are content, or nearly.
    pub fn solve(&mut self, bodies: &mut [Body], seconds: f64) {
        for contact in &mut self.contacts {
            let recovery = RECOVERY / seconds * (contact.depth - SLOP_METRES);
            contact.wanted_speed = contact.wanted_speed.max(recovery.clamp(0.0, RECOVERY_SPEED_MAX));
        }
        for _ in 0..ROUNDS {
            for contact in &mut self.contacts {
                contact.push_apart(bodies);
                contact.rub(bodies);
            }
        }
    }
}

/// The direction, from the second box to the first, along which they overlap least, among those of their edges; `None` if
/// there is a gap along one of them.
fn least_overlap(own: &Body, solid: &Body) -> Option<Vector> {
    let apart = sub(own.position, solid.position);
    let mut least = (f64::INFINITY, [0.0; 3]);
    for axis in solid.axes.into_iter().chain(own.axes) {
        let distance = dot(apart, axis);
        let overlap = own.extent(axis) + solid.extent(axis) - distance.abs();
        if overlap < 0.0 {
            return None;
        }
        if overlap < least.0 {
            least = (overlap, scale(axis, if distance < 0.0 { -1.0 } else { 1.0 }));
        }
    }
    Some(least.1)
}

/// Whether a point is in a box, or on it.
fn is_in(body: &Body, point: Vector) -> bool {
    let inner = body.inward(point);
    (0..3).all(|axis| inner[axis].abs() <= body.half[axis] + EDGE_METRES)
}

impl Contact {
    /// How fast the two points move against each other.
    fn sliding(&self, bodies: &[Body]) -> Vector {
        let own = bodies[self.body].velocity_at(self.arm);
        self.other.map_or(own, |other| sub(own, bodies[other].velocity_at(self.other_arm)))
    }

    /// What a newton second along a unit vector does to that.
    fn yielding(&self, bodies: &[Body], along: Vector) -> f64 {
        let own = bodies[self.body].yield_at(self.arm, along);
        own + self.other.map_or(0.0, |other| bodies[other].yield_at(self.other_arm, along))
    }

    fn apply(&self, bodies: &mut [Body], impulse: Vector) {
        bodies[self.body].push(self.arm, impulse);
        if let Some(other) = self.other {
            bodies[other].push(self.other_arm, scale(impulse, -1.0));
        }
    }

    fn push_apart(&mut self, bodies: &mut [Body]) {
        let yielding = self.yielding(bodies, self.normal);
        if yielding > 0.0 {
            let lacking = self.wanted_speed - dot(self.sliding(bodies), self.normal);
            let push = (self.push + lacking / yielding).max(0.0);
            self.apply(bodies, scale(self.normal, push - self.push));
            self.push = push;
        }
    }

    fn rub(&mut self, bodies: &mut [Body]) {
        let sliding = across(self.sliding(bodies), self.normal);
        let speed = length(sliding);
        if speed < 1e-6 {
            return;
        }
        let along = scale(sliding, 1.0 / speed);
        let yielding = self.yielding(bodies, along);
        if yielding > 0.0 {
            let rub = add(self.rub, scale(along, -speed / yielding));
            let most = FRICTION * self.push;
            let strength = length(rub);
            let rub = if strength > most { scale(rub, most / strength) } else { rub };
            self.apply(bodies, sub(rub, self.rub));
            self.rub = rub;
        }
    }
}

//! The geometry of hits, exact and in doubles.
//!
//! Three shapes are two here: a sphere is a capsule of no length. Everything is a *segment with a radius* or a *box*, so
//! that rays and overlaps have few pairs to know:
//!
//! ```text
//!   ray × rounded    entry into the cylinder's side or into the balls at its ends, whichever comes first
//!   ray × box        three slabs
//!   rounded, rounded nearest points of two segments
//!   rounded, box     nearest points of a segment and a box
//!   box, box         fifteen axes of which one separates, or none
//! ```
//!
//! Nothing here checks its input: whatever arrives is finite and of bounded size, which shapes and rays see to when they
//! are made.

use crate::space::{Rotation, Vector, add, compose, cross, dot, inverse, length, scale, sub, turn, unit};

/// Where something is and how it is turned, in doubles: many points are put into its coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub position: Vector,
    pub rotation: Rotation,
}

impl Placed {
    /// A point of the world as the placed thing has it.
    #[inline]
    pub fn inward(&self, point: Vector) -> Vector {
        turn(inverse(self.rotation), sub(point, self.position))
    }

    /// A point of the placed thing as the world has it.
    #[inline]
    pub fn outward(&self, point: Vector) -> Vector {
        add(self.position, turn(self.rotation, point))
    }
}

/// The part of a straight line between two lengths, which may be negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub origin: Vector,
    /// Of length one.
    pub direction: Vector,
    pub begin: f64,
    pub end: f64,
}

impl Line {
    #[inline]
    pub fn at(&self, along: f64) -> Vector {
        add(self.origin, scale(self.direction, along))
    }
}

/// Where a line meets a surface first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub along: f64,
    pub normal: Vector,
}

/// A convex body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Solid {
    /// Everything within `radius` of a segment.
    Rounded { from: Vector, to: Vector, radius: f64 },
    /// A box that may be turned.
    Box { centre: Vector, half_extents: Vector, rotation: Rotation },
}

impl Solid {
    /// The same body, seen from something that is placed in the world.
    pub fn inward(&self, placed: &Placed) -> Solid {
        match *self {
            Solid::Rounded { from, to, radius } => {
                Solid::Rounded { from: placed.inward(from), to: placed.inward(to), radius }
            }
            Solid::Box { centre, half_extents, rotation } => Solid::Box {
                centre: placed.inward(centre),
                half_extents,
                rotation: compose(inverse(placed.rotation), rotation),
            },
        }
    }

    /// Where the line enters. A line that begins inside enters where it begins.
    #[inline]
    pub fn first_contact(&self, line: &Line) -> Option<Contact> {
        match *self {
            Solid::Rounded { from, to, radius } => enter_rounded(from, to, radius, line),
            Solid::Box { centre, half_extents, rotation } => {
                let placed = Placed { position: centre, rotation };
                let back = inverse(rotation);
                let local = Line {
                    origin: placed.inward(line.origin),
                    direction: turn(back, line.direction),
                    ..*line
                };
                let contact = enter_box(half_extents, &local)?;
                Some(Contact { normal: turn(rotation, contact.normal), ..contact })
            }
        }
    }

    /// The point of the body that is nearest to `point`: itself, if it lies inside.
    pub fn nearest_to(&self, point: Vector) -> Vector {
        match *self {
            Solid::Rounded { from, to, radius } => {
                let axis = nearest_on_segment(from, to, point);
                let away = sub(point, axis);
                let distance = length(away);
                if distance <= radius { point } else { add(axis, scale(away, radius / distance)) }
            }
            Solid::Box { centre, half_extents, rotation } => {
                let placed = Placed { position: centre, rotation };
                let local = placed.inward(point);
                let inside = (0..3).all(|axis| local[axis].abs() <= half_extents[axis]);
                if inside { point } else { placed.outward(clamp_to_box(half_extents, local)) }
            }
        }
    }

    /// Whether two bodies have a point in common.
    pub fn overlaps(&self, other: &Solid) -> bool {
        match (*self, *other) {
            (
                Solid::Rounded { from, to, radius },
                Solid::Rounded { from: other_from, to: other_to, radius: other_radius },
            ) => {
                let reach = radius + other_radius;
                segments_apart_squared([from, to], [other_from, other_to]) <= reach * reach
            }
            (Solid::Rounded { from, to, radius }, Solid::Box { centre, half_extents, rotation })
            | (Solid::Box { centre, half_extents, rotation }, Solid::Rounded { from, to, radius }) => {
                let placed = Placed { position: centre, rotation };
                let (from, to) = (placed.inward(from), placed.inward(to));
                segment_to_box_squared(from, to, half_extents) <= radius * radius
            }
            (
                Solid::Box { centre, half_extents, rotation },
                Solid::Box { centre: other, half_extents: other_half_extents, rotation: other_rotation },
            ) => {
                let placed = Placed { position: centre, rotation };
                let turned = compose(inverse(rotation), other_rotation);
                boxes_overlap(half_extents, placed.inward(other), other_half_extents, turned)
            }
        }
    }
}

fn nearest_on_segment(from: Vector, to: Vector, point: Vector) -> Vector {
    let axis = sub(to, from);
    let squared = dot(axis, axis);
    if squared == 0.0 {
        return from;
    }
    add(from, scale(axis, (dot(sub(point, from), axis) / squared).clamp(0.0, 1.0)))
}

fn clamp_to_box(half_extents: Vector, point: Vector) -> Vector {
    std::array::from_fn(|axis| point[axis].clamp(-half_extents[axis], half_extents[axis]))
}

/// Entry into the side of the cylinder or into the balls at its ends. The flat ends of the cylinder lie inside the balls
/// and are never met first.
#[inline]
fn enter_rounded(from: Vector, to: Vector, radius: f64, line: &Line) -> Option<Contact> {
    let start = line.at(line.begin);
    let off = sub(start, nearest_on_segment(from, to, start));
    if dot(off, off) <= radius * radius {
        return Some(Contact { along: line.begin, normal: scale(line.direction, -1.0) });
    }
    let mut along = f64::INFINITY;
    let mut consider = |candidate: Option<f64>| {
        if let Some(candidate) = candidate.filter(|at| (line.begin..=line.end).contains(at)) {
            along = along.min(candidate);
        }
    };
    let (axis, origin) = (sub(to, from), sub(line.origin, from));
    let squared = dot(axis, axis);
    if squared > 0.0 {
        consider(enter_side(axis, squared, origin, line.direction, radius));
        consider(enter_ball(sub(line.origin, to), line.direction, radius));
    }
    consider(enter_ball(origin, line.direction, radius));
    if along == f64::INFINITY {
        return None;
    }
    let point = line.at(along);
    let outward = sub(point, nearest_on_segment(from, to, point));
    Some(Contact { along, normal: unit(outward).unwrap_or(scale(line.direction, -1.0)) })
}

/// Entry into the side of a cylinder from the origin along `axis`, between its ends.
#[inline]
fn enter_side(axis: Vector, squared: f64, origin: Vector, direction: Vector, radius: f64) -> Option<f64> {
    let across = |v: Vector| sub(v, scale(axis, dot(v, axis) / squared));
    let (direction_across, origin_across) = (across(direction), across(origin));
    let a = dot(direction_across, direction_across);
    if a < 1e-18 {
        return None;
    }
    let b = dot(origin_across, direction_across);
    let c = dot(origin_across, origin_across) - radius * radius;
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return None;
    }
    let along = (-b - discriminant.sqrt()) / a;
    let height = dot(add(origin, scale(direction, along)), axis) / squared;
    (0.0..=1.0).contains(&height).then_some(along)
}

/// Entry into a ball around zero.
#[inline]
fn enter_ball(origin: Vector, direction: Vector, radius: f64) -> Option<f64> {
    let b = dot(origin, direction);
    let off = sub(origin, scale(direction, b));
    let discriminant = radius * radius - dot(off, off);
    (discriminant >= 0.0).then(|| -b - discriminant.sqrt())
}

/// Entry into a box around zero along the axes.
#[inline]
fn enter_box(half_extents: Vector, line: &Line) -> Option<Contact> {
    let (mut enter, mut exit) = (line.begin, line.end);
    let mut normal = scale(line.direction, -1.0);
    for axis in 0..3 {
        let (origin, direction, half) = (line.origin[axis], line.direction[axis], half_extents[axis]);
        if direction == 0.0 {
            if origin.abs() > half {
                return None;
            }
            continue;
        }
        // The face that looks against the line comes first.
        let near = (-half.copysign(direction) - origin) / direction;
        let far = (half.copysign(direction) - origin) / direction;
        if near > enter {
            enter = near;
            normal = [0.0; 3];
            normal[axis] = -direction.signum();
        }
        exit = exit.min(far);
    }
    (enter <= exit).then_some(Contact { along: enter, normal })
}

/// Between two segments: their ends to each other, and the lines where both are nearest between the ends.
fn segments_apart_squared(a: [Vector; 2], b: [Vector; 2]) -> f64 {
    let apart = |point: Vector, [from, to]: [Vector; 2]| {
        let off = sub(point, nearest_on_segment(from, to, point));
        dot(off, off)
    };
    let ends = apart(a[0], b).min(apart(a[1], b)).min(apart(b[0], a)).min(apart(b[1], a));
    let (along_a, along_b, between) = (sub(a[1], a[0]), sub(b[1], b[0]), sub(b[0], a[0]));
    let normal = cross(along_a, along_b);
    let squared = dot(normal, normal);
    if squared <= 1e-18 * dot(along_a, along_a) * dot(along_b, along_b) || squared == 0.0 {
        // Parallel: some end is as near as anything.
        return ends;
    }
    let on_a = dot(cross(between, along_b), normal) / squared;
    let on_b = dot(cross(between, along_a), normal) / squared;
    if !(0.0..=1.0).contains(&on_a) || !(0.0..=1.0).contains(&on_b) {
        return ends;
    }
    let distance = dot(between, normal);
    ends.min(distance * distance / squared)
}

/// Between a segment and a box around zero along the axes.
///
/// The squared distance along the segment is convex and made of parabolas that meet where a coordinate passes a face.
/// So its slope grows, and the minimum lies in the one piece where it changes sign.
fn segment_to_box_squared(from: Vector, to: Vector, half_extents: Vector) -> f64 {
    let way = sub(to, from);
    let at = |fraction: f64| add(from, scale(way, fraction));
    let excess = |point: Vector| sub(point, clamp_to_box(half_extents, point));
    let slope = |fraction: f64| dot(excess(at(fraction)), way);
    let (mut low, mut high) = (0.0, 1.0);
    for axis in 0..3 {
        if way[axis] == 0.0 {
            continue;
        }
        for face in [-half_extents[axis], half_extents[axis]] {
            let crossing = (face - from[axis]) / way[axis];
            if crossing > low && crossing < high {
                if slope(crossing) < 0.0 { low = crossing } else { high = crossing }
            }
        }
    }
    let (at_low, at_high) = (slope(low), slope(high));
    let nearest = match at_high - at_low {
        // The slope is a straight line between the two.
        rise if at_low < 0.0 && at_high > 0.0 => low - at_low * (high - low) / rise,
        _ if at_low >= 0.0 => low,
        _ => high,
    };
    let off = excess(at(nearest));
    dot(off, off)
}

/// A box around zero along the axes and one that is placed: two convex bodies of flat faces are apart if and only if an
/// axis of either, or one across an edge of each, separates them.
fn boxes_overlap(half: Vector, centre: Vector, other_half: Vector, rotation: Rotation) -> bool {
    let own = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let other = own.map(|axis| turn(rotation, axis));
    let separates = |axis: Vector| {
        let extent: f64 = (0..3)
            .map(|edge| half[edge] * axis[edge].abs() + other_half[edge] * dot(other[edge], axis).abs())
            .sum();
        dot(centre, axis).abs() > extent
    };
    if own.into_iter().chain(other).any(separates) {
        return false;
    }
    // Parallel edges span no axis, and the faces have been tried.
    let spanned = own.iter().flat_map(|a| other.iter().filter_map(|b| unit_across(*a, *b)));
    !spanned.into_iter().any(separates)
}

fn unit_across(a: Vector, b: Vector) -> Option<Vector> {
    let across = cross(a, b);
    if dot(across, across) < 1e-12 { None } else { unit(across) }
}

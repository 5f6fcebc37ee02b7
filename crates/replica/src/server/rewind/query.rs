//! Questions to the past.
//!
//! Every question is asked in two passes. The first walks the rows of the two records around the time, 64 places at a go, and
//! keeps those whose interpolated bounding sphere the question could touch; that is arithmetic without branches. The
//! second places each of the few that are left and asks its parts exactly.
//!
//! A question is put into the coordinates of each object rather than its parts into those of the world: that is one
//! transformation, however many parts there are, and it keeps numbers small far from the origin.

use super::geometry::{Contact, Line, Placed, Solid};
use super::history::{Beam, Bracket};
use super::places::Tenant;
use super::shape::{HitModel, PartId, Shape, check_position};
use super::view::PastView;
use super::{Rewind, RewindError};
use crate::setting::SettingError;
use crate::space::{Vector, add, dot, inverse, length, scale, sub, turn, unit};
use crate::world::ObjectIndex;

/// The longest ray, in metres.
pub const RANGE_METRES_MAX: f64 = 100_000.0;

/// Where something was hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// What. It may have gone since; the world knows.
    pub object: ObjectIndex,
    /// Which part of it.
    pub part: PartId,
    /// From where the ray begins, or from the reference point of a shape; 0 if that lies inside.
    pub distance_metres: f64,
    /// The point of the surface, in the world as it was; the beginning itself if that lies inside.
    pub point: [f64; 3],
    /// Away from the surface, of length one. A ray that begins inside has its own direction reversed, a shape whose
    /// reference point lies inside zero.
    pub normal: [f64; 3],
}

/// What can be hit at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter<'a> {
    /// Only objects with one of these bits in their groups.
    pub groups: u32,
    /// Never these.
    pub ignore: &'a [ObjectIndex],
}

impl Default for Filter<'_> {
    fn default() -> Self {
        Filter { groups: u32::MAX, ignore: &[] }
    }
}

impl Filter<'_> {
    fn allows(&self, tenant: &Tenant) -> bool {
        tenant.groups & self.groups != 0 && !self.ignore.contains(&tenant.object)
    }
}

/// A ray from a point that the server itself knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    origin: Vector,
    direction: Vector,
    range_metres: f64,
}

impl Ray {
    /// From `origin` in a direction of any length, at most `range_metres` far.
    pub fn new(origin: [f64; 3], direction: [f64; 3], range_metres: f64) -> Result<Ray, SettingError> {
        check_position("origin", origin)?;
        let range_allowed = "more than 0 and at most 100,000 metres";
        SettingError::check(
            "range_metres",
            range_metres,
            f64::MIN_POSITIVE..=RANGE_METRES_MAX,
            range_allowed,
        )?;
        let direction_length = length(direction);
        let direction_allowed = "a direction of length 0.000001 to 1,000,000";
        SettingError::check("length of the direction", direction_length, 1e-6..=1e6, direction_allowed)?;
        Ok(Ray { origin, direction: scale(direction, 1.0 / direction_length), range_metres })
    }

    /// Where it begins.
    pub fn origin(&self) -> [f64; 3] {
        self.origin
    }

    /// Its direction, of length one.
    pub fn direction(&self) -> [f64; 3] {
        self.direction
    }

    /// How far it goes.
    pub fn range_metres(&self) -> f64 {
        self.range_metres
    }

    fn beam(&self) -> Beam {
        Beam { origin: self.origin, direction: self.direction, length: self.range_metres, thickness: 0.0 }
    }

    /// Where it enters a model within its first `within` metres.
    fn hit(&self, model: &HitModel, placed: &Placed, within: f64) -> Option<(PartId, Contact)> {
        let origin = placed.inward(self.origin);
        let direction = turn(inverse(placed.rotation), self.direction);
        // Counted from the point nearest to the object: the square of a distance of kilometres would swallow millimetres.
        let nearest = -dot(origin, direction);
        let line = Line {
            origin: add(origin, scale(direction, nearest)),
            direction,
            begin: -nearest,
            end: within - nearest,
        };
        let (part, contact) = model.first_contact(&line)?;
        let along = (contact.along + nearest).clamp(0.0, within);
        Some((part, Contact { along, normal: turn(placed.rotation, contact.normal) }))
    }

    fn report(&self, object: ObjectIndex, part: PartId, contact: Contact) -> Hit {
        let point = add(self.origin, scale(self.direction, contact.along));
        Hit { object, part, distance_metres: contact.along, point, normal: contact.normal }
    }
}

impl Rewind {
    /// A ray from the eye of a tracked object, where the server has it now: the shooter stands in the present, only what it
    /// shoots at is seen late.
    pub fn aim(
        &self,
        shooter: ObjectIndex,
        direction: [f64; 3],
        range_metres: f64,
    ) -> Result<Ray, RewindError> {
        let no_shooter = RewindError::NoShooter(shooter);
        let bracket = self.history.newest_bracket().ok_or(RewindError::NoHistory)?;
        let place = self.places.find(shooter).ok_or(no_shooter.clone())?;
        let (placed, model) = self.history.placed(&bracket, place).ok_or(no_shooter)?;
        let eye = self.places.model(model).map_or([0.0; 3], HitModel::eye);
        Ok(Ray::new(placed.outward(eye), direction, range_metres)?)
    }

    /// What a shot hits first, at what the shooter saw. The shooter itself is never hit.
    ///
    /// The level is not in the history, for it does not move: ask it first, and shoot no farther than its answer.
    pub fn ray(
        &self,
        view: PastView,
        shooter: ObjectIndex,
        direction: [f64; 3],
        range_metres: f64,
        filter: &Filter<'_>,
    ) -> Result<Option<Hit>, RewindError> {
        let ray = self.aim(shooter, direction, range_metres)?;
        self.cast_beside(view, &ray, filter, Some(shooter))
    }

    /// Everything that a shot passes through, nearest first, each object once with the part that is hit first. What `hits`
    /// held before is gone.
    pub fn ray_all(
        &self,
        view: PastView,
        shooter: ObjectIndex,
        direction: [f64; 3],
        range_metres: f64,
        filter: &Filter<'_>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), RewindError> {
        hits.clear();
        let ray = self.aim(shooter, direction, range_metres)?;
        self.cast_all_beside(view, &ray, filter, Some(shooter), hits)
    }

    /// What a ray of the server's own hits first: a turret's, a ricochet's. Never begin one where a client says.
    pub fn cast(&self, view: PastView, ray: &Ray, filter: &Filter<'_>) -> Result<Option<Hit>, RewindError> {
        self.cast_beside(view, ray, filter, None)
    }

    /// Everything that a ray of the server's own passes through, as [`Rewind::ray_all`] tells it.
    pub fn cast_all(
        &self,
        view: PastView,
        ray: &Ray,
        filter: &Filter<'_>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), RewindError> {
        hits.clear();
        self.cast_all_beside(view, ray, filter, None, hits)
    }

    /// Everything that a sphere, a capsule or a box overlaps, nearest to its reference point first, each object once with
    /// its nearest part. What `hits` held before is gone.
    pub fn overlap(
        &self,
        view: PastView,
        shape: &Shape,
        filter: &Filter<'_>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), RewindError> {
        hits.clear();
        let bracket = self.bracket(view)?;
        let reference = shape.reference();
        self.scan(&bracket, &beam_around(shape), filter, None, |object, model, placed| {
            let body = shape.solid.inward(placed);
            let Some((part, point)) = model.overlap(&body, placed.inward(reference)) else { return };
            let point = placed.outward(point);
            let away = sub(reference, point);
            // Turned there and back, a point that lies inside differs from itself in the last bits.
            let is_inside = length(away) < 1e-6;
            let (distance_metres, point) = if is_inside { (0.0, reference) } else { (length(away), point) };
            let normal = if is_inside { [0.0; 3] } else { unit(away).unwrap_or([0.0; 3]) };
            hits.push(Hit { object, part, distance_metres, point, normal });
        });
        sort(hits);
        Ok(())
    }

    /// Where an object was. None if it was not there.
    pub fn position_at(&self, view: PastView, object: ObjectIndex) -> Result<Option<[f64; 3]>, RewindError> {
        let bracket = self.bracket(view)?;
        let place = self.places.find(object).ok_or(RewindError::NotTracked(object))?;
        Ok(self.history.placed(&bracket, place).map(|(placed, _)| placed.position))
    }

    fn cast_beside(
        &self,
        view: PastView,
        ray: &Ray,
        filter: &Filter<'_>,
        shooter: Option<ObjectIndex>,
    ) -> Result<Option<Hit>, RewindError> {
        let bracket = self.bracket(view)?;
        let mut nearest: Option<Hit> = None;
        self.scan(&bracket, &ray.beam(), filter, shooter, |object, model, placed| {
            let within = nearest.map_or(ray.range_metres, |hit| hit.distance_metres);
            let Some((part, contact)) = ray.hit(model, placed, within) else { return };
            let before = |hit: Hit| (contact.along, object) < (hit.distance_metres, hit.object);
            if nearest.is_none_or(before) {
                nearest = Some(ray.report(object, part, contact));
            }
        });
        Ok(nearest)
    }

    fn cast_all_beside(
        &self,
        view: PastView,
        ray: &Ray,
        filter: &Filter<'_>,
        shooter: Option<ObjectIndex>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), RewindError> {
        let bracket = self.bracket(view)?;
        self.scan(&bracket, &ray.beam(), filter, shooter, |object, model, placed| {
            if let Some((part, contact)) = ray.hit(model, placed, ray.range_metres) {
                hits.push(ray.report(object, part, contact));
            }
        });
        sort(hits);
        Ok(())
    }

    fn bracket(&self, view: PastView) -> Result<Bracket, RewindError> {
        let (_, oldest) = self.history.oldest().ok_or(RewindError::NoHistory)?;
        let (_, newest) = self.history.newest().ok_or(RewindError::NoHistory)?;
        let outside = RewindError::OutsideHistory { at: view.at, oldest, newest };
        self.history.bracket(view.at).ok_or(outside)
    }

    fn scan(
        &self,
        bracket: &Bracket,
        beam: &Beam,
        filter: &Filter<'_>,
        shooter: Option<ObjectIndex>,
        mut visit: impl FnMut(ObjectIndex, &HitModel, &Placed),
    ) {
        for word in 0..self.history.words() {
            let mut near = self.history.near(bracket, beam, word);
            while near != 0 {
                let place = word * 64 + near.trailing_zeros() as usize;
                near &= near - 1;
                let tenant = &self.places.tenants()[place];
                if shooter == Some(tenant.object) || !filter.allows(tenant) {
                    continue;
                }
                let Some((placed, model)) = self.history.placed(bracket, place) else { continue };
                if let Some(model) = self.places.model(model) {
                    visit(tenant.object, model, &placed);
                }
            }
        }
    }
}

/// Nearest first, and equally near ones by their number, so that the answer does not depend on who joined first.
fn sort(hits: &mut [Hit]) {
    hits.sort_unstable_by(|a, b| {
        a.distance_metres.total_cmp(&b.distance_metres).then(a.object.cmp(&b.object))
    });
}

/// Something simple around a shape.
fn beam_around(shape: &Shape) -> Beam {
    match shape.solid {
        Solid::Rounded { from, to, radius } => {
            let way = sub(to, from);
            let direction = unit(way).unwrap_or([1.0, 0.0, 0.0]);
            Beam { origin: from, direction, length: length(way), thickness: radius }
        }
        Solid::Box { centre, half_extents, .. } => {
            Beam { origin: centre, direction: [1.0, 0.0, 0.0], length: 0.0, thickness: length(half_extents) }
        }
    }
}

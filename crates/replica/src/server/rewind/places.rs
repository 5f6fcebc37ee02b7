//! Which object is where in the rows of the history.
//!
//! An object that is no longer tracked keeps its place and its past, so that a shot of the past still finds it. Places are
//! given away again in the order in which they became free, the longest free first, and only then its past is gone: what
//! was there before is never taken for what is there now.

use std::collections::VecDeque;

use super::shape::HitModel;
use super::{ModelId, RewindError};
use crate::world::ObjectIndex;

/// What is in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tenant {
    pub object: ObjectIndex,
    pub model: ModelId,
    pub groups: u32,
    pub is_tracked: bool,
}

/// All places.
#[derive(Debug)]
pub(super) struct Places {
    tenants: Vec<Tenant>,
    /// Tracked objects in order, with their places.
    tracked: Vec<(ObjectIndex, u32)>,
    free: VecDeque<u32>,
    places_max: usize,
    models: Vec<HitModel>,
}

impl Places {
    pub fn new(places_max: usize) -> Places {
        Places {
            tenants: Vec::with_capacity(places_max),
            tracked: Vec::with_capacity(places_max),
            free: VecDeque::with_capacity(places_max),
            places_max,
            models: Vec::new(),
        }
    }

    pub fn add_model(&mut self, model: HitModel) -> Result<ModelId, RewindError> {
        let number = u16::try_from(self.models.len()).map_err(|_| RewindError::TooManyModels)?;
        self.models.push(model);
        Ok(ModelId(number))
    }

    pub fn model(&self, id: u16) -> Option<&HitModel> {
        self.models.get(usize::from(id))
    }

    /// Every place that was ever used, in order.
    pub fn tenants(&self) -> &[Tenant] {
        &self.tenants
    }

    /// How many objects are tracked.
    pub fn len(&self) -> usize {
        self.tracked.len()
    }

    /// The place of a tracked object.
    pub fn find(&self, object: ObjectIndex) -> Option<usize> {
        let found = self.tracked.binary_search_by_key(&object, |(tracked, _)| *tracked).ok()?;
        self.tracked.get(found).map(|(_, place)| *place as usize)
    }

    /// A place for an object.
    pub fn take(&mut self, object: ObjectIndex, model: ModelId, groups: u32) -> Result<usize, RewindError> {
        let Err(at) = self.tracked.binary_search_by_key(&object, |(tracked, _)| *tracked) else {
            return Err(RewindError::AlreadyTracked(object));
        };
        self.check_model(model)?;
        let tenant = Tenant { object, model, groups, is_tracked: true };
        let place = if self.tenants.len() < self.places_max {
            self.tenants.push(tenant);
            self.tenants.len() - 1
        } else {
            let place = self.free.pop_front().ok_or(RewindError::Full { objects_max: self.places_max })?;
            self.tenants[place as usize] = tenant;
            place as usize
        };
        self.tracked.insert(at, (object, place as u32));
        Ok(place)
    }

    /// The object needs its place no longer.
    pub fn release(&mut self, object: ObjectIndex) -> Result<(), RewindError> {
        let found = self.tracked.binary_search_by_key(&object, |(tracked, _)| *tracked);
        let at = found.map_err(|_| RewindError::NotTracked(object))?;
        let (_, place) = self.tracked.remove(at);
        self.tenants[place as usize].is_tracked = false;
        self.free.push_back(place);
        Ok(())
    }

    /// Changes what can be hit of an object and by whom, from the next record on.
    pub fn retune(
        &mut self,
        object: ObjectIndex,
        change: impl FnOnce(&mut Tenant),
    ) -> Result<(), RewindError> {
        let place = self.find(object).ok_or(RewindError::NotTracked(object))?;
        change(&mut self.tenants[place]);
        Ok(())
    }

    pub fn check_model(&self, model: ModelId) -> Result<(), RewindError> {
        match self.model(model.0) {
            Some(_) => Ok(()),
            None => Err(RewindError::UnknownModel(model)),
        }
    }
}

//! The class of a struct in a world: from the type to the number and back.

use core::fmt;
use core::marker::PhantomData;

use netloom_replica::ClassId;
use netloom_replica::client::{ClientObject, ReplicaClient};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldError};
use netloom_wire::ObjectId;

use super::Replicated;

/// The number that the class of `T` has in a list of classes. Objects of other classes are never taken for a `T`.
pub struct ClassOf<T> {
    id: ClassId,
    kind: PhantomData<fn() -> T>,
}

impl<T: Replicated> ClassOf<T> {
    /// Finds the class of `T`; `None` if the list does not have it, or has one of the same name with other fields.
    pub fn find(classes: &ClassTable) -> Option<ClassOf<T>> {
        let hash = T::schema().ok()?.hash();
        let is_same = |id: &ClassId| {
            let class = classes.profile(*id).and_then(|profile| classes.class(*id, profile));
            class.is_some_and(|class| class.schema().hash() == hash)
        };
        let id = (0..=u8::MAX).map(ClassId).take(classes.len()).find(is_same)?;
        Some(ClassOf { id, kind: PhantomData })
    }

    /// Its number.
    pub fn id(self) -> ClassId {
        self.id
    }

    /// Adds an object with the settings of its struct and this value. One whose value is refused is not added.
    pub fn spawn(
        self,
        world: &mut World,
        id: ObjectId,
        owner: Option<OwnerId>,
        value: &T,
    ) -> Result<ObjectIndex, WorldError> {
        self.spawn_with(world, Spawn { owner, ..T::spawn_defaults().spawn(id, self.id) }, value)
    }

    /// Adds an object with settings of its own; the class is that of the struct whatever `spawn` says.
    pub fn spawn_with(self, world: &mut World, spawn: Spawn, value: &T) -> Result<ObjectIndex, WorldError> {
        let index = world.spawn(Spawn { class: self.id, ..spawn })?;
        if let Err(error) = value.write(world, index) {
            world.despawn(index)?;
            return Err(error);
        }
        Ok(index)
    }

    /// The value of an object of the server; `None` if it is gone or of another class.
    pub fn read_world(self, world: &World, index: ObjectIndex) -> Option<T> {
        let object = world.object(index).filter(|object| object.class_id() == self.id)?;
        T::read_world(&object)
    }

    /// The value of an object of a client; `None` if it is of another class.
    pub fn read(self, client: &ReplicaClient, object: &ClientObject) -> Option<T> {
        if ClassId(object.class()) != self.id {
            return None;
        }
        T::read(object, client.class(object)?)
    }
}

impl<T> Clone for ClassOf<T> {
    fn clone(&self) -> ClassOf<T> {
        *self
    }
}

impl<T> Copy for ClassOf<T> {}

impl<T: Replicated> fmt::Debug for ClassOf<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} is class {}", T::NAME, self.id.0)
    }
}

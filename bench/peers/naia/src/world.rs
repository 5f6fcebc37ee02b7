//! The smallest world that naia's traits can work with.
//!
//! naia keeps no components itself: it writes them into a world that the game brings, through two traits. An entity here is an index,
//! and holds one component at most, so that looking one up costs as little as it can. Entities that clients make, give away or
//! duplicate do not occur in this comparison, and asking for that is a mistake.

use naia_shared::{
    ComponentFieldUpdate, ComponentKind, ComponentKinds, ComponentUpdate, EntityAndGlobalEntityConverter,
    GlobalWorldManagerType, LocalEntityAndGlobalEntityConverter, ReplicaDynMutWrapper, ReplicaDynRefWrapper,
    ReplicaMutTrait, ReplicaMutWrapper, ReplicaRefTrait, ReplicaRefWrapper, Replicate, ReplicatedComponent,
    SerdeErr, WorldMutType, WorldRefType,
};
use std::borrow::{Borrow, BorrowMut};

/// An index.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Entity(usize);

/// Entities by index; `None` once despawned.
#[derive(Default)]
pub struct World(Vec<Option<Components>>);

/// The one that an entity has, if any.
type Components = Option<Box<dyn Replicate>>;

impl World {
    /// To read, as naia wants it.
    pub fn proxy(&self) -> Proxy<&World> {
        Proxy(self)
    }

    /// To read and write.
    pub fn proxy_mut(&mut self) -> Proxy<&mut World> {
        Proxy(self)
    }

    fn component(&self, entity: &Entity) -> Option<&dyn Replicate> {
        self.0.get(entity.0)?.as_ref()?.as_deref()
    }

    fn component_mut(&mut self, entity: &Entity) -> Option<&mut Box<dyn Replicate>> {
        self.0.get_mut(entity.0)?.as_mut()?.as_mut()
    }

    fn components(&mut self, entity: &Entity) -> &mut Components {
        let components = self.0.get_mut(entity.0).and_then(Option::as_mut);
        components.expect("naia asks for entities that it spawned")
    }
}

/// A world that was lent to naia.
pub struct Proxy<W>(W);

impl<W: Borrow<World>> Proxy<W> {
    fn component_of(&self, entity: &Entity, kind: &ComponentKind) -> Option<&dyn Replicate> {
        self.0.borrow().component(entity).filter(|component| component.kind() == *kind)
    }
}

impl<W: BorrowMut<World>> Proxy<W> {
    fn component_of_mut(&mut self, entity: &Entity, kind: &ComponentKind) -> Option<&mut Box<dyn Replicate>> {
        self.0.borrow_mut().component_mut(entity).filter(|component| component.kind() == *kind)
    }
}

/// A component that was lent to naia.
struct Lent<T>(T);

impl<R: Replicate> ReplicaRefTrait<R> for Lent<&R> {
    fn to_ref(&self) -> &R {
        self.0
    }
}

impl<R: Replicate> ReplicaRefTrait<R> for Lent<&mut R> {
    fn to_ref(&self) -> &R {
        self.0
    }
}

impl<R: Replicate> ReplicaMutTrait<R> for Lent<&mut R> {
    fn to_mut(&mut self) -> &mut R {
        self.0
    }
}

impl<W: Borrow<World>> WorldRefType<Entity> for Proxy<W> {
    fn has_entity(&self, entity: &Entity) -> bool {
        self.0.borrow().0.get(entity.0).is_some_and(Option::is_some)
    }

    fn entities(&self) -> Vec<Entity> {
        let slots = self.0.borrow().0.iter().enumerate();
        slots.filter(|(_, slot)| slot.is_some()).map(|(index, _)| Entity(index)).collect()
    }

    fn has_component<R: ReplicatedComponent>(&self, entity: &Entity) -> bool {
        self.has_component_of_kind(entity, &ComponentKind::of::<R>())
    }

    fn has_component_of_kind(&self, entity: &Entity, kind: &ComponentKind) -> bool {
        self.component_of(entity, kind).is_some()
    }

    fn component<'a, R: ReplicatedComponent>(&'a self, entity: &Entity) -> Option<ReplicaRefWrapper<'a, R>> {
        let component = self.0.borrow().component(entity)?.to_any().downcast_ref::<R>()?;
        Some(ReplicaRefWrapper::new(Lent(component)))
    }

    fn component_of_kind<'a>(
        &'a self,
        entity: &Entity,
        kind: &ComponentKind,
    ) -> Option<ReplicaDynRefWrapper<'a>> {
        Some(ReplicaDynRefWrapper::new(self.component_of(entity, kind)?.dyn_ref()))
    }
}

impl<W: BorrowMut<World>> WorldMutType<Entity> for Proxy<W> {
    fn spawn_entity(&mut self) -> Entity {
        let world = self.0.borrow_mut();
        world.0.push(Some(None));
        Entity(world.0.len() - 1)
    }

    fn despawn_entity(&mut self, entity: &Entity) {
        if let Some(slot) = self.0.borrow_mut().0.get_mut(entity.0) {
            *slot = None;
        }
    }

    fn component_kinds(&mut self, entity: &Entity) -> Vec<ComponentKind> {
        self.0.borrow_mut().component(entity).map(|component| component.kind()).into_iter().collect()
    }

    fn component_mut<'a, R: ReplicatedComponent>(
        &'a mut self,
        entity: &Entity,
    ) -> Option<ReplicaMutWrapper<'a, R>> {
        let component = self.0.borrow_mut().component_mut(entity)?.to_any_mut().downcast_mut::<R>()?;
        Some(ReplicaMutWrapper::new(Lent(component)))
    }

    fn component_mut_of_kind<'a>(
        &'a mut self,
        entity: &Entity,
        kind: &ComponentKind,
    ) -> Option<ReplicaDynMutWrapper<'a>> {
        Some(ReplicaDynMutWrapper::new(self.component_of_mut(entity, kind)?.dyn_mut()))
    }

    fn component_apply_update(
        &mut self,
        converter: &dyn LocalEntityAndGlobalEntityConverter,
        entity: &Entity,
        kind: &ComponentKind,
        update: ComponentUpdate,
    ) -> Result<(), SerdeErr> {
        match self.component_of_mut(entity, kind) {
            Some(component) => component.read_apply_update(converter, update),
            None => Ok(()),
        }
    }

    fn component_apply_field_update(
        &mut self,
        converter: &dyn LocalEntityAndGlobalEntityConverter,
        entity: &Entity,
        kind: &ComponentKind,
        update: ComponentFieldUpdate,
    ) -> Result<(), SerdeErr> {
        match self.component_of_mut(entity, kind) {
            Some(component) => component.read_apply_field_update(converter, update),
            None => Ok(()),
        }
    }

    fn insert_component<R: ReplicatedComponent>(&mut self, entity: &Entity, component: R) {
        self.insert_boxed_component(entity, Box::new(component));
    }

    fn insert_boxed_component(&mut self, entity: &Entity, component: Box<dyn Replicate>) {
        let before = self.0.borrow_mut().components(entity).replace(component);
        assert!(before.is_none(), "an entity of this world has one component");
    }

    fn remove_component<R: ReplicatedComponent>(&mut self, entity: &Entity) -> Option<R> {
        let component = self.remove_component_of_kind(entity, &ComponentKind::of::<R>())?;
        component.to_boxed_any().downcast::<R>().ok().map(|component| *component)
    }

    fn remove_component_of_kind(
        &mut self,
        entity: &Entity,
        kind: &ComponentKind,
    ) -> Option<Box<dyn Replicate>> {
        self.0.borrow_mut().components(entity).take_if(|component| component.kind() == *kind)
    }

    fn local_duplicate_entity(&mut self, _: &Entity) -> Entity {
        no_duplicates()
    }

    fn local_duplicate_components(&mut self, _: &Entity, _: &Entity) {
        no_duplicates()
    }

    fn mirror_entities(&mut self, _: &Entity, _: &Entity) {
        no_duplicates()
    }

    fn mirror_components(&mut self, _: &Entity, _: &Entity, _: &ComponentKind) {
        no_duplicates()
    }

    fn entity_publish(
        &mut self,
        _: &ComponentKinds,
        _: &dyn EntityAndGlobalEntityConverter<Entity>,
        _: &dyn GlobalWorldManagerType,
        _: &Entity,
    ) {
        no_clients_entities()
    }

    fn component_publish(
        &mut self,
        _: &ComponentKinds,
        _: &dyn EntityAndGlobalEntityConverter<Entity>,
        _: &dyn GlobalWorldManagerType,
        _: &Entity,
        _: &ComponentKind,
    ) {
        no_clients_entities()
    }

    fn entity_unpublish(&mut self, _: &Entity) {
        no_clients_entities()
    }

    fn component_unpublish(&mut self, _: &Entity, _: &ComponentKind) {
        no_clients_entities()
    }

    fn entity_enable_delegation(
        &mut self,
        _: &ComponentKinds,
        _: &dyn EntityAndGlobalEntityConverter<Entity>,
        _: &dyn GlobalWorldManagerType,
        _: &Entity,
    ) {
        no_clients_entities()
    }

    fn component_enable_delegation(
        &mut self,
        _: &ComponentKinds,
        _: &dyn EntityAndGlobalEntityConverter<Entity>,
        _: &dyn GlobalWorldManagerType,
        _: &Entity,
        _: &ComponentKind,
    ) {
        no_clients_entities()
    }

    fn entity_disable_delegation(&mut self, _: &Entity) {
        no_clients_entities()
    }

    fn component_disable_delegation(&mut self, _: &Entity, _: &ComponentKind) {
        no_clients_entities()
    }
}

fn no_duplicates() -> ! {
    unreachable!("nothing is duplicated in this comparison")
}

fn no_clients_entities() -> ! {
    unreachable!("all entities are the server's in this comparison")
}

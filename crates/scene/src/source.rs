//! What plays into a world.

use netloom_replica::Class;
use netloom_replica::world::{World, WorldConfig};

use crate::SceneError;

/// A scene: objects that do something, one send tick after the other.
///
/// Whether it is computed, read from a recording or comes from a running game makes no difference to whoever measures how
/// well it replicates. A source writes to the world what a game would have written until the next send tick; who drives
/// it commits that, by [`ReplicaServer::begin_tick`](netloom_replica::server::ReplicaServer::begin_tick) or
/// [`World::commit`].
pub trait Source {
    /// What the scene is called: short, of letters, digits and underlines, as it stands in keys of figures.
    fn name(&self) -> &str;

    /// What the objects are made of.
    fn classes(&self) -> &[Class];

    /// How many send ticks a second has.
    fn ticks_per_second(&self) -> u32;

    /// Plays one tick into `world`, always the same one. False if the scene is over: then nothing was played.
    fn play(&mut self, world: &mut World) -> Result<bool, SceneError>;

    /// An empty world to play into.
    fn world(&self) -> Result<World, SceneError> {
        let config =
            WorldConfig { ticks_per_second: self.ticks_per_second() as f32, ..WorldConfig::default() };
        Ok(World::new(self.classes().to_vec(), config)?)
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn classes(&self) -> &[Class] {
        (**self).classes()
    }

    fn ticks_per_second(&self) -> u32 {
        (**self).ticks_per_second()
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        (**self).play(world)
    }
}

/// A source that ends after so many ticks.
#[derive(Clone, Debug)]
pub struct Limited<S> {
    source: S,
    ticks_left: usize,
}

impl<S: Source> Limited<S> {
    /// The first `ticks` of a source.
    pub fn new(source: S, ticks: usize) -> Limited<S> {
        Limited { source, ticks_left: ticks }
    }
}

impl<S: Source> Source for Limited<S> {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn classes(&self) -> &[Class] {
        self.source.classes()
    }

    fn ticks_per_second(&self) -> u32 {
        self.source.ticks_per_second()
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        let is_left = self.ticks_left > 0;
        self.ticks_left = self.ticks_left.saturating_sub(1);
        Ok(is_left && self.source.play(world)?)
    }
}

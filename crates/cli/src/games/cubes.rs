//! Cubes: a yard in which cubes wander about, and everybody who joins walks among them.
//!
//! It is here to be looked at: everything that a game needs is in this file, and nothing else. The same step moves a walker on the
//! server and, ahead of it, on the client that the walker belongs to.

use std::collections::BTreeMap;

use netloom::prelude::*;
use netloom::world_hash;

use super::{Dot, DotKind, Limits, Playable, Steering};
use crate::config::Config;

/// Half the length of the yard, in metres.
pub const YARD_METRES: f32 = 100.0;
/// Steps after a dash before the next: two seconds.
pub const DASH_REST_STEPS: u8 = 120;

const WALK_METRES_PER_STEP: f32 = 4.0 / 60.0;
const DASH_METRES: f32 = 3.0;
const CUBE_METRES_PER_SECOND: f32 = 2.0;
const CUBE_RADIANS_PER_SECOND: f32 = 1.5;

/// What a cube can look like.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    #[default]
    Red,
    Green,
    Blue,
    Yellow,
}

/// A cube that goes where it likes.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
pub struct Cube {
    #[replicated(position)]
    at: [f32; 2],
    #[replicated(rotation)]
    turned: [f32; 4],
    #[replicated(range = 0.5..=3.0, step = 0.125)]
    size: f32,
    colour: Colour,
    /// Which cube this is.
    number: u16,
}

/// What a player moves.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(priority = 2.0, predict)]
pub struct Walker {
    #[replicated(position)]
    at: [f32; 2],
    colour: Colour,
    /// Steps until the next dash.
    rest: u8,
    /// The player.
    number: u16,
}

/// What a player does in a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Act {
    /// To the right, if positive; -1, 0 or 1.
    pub right: i8,
    /// Upwards, if positive; -1, 0 or 1.
    pub up: i8,
    /// A leap in that direction, every two seconds.
    pub dash: bool,
}

impl Input for Act {
    const BITS_MAX: u32 = 5;

    fn write(&self, writer: &mut BitWriter<'_>) {
        for way in [self.right, self.up] {
            writer.write_bits((way + 1) as u64, 2);
        }
        writer.write_bits(self.dash.into(), 1);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Act, ReadError> {
        let mut way = || match reader.read_bits(2)? {
            3 => Err(ReadError::OutOfRange),
            bits => Ok(bits as i8 - 1),
        };
        Ok(Act { right: way()?, up: way()?, dash: reader.read_bits(1)? == 1 })
    }

    /// Who walks goes on; a leap is made once.
    fn repeated(&self) -> Act {
        Act { dash: false, ..self.clone() }
    }
}

/// How walkers move.
#[derive(Clone, Debug, Default)]
pub struct Walk;

impl Step for Walk {
    type State = Walker;
    type Input = Act;

    fn step(&self, walker: &mut Walker, act: &Act) {
        let is_dash = act.dash && walker.rest == 0;
        let length = if is_dash { DASH_METRES } else { WALK_METRES_PER_STEP };
        // Across is no faster than along.
        let share = if act.right != 0 && act.up != 0 { std::f32::consts::FRAC_1_SQRT_2 } else { 1.0 };
        for (place, way) in walker.at.iter_mut().zip([act.right, act.up]) {
            *place = (*place + f32::from(way) * share * length).clamp(-YARD_METRES, YARD_METRES);
        }
        walker.rest = if is_dash { DASH_REST_STEPS } else { walker.rest.saturating_sub(1) };
    }
}

/// A cube on its way.
struct Wanderer {
    object: ObjectIndex,
    cube: Cube,
    heading: f32,
    wanted: f32,
}

/// The game.
pub struct Cubes {
    /// How many cubes there are.
    cubes: u16,
    wanderers: Vec<Wanderer>,
    walkers: BTreeMap<PlayerId, (ObjectIndex, Walker)>,
}

impl Game for Cubes {
    type Input = Act;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        for number in 0..self.cubes {
            let random = room.random();
            let mut somewhere = || random.between(-YARD_METRES, YARD_METRES);
            let at = [somewhere(), somewhere()];
            let heading = random.between(-std::f32::consts::PI, std::f32::consts::PI);
            let size = random.between(0.5, 3.0);
            let colour = Colour::from_index(u32::from(number) % Colour::COUNT).unwrap_or_default();
            let cube = Cube { at, turned: about_vertical(heading), size, colour, number };
            let object = room.spawn(&cube, None)?;
            self.wanderers.push(Wanderer { object, cube, heading, wanted: heading });
        }
        Ok(())
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        if room.player(player).is_none_or(|player| player.is_spectator) {
            return;
        }
        let random = room.random();
        let at = [random.between(-20.0, 20.0), random.between(-20.0, 20.0)];
        let colour = Colour::from_index(random.below(Colour::COUNT.into()) as u32).unwrap_or_default();
        let walker = Walker { at, colour, rest: 0, number: player.0 as u16 };
        match room.spawn(&walker, Some(player)) {
            Ok(object) => {
                room.follow(player, object);
                self.walkers.insert(player, (object, walker));
            }
            Err(error) => room.kick(player, &format!("there is no place for a walker: {error}")),
        }
    }

    fn input(&mut self, room: &mut Room, player: PlayerId, command: &Command<Act>) -> Result<(), Rejected> {
        let (object, walker) = self.walkers.get_mut(&player).ok_or(Rejected::new(1, "not walking"))?;
        if command.input.dash && walker.rest > 0 {
            return Err(Rejected::new(2, "too tired to dash"));
        }
        Walk.step(walker, &command.input);
        room.write(*object, walker).map_err(|_| Rejected::new(3, "the walker is gone"))
    }

    fn step(&mut self, room: &mut Room) {
        let seconds = room.step_seconds();
        for wanderer in &mut self.wanderers {
            if room.random().below(120) == 0 {
                wanderer.wanted = room.random().between(-std::f32::consts::PI, std::f32::consts::PI);
            }
            wanderer.wander(seconds);
            if let Err(error) = room.write(wanderer.object, &wanderer.cube) {
                return room.end(&format!("a cube is gone: {error}"));
            }
        }
    }

    fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        match call.name() {
            world_hash::ASK => world_hash::answer(room, from, call),
            _ => Err(CallRefused::UNHANDLED),
        }
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        if let Some((object, _)) = self.walkers.remove(&player)
            && let Err(error) = room.despawn(object)
        {
            room.end(&format!("a walker is gone: {error}"));
        }
    }
}

impl Wanderer {
    fn wander(&mut self, seconds: f32) {
        let turn = (self.wanted - self.heading).clamp(-1.0, 1.0) * CUBE_RADIANS_PER_SECOND * seconds;
        self.heading += turn;
        for (place, way) in self.cube.at.iter_mut().zip([self.heading.cos(), self.heading.sin()]) {
            *place += way * CUBE_METRES_PER_SECOND * seconds;
            if place.abs() > YARD_METRES {
                *place = place.clamp(-YARD_METRES, YARD_METRES);
                self.wanted = -self.wanted;
            }
        }
        self.cube.turned = about_vertical(self.heading);
    }
}

/// The rotation by an angle about the vertical axis, as a quaternion.
fn about_vertical(angle: f32) -> [f32; 4] {
    let (sine, cosine) = (angle / 2.0).sin_cos();
    [0.0, 0.0, sine, cosine]
}

impl Playable for Cubes {
    const NAME: &'static str = "cubes";
    const ABOUT: &'static str = "cubes wander about a yard, and you walk among them";
    // A game between friends has 16 players; this one is to be tried with many.
    const LIMITS: Limits = Limits { players: 256, players_max: u16::MAX as usize, steps_per_second: None };
    const PROFILE: Profile = Profile::Small;
    type Act = Act;
    type Move = Walk;

    fn protocol() -> Protocol {
        let builder = Protocol::builder(Self::NAME).object::<Cube>().object::<Walker>();
        world_hash::with_calls(builder)
            .build()
            .expect("the classes of this file are well formed: there is a test")
    }

    fn open(config: &Config) -> Result<Cubes, String> {
        // The settings were checked.
        let cubes = config.room.things as u16;
        Ok(Cubes { cubes, wanderers: Vec::new(), walkers: BTreeMap::new() })
    }

    fn furnish(&self, _: &mut RoomConfig) {}

    fn act(steering: Steering) -> Act {
        Act { right: steering.right, up: steering.up, dash: steering.acts }
    }

    fn place(walker: &Walker) -> [f32; 2] {
        walker.at
    }

    fn dots(client: &Client<Act>) -> Vec<Dot> {
        let cubes = client.all::<Cube>().map(|(_, cube)| Dot { at: cube.at, kind: DotKind::Thing });
        let walkers = client.all::<Walker>().map(|(_, walker)| {
            let is_own = client.player().is_some_and(|player| player.0 as u16 == walker.number);
            Dot { at: walker.at, kind: if is_own { DotKind::Own } else { DotKind::Player } }
        });
        cubes.chain(walkers).collect()
    }

    fn extent() -> f32 {
        YARD_METRES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_is_well_formed() {
        assert_eq!(Cubes::protocol().classes().len(), 2);
    }

    #[test]
    fn nobody_leaves_the_yard_or_dashes_without_rest() {
        let mut walker = Walker::default();
        let act = Act { right: 1, up: 1, dash: true };
        let before = walker.at;
        Walk.step(&mut walker, &act);
        assert!((walker.at[0] - before[0]) > 2.0 && walker.rest == DASH_REST_STEPS);
        let before = walker.at;
        Walk.step(&mut walker, &act);
        assert!((walker.at[0] - before[0]) < 0.1, "too early to dash");
        for _ in 0..10_000 {
            Walk.step(&mut walker, &act);
        }
        assert_eq!(walker.at, [YARD_METRES; 2]);
    }

    #[test]
    fn acts_read_as_they_are_written_and_nothing_else_reads() {
        let mut ways = 0;
        for bits in 0..32_u8 {
            let bytes = [bits];
            let Ok(act) = Act::read(&mut BitReader::new(&bytes)) else { continue };
            let mut out = [0];
            let mut writer = BitWriter::new(&mut out);
            act.write(&mut writer);
            let _bits = writer.finish();
            assert_eq!(out, bytes);
            ways += 1;
        }
        assert_eq!(ways, 3 * 3 * 2);
    }
}

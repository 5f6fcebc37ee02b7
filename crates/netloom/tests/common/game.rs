//! A park with balls that roll for a while, and walkers that players move.

use netloom::prelude::*;
use netloom::session::rpc::Callers;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
pub struct Ball {
    #[replicated(position)]
    pub at: [f32; 3],
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(weight = 2.0, predict)]
pub struct Walker {
    #[replicated(position)]
    pub at: [f32; 3],
}

/// Which way to walk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Keys {
    pub x: i8,
    pub y: i8,
}

impl Input for Keys {
    const BITS_MAX: u32 = 16;

    fn write(&self, writer: &mut BitWriter<'_>) {
        for axis in [self.x, self.y] {
            writer.write_bits((axis as u8).into(), 8);
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Keys, ReadError> {
        let mut axis = || reader.read_bits(8).map(|bits| bits as u8 as i8);
        Ok(Keys { x: axis()?, y: axis()? })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Walk;

impl Step for Walk {
    type State = Walker;
    type Input = Keys;

    fn step(&self, walker: &mut Walker, keys: &Keys) {
        walker.at[0] += f32::from(keys.x.signum()) * 0.05;
        walker.at[1] += f32::from(keys.y.signum()) * 0.05;
    }
}

pub fn protocol() -> Protocol {
    let by = |callers| RpcOptions { callers, ..RpcOptions::default() };
    let objects = Protocol::builder("park").object::<Ball>().object::<Walker>();
    let calls = objects.rpc("throw", by(Callers::Clients)).rpc("thrown", by(Callers::Server));
    calls.build().unwrap()
}

#[derive(Clone, Debug)]
pub struct Park {
    /// How many balls there are.
    pub count: usize,
    /// For how many steps they roll.
    pub rolling_steps: u64,
    /// How many of them are written in each step, round and round.
    pub rolling_count: usize,
    /// Whether somebody who says this word breaks the game.
    pub is_fragile: bool,
    pub is_broken: bool,
    pub balls: Vec<ObjectIndex>,
    pub walkers: Vec<(PlayerId, ObjectIndex, Walker)>,
}

/// The word that breaks a fragile game.
pub const SPELL: &str = "abracadabra";

impl Park {
    pub fn new(count: usize) -> Park {
        Park {
            count,
            rolling_steps: u64::MAX,
            rolling_count: count,
            is_fragile: false,
            is_broken: false,
            balls: Vec::new(),
            walkers: Vec::new(),
        }
    }

    /// Where a ball is at the beginning: in rings around the middle, the first ones nearest.
    pub fn place(number: usize) -> [f32; 3] {
        let distance = (number as f32).sqrt();
        let angle = number as f32 * 2.4;
        [distance * angle.cos(), distance * angle.sin(), 0.0]
    }
}

impl Game for Park {
    type Input = Keys;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        for number in 0..self.count {
            self.balls.push(room.spawn(&Ball { at: Park::place(number) }, None)?);
        }
        Ok(())
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        let walker = room.spawn(&Walker::default(), Some(player)).expect("there is room");
        room.follow(player, walker);
        self.walkers.push((player, walker, Walker::default()));
    }

    fn input(&mut self, room: &mut Room, player: PlayerId, did: &Command<Keys>) -> Result<(), Rejected> {
        let walker = self.walkers.iter_mut().find(|walker| walker.0 == player);
        let (_, object, walker) = walker.ok_or(Rejected::new(1, "no walker"))?;
        Walk.step(walker, &did.input);
        room.write(*object, walker).map_err(|_| Rejected::new(2, "gone"))
    }

    fn step(&mut self, room: &mut Room) {
        assert!(!self.is_broken, "the spell worked");
        let step = room.steps();
        if step > self.rolling_steps || self.count == 0 {
            return;
        }
        let first = step as usize * self.rolling_count;
        for number in (first..first + self.rolling_count).map(|number| number % self.count) {
            let [x, y, z] = Park::place(number);
            let angle = step as f32 * 0.02 + number as f32;
            let at = [x + angle.sin() * 0.3, y + angle.cos() * 0.3, z];
            room.write(self.balls[number], &Ball { at }).expect("balls stay");
        }
    }

    fn claim(&mut self, _: &mut Room, _: PlayerId, object: ObjectIndex, _: bool) -> bool {
        self.balls.first() == Some(&object)
    }

    fn chat(&mut self, _: &mut Room, _: PlayerId, text: &str) -> bool {
        self.is_broken = self.is_fragile && text == SPELL;
        !text.contains("darn")
    }

    /// A ball that is thrown twice as far as asked for, for everybody to hear; but not backwards.
    fn rpc(&mut self, room: &mut Room, _: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        let (metres, word): (i64, String) = call.args()?;
        if metres < 0 {
            return Err(CallRefused::new("nobody throws backwards"));
        }
        room.call(CallTarget::All, "thrown", None, &(2 * metres, word)).expect("it is in the table");
        Ok(())
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        if let Some(at) = self.walkers.iter().position(|walker| walker.0 == player) {
            let (_, object, _) = self.walkers.swap_remove(at);
            room.despawn(object).expect("it was there");
        }
    }
}

/// The balls of a room, as clients are to have them.
pub fn balls_of(server: &Server, room: &str) -> Vec<Ball> {
    let room = server.session().rooms().find(|open| open.name() == room).expect("the room is open");
    let objects = room.world().iter();
    sorted(objects.filter_map(|object| room.read::<Ball>(object.index())))
}

/// The balls that a client knows.
pub fn balls_seen(client: &Client<Keys>) -> Vec<Ball> {
    sorted(client.all::<Ball>().map(|(_, ball)| ball))
}

fn sorted(balls: impl Iterator<Item = Ball>) -> Vec<Ball> {
    let mut balls: Vec<Ball> = balls.collect();
    balls.sort_by(|a, b| a.at.map(f32::to_bits).cmp(&b.at.map(f32::to_bits)));
    balls
}

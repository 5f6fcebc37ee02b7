//! A game that does everything at random: objects come, move, jump, change hands and go; calls go out; and then all is still.

use netloom::prelude::*;
use netloom::replica::ClassId;
use netloom::replica::server::input_queue::InputSource;
use netloom::replica::server::interest::VisibleTo;
use netloom::replica::world::Spawn;
use netloom::session::random::Random;
use netloom::session::rpc::ObjectArg;
use netloom::session::rpc::args::write_args;
use netloom::wire::schema::{Delivery, FieldKind, Value as Property};
use netloom::wire::{Profile, SectorOrigin};
use serde_json::json;

use super::declaration::Calls;
use super::truth::{Log, Truth};
use super::values::{Argument, argument_json, hex, property_json, with_property};

const OBJECTS_MAX: usize = 60;
/// Somebody who is not there: what they own is not the player's.
const NOBODY: PlayerId = PlayerId(9_999);
const TEAM: TeamId = TeamId(1);
/// Arguments of an unreliable call: they share a datagram.
const UNRELIABLE_BYTES_MAX: usize = 700;

/// What the player does: a field of every kind that an input can have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Act {
    jump: bool,
    way: u8,
    aim: u16,
    power: u32,
    mark: u64,
}

impl Input for Act {
    const BITS_MAX: u32 = 1 + 2 + 10 + 32 + 64;

    fn write(&self, writer: &mut BitWriter<'_>) {
        writer.write_bool(self.jump);
        writer.write_bits(self.way.into(), 2);
        writer.write_bits(self.aim.into(), 10);
        writer.write_bits(self.power.into(), 32);
        writer.write_bits(self.mark, 64);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Act, ReadError> {
        Ok(Act {
            jump: reader.read_bool()?,
            way: reader.read_bits(2)? as u8,
            aim: reader.read_bits(10)? as u16,
            power: reader.read_bits(32)? as u32,
            mark: reader.read_bits(64)?,
        })
    }
}

#[derive(Clone, Copy)]
struct Mover {
    index: ObjectIndex,
    position: [f64; 3],
    velocity: [f64; 3],
    turn: f32,
    spin: f32,
}

/// See the module.
pub struct RandomGame {
    random: Random,
    log: Log,
    truth: Truth,
    down: Calls,
    player: Option<PlayerId>,
    team: Option<TeamId>,
    movers: Vec<Mover>,
    objects_first: u64,
    /// How wide the world is.
    reach: f64,
    /// Steps until all is still.
    busy_steps: u32,
    calls_made: u64,
}

impl RandomGame {
    pub fn new(mut random: Random, log: Log, down: Calls) -> RandomGame {
        RandomGame {
            log,
            truth: Truth::new(log),
            down,
            player: None,
            team: (random.below(2) == 0).then_some(TEAM),
            movers: Vec::new(),
            objects_first: random.below(30),
            reach: [20.0, 200.0, 600.0][random.below(3) as usize],
            busy_steps: 90 + random.below(50) as u32,
            calls_made: 0,
            random,
        }
    }

    /// Must come before every change: see [`Truth::tell`].
    fn tell(&mut self, room: &mut Room) {
        if let Some(player) = self.player {
            self.truth.tell(room, player, self.team);
        }
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    fn place(&mut self) -> [f64; 3] {
        let reach = self.reach as f32;
        [0; 3].map(|_| self.random.between(-reach, reach).into())
    }

    fn spawn(&mut self, room: &mut Room) -> Result<(), GameError> {
        let class = ClassId(self.random.below(room.protocol().classes().len() as u64) as u8);
        let owner = match self.random.below(4) {
            0 => self.player,
            1 => Some(NOBODY),
            _ => None,
        };
        let team = (self.random.below(3) == 0).then_some(TEAM);
        let profile = (self.random.below(3) == 0).then(|| Profile::ALL[self.random.below(4) as usize]);
        // Under a grid some are seen from everywhere, others from as far as the grid says.
        let relevance_radius = if self.chance(20) { f32::INFINITY } else { 0.0 };
        let is_everywhere =
            !matches!(room.config().replication.policy, netloom::replica::server::interest::Policy::Grid(_));
        let relevance_radius = if is_everywhere { f32::INFINITY } else { relevance_radius };
        let index =
            room.spawn_with(|id| Spawn { owner, team, profile, relevance_radius, ..Spawn::new(id, class) })?;
        let mover = Mover {
            index,
            position: self.place(),
            velocity: [0; 3].map(|_| self.random.between(-20.0, 20.0).into()),
            turn: 0.0,
            spin: self.random.between(-4.0, 4.0),
        };
        for field in 0..room.protocol().classes()[usize::from(class.0)].fields().len() {
            self.set_field(room, index, field);
        }
        self.show(room, &mover)?;
        self.movers.push(mover);
        Ok(())
    }

    /// Where it is and which way it is turned, if it has a place and a direction.
    fn show(&self, room: &mut Room, mover: &Mover) -> Result<(), GameError> {
        let Some(class) = room.world().object(mover.index).map(|object| object.class().clone()) else {
            return Ok(());
        };
        let has = |wanted: fn(FieldKind) -> bool| class.fields().iter().any(|field| wanted(field.kind));
        let (sine, cosine) = (mover.turn / 2.0).sin_cos();
        let velocity = mover.velocity.map(|axis| axis as f32);
        let world = room.world_mut();
        if has(|kind| matches!(kind, FieldKind::Position(_))) {
            world.set_position(mover.index, mover.position)?;
        }
        if has(|kind| matches!(kind, FieldKind::Rotation(_))) {
            world.set_rotation(mover.index, [0.6 * sine, 0.0, 0.8 * sine, cosine])?;
        }
        if has(|kind| matches!(kind, FieldKind::Velocity(_))) {
            world.set_velocity(mover.index, velocity)?;
        }
        Ok(())
    }

    fn set_field(&mut self, room: &mut Room, index: ObjectIndex, field: usize) {
        let Some(class) = room.world().object(index).map(|object| object.class().clone()) else { return };
        let Some(declared) = class.schema().field(field) else { return };
        if matches!(declared.kind(), FieldKind::Scale(_)) {
            let scale = [0; 3].map(|_| self.random.between(0.0, 12.0));
            let _refused = room.world_mut().set_scale(index, scale);
            return;
        }
        let log = self.log;
        with_property(&mut self.random, declared.kind(), |value| {
            say_set(log, room, index, field, value);
            let _refused = room.world_mut().set(index, field, value);
        });
    }

    /// Something that happens to one object once in a while. What the world refuses, such as a circle of parents, is not done.
    fn disturb(&mut self, room: &mut Room, number: usize) -> Result<(), GameError> {
        let index = self.movers[number].index;
        match self.random.below(12) {
            0 => {
                self.movers[number].position = self.place();
                room.world_mut().teleport(index)?;
            }
            1 => self.movers[number].velocity = [0.0; 3],
            2 => {
                self.movers[number].velocity = [0; 3].map(|_| self.random.between(-40.0, 40.0).into());
                self.movers[number].spin = self.random.between(-6.0, 6.0);
            }
            3 => room.world_mut().set_profile(index, Profile::ALL[self.random.below(4) as usize])?,
            4 => {
                let owner = [None, self.player, Some(NOBODY)][self.random.below(3) as usize];
                room.world_mut().set_owner(index, owner)?;
            }
            5 => room.world_mut().set_team(index, [None, Some(TEAM)][self.random.below(2) as usize])?,
            6 => {
                let parent = self.movers[self.random.below(self.movers.len() as u64) as usize].index;
                let parent = if self.chance(40) { None } else { Some(parent) };
                let _refused = room.world_mut().attach(index, parent);
            }
            7 => {
                let before =
                    room.world().object(index).map(|object| object.origin().version()).unwrap_or_default();
                let origin = SectorOrigin::new(self.place(), before.next())?;
                let _refused = room.world_mut().rebase(index, origin);
            }
            8 if self.chance(30) => {
                let to =
                    [VisibleTo::Everyone, VisibleTo::Everyone, VisibleTo::Team(TEAM.0), VisibleTo::Nobody];
                let visible_to = to[self.random.below(4) as usize];
                room.replication().set_visible_to(index, visible_to);
            }
            _ => {
                let fields = room.world().object(index).map_or(0, |object| object.class().fields().len());
                let field = self.random.below(fields as u64) as usize;
                self.set_field(room, index, field);
            }
        }
        Ok(())
    }

    /// A call, whatever it says.
    fn call(&mut self, room: &mut Room) -> Result<(), GameError> {
        let Some(player) = self.player else { return Ok(()) };
        let name = match self.random.below(3) {
            0 => self.down.ordered.clone(),
            1 => self.down.unordered.clone(),
            _ => self.down.unreliable.clone(),
        };
        let mut objects: Vec<(ObjectArg, u64)> = Vec::new();
        for number in 0..self.movers.len().min(3) {
            let index = self.movers[number].index;
            let Some(id) = room.world().object(index).map(|object| object.id().0) else { continue };
            objects.push((room.object_arg(index), id));
        }
        let mut arguments = vec![Argument::UInt(self.calls_made)];
        (0..self.random.below(5))
            .for_each(|_| arguments.push(Argument::random(&mut self.random, 3, &objects)));
        if name == self.down.ordered && self.chance(10) {
            arguments.push(Argument::Bytes((0..8_000).map(|_| self.random.bits() as u8).collect()));
        }
        let mut bytes = Vec::new();
        write_args(arguments.len(), &mut bytes, |writer| {
            arguments.iter().for_each(|argument| argument.write(writer))
        })?;
        if bytes.len() > UNRELIABLE_BYTES_MAX && name == self.down.unreliable {
            return Ok(());
        }
        let about = if self.chance(25) { self.movers.first().map(|mover| mover.index) } else { None };
        let id = about.and_then(|index| room.world().object(index)).map(|object| object.id().0);
        let values: Vec<_> = arguments.iter().map(Argument::json).collect();
        self.log
            .say("call", json!({ "number": self.calls_made, "name": name, "object": id, "args": values }));
        self.calls_made += 1;
        Ok(room.call_raw(CallTarget::Player(player), &*name, about, &bytes)?)
    }

    fn play(&mut self, room: &mut Room) -> Result<(), GameError> {
        let seconds = f64::from(room.step_seconds());
        if self.movers.len() < OBJECTS_MAX && self.chance(20) {
            self.spawn(room)?;
        }
        if self.movers.len() > 3 && self.chance(8) {
            let number = self.random.below(self.movers.len() as u64) as usize;
            let gone = self.movers.swap_remove(number);
            room.despawn(gone.index)?;
        }
        for number in 0..self.movers.len() {
            if self.chance(6) {
                self.disturb(room, number)?;
            }
            let mover = &mut self.movers[number];
            for (axis, speed) in mover.position.iter_mut().zip(mover.velocity) {
                *axis += speed * seconds;
            }
            mover.turn += mover.spin * seconds as f32;
            let mover = *mover;
            self.show(room, &mover)?;
        }
        if self.chance(40) {
            self.call(room)?;
        }
        Ok(())
    }
}

/// Of a field that is delivered reliably every value counts, so each is told.
fn say_set(log: Log, room: &Room, index: ObjectIndex, field: usize, value: Property<'_>) {
    let Some(object) = room.world().object(index) else { return };
    if object.class().schema().field(field).is_some_and(|field| field.delivery() == Delivery::Reliable) {
        let content = hex(value.content().unwrap_or_default());
        log.say("set", json!({ "id": object.id().0, "field": field, "content": content }));
    }
}

impl Game for RandomGame {
    type Input = Act;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        (0..self.objects_first).try_for_each(|_| self.spawn(room))
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        self.player = Some(player);
        room.set_team(player, self.team);
        if let (true, Some(mover)) = (self.chance(50), self.movers.first()) {
            room.follow(player, mover.index);
        }
    }

    fn input(&mut self, room: &mut Room, _: PlayerId, command: &Command<Act>) -> Result<(), Rejected> {
        self.tell(room);
        if command.source == InputSource::Client {
            let Act { jump, way, aim, power, mark } = command.input;
            let power = format!("{power:08x}");
            self.log.say("input", json!([command.step.0, jump, way, aim, power, mark.to_string()]));
        }
        Ok(())
    }

    fn step(&mut self, room: &mut Room) {
        self.tell(room);
        if self.player.is_none() || self.busy_steps == 0 {
            return;
        }
        if let Err(error) = self.play(room) {
            self.log.say("error", json!(error.to_string()));
        }
        self.busy_steps -= 1;
        if self.busy_steps == 0 {
            self.log.say("still", json!({ "step": room.step().0 }));
        }
    }

    fn write(
        &mut self,
        room: &mut Room,
        player: PlayerId,
        object: ObjectIndex,
        field: usize,
        value: Property<'_>,
    ) -> bool {
        self.tell(room);
        let replica = room.player(player).map(|player| player.replica);
        let alias = replica.and_then(|replica| room.replication().alias_of(replica, object));
        say_set(self.log, room, object, field, value);
        self.log.say(
            "write",
            json!({
                "alias": alias.map(Alias::to_script_int),
                "field": field,
                "value": property_json(value),
            }),
        );
        true
    }

    fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        self.tell(room);
        let replica = room.player(from).map(|player| player.replica);
        let about = call.object().zip(replica);
        let alias = about.and_then(|(object, replica)| room.replication().alias_of(replica, object));
        let arguments: Vec<_> = call.values().map(|value| argument_json(&value)).collect();
        let details =
            json!({ "name": call.name(), "object": alias.map(Alias::to_script_int), "args": arguments });
        self.log.say("called", details);
        Ok(())
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {
        self.player = None;
    }
}

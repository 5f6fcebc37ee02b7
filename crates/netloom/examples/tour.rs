//! A server with something of everything, for trying clients against: two rooms of one game.
//!
//! ```text
//! cargo run -p netloom --example tour -- udp://127.0.0.1:0 ws://127.0.0.1:0
//! cargo run -p netloom --example tour -- --encrypted udp://127.0.0.1:0
//! ```
//!
//! The room `meadow` plays from the start: balls that roll, a walker for each player, and calls in both directions. The room `match`
//! has a lobby before it. It prints one line of JSON that says where it listens and what its protocol hashes to, and ends with its
//! input. A line `stop` there ends it as well: players are told first either way.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::mpsc::{self, Receiver, TryRecvError};

use netloom::prelude::*;
use netloom::proto::Security;
use netloom::session::lobby::{LobbyConfig, SettingRule};
use netloom::session::rpc::{Callers, Delivery, ObjectArg};

const BALLS: u16 = 200;

#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Colour {
    #[default]
    Red,
    Green,
    Blue,
}

/// Every kind of field, so that whoever reads it has read them all.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Ball {
    #[replicated(position)]
    at: [f32; 3],
    #[replicated(rotation)]
    turned: [f32; 4],
    #[replicated(velocity)]
    speed: [f32; 3],
    #[replicated(scale)]
    size: [f32; 3],
    #[replicated(range = -1.0..=1.0, step = 0.01)]
    spin: f32,
    #[replicated(range = -100..=100)]
    charge: i32,
    colour: Colour,
    heat: f32,
    is_lit: bool,
    seed: u64,
    number: u16,
    #[replicated(text = 32)]
    label: String,
    #[replicated(array = 8, range = 0..=99)]
    marks: Vec<u8>,
    #[replicated(server_only)]
    secret: u64,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(priority = 2.0, predict)]
struct Walker {
    #[replicated(position)]
    at: [f32; 2],
    #[replicated(owner)]
    steps: u16,
    #[replicated(text = 24, any_client_writes)]
    motto: String,
    #[replicated(text = 500, reliable)]
    diary: String,
}

#[derive(Clone)]
struct Walk;

impl Step for Walk {
    type State = Walker;
    type Input = [u8; 1]; // 0: stand, 1: right, 2: left

    fn step(&self, walker: &mut Walker, input: &[u8; 1]) {
        walker.at[0] += [0.0, 0.125, -0.125].get(usize::from(input[0])).copied().unwrap_or(0.0);
        walker.steps = walker.steps.wrapping_add(u16::from(input[0] != 0));
    }
}

#[derive(Default)]
struct Tour {
    balls: Vec<(ObjectIndex, Ball)>,
    walkers: BTreeMap<PlayerId, (ObjectIndex, Walker)>,
}

impl Tour {
    fn roll(&mut self, room: &mut Room) -> Result<(), GameError> {
        let step = room.step().0;
        for (number, (object, ball)) in self.balls.iter_mut().enumerate() {
            let angle = (step as f32 + 7.0 * number as f32) / 60.0;
            ball.at = [angle.cos() * number as f32, angle.sin() * 50.0, (angle * 0.3).sin() * 5.0];
            ball.turned = [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()];
            ball.speed = [-angle.sin(), angle.cos(), 0.0];
            if step % 30 == number as u32 % 30 {
                ball.spin = angle.sin();
                ball.charge = (step / 30) as i32 % 201 - 100;
                ball.colour = [Colour::Red, Colour::Green, Colour::Blue][step as usize / 30 % 3];
                (ball.heat, ball.is_lit) = (angle * 1.1, step / 30 % 2 == 1);
                (ball.seed, ball.secret) = (u64::from(step) << 32 | number as u64, step.into());
                ball.label = format!("ball {number} at {step}");
                ball.marks = (0..step / 30 % 9).map(|mark| (mark * 11) as u8).collect();
            }
            room.write(*object, ball)?;
        }
        Ok(())
    }
}

impl Game for Tour {
    type Input = [u8; 1];

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        for number in 0..BALLS {
            let size = [1.0 + f32::from(number % 4) * 0.25; 3];
            let ball = Ball { turned: [0.0, 0.0, 0.0, 1.0], size, number, ..Ball::default() };
            self.balls.push((room.spawn(&ball, None)?, ball));
        }
        Ok(())
    }

    fn admit(&mut self, _: &Room, candidate: &Candidate<'_>) -> Result<(), Denied> {
        match candidate.name {
            "nobody" => Err(Denied(String::from("nobody may not play here"))),
            _ => Ok(()),
        }
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        let Some(known) = room.player(player).filter(|known| !known.is_spectator) else { return };
        let walker = Walker { diary: format!("{} came here", known.name), ..Walker::default() };
        match room.spawn(&walker, Some(player)) {
            Ok(object) => {
                if let Err(error) =
                    room.call(CallTarget::Player(player), "greet", Some(object), &("welcome",))
                {
                    room.notify(player, &error.to_string());
                }
                self.walkers.insert(player, (object, walker));
            }
            Err(error) => room.kick(player, &error.to_string()),
        }
    }

    fn input(
        &mut self,
        room: &mut Room,
        player: PlayerId,
        command: &Command<[u8; 1]>,
    ) -> Result<(), Rejected> {
        let (object, walker) = self.walkers.get_mut(&player).ok_or(Rejected::new(1, "not walking"))?;
        if command.input[0] > 2 {
            return Err(Rejected::new(2, "there is no such way"));
        }
        Walk.step(walker, &command.input);
        // Others write the motto, and the diary has its own pen.
        if let Some(written) = room.read::<Walker>(*object) {
            walker.motto = written.motto;
        }
        room.write(*object, walker).map_err(|_| Rejected::new(3, "the walker is gone"))
    }

    fn step(&mut self, room: &mut Room) {
        if let Err(error) = self.roll(room) {
            room.end(&error.to_string());
        }
    }

    fn claim(&mut self, _: &mut Room, _: PlayerId, _: ObjectIndex, is_wanted: bool) -> bool {
        is_wanted
    }

    fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        let answered = match call.name() {
            "add" => {
                let (one, other): (i64, i64) = call.args()?;
                room.call(CallTarget::Player(from), "sum", None, &(one + other,))
            }
            "point" => {
                let (arg,): (ObjectArg,) = call.args()?;
                let object = room.object_of(from, arg).ok_or(CallRefused::new("that is nothing"))?;
                let arg = room.object_arg(object);
                room.call(CallTarget::All, "pointed", Some(object), &(arg,))
            }
            // The answer is about an object that nobody can have heard of yet.
            "hatch" => {
                let ball =
                    Ball { turned: [0.0, 0.0, 0.0, 1.0], size: [1.0; 3], number: BALLS, ..Ball::default() };
                let object =
                    room.spawn(&ball, None).map_err(|_| CallRefused::new("there is no room for it"))?;
                room.call(CallTarget::Player(from), "hatched", Some(object), &())
            }
            "look" => {
                let seen = call.tick().map(|tick| tick.0);
                room.call(CallTarget::Player(from), "seen", None, &(seen,))
            }
            "write" => {
                let (text,): (String,) = call.args()?;
                if let Some((_, walker)) = self.walkers.get_mut(&from) {
                    walker.diary = text;
                }
                Ok(())
            }
            "kick" => {
                let (reason,): (String,) = call.args()?;
                room.kick(from, &reason);
                Ok(())
            }
            "grumble" => return Err(CallRefused::new("not today")),
            _ => return Err(CallRefused::UNHANDLED),
        };
        answered.map_err(|_| CallRefused::new("the answer cannot be sent"))
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        if let Some((object, _)) = self.walkers.remove(&player)
            && let Err(error) = room.despawn(object)
        {
            room.end(&error.to_string());
        }
    }
}

fn protocol() -> Result<Protocol, Box<dyn std::error::Error>> {
    let by = |callers| RpcOptions { callers, ..RpcOptions::default() };
    let (clients, server) = (by(Callers::Clients), by(Callers::Server));
    let builder = Protocol::builder("tour").version(3).object::<Ball>().object::<Walker>();
    let builder = builder
        .rpc("add", clients)
        .rpc("point", clients)
        .rpc("hatch", clients)
        .rpc("look", RpcOptions { at_view_time: true, ..clients })
        .rpc("write", clients)
        .rpc("kick", clients)
        .rpc("grumble", clients)
        .rpc("greet", server)
        .rpc("hatched", server)
        .rpc("sum", server)
        .rpc("pointed", RpcOptions { at_view_time: true, ..server })
        .rpc("seen", RpcOptions { delivery: Delivery::Unordered, ..server })
        .rpc(
            "wave",
            RpcOptions {
                is_forwarded: true,
                delivery: Delivery::Unreliable,
                bytes_max: 64,
                ..by(Callers::Both)
            },
        );
    Ok(builder.build()?)
}

fn typed() -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protocol = protocol()?;
    let mut config = ServerConfig::default();
    let mut addresses = Vec::new();
    for argument in std::env::args().skip(1) {
        match &*argument {
            "--encrypted" => config.connection.security = Security::Required,
            _ => addresses.push(argument),
        }
    }
    let lobby = LobbyConfig {
        settings: vec![SettingRule {
            key: String::from("map"),
            value: String::from("hills"),
            allowed: vec![String::from("hills"), String::from("lake")],
        }],
        teams: 2,
        ..LobbyConfig::default()
    };
    let builder = Server::builder(protocol.clone())
        .config(config)
        .room(RoomConfig { code: String::from("MEAD-OW23"), ..RoomConfig::new("meadow") }, Tour::default())
        .room(RoomConfig { lobby: Some(lobby), ..RoomConfig::new("match") }, Tour::default());
    let mut server = addresses.iter().fold(builder, |builder, address| builder.listen(address)).bind()?;
    let bound: Vec<String> =
        server.local_addresses().iter().map(|address| format!("\"{address}\"")).collect();
    println!(
        "{{\"addresses\":[{}],\"protocol\":\"{:016x}\",\"schema\":\"{:016x}\",\"calls\":\"{:016x}\"}}",
        bound.join(","),
        protocol.id(),
        protocol.schema_hash(),
        protocol.rpcs().hash()
    );
    let lines = typed();
    server.run(|server| {
        while let Some(event) = server.poll_event() {
            eprintln!("{event:?}");
        }
        match lines.try_recv() {
            Ok(line) if line == "stop" => server.stop("closing time"),
            Ok(_) | Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => server.stop("nobody is at the controls"),
        }
    })?;
    Ok(())
}

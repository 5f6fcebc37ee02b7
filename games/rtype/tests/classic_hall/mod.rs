//! A server with the classic protocol beside it, and players of both kinds, all over loopback sockets.

use std::time::{Duration, Instant};

use netloom::prelude::*;
use netloom::session::lobby::LobbyCommand;
use netloom_rtype::classic::codec::{
    BossSpawned, EntityPosition, ErrorMessage, FromServer, GameInfo, GameOver, GameStart, LevelInfo,
    LobbyStatus, PlayerInput, PowerupSpawned, PowerupStatus, ToClient, ToServer, WeaponConfirm, WeaponOffer,
};
use netloom_rtype::classic::{Client as ClassicClient, DeskConfig, Entrance, Service};
use netloom_rtype::game::{Rtype, Setup};
use netloom_rtype::protocol::{Act, Ship, protocol};
use netloom_rtype::rules::Levels;

const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so.
pub fn deadline(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "it never came to this: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Levels of these JSONs.
pub fn levels(texts: &[&str]) -> Levels {
    let mut all = texts.iter().map(|text| Levels::parse("test.json", text).unwrap());
    let first = all.next().unwrap();
    Levels::new(first, all.collect())
}

/// A level in which nothing happens for nearly ten minutes.
pub fn empty_level() -> Levels {
    let late = r#"{ "at_seconds": 590, "spawns": [ { "kind": "drone" } ] }"#;
    levels(&[&format!(r#"{{ "name": "Nothing", "seconds": 600, "waves": [ {late} ] }}"#)])
}

pub struct Hall {
    pub server: ServerHandle,
    pub service: Service,
    address: String,
}

impl Hall {
    pub fn open(levels: Levels, setup: Setup, config: DeskConfig) -> Hall {
        let game = Rtype::new(levels, setup).unwrap();
        let mut room = RoomConfig::for_profile("field", Profile::Lobby4);
        game.furnish(&mut room);
        let (entrance, transport) = Entrance::new(protocol()).unwrap();
        let server = Server::builder(protocol())
            .config(ServerConfig::for_profile(Profile::Lobby4))
            .room(room, game)
            .listen("127.0.0.1:0")
            .transport(transport)
            .bind()
            .unwrap();
        let server = server.spawn().unwrap();
        let address = server.local_addresses()[0].to_string();
        let service = Service::start("127.0.0.1:0", config, entrance).unwrap();
        Hall { server, service, address }
    }

    /// A classic player, with a session.
    pub fn join(&self) -> Classic {
        let at = self.service.address();
        let client = ClassicClient::connect(&at.ip().to_string(), &at.port().to_string()).unwrap();
        let player = Classic { client, seen: Seen::default(), input: PlayerInput::default() };
        deadline("there is a session", || player.client.is_connected() || player.client.ended().is_some());
        player
    }

    /// A player of Netloom.
    pub fn join_native(&self, name: &str) -> Native {
        let client = Client::<Act>::builder().name(name).connect(protocol(), &self.address).unwrap();
        let mut native = Native { client, buttons: 0 };
        native.until("a seat", |native| native.client.lobby_state().is_some());
        native
    }
}

/// What a classic player heard, newest first known.
#[derive(Default)]
pub struct Seen {
    pub lobby: Option<LobbyStatus>,
    pub start: Option<GameStart>,
    pub info: Option<GameInfo>,
    pub level: Option<LevelInfo>,
    pub boss: Option<BossSpawned>,
    pub over: Option<GameOver>,
    pub capsule: Option<PowerupSpawned>,
    pub powers: Option<PowerupStatus>,
    pub weapons: Option<WeaponOffer>,
    pub armed: Option<WeaponConfirm>,
    pub errors: Vec<ErrorMessage>,
    opcodes: Vec<u8>,
    /// With the time at which each was heard of.
    entities: Vec<(Instant, EntityPosition)>,
}

impl Seen {
    fn take(&mut self, datagram: &[u8]) {
        self.opcodes.push(datagram[0]);
        let message = match FromServer::decode(datagram).unwrap() {
            FromServer::Entities(entities) => {
                let now = Instant::now();
                for entity in entities.iter() {
                    self.entities.retain(|(_, known)| known.id != entity.id);
                    self.entities.push((now, entity));
                }
                // Whatever is not heard of for a while is gone.
                return self
                    .entities
                    .retain(|(heard, _)| now.duration_since(*heard) < Duration::from_millis(250));
            }
            FromServer::Message(message) => message,
        };
        match message {
            ToClient::LobbyStatus(lobby) => self.lobby = Some(lobby),
            ToClient::GameStart(start) => self.start = Some(start),
            ToClient::GameInfo(info) => self.info = Some(info),
            ToClient::LevelInfo(level) => self.level = Some(level),
            ToClient::BossSpawned(boss) => self.boss = Some(boss),
            ToClient::GameOver(over) => self.over = Some(over),
            ToClient::PowerupSpawned(capsule) => self.capsule = Some(capsule),
            ToClient::PowerupStatus(powers) => self.powers = Some(powers),
            ToClient::WeaponOffer(offer) => self.weapons = Some(offer),
            ToClient::WeaponConfirm(confirm) => self.armed = Some(confirm),
            ToClient::Error(error) => self.errors.push(error),
            ToClient::Ping(_) => {}
            ToClient::Challenge(_) | ToClient::Session(_) => panic!("the client keeps these to itself"),
        }
    }

    pub fn count(&self, opcode: u8) -> usize {
        self.opcodes.iter().filter(|heard| **heard == opcode).count()
    }

    pub fn entity(&self, id: u32) -> Option<EntityPosition> {
        self.entities.iter().find(|(_, entity)| entity.id == id).map(|(_, entity)| *entity)
    }

    /// The ids of what is there of a kind.
    pub fn of_kind(&self, kind: u8) -> Vec<u32> {
        self.entities.iter().filter(|(_, entity)| entity.kind == kind).map(|(_, entity)| entity.id).collect()
    }

    fn nearest_height(&self, kind: u8) -> Option<f32> {
        let of_kind = self.entities.iter().map(|(_, entity)| entity).filter(|entity| entity.kind == kind);
        of_kind.min_by(|a, b| a.x.total_cmp(&b.x)).map(|entity| entity.y)
    }
}

/// A classic player.
pub struct Classic {
    pub client: ClassicClient,
    pub seen: Seen,
    /// What is held.
    pub input: PlayerInput,
}

impl Classic {
    pub fn say(&self, message: ToServer) {
        self.client.say(message).unwrap();
    }

    pub fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    pub fn disconnect(&mut self) {
        self.client.disconnect();
    }

    fn frame(&mut self) {
        while let Some(datagram) = self.client.try_pop_message() {
            self.seen.take(&datagram);
        }
        if self.seen.start.is_some() {
            // An error of a socket whose other end is gone is what some of the tests are about.
            let _sent = self.client.say(ToServer::Input(self.input));
        }
        std::thread::sleep(Duration::from_millis(14));
    }

    /// Plays on until something is so.
    pub fn until(&mut self, what: &str, is_so: impl Fn(&Seen) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so(&self.seen) {
            let lobby = self.seen.lobby;
            assert!(Instant::now() < until, "it never came to this: {what}; the lobby: {lobby:?}");
            self.frame();
        }
    }

    /// Plays on, fires at what is nearest and collects capsules, until something is so.
    pub fn hunt(&mut self, own: u32, what: &str, is_so: impl Fn(&Seen) -> bool) {
        use netloom_rtype::classic::broadcast::kind;
        let until = Instant::now() + PATIENCE;
        while !is_so(&self.seen) {
            assert!(Instant::now() < until, "it never came to this: {what}");
            let capsule = self.seen.nearest_height(kind::CAPSULE);
            let aim = capsule.or(self.seen.nearest_height(kind::ENEMY));
            let mut input = PlayerInput::SHOOT;
            if let (Some(own), Some(aim)) = (self.seen.entity(own), aim) {
                if own.y > aim + 8.0 {
                    input = input.with(PlayerInput::UP);
                } else if own.y < aim - 8.0 {
                    input = input.with(PlayerInput::DOWN);
                }
                let capsule = self.seen.capsule.filter(|_| capsule.is_some());
                if capsule.is_some_and(|capsule| capsule.x > own.x) {
                    input = input.with(PlayerInput::RIGHT);
                }
            }
            self.input = input;
            self.frame();
        }
    }
}

/// A player of Netloom.
pub struct Native {
    client: Client<Act>,
    /// What is held.
    pub buttons: u8,
}

impl Native {
    pub fn id(&self) -> u16 {
        self.client.player().unwrap().0 as u16
    }

    pub fn ready(&mut self) {
        self.client.lobby(LobbyCommand::Ready(true)).unwrap();
    }

    pub fn lobby_players(&self) -> usize {
        self.client.lobby_state().map_or(0, |lobby| lobby.players().count())
    }

    pub fn ships(&self) -> usize {
        self.client.all::<Ship>().count()
    }

    pub fn ship(&self, pilot: u16) -> Option<Ship> {
        self.client.all::<Ship>().map(|(_, ship)| ship).find(|ship| ship.pilot == pilot)
    }

    /// Plays on until something is so.
    pub fn until(&mut self, what: &str, is_so: impl Fn(&Native) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < until, "it never came to this: {what}");
            self.frame();
            self.client.wait(Micros::from_millis(5)).unwrap();
        }
    }

    fn frame(&mut self) {
        self.client.tick().unwrap();
        while self.client.poll_event().is_some() {}
        while let Some(step) = self.client.poll_step() {
            self.client.push_input(step, Act { buttons: self.buttons }).unwrap();
        }
        self.client.send().unwrap();
    }
}

/// Both play on until something is so.
pub fn together(
    native: &mut Native,
    classic: &mut Classic,
    what: &str,
    is_so: impl Fn(&Native, &Seen) -> bool,
) {
    let until = Instant::now() + PATIENCE;
    while !is_so(native, &classic.seen) {
        assert!(Instant::now() < until, "it never came to this: {what}");
        native.frame();
        classic.frame();
    }
}

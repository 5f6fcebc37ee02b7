//! What anybody sends to the port of the classic protocol: strangers, players, and those who write others' addresses into their datagrams.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use netloom_rtype::classic::DeskConfig;
use netloom_rtype::classic::codec::{
    Choice, Cookie, DATAGRAM_BYTES_MAX, ErrorCode, FromServer, GameStart, Join, LobbyPhase, LobbyStatus,
    PlayerInput, PowerType, PowerupStatus, Request, ToClient, ToServer, Token, opcode,
};
use netloom_rtype::classic::desk::ClientId;
use netloom_rtype::classic::gateway::Gateway;
use netloom_rtype::classic::pilot::Pilot;
use netloom_rtype::classic::scene::Scene;
use netloom_wire::Micros;
use netloom_wire::classic::EntityPosition;

use crate::input::Input;

/// Operations per input.
const OPERATIONS_MAX: usize = 400;
const ADDRESSES: usize = 4;
const CLIENTS_MAX: usize = 3;
/// Pilots are hired for all but every fifth.
const UNLUCKY: u32 = 5;

/// Takes in datagrams, well-formed and not, between frames; reads one datagram of either side.
pub fn classic_datagram(data: &[u8]) {
    check_canonical(data);
    run(data);
}

fn run(data: &[u8]) -> Rig {
    let mut input = Input::new(data);
    let mut rig = Rig::new(input.choice(2) == 1);
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        let (operation, whom) = (input.choice(8), input.choice(ADDRESSES));
        match operation {
            0 => rig.frame(Micros(u64::from(input.u16()) * 100)),
            1 => {
                let length = usize::from(input.u8());
                rig.send(whom, input.bytes(length));
            }
            2 => rig.join(whom, input.choice(2) == 1),
            _ => {
                let message = message(&mut input);
                let token = input.pick([rig.peers[whom].token, rig.peers[0].token, None, Some(0)]);
                rig.say(whom, message, token);
            }
        }
        rig.deliver();
    }
    rig
}

/// What reads, writes the same bytes.
fn check_canonical(datagram: &[u8]) {
    let mut out = [0; DATAGRAM_BYTES_MAX];
    if let Ok(request) = Request::decode(datagram) {
        let length = request.encode(&mut out).expect("what was read fits");
        assert_eq!(&out[..length], datagram);
    }
    match FromServer::decode(datagram) {
        Ok(FromServer::Message(message)) => {
            let length = message.encode(&mut out).expect("what was read fits");
            assert_eq!(&out[..length], datagram);
        }
        Ok(FromServer::Entities(entities)) => {
            let all: Vec<EntityPosition> = entities.iter().collect();
            let length = netloom_wire::classic::encode_entity_positions(&all, &mut out).expect("it fits");
            assert_eq!(&out[..length], datagram);
        }
        Err(_) => {}
    }
}

fn message(input: &mut Input<'_>) -> ToServer {
    let choice = Choice { offer: u16::from(input.u8() % 4), choice: input.u8() };
    match input.choice(6) {
        0 => ToServer::Ready,
        1 => ToServer::Leave,
        2 => ToServer::ChoosePower(choice),
        3 => ToServer::ChooseWeapon(choice),
        4 => ToServer::Ping(Some(input.u32())),
        _ => ToServer::Input(PlayerInput::decode(&[choice.choice & 0x1f]).expect("no reserved bit")),
    }
}

/// A pilot whose game has everything at once.
struct Fake {
    scene: Scene,
    is_leaving: bool,
}

impl Fake {
    fn new(client: ClientId) -> Fake {
        let entity = |id| EntityPosition { id, kind: id as u8 % 8, ..EntityPosition::default() };
        let choices = [PowerType::Thrusters, PowerType::Shield, PowerType::None];
        let scene = Scene {
            lobby: Some(LobbyStatus {
                players: 1,
                ready: 0,
                capacity: 4,
                minimum: 1,
                phase: LobbyPhase::Waiting,
                your_id: client.0,
                your_ready: false,
            }),
            powers: Some(PowerupStatus { offer: 1, choices, taken: PowerType::None, level: 0 }),
            entities: (0..60).map(entity).collect(),
            ..Scene::default()
        };
        Fake { scene, is_leaving: false }
    }
}

impl Pilot for Fake {
    fn advance(&mut self, _now: Micros) -> Result<(), ErrorCode> {
        if self.is_leaving { Err(ErrorCode::Ended) } else { Ok(()) }
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn hold(&mut self, _now: Micros, input: PlayerInput) {
        assert_eq!(input.bits() & 0xe0, 0);
    }

    fn ready(&mut self) {
        self.scene.start = Some(GameStart { your_id: 1 });
        self.scene.lobby = self.scene.lobby.map(|lobby| LobbyStatus { phase: LobbyPhase::Playing, ..lobby });
    }

    fn choose_power(&mut self, choice: Choice) -> bool {
        choice.offer == 1
    }

    fn choose_weapon(&mut self, _choice: Choice) -> bool {
        false
    }

    fn poll_refused(&mut self) -> Option<u8> {
        None
    }

    fn leave(&mut self) {
        self.is_leaving = true;
    }
}

fn hire(client: ClientId) -> Option<Fake> {
    (!client.0.is_multiple_of(UNLUCKY)).then(|| Fake::new(client))
}

/// What somebody at an address was told, and what was said in its name.
#[derive(Default)]
struct Peer {
    cookies: BTreeSet<Cookie>,
    token: Option<Token>,
    /// Returned a cookie of its own, or is vouched for by loopback.
    is_proven: bool,
    /// Bytes of the datagram that is being answered.
    asked_bytes: usize,
    /// What it was told, by opcode.
    heard: BTreeSet<u8>,
}

struct Rig {
    gateway: Gateway<Fake, fn(ClientId) -> Option<Fake>>,
    peers: [Peer; ADDRESSES],
    trusts_loopback: bool,
    now: Micros,
    frames: u64,
}

/// One of them is a loopback address.
fn address(whom: usize) -> SocketAddr {
    let ip = if whom == 1 { [127, 0, 0, 1] } else { [192, 0, 2, whom as u8] };
    SocketAddr::from((ip, 4_000 + whom as u16))
}

impl Rig {
    fn new(trusts_loopback: bool) -> Rig {
        let config = DeskConfig { clients_max: CLIENTS_MAX, trusts_loopback, ..DeskConfig::default() };
        let gateway = Gateway::new(Micros::ZERO, config, &[9; 32], hire as fn(ClientId) -> Option<Fake>);
        Rig {
            gateway: gateway.expect("settings within their ranges"),
            peers: Default::default(),
            trusts_loopback,
            now: Micros::ZERO,
            frames: 0,
        }
    }

    fn frame(&mut self, elapsed: Micros) {
        self.now += elapsed;
        self.gateway.handle_frame(self.now, self.frames);
        self.frames += 1;
    }

    fn join(&mut self, whom: usize, is_bare: bool) {
        let cookie = self.peers[whom].cookies.last().copied();
        let join = Join::with(cookie.unwrap_or_default());
        self.say(whom, ToServer::Join((!is_bare).then_some(join)), None);
    }

    fn say(&mut self, whom: usize, message: ToServer, token: Option<Token>) {
        let mut out = [0; ToServer::BYTES_MAX];
        let length = message.signed(token).encode(&mut out).expect("it fits");
        self.send(whom, &out[..length]);
    }

    fn send(&mut self, whom: usize, datagram: &[u8]) {
        let peer = &mut self.peers[whom];
        peer.asked_bytes = datagram.len();
        if let Ok(Request { message: ToServer::Join(join), .. }) = Request::decode(datagram) {
            let is_vouched_for = join.is_none() && self.trusts_loopback && address(whom).ip().is_loopback();
            peer.is_proven |= is_vouched_for || join.is_some_and(|join| peer.cookies.contains(&join.cookie));
        }
        self.gateway.handle_datagram(self.now, address(whom), datagram);
    }

    /// Hands out what is sent, and checks that strangers get nothing but what they may.
    fn deliver(&mut self) {
        let mut out = [0; DATAGRAM_BYTES_MAX];
        while let Some((to, length)) = self.gateway.poll_transmit(&mut out) {
            let whom = (0..ADDRESSES).find(|whom| address(*whom) == to).expect("somebody who said something");
            let peer = &mut self.peers[whom];
            let message = FromServer::decode(&out[..length]).expect("the server says what can be read");
            peer.heard.insert(out[0]);
            assert!(peer.is_proven || out[0] == opcode::CHALLENGE, "{message:?} to a stranger");
            match message {
                FromServer::Message(ToClient::Challenge(cookie)) => {
                    assert!(length <= peer.asked_bytes, "more than was asked with");
                    peer.asked_bytes = 0;
                    peer.cookies.extend(cookie);
                }
                FromServer::Message(ToClient::Session(token)) => peer.token = Some(token),
                _ => {}
            }
        }
        assert!(self.gateway.client_count() <= CLIENTS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_of_a_game_joins_is_ready_and_plays() {
        let seed = crate::seeds::all()
            .into_iter()
            .find(|seed| (seed.target, seed.name) == ("classic_datagram", "a_game"));
        let rig = run(&seed.expect("there is such a seed").bytes);
        let counters = rig.gateway.counters();
        assert_eq!((counters.joined, counters.unsigned, counters.malformed), (1, 0, 0));
        let expected = [opcode::LOBBY_STATUS, opcode::GAME_START, opcode::CHALLENGE, opcode::SESSION];
        let expected =
            [&expected[..], &[opcode::ENTITY_POSITIONS, opcode::POWERUP_STATUS, opcode::PING]].concat();
        assert_eq!(rig.peers[0].heard, expected.into_iter().collect());
    }
}

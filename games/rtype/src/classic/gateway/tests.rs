use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::classic::broadcast::kind;
use crate::classic::codec::{
    Choice, DATAGRAM_BYTES_MAX, FromServer, GameStart, Join, LobbyPhase, LobbyStatus, PlayerInput, PowerType,
    PowerupStatus, ToServer, Token,
};
use crate::classic::scene::Scene;

/// A lobby of fakes, which begins when two are ready.
#[derive(Default)]
struct Hall {
    ready: Vec<bool>,
}

/// A pilot without a cockpit.
struct Fake {
    number: usize,
    hall: Rc<RefCell<Hall>>,
    scene: Scene,
    held: u8,
    ends: Option<ErrorCode>,
}

impl Pilot for Fake {
    fn advance(&mut self, _now: Micros) -> Result<(), ErrorCode> {
        let hall = self.hall.borrow();
        let (players, ready) = (hall.ready.len(), hall.ready.iter().filter(|ready| **ready).count());
        let is_playing = players >= 2 && ready == players;
        let your_id = self.number as u32 + 1;
        self.scene.lobby = Some(LobbyStatus {
            players: players as u8,
            ready: ready as u8,
            capacity: 4,
            minimum: 2,
            phase: if is_playing { LobbyPhase::Playing } else { LobbyPhase::Waiting },
            your_id,
            your_ready: hall.ready[self.number],
        });
        self.scene.start = is_playing.then_some(GameStart { your_id });
        let at = |id: u32| EntityPosition { id, kind: kind::PLAYER, ..EntityPosition::default() };
        self.scene.entities = (1..=players as u32).map(at).collect();
        self.ends.map_or(Ok(()), Err)
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn hold(&mut self, _now: Micros, input: PlayerInput) {
        self.held = input.bits();
    }

    fn ready(&mut self) {
        self.hall.borrow_mut().ready[self.number] = true;
    }

    fn choose_power(&mut self, choice: Choice) -> bool {
        let is_open = self.scene.powers.is_some_and(|powers| powers.offer == choice.offer);
        if is_open {
            let (offer, choices) = (0, [PowerType::None; 3]);
            self.scene.powers = Some(PowerupStatus { offer, choices, taken: PowerType::Shield, level: 1 });
        }
        is_open
    }

    fn choose_weapon(&mut self, _choice: Choice) -> bool {
        false
    }

    fn poll_refused(&mut self) -> Option<u8> {
        None
    }

    fn leave(&mut self) {
        self.ends = Some(ErrorCode::Ended);
    }
}

/// A gateway, its clients' clock, and what each client heard.
struct Rig<H> {
    gateway: Gateway<Fake, H>,
    now: Micros,
    frame: u64,
}

fn rig() -> Rig<impl FnMut(ClientId) -> Option<Fake>> {
    let hall = Rc::new(RefCell::new(Hall::default()));
    let hire = move |_| {
        let number = hall.borrow().ready.len();
        hall.borrow_mut().ready.push(false);
        let (hall, scene) = (Rc::clone(&hall), Scene::default());
        (number < 4).then_some(Fake { number, hall, scene, held: 0, ends: None })
    };
    let gateway = Gateway::new(Micros::ZERO, DeskConfig::default(), &[7; 32], hire).unwrap();
    Rig { gateway, now: Micros::ZERO, frame: 0 }
}

impl<H: FnMut(ClientId) -> Option<Fake>> Rig<H> {
    fn say(&mut self, from: SocketAddr, message: ToServer, token: Option<Token>) {
        let mut out = [0; 64];
        let length = message.signed(token).encode(&mut out).unwrap();
        self.gateway.handle_datagram(self.now, from, &out[..length]);
    }

    /// A frame; everything that is said in it.
    fn frame(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        self.now += Micros(16_667);
        self.gateway.handle_frame(self.now, self.frame);
        self.frame += 1;
        self.heard()
    }

    fn heard(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut out = [0; DATAGRAM_BYTES_MAX];
        let mut next =
            || self.gateway.poll_transmit(&mut out).map(|(to, length)| (to, out[..length].to_vec()));
        std::iter::from_fn(&mut next).collect()
    }

    fn join(&mut self, from: SocketAddr) -> Token {
        self.say(from, ToServer::Join(Some(Join::FIRST)), None);
        let Ok(FromServer::Message(ToClient::Challenge(Some(cookie)))) =
            FromServer::decode(&self.heard()[0].1)
        else {
            panic!("no challenge")
        };
        self.say(from, ToServer::Join(Some(Join::with(cookie))), None);
        match FromServer::decode(&self.heard()[0].1) {
            Ok(FromServer::Message(ToClient::Session(token))) => token,
            other => panic!("{other:?}"),
        }
    }
}

fn addresses() -> [SocketAddr; 2] {
    ["192.0.2.1:1", "192.0.2.2:2"].map(|text| text.parse().unwrap())
}

fn opcodes(heard: &[(SocketAddr, Vec<u8>)], to: SocketAddr) -> Vec<u8> {
    heard.iter().filter(|(whom, _)| *whom == to).map(|(_, bytes)| bytes[0]).collect()
}

#[test]
fn joining_is_answered_by_the_lobby_and_asking_again_by_the_lobby_again() {
    let (mut rig, [one, _]) = (rig(), addresses());
    rig.join(one);
    assert_eq!(opcodes(&rig.frame(), one), [opcode::LOBBY_STATUS]);
    assert!(opcodes(&rig.frame(), one).is_empty());
    rig.join(one);
    assert_eq!(opcodes(&rig.frame(), one), [opcode::LOBBY_STATUS]);
    assert_eq!(rig.gateway.client_count(), 1);
}

#[test]
fn two_join_both_are_ready_and_both_are_in_the_game() {
    let (mut rig, [one, two]) = (rig(), addresses());
    let tokens = [rig.join(one), rig.join(two)];
    rig.frame();
    rig.say(one, ToServer::Ready, Some(tokens[0]));
    let heard = rig.frame();
    assert_eq!([opcodes(&heard, one), opcodes(&heard, two)], [[opcode::LOBBY_STATUS]; 2]);
    rig.say(two, ToServer::Ready, Some(tokens[1]));
    let heard = rig.frame();
    let expected = [opcode::LOBBY_STATUS, opcode::GAME_START, opcode::ENTITY_POSITIONS];
    assert_eq!([opcodes(&heard, one), opcodes(&heard, two)], [expected, expected]);
    let starts = heard.iter().filter(|(_, bytes)| bytes[0] == opcode::GAME_START);
    assert!(starts.map(|(to, bytes)| (*to, bytes[3])).eq([(one, 1), (two, 2)]), "each has an id of its own");
}

#[test]
fn a_lost_start_is_said_again_until_the_client_steers() {
    let (mut rig, [one, two]) = (rig(), addresses());
    let tokens = [rig.join(one), rig.join(two)];
    rig.frame();
    rig.say(one, ToServer::Ready, Some(tokens[0]));
    rig.say(two, ToServer::Ready, Some(tokens[1]));
    let starts = |rig: &mut Rig<_>, to| -> usize {
        (0..60)
            .map(|_| opcodes(&rig.frame(), to).iter().filter(|code| **code == opcode::GAME_START).count())
            .sum()
    };
    assert_eq!(starts(&mut rig, one), 4);
    rig.say(one, ToServer::Input(PlayerInput::UP), Some(tokens[0]));
    assert_eq!(starts(&mut rig, one), 0);
    assert_eq!(starts(&mut rig, two), 4, "the other has said nothing yet");
    assert_eq!(rig.gateway.players[0].pilot.held, 0x01);
}

#[test]
fn a_choice_of_nothing_is_refused() {
    let (mut rig, [one, _]) = (rig(), addresses());
    let token = rig.join(one);
    rig.frame();
    rig.say(one, ToServer::ChoosePower(Choice { offer: 3, choice: 1 }), Some(token));
    rig.say(one, ToServer::ChooseWeapon(Choice { offer: 3, choice: 1 }), Some(token));
    let refused: Vec<Vec<u8>> = rig.heard().into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(refused, [[0xff, 2, 0, 3, 0x31], [0xff, 2, 0, 3, 0x41]]);
}

#[test]
fn the_silent_and_those_who_leave_give_up_their_pilots() {
    let (mut rig, [one, two]) = (rig(), addresses());
    rig.join(one);
    let token = rig.join(two);
    rig.frame();
    rig.say(two, ToServer::Leave, Some(token));
    assert_eq!((rig.gateway.client_count(), rig.gateway.players.len()), (1, 1));
    let mut last = Vec::new();
    while rig.now <= Micros::from_secs(5) {
        last = rig.frame();
    }
    last.extend(rig.frame());
    assert!(opcodes(&last, one).contains(&opcode::ERROR));
    assert!(rig.gateway.is_empty());
}

#[test]
fn everybody_is_told_when_it_stops() {
    let (mut rig, [one, two]) = (rig(), addresses());
    rig.join(one);
    rig.join(two);
    rig.frame();
    rig.gateway.stop();
    let ended = vec![0xff, 2, 0, 6, 0];
    assert_eq!(rig.heard(), [(one, ended.clone()), (two, ended)]);
    assert!(!rig.gateway.is_empty(), "the server is told, too");
    rig.frame();
    assert!(rig.gateway.is_empty());
}

#[test]
fn whoever_gets_no_pilot_is_told_that_it_is_full() {
    let mut rig = rig();
    for number in 1..=4_u16 {
        rig.join(SocketAddr::from(([192, 0, 2, 1], number)));
    }
    let late = SocketAddr::from(([192, 0, 2, 2], 5));
    rig.say(late, ToServer::Join(Some(Join::FIRST)), None);
    let Ok(FromServer::Message(ToClient::Challenge(Some(cookie)))) = FromServer::decode(&rig.heard()[0].1)
    else {
        panic!("no challenge")
    };
    rig.say(late, ToServer::Join(Some(Join::with(cookie))), None);
    let heard = rig.heard();
    assert_eq!(opcodes(&heard, late), [opcode::SESSION, opcode::ERROR]);
    assert_eq!(heard[1].1, [0xff, 2, 0, 5, 0]);
    assert_eq!(rig.gateway.client_count(), 4);
}

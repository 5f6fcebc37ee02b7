//! Shots are judged at what the shooter saw, in a room.

use std::collections::BTreeMap;

mod common;

use common::{Keys, SERVER};
use netloom_replica::server::RewindConfig;
use netloom_replica::server::rewind::{Filter, HitModel, HitPart, ModelId, PartId, PastView, Shape};
use netloom_replica::world::ObjectIndex;
use netloom_session::config::{ClientConfig, RoomConfig, ServerConfig};
use netloom_session::replicated::Replicated;
use netloom_session::{Client, Command, Game, GameError, PlayerId, Protocol, Rejected, Room, Server};
use netloom_wire::Micros;

/// Metres in a step: 6 m/s.
const STRIDE: f32 = 0.1;
const LATENCY: Micros = Micros::from_millis(50);

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(crate = netloom_session)]
struct Body {
    #[replicated(position)]
    at: [f32; 3],
}

/// A target walks along y, twenty metres in front of everybody; who presses a key shoots at where they saw it.
#[derive(Default)]
struct Range {
    target: Option<ObjectIndex>,
    model: Option<ModelId>,
    shooters: BTreeMap<PlayerId, ObjectIndex>,
    shots: Vec<(PlayerId, PastView, f32)>,
    hits: std::sync::Arc<std::sync::Mutex<(u32, u32, u32)>>,
}

fn target_at(step: u64) -> [f32; 3] {
    [20.0, step as f32 * STRIDE % 40.0 - 20.0, 0.0]
}

impl Game for Range {
    type Input = Keys;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        let target = room.spawn(&Body { at: target_at(0) }, None)?;
        let body = Shape::capsule([0.0, 0.0, 0.3], [0.0, 0.0, 1.5], 0.3)?;
        let rewind = room.rewind().ok_or("the room keeps no past")?;
        let model = HitModel::new(&[HitPart { part: PartId(0), shape: body }])?.with_eye([0.0, 0.0, 1.0])?;
        let model = rewind.add_model(model)?;
        rewind.track(target, model, 1)?;
        (self.target, self.model) = (Some(target), Some(model));
        Ok(())
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        let body = room.spawn(&Body::default(), Some(player)).unwrap();
        room.rewind().unwrap().track(body, self.model.unwrap(), 2).unwrap();
        self.shooters.insert(player, body);
    }

    fn input(&mut self, _: &mut Room, player: PlayerId, command: &Command<Keys>) -> Result<(), Rejected> {
        if let (1, Some(view)) = (command.input.x, command.view) {
            // Where they aim: a twentieth of a metre in each step of y.
            self.shots.push((player, view, f32::from(command.input.y) / 6.0));
        }
        Ok(())
    }

    fn step(&mut self, room: &mut Room) {
        let at = target_at(room.steps());
        room.write(self.target.unwrap(), &Body { at }).unwrap();
    }

    fn judge(&mut self, room: &mut Room) {
        let mut hits = self.hits.lock().unwrap();
        for (player, view, y) in self.shots.drain(..) {
            let shooter = self.shooters[&player];
            let rewind = room.rewind().unwrap();
            let toward = Filter { groups: 1, ..Filter::default() };
            let seen = rewind.ray(view, shooter, [20.0, y.into(), 0.0], 100.0, &toward).unwrap();
            let present = rewind.present().unwrap();
            let now = rewind.ray(present, shooter, [20.0, y.into(), 0.0], 100.0, &toward).unwrap();
            hits.0 += 1;
            hits.1 += u32::from(seen.is_some());
            hits.2 += u32::from(now.is_some());
        }
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}

#[test]
fn who_aims_at_what_is_shown_hits_although_it_has_moved_on() {
    let protocol = Protocol::builder("range").object::<Body>().build().unwrap();
    let game = Range::default();
    let hits = game.hits.clone();
    let room = RoomConfig { rewind: Some(RewindConfig::default()), ..RoomConfig::new("range") };
    let mut server = Server::new(ServerConfig::default(), protocol.clone(), [1; 32]).unwrap();
    server.add_room(Micros::ZERO, room, game).unwrap();
    let mut client = Client::<Keys>::new(ClientConfig::default(), protocol, [2; 32]).unwrap();
    let [there, here]: [std::net::SocketAddr; 2] =
        [SERVER, "10.0.0.2:4000"].map(|text| text.parse().unwrap());
    client.connect(Micros::ZERO, there).unwrap();

    let (mut up, mut down) = (Vec::<(Micros, Vec<u8>)>::new(), Vec::<(Micros, Vec<u8>)>::new());
    let mut out = [0; 1_200];
    for frame in 0..1_500u64 {
        let now = Micros(frame * 8_000);
        for (_, mut bytes) in up.extract_if(.., |(due, _)| *due <= now) {
            server.handle_datagram(now, here, &mut bytes);
        }
        server.tick(now);
        while let Some(transmit) = server.poll_transmit(now, &mut out) {
            down.push((now + LATENCY, out[..transmit.length].to_vec()));
        }
        for (_, mut bytes) in down.extract_if(.., |(due, _)| *due <= now) {
            client.handle_datagram(now, there, &mut bytes);
        }
        client.tick(now);
        while client.poll_event().is_some() {}
        // The target is not this player's own.
        let shown = client.view().and_then(|view| {
            view.iter().map(|(_, shown)| shown.pose.position).find(|position| position[0] > 10.0)
        });
        while let Some(step) = client.poll_step() {
            // Once it is settled, and not where the target jumps back.
            let aim = shown.filter(|shown| frame > 500 && shown[1].abs() < 15.0);
            let keys = aim.map_or(Keys::default(), |shown| Keys { x: 1, y: (shown[1] * 6.0).round() as i8 });
            client.push_input(step, keys).unwrap();
        }
        while let Some(transmit) = client.poll_transmit(now, &mut out) {
            up.push((now + LATENCY, out[..transmit.length].to_vec()));
        }
    }
    let (shots, seen, present) = *hits.lock().unwrap();
    assert!(shots > 200, "{shots} shots");
    assert!(seen * 100 > shots * 95, "{seen} of {shots} hit what was shown");
    assert!(present * 100 < shots * 10, "{present} of {shots} would have hit without: it walks on by 1.5 m");
}

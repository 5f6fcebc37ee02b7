//! R-TYPE, as this command serves and plays it. The game itself is a crate of its own.

use std::path::Path;

use netloom::prelude::*;
use netloom_rtype::game::{Rtype, Setup};
use netloom_rtype::prediction::Fly;
use netloom_rtype::protocol::{self, Act, Capsule, Debris, Enemy, Ship, Shot, buttons};
use netloom_rtype::rules::{HEIGHT, Levels, SEATS, STEPS_PER_SECOND, WIDTH};

use super::{Dot, DotKind, Limits, Playable, Steering};
use crate::config::Config;

impl Playable for Rtype {
    const NAME: &'static str = protocol::NAME;
    const ABOUT: &'static str = "a co-op shooter for one to four";
    const LIMITS: Limits =
        Limits { players: SEATS, players_max: SEATS, steps_per_second: Some(STEPS_PER_SECOND) };
    const PROFILE: Profile = Profile::Lobby4;
    type Act = Act;
    type Move = Fly;

    fn protocol() -> Protocol {
        protocol::protocol()
    }

    fn open(config: &Config) -> Result<Rtype, String> {
        let set = &config.rtype;
        let levels = match &*set.levels {
            "" => Levels::embedded(),
            folder => Levels::read_folder(Path::new(folder)).map_err(|error| error.to_string())?,
        };
        let setup =
            Setup { level: set.level as u8, bots: set.bots as u8, players_min: set.min_players as usize };
        Rtype::new(levels, setup).map_err(|error| error.to_string())
    }

    fn furnish(&self, room: &mut RoomConfig) {
        self.furnish(room);
    }

    fn act(steering: Steering) -> Act {
        let pressed = [
            (buttons::RIGHT, steering.right > 0),
            (buttons::LEFT, steering.right < 0),
            (buttons::UP, steering.up > 0),
            (buttons::DOWN, steering.up < 0),
            (buttons::SHOOT, steering.acts),
            (buttons::BEAM, steering.acts_otherwise),
        ];
        Act { buttons: pressed.iter().filter(|(_, is_down)| *is_down).map(|(button, _)| button).sum() }
    }

    fn place(ship: &Ship) -> [f32; 2] {
        on_map(ship.at)
    }

    fn dots(client: &Client<Act>) -> Vec<Dot> {
        let thing = |at: [f32; 2]| Dot { at: on_map(at), kind: DotKind::Thing };
        let things = (client.all::<Enemy>().map(|(_, enemy)| enemy.at))
            .chain(client.all::<Shot>().map(|(_, shot)| shot.at))
            .chain(client.all::<Capsule>().map(|(_, capsule)| capsule.at))
            .chain(client.all::<Debris>().map(|(_, debris)| debris.at));
        let ships = client.all::<Ship>().filter(|(_, ship)| ship.down == 0).map(|(_, ship)| {
            let is_own = client.player().is_some_and(|player| player.0 as u16 == ship.pilot);
            Dot { at: on_map(ship.at), kind: if is_own { DotKind::Own } else { DotKind::Player } }
        });
        things.map(thing).chain(ships).collect()
    }

    fn extent() -> f32 {
        WIDTH as f32 / protocol::UNITS_PER_METRE / 2.0
    }
}

/// The map has its middle at the origin and y upwards.
fn on_map([x, y]: [f32; 2]) -> [f32; 2] {
    let middle = |units: i32| units as f32 / protocol::UNITS_PER_METRE / 2.0;
    [x - middle(WIDTH), middle(HEIGHT) - y]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_is_buttons_and_the_map_has_its_middle_at_the_origin() {
        assert_eq!(Rtype::act(Steering::default()), Act::default());
        let all = Steering { right: -1, up: 1, acts: true, acts_otherwise: true };
        let pressed = buttons::LEFT | buttons::UP | buttons::SHOOT | buttons::BEAM;
        assert_eq!(Rtype::act(all), Act { buttons: pressed });
        assert_eq!(on_map([8.0, 4.5]), [0.0, 0.0]);
        assert_eq!(on_map([16.0, 0.0]), [8.0, 4.5]);
    }
}

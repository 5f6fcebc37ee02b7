//! A match that bots play in virtual time: server and clients as they are, without sockets and without a clock.
//!
//! ```text
//!   every 1/120 s:  what was sent a frame ago arrives ─▶ server ticks ─▶ what it committed is looked at ─▶ clients act and send
//! ```
//!
//! Everything that is random comes from the seed, so that a match is the same every time.

use std::net::SocketAddr;

use netloom::prelude::*;
use netloom::session;
use netloom::session::random::Random;

use crate::bots::{Behaviour, Will};
use crate::config::Config;
use crate::games::{Playable, get_ready};

/// A frame; what is sent in one arrives in the next.
const FRAME: Micros = Micros(1_000_000 / 120);
/// More than any datagram.
const DATAGRAM_BYTES_MAX: usize = 1_500;
/// A match that has not begun after so many seconds never will.
const START_SECONDS_MAX: u64 = 30;

/// What is played.
#[derive(Clone, Copy, Debug)]
pub struct Bout<'a> {
    /// How the game and its room are set.
    pub config: &'a Config,
    pub seed: u64,
    /// How long it goes on after everybody has come.
    pub seconds: u64,
    /// How many bots play; as many as there are places if none is said.
    pub players: Option<u64>,
}

/// Looks at the room after everything that it committed; ends the match with an error.
pub type See<'a> = dyn FnMut(&Room) -> Result<(), String> + 'a;

/// A client and its will.
struct Player<P: Playable> {
    client: session::Client<P::Act>,
    address: SocketAddr,
    will: Will,
    was_asked: bool,
}

/// A datagram on its way.
struct Flying {
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// Server, clients, and what is between them.
struct Hall<P: Playable> {
    server: session::Server,
    server_at: SocketAddr,
    room: RoomId,
    players: Vec<Player<P>>,
    flying: Vec<Flying>,
    now: Micros,
}

/// Plays, and shows the room after everything that it committed once everybody was there.
pub fn play<P: Playable>(bout: &Bout<'_>, see: &mut See<'_>) -> Result<(), String> {
    let mut hall = Hall::<P>::new(bout)?;
    hall.gather()?;
    hall.run(bout.seconds, see)
}

impl<P: Playable> Hall<P> {
    fn new(bout: &Bout<'_>) -> Result<Hall<P>, String> {
        let config = bout.config;
        let mut random = Random::new(bout.seed);
        let game = P::open(config)?;
        let room = RoomConfig { seed: random.bits(), ..config.room_config(0, |room| game.furnish(room)) };
        let places = room.players_max as u64;
        let count = bout.players.unwrap_or(places);
        if count > places {
            return Err(format!("{count} players are too many: a room of {} has {places} places", P::NAME));
        }
        let protocol = config.protocol(P::protocol())?;
        let server = session::Server::new(config.server_config(), protocol.clone(), secret(&mut random));
        let mut server = server.map_err(|error| error.to_string())?;
        let room = server.add_room(Micros::ZERO, room, game).map_err(|error| error.to_string())?;
        let server_at = SocketAddr::from(([10, 0, 0, 1], 7_777));
        let seat = |number| {
            let name = format!("bot-{number}");
            let client =
                session::Client::new(config.client_config(&name), protocol.clone(), secret(&mut random));
            let mut client = client.map_err(|error| error.to_string())?;
            client.connect(Micros::ZERO, server_at).map_err(|error| error.to_string())?;
            let address = SocketAddr::from(([10, 0, 1, 1], 4_000 + number as u16));
            let will = Will::new(Behaviour::Wander, random.bits());
            Ok(Player { client, address, will, was_asked: false })
        };
        let players = (0..count).map(seat).collect::<Result<_, String>>()?;
        Ok(Hall { server, server_at, room, players, flying: Vec::new(), now: Micros::ZERO })
    }

    /// Goes on until everybody sees something.
    fn gather(&mut self) -> Result<(), String> {
        let sees = |player: &Player<P>| player.client.objects().is_some_and(|seen| !seen.is_empty());
        while !self.players.iter().all(sees) {
            if self.now >= Micros::from_secs(START_SECONDS_MAX) {
                return Err(format!(
                    "{} did not begin within {START_SECONDS_MAX} s: do its settings let {} bots play?",
                    P::NAME,
                    self.players.len()
                ));
            }
            self.frame();
        }
        Ok(())
    }

    fn run(&mut self, seconds: u64, see: &mut See<'_>) -> Result<(), String> {
        let until = self.now + Micros::from_secs(seconds);
        let mut seen = None;
        while self.now < until {
            self.frame();
            let room = self.server.room(self.room).ok_or("the room ended before the match did")?;
            let newest = room.world().tick();
            if newest != seen {
                seen = newest;
                see(room)?;
            }
        }
        Ok(())
    }

    fn frame(&mut self) {
        self.now += FRAME;
        let now = self.now;
        for mut flying in std::mem::take(&mut self.flying) {
            match self.players.iter_mut().find(|player| player.address == flying.to) {
                Some(player) => player.client.handle_datagram(now, flying.from, &mut flying.bytes),
                None => self.server.handle_datagram(now, flying.from, &mut flying.bytes),
            }
        }
        let mut out = [0; DATAGRAM_BYTES_MAX];
        self.server.tick(now);
        while let Some(sent) = self.server.poll_transmit(now, &mut out) {
            let bytes = out[..sent.length].to_vec();
            self.flying.push(Flying { from: self.server_at, to: sent.to, bytes });
        }
        while self.server.poll_event().is_some() {}
        for player in &mut self.players {
            player.frame(now, &mut out, &mut self.flying);
        }
    }
}

impl<P: Playable> Player<P> {
    fn frame(&mut self, now: Micros, out: &mut [u8], flying: &mut Vec<Flying>) {
        self.client.tick(now);
        while self.client.poll_event().is_some() {}
        get_ready(&mut self.client, &mut self.was_asked);
        while let Some(step) = self.client.poll_step() {
            // Whoever has no seat yet has nothing to do.
            let _pushed = self.client.push_input(step, P::act(self.will.step()));
        }
        while let Some(sent) = self.client.poll_transmit(now, out) {
            flying.push(Flying { from: self.address, to: sent.to, bytes: out[..sent.length].to_vec() });
        }
    }
}

fn secret(random: &mut Random) -> [u8; 32] {
    std::array::from_fn(|_| random.below(256) as u8)
}

#[cfg(test)]
mod tests {
    use netloom_rtype::Rtype;

    use super::*;

    /// The words of everything in every tick.
    fn words(seed: u64) -> Vec<Vec<i32>> {
        let mut config = Config::default();
        config.rtype.bots = 2;
        let mut all = Vec::new();
        let bout = Bout { config: &config, seed, seconds: 3, players: Some(2) };
        play::<Rtype>(&bout, &mut |room| {
            all.push(room.world().iter().flat_map(|object| object.words().to_vec()).collect());
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn a_match_is_the_same_every_time_and_another_with_another_seed() {
        let first = words(7);
        assert!((88..=91).contains(&first.len()), "{} ticks in three seconds", first.len());
        assert!(first.iter().any(|words| words.len() > first[0].len()), "something is shot, or comes");
        assert_eq!(first, words(7));
        assert_ne!(first, words(8));
    }

    #[test]
    fn more_players_than_places_are_refused() {
        let bout = Bout { config: &Config::default(), seed: 1, seconds: 1, players: Some(5) };
        assert!(play::<Rtype>(&bout, &mut |_| Ok(())).unwrap_err().contains("4 places"));
    }
}

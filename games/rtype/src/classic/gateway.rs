//! Desk, pilots and broadcasters together: all of the classic protocol but the socket and the clock.
//!
//! ```text
//!   every datagram:  handle_datagram ─▶ desk ─▶ the client's pilot
//!   every frame:     pilots move on ─▶ their scenes ─▶ broadcasters ─▶ poll_transmit, until None
//! ```

use std::net::SocketAddr;

use netloom::wire::Micros;

use super::broadcast::{Broadcasters, Sink};
use super::codec::{EntityPosition, ErrorCode, ToClient, opcode};
use super::desk::{ClientId, Desk, DeskConfig, DeskCounters, DeskError, Said};
use super::pilot::Pilot;

/// Pilots on their way out that are still told to the server; the others it misses after a while.
const LEAVING_MAX: usize = 64;

/// A client with a place.
struct Player<P> {
    client: ClientId,
    pilot: P,
    broadcasters: Broadcasters,
}

/// See the [module](self). `H` makes a pilot for a client, or has none.
pub struct Gateway<P, H> {
    desk: Desk,
    players: Vec<Player<P>>,
    leaving: Vec<P>,
    hire: H,
}

/// One client's ear.
struct Ear<'a> {
    desk: &'a mut Desk,
    client: ClientId,
}

impl Sink for Ear<'_> {
    fn send(&mut self, message: ToClient) {
        self.desk.send_to_client(self.client, &message);
    }

    fn send_entities(&mut self, entities: &[EntityPosition]) {
        self.desk.send_entities(self.client, entities);
    }
}

impl<P: Pilot, H: FnMut(ClientId) -> Option<P>> Gateway<P, H> {
    /// A gateway without clients. The seed must be 32 bytes of secret randomness.
    pub fn new(now: Micros, config: DeskConfig, seed: &[u8; 32], hire: H) -> Result<Self, DeskError> {
        let desk = Desk::new(now, config, seed)?;
        Ok(Gateway { desk, players: Vec::new(), leaving: Vec::new(), hire })
    }

    /// Takes in a datagram.
    pub fn handle_datagram(&mut self, now: Micros, from: SocketAddr, datagram: &[u8]) {
        let Some((client, said)) = self.desk.handle_datagram(now, from, datagram) else { return };
        if said == Said::Joined {
            return match (self.hire)(client) {
                Some(pilot) => {
                    self.players.push(Player { client, pilot, broadcasters: Broadcasters::default() });
                }
                None => self.desk.end(client, ErrorCode::Full),
            };
        }
        let Some(place) = self.players.iter().position(|player| player.client == client) else { return };
        if said == Said::Left {
            return self.dismiss(place);
        }
        let Some(Player { pilot, broadcasters, .. }) = self.players.get_mut(place) else { return };
        let refused = match said {
            Said::Joined | Said::Left => None,
            Said::Asked => {
                broadcasters.handle_asked();
                None
            }
            Said::Ready => {
                pilot.ready();
                None
            }
            Said::Input(input) => {
                pilot.hold(now, input);
                broadcasters.handle_input();
                None
            }
            Said::ChoosePower(choice) => (!pilot.choose_power(choice)).then_some(opcode::POWERUP_CHOICE),
            Said::ChooseWeapon(choice) => {
                (!pilot.choose_weapon(choice)).then_some(opcode::WEAPON_UPGRADE_CHOICE)
            }
        };
        if let Some(opcode) = refused {
            self.desk.refuse_request(now, client, opcode);
        }
    }

    /// A frame: everybody moves on, and hears what there is to hear.
    pub fn handle_frame(&mut self, now: Micros, frame: u64) {
        while let Some(silent) = self.desk.poll_silent(now) {
            self.dismiss_client(silent);
        }
        for Player { client, pilot, broadcasters } in &mut self.players {
            if let Err(code) = pilot.advance(now) {
                self.desk.end(*client, code);
                continue;
            }
            while let Some(opcode) = pilot.poll_refused() {
                self.desk.refuse_request(now, *client, opcode);
            }
            broadcasters.broadcast(frame, pilot.scene(), &mut Ear { desk: &mut self.desk, client: *client });
        }
        let desk = &self.desk;
        self.players.retain(|player| desk.address_of(player.client).is_some());
        self.leaving.retain_mut(|pilot| pilot.advance(now).is_ok());
    }

    /// Tells everybody that it is over. Go on with frames until [`is_empty`](Gateway::is_empty).
    pub fn stop(&mut self) {
        self.desk.end_all(ErrorCode::Ended);
        while !self.players.is_empty() {
            self.dismiss(0);
        }
    }

    fn dismiss_client(&mut self, client: ClientId) {
        if let Some(place) = self.players.iter().position(|player| player.client == client) {
            self.dismiss(place);
        }
    }

    fn dismiss(&mut self, place: usize) {
        let mut pilot = self.players.remove(place).pilot;
        pilot.leave();
        if self.leaving.len() < LEAVING_MAX {
            self.leaving.push(pilot);
        }
    }

    /// Whether nobody is left, not even on the way out.
    pub fn is_empty(&self) -> bool {
        self.players.is_empty() && self.leaving.is_empty()
    }

    /// How many clients there are.
    pub fn client_count(&self) -> usize {
        self.desk.client_count()
    }

    /// What became of the datagrams.
    pub fn counters(&self) -> DeskCounters {
        self.desk.counters()
    }

    /// The next datagram to send, in `out`, which must hold [`DATAGRAM_BYTES_MAX`](super::codec::DATAGRAM_BYTES_MAX). Call until `None`.
    pub fn poll_transmit(&mut self, out: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.desk.poll_transmit(out)
    }
}

#[cfg(test)]
mod tests;

//! A server: rooms, and the connections of those who are in them.
//!
//! ```text
//!   datagrams ─▶ handle_datagram ─┐                      ┌─▶ poll_transmit ─▶ datagrams
//!   time      ─▶ tick ────────────┼─ desk ── halls ──────┼─▶ poll_event    ─▶ who hosts it
//!   commands  ─▶ kick, ban, … ────┘   who sits where      └─▶ poll_timeout  ─▶ when to call again
//! ```
//!
//! One [`Server::tick`] is: what arrived goes to the rooms, every room makes the steps that are due and tells of them,
//! and what games sent goes to the connections. Nothing here waits or reads a clock.

mod desk;
mod hall;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use netloom_proto::{
    ConfigError, DisconnectReason, Endpoint, Event, PeerId, Pulse, RejectReason, Rejections, State, Stats,
    Transmit,
};
use netloom_wire::Micros;

use crate::config::{RoomConfig, ServerConfig};
use crate::crew::Crew;
use crate::events::Subscriber;
use crate::game::{Game, PlayerId};
use crate::host::Hosted;
use crate::message::{MESSAGE_BYTES_MAX, Refusal};
use crate::packed::{PACKED_BYTES_MAX, SNAPSHOT_BYTES_MAX};
use crate::protocol::Protocol;
use crate::room::{Room, RoomError, RoomId, Telling};
use desk::Desk;
use hall::Hall;

pub use desk::DeskCounters;

/// Room for the longest message of any channel.
const BUFFER_BYTES: usize = (64 << 10) + 16;
const _: () = assert!(MESSAGE_BYTES_MAX <= BUFFER_BYTES);
const _: () =
    assert!(SNAPSHOT_BYTES_MAX + PACKED_BYTES_MAX <= BUFFER_BYTES, "a snapshot, and the same packed");

/// Something that whoever runs a server may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// Somebody has a seat.
    Joined {
        /// In which room.
        room: RoomId,
        /// Who.
        player: PlayerId,
        /// Under which name.
        name: String,
        /// Whether the seat is one that was left.
        is_resumed: bool,
    },
    /// Somebody's connection is lost; the seat is kept for a while.
    Away {
        /// In which room.
        room: RoomId,
        /// Who.
        player: PlayerId,
        /// How the connection ended.
        reason: DisconnectReason,
    },
    /// Somebody is gone for good.
    Left {
        /// From which room.
        room: RoomId,
        /// Who.
        player: PlayerId,
        /// How the connection ended.
        reason: DisconnectReason,
    },
    /// Somebody got no seat.
    Refused {
        /// From where.
        address: Option<SocketAddr>,
        /// Why.
        reason: Refusal,
        /// Why, in words.
        text: String,
    },
    /// A room ended.
    RoomEnded {
        /// Which.
        room: RoomId,
        /// Its name.
        name: String,
        /// Why.
        reason: String,
        /// Whether its game panicked.
        by_panic: bool,
    },
}

/// A server. See the [module](self).
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    desk: Desk,
    config: ServerConfig,
    protocol: Protocol,
    buffer: Box<[u8]>,
    crew: Option<Arc<dyn Crew>>,
    is_stopping: bool,
}

impl Server {
    /// A server of a game, without rooms. The seed must be 32 bytes of secret randomness.
    pub fn new(config: ServerConfig, protocol: Protocol, seed: [u8; 32]) -> Result<Server, ConfigError> {
        config.check()?;
        let endpoint = Endpoint::new(config.endpoint(&protocol), Some(config.listen), seed)?;
        Ok(Server {
            endpoint,
            desk: Desk::new(&config),
            config,
            protocol,
            buffer: vec![0; BUFFER_BYTES].into(),
            crew: None,
            is_stopping: false,
        })
    }

    /// What it was built from.
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// What the clients of the game know.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Threads that help with rooms of 64 players and more.
    pub fn set_crew(&mut self, crew: Arc<dyn Crew>) {
        self.crew = Some(crew);
    }

    /// Opens a room with a game in it.
    pub fn add_room<G: Game>(
        &mut self,
        now: Micros,
        config: RoomConfig,
        game: G,
    ) -> Result<RoomId, RoomError> {
        if self.desk.room_named(&config.name).is_some() {
            return Err(RoomError::NameTaken(config.name));
        }
        let id = self.desk.next_room();
        let room = Room::new(id, now, config, self.protocol.clone())?;
        self.desk.open(Hall::open(room, Box::new(Hosted::new(game)))?);
        Ok(id)
    }

    /// The rooms that are open.
    pub fn rooms(&self) -> impl Iterator<Item = &Room> {
        self.desk.halls().map(|hall| &hall.room)
    }

    /// One of them.
    pub fn room(&self, room: RoomId) -> Option<&Room> {
        self.rooms().find(|open| open.id() == room)
    }

    /// One of them, to change it from outside of its game.
    pub fn room_mut(&mut self, room: RoomId) -> Option<&mut Room> {
        self.desk.hall_mut(room).map(|hall| &mut hall.room)
    }

    /// Players and watchers in all rooms.
    pub fn player_count(&self) -> usize {
        self.rooms().map(Room::player_count).sum()
    }

    /// The connection of a player.
    pub fn peer_of(&self, player: PlayerId) -> Option<PeerId> {
        self.desk.peer_of(player)
    }

    /// What was measured of a player's connection.
    pub fn stats_of(&self, player: PlayerId) -> Option<Stats> {
        self.stats(self.peer_of(player)?)
    }

    /// What was measured of a connection.
    pub fn stats(&self, peer: PeerId) -> Option<Stats> {
        self.endpoint.stats(peer)
    }

    /// What of that matters for how much to send.
    pub fn pulse_of(&self, player: PlayerId) -> Option<Pulse> {
        self.endpoint.pulse(self.peer_of(player)?)
    }

    /// Where a player's packets go.
    pub fn address_of(&self, player: PlayerId) -> Option<SocketAddr> {
        self.address(self.peer_of(player)?)
    }

    /// Where the packets of a connection go.
    pub fn address(&self, peer: PeerId) -> Option<SocketAddr> {
        self.endpoint.address(peer)
    }

    /// Datagrams that were dropped, by reason.
    pub fn rejections(&self) -> &Rejections {
        self.endpoint.rejections()
    }

    /// How often somebody was told that there is no connection for it, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (RejectReason, u64)> {
        self.endpoint.refusals()
    }

    /// Messages that made no sense, and what else the desk counts.
    pub fn counters(&self) -> DeskCounters {
        self.desk.counters()
    }

    /// Takes in a datagram; it is opened in place.
    pub fn handle_datagram(&mut self, now: Micros, from: SocketAddr, datagram: &mut [u8]) {
        self.endpoint.handle_datagram(now, from, datagram);
    }

    /// Asks for the memory that taking in a datagram needs: see [`Endpoint::fetch_for`].
    pub fn fetch_for(&self, from: SocketAddr, datagram: &[u8]) {
        self.endpoint.fetch_for(from, datagram);
    }

    /// The stream of whoever was at this address is gone: for drivers of transports that have connections of their own.
    pub fn handle_broken(&mut self, now: Micros, from: SocketAddr) {
        self.endpoint.handle_broken(now, from);
    }

    /// A tick: to be called at least as often as rooms step.
    pub fn tick(&mut self, now: Micros) {
        self.endpoint.begin_tick(now);
        self.receive(now);
        self.desk.handle_time(now);
        let bytes_per_second_max = match self.config.bytes_per_second_total {
            0 => 0,
            total => (total / self.player_count().max(1) as u64).max(1),
        };
        let Server { endpoint, desk, buffer, crew, .. } = self;
        let mut telling = Telling { endpoint, buffer, bytes_per_second_max, crew: crew.as_deref() };
        desk.run(now, &mut telling);
        desk.flush(now, endpoint);
    }

    fn receive(&mut self, now: Micros) {
        let Server { endpoint, desk, .. } = self;
        while let Some((peer, event)) = endpoint.poll_event() {
            match event {
                Event::Message { channel, data } => desk.handle_message(now, peer, channel, data),
                Event::Outcome { tag, acked } => desk.handle_outcome(peer, tag, acked),
                Event::Connected { resumed_from, .. } => {
                    let address = endpoint.address(peer);
                    desk.handle_connected(now, peer, address, resumed_from);
                }
                Event::Disconnected { reason, .. } => desk.handle_disconnected(now, peer, reason),
            }
        }
    }

    /// The next datagram to send, in `out`, which must hold an mtu. Call until `None`.
    pub fn poll_transmit(&mut self, now: Micros, out: &mut [u8]) -> Option<Transmit> {
        self.endpoint.poll_transmit(now, out)
    }

    /// When to call [`tick`](Server::tick) again at the latest.
    pub fn poll_timeout(&self) -> Option<Micros> {
        let steps = self.desk.halls().map(|hall| hall.room.next_due()).min();
        [self.endpoint.poll_timeout(), steps].into_iter().flatten().min()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.desk.events().poll()
    }

    /// Another reader of events, who gets all of them from now on; `None` if there are very many.
    pub fn subscribe(&mut self) -> Option<Subscriber> {
        self.desk.events().subscribe()
    }

    /// The next event of another reader.
    pub fn poll_event_of(&mut self, subscriber: Subscriber) -> Option<ServerEvent> {
        self.desk.events().poll_of(subscriber)
    }

    /// Another reader has gone.
    pub fn unsubscribe(&mut self, subscriber: Subscriber) {
        self.desk.events().unsubscribe(subscriber);
    }

    /// Players who have a connection, and where their packets go.
    pub fn addresses(&self) -> impl Iterator<Item = (PlayerId, SocketAddr)> {
        let seated = self.desk.seated();
        seated.filter_map(|(player, peer)| Some((player, self.endpoint.address(peer)?)))
    }

    /// Whether snapshots to a player wait: on a stream, what is sent while older bytes wait is old on arrival, so the newest
    /// is sent once there is room.
    pub fn set_held(&mut self, player: PlayerId, is_held: bool) {
        self.desk.set_held(player, is_held);
    }

    /// The next address whose connection has ended, for transports that have connections of their own. One that a newer
    /// connection uses is not told.
    pub fn poll_closed(&mut self) -> Option<SocketAddr> {
        loop {
            let address = self.desk.poll_closed()?;
            if !self.endpoint.is_in_use(address) {
                return Some(address);
            }
        }
    }

    /// Removes a player, who is told why.
    pub fn kick(&mut self, now: Micros, player: PlayerId, reason: &str) -> bool {
        self.desk.kick(now, player, reason)
    }

    /// Removes whoever is at an address, and lets nobody from there in again.
    pub fn ban(&mut self, now: Micros, address: IpAddr) {
        self.desk.ban(now, address);
    }

    /// Lets people from an address in again.
    pub fn unban(&mut self, address: IpAddr) {
        self.desk.unban(address);
    }

    /// Ends a room; everybody in it is told why.
    pub fn end_room(&mut self, room: RoomId, reason: &str) {
        if let Some(hall) = self.desk.hall_mut(room) {
            hall.room.end(reason);
        }
    }

    /// Stops: everybody is told why and let go of. Go on until [`is_stopped`](Server::is_stopped).
    pub fn stop(&mut self, now: Micros, reason: &str) {
        self.is_stopping = true;
        self.desk.stop(now, reason);
    }

    /// Whether it was stopped, and everybody is gone.
    pub fn is_stopped(&self) -> bool {
        let is_here = |peer: PeerId| self.endpoint.state(peer) != State::Disconnected;
        self.is_stopping && !self.endpoint.peers().any(is_here)
    }
}

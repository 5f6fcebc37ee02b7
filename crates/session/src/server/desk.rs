//! The desk: who is at which connection, and where they sit.
//!
//! ```text
//!   connected ─▶ Greeting ──hello, admitted──▶ Seated ──lost──▶ away ──60 s──▶ left
//!                   │  refused                    │ kicked,        └─resumed─▶ Greeting
//!                   ▼                             ▼ room ended
//!                Leaving ◀────────────────────────┘   told why, then disconnected
//! ```

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use netloom_proto::{DisconnectReason, Endpoint, PeerId, SendError};
use netloom_wire::Micros;

use super::ServerEvent;
use super::hall::{Ended, Hall};
use crate::channel::{CONTROL, INPUT, UNRELIABLE};
use crate::config::ServerConfig;
use crate::discovery::is_code;
use crate::events::Events;
use crate::game::{Candidate, PlayerId, cut};
use crate::message::{Hello, NoticeKind, Refusal, ToClient, ToServer};
use crate::outbox::{Handed, Outbox};
use crate::room::{RoomId, Telling};

/// How long a farewell may take to arrive.
const FAREWELL: Micros = Micros::from_millis(500);
/// Over which time messages that make no sense are counted.
const NONSENSE_WINDOW: Micros = Micros::from_secs(10);
/// The delay of a view is within these, whatever the client says.
const VIEW_DELAY_MS_MAX: u16 = 500;

/// Addresses that wait to be polled: only drivers with streams do.
const CLOSED_MAX: usize = 4_096;

/// Events that wait for each reader; the oldest give way.
const EVENTS_MAX: usize = 4_096;

/// What the desk counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeskCounters {
    /// Messages that could not be understood, or came when they may not.
    pub nonsense: u64,
    /// Those who got no seat.
    pub refused: u64,
    /// The same by reason, in the order of [`Refusal::ALL`].
    pub refused_by_reason: [u64; Refusal::ALL.len()],
    /// Messages that were dropped: their connection had ended, or had no room for what may be lost.
    pub undelivered: u64,
}

/// What a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nothing was said yet.
    Greeting { until: Micros, seat: Option<Seated> },
    /// Somebody in a room.
    Seated(Seated),
    /// On the way out.
    Leaving { reason: DisconnectReason, until: Micros },
}

/// A seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seated {
    room: RoomId,
    player: PlayerId,
}

/// A connection.
#[derive(Clone, Copy, Debug)]
struct Link {
    peer: PeerId,
    address: Option<SocketAddr>,
    place: Place,
    /// Messages without sense since.
    nonsense: u32,
    nonsense_since: Micros,
}

/// Somebody whose connection is lost.
#[derive(Clone, Copy, Debug)]
struct Away {
    seated: Seated,
    peer: PeerId,
    reason: DisconnectReason,
    until: Micros,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Desk {
    halls: Vec<Hall>,
    rooms_opened: u32,
    /// By the index of the connection.
    links: Vec<Option<Link>>,
    away: Vec<Away>,
    /// No greeting is late before this.
    greetings_due: Micros,
    /// Whether a farewell may be on its way.
    is_someone_leaving: bool,
    players: u32,
    bans: BTreeSet<IpAddr>,
    outbox: Outbox,
    /// Addresses whose connection has ended.
    closed: Vec<SocketAddr>,
    events: Events<ServerEvent>,
    counters: DeskCounters,
    greeting_timeout: Micros,
    resume_window: Micros,
    nonsense_max: u32,
    /// Why nobody is let in any more.
    stopped: Option<String>,
}

impl Desk {
    pub fn new(config: &ServerConfig) -> Desk {
        Desk {
            halls: Vec::new(),
            rooms_opened: 0,
            links: Vec::new(),
            away: Vec::new(),
            greetings_due: Micros::MAX,
            is_someone_leaving: false,
            players: 0,
            bans: BTreeSet::new(),
            outbox: Outbox::default(),
            closed: Vec::new(),
            events: Events::new(EVENTS_MAX),
            counters: DeskCounters::default(),
            greeting_timeout: config.greeting_timeout,
            resume_window: config.listen.resume_window,
            nonsense_max: config.nonsense_max,
            stopped: None,
        }
    }

    pub fn next_room(&self) -> RoomId {
        RoomId(self.rooms_opened)
    }

    pub fn open(&mut self, hall: Hall) {
        self.rooms_opened += 1;
        self.halls.push(hall);
    }

    pub fn halls(&self) -> impl Iterator<Item = &Hall> {
        self.halls.iter()
    }

    pub fn hall_mut(&mut self, room: RoomId) -> Option<&mut Hall> {
        self.halls.iter_mut().find(|hall| hall.room.id() == room)
    }

    pub fn room_named(&self, name: &str) -> Option<RoomId> {
        self.halls().map(|hall| &hall.room).find(|room| room.name() == name).map(|room| room.id())
    }

    pub fn counters(&self) -> DeskCounters {
        self.counters
    }

    pub fn events(&mut self) -> &mut Events<ServerEvent> {
        &mut self.events
    }

    pub fn peer_of(&self, player: PlayerId) -> Option<PeerId> {
        let is_theirs = |link: &&Link| matches!(link.place, Place::Seated(seat) if seat.player == player);
        self.links.iter().flatten().find(is_theirs).map(|link| link.peer)
    }

    /// Who has a connection.
    pub fn seated(&self) -> impl Iterator<Item = (PlayerId, PeerId)> {
        self.links.iter().flatten().filter_map(|link| match link.place {
            Place::Seated(seated) => Some((seated.player, link.peer)),
            _ => None,
        })
    }

    pub fn set_held(&mut self, player: PlayerId, is_held: bool) {
        self.halls.iter_mut().for_each(|hall| hall.room.set_held(player, is_held));
    }

    pub fn poll_closed(&mut self) -> Option<SocketAddr> {
        self.closed.pop()
    }

    fn link(&mut self, peer: PeerId) -> Option<&mut Link> {
        self.links.get_mut(peer.index())?.as_mut().filter(|link| link.peer == peer)
    }

    /// A connection is there. It has the time of a greeting to say who it is.
    #[cold]
    pub fn handle_connected(
        &mut self,
        now: Micros,
        peer: PeerId,
        address: Option<SocketAddr>,
        resumed_from: Option<PeerId>,
    ) {
        let seat = resumed_from.and_then(|before| self.take_seat(now, before));
        if self.links.len() <= peer.index() {
            self.links.resize(peer.index() + 1, None);
        }
        let until = now + self.greeting_timeout;
        self.greetings_due = self.greetings_due.min(until);
        let place = Place::Greeting { until, seat };
        self.links[peer.index()] = Some(Link { peer, address, place, nonsense: 0, nonsense_since: now });
    }

    /// The seat of a connection that is taken up by another one.
    fn take_seat(&mut self, now: Micros, before: PeerId) -> Option<Seated> {
        if let Some(at) = self.away.iter().position(|away| away.peer == before) {
            return Some(self.away.swap_remove(at).seated);
        }
        let link = self.link(before)?;
        let Place::Seated(seated) = link.place else { return None };
        link.place = Place::Leaving { reason: DisconnectReason::Resumed, until: now };
        self.is_someone_leaving = true;
        Some(seated)
    }

    /// A connection ended. Whoever may come back keeps the seat for a while.
    #[cold]
    pub fn handle_disconnected(&mut self, now: Micros, peer: PeerId, reason: DisconnectReason) {
        let Some(link) = self.link(peer) else { return };
        let (place, address) = (link.place, link.address);
        self.links[peer.index()] = None;
        if self.closed.len() < CLOSED_MAX {
            self.closed.extend(address);
        }
        match place {
            Place::Seated(seated) => self.lose(now, peer, seated, reason),
            // Taken up, and lost before it could say so.
            Place::Greeting { seat: Some(seated), .. } => self.lose(now, peer, seated, reason),
            Place::Greeting { seat: None, .. } | Place::Leaving { .. } => {}
        }
    }

    fn lose(&mut self, now: Micros, peer: PeerId, seated: Seated, reason: DisconnectReason) {
        let may_return = matches!(
            reason,
            DisconnectReason::Timeout
                | DisconnectReason::Undeliverable
                | DisconnectReason::Broken
                | DisconnectReason::Resumed
        );
        if !may_return || self.resume_window == Micros::ZERO {
            return self.leave(now, seated, reason);
        }
        let Seated { room, player } = seated;
        self.away.push(Away { seated, peer, reason, until: now + self.resume_window });
        self.events.push(ServerEvent::Away { room, player, reason });
        if let Some(hall) = self.hall_mut(room) {
            hall.lose(player);
        }
    }

    fn leave(&mut self, now: Micros, Seated { room, player }: Seated, reason: DisconnectReason) {
        self.events.push(ServerEvent::Left { room, player, reason });
        if let Some(hall) = self.hall_mut(room) {
            hall.leave(now, player);
        }
    }

    /// Time passes: greetings that did not come, seats that nobody came back to.
    pub fn handle_time(&mut self, now: Micros) {
        while let Some(at) = self.away.iter().position(|away| now >= away.until) {
            let away = self.away.swap_remove(at);
            self.leave(now, away.seated, away.reason);
        }
        if now < self.greetings_due {
            return;
        }
        self.greetings_due = Micros::MAX;
        for at in 0..self.links.len() {
            let Some(link) = self.links[at] else { continue };
            let Place::Greeting { until, .. } = link.place else { continue };
            if now >= until {
                self.refuse(now, link.peer, Refusal::BadHello, "no greeting came in time");
            } else {
                self.greetings_due = self.greetings_due.min(until);
            }
        }
    }

    /// What became of a snapshot.
    pub fn handle_outcome(&mut self, peer: PeerId, number: u64, acked: bool) {
        if let Some(Seated { room, player }) = self.seat_of(peer)
            && let Some(hall) = self.hall_mut(room)
        {
            hall.room.handle_outcome(player, number, acked);
        }
    }

    fn seat_of(&mut self, peer: PeerId) -> Option<Seated> {
        match self.link(peer)?.place {
            Place::Seated(seated) => Some(seated),
            _ => None,
        }
    }

    /// A message arrived.
    #[inline(never)] // so that ticks in which none does need no place on the stack for what is read of it
    pub fn handle_message(&mut self, now: Micros, peer: PeerId, channel: u8, data: &[u8]) {
        let Some(link) = self.link(peer) else { return };
        let place = link.place;
        let Ok(message) = ToServer::read(data) else { return self.count_nonsense(now, peer) };
        let made_sense = match (place, message) {
            (Place::Greeting { seat, .. }, ToServer::Hello(hello)) => {
                self.greet(now, peer, seat, &hello);
                true
            }
            (Place::Seated(seated), message) => self.handle_seated(now, seated, channel, message),
            // What was on its way when the farewell was said.
            (Place::Leaving { .. }, _) => true,
            (Place::Greeting { .. }, _) => false,
        };
        if !made_sense {
            self.count_nonsense(now, peer);
        }
    }

    /// Whether the message made sense.
    fn handle_seated(&mut self, now: Micros, seated: Seated, channel: u8, message: ToServer<'_>) -> bool {
        let Seated { room, player } = seated;
        let Some(hall) = self.hall_mut(room) else { return true };
        match (message, channel) {
            (ToServer::Input(inputs), INPUT) => return hall.handle_inputs(player, inputs, now),
            (ToServer::Call(frame), _) => return hall.handle_call(now, player, channel, frame),
            (_, INPUT | UNRELIABLE) => return false,
            (ToServer::Unread(tick), _) => hall.room.handle_unread(player, tick),
            (ToServer::Mismatch(region), _) => hall.room.handle_mismatch(player, region),
            (ToServer::Claim { object, is_wanted }, _) => hall.claim(player, object, is_wanted),
            (ToServer::Write { object, field, value }, _) => return hall.write(player, object, field, value),
            (ToServer::Viewing(ms), _) => {
                hall.room.handle_viewing(player, Micros::from_millis(ms.min(VIEW_DELAY_MS_MAX).into()));
            }
            (ToServer::Chat { to_team, text }, _) => hall.chat(now, player, to_team, text),
            (ToServer::Lobby(command), _) => return hall.room.handle_lobby(now, player, command),
            _ => return false,
        }
        true
    }

    fn count_nonsense(&mut self, now: Micros, peer: PeerId) {
        self.counters.nonsense += 1;
        let nonsense_max = self.nonsense_max;
        let Some(link) = self.link(peer) else { return };
        if now.since(link.nonsense_since) > NONSENSE_WINDOW {
            (link.nonsense, link.nonsense_since) = (0, now);
        }
        link.nonsense += 1;
        if link.nonsense > nonsense_max {
            let text = "too many messages made no sense";
            self.dismiss(now, peer, DisconnectReason::Protocol, NoticeKind::Kicked, text);
        }
    }

    /// Somebody says who they are.
    fn greet(&mut self, now: Micros, peer: PeerId, seat: Option<Seated>, hello: &Hello<'_>) {
        if let Some(seated) = seat {
            return self.seat_again(now, peer, seated, hello.calls_hash);
        }
        if let Some(reason) = self.stopped.clone() {
            return self.refuse(now, peer, Refusal::RoomClosed, &reason);
        }
        let address = self.link(peer).and_then(|link| link.address);
        if address.is_some_and(|address| self.bans.contains(&address.ip().to_canonical())) {
            return self.refuse(now, peer, Refusal::Banned, &Refusal::Banned.to_string());
        }
        let Some(room) = self.room_for(hello.room) else {
            return self.refuse(now, peer, Refusal::NoSuchRoom, &Refusal::NoSuchRoom.to_string());
        };
        let candidate =
            Candidate { name: hello.name, is_spectator: hello.is_spectator, ticket: hello.ticket };
        let Some(hall) = self.hall_mut(room) else { return };
        let name = match hall.admit(&candidate) {
            Ok(name) => name,
            Err((refusal, text)) => return self.refuse(now, peer, refusal, &text),
        };
        self.players += 1;
        let player = PlayerId(self.players);
        let Some(hall) = self.hall_mut(room) else { return };
        if let Err((refusal, text)) = hall.sit(now, player, &name, hello.is_spectator, peer) {
            return self.refuse(now, peer, refusal, &text);
        }
        self.welcome(peer, Seated { room, player }, hello.calls_hash, false);
        if let Some(hall) = self.hall_mut(room) {
            hall.join(player);
        }
    }

    fn seat_again(&mut self, now: Micros, peer: PeerId, seated: Seated, calls_hash: u64) {
        let Seated { room, player } = seated;
        let sat = self.hall_mut(room).map(|hall| hall.room.sit_again(now, player, peer));
        if !matches!(sat, Some(Ok(()))) {
            return self.refuse(now, peer, Refusal::RoomClosed, &Refusal::RoomClosed.to_string());
        }
        self.welcome(peer, seated, calls_hash, true);
        if let Some(hall) = self.hall_mut(room) {
            hall.come_back(player);
        }
    }

    /// The room of this name or code, or the first with a free seat if none is named.
    fn room_for(&self, name: &str) -> Option<RoomId> {
        if !name.is_empty() {
            let coded = || self.halls().find(|hall| is_code(name, &hall.room.config().code));
            return self.room_named(name).or_else(|| coded().map(|hall| hall.room.id()));
        }
        let open = self.halls.iter().filter(|hall| hall.ended().is_none()).map(|hall| &hall.room);
        let free = open.clone().find(|room| room.player_count() < room.config().players_max);
        free.or_else(|| open.clone().next()).map(|room| room.id())
    }

    /// Says where the seat is. This comes before everything else that the room says.
    fn welcome(&mut self, peer: PeerId, seated: Seated, calls_hash: u64, is_resumed: bool) {
        let Seated { room, player } = seated;
        let Some(hall) = self.hall_mut(room) else { return };
        let Some(name) = hall.room.welcome(player, peer, calls_hash, is_resumed) else { return };
        if let Some(link) = self.link(peer) {
            link.place = Place::Seated(seated);
        }
        self.events.push(ServerEvent::Joined { room, player, name, is_resumed });
    }

    fn refuse(&mut self, now: Micros, peer: PeerId, reason: Refusal, text: &str) {
        self.counters.refused += 1;
        self.counters.refused_by_reason[reason as usize] += 1;
        let Some(link) = self.link(peer) else { return };
        link.place = Place::Leaving { reason: DisconnectReason::Rejected, until: now + FAREWELL };
        let address = link.address;
        self.is_someone_leaving = true;
        self.outbox.push([peer], CONTROL, &ToClient::Refused { reason, text: cut(text) });
        self.events.push(ServerEvent::Refused { address, reason, text: text.to_owned() });
    }

    /// Lets somebody go, who is told why.
    fn dismiss(&mut self, now: Micros, peer: PeerId, reason: DisconnectReason, kind: NoticeKind, text: &str) {
        let Some(link) = self.link(peer) else { return };
        let place = std::mem::replace(&mut link.place, Place::Leaving { reason, until: now + FAREWELL });
        if let Place::Leaving { .. } = place {
            link.place = place;
            return;
        }
        self.is_someone_leaving = true;
        self.outbox.push([peer], CONTROL, &ToClient::Notice { kind, text: cut(text) });
        if let Place::Seated(seated) = place {
            self.leave(now, seated, reason);
        }
    }

    pub fn kick(&mut self, now: Micros, player: PlayerId, reason: &str) -> bool {
        if let Some(peer) = self.peer_of(player) {
            self.dismiss(now, peer, DisconnectReason::Kicked, NoticeKind::Kicked, reason);
            return true;
        }
        let Some(at) = self.away.iter().position(|away| away.seated.player == player) else { return false };
        let away = self.away.swap_remove(at);
        self.leave(now, away.seated, DisconnectReason::Kicked);
        true
    }

    pub fn ban(&mut self, now: Micros, address: IpAddr) {
        let address = address.to_canonical();
        self.bans.insert(address);
        for at in 0..self.links.len() {
            let Some(link) = self.links[at] else { continue };
            if link.address.is_some_and(|from| from.ip().to_canonical() == address) {
                let text = Refusal::Banned.to_string();
                self.dismiss(now, link.peer, DisconnectReason::Kicked, NoticeKind::Kicked, &text);
            }
        }
    }

    pub fn unban(&mut self, address: IpAddr) {
        self.bans.remove(&address.to_canonical());
    }

    pub fn stop(&mut self, now: Micros, reason: &str) {
        self.stopped = Some(reason.to_owned());
        for at in 0..self.links.len() {
            let Some(link) = self.links[at] else { continue };
            self.dismiss(now, link.peer, DisconnectReason::Shutdown, NoticeKind::Shutdown, reason);
        }
        while let Some(away) = self.away.pop() {
            self.leave(now, away.seated, DisconnectReason::Shutdown);
        }
    }

    /// Every room makes its steps; then whoever is to go goes.
    pub fn run(&mut self, now: Micros, telling: &mut Telling<'_>) {
        for hall in &mut self.halls {
            hall.run(now, telling);
        }
        for at in 0..self.halls.len() {
            while let Some((player, reason)) = self.halls[at].room.poll_kicked() {
                self.kick(now, player, &reason);
            }
            while let Some((player, unfit)) = self.halls[at].room.poll_unfit() {
                let Some(peer) = self.peer_of(player) else { continue };
                tracing::warn!(player = player.0, %unfit, "a peer cannot be kept");
                let text = unfit.to_string();
                self.dismiss(now, peer, unfit.disconnect_reason(), NoticeKind::SlowConsumer, &text);
            }
        }
        while let Some(at) = self.halls.iter().position(|hall| hall.ended().is_some()) {
            self.close(now, at, telling.endpoint);
        }
    }

    /// A room has ended: everybody in it is let go of.
    fn close(&mut self, now: Micros, at: usize, endpoint: &mut Endpoint) {
        let Some(Ended { reason, by_panic }) = self.halls[at].ended().cloned() else { return };
        let room = self.halls[at].room.id();
        self.halls[at].room.send_calls(true);
        for at in 0..self.links.len() {
            let Some(link) = self.links[at] else { continue };
            if matches!(link.place, Place::Seated(seated) if seated.room == room) {
                self.dismiss(now, link.peer, DisconnectReason::Kicked, NoticeKind::RoomEnded, &reason);
            }
        }
        self.away.retain(|away| away.seated.room != room);
        let mut hall = self.halls.swap_remove(at);
        deliver(hall.room.outbox(), endpoint, &mut self.counters);
        self.events.push(ServerEvent::RoomEnded {
            room,
            name: hall.room.name().to_owned(),
            reason,
            by_panic,
        });
    }

    /// Hands over what waits, and lets go of those whose farewell has arrived.
    pub fn flush(&mut self, now: Micros, endpoint: &mut Endpoint) {
        for hall in &mut self.halls {
            hall.room.send_calls(false);
            deliver(hall.room.outbox(), endpoint, &mut self.counters);
        }
        deliver(&mut self.outbox, endpoint, &mut self.counters);
        if !std::mem::take(&mut self.is_someone_leaving) {
            return;
        }
        for link in self.links.iter_mut().flatten() {
            let Place::Leaving { reason, until } = link.place else { continue };
            self.is_someone_leaving = true;
            let has_arrived = endpoint.pending_bytes(link.peer, CONTROL) == 0;
            if has_arrived || now >= until {
                endpoint.disconnect(now, link.peer, reason);
            }
        }
    }
}

/// Hands messages to their connections.
fn deliver(outbox: &mut Outbox, endpoint: &mut Endpoint, counters: &mut DeskCounters) {
    counters.undelivered +=
        outbox.deliver(|peer, channel, message| match endpoint.send(peer, channel, message) {
            Ok(()) => Handed::Taken,
            Err(SendError::Full { .. }) => Handed::NoRoom,
            Err(_) => Handed::Nowhere,
        });
}

//! A client: one connection to a server, a seat in a room, and what the player sees and does there.
//!
//! ```text
//!   every frame:
//!     handle_datagram, for each ─▶ tick(now) ─▶ poll_event ─▶ for each poll_step: push_input ─▶ view ─▶ poll_transmit
//! ```
//!
//! What others do is seen a little late and smoothly ([`Client::view`]). What the player does goes to the server ahead of time,
//! so that it is there when its step comes; [`Client::poll_step`] says which step an input is for. To see the own object react at
//! once, predict it ([`Prediction`]).
//!
//! A connection that is lost is taken up again by itself, if [`ClientConfig::reconnects`] says so: the seat is the same, and the
//! world is told anew.

mod calls;
mod events;
mod inputs;
mod predict;
mod said;
mod seat;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use netloom_proto::{
    ConfigError, ConnectError, DisconnectReason, Endpoint, Event, PeerId, ResumeToken, SendError, State,
    Stats, Transmit,
};
use netloom_replica::SettingError;
use netloom_replica::client::{ReplicaClient, View};
use netloom_replica::input::Input;
use netloom_wire::schema::Value;
use netloom_wire::{Alias, MessageBuffer, Micros, NameRegistry, Tick, WriteError};

use crate::adapt::Quality;
use crate::channel::{CONTROL, INPUT, ORDERED};
use crate::config::ClientConfig;
use crate::events::{Events, Subscriber};
use crate::game::PlayerId;
use crate::lobby::{LOBBY_COMMAND_BYTES_MAX, LobbyCommand, LobbyState};
use crate::measured::Measured;
use crate::message::{CHAT_BYTES_MAX, Hello, MESSAGE_BYTES_MAX, ToClient, ToServer};
use crate::protocol::Protocol;
use crate::replicated::Replicated;
use crate::rpc::{ArgsError, CallError};
use calls::Calls;
use inputs::Inputs;
use said::handle_said;
use seat::Seat;

pub use calls::{CallCounters, Called};
pub use events::{ClientEvent, Ending};
pub use predict::{Prediction, PredictionError};

/// Events that wait to be polled; the oldest give way.
const EVENTS_MAX: usize = 8_192;
/// How long a lost seat is tried for.
const RECONNECT_WINDOW: Micros = Micros::from_secs(60);

/// Why a client could not be built, or cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A setting that cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A setting of the view that cannot be.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// It cannot connect.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// It is connected, or connecting.
    #[error("this client is {0} already: disconnect first")]
    Busy(&'static str),
    /// There is no seat.
    #[error("this client is in no room yet: wait for the event `Welcomed`")]
    NoSeat,
    /// The connection has no room for the message.
    #[error(transparent)]
    Send(#[from] SendError),
    /// There is no such object in sight.
    #[error("no object {0:?} is in sight")]
    NotInSight(Alias),
    /// An object has no such field.
    #[error("the object has no field {field}: it has {fields}")]
    NoField {
        /// The field.
        field: usize,
        /// How many there are.
        fields: usize,
    },
    /// A value is none of its field's, or a text does not fit.
    #[error("the message cannot be written: {0}")]
    Unwritable(WriteError),
    /// A text is too long.
    #[error("the text has {bytes} bytes, at most {max} are sent")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// What is allowed.
        max: usize,
    },
    /// There is no such call, or it may not be made.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The arguments of a call cannot be sent.
    #[error(transparent)]
    Args(#[from] ArgsError),
    /// The target of a call is found through an object, and there is none.
    #[error("a call to the owner of an object, or to those who see it, needs the object")]
    NeedsObject,
    /// The server has other calls, and has not said which yet.
    #[error("the server's list of calls has not arrived yet: wait for the event `CallsAgreed`")]
    CallsNotAgreed,
    /// An input for a step that is not asked for.
    #[error("an input for {step:?} is not asked for: take steps from `poll_step`, in order")]
    WrongStep {
        /// The step.
        step: Tick,
    },
}

/// Somebody else in the room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherPlayer {
    /// The name they are known by.
    pub name: String,
    /// Whether they only watch.
    pub is_spectator: bool,
}

/// A client whose player's input is an `I`. See the [module](self).
#[derive(Debug)]
pub struct Client<I: Input> {
    endpoint: Endpoint,
    config: ClientConfig,
    protocol: Protocol,
    peer: Option<PeerId>,
    server: Option<SocketAddr>,
    seat: Option<Seat>,
    inputs: Inputs<I>,
    others: BTreeMap<PlayerId, OtherPlayer>,
    resume: Option<ResumeToken>,
    /// Since when the seat is lost, while it is tried for.
    lost_since: Option<Micros>,
    /// Where a connection is being made anew.
    redial: Option<SocketAddr>,
    /// What was said before the connection ended.
    farewell: Option<Ending>,
    events: Events<ClientEvent>,
    calls: Calls,
    message: MessageBuffer,
}

impl<I: Input> Client<I> {
    /// A client of a game that is not connected. The seed must be 32 bytes of secret randomness.
    pub fn new(config: ClientConfig, protocol: Protocol, seed: [u8; 32]) -> Result<Client<I>, ClientError> {
        config.check()?;
        let endpoint = Endpoint::new(config.endpoint(&protocol), None, seed)?;
        Seat::check(&config)?;
        Ok(Client {
            endpoint,
            config,
            protocol,
            peer: None,
            server: None,
            seat: None,
            inputs: Inputs::new(),
            others: BTreeMap::new(),
            resume: None,
            lost_since: None,
            redial: None,
            farewell: None,
            events: Events::new(EVENTS_MAX),
            calls: Calls::new()?,
            message: MessageBuffer::new(MESSAGE_BYTES_MAX),
        })
    }

    /// Starts to connect; [`ClientEvent::Welcomed`] or [`ClientEvent::Ended`] says what came of it.
    pub fn connect(&mut self, now: Micros, server: SocketAddr) -> Result<(), ClientError> {
        if self.state() != State::Disconnected {
            return Err(ClientError::Busy(self.state().name()));
        }
        self.peer = Some(self.endpoint.connect(now, server, None)?);
        (self.server, self.resume, self.lost_since, self.farewell) = (Some(server), None, None, None);
        Ok(())
    }

    /// Says goodbye. The seat is given up.
    pub fn disconnect(&mut self, now: Micros) {
        (self.resume, self.lost_since) = (None, None);
        if let Some(peer) = self.peer {
            self.endpoint.disconnect(now, peer, DisconnectReason::Requested);
        }
    }

    /// What the connection is in: one of U's four states.
    pub fn state(&self) -> State {
        match self.peer {
            Some(peer) => self.endpoint.state(peer),
            None => State::Disconnected,
        }
    }

    /// What client and server have in common.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Who this client is, once it has a seat.
    pub fn player(&self) -> Option<PlayerId> {
        self.seat.as_ref().map(|seat| seat.player)
    }

    /// The room, once there is one.
    pub fn room(&self) -> Option<&str> {
        self.seat.as_ref().map(|seat| &*seat.room)
    }

    /// Everybody else in the room.
    pub fn others(&self) -> impl Iterator<Item = (PlayerId, &OtherPlayer)> {
        self.others.iter().map(|(id, other)| (*id, other))
    }

    /// The objects in sight, as the server told of them last.
    pub fn objects(&self) -> Option<&ReplicaClient> {
        self.seat.as_ref().map(|seat| &seat.replica)
    }

    /// One of them as the struct that it is; `None` if it is not in sight or of another kind.
    pub fn read<T: Replicated>(&self, alias: Alias) -> Option<T> {
        let (class, replica) = (self.protocol.class_id(T::NAME)?, self.objects()?);
        let object = replica.object(alias).filter(|object| object.class() == class.0)?;
        T::read(object, replica.class(object)?)
    }

    /// All of a kind, as the structs that they are.
    pub fn all<T: Replicated>(&self) -> impl Iterator<Item = (Alias, T)> {
        let class = self.protocol.class_id(T::NAME);
        let objects = self.objects().into_iter().flat_map(ReplicaClient::iter);
        let of_kind = objects.filter(move |object| Some(object.class()) == class.map(|class| class.0));
        of_kind.filter_map(|object| Some((object.alias(), self.read(object.alias())?)))
    }

    /// What to show of them.
    pub fn view(&self) -> Option<&View> {
        self.seat.as_ref().map(|seat| &seat.view)
    }

    /// An own object as the server told of it last, and the step after which it was so.
    pub fn told(&self, alias: Alias) -> Option<(Tick, &netloom_replica::client::ClientObject)> {
        self.seat.as_ref()?.told(alias)
    }

    /// The newest step that the server is known to have simulated.
    pub fn confirmed_step(&self) -> Option<Tick> {
        Some(self.seat.as_ref()?.replica.feedback()?.step)
    }

    /// Steps of the simulation a second.
    pub fn steps_per_second(&self) -> Option<u32> {
        self.seat.as_ref().map(|seat| seat.steps_per_second)
    }

    /// How much of the world is here of what there was when this client joined: 0 to 1.
    pub fn progress(&self) -> f32 {
        self.seat.as_ref().map_or(0.0, Seat::progress)
    }

    /// What was measured of the connection.
    pub fn stats(&self) -> Option<Stats> {
        self.endpoint.stats(self.peer?)
    }

    /// Sets how far the view is behind: 50 to 500 ms. It adapts from there.
    pub fn set_interpolation_delay(&mut self, delay: Micros) -> Result<(), ClientError> {
        let seat = self.seat.as_mut().ok_or(ClientError::NoSeat)?;
        Ok(seat.set_delay(delay)?)
    }

    /// What the connection allows: how far behind the view is at least, how far prediction may reach.
    pub fn quality(&self) -> Option<Quality> {
        self.seat.as_ref().map(Seat::quality)
    }

    /// Takes in a datagram; it is opened in place.
    pub fn handle_datagram(&mut self, now: Micros, from: SocketAddr, datagram: &mut [u8]) {
        self.endpoint.handle_datagram(now, from, datagram);
    }

    /// The stream to the server is gone: for drivers of transports that have connections of their own. The connection is
    /// lost at once instead of after a silence.
    pub fn handle_broken(&mut self, now: Micros, from: SocketAddr) {
        self.endpoint.handle_broken(now, from);
    }

    /// The address that a connection is being made to anew: what a transport has of the old one is of no use. To be asked
    /// before [`poll_transmit`](Client::poll_transmit).
    pub fn poll_redial(&mut self) -> Option<SocketAddr> {
        self.redial.take()
    }

    /// A frame: takes in what arrived, and moves the view and the player's steps on.
    pub fn tick(&mut self, now: Micros) {
        self.endpoint.begin_tick(now);
        self.receive(now);
        self.try_again(now);
        let pulse = self.peer.and_then(|peer| self.endpoint.pulse(peer));
        let measured = pulse.map(|pulse| Measured::from(&pulse));
        let Some(seat) = &mut self.seat else { return };
        seat.advance(now, measured, &mut self.inputs);
        if let Some(peer) = self.peer {
            let redundancy = seat.quality().redundancy(self.endpoint.config().redundancy);
            self.endpoint.set_redundancy(peer, redundancy);
        }
        self.calls.advance(now, seat, &self.protocol, &mut self.events);
        if let Some(ms) = seat.poll_viewing(now) {
            self.send(CONTROL, &ToServer::Viewing(ms));
        }
    }

    fn receive(&mut self, now: Micros) {
        let Client { endpoint, seat, events, calls, message, others, farewell, peer, .. } = self;
        let (mut connected, mut ended, mut welcomed) = (None, None, None);
        while let Some((from, event)) = endpoint.poll_event() {
            if *peer != Some(from) {
                continue;
            }
            match event {
                Event::Connected { resume, .. } => {
                    connected = Some(resume);
                    calls.restart();
                }
                Event::Disconnected { reason, reject } => ended = Some((reason, reject)),
                Event::Outcome { .. } => {}
                Event::Message { data, .. } => match ToClient::read(data) {
                    Ok(ToClient::Welcome(welcome)) => {
                        // What the room says after this is for the new seat.
                        welcomed = Some(welcome.is_resumed);
                        others.clear();
                        match Seat::new(&self.config, &self.protocol, &welcome) {
                            Ok(new) => *seat = Some(new),
                            Err(error) => tracing::warn!(%error, "the server's rates cannot be"),
                        }
                        events.push(ClientEvent::welcomed(&welcome));
                        calls.handle_welcome(&self.protocol, &welcome);
                    }
                    Ok(ToClient::Call(frame)) => calls.handle_call(frame),
                    Ok(ToClient::Names(page)) => calls.handle_page(&self.protocol, page, events),
                    Ok(ToClient::CallRefused { id, reason, text }) => {
                        events.push(calls.refused(&self.protocol, id, reason, text));
                    }
                    Ok(said) => handle_said(now, said, seat, others, farewell, events),
                    Err(error) => tracing::debug!(%error, "a message of the server makes no sense"),
                },
            }
        }
        if let Some(seat) = seat {
            seat.flush(endpoint, *peer, message);
            while let Some(event) = seat.poll_event() {
                let entered = if let ClientEvent::Entered(alias) = event { Some(alias) } else { None };
                events.push(event);
                if let Some(alias) = entered {
                    calls.handle_entered(alias, seat, &self.protocol, events);
                }
            }
            calls.deliver(now, seat, &self.protocol, events);
        }
        if let Some(token) = connected {
            self.resume = token;
            self.greet();
        }
        if welcomed.is_some() {
            self.lost_since = None;
            self.inputs.clear();
        }
        if let Some((reason, reject)) = ended {
            self.handle_end(now, reason, reject);
        }
    }

    fn greet(&mut self) {
        let config = self.config.clone();
        self.send(
            CONTROL,
            &ToServer::Hello(Hello {
                name: &config.name,
                room: &config.room,
                is_spectator: config.is_spectator,
                calls_hash: self.protocol.rpcs().hash(),
                ticket: &config.ticket,
            }),
        );
    }

    fn send(&mut self, channel: u8, message: &ToServer<'_>) {
        if let Err(error) = self.try_send(channel, message) {
            tracing::debug!(%error, "a message could not be sent");
        }
    }

    fn try_send(&mut self, channel: u8, message: &ToServer<'_>) -> Result<(), ClientError> {
        let peer = self.peer.ok_or(ClientError::NoSeat)?;
        Ok(self.endpoint.send(peer, channel, message.write(&mut self.message))?)
    }

    /// The connection ended: for good, or to be taken up again.
    fn handle_end(
        &mut self,
        now: Micros,
        reason: DisconnectReason,
        reject: Option<(netloom_proto::RejectReason, u64)>,
    ) {
        self.peer = None;
        let is_lost = matches!(
            reason,
            DisconnectReason::Timeout | DisconnectReason::Undeliverable | DisconnectReason::Broken
        );
        let may_return = self.config.reconnects && self.resume.is_some() && self.farewell.is_none();
        if is_lost && may_return && self.seat.is_some() {
            self.lost_since = Some(now);
            self.events.push(ClientEvent::Lost { reason });
            return;
        }
        // One attempt to come back failed; there may be another.
        if self.lost_since.is_some() && reason == DisconnectReason::ConnectTimeout {
            return;
        }
        let ending = self.farewell.take().unwrap_or(Ending::Connection { reason, reject });
        (self.seat, self.resume, self.lost_since) = (None, None, None);
        self.others.clear();
        self.calls.restart();
        self.events.push(ClientEvent::Ended(ending));
    }

    /// Tries to take up a lost connection.
    fn try_again(&mut self, now: Micros) {
        let (Some(since), None, Some(server)) = (self.lost_since, self.peer, self.server) else { return };
        if now.since(since) > RECONNECT_WINDOW {
            self.lost_since = None;
            let reason = DisconnectReason::ConnectTimeout;
            return self.handle_end(now, reason, None);
        }
        self.peer = self.endpoint.connect(now, server, self.resume).ok();
        self.redial = Some(server);
    }

    /// The next step that the player is to act in. Ask until `None`, and give an input for each.
    pub fn poll_step(&mut self) -> Option<Tick> {
        self.inputs.poll_step()
    }

    /// What the player does in a step that [`poll_step`](Client::poll_step) asked for.
    pub fn push_input(&mut self, step: Tick, input: I) -> Result<(), ClientError> {
        match self.inputs.push(step, input) {
            true => Ok(()),
            false => Err(ClientError::WrongStep { step }),
        }
    }

    /// Says something to the room, or to the own team.
    pub fn chat(&mut self, to_team: bool, text: &str) -> Result<(), ClientError> {
        if text.len() > CHAT_BYTES_MAX {
            return Err(ClientError::TooLong { bytes: text.len(), max: CHAT_BYTES_MAX });
        }
        self.seat.as_ref().ok_or(ClientError::NoSeat)?;
        self.try_send(ORDERED, &ToServer::Chat { to_team, text })
    }

    /// Asks something of the lobby; a refusal is an event.
    pub fn lobby(&mut self, command: LobbyCommand<'_>) -> Result<(), ClientError> {
        self.seat.as_ref().ok_or(ClientError::NoSeat)?;
        let mut bytes = [0; LOBBY_COMMAND_BYTES_MAX];
        let length = command.write(&mut bytes).map_err(ClientError::Unwritable)?;
        self.try_send(CONTROL, &ToServer::Lobby(&bytes[..length]))
    }

    /// The lobby as the server told of it last; `None` in a room without one.
    pub fn lobby_state(&self) -> Option<&LobbyState> {
        self.seat.as_ref()?.lobby.as_ref()
    }

    /// Asks to set a field that clients may write. The server has the last word, and what it decides comes back as every other
    /// change does.
    pub fn write(&mut self, object: Alias, field: usize, value: Value<'_>) -> Result<(), ClientError> {
        let replica = &self.seat.as_ref().ok_or(ClientError::NoSeat)?.replica;
        let seen = replica.object(object).ok_or(ClientError::NotInSight(object))?;
        let schema = replica.class(seen).ok_or(ClientError::NotInSight(object))?.schema();
        let own = schema.field(field).ok_or(ClientError::NoField { field, fields: schema.fields().len() })?;
        let mut bytes = MessageBuffer::new(MESSAGE_BYTES_MAX);
        own.kind().write(value, &NameRegistry::new(0), &mut bytes);
        let value = bytes.finish().map_err(ClientError::Unwritable)?;
        self.try_send(CONTROL, &ToServer::Write { object, field: field as u8, value })
    }

    /// Asks to own an object, or to give it back; [`ClientEvent::Claimed`] is the answer.
    pub fn claim(&mut self, object: Alias, is_wanted: bool) -> Result<(), ClientError> {
        self.seat.as_ref().ok_or(ClientError::NoSeat)?;
        self.try_send(CONTROL, &ToServer::Claim { object, is_wanted })
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.poll()
    }

    /// Another reader of events, who gets all of them from now on; `None` if there are very many.
    pub fn subscribe(&mut self) -> Option<Subscriber> {
        self.events.subscribe()
    }

    /// The next event of another reader.
    pub fn poll_event_of(&mut self, subscriber: Subscriber) -> Option<ClientEvent> {
        self.events.poll_of(subscriber)
    }

    /// Another reader has gone.
    pub fn unsubscribe(&mut self, subscriber: Subscriber) {
        self.events.unsubscribe(subscriber);
    }

    /// The next datagram to send, in `out`, which must hold an mtu. Call until `None`.
    pub fn poll_transmit(&mut self, now: Micros, out: &mut [u8]) -> Option<Transmit> {
        if let (Some(peer), Some(seat)) = (self.peer, &self.seat)
            && let Some(inputs) = self.inputs.poll_message(seat.view_time())
        {
            // What has no room now comes with the next message.
            let _sent = self.endpoint.send(peer, INPUT, inputs);
        }
        self.endpoint.poll_transmit(now, out)
    }

    /// When to call [`tick`](Client::tick) again at the latest.
    pub fn poll_timeout(&self) -> Option<Micros> {
        [self.endpoint.poll_timeout(), self.calls.poll_timeout()].into_iter().flatten().min()
    }
}

//! One connection: the state machine, its timers, and what ties channels, acknowledgements and pacing together.
//!
//! Bytes come in through [`incoming`], go out through [`outgoing`]; [`path`] deals with a peer whose address changes.
//! This file is what remains: birth, death and time.

mod incoming;
mod outbox;
mod outgoing;
mod path;

use std::collections::VecDeque;
use std::mem::offset_of;
use std::net::SocketAddr;

use netloom_cpu::{fetch, fetch_first, fetch_next};
use netloom_wire::Micros;

use crate::channel::{Receiver, SendError, Tag, Undeliverable};
use crate::config::{Config, Redundancy};
use crate::crypto::{Checksum, Entropy, NONCE_BYTES, SealKey, SessionKeys};
use crate::endpoint::PeerId;
use crate::events::{Event, EventQueue, Queued};
use crate::frame::ChannelTable;
use crate::handshake::client::ClientHandshake;
use crate::handshake::{Accept, ResumeToken};
use crate::limits::MESSAGES_IN_FLIGHT_MAX;
use crate::pacing::RateControl;
use crate::packet::SessionRef;
use crate::pool::BufferPool;
use crate::reason::{DisconnectReason, RejectReason};
use crate::receive::{QUIET_DELAYS, ReceiveWindow};
use crate::redundancy::{BlockHistory, BlockStore};
use crate::sent::{Carried, Loss, SentPackets};
use crate::state::State;
use crate::stats::{Allowance, Counters, Pulse, Stats};
use outbox::Outbox;
use path::Path;

pub(crate) use outgoing::whole_message_max;

/// Outcomes that come at once, usually: more of them after a pause of a quarter of a second.
const OUTCOMES_USUAL: usize = 32;

/// What a connection shares with the others of its endpoint.
pub(crate) struct Context<'a> {
    pub config: &'a Config,
    pub table: &'a ChannelTable,
    pub checksum: Checksum,
    pub pool: &'a mut BufferPool,
    pub entropy: &'a mut Entropy,
}

/// The keys as seen from this side.
#[derive(Debug)]
struct Keys {
    seal: SealKey,
    open: SealKey,
    fingerprint: u64,
}

/// A goodbye that waits for its confirmation.
#[derive(Debug)]
struct Goodbye {
    reason: DisconnectReason,
    next_send: Micros,
    ends: Micros,
}

/// What a server holds about a peer that has proven its address but not its keys.
#[derive(Debug)]
struct Accepting {
    packet: Vec<u8>,
    is_due: bool,
    ends: Micros,
}

/// Everything that a server decided about a new peer.
pub(crate) struct Admission {
    pub address: SocketAddr,
    pub client_nonce: [u8; NONCE_BYTES],
    pub client_alias: Option<u16>,
    /// When the cookie that proved the address was issued, in milliseconds.
    pub cookie_issued: u32,
    pub accept: Accept,
    pub accept_packet: Vec<u8>,
    pub keys: Option<SessionKeys>,
    pub resumed_from: Option<PeerId>,
}

/// One connection.
///
/// In this order in memory: between two ticks of a server nothing of it stays in the caches, and fetching a line takes as long as
/// a hundred instructions. What sending a packet needs is in eight lines of 64 bytes: the first two, two of `rate`, two of `sent`,
/// the first of `window`, and that of `history` and the counts.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    state: State,
    /// Something complete waits in a channel because the event queue was full.
    is_inbox_blocked: bool,
    /// A client that was just accepted must show itself, so that the server sees its keys confirmed.
    is_greeting_due: bool,
    confirm_due: bool,
    redundancy: Redundancy,
    /// Why it ended.
    ended: Option<DisconnectReason>,
    unanswered_probes: u16,
    last_received: Micros,
    last_sent: Micros,
    /// When the last packet that asks for an acknowledgement was sent.
    last_eliciting: Micros,
    path: Option<Box<Path>>,
    /// How outgoing packets name the session.
    session: SessionRef,
    keys: Option<Box<Keys>>,
    address: SocketAddr,
    outbox: Outbox,
    rate: RateControl,
    sent: SentPackets,
    window: ReceiveWindow,
    history: BlockHistory,
    counters: Counters,
    outcomes: VecDeque<(u64, bool)>,
    events: EventQueue,
    connected_at: Micros,
    receivers: Vec<Receiver>,
    store: BlockStore,

    goodbye: Option<Goodbye>,
    /// A disconnected connection answers repeated goodbyes until then.
    draining_until: Option<Micros>,
    handshake: Option<Box<ClientHandshake>>,
    accepting: Option<Accepting>,
    session_id: u64,
    client_nonce: [u8; NONCE_BYTES],
    cookie_issued: u32,
    resumed_from: Option<PeerId>,
}

const LINE_BYTES: usize = 64;
const _: () = assert!(offset_of!(Connection, address) == LINE_BYTES);
const _: () = assert!(offset_of!(Connection, rate) == 2 * LINE_BYTES);
const _: () = assert!(offset_of!(Connection, sent).is_multiple_of(LINE_BYTES));
const _: () = assert!(offset_of!(Connection, window).is_multiple_of(LINE_BYTES));
const _: () = assert!(offset_of!(Connection, history).is_multiple_of(LINE_BYTES));

impl Connection {
    /// A client's connection, starting its handshake.
    pub fn connecting(
        now: Micros,
        address: SocketAddr,
        alias: Option<u16>,
        resume: Option<ResumeToken>,
        context: &mut Context<'_>,
    ) -> Connection {
        let handshake = ClientHandshake::new(now, context.config, alias, resume, context.entropy);
        let mut connection = Connection::new(now, address, context.config);
        connection.handshake = Some(Box::new(handshake));
        connection
    }

    /// A server's connection with a peer that has proven its address.
    pub fn accepted(now: Micros, admission: Admission, config: &Config) -> Connection {
        let mut connection = Connection::new(now, admission.address, config);
        connection.session_id = admission.accept.session_id;
        connection.session =
            session_ref(admission.keys.is_some(), admission.accept.session_id, admission.client_alias);
        connection.keys = admission.keys.map(|keys| {
            let SessionKeys { to_client: seal, to_server: open, fingerprint } = keys;
            Box::new(Keys { seal, open, fingerprint })
        });
        connection.client_nonce = admission.client_nonce;
        connection.cookie_issued = admission.cookie_issued;
        connection.resumed_from = admission.resumed_from;
        connection.accepting = Some(Accepting {
            packet: admission.accept_packet,
            is_due: true,
            ends: now + config.connect_timeout,
        });
        connection
    }

    fn new(now: Micros, address: SocketAddr, config: &Config) -> Connection {
        let mut state = State::Disconnected;
        let _started = state.transition_to(State::Connecting);
        Connection {
            state,
            address,
            session_id: 0,
            session: SessionRef::Address,
            keys: None,
            handshake: None,
            accepting: None,
            client_nonce: [0; NONCE_BYTES],
            cookie_issued: 0,
            resumed_from: None,
            window: ReceiveWindow::default(),
            sent: SentPackets::default(),
            rate: RateControl::new(&config.rate, now),
            outbox: Outbox::new(config),
            receivers: config.channels.iter().map(Receiver::new).collect(),
            redundancy: config.redundancy,
            history: BlockHistory::default(),
            store: BlockStore::default(),
            events: EventQueue::new(),
            outcomes: VecDeque::with_capacity(OUTCOMES_USUAL),
            is_inbox_blocked: false,
            path: None,
            goodbye: None,
            draining_until: None,
            confirm_due: false,
            ended: None,
            is_greeting_due: false,
            connected_at: now,
            last_received: now,
            last_sent: now,
            last_eliciting: now,
            unanswered_probes: 0,
            counters: Counters::default(),
        }
    }

    /// Asks for the lines that sending a packet needs.
    pub fn fetch(&self) {
        let Connection { rate, sent, window, history, .. } = self;
        fetch_first(self, 2 * LINE_BYTES);
        fetch_first(rate, 3 * LINE_BYTES);
        fetch_first(sent, 2 * LINE_BYTES);
        fetch_first(window, LINE_BYTES);
        // The counts lie behind it, and what became of messages.
        fetch(history);
        fetch_next(history);
    }

    /// Asks for what lies elsewhere, of all channels.
    pub fn fetch_channels(&self) {
        self.outbox.fetch_all();
        self.sent.fetch_next();
    }

    /// Asks for what lies elsewhere.
    pub fn fetch_channel(&self, channel: u8) {
        self.outbox.fetch(channel);
        self.sent.fetch_next();
    }

    pub fn state(&self) -> State {
        self.state
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How often the address changed.
    pub fn migrations(&self) -> u64 {
        self.counters.migrations
    }

    pub fn session_id(&self) -> u64 {
        self.session_id
    }

    pub fn is_sealed(&self) -> bool {
        self.keys.is_some()
    }

    pub fn key_fingerprint(&self) -> Option<u64> {
        self.keys.as_ref().map(|keys| keys.fingerprint)
    }

    /// Whether this server-side connection was opened by the attempt with this nonce.
    pub fn is_opened_by(&self, client_nonce: &[u8; NONCE_BYTES]) -> bool {
        self.client_nonce == *client_nonce
    }

    /// Whether this server-side connection goes on and came of a cookie that is not older than one issued then.
    pub fn is_younger_than(&self, cookie_issued: u32) -> bool {
        // A cookie is good for seconds, so one that was issued before this connection's was so only just before.
        const MILLIS_MAX: u32 = 60_000;
        self.state != State::Disconnected && self.cookie_issued.wrapping_sub(cookie_issued) < MILLIS_MAX
    }

    /// Whether this is a server's connection that waits for its first packet.
    pub fn is_accepting(&self) -> bool {
        self.accepting.is_some()
    }

    pub fn has_events(&self) -> bool {
        !self.events.is_empty() || !self.outcomes.is_empty()
    }

    /// Why it ended, once it has.
    pub fn ended(&self) -> Option<DisconnectReason> {
        self.ended
    }

    /// Whether an event can be polled in this tick.
    pub fn has_event(&mut self, now: Micros, tick: u64, context: &mut Context<'_>) -> bool {
        if self.is_inbox_blocked {
            self.resume_receivers(now, context);
        }
        !self.outcomes.is_empty() || self.events.has_next(now, tick, self.connected_at, context.config)
    }

    /// Whether exactly one thing is left to tell, and no end.
    pub fn has_one_event(&self) -> bool {
        self.ended.is_none() && !self.is_inbox_blocked && self.events.len() + self.outcomes.len() == 1
    }

    /// Whether the connection was made in this very tick.
    pub fn is_new(&self) -> bool {
        self.events.starts_with_connected()
    }

    /// Whether nothing is left to do or to tell.
    pub fn is_finished(&self) -> bool {
        self.state == State::Disconnected && self.draining_until.is_none() && !self.has_events()
    }

    pub fn pending_bytes(&self, channel: u8) -> usize {
        self.outbox.pending_on(channel)
    }

    #[inline]
    pub fn allowance(&self) -> Allowance {
        Allowance { rate_bytes_per_second: self.rate.rate(), pending_bytes: self.outbox.pending_bytes() }
    }

    #[inline]
    pub fn pulse(&self) -> Pulse {
        let rtt = self.rate.rtt();
        Pulse {
            rtt: self.smoothed_rtt(),
            rtt_min: rtt.min().unwrap_or_default(),
            jitter: rtt.jitter(),
            loss_per_mille: self.rate.loss().per_mille(),
            rate_bytes_per_second: self.rate.rate(),
            pending_bytes: self.outbox.pending_bytes(),
            last_received: self.last_received,
        }
    }

    #[inline]
    pub fn stats(&self) -> Stats {
        let pulse = self.pulse();
        Stats {
            counters: self.counters,
            rtt: pulse.rtt,
            rtt_min: pulse.rtt_min,
            jitter: pulse.jitter,
            loss_per_mille: pulse.loss_per_mille,
            rate_bytes_per_second: pulse.rate_bytes_per_second,
            bandwidth_bytes_per_second: self.rate.estimate(),
            pending_bytes: pulse.pending_bytes,
            waiting_bytes: self.receivers.iter().map(Receiver::waiting_bytes).sum(),
            packets_in_flight: self.sent.in_flight(),
            queue_depth: self.events.len(),
            queue_pressure_events: self.events.pressure_events(),
            last_received: pulse.last_received,
        }
    }

    /// The smoothed round trip; zero before the first sample.
    pub fn smoothed_rtt(&self) -> Micros {
        self.rate.rtt().smoothed().unwrap_or_default()
    }

    /// Changes the upper limit of the rate.
    pub fn set_rate_max(&mut self, bytes_per_second: u64) {
        self.rate.set_max(bytes_per_second);
    }

    /// Changes how small reliable messages are repeated from the next packet on.
    pub fn set_redundancy(&mut self, redundancy: Redundancy) {
        self.redundancy = redundancy;
    }

    /// Takes a message for sending.
    pub fn send(
        &mut self,
        channel: u8,
        message: &[u8],
        tag: Option<Tag>,
        context: &mut Context<'_>,
    ) -> Result<(), SendError> {
        if self.state != State::Connected {
            return Err(SendError::NotConnected);
        }
        let limits = (context.config, outgoing::whole_message_max(context.config.mtu));
        let outcomes = &mut self.outcomes;
        self.outbox
            .push(channel, message, tag, limits, context.pool, |dropped| report(outcomes, dropped, false))
    }

    /// The next event, if this tick's limit allows one.
    pub fn poll_event(&mut self, now: Micros, tick: u64, context: &mut Context<'_>) -> Option<Event<'_>> {
        if let Some((tag, acked)) = self.outcomes.pop_front() {
            return Some(Event::Outcome { tag, acked });
        }
        self.events.poll(now, tick, self.connected_at, context.config, context.pool)
    }

    /// Says goodbye; the reason travels to the other side.
    pub fn disconnect(&mut self, now: Micros, reason: DisconnectReason, config: &Config) {
        match self.state {
            State::Connecting => self.end(now, DisconnectReason::Cancelled, None),
            State::Connected => {
                if self.state.transition_to(State::Disconnecting) {
                    self.goodbye =
                        Some(Goodbye { reason, next_send: now, ends: now + config.disconnect_timeout });
                }
            }
            State::Disconnecting | State::Disconnected => {}
        }
    }

    /// The server refused this client's attempt.
    pub fn handle_reject(&mut self, now: Micros, reason: RejectReason, detail: u64) {
        self.end(now, DisconnectReason::Rejected, Some((reason, detail)));
    }

    /// Ends the connection without a word to the other side.
    pub fn end(&mut self, now: Micros, reason: DisconnectReason, reject: Option<(RejectReason, u64)>) {
        let is_lost = matches!(reason, DisconnectReason::Timeout | DisconnectReason::Broken);
        if self.state == State::Connected && !is_lost {
            // A goodbye of the other side may be on its way, and wants its confirmation.
            self.draining_until = Some(now + Micros::from_secs(1));
        }
        if self.state.transition_to(State::Disconnected) {
            self.handshake = None;
            // A peer that never confirmed its keys was never announced.
            if self.accepting.take().is_none() {
                self.events.end(reason, reject);
            }
            self.goodbye = None;
            self.path = None;
            self.ended = Some(reason);
        }
    }

    /// Does what is due by time. Call before polling for packets or events.
    pub fn handle_timeout(&mut self, now: Micros, context: &mut Context<'_>) {
        match self.state {
            State::Connecting => self.handle_connecting_timeout(now, context),
            State::Connected => {
                if now - self.last_received >= context.config.peer_timeout {
                    return self.end(now, DisconnectReason::Timeout, None);
                }
                // Also with nothing in flight: acknowledgements that follow a lost packet wait to be forgotten.
                let lost =
                    self.detect_losses(now, context).and_then(|()| self.probe_if_due(now, context.config));
                if lost.is_err() {
                    return self.disconnect(now, DisconnectReason::Undeliverable, context.config);
                }
                if self.path.as_mut().is_some_and(|path| path.is_settled(now)) {
                    self.path = None;
                }
            }
            State::Disconnecting => {
                if let Some(goodbye) = self.goodbye.as_ref().filter(|goodbye| now >= goodbye.ends) {
                    let reason = goodbye.reason;
                    self.end(now, reason, None);
                }
            }
            State::Disconnected => {
                if self.draining_until.is_some_and(|until| now >= until) {
                    self.draining_until = None;
                }
            }
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) or a packet is due next.
    pub fn deadline(&mut self, now: Micros, context: &Context<'_>) -> Micros {
        let config = context.config;
        let never = Micros::MAX;
        match self.state {
            State::Connecting => {
                let handshake = self.handshake.as_ref().map_or(never, |handshake| handshake.deadline());
                let accepting = self
                    .accepting
                    .as_ref()
                    .map_or(never, |accepting| if accepting.is_due { now } else { accepting.ends });
                handshake.min(accepting)
            }
            State::Connected => {
                let (loss, probe, question) = match self.sent.in_flight() {
                    0 => (None, None, None),
                    _ => (
                        self.sent.loss_deadline(self.rtt(), self.age_max(config)),
                        self.probe_deadline(config),
                        self.question_at(config),
                    ),
                };
                let timers = [
                    self.last_received + config.peer_timeout,
                    if self.is_greeting_due { now } else { self.last_sent + config.keepalive },
                    self.window.ack_at().unwrap_or(never),
                    loss.unwrap_or(never),
                    probe.unwrap_or(never),
                    question.unwrap_or(never),
                    self.path.as_ref().map_or(never, |path| path.deadline(now, outgoing::CHALLENGE_BYTES)),
                    self.data_deadline(now, config).unwrap_or(never),
                ];
                timers.into_iter().min().unwrap_or(never)
            }
            State::Disconnecting => {
                self.goodbye.as_ref().map_or(never, |goodbye| goodbye.next_send.min(goodbye.ends))
            }
            State::Disconnected => {
                let draining = self.draining_until.unwrap_or(never);
                if self.confirm_due { now } else { draining }
            }
        }
    }

    /// Gives all buffers back.
    pub fn release(&mut self, pool: &mut BufferPool) {
        self.outbox.release(pool);
        self.receivers.iter_mut().for_each(|receiver| receiver.release(pool));
        self.events.release(pool);
    }

    fn handle_connecting_timeout(&mut self, now: Micros, context: &mut Context<'_>) {
        if let Some(handshake) = &mut self.handshake
            && !handshake.handle_timeout(now, context.config, context.entropy)
        {
            self.end(now, DisconnectReason::ConnectTimeout, None);
        } else if self.accepting.as_ref().is_some_and(|accepting| now >= accepting.ends) {
            self.end(now, DisconnectReason::ConnectTimeout, None);
        }
    }

    /// Both sides hold the keys.
    fn become_connected(&mut self, now: Micros, resume: Option<ResumeToken>) {
        if self.state.transition_to(State::Connected) {
            self.handshake = None;
            self.accepting = None;
            self.connected_at = now;
            self.last_received = now;
            let resumed_from = self.resumed_from;
            self.events.push(Queued::Connected { resumed_from, resume });
        }
    }

    fn rtt(&self) -> Micros {
        let rtt = self.rate.rtt();
        rtt.smoothed().max(rtt.latest()).unwrap_or(crate::pacing::rtt::INITIAL_RTO)
    }

    fn resend_timeout(&self, config: &Config) -> Micros {
        self.rate.rtt().rto(config.resend_timeout_min, config.resend_timeout_max)
    }

    /// The age at which a packet that nothing overtook counts as lost.
    fn age_max(&self, config: &Config) -> Micros {
        let timeout = self.resend_timeout(config);
        Micros(timeout.0 * 3).clamp(Micros::from_secs(1), Micros::from_secs(3))
    }

    fn detect_losses(&mut self, now: Micros, context: &mut Context<'_>) -> Result<(), Undeliverable> {
        if self.sent.in_flight() == 0 {
            self.sent.forget(now);
            return Ok(());
        }
        let (rtt, age_max) = (self.rtt(), self.age_max(context.config));
        let Connection { sent, outbox, outcomes, rate, counters, .. } = self;
        let mut result = Ok(());
        sent.detect_losses(now, rtt, age_max, |number, loss, carries| {
            if let Loss::Packet { sent_at } = loss {
                rate.handle_lost(now, sent_at);
                counters.packets_lost += 1;
            }
            for carried in carries.iter() {
                match carried {
                    Carried::Tagged(tag) => report(outcomes, tag, false),
                    Carried::Reliable { channel, count, id } => {
                        // A message that went out twice for nothing stalls others already: it does not stake a second
                        // round trip on the one packet with its resend.
                        let lost_with = (loss != Loss::Copy).then_some(number);
                        let resends_max = context.config.resends_max;
                        for id in id..id + u64::from(count) {
                            result = result.and(outbox.handle_lost(channel, id, lost_with, resends_max));
                        }
                    }
                }
            }
        });
        result
    }

    /// When nothing has come back for a resend timeout, the oldest messages go out again, and less often each time.
    fn probe_if_due(&mut self, now: Micros, config: &Config) -> Result<(), Undeliverable> {
        if self.probe_deadline(config).is_none_or(|deadline| now < deadline) {
            return Ok(());
        }
        self.unanswered_probes = self.unanswered_probes.saturating_add(1);
        self.counters.probes += 1;
        self.last_eliciting = now;
        self.outbox.probe(config.mtu / 2, config.resends_max)
    }

    fn probe_deadline(&self, config: &Config) -> Option<Micros> {
        (self.sent.in_flight() > 0 && self.outbox.has_unacked()).then(|| {
            let timeout = self.resend_timeout(config) + config.ack_delay;
            let backed_off = Micros(timeout.0 << self.unanswered_probes.min(6));
            self.last_eliciting + backed_off.min(config.resend_timeout_max.max(timeout))
        })
    }

    /// When to ask what became of the last packets before a silence: nothing that follows tells that they are lost,
    /// and they may have carried the last state of a world that rests from now on.
    fn question_at(&self, config: &Config) -> Option<Micros> {
        (self.sent.in_flight() > 0 && self.sent.has_room()).then(|| {
            // The acknowledgement of what was sent may wait; of a question it does not.
            let delays = if self.unanswered_probes == 0 { QUIET_DELAYS } else { 1 };
            let patience = self.resend_timeout(config) + Micros(config.ack_delay.0 * delays);
            self.last_eliciting + Micros(patience.0 << self.unanswered_probes.min(4))
        })
    }
}

fn session_ref(sealed: bool, session_id: u64, alias: Option<u16>) -> SessionRef {
    match (sealed, alias) {
        (false, _) => SessionRef::Id(session_id),
        (true, Some(alias)) => SessionRef::Alias(alias),
        (true, None) => SessionRef::Address,
    }
}

/// Queues the fate of a tagged message; the oldest gives way if nobody polls.
fn report(outcomes: &mut VecDeque<(u64, bool)>, tag: u64, acked: bool) {
    if outcomes.len() >= MESSAGES_IN_FLIGHT_MAX {
        outcomes.pop_front();
    }
    outcomes.push_back((tag, acked));
}

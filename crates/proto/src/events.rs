//! What a connection has to tell, and how much of it per tick.
//!
//! A burst of messages must not eat a frame: a connection hands out at most `events_per_tick` (64) events per tick and
//! the rest waits. While it is new, within `initial_sync_window`, the limit is `events_initial` (512), so that joining
//! is quick. When more than four times the ordinary limit has been waiting for two ticks in a row, the limit rises
//! to four times (at most 512) until the queue is short again. The order within a connection never changes: connected,
//! messages, disconnected.

use std::collections::VecDeque;

use netloom_wire::Micros;

use crate::channel::Deliver;
use crate::config::Config;
use crate::endpoint::PeerId;
use crate::handshake::ResumeToken;
use crate::pool::BufferPool;
use crate::reason::{DisconnectReason, RejectReason};

/// Something that happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Data can flow.
    Connected {
        /// The lost connection whose seat this one takes up.
        resumed_from: Option<PeerId>,
        /// What to hand to [`connect`](crate::Endpoint::connect) to take up this one (client only).
        resume: Option<ResumeToken>,
    },
    /// A message arrived.
    Message {
        /// The channel.
        channel: u8,
        /// Its bytes, valid until the next call.
        data: &'a [u8],
    },
    /// What became of an unreliable message that was sent with a tag.
    Outcome {
        /// The tag.
        tag: u64,
        /// Whether the packet that carried it arrived and found room; `false` means that it is believed lost. A message
        /// of a sequenced channel that arrived after a newer one was dropped all the same.
        acked: bool,
    },
    /// The connection has ended. Nothing follows.
    Disconnected {
        /// Why.
        reason: DisconnectReason,
        /// What the server said, if it refused, and its own value of what did not match.
        reject: Option<(RejectReason, u64)>,
    },
}

#[derive(Debug)]
pub(crate) enum Queued {
    Connected { resumed_from: Option<PeerId>, resume: Option<ResumeToken> },
    Message { channel: u8, data: Vec<u8> },
}

/// Why a connection ended, and what a server that refused it said.
type End = (DisconnectReason, Option<(RejectReason, u64)>);

/// The limit rises under pressure to this many at most.
const PRESSURE_EVENTS_MAX: usize = 512;
const PRESSURE_FACTOR: usize = 4;
const PRESSURE_TICKS: u32 = 2;

/// Room for so many from the start: what a stall of a tenth of a second leaves of a busy connection.
const EVENTS_USUAL: usize = 64;

/// The events of one connection that wait to be polled.
#[derive(Debug)]
pub(crate) struct EventQueue {
    queue: VecDeque<Queued>,
    /// Bytes of the messages in it.
    bytes: usize,
    /// Comes after everything else, also after what still finds its way into the queue.
    end: Option<End>,
    /// The message that the caller is looking at.
    current: Vec<u8>,
    tick: u64,
    left: usize,
    pressed_ticks: u32,
    pressure_events: u64,
}

impl EventQueue {
    pub fn new() -> EventQueue {
        EventQueue {
            queue: VecDeque::with_capacity(EVENTS_USUAL),
            bytes: 0,
            end: None,
            current: Vec::new(),
            tick: u64::MAX,
            left: 0,
            pressed_ticks: 0,
            pressure_events: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.end.is_none()
    }

    /// Whether no further message finds room.
    pub fn is_full(&mut self, config: &Config) -> bool {
        self.inbox(0, config).room() == 0
    }

    /// How often the limit was raised under pressure.
    pub fn pressure_events(&self) -> u64 {
        self.pressure_events
    }

    pub fn push(&mut self, event: Queued) {
        self.queue.push_back(event);
    }

    /// The connection has ended: nothing follows.
    pub fn end(&mut self, reason: DisconnectReason, reject: Option<(RejectReason, u64)>) {
        self.end = Some((reason, reject));
    }

    /// A place to deliver the messages of a channel to.
    pub fn inbox<'a>(&'a mut self, channel: u8, config: &'a Config) -> Inbox<'a> {
        Inbox { queue: &mut self.queue, bytes: &mut self.bytes, channel, config }
    }

    /// Whether an event waits and this tick's limit allows it.
    pub fn has_next(&mut self, now: Micros, tick: u64, connected_at: Micros, config: &Config) -> bool {
        if self.tick != tick {
            self.begin_tick(now, tick, connected_at, config);
        }
        self.left > 0 && !self.is_empty()
    }

    pub fn starts_with_connected(&self) -> bool {
        matches!(self.queue.front(), Some(Queued::Connected { .. }))
    }

    /// The next event, if this tick's limit allows one. `connected_at` decides about the initial limit.
    pub fn poll(
        &mut self,
        now: Micros,
        tick: u64,
        connected_at: Micros,
        config: &Config,
        pool: &mut BufferPool,
    ) -> Option<Event<'_>> {
        if !self.has_next(now, tick, connected_at, config) {
            return None;
        }
        self.left -= 1;
        let Some(event) = self.queue.pop_front() else {
            let (reason, reject) = self.end.take()?;
            return Some(Event::Disconnected { reason, reject });
        };
        Some(match event {
            Queued::Connected { resumed_from, resume } => Event::Connected { resumed_from, resume },
            Queued::Message { channel, data } => {
                self.bytes -= data.len();
                pool.give(std::mem::replace(&mut self.current, data));
                Event::Message { channel, data: &self.current }
            }
        })
    }

    fn begin_tick(&mut self, now: Micros, tick: u64, connected_at: Micros, config: &Config) {
        let consecutive = self.tick.wrapping_add(1) == tick;
        self.tick = tick;
        let pressed = self.queue.len() > PRESSURE_FACTOR * config.events_per_tick;
        self.pressed_ticks = match (pressed, consecutive) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => self.pressed_ticks + 1,
        };
        self.left = config.events_per_tick;
        if self.pressed_ticks >= PRESSURE_TICKS {
            self.pressure_events += 1;
            self.left = self.left.max((PRESSURE_FACTOR * config.events_per_tick).min(PRESSURE_EVENTS_MAX));
        }
        if now - connected_at < config.initial_sync_window {
            self.left = self.left.max(config.events_initial);
        }
    }

    pub fn release(&mut self, pool: &mut BufferPool) {
        self.bytes = 0;
        for event in self.queue.drain(..) {
            if let Queued::Message { data, .. } = event {
                pool.give(data);
            }
        }
        pool.give(std::mem::take(&mut self.current));
    }
}

/// Where a channel puts its messages.
#[derive(Debug)]
pub(crate) struct Inbox<'a> {
    queue: &'a mut VecDeque<Queued>,
    bytes: &'a mut usize,
    channel: u8,
    config: &'a Config,
}

impl Deliver for Inbox<'_> {
    fn room(&self) -> usize {
        match *self.bytes < self.config.event_bytes_max {
            true => self.config.events_queued_max.saturating_sub(self.queue.len()),
            false => 0,
        }
    }

    fn deliver(&mut self, data: Vec<u8>) {
        *self.bytes += data.len();
        self.queue.push_back(Queued::Message { channel: self.channel, data });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(count: usize) -> EventQueue {
        let config = Config::default();
        let mut events = EventQueue::new();
        let mut inbox = events.inbox(0, &config);
        (0..count.min(inbox.room())).for_each(|index| inbox.deliver(vec![index as u8]));
        events
    }

    /// How many events each tick hands out.
    fn drain(events: &mut EventQueue, start: Micros, ticks: u64) -> Vec<usize> {
        let (config, mut pool) = (Config::default(), BufferPool::default());
        (0..ticks)
            .map(|tick| {
                let now = start + Micros::from_millis(16 * tick);
                std::iter::from_fn(|| events.poll(now, tick, Micros::ZERO, &config, &mut pool).map(|_| ()))
                    .count()
            })
            .collect()
    }

    const LATER: Micros = Micros::from_secs(10);

    #[test]
    fn sixty_four_events_a_tick_and_the_rest_waits() {
        assert_eq!(drain(&mut filled(150), LATER, 4), [64, 64, 22, 0]);
    }

    #[test]
    fn a_new_connection_may_burst_for_two_seconds() {
        assert_eq!(drain(&mut filled(600), Micros::ZERO, 2), [512, 88]);
        assert_eq!(drain(&mut filled(600), Micros::from_secs(2), 1), [64]);
    }

    #[test]
    fn pressure_needs_two_ticks_in_a_row() {
        let mut events = filled(1_000);
        assert_eq!(drain(&mut events, LATER, 5), [64, 256, 256, 256, 64]);
        assert_eq!(events.pressure_events(), 3);
    }

    #[test]
    fn the_queue_is_bounded() {
        let config = Config::default();
        let mut events = filled(5_000);
        assert_eq!(events.len(), config.events_queued_max);
        assert_eq!(events.inbox(0, &config).room(), 0);
    }
}

//! What became of peers, until it is polled: bounded, and allocated once.

use std::collections::VecDeque;

use crate::limits::EVENT_HINTS_MAX;
use crate::transport::TransportEvent;

#[derive(Debug)]
pub(crate) struct EventQueue {
    events: VecDeque<TransportEvent>,
}

impl EventQueue {
    /// For transports whose events are hints only.
    pub fn hints() -> EventQueue {
        EventQueue::with_capacity(EVENT_HINTS_MAX)
    }

    pub fn with_capacity(events_max: usize) -> EventQueue {
        EventQueue { events: VecDeque::with_capacity(events_max) }
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// For what must be told; the caller bounds how often that is.
    pub fn push(&mut self, event: TransportEvent) {
        self.events.push_back(event);
    }

    /// For what may be missed: dropped if it is the last again, or if too many wait.
    pub fn hint(&mut self, event: TransportEvent) {
        if self.events.len() < EVENT_HINTS_MAX && self.events.back() != Some(&event) {
            self.events.push_back(event);
        }
    }

    pub fn pop(&mut self) -> Option<TransportEvent> {
        self.events.pop_front()
    }
}

//! Events for several readers.
//!
//! A game loop reads what happened, and so do a sound system, a recorder and a display, each at its own pace. Whoever
//! subscribed gets every event from then on, in the same order; who does not read loses the oldest, and nobody else does.

use std::collections::VecDeque;

/// Readers at once, the first included.
const READERS_MAX: usize = 32;

/// Somebody who reads events besides the first reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subscriber {
    place: usize,
    /// Which of those who had the place.
    lifetime: u32,
}

/// What happened and was not read yet, by reader.
#[derive(Debug)]
pub(crate) struct Events<E> {
    /// The first one is always there.
    first: VecDeque<E>,
    others: Vec<(u32, Option<VecDeque<E>>)>,
    waiting_max: usize,
}

impl<E: Clone> Events<E> {
    /// For each reader so many events wait at most.
    pub fn new(waiting_max: usize) -> Events<E> {
        Events { first: VecDeque::new(), others: Vec::new(), waiting_max }
    }

    /// Another reader; `None` if there are very many.
    pub fn subscribe(&mut self) -> Option<Subscriber> {
        let free = self.others.iter().position(|(_, queue)| queue.is_none());
        let place = free.unwrap_or(self.others.len());
        if place + 1 >= READERS_MAX {
            return None;
        }
        if place == self.others.len() {
            self.others.push((0, None));
        }
        let (lifetime, queue) = &mut self.others[place];
        *queue = Some(VecDeque::new());
        Some(Subscriber { place, lifetime: *lifetime })
    }

    /// The reader has gone.
    pub fn unsubscribe(&mut self, subscriber: Subscriber) {
        if self.queue(subscriber).is_some() {
            let (lifetime, queue) = &mut self.others[subscriber.place];
            (*lifetime, *queue) = (lifetime.wrapping_add(1), None);
        }
    }

    /// Something happened.
    pub fn push(&mut self, event: E) {
        for queue in self.others.iter_mut().filter_map(|(_, queue)| queue.as_mut()) {
            keep(queue, event.clone(), self.waiting_max);
        }
        keep(&mut self.first, event, self.waiting_max);
    }

    /// The next event of the first reader.
    pub fn poll(&mut self) -> Option<E> {
        self.first.pop_front()
    }

    /// The next event of another one.
    pub fn poll_of(&mut self, subscriber: Subscriber) -> Option<E> {
        self.queue(subscriber)?.pop_front()
    }

    fn queue(&mut self, subscriber: Subscriber) -> Option<&mut VecDeque<E>> {
        let (lifetime, queue) = self.others.get_mut(subscriber.place)?;
        queue.as_mut().filter(|_| *lifetime == subscriber.lifetime)
    }
}

fn keep<E>(queue: &mut VecDeque<E>, event: E, waiting_max: usize) {
    if queue.len() == waiting_max {
        queue.pop_front();
    }
    queue.push_back(event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_gets_everything_from_when_it_came() {
        let mut events = Events::new(100);
        events.push(1);
        let late = events.subscribe().unwrap();
        events.push(2);
        events.push(3);
        assert_eq!(std::iter::from_fn(|| events.poll()).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(std::iter::from_fn(|| events.poll_of(late)).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn who_does_not_read_loses_the_oldest_and_nobody_else_does() {
        let mut events = Events::new(2);
        let lazy = events.subscribe().unwrap();
        for number in 0..5 {
            events.push(number);
            assert_eq!(events.poll(), Some(number));
        }
        assert_eq!(std::iter::from_fn(|| events.poll_of(lazy)).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn a_place_is_used_again_but_not_by_who_left_it() {
        let mut events = Events::new(10);
        let gone = events.subscribe().unwrap();
        events.unsubscribe(gone);
        events.unsubscribe(gone);
        let new = events.subscribe().unwrap();
        events.push(7);
        assert_eq!(events.poll_of(gone), None);
        assert_eq!(events.poll_of(new), Some(7));
        let readers = std::iter::from_fn(|| events.subscribe()).count();
        assert_eq!(readers, READERS_MAX - 2, "with the first, and the one that is there");
    }
}

//! Sleeping until there is something to do.
//!
//! A driver without traffic should cost nothing, and one with a deadline should meet it. Sockets wait on the system's
//! queue of events; peers in memory on a bell. Both can be woken by another thread, and a wake that comes before the
//! sleep is not lost: it ends the next one at once.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use mio::event::Event;
use netloom_wire::Micros;

const WAKE: mio::Token = mio::Token(usize::MAX);

/// Ends the sleep of a transport from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Wake);

#[derive(Clone, Debug)]
enum Wake {
    Poll(Arc<mio::Waker>),
    Bell(Arc<Bell>),
}

impl Waker {
    /// Makes the [`wait`](crate::Transport::wait) that is going on return, or else the next one.
    pub fn wake(&self) {
        match &self.0 {
            // It fails only if the transport is gone, and then nobody sleeps.
            Wake::Poll(waker) => drop(waker.wake()),
            Wake::Bell(bell) => bell.ring(),
        }
    }
}

/// How long to sleep. A deadline that never comes still is looked at once a day.
pub fn sleep_time(now: Micros, deadline: Micros) -> Duration {
    Duration::from_micros(deadline.since(now).0.min(86_400_000_000))
}

/// What a transport without sockets of its own sleeps on: peers in memory, or a thread that hands datagrams over.
#[derive(Debug, Default)]
pub struct Bell {
    is_rung: Mutex<bool>,
    rung: Condvar,
}

impl Bell {
    /// Ends the sleep that is going on, or else the next one.
    pub fn ring(&self) {
        *self.is_rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.rung.notify_one();
    }

    /// Sleeps until the bell rings, and not at all if it rang since the last sleep.
    pub fn wait(&self, longest: Duration) {
        let is_rung = self.is_rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.rung.wait_timeout_while(is_rung, longest, |is_rung| !*is_rung);
        let (mut is_rung, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *is_rung = false;
    }

    /// What rings it from another thread.
    pub fn waker(self: &Arc<Self>) -> Waker {
        Waker(Wake::Bell(Arc::clone(self)))
    }
}

/// What sockets sleep on.
#[derive(Debug)]
pub(crate) struct Poller {
    poll: mio::Poll,
    events: mio::Events,
    waker: Arc<mio::Waker>,
    /// A wake was seen by a poll that was not a sleep.
    is_woken: bool,
}

impl Poller {
    pub fn new(events_max: usize) -> io::Result<Poller> {
        let poll = mio::Poll::new()?;
        let waker = Arc::new(mio::Waker::new(poll.registry(), WAKE)?);
        Ok(Poller { poll, events: mio::Events::with_capacity(events_max), waker, is_woken: false })
    }

    pub fn registry(&self) -> &mio::Registry {
        self.poll.registry()
    }

    pub fn waker(&self) -> Waker {
        Waker(Wake::Poll(Arc::clone(&self.waker)))
    }

    /// Tells `handle` what is ready now.
    pub fn poll(&mut self, handle: impl FnMut(&Event)) -> io::Result<()> {
        self.poll_for(Duration::ZERO, handle)
    }

    /// Sleeps until something is ready, and tells `handle` what.
    pub fn wait(&mut self, longest: Duration, handle: impl FnMut(&Event)) -> io::Result<()> {
        let longest = if self.is_woken { Duration::ZERO } else { longest };
        let left = self.sleep(longest)?;
        let polled = self.poll_for(left, handle);
        self.is_woken = false;
        polled
    }

    fn poll_for(&mut self, longest: Duration, mut handle: impl FnMut(&Event)) -> io::Result<()> {
        match self.poll.poll(&mut self.events, Some(longest)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in &self.events {
            match event.token() {
                WAKE => self.is_woken = true,
                _ => handle(event),
            }
        }
        Ok(())
    }

    /// Sleeps if this can be done more precisely than by the queue of events, whose unit is the millisecond: on Linux,
    /// on the queue itself. Returns how long the queue is still to sleep.
    fn sleep(&self, longest: Duration) -> io::Result<Duration> {
        #[cfg(target_os = "linux")]
        if !longest.is_zero() {
            crate::sys::sleep_until_readable(&self.poll, longest)?;
            return Ok(Duration::ZERO);
        }
        Ok(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_before_the_sleep_ends_it_at_once_and_only_one() {
        let mut poller = Poller::new(8).unwrap();
        let bell = Arc::new(Bell::default());
        for waker in [poller.waker(), bell.waker()] {
            waker.wake();
        }
        // These would sleep for a day.
        poller.wait(sleep_time(Micros::ZERO, Micros::MAX), |_| panic!("no socket is registered")).unwrap();
        bell.wait(sleep_time(Micros::ZERO, Micros::MAX));
        assert!(!poller.is_woken && !*bell.is_rung.lock().unwrap());
    }

    #[test]
    fn a_wake_that_a_poll_sees_still_ends_the_next_sleep() {
        let mut poller = Poller::new(8).unwrap();
        poller.waker().wake();
        poller.poll(|_| ()).unwrap();
        poller.wait(sleep_time(Micros::ZERO, Micros::MAX), |_| ()).unwrap();
    }

    #[test]
    fn another_thread_ends_a_sleep() {
        let mut poller = Poller::new(8).unwrap();
        let waker = poller.waker();
        let thread = std::thread::spawn(move || waker.wake());
        poller.wait(sleep_time(Micros::ZERO, Micros::MAX), |_| ()).unwrap();
        thread.join().unwrap();
    }

    #[test]
    fn a_deadline_in_the_past_is_no_sleep() {
        assert_eq!(sleep_time(Micros(5), Micros(3)), Duration::ZERO);
        Bell::default().wait(Duration::ZERO);
        Poller::new(8).unwrap().wait(Duration::ZERO, |_| ()).unwrap();
    }
}

//! Threads that share short work of one thread, many times a second.
//!
//! A server that makes the snapshots of a thousand players has three pieces of work in each tick that can be cut in two, and each takes less
//! time than a sleeping thread takes to wake up. Pools for work of any kind let their threads sleep in between, let the
//! caller sleep as well, and allocate for what they are given. A [`Crew`] does none of it:
//!
//! ```text
//!   caller    wake ─── what only it can do ─── run: its own share ┬─ what nobody began ─ wait ── run … rest
//!   thread        └──────── waits awake ────────────── its share ─┘
//! ```
//!
//! - The caller does a share itself, so that two threads are the caller and one more.
//! - [`Crew::wake`] comes some time before the first jobs: waking takes about 50 µs on a virtual machine, and they pass while
//!   the caller does something else. Until [`Crew::rest`] the threads look for jobs without sleeping, for [`AWAKE`] at most.
//! - Jobs borrow what they work on. Nothing is allocated for them.
//! - A thread that does not come in time, because its processor has something else to do, holds up nobody: what it did not
//!   begin, the caller does.
//!
//! It is a crate of its own because lending a thread what is borrowed is `unsafe`, which the crates that use it forbid.
//!
//! ```
//! use netloom_crew::{Crew, Job};
//!
//! let crew = Crew::start(2, "adder")?;
//! let (left, right) = ([1_u64; 1_000], [2_u64; 1_000]);
//! let mut sums = [0; 2];
//! let [first, second] = &mut sums;
//! let (mut first, mut second) = (|| *first = left.iter().sum(), || *second = right.iter().sum());
//! let jobs: &mut [Job<'_>] = &mut [&mut first, &mut second];
//! crew.run(jobs);
//! assert_eq!(sums, [1_000, 2_000]);
//! # Ok::<(), std::io::Error>(())
//! ```

#![deny(unsafe_code)]

mod desk;

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use desk::Desk;

/// Something to do.
pub type Job<'a> = &'a mut (dyn FnMut() + Send);

/// A thread that was woken and gets no job sleeps again after so long: nobody who forgets [`Crew::rest`] keeps a processor
/// busy. Longer than what comes between waking and the first jobs: what 1,024 clients acknowledged, and committing what
/// they see, takes a quarter of it.
pub const AWAKE: Duration = Duration::from_millis(1);

/// Threads that do jobs: the one that calls, and others.
#[derive(Debug)]
pub struct Crew {
    helpers: Vec<Helper>,
}

#[derive(Debug)]
struct Helper {
    desk: Arc<Desk>,
    thread: JoinHandle<()>,
}

impl Crew {
    /// So many threads, of which the caller of [`run`](Crew::run) is one. What the others are called begins with `name`.
    pub fn start(count: usize, name: &str) -> io::Result<Crew> {
        let mut crew = Crew { helpers: Vec::with_capacity(count.saturating_sub(1)) };
        for number in 1..count {
            let desk = Arc::new(Desk::default());
            let work = Arc::clone(&desk);
            let thread =
                thread::Builder::new().name(format!("{name} {number}")).spawn(move || work.attend())?;
            crew.helpers.push(Helper { desk, thread });
        }
        Ok(crew)
    }

    /// How many threads there are, with the one that calls.
    pub fn size(&self) -> usize {
        1 + self.helpers.len()
    }

    /// There will be jobs soon.
    pub fn wake(&self) {
        for helper in &self.helpers {
            helper.desk.wake();
            helper.thread.thread().unpark();
        }
    }

    /// There are no more jobs for now.
    pub fn rest(&self) {
        self.helpers.iter().for_each(|helper| helper.desk.rest());
    }

    /// Calls every job once and returns when all calls have. The first is the caller's, and each of the others is lent to a thread of
    /// its own, as far as there are any. From the first thread that is busy with the jobs of somebody else on, they are the caller's, too:
    /// jobs may wait for each other only where nobody else uses the crew.
    ///
    /// # Panics
    ///
    /// If a job does, once all others are done.
    #[allow(unsafe_code)]
    pub fn run(&self, jobs: &mut [Job<'_>]) {
        let Some((first, others)) = jobs.split_first_mut() else { return };
        let mut loans = Loans { helpers: &self.helpers[..0], panic: None };
        for (number, (helper, job)) in self.helpers.iter().zip(others.iter_mut()).enumerate() {
            // SAFETY: `loans` takes it back before this function returns or unwinds.
            if !unsafe { helper.desk.lend(*job) } {
                break;
            }
            loans.helpers = &self.helpers[..=number];
            helper.thread.thread().unpark();
        }
        let (_, others) = others.split_at_mut(loans.helpers.len());
        for job in std::iter::once(first).chain(others) {
            loans.note(attempt(*job).err());
        }
        loans.helpers.iter().for_each(|helper| helper.desk.help());
        loans.end();
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for helper in self.helpers.drain(..) {
            helper.desk.close();
            helper.thread.thread().unpark();
            // A panic of a job was told to whoever gave it; the threads themselves have none.
            let _ = helper.thread.join();
        }
    }
}

/// Jobs that others may be doing. Nobody does any more when it is gone, however [`Crew::run`] ends.
struct Loans<'a> {
    helpers: &'a [Helper],
    panic: Option<Box<dyn Any + Send>>,
}

impl Loans<'_> {
    /// A job may have panicked; the first one is told. What the others panicked with is kept for ever, since to drop it may panic as
    /// well, and jobs are still to be done.
    fn note(&mut self, panic: Option<Box<dyn Any + Send>>) {
        match self.panic {
            None => self.panic = panic,
            Some(_) => std::mem::forget(panic),
        }
    }

    /// Waits for all of them.
    fn end(mut self) {
        while let Some((last, rest)) = self.helpers.split_last() {
            let panic = last.desk.take_back();
            self.helpers = rest;
            self.note(panic);
        }
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
    }
}

impl Drop for Loans<'_> {
    fn drop(&mut self) {
        self.helpers.iter().for_each(|helper| std::mem::forget(helper.desk.take_back()));
    }
}

/// Does a job and keeps its panic.
fn attempt(job: Job<'_>) -> thread::Result<()> {
    catch_unwind(AssertUnwindSafe(job))
}

#[cfg(test)]
mod tests;

//! Where a thread gets its jobs.
//!
//! ```text
//!              lend              work              finish            take_back
//!   FREE ─▶ TAKEN ─▶ LENT ──────────────▶ TAKEN ─────────▶ DONE ───────────▶ FREE
//!            caller        thread, caller       the same          caller
//! ```
//!
//! Whoever turns LENT into TAKEN does the job: the thread, or the caller that has nothing left to do itself. Only one caller
//! at a time turns FREE into anything.

use std::any::Any;
use std::hint::spin_loop;
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::*};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::{AWAKE, Job, attempt};

const FREE: u8 = 0;
const LENT: u8 = 1;
const TAKEN: u8 = 2;
const DONE: u8 = 3;

/// Looks at a state that are worth one system call to let others have the processor, a microsecond.
const LOOKS: u32 = 32;
/// The caller looks for so long whether a job is done before it sleeps: shares are about equal, so it usually is.
const LOOKING: Duration = Duration::from_micros(100);

/// A desk has lines of memory of its own: two, as some processors fetch two at a time.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Desk {
    state: AtomicU8,
    is_awake: AtomicBool,
    is_closed: AtomicBool,
    /// For whoever has the state TAKEN or DONE, so nobody ever waits for it.
    lent: Mutex<Lent>,
}

#[derive(Default)]
struct Lent {
    job: Option<Job<'static>>,
    caller: Option<Thread>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Without what is behind the lock: to write takes long, and somebody may need it meanwhile.
impl std::fmt::Debug for Desk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Desk { state, is_awake, is_closed, lent: _ } = self;
        let mut desk = formatter.debug_struct("Desk");
        desk.field("state", state).field("is_awake", is_awake).field("is_closed", is_closed);
        desk.finish_non_exhaustive()
    }
}

/// The caller's side.
impl Desk {
    pub fn wake(&self) {
        self.is_awake.store(true, Release);
    }

    pub fn rest(&self) {
        self.is_awake.store(false, Release);
    }

    pub fn close(&self) {
        self.is_closed.store(true, Release);
        self.rest();
    }

    /// Lays a job on the desk. Returns whether it was free.
    ///
    /// # Safety
    ///
    /// If it was, [`take_back`](Desk::take_back) must come before what the job borrows is used by anybody else, or gone.
    #[allow(unsafe_code)]
    pub unsafe fn lend(&self, job: Job<'_>) -> bool {
        if self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_err() {
            return false;
        }
        // SAFETY: only the lifetime changes, and the caller promises that nobody has the job when it is over.
        let job = unsafe { transmute::<Job<'_>, Job<'static>>(job) };
        let mut lent = self.lent();
        lent.job = Some(job);
        lent.caller = Some(thread::current());
        drop(lent);
        self.state.store(LENT, Release);
        true
    }

    /// Does the job here if nobody began it.
    pub fn help(&self) {
        self.work();
    }

    /// Waits until the job that was lent is done. If it panicked, with what.
    pub fn take_back(&self) -> Option<Box<dyn Any + Send>> {
        let is_over = |desk: &Desk| desk.state.load(Acquire) == DONE;
        if !self.look_until(LOOKING, is_over) {
            while !is_over(self) {
                thread::park();
            }
        }
        let panic = self.lent().panic.take();
        self.state.store(FREE, Release);
        panic
    }
}

/// The thread's side.
impl Desk {
    /// Does jobs until the desk is closed.
    pub fn attend(&self) {
        while !self.is_closed.load(Acquire) {
            if !self.work() && !self.watch() {
                // Whoever lends, wakes or closes unparks afterwards: this returns at once if that was since the last look.
                thread::park();
            }
        }
    }

    /// Whether there is a job; looks for one while there is a reason to expect it.
    fn watch(&self) -> bool {
        let has_job = |desk: &Desk| desk.state.load(Relaxed) == LENT;
        if !self.look_until(AWAKE, |desk| has_job(desk) || !desk.is_awake.load(Relaxed)) {
            // Nobody said that this would be over. If somebody wakes it right now, it wakes up for the job and not before.
            self.rest();
        }
        has_job(self)
    }

    /// Does the job if there is one that nobody began.
    fn work(&self) -> bool {
        let is_mine = self.state.compare_exchange(LENT, TAKEN, Acquire, Relaxed).is_ok();
        if is_mine {
            // A statement of its own: the lock must not be held while the job is done.
            let job = self.lent().job.take();
            let panic = job.and_then(|job| attempt(job).err());
            self.finish(panic);
        }
        is_mine
    }

    fn finish(&self, panic: Option<Box<dyn Any + Send>>) {
        let mut lent = self.lent();
        lent.panic = panic;
        let caller = lent.caller.take();
        drop(lent);
        self.state.store(DONE, Release);
        caller.inspect(Thread::unpark);
    }

    fn lent(&self) -> MutexGuard<'_, Lent> {
        // Nothing panics while it is held.
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks without sleeping until something is so, at most for some time. Returns whether it is.
    fn look_until(&self, longest: Duration, is_so: impl Fn(&Desk) -> bool) -> bool {
        let since = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if is_so(self) {
                    return true;
                }
                spin_loop();
            }
            if since.elapsed() > longest {
                return false;
            }
            thread::yield_now();
        }
    }
}

//! Threads that share the work of large rooms.
//!
//! The core has no threads of its own. Whoever drives a server may bring some ([`Server::set_crew`](crate::Server::set_crew)):
//! then rooms with many players choose, encode and write their snapshots in jobs, and a job is done by any thread of the crew.
//! What is written is the same, bit for bit. Only where a connection takes no more of a snapshot in parts do the others differ: they
//! are not made at all if one thread does everything, and tried and lost otherwise.

use std::fmt::Debug;

/// Threads that do jobs.
pub trait Crew: Send + Sync + Debug {
    /// How many jobs can go on at once: into so many the work is cut, 1 to [`CREW_MAX`].
    fn size(&self) -> usize;

    /// Calls every job once, on as many threads as there are, and returns when all calls have.
    fn run(&self, jobs: &mut [Job<'_>]);

    /// There will be jobs soon: threads that sleep may wake up meanwhile.
    fn wake(&self) {}

    /// There are no more jobs for now.
    fn rest(&self) {}
}

/// Something to do.
pub type Job<'a> = &'a mut (dyn FnMut() + Send);

/// Jobs at once, at most.
pub const CREW_MAX: usize = 16;

/// A crew that expects jobs as long as this lives.
#[derive(Debug)]
pub(crate) struct Awake<'a> {
    crew: &'a dyn Crew,
    parts: usize,
}

impl<'a> Awake<'a> {
    /// Wakes it.
    pub fn new(crew: &'a dyn Crew) -> Awake<'a> {
        crew.wake();
        Awake { crew, parts: crew.size().clamp(1, CREW_MAX) }
    }

    /// How many jobs to cut the work into.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Lets the crew do jobs, at most [`parts`](Awake::parts).
    pub fn share_out<J: Send>(&self, mut jobs: impl Iterator<Item = J>, work: impl Fn(J) + Sync) {
        let (mut jobs, work): ([Option<J>; CREW_MAX], _) = (std::array::from_fn(|_| jobs.next()), &work);
        let mut calls = jobs.each_mut().map(|job| move || job.take().into_iter().for_each(work));
        let mut calls = calls.each_mut().map(|call| -> Job<'_> { call });
        self.crew.run(&mut calls[..self.parts]);
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.crew.rest();
    }
}
